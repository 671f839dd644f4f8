"""What importing our packages pulls in: the engine without Qt, the command line without the window."""

from __future__ import annotations

import subprocess
import sys

import pytest


def loaded_after(statement: str) -> set[str]:
    code = f"import sys\n{statement}\nprint(' '.join(sorted(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


@pytest.mark.parametrize(
    ("statement", "never"),
    [
        ("import engine.net, engine.solvers, engine.worker", ("PySide6", "app", "pyqtgraph")),
        ("import engine.cli", ("PySide6", "app", "h5py")),
        ("import app.main", ("PySide6.QtWidgets", "pyqtgraph", "engine.solvers")),
        ("import engine.api", ("engine.graph", "engine.prototxt", "google.protobuf")),
        ("import engine.graph", ("h5py", "lmdb")),
    ],
)
def test_imports_stay_small(statement: str, never: tuple[str, ...]) -> None:
    assert loaded_after(statement).isdisjoint(never)


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="the fault concerns Python 3.10 and 3.11")
def test_this_pyside_keeps_its_references_to_none() -> None:
    """PySide6 6.12.0 lost one reference to None a void call on Python 3.11 and ended the process."""
    from PySide6.QtCore import QObject

    subject = QObject()
    before = sys.getrefcount(None)
    for _ in range(10_000):
        subject.setObjectName("x")
    assert abs(sys.getrefcount(None) - before) < 1_000
