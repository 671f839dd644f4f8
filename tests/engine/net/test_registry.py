"""Registries: registering, creating, closest names, port counts."""

from __future__ import annotations

import pytest

from engine.api import Layer, LayerInfo, LayerRegistry
from engine.errors import NetcanvasError
from engine.registry import default_registry
from engine.schema import load_schema


class Doubler(Layer):
    """Doubles its bottom.

    More text.
    """

    type = "Doubler"


def test_a_class_registers_itself_with_its_documentation() -> None:
    registry = LayerRegistry()
    registry.register(Doubler)
    info = registry.info("Doubler")
    assert info is not None
    assert info.summary == "Doubles its bottom."
    assert "Doubler" in registry
    assert registry.types() == ("Doubler",)


def test_a_later_registration_wins_and_other_registries_stay() -> None:
    one, other = default_registry(), default_registry()
    one.register(Doubler, LayerInfo(type="ReLU", summary="Ours."))
    assert [registry.info("ReLU").summary == "Ours." for registry in (one, other)] == [True, False]  # type: ignore[union-attr]


def test_a_type_without_a_name_is_refused() -> None:
    with pytest.raises(NetcanvasError, match="needs a name"):
        LayerRegistry().register(Layer)


def test_default_registry_has_the_builtin_layers_and_python() -> None:
    registry = default_registry()
    expected = {"Data", "HDF5Data", "Input", "Convolution", "Pooling", "InnerProduct", "ReLU", "Dropout", "Softmax"}
    assert {*expected, "SoftmaxWithLoss", "Accuracy", "Split", "Python"} <= set(registry.types())


@pytest.mark.parametrize(
    ("ports", "least", "most"),
    [((), 0, 0), (("a",), 1, 1), (("a", "b?"), 1, 2), (("a?", "b?"), 0, 2), (("a+",), 1, None), (("a", "b*"), 1, None)],
)
def test_counts_follow_from_port_names(ports: tuple[str, ...], least: int, most: int | None) -> None:
    info = LayerInfo(type="X", bottoms=ports, tops=ports)
    assert (info.min_bottoms, info.max_bottoms) == (least, most)
    assert (info.min_tops, info.max_tops) == (least, most)


def test_port_names() -> None:
    info = LayerInfo(type="X", bottoms=("scores", "labels?"), tops=("copy+",))
    assert [info.bottom_name(index) for index in range(3)] == ["scores", "labels", "bottom 2"]
    assert [info.top_name(index) for index in range(2)] == ["copy", "copy 1"]


def test_closest_ignores_case() -> None:
    registry = default_registry()
    assert registry.closest("softmaxwithloss") == "SoftmaxWithLoss"
    assert registry.closest("qqqqq") is None


def test_every_builtin_type_has_facts_and_a_documented_class_of_that_type() -> None:
    schema = load_schema()
    for info in default_registry().infos():
        if not info.builtin:
            continue
        assert info.summary.endswith("."), info.type
        assert info.category, info.type
        assert not info.param_field or info.param_field == (schema.param_field_for(info.type) or info.param_field)


@pytest.mark.parametrize(("kind", "name"), [("Eltwise", "operand"), ("Concat", "part")])
def test_ports_of_any_number_are_numbered_in_one_way(kind: str, name: str) -> None:
    info = default_registry().info(kind)
    assert info is not None
    assert [info.bottom_name(index) for index in range(3)] == [name, f"{name} 1", f"{name} 2"]
