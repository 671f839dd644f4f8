"""What a manifest declares is enforced by every command that runs a net, and told by ``check``; nothing runs for it."""

from __future__ import annotations

import json
import logging
from pathlib import Path

import pytest

from engine.cli import main
from engine.errors import PluginError
from engine.layer import Phase
from engine.net import Net
from engine.plugins import Declarations, find_plugins
from tests.engine.plugins.helpers import write

LAYER = """
    import caffe
    open({marker!r}, "a").close()

    class Twice(caffe.Layer):
        def setup(self, bottom, top): pass
        def reshape(self, bottom, top): top[0].reshape(*bottom[0].shape)
        def forward(self, bottom, top): top[0].data[...] = 2 * bottom[0].data
        def backward(self, top, propagate_down, bottom): bottom[0].diff[...] = 2 * top[0].diff
"""
MANIFEST = """
[plugin]
requires = ["no-such-package>=2", "numpy>=99"]
[layers."twice.Twice".param_str]
k = { type = "int", min = 1, max = 5 }
mode = { type = "string", choices = ["a", "b"] }
sizes = { type = "list", items = "int", default = [1, 2] }
"""
NET = """
layer { name: "x" type: "DummyData" top: "x" dummy_data_param { shape { dim: 2 dim: 3 } } }
layer { name: "ip" type: "InnerProduct" bottom: "x" top: "y" inner_product_param { num_output: 2 } }
layer { name: "tw" type: "Python" bottom: "y" top: "loss" loss_weight: 1
  python_param { module: "twice" layer: "Twice" param_str: 'WRITTEN' } }
"""
SOLVER = 'net: "net.prototxt" base_lr: 0.1 lr_policy: "fixed" max_iter: 1 snapshot_after_train: false'


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    write(tmp_path / "plugins" / "p", twice=LAYER.replace("{marker!r}", repr(str(tmp_path / "ran"))))
    (tmp_path / "plugins" / "p" / "plugin.toml").write_text(MANIFEST, "utf-8")
    (tmp_path / "solver.prototxt").write_text(SOLVER, "utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write_net(project: Path, param_str: str) -> None:
    (project / "net.prototxt").write_text(NET.replace("WRITTEN", param_str), "utf-8")


@pytest.mark.parametrize(
    ("param_str", "words"),
    [
        ('{"k": 9}', ["'k': expected 5 or less, got 9", "an int from 1 to 5"]),
        ("--k many --mode a", ["'k': expected a whole number, got 'many'"]),
        ("{'mode': 'c', 'k': 0}", ["'mode': expected one of 'a', 'b', got 'c'", "'k': expected 1 or more, got 0"]),
    ],
)
@pytest.mark.parametrize(
    "command",
    [
        ["train", "--solver", "solver.prototxt", "--no-record"],
        ["time", "--model", "net.prototxt", "--iterations", "1"],
        ["test", "--model", "net.prototxt", "--weights", "none.caffemodel", "--iterations", "1"],
    ],
    ids=lambda each: each[0],
)
def test_what_a_plugin_would_not_take_is_refused_before_anything_runs(
    project: Path, capsys: pytest.CaptureFixture[str], command: list[str], param_str: str, words: list[str]
) -> None:
    write_net(project, param_str.replace("'", '"') if "'" in param_str else param_str)
    assert main([*command, "--quiet"]) == 1
    error = capsys.readouterr().err
    for each in ["Layer 'tw' (Python), param_str: ", str(project / "plugins" / "p" / "plugin.toml"), *words]:
        assert each in error
    assert not (project / "ran").exists()


def test_a_name_that_is_not_known_is_a_warning_and_runs(project: Path, caplog: pytest.LogCaptureFixture) -> None:
    write_net(project, '{"k": 2, "kk": 3}')
    with caplog.at_level(logging.WARNING):
        Net((project / "net.prototxt").read_text(), Phase.TRAIN, base_dirs=[project]).close()
    assert "no parameter 'kk'. Did you mean 'k'?" in caplog.text and (project / "ran").exists()


def test_a_module_beside_the_net_is_no_plugins(project: Path) -> None:
    """The plugin's manifest says nothing of another folder's module of the same name."""
    write(project / "near", twice=LAYER.replace("{marker!r}", repr(str(project / "ran"))))
    named = [project / "near"]
    declared = Declarations(find_plugins(named, [project]), named, [project])
    assert declared.param_schema("twice", "Twice") is None
    assert Declarations(find_plugins([], [project]), [], [project]).param_schema("twice", "Twice") is not None


def test_missing_packages_are_told_by_check_and_by_runs(
    project: Path, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    write_net(project, '{"k": 2}')
    assert main(["check", "net.prototxt", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    (fault,) = [each for each in told if each["code"] == "plugin-requires"]
    assert fault["severity"] == "warning" and fault["line"] == 4
    for words in ("plugin 'p'", ">=2 of 'no-such-package', and none is installed", ">=99 of 'numpy', and "):
        assert words in fault["message"]
    assert fault["next_step"].endswith("-m pip install 'no-such-package>=2' 'numpy>=99'")
    assert not (project / "ran").exists()
    with caplog.at_level(logging.WARNING):
        for _ in range(2):
            Net((project / "net.prototxt").read_text(), Phase.TRAIN, base_dirs=[project]).close()
    assert caplog.text.count("'no-such-package'") == 1 and "pip install" in caplog.text


def test_a_plugin_that_the_net_does_not_use_is_not_told_of(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "net.prototxt").write_text(NET.partition('layer { name: "tw"')[0], "utf-8")
    main(["check", "net.prototxt"])
    assert "no-such-package" not in capsys.readouterr().out


def test_python_api_raises_the_same(project: Path) -> None:
    write_net(project, '{"k": 9}')
    with pytest.raises(PluginError, match="expected 5 or less, got 9"):
        Net((project / "net.prototxt").read_text(), Phase.TRAIN, base_dirs=[project])
