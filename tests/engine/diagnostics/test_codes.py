"""Every code: a net that calls for it, one that does not, and a fix that mends the one and can be undone."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

import engine.diagnostics
from engine.diagnostics import SchemaMemo, check_solver, check_solver_file, diagnose
from engine.graph import OpGraph
from engine.layer import Phase
from engine.layer_specs import graph_layers
from engine.registry import default_registry
from engine.schema import load_schema
from engine.shapes import ShapeService
from tests.engine.diagnostics.cases import CASES, DATA, TRAIN, Case, X, in_place
from tests.engine.diagnostics.solver_cases import SOLVER_CASES, complete
from tests.engine.graph.nets import assert_consistent, layer

REGISTRY = default_registry()
SERVICE = ShapeService(registry=REGISTRY)


def found(graph: OpGraph, case: Case, folder: Path, memo: SchemaMemo | None = None):
    """What is told of a code, with the shapes that the layers themselves give."""
    shapes = {}
    for phase in (Phase.TEST, Phase.TRAIN):
        for node, outcome in SERVICE.infer(graph_layers(graph), phase).items():
            if outcome.error is not None or shapes.get(node, outcome).error is None:
                shapes[node] = outcome
    schema = load_schema(case.dialect)
    told = diagnose(graph, registry=REGISTRY, shapes=shapes, folder=folder, schema=schema, memo=memo)
    return [each for each in told if each.code == case.code]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a data base and nets."""
    (tmp_path / "there").mkdir()
    (tmp_path / "deploy.prototxt").write_text(X)
    (tmp_path / "train.prototxt").write_text(DATA.replace("{", "{ " + TRAIN, 1))
    (tmp_path / "both.prototxt").write_text(DATA)
    return tmp_path


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.code)
def test_a_code_is_told_where_it_is_and_mended(case: Case, folder: Path):
    graph = OpGraph.parse(case.faulty)
    told = found(graph, case, folder)
    assert told, [(each.code, each.message) for each in diagnose(graph, registry=REGISTRY)]
    diagnostic = told[0]
    assert diagnostic.severity == case.severity and diagnostic.line >= 1 and diagnostic.column >= 1
    assert f"'{case.layer}'" in diagnostic.message if case.layer else True
    assert diagnostic.message.endswith(".") and "\n" not in diagnostic.message
    assert diagnostic.next_step
    if case.layer and diagnostic.node is not None:
        assert graph.node(diagnostic.node).name == case.layer
    assert not found(OpGraph.parse(case.sound), case, folder)
    assert (diagnostic.fix is not None) == case.fixed
    if diagnostic.fix is None:
        return
    before, memo = bytes(graph), SchemaMemo()
    assert found(graph, case, folder, memo) == told
    with graph.change(diagnostic.fix.label) as change:
        diagnostic.fix.apply(graph)
    after = bytes(graph)
    assert after != before and not graph.problems
    assert_consistent(graph)
    place = (diagnostic.node, diagnostic.field)
    left = found(graph, case, folder)
    assert place not in [(each.node, each.field) for each in left]
    assert found(graph, case, folder, memo) == left
    change.undo()
    assert bytes(graph) == before
    assert found(graph, case, folder, memo) == told
    change.redo()
    assert bytes(graph) == after


@pytest.mark.parametrize(("code", "faulty", "sound", "severity"), SOLVER_CASES, ids=lambda value: value.split()[0])
def test_a_solver_and_a_net_that_do_not_belong_together(code, faulty, sound, severity, folder: Path):
    path, nets = folder / "solver.prototxt", [folder / "both.prototxt"]
    (diagnostic,) = [each for each in check_solver(complete(faulty), path, nets) if each.code == code]
    assert (diagnostic.severity, diagnostic.line) == (severity, 1)
    assert diagnostic.next_step and diagnostic.message.startswith("Solver: ")
    assert not check_solver(complete(sound), path, nets)
    for fix in diagnostic.fixes:
        graph = OpGraph.parse(complete(faulty))
        with graph.change(fix.label) as change:
            fix.apply(graph)
        assert bytes(graph) != complete(faulty).encode()
        assert code not in [each.code for each in check_solver(bytes(graph), path, nets)], fix.label
        change.undo()
        assert bytes(graph) == complete(faulty).encode()


