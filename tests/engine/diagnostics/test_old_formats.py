"""Nets of old formats: misspelt types are mended in the format's words, and no upgrade is offered that is refused."""

from __future__ import annotations

import pytest

from engine.diagnostics import Diagnostic, diagnose
from engine.graph import OpGraph, upgraded_text
from engine.registry import default_registry
from tests.support import shared_files

REGISTRY = default_registry()
INPUT = "input: 'd' input_dim: 1 input_dim: 1 input_dim: 4 input_dim: 4\n"
V1 = "layers { name: 'a' type: %s bottom: 'd' top: 'b' }\n"
V0 = "layers { layer { name: 'a' type: '%s' } bottom: 'd' top: 'b' }\n"


def told(text: str, *codes: str) -> tuple[OpGraph, list[Diagnostic]]:
    graph = OpGraph.parse(text)
    return graph, [each for each in diagnose(graph, registry=REGISTRY) if each.code in codes]


@pytest.mark.parametrize(
    ("layer", "written", "meant", "type_today"),
    [
        (V1, "RELUU", "RELU", "ReLU"),
        (V1, "CONVOLUTON", "CONVOLUTION", "Convolution"),
        (V1, "SOFTMAXLOSS", "SOFTMAX_LOSS", "SoftmaxWithLoss"),
        (V1, "InnerProdct", "INNER_PRODUCT", "InnerProduct"),
        (V0, "reluu", "relu", "ReLU"),
        (V0, "inner_product", "innerproduct", "InnerProduct"),
        (V0, "Convolution", "conv", "Convolution"),
        (V0, "ReLU", "relu", "ReLU"),
        (V0, "paddin", "padding", None),
    ],
)
def test_a_misspelt_type_becomes_the_word_of_its_format(layer, written, meant, type_today) -> None:
    before = INPUT + layer % written
    graph, (found,) = told(before, "type-unknown", "word-unknown")
    assert found.code == "type-unknown" and found.next_step == f"Did you mean '{meant}'?"
    assert [fix.label for fix in found.fixes] == [f"Make it {meant}"]
    with graph.change():
        found.fix.apply(graph)
    assert graph.text == INPUT + layer % meant or graph.text == (INPUT + layer % meant).replace(
        f"'{meant}'", f'"{meant}"'
    )
    assert not [each for each in diagnose(graph, registry=REGISTRY) if each.code in ("type-unknown", "word-unknown")]
    if type_today is not None:
        assert [node.type for node in OpGraph.parse(upgraded_text(graph)).nodes()][-1] == type_today


@pytest.mark.parametrize("written", ["zzz", "CROP"])
def test_no_word_is_made_up(written: str) -> None:
    _, (found,) = told(INPUT + V1 % written, "type-unknown")
    assert not found.fixes
    assert ("Upgrade the file" in found.next_step) == (written == "CROP")


REFUSED = {
    "a field of today": (
        "layers { name: 'a' type: RELU bottom: 'd' top: 'b' batch_norm_param { eps: 1 } }",
        "no field",
    ),
    "padding for what cannot pad": (
        "layers { layer { name: 'p' type: 'padding' pad: 1 } bottom: 'd' top: 'e' }\n"
        "layers { layer { name: 'r' type: 'relu' } bottom: 'e' top: 'b' }",
        "Expected a conv or pool layer",
    ),
    "shapes of another number": (f"input: 'x'\n{V1 % 'RELU'}", "expected 4 input_dim for each"),
    "a text that is broken": (V1 % "RELU" + "layers {", "Line"),
    "padding beside layers of today": (
        "layers { layer { name: 'p' type: 'padding' pad: 1 } bottom: 'd' top: 'e' }\n"
        "layers { layer { name: 'r' type: 'conv' } bottom: 'e' top: 'b' }\n"
        "layer { name: 'n' type: 'ReLU' bottom: 'b' top: 'f' }",
        "mixes padding layers",
    ),
}


@pytest.mark.parametrize(("text", "reason"), REFUSED.values(), ids=REFUSED)
def test_an_upgrade_that_is_refused_is_not_offered_but_explained(text: str, reason: str) -> None:
    _, (found,) = told(INPUT + text, "format-old", "format-mixed")
    assert not found.fixes and reason in found.next_step


@pytest.mark.parametrize("path", shared_files("corpus/prototxt/legacy/*.prototxt"), ids=lambda path: path.name)
def test_what_is_offered_for_old_public_nets_works(path) -> None:
    graph, found = told(path.read_bytes().decode("utf-8", "surrogateescape"), "format-old", "format-mixed")
    for each in found:
        for fix in each.fixes:
            with graph.change():
                fix.apply(graph)
        assert bool(each.fixes) == all(node.version == 2 for node in graph.nodes() if not node.virtual)
    assert not told(graph.text, "type-unknown")[1] or not found or not found[0].fixes
