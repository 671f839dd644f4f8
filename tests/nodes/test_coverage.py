"""No layer type without an independent number to agree with, a gradient check, the harness, and documentation."""

from __future__ import annotations

import inspect
from pathlib import Path

import pytest

from engine.backends import Workspace, get_backend
from engine.layer import Layer, LayerContext, Phase
from engine.registry import LayerInfo, default_registry
from engine.schema import load_schema
from tests.nodes.cases import CASES, COUNTING
from tests.nodes.golden import golden_cases
from tests.nodes.loss_and_shape_cases import PAIRS
from tests.nodes.references import REFERENCES

INFOS = {info.type: info for info in default_registry().infos() if info.builtin}
REFERRED = {reference.type for reference in REFERENCES}
GOLDEN = {layer.type for case in golden_cases() for layer in case.param.layer}
HARNESSED = {case.text.split('"')[1] for case in [*CASES.values(), *COUNTING.values(), *PAIRS.values()]}
GRADED = {case.text.split('"')[1] for case in [*CASES.values(), *PAIRS.values()]}
#: Why a type has no gradient to check.
NO_GRADIENT = {
    "Accuracy": "a count",
    "ArgMax": "a place",
    "Threshold": "a step",
}
#: Types whose numbers come from files or from the caller, and go there: their tests compare both ends.
READING_TESTS = "\n".join(path.read_text(encoding="utf-8") for path in (Path(__file__).parent / "data").glob("*.py"))


def gaps(info: LayerInfo) -> list[str]:
    """Return what a type lacks."""
    moves_data = info.category == "Data" and f'type: "{info.type}"' in READING_TESTS
    has_bottoms = bool(info.bottoms) and info.category != "Data"
    return [
        lack
        for lack, present in (
            ("a golden case or a formula in tests/nodes/references", info.type in REFERRED | GOLDEN or moves_data),
            ("a case of the harness: poison, two passes, backends, plan", info.type in HARNESSED or not has_bottoms),
            (
                "a gradient check, or why it has none",
                info.type in GRADED or info.type in NO_GRADIENT or not has_bottoms,
            ),
            ("a category", info.category not in ("", "Other")),
            ("a summary of one sentence", info.summary.endswith(".") and len(info.summary) > 20),
            ("ports with names", not {"bottom", "top"} & {port.rstrip("?*+") for port in (*info.bottoms, *info.tops)}),
        )
        if not present
    ]


@pytest.mark.parametrize("layer_type", INFOS)
def test_a_type_lacks_nothing(layer_type: str) -> None:
    assert gaps(INFOS[layer_type]) == []


@pytest.mark.parametrize("layer_type", INFOS)
def test_a_type_says_what_it_computes(layer_type: str) -> None:
    schema, backend = load_schema(), get_backend("numpy")
    param = schema.message("LayerParameter")(name="subject", type=layer_type)
    layer = default_registry().create(param, LayerContext(Phase.TRAIN, backend, Workspace(backend)))
    own = type(layer).__doc__ or ""
    assert own != Layer.__doc__
    assert len(inspect.cleandoc(own)) > 30
    field = INFOS[layer_type].param_field
    for described in param.DESCRIPTOR.fields_by_name[field].message_type.fields if field else ():
        info = schema.field_info("LayerParameter", (field, described.name))
        assert info is not None and info.doc


def test_all_types_of_caffe_are_there() -> None:
    of_caffe = """AbsVal Accuracy ArgMax BatchNorm BatchReindex Bias BNLL Clip Concat ContrastiveLoss Convolution Crop
        Data Deconvolution Dropout DummyData ELU Eltwise Embed EuclideanLoss Exp Filter Flatten HDF5Data HDF5Output
        HingeLoss Im2col ImageData InfogainLoss InnerProduct Input Log LRN LSTM LSTMUnit MemoryData
        MultinomialLogisticLoss MVN Parameter Pooling Power PReLU Python Reduction ReLU Reshape RNN Scale Sigmoid
        SigmoidCrossEntropyLoss Silence Slice Softmax SoftmaxWithLoss Split SPP Swish TanH Threshold Tile WindowData"""
    assert set(of_caffe.split()) - set(default_registry().types()) == set()


def test_what_has_no_gradient_is_not_checked_either() -> None:
    assert not GRADED & set(NO_GRADIENT)
    assert set(NO_GRADIENT) <= set(INFOS)


def test_a_new_type_must_be_covered() -> None:
    assert len(gaps(LayerInfo(type="Brandnew"))) == 6
