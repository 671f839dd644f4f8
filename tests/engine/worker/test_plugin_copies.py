"""A run can be made again from its folder when the plugins that it used are gone."""

from __future__ import annotations

import shutil
import textwrap
from pathlib import Path

import pytest

from engine.cli import main
from engine.layer import Phase
from engine.net import Net
from engine.worker.plugin_copies import changed_plugins, record_plugins
from engine.worker.runfolder import RunFolder
from tests.engine.plugins.helpers import write

ADDING = """
    from engine.api import Layer
    from steps.helper import START

    class Adding(Layer):
        def setup(self, bottom, top):
            self.blobs.add_blob(1)
            self.blobs[0].data[...] = START + self.layer_param.adding_param.start

        def reshape(self, bottom, top):
            top[0].reshape(*bottom[0].shape)

        def forward(self, bottom, top):
            top[0].data[...] = bottom[0].data + self.blobs[0].data

        def backward(self, top, propagate_down, bottom):
            self.blobs[0].diff[...] += top[0].diff.sum()
"""
MANIFEST = """
    [plugin]
    name = "adding"
    schema = "messages/adding.proto"
    [types.Adding]
    module = "steps.adding"
    class = "Adding"
"""
PROTO = """
message LayerParameter { optional AddingParameter adding_param; }
message AddingParameter { optional float start = 1; }
message ReLUParameter { optional string remark; }
"""
NET = """
    name: "adding"
    layer { name: "x" type: "DummyData" top: "x" top: "t" dummy_data_param {
      shape { dim: 2 dim: 3 } shape { dim: 2 dim: 3 } data_filler { type: "constant" value: 1 } } }
    layer { name: "a" type: "Adding" bottom: "x" top: "a" adding_param { start: 0.5 } }
    layer { name: "p" type: "Python" bottom: "a" top: "p" python_param { module: "old.same" layer: "Same" } }
    layer { name: "r" type: "ReLU" bottom: "p" top: "r" relu_param { remark: "mine" } }
    layer { name: "loss" type: "EuclideanLoss" bottom: "r" bottom: "t" top: "loss" }
"""
SAME = """
    import caffe
    class Same(caffe.Layer):
        def reshape(self, bottom, top): top[0].reshape(*bottom[0].shape)
        def forward(self, bottom, top): top[0].data[...] = bottom[0].data
        def backward(self, top, propagate_down, bottom): bottom[0].diff[...] = top[0].diff
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    plugin = write(folder / "plugins" / "adding", steps__adding=ADDING, steps__helper="START = 0.25", unused="X = 1")
    (plugin / "messages").mkdir()
    (plugin / "plugin.toml").write_text(textwrap.dedent(MANIFEST), "utf-8")
    (plugin / "messages" / "adding.proto").write_text(PROTO, "utf-8")
    write(folder / "plugins", old__same=SAME)
    (folder / "net.prototxt").write_text(NET, "utf-8")
    (folder / "solver.prototxt").write_text(
        'net: "net.prototxt" base_lr: 0.1 lr_policy: "fixed" max_iter: 2 random_seed: 3', "utf-8"
    )
    return folder


def test_the_net_is_built_and_trained_from_the_runs_folder_alone(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(project)
    assert main(["train", "--solver", "solver.prototxt", "--quiet", "--runs", str(tmp_path / "runs")]) == 0
    (place,) = (tmp_path / "runs").iterdir()
    run = RunFolder.open(place)
    records = run.environment()["plugin_sources"]
    paths = [Path(record["path"]) for record in records]  # beside those of other tests' plugins
    plugins = project / "plugins"
    named = {path.relative_to(plugins).as_posix() for path in paths if path.is_relative_to(plugins)}
    assert named == {
        "adding/messages/adding.proto",
        "adding/plugin.toml",
        "adding/steps/adding.py",
        "adding/steps/helper.py",
        "old/same.py",
    }
    assert changed_plugins(records) == []
    shutil.rmtree(project)
    assert sorted(changed_plugins(records)) == sorted(str(path) for path in paths if path.is_relative_to(plugins))
    monkeypatch.chdir(tmp_path)
    net = Net(run.net_text(), Phase.TRAIN, base_dirs=[run.path])
    assert net.params["a"][0].data.tolist() == [0.75]
    capsys.readouterr()
    assert main(["train", "--solver", str(run.solver_file), "--quiet", "--no-record"]) == 0


def test_a_plugin_folder_that_the_user_names_is_copied_whole(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    named = (project / "plugins").rename(tmp_path / "named")
    (named / "weights.bin").write_bytes(b"no source")
    net = Net(
        'layer { name: "x" type: "Input" top: "x" input_param { shape { dim: 2 } } }'
        'layer { name: "p" type: "Python" bottom: "x" top: "p" python_param { module: "same" layer: "Same" } }',
        Phase.TRAIN,
        base_dirs=[named / "old"],
    )
    copies = tmp_path / "run" / "plugins"
    records = record_plugins(net, copies, folders=[named])
    found = {record["copy"].partition("-")[2] for record in records}
    assert {"adding/unused.py", "adding/plugin.toml", "adding/messages/adding.proto", "old/same.py"} <= found
    assert not any(name.endswith("weights.bin") for name in found)
    assert all((copies.parent / record["copy"]).is_file() for record in records)
