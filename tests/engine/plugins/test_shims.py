"""Old layers get what they expect of Python and numpy; nobody else does."""

from __future__ import annotations

import builtins
import logging
import sys
import types
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine.plugins import PluginLoadError, PluginProject
from tests.engine.plugins.helpers import write
from tests.engine.plugins.nets import input_layer, net_of, python_layer


def load(folder: Path, code: str, **others: str) -> types.ModuleType:
    write(folder, old=code, **others)
    return PluginProject(base_dirs=[folder]).load_module("old").module


def messages(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.name == "netcanvas.plugins"]


@pytest.mark.parametrize(
    ("code", "value", "told"),
    [
        ("x = list(xrange(3))", [0, 1, 2], "old.py:1 uses xrange, which is gone; it gets a stand-in. Write range."),
        ("y = 1\nx = isinstance('a', basestring) and unicode('a')", "a", "old.py:2 uses unicode"),
        ("x = reduce(lambda a, b: a + b, [1, 2])", 3, "functools.reduce"),
        ("x = sorted([2, 1], key=lambda a: long(a))", [1, 2], "long"),
        ("import numpy as np\nx = np.zeros(2, np.float).dtype.name", "float64", "old.py:2 uses numpy.float,"),
        ("import numpy\nx = numpy.int(3.5)", 3, "Write int."),
        ("from numpy import *\nfrom numpy import float as f\nx = f(1)", 1.0, "numpy.float"),
        ("import numpy as np\nx = [np.Inf, np.product([2, 3]), np.asscalar(np.ones(1))]", [np.inf, 6, 1], "np.prod"),
        ("import numpy as np\nx = np.in1d([[1, 2]], [2]).tolist()", [False, True], "np.isin"),
        ("import cPickle\nx = cPickle.loads(cPickle.dumps(3))", 3, "import pickle"),
        ("import cPickle as pickle\nx = pickle.loads(pickle.dumps(3))", 3, "cPickle"),
        ("from StringIO import StringIO\nx = StringIO('a').read()", "a", "import io"),
        ("from cStringIO import StringIO\nx = StringIO(b'a').read()", b"a", "import io"),
        ("from exceptions import ValueError\nx = ValueError is OSError", False, "no import"),
        ("from Queue import Queue, Empty\nx = Queue().qsize()", 0, "import queue"),
        ("import urllib2\nx = urllib2.quote('a b')", "a%20b", "urllib.request"),
        ("from itertools import izip\nx = list(izip([1], [2]))", [(1, 2)], "itertools.izip"),
        ("import time\nx = time.clock() > 0", True, "time.perf_counter"),
        ("import collections\nx = isinstance({}, collections.Mapping)", True, "collections.abc.Mapping"),
        ("import sys\nx = sys.maxint > 2**31", True, "sys.maxsize"),
        ("import inspect\nx = inspect.getargspec(lambda a: 0)[0]", ["a"], "inspect.getfullargspec"),
        ("def f():\n    import numpy as n\n    return n.bool is not None\nx = f()", True, ""),
    ],
)
def test_old_names_work_and_are_named(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, code: str, value: Any, told: str
) -> None:
    with caplog.at_level(logging.WARNING):
        module = load(tmp_path, code)
    assert module.x == value
    assert told in " ".join(messages(caplog))


@pytest.mark.parametrize(
    "code",
    ["x = range(3)", "import numpy as np\nx = np.float32(1)", "xrange = range\nx = xrange(3)", "import os\nx = os"],
)
def test_modules_of_today_get_nothing(tmp_path: Path, caplog: pytest.LogCaptureFixture, code: str) -> None:
    with caplog.at_level(logging.WARNING):
        module = load(tmp_path, code + "\nimport numpy\nnp = numpy")
    assert module.np is np and messages(caplog) == []


