"""What old plugin code stumbles over is named with what to write instead."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.plugins import hint_for, place_of, plugin_traceback
from engine.plugins.scan import modules_of, scan_folder
from tests.engine.plugins.helpers import write


def raised(code: str, filename: str = "plugin.py") -> Exception:
    try:
        exec(compile(code, filename, "exec"), {})
    except Exception as error:
        return error
    raise AssertionError("nothing was raised")


@pytest.mark.parametrize(
    ("code", "hint"),
    [
        ("xrange(3)", "write 'range'"),
        ("import numpy as np\nnp.float(3)", "write 'float'"),
        ("import urllib2", "import 'urllib.request'"),
        ("raise TypeError(\"load() missing 1 required positional argument: 'Loader'\")", "yaml.safe_load"),
        ("a = [0]\na[3 / 2]", "write '//'"),
        ("import numpy as np\nnp.zeros(3)[3 / 2]", "write '//'"),
        ("range(4 / 2)", "write '//'"),
        ("[0, 1][: 3 / 2]", "write '//'"),
        ("import numpy as np\nnp.zeros(3)[np.zeros(1)]", "write int(...)"),
        ("import numpy as np\nrange(np.float64(2))", "write int(...)"),
        ("import numpy as np\nnp.random.choice([1], size=np.float64(1))", "write int(...)"),
        ("from engine.blob import Blob\nBlob().reshape(3, 5 / 2)", "write '//'"),
        ("{}.iteritems()", "items()"),
        ("{}.has_key(3)", "key in it"),
        ("1 / 0", ""),
    ],
)
def test_hints(code: str, hint: str) -> None:
    found = hint_for(raised(code))
    assert hint in found and bool(found) is bool(hint)


def test_the_place_is_the_innermost_line_of_the_plugin(tmp_path: Path) -> None:
    inner = str(tmp_path / "inner.py")
    error = raised(f"exec(compile('\\n\\n1 / 0', {inner!r}, 'exec'))", "/elsewhere/outer.py")
    assert place_of(error, [tmp_path]) == (inner, 3)
    text = plugin_traceback(error)
    assert "ZeroDivisionError" in text and inner in text


def test_scanning_runs_nothing_and_reads_python_2_too(tmp_path: Path) -> None:
    write(
        tmp_path,
        new='raise SystemExit\nimport caffe\nclass A(caffe.Layer):\n    """Adds."""\nclass B(A): pass\nclass C: pass\n',
        old="import caffe\nprint 'x'\nclass D(caffe.Layer):\n    pass\n",
        none="x = 1\n",
        pkg____init__="",
        pkg__sub="import caffe\nclass E(caffe.Layer): pass\n",
        test_layers="import caffe\nclass T(caffe.Layer): pass\n",
    )
    (tmp_path / ".hidden").mkdir()
    write(tmp_path / ".hidden", h="import caffe\nclass H(caffe.Layer): pass\n")
    found = [(f.module, f.name, f.line, f.summary, f.parses) for f in scan_folder(tmp_path)]
    assert found == [
        ("new", "A", 3, "Adds.", True),
        ("new", "B", 5, "", True),
        ("old", "D", 3, "", False),
        ("pkg.sub", "E", 2, "", True),
    ]
    assert [name for name, _ in modules_of(tmp_path)] == ["new", "none", "old", "pkg", "pkg.sub"]
