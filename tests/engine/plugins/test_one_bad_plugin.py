"""One bad plugin stops no other: loading, reloading and rebuilding nets (A1, A2, A17, F4)."""

from __future__ import annotations

import textwrap
import time
from pathlib import Path

import numpy as np
import pytest

from engine.errors import PluginError
from engine.layer import Phase
from engine.net import Net, rebuild_net
from engine.plugins import PluginLoadError, PluginProject
from tests.engine.plugins.helpers import write

GOOD = """
import caffe
class L(caffe.Layer):
    size = 3
    def setup(self, bottom, top): self.blobs.add_blob(self.size)
    def reshape(self, bottom, top): top[0].reshape(*bottom[0].shape)
    def forward(self, bottom, top): top[0].data[...] = 2 * bottom[0].data
    def backward(self, top, propagate_down, bottom): bottom[0].diff[...] = 2 * top[0].diff
"""
NET = """
    layer { name: "x" type: "Input" top: "x" input_param { shape { dim: 2 } } }
    layer { name: "p" type: "Python" bottom: "x" top: "y" python_param { module: "mod" layer: "L" } }
    layer { name: "ip" type: "InnerProduct" bottom: "y" top: "z" inner_product_param { num_output: 2 axis: 0 } }
"""


def net_of(folder: Path) -> Net:
    return Net(NET, Phase.TRAIN, base_dirs=[folder])


def test_five_plugins_four_faulty_each_in_its_own_way(tmp_path: Path) -> None:
    """F4, in the process that runs the net; what hangs is the inspection process's to tell."""
    write(
        tmp_path / "plugins",
        a__syntax="class L(:\n",
        b__lacks="import no_such_module\n",
        c__exits="import sys\nsys.exit(2)\n",
        d__raises="1 / 0\n",
        e__good=GOOD,
    )
    project = PluginProject(base_dirs=[tmp_path])
    begin = time.process_time()
    kinds = {}
    for module in ("syntax", "lacks", "exits", "raises"):
        with pytest.raises(PluginLoadError) as caught:
            project.load_class(module, "L", layer=module)
        error = caught.value
        assert (error.layer, Path(error.file).name) == (module, f"{module}.py")
        assert f"{module}.py" in error.traceback_text
        kinds[module] = (error.kind, error.line)
    assert kinds == {
        "syntax": ("syntax", 1),
        "lacks": ("import-failed", 1),
        "exits": ("exit", 2),
        "raises": ("import-failed", 1),
    }
    assert project.load_class("good", "L").__name__ == "L"
    assert time.process_time() - begin < 2


class TestReload:
    def test_what_imports_a_broken_helper_keeps_its_old_code_and_others_get_theirs(self, tmp_path: Path) -> None:
        write(tmp_path, user="from helper import X\n" + GOOD, helper="X = 1\n", other=GOOD)
        project = PluginProject(base_dirs=[tmp_path])
        old = {module: project.load_class(module, "L") for module in ("user", "other")}
        write(tmp_path, helper="X = = 1\n", other=GOOD.replace("size = 3", "size = 4"))
        with pytest.raises(PluginLoadError, match=r"helper\.py:1"):
            project.reload()
        assert project.load_class("user", "L") is old["user"]
        assert project.load_class("other", "L").size == 4  # type: ignore[attr-defined]
        failure = project.failure_of("user", layer="p")
        assert failure is not None and (failure.layer, Path(failure.file).name) == ("p", "helper.py")
        assert project.failure_of("other") is None
        assert project.changed_files() == []
        write(tmp_path, helper="X = 2\n")
        assert project.changed_files() == [tmp_path / "helper.py"]
        mine = {path.name for path in project.reload() if path.parent == tmp_path}  # beside other tests' plugins
        assert mine == {"user.py", "other.py"}
        assert project.failure_of("user") is None and project.load_class("user", "L") is not old["user"]

    def test_old_code_still_finds_its_own_modules_after_a_failed_reload(self, tmp_path: Path) -> None:
        write(tmp_path, mod="def f():\n    import late\n    return late.X\n", late="X = 1\n")
        project = PluginProject(base_dirs=[tmp_path])
        old = project.load_module("mod").module
        write(tmp_path, mod="1 / 0\n", late="X = 2\n")
        for _ in range(2):
            with pytest.raises(PluginLoadError):
                project.reload()
        assert project.load_module("mod").module is old
        assert old.f() in (1, 2)

    def test_a_module_that_vanished_keeps_its_code(self, tmp_path: Path) -> None:
        write(tmp_path, mod=GOOD)
        project = PluginProject(base_dirs=[tmp_path])
        project.load_class("mod", "L")
        (tmp_path / "mod.py").unlink()
        with pytest.raises(PluginLoadError):
            project.reload()
        net = None
        with pytest.raises(PluginError, match="'p'"):
            net = net_of(tmp_path)
        assert net is None


class TestRebuild:
    def test_a_net_is_rebuilt_with_what_it_learned(self, tmp_path: Path) -> None:
        write(tmp_path, mod=GOOD)
        net = net_of(tmp_path)
        for blobs in net.params.values():
            for blob in blobs:
                blob.data[...] = np.arange(blob.data.size).reshape(blob.shape)
        write(tmp_path, mod=GOOD.replace("2 *", "5 *"))
        PluginProject(base_dirs=[tmp_path]).reload()
        rebuilt = rebuild_net(net)
        assert rebuilt.lost == ()
        for name, blobs in net.params.items():
            for old, new in zip(blobs, rebuilt.net.params[name], strict=True):
                assert old is not new
                np.testing.assert_array_equal(new.data, old.data)
        for built, factor in ((net, 2), (rebuilt.net, 5)):
            built.blobs["x"].data[...] = 1
            built.forward()
            np.testing.assert_array_equal(built.blobs["y"].data, [factor, factor])

    def test_what_cannot_be_kept_is_told(self, tmp_path: Path) -> None:
        write(tmp_path, mod=GOOD)
        net = net_of(tmp_path)
        write(tmp_path, mod=GOOD.replace("size = 3", "size = 4"))
        PluginProject(base_dirs=[tmp_path]).reload()
        assert rebuild_net(net).lost == ("Parameter 0 of layer 'p' has shape (4,), it was (3,).",)
        write(tmp_path, mod=GOOD.replace("self.blobs.add_blob(self.size)", "pass"))
        PluginProject(base_dirs=[tmp_path]).reload()
        assert rebuild_net(net).lost == ("Layer 'p' has no parameter 0 any more.",)

    def test_a_failed_reload_leaves_the_old_net_and_builds_with_the_old_code(self, tmp_path: Path) -> None:
        write(tmp_path, mod=GOOD)
        net = net_of(tmp_path)
        write(tmp_path, mod=textwrap.dedent(GOOD).replace("class L", "class L(("))
        with pytest.raises(PluginLoadError, match=r"mod\.py:3"):
            PluginProject(base_dirs=[tmp_path]).reload()
        for built in (net, rebuild_net(net).net):
            built.blobs["x"].data[...] = 1
            built.forward()
            np.testing.assert_array_equal(built.blobs["y"].data, [2, 2])