def test_each_is_told_once(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        load(tmp_path, "import numpy as np\nfor i in xrange(9): np.float(i), np.int(i), np.float(i)")
    assert len(messages(caplog)) == 3


def test_nothing_leaks(tmp_path: Path) -> None:
    """Another plugin of the same folder, numpy itself, and we see none of it."""
    modules = set(sys.modules)
    load(
        tmp_path,
        "import numpy as np, cPickle, new\nfrom StringIO import StringIO\nx = xrange(3), np.float, np.asscalar",
        new="import builtins\nimport numpy as np\nok = not hasattr(np, 'float') and not hasattr(builtins, 'xrange')\n",
    )
    assert not hasattr(np, "float") and not hasattr(np, "asscalar")
    assert not hasattr(builtins, "xrange")
    assert not {"cPickle", "StringIO"} & set(sys.modules)
    for name in set(sys.modules) - modules:
        if name.endswith(".new"):
            assert sys.modules[name].ok


def test_a_module_that_is_missing_is_still_missing(tmp_path: Path) -> None:
    with pytest.raises(PluginLoadError, match="gone_away_7"):
        load(tmp_path, "import cPickle\nimport gone_away_7")


def test_what_is_no_shim_raises_as_ever(tmp_path: Path) -> None:
    with pytest.raises(PluginLoadError, match="has no attribute 'no_such_name'"):
        load(tmp_path, "import numpy as np\nx = np.float\nnp.no_such_name")


def test_a_changed_numpy_is_changed_for_all_and_so_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(np, "_netcanvas_test", 1, raising=False)
    module = load(tmp_path, "import numpy as np\nx = np.float\nnp._netcanvas_test = 2\ny = np._netcanvas_test")
    assert module.y == 2 == np._netcanvas_test  # type: ignore[attr-defined]


YAML = """
    class SafeLoader: pass
    class FullLoader: pass
    def load(stream, Loader):
        return stream, Loader.__name__
    def safe_load(stream): return stream, 'safe'
"""


def test_yaml_load_without_a_loader(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    code = """
        import yaml
        from yaml import load
        from yaml import SafeLoader
        a = yaml.load('x')
        b = yaml.load('x', Loader=yaml.SafeLoader)
        c = load('x')
        d = yaml.safe_load('x')
    """
    folder = write(tmp_path / "lib", yaml=YAML)
    sys.path.insert(0, str(folder))
    try:
        with caplog.at_level(logging.WARNING):
            module = load(tmp_path / "net", code)
    finally:
        sys.path.remove(str(folder))
        sys.modules.pop("yaml", None)
    assert (module.a, module.b, module.c) == (("x", "FullLoader"), ("x", "SafeLoader"), ("x", "FullLoader"))
    assert module.d == ("x", "safe")
    assert len(messages(caplog)) == 1 and "old.py:3 uses yaml.load" in messages(caplog)[0]


@pytest.mark.parametrize(
    "code",
    [
        "import scipy.misc\nimresize = scipy.misc.imresize",
        "from scipy.misc import imresize",
        "from scipy import misc\nimresize = misc.imresize",
        "import scipy.misc as sm\nimresize = sm.imresize",
    ],
)
@pytest.mark.parametrize("installed", ["", "whole", "empty"])
def test_scipy_misc(tmp_path: Path, caplog: pytest.LogCaptureFixture, code: str, installed: str) -> None:
    """Without scipy, with one that has lost the module, and with one whose module is empty."""
    if installed:
        write(tmp_path / "lib", scipy____init__="version = 3\n")
        if installed == "empty":
            write(tmp_path / "lib", scipy__misc____init__="")
        sys.path.insert(0, str(tmp_path / "lib"))
    elif "scipy" in sys.modules:
        pytest.skip("scipy is loaded")
    try:
        with caplog.at_level(logging.WARNING):
            module = load(tmp_path / "net", code)
        image = np.arange(12, dtype=np.uint8).reshape(3, 4)
        assert module.imresize(image, (6, 8)).shape == (6, 8)
        assert module.imresize(image, 50).shape == (1, 2) and module.imresize(image, 2.0).shape == (6, 8)
        assert "scipy.misc" in " ".join(messages(caplog))
    finally:
        if installed:
            sys.path.remove(str(tmp_path / "lib"))
        for name in [name for name in sys.modules if name.partition(".")[0] == "scipy"]:
            del sys.modules[name]


def test_layers_on_pythonpath_get_them_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    code = "import caffe\nimport numpy as np\nclass L(caffe.Layer):\n"
    code += "    def reshape(self, bottom, top): top[0].reshape(2)\n"
    code += "    def forward(self, bottom, top):\n        for i in xrange(2): top[0].data[i] = np.float(i + 1)\n"
    write(tmp_path / "path", shims_ordinary=code, shims_pkg____init__="", shims_pkg__inner=code)
    monkeypatch.syspath_prepend(str(tmp_path / "path"))
    (tmp_path / "net").mkdir()
    for name in ("shims_ordinary", "shims_pkg.inner"):
        text = input_layer("x", 2) + python_layer("p", "L", "x", "y").replace("'mod'", f"'{name}'")
        net = net_of(tmp_path / "net", text)
        net.forward()
        assert net.blobs["y"].data.tolist() == [1, 2]
        assert sys.modules[name].L is type(net.layer("p"))
    assert sys.modules["shims_pkg"].inner is sys.modules["shims_pkg.inner"]
