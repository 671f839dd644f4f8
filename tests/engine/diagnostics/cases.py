"""Nets at which each code is told, and what they are like when it is not."""

from __future__ import annotations

from dataclasses import dataclass

from tests.engine.graph.nets import layer

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
