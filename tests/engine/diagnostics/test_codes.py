"""Every code: a net that calls for it, one that does not, and a fix that mends the one and can be undone."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
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
from tests.engine.graph.nets import assert_consistent, layer

REGISTRY = default_registry()
SERVICE = ShapeService(registry=REGISTRY)
TRAIN, TEST = "include { phase: TRAIN }", "include { phase: TEST }"
IP = "inner_product_param { num_output: 3 }"
CONV = "convolution_param { num_output: 3 kernel_size: 1 }"
X = layer("d", "", "x", "Input", "input_param { shape { dim: 2 dim: 3 } }")
IMAGE = layer("d", "", "x", "Input", "input_param { shape { dim: 2 dim: 3 dim: 4 dim: 4 } }")
DATA = layer("d", "", "x l", "DummyData", "dummy_data_param { shape { dim: 2 dim: 3 } shape { dim: 2 } }")
LOSS = layer("loss", "y l", "loss", "SoftmaxWithLoss")


def with_labels(count: int) -> str:
    shapes = f"shape {{ dim: 2 dim: 3 }} shape {{ dim: {count} }}"
    return layer("d", "", "x l", "Input", f"input_param {{ {shapes} }}")


def shared_pair(first: str, second: str, outputs: int = 3) -> str:
    inner = f"inner_product_param {{ num_output: {outputs} bias_term: false }}"
    return (
        X
        + layer("one", "x", "y", "InnerProduct", f'param {{ name: "w" {first} }} {inner.replace(str(outputs), "3", 1)}')
        + layer("two", "y", "z", "InnerProduct", f'param {{ name: "w" {second} }} {inner}')
    )


def old_pair(first: int, second: int) -> str:
    """Two layers of the old format that share a parameter, at two rates."""
    pair = (("one", "x", first), ("two", "one", second))
    return 'input: "x" input_dim: [2, 3, 1, 1]\n' + "".join(
        f'layers {{ name: "{name}" type: INNER_PRODUCT bottom: "{bottom}" top: "{name}" param: "w" blobs_lr: {rate} '
        "inner_product_param { num_output: 3 bias_term: false } }\n"
        for name, bottom, rate in pair
    )


def in_place(between: str, on_top: str, *, apart: bool = False) -> str:
    tops = "q" if apart else "p"
    chain = layer("ip", "x", "y", "InnerProduct", IP) + layer("s", "y", "p", between) + layer("r", "p", tops, on_top)
    return DATA + chain + layer("ip2", tops, "z", "InnerProduct", IP) + LOSS.replace('"y"', '"z"')


@dataclass(frozen=True)
class Case:
    """A net with a fault, one without, the layer that is named, and whether there is a fix."""

    code: str
    faulty: str
    sound: str
    layer: str
    fixed: bool = False
    severity: str = "error"
    dialect: str = "bvlc"


CASES = [
    Case("syntax", X + layer("a", "x", "y", more="phase = 1"), X + layer("a", "x", "y"), "a"),
    Case("bottom-unwired", X + layer("a", "?", "y"), X + layer("a", "x", "y"), "a", fixed=True),
    Case("bottom-unknown", X.replace("x", "data") + layer("a", "date", "y"), X + layer("a", "x", "y"), "a", fixed=True),
    Case(
        "bottom-other-phase",
        DATA + layer("t", "x", "u", more=TRAIN) + layer("a", "u", "y", more=TEST),
        DATA + layer("t", "x", "u", more=TEST) + layer("a", "u", "y", more=TEST),
        "a",
    ),
    Case(
        "bottom-other-phase",
        DATA + layer("t", "x", "u", more=TRAIN) + layer("a", "u", "y") + LOSS,
        DATA + layer("t", "x", "u", more=TRAIN) + layer("a", "u", "y", more=TRAIN) + LOSS.replace("{", "{ " + TRAIN, 1),
        "a",
        fixed=True,
    ),
    Case(
        "cycle",
        layer("a", "c", "b") + layer("b", "b", "c"),
        X + layer("a", "x", "b") + layer("b", "b", "c"),
        "a",
        fixed=True,
    ),
    Case(
        "forward-reference",
        layer("a", "b", "c") + layer("b", "", "b"),
        layer("b", "", "b") + layer("a", "b", "c"),
        "a",
        fixed=True,
    ),
    Case(
        "top-duplicate",
        X + layer("a", "x", "y") + layer("b", "x", "y"),
        X + layer("a", "x", "y", more=TRAIN) + layer("b", "x", "y", more=TEST),
        "b",
        fixed=True,
    ),
    Case("top-unused", X + layer("a", "x", "y"), X + layer("a", "x", ""), "a", fixed=True, severity="info"),
    Case(
        "rule-both",
        layer("a", "", "x", more=TRAIN + " exclude { phase: TEST }"),
        layer("a", "", "x", more=TRAIN),
        "a",
        fixed=True,
    ),
    Case("type-missing", layer("a", "", "x", ""), X, "a"),
    Case("type-unknown", X + layer("a", "x", "y", "Relu"), X + layer("a", "x", "y", "ReLU"), "a", True, "warning"),
    Case("type-not-offered", X + layer("a", "x", "y", "VideoData"), X, "a", severity="warning"),
    Case("bottoms-count", X + layer("a", "x x", "y", "Power"), X + layer("a", "x", "y", "Power"), "a", fixed=True),
    Case(
        "bottoms-count", X + layer("a", "x", "y", "Accuracy"), with_labels(2) + layer("a", "x l", "y", "Accuracy"), "a"
    ),
    Case("tops-count", X + layer("a", "x", "", "Power"), X + layer("a", "x", "y", "Power"), "a", fixed=True),
    Case("tops-count", X + layer("a", "x", "y z", "Power"), X + layer("a", "x", "y", "Power"), "a", fixed=True),
    Case(
        "in-place-refused",
        IMAGE + layer("a", "x", "x", "Convolution", CONV) + layer("b", "x", "y"),
        IMAGE + layer("a", "x", "y", "Convolution", CONV),
        "a",
        fixed=True,
    ),
    Case(
        "in-place-shared",
        X + layer("b", "x", "z") + layer("a", "x", "x", "ReLU") + layer("c", "x", "w"),
        X + layer("a", "x", "x", "ReLU") + layer("b", "x", "z") + layer("c", "x", "w"),
        "a",
        fixed=True,
    ),
    Case(
        "in-place-shared",
        X + layer("b", "x", "y", more="loss_weight: 1") + layer("a", "y", "y", "ReLU"),
        X + layer("b", "x", "y") + layer("a", "y", "y", "ReLU", "loss_weight: 1"),
        "a",
        fixed=True,
    ),
    Case(
        "in-place-shared",
        X + layer("a", "x x", "x", "Eltwise"),
        X + layer("b", "x", "z", more=TEST) + layer("a", "x", "x", "ReLU", TRAIN),
        "a",
        fixed=True,
    ),
    Case(
        "name-duplicate",
        X + layer("a", "x", "y", "InnerProduct", IP) + layer("a", "x", "z", "InnerProduct", IP),
        X + layer("a", "x", "y", "InnerProduct", IP) + layer("b", "x", "z", "InnerProduct", IP),
        "a",
        True,
        "warning",
    ),
    Case(
        "padding-misplaced",
        'layers { layer { name: "p" type: "padding" pad: 1 } bottom: "x" top: "y" }\n'
        'layers { layer { name: "r" type: "relu" } bottom: "y" top: "z" }',
        'layers { layer { name: "p" type: "padding" pad: 1 } bottom: "x" top: "y" }\n'
        'layers { layer { name: "r" type: "pool" } bottom: "y" top: "z" }',
        "p",
    ),
    Case("format-mixed", X + 'layers { name: "o" type: RELU bottom: "x" top: "y" }', X, "", fixed=True),
    Case("format-old", 'layers { name: "o" type: DUMMY_DATA top: "y" }', X, "", True, "info"),
    Case("loss-missing", DATA, DATA.replace('"x"', '"y"') + LOSS, "d", severity="warning"),
    Case(
        "loss-weight-missing",
        DATA.replace('"x"', '"y"') + LOSS + layer("p", "y", "q", "Python"),
        DATA.replace('"x"', '"y"') + LOSS + layer("p", "y", "q", "Python", "loss_weight: 1"),
        "p",
        True,
        "warning",
    ),
    Case("param-conflict", shared_pair("lr_mult: 1", "lr_mult: 2"), shared_pair("lr_mult: 2", ""), "two", fixed=True),
    Case(
        "param-conflict", shared_pair("decay_mult: 0", "decay_mult: 1"), shared_pair("", "decay_mult: 1"), "two", True
    ),
    Case("param-conflict", old_pair(1, 2), old_pair(2, 2), "two", fixed=True),
    Case("param-shape", shared_pair("", "", outputs=4), shared_pair("", ""), "two"),
    Case(
        "param-shape",
        X
        + "".join(
            layer(name, "x", name, "InnerProduct", f'param {{ name: "w" }} inner_product_param {{ {more} }}')
            for name, more in (
                ("a", "num_output: 2 bias_term: false"),
                ("b", "num_output: 2 transpose: true bias_term: false"),
            )
        ),
        shared_pair("", ""),
        "b",
        fixed=True,
    ),
    Case(
        "in-place-spoils", in_place("Sigmoid", "Power"), in_place("Sigmoid", "Power", apart=True), "r", True, "warning"
    ),
    Case(
        "in-place-spoils",
        in_place("Power", "ReLU").replace('"ReLU"', '"ReLU" relu_param { negative_slope: -1 }'),
        in_place("Power", "ReLU"),
        "r",
        True,
        "warning",
    ),
    Case(
        "shape",
        IMAGE + layer("a", "x", "y", "Convolution", CONV.replace("1", "9")),
        IMAGE + layer("a", "x", "y", "Convolution", CONV),
        "a",
        fixed=True,
    ),
    Case(
        "label-count", with_labels(3) + LOSS.replace('"y"', '"x"'), with_labels(2) + LOSS.replace('"y"', '"x"'), "loss"
    ),
    Case("field-unknown", X + layer("a", "x", "y", more="bogus: 1"), X + layer("a", "x", "y"), "a", severity="warning"),
    Case("field-value", X + layer("a", "x", "y", more="power_param { scale: big }"), X, "a"),
    Case("field-repeated", X + layer("a", "x", "y", more="phase: TRAIN phase: TEST"), X, "a", fixed=True),
    Case("word-unknown", X + layer("a", "x", "y", more="phase: LEARN"), X, "a", severity="warning"),
    Case("word-unknown", X + layer("a", "x", "y", more="phase: TRAINING"), X, "a", True, "warning"),
    Case(
        "word-unknown", IMAGE + layer("a", "x", "y", "Pooling", "pooling_param { pool: max }"), X, "a", True, "warning"
    ),
    Case("field-value", X + layer("a", "x", "y").replace('"Power"', "Power"), X, "a", True),
    Case("field-value", X + layer("a", "x", "y", more='power_param { scale: "2" }'), X, "a", True),
    Case("field-unknown", X + layer("a", "x", "y", more="power_parm { scale: 2 }"), X, "a", True, "warning"),
    Case("field-unknown", X + layer("a", "x", "y", "InnerProduct", "num_output: 2 # c\n"), X, "a", True, "warning"),
    Case(
        "field-unknown",
        X + layer("a", "x", "y", "InnerProduct", "inner_product_param { num_output: 2 loss_weight: 1 }"),
        X,
        "a",
        True,
        "warning",
    ),
    Case("field-unknown", X + layer("a", "x", "y", more="scael: 2 # no one knows\n"), X, "a", False, "warning"),
    Case("entries-count", X + layer("a", "x", "y", more="loss_weight: [1, 0]"), X, "a", True),
    Case("entries-count", X + layer("a", "x", "y", more="propagate_down: [true, false, true]"), X, "a", True),
    Case(
        "entries-count",
        with_labels(2) + layer("a", "x l", "y", "Accuracy", "propagate_down: false"),
        with_labels(2) + layer("a", "x l", "y", "Accuracy", "propagate_down: [false, false]"),
        "a",
        True,
    ),
    Case(
        "entries-count",
        X + layer("a", "x", "y", "InnerProduct", IP + " param { lr_mult: 1 } param { } param { }"),
        X + layer("a", "x", "y", "InnerProduct", IP + " param { lr_mult: 1 } param { }"),
        "a",
        True,
    ),
    Case(
        "field-not-offered",
        X + layer("a", "x", "y", more="permute_param { order: 0 }"),
        X + layer("a", "x", "y"),
        "a",
        severity="warning",
        dialect="ssd",
    ),
    Case(
        "field-ignored",
        layer("a", "", "x", "Data", "data_param { scale: 2 }"),
        layer("a", "", "x", "Data", "transform_param { scale: 2 }"),
        "a",
        True,
        "warning",
    ),
    Case(
        "field-ignored",
        layer("a", "", "x", "WindowData", "window_data_param { scale: 2 } transform_param { scale: 3 }"),
        layer("a", "", "x", "WindowData", "window_data_param { scale: 2 } transform_param { mirror: true }"),
        "a",
        True,
        "warning",
    ),
    Case(
        "file-missing",
        layer("a", "", "x", "Data", 'data_param { source: "gone" }'),
        layer("a", "", "x", "Data", 'data_param { source: "there" }'),
        "a",
        severity="warning",
    ),
]
SOLVER_CASES = [
    ("solver-max-iter", 'net: "both.prototxt" max_iter: 0', 'net: "both.prototxt"', "warning"),
    ("solver-net-missing", 'net: "gone.prototxt"', 'net: "both.prototxt"', "error"),
    ("solver-net-other", 'net: "deploy.prototxt"', 'net: "both.prototxt"', "warning"),
    ("solver-train-phase", 'net: "deploy.prototxt"', 'net: "both.prototxt"', "warning"),
    ("solver-test-phase", 'net: "train.prototxt" test_iter: 1', 'net: "both.prototxt" test_iter: 1', "error"),
    ("solver-test-iter", 'net: "both.prototxt" test_interval: 5', 'net: "both.prototxt"', "warning"),
    (
        "solver-regularization",
        'net: "both.prototxt" regularization_type: "L3"',
        'net: "both.prototxt" regularization_type: "L1"',
        "error",
    ),
    (
        "solver-steps",
        'net: "both.prototxt" stepvalue: [1, 9, 5]',
        'net: "both.prototxt" stepvalue: [1, 5, 9]',
        "warning",
    ),
    (
        "solver-weights-missing",
        'net: "both.prototxt" weights: "train.prototxt, gone.caffemodel"',
        'net: "both.prototxt" weights: "train.prototxt"',
        "error",
    ),
]


def complete(solver: str) -> str:
    """A solver that says how long it trains."""
    return solver if "max_iter" in solver else f"{solver} max_iter: 1"


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
