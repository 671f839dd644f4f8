"""What layers cost: parameters, multiply-adds and memory, from their shapes."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from engine.blob import Shape
from engine.shapes import NodeShapes

__all__ = ["VALUE_BYTES", "LayerCost", "NetCost", "layer_cost", "net_cost"]

#: Bytes of one float32 value.
VALUE_BYTES = 4

# Layers whose tops are other views of the memory of their bottoms.
_VIEWS = frozenset({"Flatten", "Reshape", "Split"})


@dataclass(frozen=True, slots=True)
class LayerCost:
    """What one layer costs in one pass over its batch.

    Attributes
    ----------
    parameters : int
        Values in all parameters.
    multiply_adds : int
        Multiplications of a value with a weight, each with its addition, in a forward pass; a backward pass has about
        twice as many. Layers without weights have none.
    activations : int
        Values in tops that have memory of their own.
    """

    parameters: int = 0
    multiply_adds: int = 0
    activations: int = 0


@dataclass(frozen=True, slots=True)
class NetCost:
    """What a net costs; memory in bytes.

    Attributes
    ----------
    parameters, multiply_adds : int
        As for a layer; shared parameters count once.
    weights, activations : int
        Memory of the parameters, and of all blobs.
    inference : int
        Weights and blobs.
    training : int
        The same with their gradients, and one history value for each weight, as SGD with momentum keeps.
    """

    parameters: int
    multiply_adds: int
    weights: int
    activations: int
    inference: int
    training: int


def layer_cost(layer_type: str, shapes: NodeShapes, in_place: Iterable[bool] = ()) -> LayerCost:
    """Return what a layer costs.

    Parameters
    ----------
    layer_type : str
        Type of the layer.
    shapes : NodeShapes
        What is known of its shapes; what is not counts as nothing.
    in_place : iterable of bool
        For each top, whether it overwrites a bottom.
    """
    tops = [math.prod(shape) if shape is not None else 0 for shape in shapes.tops]
    own = [] if layer_type in _VIEWS else list(tops)
    for place, overwrites in enumerate(in_place):
        if overwrites and place < len(own):
            own[place] = 0
    return LayerCost(shapes.param_count, _multiply_adds(layer_type, shapes, sum(tops)), sum(own))


def net_cost(costs: Iterable[LayerCost], shared: int = 0) -> NetCost:
    """Return what layers cost together.

    Parameters
    ----------
    costs : iterable of LayerCost
        Of all layers that take part.
    shared : int
        Values of parameters that are another layer's too, and were counted more than once.
    """
    listed = list(costs)
    parameters = sum(cost.parameters for cost in listed) - shared
    weights = VALUE_BYTES * parameters
    activations = VALUE_BYTES * sum(cost.activations for cost in listed)
    return NetCost(
        parameters,
        sum(cost.multiply_adds for cost in listed),
        weights,
        activations,
        weights + activations,
        3 * weights + 2 * activations,
    )


def _multiply_adds(layer_type: str, shapes: NodeShapes, outputs: int) -> int:
    if not shapes.params:
        return 0
    weight: Shape = shapes.params[0]
    if layer_type == "Convolution":
        return outputs * math.prod(weight[1:])
    if layer_type == "Deconvolution":
        inputs = sum(math.prod(shape) for shape in shapes.bottoms if shape is not None)
        return inputs * math.prod(weight[1:])
    if layer_type == "InnerProduct" and shapes.tops and shapes.tops[0]:
        return outputs * (math.prod(weight) // shapes.tops[0][-1])
    return outputs if layer_type == "Scale" else 0
