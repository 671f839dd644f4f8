"""The script that compiles the schema."""

from __future__ import annotations

import importlib.util

from tests.support import ROOT


def build_script():
    spec = importlib.util.spec_from_file_location("build_schema", ROOT / "docs" / "build_schema.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
