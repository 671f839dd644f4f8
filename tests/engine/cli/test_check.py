from __future__ import annotations

import json
from pathlib import Path

import pytest

from engine.cli import main
from engine.errors import NetcanvasError
from engine.layer import Phase
from engine.net import Net
from engine.registry import default_registry
from engine.resources import resource_path
from engine.schema import read_net

LENET = resource_path("examples/lenet")


@pytest.fixture
def net(tmp_path: Path) -> Path:
    """LeNet without its data."""
    path = tmp_path / "net.prototxt"
    path.write_bytes((LENET / "lenet_train_test.prototxt").read_bytes())
    return path


def test_a_good_solver_and_a_net_without_data_pass(net: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", str(net), str(LENET / "lenet_solver.prototxt")]) == 0
    captured = capsys.readouterr()
    assert captured.out.count(" [file-missing]\n") == captured.out.count("\n") == 2
    assert "No errors in 2 files" in captured.err


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [
        ("num_output: 20", "num_output 20", "syntax"),
        ("num_output: 20", "num_output: twenty", "field-value"),
        ('type: "ReLU"', 'type: "Relu6"', "type-unknown"),
        ('bottom: "pool1"', 'bottom: "pool9"', ""),
    ],
)
def test_faults_of_a_net(net: Path, old: str, new: str, code: str, capsys: pytest.CaptureFixture[str]) -> None:
    text = net.read_text()
    line = text[: text.index(old)].count("\n") + 1
    net.write_text(text.replace(old, new, 1))
    assert main(["check", str(net)]) == 1
    errors = [each for each in capsys.readouterr().out.splitlines() if ": error: " in each]
    assert any(each.startswith(f"{net}:{line}:") and each.endswith(f"{code}]") for each in errors), errors


def test_faults_of_shapes_are_found_by_the_layers(net: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = net.read_text()
    shape = "shape { dim: 2 dim: 1 dim: 4 dim: 4 }"
    head = f'layer {{ name: "in" type: "Input" top: "data" top: "label" input_param {{ {shape} }} }}\n'
    net.write_text(head + text[text.index('layer {\n  name: "conv1"') :])
    assert main(["check", str(net), "--json"]) == 1
    (error,) = [each for each in json.loads(capsys.readouterr().out) if each["severity"] == "error"]
    assert error["code"] == "shape" and "conv1" in error["message"] and error["line"] == 2


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("x.caffemodel", b"\x0a\x03abc\xa2\x06\x02\x0a\x00", "weights file"),
        ("page.prototxt", b"<!DOCTYPE html><html>", "HTML page"),
        ("solver.prototxt", b'net: "gone.prototxt"\nbase_lr: 1\nlr_policy: "fixed"\n', "'gone.prototxt' was not found"),
        ("solver.prototxt", b'net: "n"\nlr_policy: "cosine"\n', "got 'cosine'"),
        ("solver.prototxt", b'net: "n"\nlr_polcy: "fixed"\nmax_iter: x\n', ":2:1: error: SolverParameter has no field"),
        ("solver.prototxt", b'net: "n"\nlr_polcy: "fixed"\nmax_iter: x\n', ":3:11: error: Field 'max_iter'"),
        ("solver.prototxt", b'net: "n"\nbase_lr 1\n', ":2:9: error: "),
        ("solver.prototxt", b'net: ""\nbase_lr: 1\nlr_policy: "fixed"\n', "expected one of net, "),
        ("latin.prototxt", b'layer { name: "caf\xe9" type: "R\xe9LU" }', "no layer type 'R\\udce9LU'"),
        ("mixed.prototxt", b'layers { name: "a" top: "x" }\nlayer { name: "b" }\n', ":2:1: error: The file mixes old"),
    ],
)
def test_other_files(
    tmp_path: Path, name: str, content: bytes, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / name).write_bytes(content)
    assert main(["check", str(tmp_path / name)]) == 1
    assert message in capsys.readouterr().out


