"""``import caffe`` means ours after ``engine.compat.install()``, and only then."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import engine.compat
from tests.support import ROOT


def run(code: str, *path: Path) -> subprocess.CompletedProcess[str]:
    """Run Python code in a fresh process with the checkout on its path."""
    import os

    where = os.pathsep.join(map(str, [*path, ROOT]))
    return subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": where},
        timeout=60,
    )


def test_nothing_is_caffe_before_install() -> None:
    done = run("import engine.compat\nimport caffe")
    assert done.returncode != 0 and "No module named 'caffe'" in done.stderr


def test_after_install_submodules_resolve_to_ours() -> None:
    code = """
import engine.compat
engine.compat.install()
engine.compat.install()
import caffe, caffe.proto, engine.compat.caffe
from caffe.proto import caffe_pb2
import caffe.proto.caffe_pb2 as again
import importlib
assert caffe is engine.compat.caffe and caffe.__name__ == 'engine.compat.caffe'
assert again is caffe_pb2 is importlib.import_module('engine.compat.caffe.proto.caffe_pb2')
assert caffe.Net.__module__ == 'engine.compat.caffe.net'
"""
    done = run(code)
    assert done.returncode == 0, done.stderr


def test_ours_wins_over_an_installed_one_that_is_not_loaded(tmp_path: Path) -> None:
    (tmp_path / "caffe.py").write_text("raise RuntimeError('the real one')")
    done = run("import engine.compat\nengine.compat.install()\nimport caffe\nprint(caffe.TEST)", tmp_path)
    assert done.stdout.strip() == "TEST", done.stderr


def test_a_real_one_that_is_loaded_is_a_clear_error(tmp_path: Path) -> None:
    (tmp_path / "caffe.py").write_text("x = 1")
    done = run("import caffe\nimport engine.compat\nengine.compat.install()", tmp_path)
    assert "NetcanvasError: Another 'caffe' is loaded already, from" in done.stderr
    assert str(tmp_path / "caffe.py") in done.stderr


def test_plain_caffe_layers_import_neither_solvers_nor_qt() -> None:
    code = """
import sys, engine.compat
engine.compat.install()
import caffe
class L(caffe.Layer): pass
bad = [n for n in ('PySide6', 'app', 'engine.solvers', 'h5py', 'lmdb') if n in sys.modules]
assert not bad, bad
"""
    done = run(code)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("statement", "error", "text"),
    [
        ("caffe.Classifier", AttributeError, r"'caffe\.Classifier' is not yet offered by Netcanvas\."),
        ("caffe.SGDSolvr", AttributeError, "Did you mean 'SGDSolver'"),
        ("from caffe import draw", ImportError, r"'caffe\.draw' is not yet offered"),
        ("import caffe.draw", ImportError, r"'caffe\.draw' is not yet offered"),
        ("from caffe.proto import caffe_pb2\ncaffe_pb2.NoSuchParameter", AttributeError, "NoSuchParameter"),
    ],
)
def test_what_is_missing_says_so(statement: str, error: type[Exception], text: str) -> None:
    engine.compat.install()
    with pytest.raises(error, match=text):
        exec("import caffe\n" + statement, {})
