"""The shape service: what is known, what is not and why, and what an edit costs."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from engine.errors import LayerError, PluginError, UnknownLayerTypeError
from engine.graph import OpGraph
from engine.inspection import InspectionClient, LayerShapes
from engine.layer import Phase
from engine.layer_specs import LayerSpec, graph_layers
from engine.registry import default_registry
from engine.schema import read_net
from engine.shapes import NodeShapes, ShapeService
from tests.support import shared, shared_files

INPUT = 'layer { name: "x" type: "Input" top: "x" input_param { shape { dim: 4 dim: 3 dim: 8 dim: 8 } } }\n'
CONV = (
    'layer {{ name: "{0}" type: "Convolution" bottom: "{1}" top: "{0}" '
    "convolution_param {{ num_output: {2} kernel_size: 3 }} }}\n"
)


class Asked(InspectionClient):
    """A client that answers from a list and remembers what it was asked."""

    def __init__(self, *answers: LayerShapes | Exception) -> None:
        super().__init__()
        self.answers = list(answers)
        self.questions: list[tuple[str, Phase, Sequence[Any]]] = []

    def layer_shapes(self, layer_param: Any, phase: Phase, bottoms: Sequence[Any], **where: Any) -> LayerShapes:
        self.questions.append((layer_param.name, phase, bottoms))
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer


def infer(text: str, service: ShapeService | None = None, phase: Phase = Phase.TRAIN, **where: Any) -> list[NodeShapes]:
    graph = OpGraph.parse(text)
    return list((service or ShapeService()).infer(graph_layers(graph), phase, **where).values())


class TestKnown:
    def test_shapes_and_parameters_follow_through(self) -> None:
        conv, pool = infer(
            INPUT
            + CONV.format("conv", "x", 5)
            + 'layer { name: "p" type: "Pooling" bottom: "conv" top: "p" pooling_param { kernel_size: 2 stride: 2 } }'
        )[1:]
        assert conv.tops == ((4, 5, 6, 6),) and conv.bottoms == ((4, 3, 8, 8),)
        assert conv.params == ((5, 3, 3, 3), (5,)) and conv.param_count == 140
        assert pool.tops == ((4, 5, 3, 3),) and pool.params == () and pool.state == "known"

    def test_in_place_layers_keep_the_shape(self) -> None:
        shapes = infer(INPUT + 'layer { name: "r" type: "ReLU" bottom: "x" top: "x" }' + CONV.format("c", "x", 2))
        assert [node.tops[0] for node in shapes] == [(4, 3, 8, 8), (4, 3, 8, 8), (4, 2, 6, 6)]

    def test_phases_are_kept_apart(self) -> None:
        text = (
            "".join(
                f'layer {{ name: "x" type: "Input" top: "x" include {{ phase: {phase} }} '
                f"input_param {{ shape {{ dim: {size} dim: 2 }} }} }}\n"
                for phase, size in (("TRAIN", 64), ("TEST", 100))
            )
            + 'layer { name: "r" type: "ReLU" bottom: "x" top: "r" }'
        )
        service = ShapeService()
        graph = OpGraph.parse(text)
        found = {phase: service.infer(graph_layers(graph), phase) for phase in Phase}
        assert [len(nodes) for nodes in found.values()] == [2, 2]
        relu = graph.nodes()[-1].id
        assert [nodes[relu].tops[0] for nodes in found.values()] == [(64, 2), (100, 2)]

    @pytest.mark.parametrize("form", ["input_shape { dim: 2 dim: 3 dim: 4 dim: 5 }", "input_dim: [2, 3, 4, 5]"])
    def test_the_nets_own_inputs_count(self, form: str) -> None:
        shapes = infer(f'input: "x" {form}\nlayer {{ name: "r" type: "ReLU" bottom: "x" top: "y" }}')
        assert [node.tops for node in shapes] == [((2, 3, 4, 5),), ((2, 3, 4, 5),)]

    def test_messages_serve_as_well_as_a_graph(self) -> None:
        net = read_net(INPUT + CONV.format("c", "x", 2))
        layers = [LayerSpec.of_message(index, layer) for index, layer in enumerate(net.layer)]
        assert ShapeService().infer(layers, Phase.TEST)[1].tops == ((4, 2, 6, 6),)

    def test_stages_decide_too(self) -> None:
        text = INPUT + 'layer { name: "r" type: "ReLU" bottom: "x" top: "r" include { stage: "deploy" } }'
        assert [len(infer(text, stages=stages)) for stages in ((), ("other",), ("deploy",))] == [2, 1, 2]


def test_layers_of_old_formats_have_shapes() -> None:
    """Also where a padding layer stands before the one whose padding it is."""
    text = (
        "input: 'x' input_dim: 2 input_dim: 3 input_dim: 8 input_dim: 8\n"
        "layers { layer { name: 'p' type: 'padding' pad: 1 } bottom: 'x' top: 'p' }\n"
        "layers { layer { name: 'c' type: 'conv' num_output: 4 kernelsize: 3 } bottom: 'p' top: 'c' }\n"
        "layers { name: 'i' type: INNER_PRODUCT bottom: 'c' top: 'i' inner_product_param { num_output: 5 } }\n"
    )
    assert [shapes.tops for shapes in infer(text)[1:]] == [((2, 3, 8, 8),), ((2, 4, 8, 8),), ((2, 5),)]


class TestUnknown:
    @pytest.mark.parametrize(
        ("layer", "reason"),
        [
            ('layer { name: "r" type: "ReLU" bottom: "?" top: "r" }', "bottom 0 is not connected."),
            ('layer { name: "r" type: "ReLU" bottom: "gone" top: "r" }', "no layer above produces 'gone'"),
            ('layer { name: "r" type: "Rlu" bottom: "x" top: "r" }', "no layer type 'Rlu'"),
            (
                'layer { name: "r" type: "Pooling" bottom: "x" top: "r" pooling_param { kernel_size: 99 } }',
                "'r' (Pooling)",
            ),
            ('layer { name: "r" type: "InnerProduct" bottom: "x" top: "r" }', "'r' (InnerProduct)"),
            (
                'layer { name: "r" type: "Data" top: "r" data_param { source: "s" batch_size: 1 } }',
                "inspection process",
            ),
            ('layer { name: "r" type: "Python" bottom: "x" top: "r" }', "not trusted"),
        ],
    )
    def test_the_reason_is_said_and_passed_on(self, layer: str, reason: str) -> None:
        graph_text = INPUT + layer + '\nlayer { name: "s" type: "ReLU" bottom: "r" top: "s" }\n'
        graph_text += 'layer { name: "t" type: "ReLU" bottom: "s" top: "t" }'
        first, second, third = infer(graph_text)[1:]
        assert (first.state, first.tops) == ("unknown", (None,))
        assert reason in first.reason
        assert (second.state, second.bottoms, second.tops) == ("unknown", (None,), (None,))
        assert third.reason == second.reason.replace("'r' is", "'s' is")
        assert second.reason.startswith("the shape of 'r' is not known: ") and reason in second.reason

    @pytest.mark.parametrize(
        ("layer", "error"),
        [
            ('layer { name: "r" type: "Pooling" bottom: "x" top: "r" pooling_param { kernel_size: 99 } }', LayerError),
            ('layer { name: "r" type: "Rlu" bottom: "x" top: "r" }', UnknownLayerTypeError),
        ],
    )
    def test_faults_of_a_layer_are_its_error(self, layer: str, error: type[Exception]) -> None:
        node = infer(INPUT + layer)[1]
        assert isinstance(node.error, error)

    def test_a_scalar_is_told_as_what_it_is(self) -> None:
        (shapes,) = infer(
            'layer { name: "x" type: "Input" top: "x" input_param { shape { } } }' + CONV.format("c", "x", 2)
        )[1:]
        assert "'x' is a scalar" in str(shapes.error)
        assert "Give 'x' a shape" in str(shapes.error)

    def test_what_comes_beside_is_not_touched(self) -> None:
        shapes = infer(INPUT + 'layer { name: "r" type: "ReLU" bottom: "?" top: "r" }\n' + CONV.format("c", "x", 2))
        assert [node.state for node in shapes] == ["known", "unknown", "known"]


PYTHON = 'layer { name: "p" type: "Python" bottom: "x" top: "p" python_param { module: "m" layer: "L" } }\n'


class TestForeignCode:
    def test_python_layers_are_asked_only_when_trusted_and_once(self) -> None:
        client = Asked(LayerShapes(((4, 9),), ((2, 2),)))
        service = ShapeService(client=client)
        assert infer(INPUT + PYTHON, service)[1].state == "unknown"
        assert client.questions == []
        for _ in range(2):
            node = infer(INPUT + PYTHON, service, trusted=True)[1]
            assert (node.tops, node.params, node.state) == (((4, 9),), ((2, 2),), "known")
        assert client.questions == [("p", Phase.TRAIN, ((4, 3, 8, 8),))]
        assert infer(INPUT + PYTHON, service)[1].state == "unknown"

    def test_an_edited_source_is_asked_again(self, tmp_path: Path) -> None:
        source = tmp_path / "m.py"
        source.write_text("1")
        client = Asked(LayerShapes(((1,),), (), str(source)), LayerShapes(((2,),), (), str(source)))
        service = ShapeService(client=client)
        assert infer(INPUT + PYTHON, service, trusted=True)[1].tops == ((1,),)
        source.write_text("22")
        assert infer(INPUT + PYTHON, service, trusted=True)[1].tops == ((2,),)

    def test_forget_asks_again(self) -> None:
        client = Asked(LayerShapes(((1,),), ()), LayerShapes(((2,),), ()))
        service = ShapeService(client=client)
        infer(INPUT + PYTHON, service, trusted=True)
        service.forget(types=["Data"])
        assert infer(INPUT + PYTHON, service, trusted=True)[1].tops == ((1,),)
        service.forget(types=["Python"])
        assert infer(INPUT + PYTHON, service, trusted=True)[1].tops == ((2,),)

    def test_a_failure_is_asked_about_again_after_a_while(self, monkeypatch: pytest.MonkeyPatch) -> None:
        client = Asked(PluginError("p", "Python", "broken"), LayerShapes(((2,),), ()))
        service = ShapeService(client=client)
        for _ in range(2):
            node = infer(INPUT + PYTHON, service, trusted=True)[1]
            assert isinstance(node.error, PluginError) and node.state == "unknown"
        assert len(client.questions) == 1
        now = time.monotonic()
        monkeypatch.setattr(time, "monotonic", lambda: now + 60)
        assert infer(INPUT + PYTHON, service, trusted=True)[1].tops == ((2,),)

    def test_last_known_shapes_stay_as_stale_ones(self) -> None:
        client = Asked(LayerShapes(((1,),), ()), PluginError("p", "Python", "broken"))
        service = ShapeService(client=client)
        graph = OpGraph.parse(INPUT + PYTHON)
        node = graph.nodes()[1].id
        assert service.infer(graph_layers(graph), Phase.TRAIN, trusted=True)[node].state == "known"
        with graph.change("edit"):
            graph.set_field(node, ("python_param", "param_str"), '"7"')
        stale = service.infer(graph_layers(graph), Phase.TRAIN, trusted=True)[node]
        assert (stale.state, stale.tops) == ("stale", ((1,),)) and "broken" in stale.reason

    def test_a_top_shaped_while_running_is_unknown(self) -> None:
        client = Asked(LayerShapes((None,), ((3,),)))
        first, second = infer(
            INPUT + PYTHON + 'layer { name: "r" type: "ReLU" bottom: "p" top: "r" }',
            ShapeService(client=client),
            trusted=True,
        )[1:]
        assert "shapes 'p' only while it runs" in first.reason and first.params == ((3,),)
        assert second.state == "unknown" and "layer 'p'" in second.reason


class TestAgainstCaffe:
    """What real Caffe built from public nets."""

    @pytest.mark.parametrize("path", shared_files("corpus/reference/*.json"), ids=lambda path: path.stem)
    def test_every_known_shape_is_caffes(self, path: Path) -> None:
        name, phase, _ = path.name.rsplit(".", 2)
        built = json.loads(path.read_text())
        graph = OpGraph.parse(shared("corpus/prototxt/" + name.replace("~", "/")).read_bytes())
        registry = default_registry()
        found = ShapeService(registry=registry).infer(graph_layers(graph), Phase[phase])
        compared = 0
        for node in graph.nodes():
            shapes = found.get(node.id)
            if shapes is None:
                continue
            if shapes.error is not None and node.type in registry and node.version == 2:
                raise AssertionError(f"{node.name}: {shapes.error}")
            if shapes.state == "known":
                compared += 1
                assert [list(s) for s in shapes.params] == built["params"].get(node.name, []), node.name
                last = {top: index for index, top in enumerate(node.tops)}
                for top in last:
                    assert list(shapes.tops[last[top]] or ()) == built["blobs"].get(
                        top, list(shapes.tops[last[top]] or ())
                    )
        assert compared or not any(node.version == 2 and node.type == "Input" for node in graph.nodes())


def chain(layers: int) -> str:
    text = INPUT.replace("dim: 8 dim: 8", "dim: 16 dim: 16")
    bottom = "x"
    for index in range(layers // 2):
        pad = "convolution_param { num_output: 4 kernel_size: 3 pad: 1 }"
        text += f'layer {{ name: "c{index}" type: "Convolution" bottom: "{bottom}" top: "c{index}" {pad} }}\n'
        text += f'layer {{ name: "r{index}" type: "ReLU" bottom: "c{index}" top: "c{index}" }}\n'
        bottom = f"c{index}"
    return text


def test_an_edit_in_a_thousand_layers_costs_milliseconds() -> None:
    service = ShapeService()
    graph = OpGraph.parse(chain(1000))
    service.infer(graph_layers(graph), Phase.TRAIN)
    middle = graph.named("c250")[0].id
    best = 1.0
    for kernel in ("1", "3", "5"):
        with graph.change("edit"):
            graph.set_field(middle, ("convolution_param", "num_output"), "4")
            graph.set_field(middle, ("convolution_param", "group"), kernel if kernel == "1" else "2")
        layers = graph_layers(graph)
        begin = time.thread_time()
        found = service.infer(layers, Phase.TRAIN)
        best = min(best, time.thread_time() - begin)
        assert found[middle].state == "known"
    assert best < 0.03