@pytest.mark.parametrize("wanted", ["train.prototxt", "fcn8s/train.prototxt", "/gone/train_val.prototxt"])
def test_a_missing_net_is_named_by_words_and_is_a_net(wanted: str, tmp_path: Path):
    net = 'layer { name: "a" type: "Input" top: "x" }'
    for name, text in {"fcn8s_train": net, "binary": net, "trains": "faults { }", "train_solver": "base_lr: 1"}.items():
        (tmp_path / f"{name}.prototxt").write_text(text)
    told = check_solver_file(tmp_path / "solver.prototxt", complete(f'net: "{wanted}"').encode())
    fixes = next(each for each in told if each.code == "solver-net-missing").fixes
    assert [fix.label for fix in fixes] == ["Name 'fcn8s_train.prototxt'"]


@pytest.mark.parametrize(
    ("faulty", "labels"),
    [
        ('net: "both.prototxt" max_iter: 0', ["Train for 10000 iterations"]),
        ('net: "bott.prototxt"', ["Name 'both.prototxt'"]),
        ('net: "nothing_like_it"', []),
        ('net: "deploy.prototxt"', ["Name 'both.prototxt'"]),
        ('net: "train.prototxt" test_iter: 1 test_interval: 3', ["Remove test_iter and test_interval"]),
        ('net: "both.prototxt" test_interval: 5', ["Test on 100 batches", "Remove test_interval"]),
        ('net: "both.prototxt" lr_policyy: "fixed"', ["Write it as 'lr_policy'"]),
        ("net: 'both.prototxt' momentum: \"0.9\"", ["Make it 0.9"]),
    ],
)
def test_the_fixes_of_a_solver(faulty: str, labels: list[str], folder: Path):
    path = folder / "solver.prototxt"
    for name in ("deploy", "train"):
        if name not in faulty:
            (folder / f"{name}.prototxt").unlink()
    told = check_solver_file(path, complete(faulty).encode())
    told += check_solver(complete(faulty), path, [folder / "both.prototxt"] if "deploy" in faulty else [])
    assert list(dict.fromkeys(fix.label for each in told for fix in each.fixes)) == labels
    for each in told:
        graph = OpGraph.parse(complete(faulty))
        for fix in each.fixes:
            with graph.change(fix.label) as change:
                fix.apply(graph)
            left = [*check_solver_file(path, bytes(graph)), *check_solver(bytes(graph), path)]
            assert (each.code, each.message) not in [(one.code, one.message) for one in left]
            change.undo()


def test_no_code_is_left_out():
    codes = set()
    for module in Path(engine.diagnostics.__file__).parent.glob("*.py"):
        for each in ast.walk(ast.parse(module.read_text())):
            if isinstance(each, ast.Constant) and isinstance(each.value, str):
                codes |= set(re.findall(r"\A[a-z]+(?:-[a-z]+)+\Z", each.value))
    elsewhere = {"in-place", "param-str", "plugin-patches", "bottom-view", "solver-file"}
    elsewhere |= {"module-missing", "plugin-refused", "plugin-requires", "plugin-syntax"}
    elsewhere |= {"shape-assumed", "shape-unknown"}  # test_assumptions.py
    assert codes - elsewhere == ({case.code for case in CASES} | {case[0] for case in SOLVER_CASES}) - {
        "syntax",
        "shape",
        "cycle",
    }


@pytest.mark.parametrize("weights", ["lr_mult: 0", "lr_mult: 1"])
def test_a_gradient_that_nobody_wants_is_not_worried_about(weights: str, folder: Path):
    text = in_place("Sigmoid", "Power").replace(
        "inner_product_param", f"param {{ {weights} }} param {{ {weights} }} inner_product_param", 1
    )
    case = Case("in-place-spoils", text, "", "r")
    assert bool(found(OpGraph.parse(text), case, folder)) == (weights == "lr_mult: 1")


def test_no_loss_no_gradient(folder: Path):
    text = in_place("Sigmoid", "Power").replace("SoftmaxWithLoss", "Accuracy")
    assert not found(OpGraph.parse(text), Case("in-place-spoils", text, "", "r"), folder)


@pytest.mark.parametrize("field", [b"[a\x9d\xff.com/a.B] { x: 1 }", b"power_param { [b\xff]: 1 }"])
def test_names_that_are_no_text_are_told_without_a_fix(field: bytes):
    text = X + layer("a", "x", "y", more=field.decode("utf-8", "surrogateescape"))
    graph = OpGraph.parse(text.encode("utf-8", "surrogateescape"))
    told = [each for each in diagnose(graph, registry=REGISTRY) if each.code == "field-unknown"]
    assert len(told) == 1 and told[0].fix is None
