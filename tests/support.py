"""Helpers shared by the tests."""

from __future__ import annotations

from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
SHARED = ROOT.parent / "shared"


def shared(name: str) -> Path:
    """Return a path of the reference files beside the checkout, or skip the test, saying so, where they are absent."""
    path = SHARED / name
    if not path.exists():
        pytest.skip(f"reference files are not beside this checkout: shared/{name}")
    return path


def shared_files(pattern: str) -> list[Path]:
    """List reference files for parametrisation; empty where they are absent."""
    return sorted(path for path in SHARED.glob(pattern) if path.is_file()) if SHARED.is_dir() else []
