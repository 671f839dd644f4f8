"""``check`` tells what layers themselves know, and whether a solver and its net belong together."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from engine.cli import main
from tests.engine.diagnostics.cases import DATA, X, in_place, shared_pair, with_labels
from tests.engine.diagnostics.solver_cases import SOLVER_CASES, complete
from tests.engine.graph.nets import layer

SOLVER = 'base_lr: 1 lr_policy: "fixed"\n'


def codes(capsys: pytest.CaptureFixture[str], *paths: Path) -> dict[str, str]:
    main(["check", "--json", *map(str, paths)])
    return {each["code"]: each["severity"] for each in json.loads(capsys.readouterr().out)}


@pytest.mark.parametrize(
    ("text", "code", "severity"),
    [
        (in_place("Sigmoid", "Power"), "in-place-spoils", "warning"),
        (shared_pair("lr_mult: 1", "lr_mult: 2"), "param-conflict", "error"),
        (shared_pair("", "", outputs=4), "param-shape", "error"),
        (with_labels(3) + layer("a", "x l", "y", "Accuracy"), "label-count", "error"),
    ],
)
def test_faults_that_layers_tell(
    text: str, code: str, severity: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "net.prototxt"
    path.write_text(text)
    assert codes(capsys, path)[code] == severity


@pytest.mark.parametrize(("code", "faulty", "sound", "severity"), SOLVER_CASES, ids=lambda value: value.split()[0])
def test_a_solver_is_held_against_its_net(
    code: str, faulty: str, sound: str, severity: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "deploy.prototxt").write_text(X)
    (tmp_path / "train.prototxt").write_text(DATA.replace("{", "{ include { phase: TRAIN }", 1))
    net, path = tmp_path / "both.prototxt", tmp_path / "solver.prototxt"
    net.write_text(DATA)
    more = "base_lr: 1\n" if "lr_policy" in faulty else SOLVER
    path.write_text(complete(faulty) + "\n" + more)
    assert codes(capsys, net, path)[code] == severity
    path.write_text(complete(sound) + "\n" + more)
    assert not [each for each in codes(capsys, net, path) if each.startswith("solver-")]


def test_all_faults_of_a_solver_are_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "solver.prototxt"
    path.write_text('net: "gone.prototxt"\nlr_policy: "cosine"\nmax_iter: 1\n')
    assert set(codes(capsys, path)) == {"solver-net-missing", "solver-policy"}


NET = """
layer {{ name: "d" type: "DummyData" top: "x" top: "y"
  dummy_data_param {{ shape {{ dim: 4 dim: 3 }} shape {{ dim: 4 }} }} }}
layer {{ name: "ip" type: "InnerProduct" bottom: "x" top: "ip"
  inner_product_param {{ num_output: {count} }} }}
layer {{ name: "l" type: "SoftmaxWithLoss" bottom: "ip" bottom: "y" top: "l" }}
"""


@pytest.mark.parametrize("flags", [[], ["--phase", "TRAIN"]])
def test_a_net_beyond_the_machine_is_told_with_figures(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, flags: list[str]
) -> None:
    monkeypatch.setattr("engine.cli.check.machine_memory", lambda: 16 << 30)
    path = tmp_path / "net.prototxt"
    path.write_text(NET.format(count=2_000_000_000))
    code = main(["check", str(path), "--json", *flags])
    (fault,) = [each for each in json.loads(capsys.readouterr().out) if each["code"] == "memory"]
    assert code == 0 and (fault["severity"], fault["line"], fault["column"]) == ("warning", 5, 37)
    for words in ("needs 149.0 GiB", "has 16.0 GiB", "'ip' (InnerProduct)", "(2000000000 x 3)", "(4 x 2000000000)"):
        assert words in fault["message"]
    path.write_text(NET.format(count=20))
    main(["check", str(path), "--json", *flags])
    assert "memory" not in [each["code"] for each in json.loads(capsys.readouterr().out)]
