"""What a run was made with: versions and machine."""

from __future__ import annotations

import os
import platform
import sys
from importlib import metadata
from typing import Any

import engine

__all__ = ["describe_machine"]

_PACKAGES = ("numpy", "protobuf", "lmdb", "h5py")


def describe_machine() -> dict[str, Any]:
    """Return versions and machine as JSON values."""
    versions = {"netcanvas": engine.__version__, "python": platform.python_version()}
    for name in _PACKAGES:
        try:
            versions[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return {
        "versions": versions,
        "executable": sys.executable,
        "platform": platform.platform(),
        "host": platform.node(),
        "cpu_count": os.cpu_count(),
    }