def test_a_fault_of_the_net_is_told_in_its_file(net: Path, capsys: pytest.CaptureFixture[str]) -> None:
    net.write_text(net.read_text() + "}")
    solver = net.with_name("solver.prototxt")
    solver.write_text(f'net: "{net.name}"\nbase_lr: 1\nlr_policy: "fixed"\n')
    assert main(["check", "--json", str(solver)]) == 1
    (fault,) = json.loads(capsys.readouterr().out)
    assert fault["file"] == str(net) and fault["line"] > 1 and str(net) not in fault["message"]


def test_a_solver_that_trains_nothing_is_doubtful(net: Path, capsys: pytest.CaptureFixture[str]) -> None:
    solver = net.with_name("solver.prototxt")
    solver.write_text(f'net: "{net.name}"\nbase_lr: 1\nlr_policy: "fixed"\n')
    assert main(["check", str(solver)]) == 0
    assert "warning: Solver: expected a max_iter of 1 or more" in capsys.readouterr().out


def test_param_str_is_held_against_its_declaration(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plugin = tmp_path / "plugins" / "mine"
    plugin.mkdir(parents=True)
    (plugin / "mine.py").write_text("import caffe\n\n\nclass L(caffe.Layer):\n    pass\n")
    (plugin / "plugin.toml").write_text('[layers."mine.L".param_str.stride]\ntype = "int"\nmin = 1\n')
    net = tmp_path / "net.prototxt"
    for stride, code in ((0, 1), (1, 0)):
        param = f"""module: "mine" layer: "L" param_str: '{{"stride": {stride}}}'"""
        net.write_text(f'layer {{ name: "p" type: "Python" top: "y" python_param {{ {param} }} }}\n')
        assert main(["check", str(net)]) == code
        assert ("'stride': expected 1 or more, got 0" in capsys.readouterr().out) is bool(code)


@pytest.mark.parametrize("trust", [False, True])
def test_plugin_code_runs_only_when_trusted(tmp_path: Path, trust: bool, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "mine.py").write_text(
        "import caffe\nopen('MARK', 'w').close()\n\n\nclass L(caffe.Layer):\n"
        "    def setup(self, bottom, top):\n        raise ValueError('x7')\n".replace("MARK", str(tmp_path / "mark"))
    )
    (tmp_path / "net.prototxt").write_text(
        'layer { name: "in" type: "Input" top: "x" input_param { shape { dim: 2 } } }\n'
        'layer { name: "p" type: "Python" bottom: "x" top: "y" python_param { module: "mine" layer: "L" } }\n'
    )
    code = main(["check", str(tmp_path / "net.prototxt"), *(["--trust"] if trust else [])])
    assert code == int(trust) and (tmp_path / "mark").exists() is trust
    assert ("x7" in capsys.readouterr().out) is trust


INPUT = 'layer { name: "in" type: "Input" top: "x" input_param { shape { dim: 2 dim: 3 dim: 4 dim: 4 } } }\n'
POOL = 'layer { name: "p" type: "Pooling" bottom: "x" top: "p" pooling_param { kernel_size: 2 torch_pooling: true } }\n'
VIDEO = 'layer { name: "q" type: "VideoData" top: "q" video_data_param { skip_frames: 1 } }\n'


@pytest.mark.parametrize(
    ("text", "flags", "told"),
    [
        (INPUT, [], []),
        (INPUT + POOL, [], ["dialect", "field-not-offered"]),
        (INPUT + POOL, ["--dialect", "nvidia"], ["field-not-offered"]),
        (INPUT + POOL, ["--dialect", "bvlc"], ["field-unknown"]),
        (INPUT + VIDEO, [], ["dialect", "type-not-offered"]),
    ],
)
def test_a_file_of_a_fork_is_read_in_its_dialect_and_does_not_train(
    tmp_path: Path, text: str, flags: list[str], told: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "net.prototxt"
    path.write_text(text)
    assert main(["check", "--json", str(path), *flags]) == bool(told)
    found = [each for each in json.loads(capsys.readouterr().out) if each["code"] not in ("top-unused", "loss-missing")]
    assert [each["code"] for each in found] == told
    if "dialect" in told:
        title = "NVIDIA's Caffe (nvidia)" if "torch" in text else "SSD's Caffe (ssd)"
        assert found[0]["severity"] == "info" and title in found[0]["message"]
    if told:
        with pytest.raises(NetcanvasError):
            Net(read_net(path), Phase.TRAIN, registry=default_registry())


def test_a_solver_of_a_fork(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    solver = tmp_path / "solver.prototxt"
    solver.write_text('net: "n"\nbase_lr: 1\nlr_policy: "fixed"\neval_type: "detection"\n')
    assert main(["check", str(solver)]) == 1
    first, second = capsys.readouterr().out.splitlines()
    assert first.startswith(f"{solver}:1:1: info: Taken for a file of SSD's Caffe (ssd): eval_type.")
    assert second.startswith(f"{solver}:4:1: error: Field 'eval_type' of SSD's Caffe is not offered yet.")
    assert second.endswith("[field-not-offered]")


def test_a_dialect_that_does_not_exist(net: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", str(net), "--dialect", "sdd"]) == 1
    assert "No dialect of Caffe is called 'sdd'. Choose one of bvlc, ssd" in capsys.readouterr().err


def test_train_refuses_what_a_document_may_hold(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "net.prototxt").write_text(INPUT + POOL)
    solver = tmp_path / "solver.prototxt"
    solver.write_text('net: "net.prototxt"\nbase_lr: 1\nlr_policy: "fixed"\nmax_iter: 1\n')
    assert main(["train", "--solver", str(solver)]) == 1
    fault = "Field 'torch_pooling' belongs to NVIDIA's Caffe and is not offered yet. Remove it before a run."
    assert fault in capsys.readouterr().err
    assert main(["check", str(solver)]) == 1
    assert fault in capsys.readouterr().out


@pytest.mark.parametrize(
    ("there", "setting", "told"),
    [(True, "batch_size: 0", "batch_size of at least 1"), (True, "", "batch_size"), (False, "batch_size: 0", "")],
)
def test_settings_of_a_source_that_is_there_are_checked(
    tmp_path: Path, there: bool, setting: str, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    if there:
        (tmp_path / "db").mkdir()
    path = tmp_path / "net.prototxt"
    path.write_text(f'layer {{ name: "d" type: "Data" top: "x" data_param {{ source: "db" {setting} }} }}\n')
    assert main(["check", "--json", str(path)]) == bool(told)
    faults = [each["message"] for each in json.loads(capsys.readouterr().out) if each["severity"] == "error"]
    assert all(told in each for each in faults) and len(faults) == bool(told)


def test_a_filler_that_is_none_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "net.prototxt"
    filler = 'inner_product_param { num_output: 2 weight_filler { type: "xaver" } }'
    path.write_text(INPUT + f'layer {{ name: "i" type: "InnerProduct" bottom: "x" top: "y" {filler} }}\n')
    assert main(["check", str(path)]) == 1
    assert "no filler is called 'xaver'; did you mean 'xavier'?" in capsys.readouterr().out


def test_a_module_that_is_nowhere_is_doubtful(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    net = tmp_path / "net.prototxt"
    net.write_text('layer { name: "p" type: "Python" top: "p" python_param { module: "no_such" layer: "L" } }\n')
    assert main(["check", str(net)]) == 0
    assert ": warning: Layer 'p': module 'no_such' was not found." in capsys.readouterr().out
    (tmp_path / "no_such.py").write_text("class L: ...\n")
    assert main(["check", str(net)]) == 0
    assert "no_such" not in capsys.readouterr().out
