"""``netcanvas plugins``: what there is, and the conversion from Python 2, shown before anything is written."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from engine.cli import main
from tests.engine.plugins.helpers import write

OLD = """
import caffe

class Old(caffe.Layer):
    def setup(self, bottom, top):
        print "setting up"
        self.k = 7
        self.k /= 2
    def reshape(self, bottom, top): top[0].reshape(*bottom[0].data.shape)
    def forward(self, bottom, top): top[0].data[...] = bottom[0].data
    def backward(self, top, propagate_down, bottom): bottom[0].diff[...] = top[0].diff
"""
NET = """
layer { name: "x" type: "DummyData" top: "x" dummy_data_param { shape { dim: 2 dim: 3 } } }
layer { name: "old" type: "Python" bottom: "x" top: "y" python_param { module: "old" layer: "Old" } }
"""
fissix = pytest.importorskip("fissix", reason="the converter is an extra")


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    write(tmp_path / "plugins" / "p", old=OLD)
    (tmp_path / "net.prototxt").write_text(NET, "utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_plugins_are_listed_with_what_they_lack(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "plugins" / "p" / "plugin.toml").write_text(
        '[plugin]\nname = "ancient"\nversion = "0.1"\nrequires = ["no-such-package>=2"]\n'
    )
    assert main(["plugins", "list"]) == 0
    out = capsys.readouterr().out
    assert "ancient" in out and "0.1" in out and "Old" in out and "warning: Plugin 'ancient'" in out
    assert main(["plugins", "list", "net.prototxt", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    (plugin,) = [each for each in told["plugins"] if each["name"] == "ancient"]
    assert plugin["origin"] == "project" and plugin["layers"][0]["name"] == "Old"
    assert plugin["missing"] == [{"package": "no-such-package", "wanted": ">=2", "found": None}]
    assert told["faults"][0]["next_step"].endswith("-m pip install 'no-such-package>=2'")


@pytest.mark.parametrize("place", ["plugins", "plugins/p", "plugins/p/old.py"])
def test_a_conversion_is_shown_and_written_only_when_asked(
    project: Path, capsys: pytest.CaptureFixture[str], place: str
) -> None:
    file = project / "plugins" / "p" / "old.py"
    before = file.read_bytes()
    assert main(["plugins", "convert", place]) == 0
    captured = capsys.readouterr()
    assert '-        print "setting up"\n+        print("setting up")\n' in captured.out
    assert "nothing was written" in captured.err and "--write" in captured.err and "'/='" in captured.err
    assert file.read_bytes() == before and len(list(file.parent.iterdir())) == 1
    assert main(["plugins", "convert", place, "--write", "--json"]) == 0
    (told,) = json.loads(capsys.readouterr().out)["files"]
    backup = file.with_name("old.py.python2")
    assert told["file"] == str(file) and told["backup"] == str(backup) and backup.read_bytes() == before
    assert file.read_bytes() != before and main(["time", "--model", "net.prototxt", "--iterations", "1", "-quiet"]) == 0
    capsys.readouterr()
    assert main(["plugins", "convert", place]) == 0
    assert capsys.readouterr() == ("", "There is no Python 2 code.\n")


def test_what_cannot_be_converted_is_an_error(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "broken.py").write_text("def f(:\n    print 3\n")
    assert main(["plugins", "convert", "broken.py", "plugins", "--write"]) == 1
    assert "'" + str(project / "broken.py") + "' cannot be converted" in capsys.readouterr().err
    assert (project / "plugins" / "p" / "old.py.python2").exists()


@pytest.mark.parametrize("command", [["check", "net.prototxt"], ["time", "--model", "net.prototxt"]])
def test_the_hint_names_the_command(project: Path, capsys: pytest.CaptureFixture[str], command: list[str]) -> None:
    assert main(command) == 1
    captured = capsys.readouterr()
    wanted = f"netcanvas plugins convert {project / 'plugins' / 'p' / 'old.py'}"
    assert "line 6: print statement" in captured.out + captured.err and wanted in captured.out + captured.err


def test_check_tells_code_that_is_no_python_at_its_layer(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(project / "plugins" / "p", old="import caffe\n\nclass Old(caffe.Layer:\n    pass\n")
    assert main(["check", "net.prototxt", "--json"]) == 1
    (fault,) = [each for each in json.loads(capsys.readouterr().out) if each["severity"] == "error"]
    assert fault["code"] == "plugin-syntax" and fault["line"] == 3 and "old.py:3" in fault["message"]
