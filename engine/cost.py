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
_VIEWS = frozenset({"Flatten", "Parameter", "Reshape", "Split"})
# Of these the gradient is another view, too.
_GRADIENT_VIEWS = frozenset({"Flatten", "Reshape"})
# With one bottom, or top, it is handed on as it is.
_PASSING_ON = frozenset({"Concat", "Slice"})
# Weight matrices of the recurrent layers; a static input has one more, the second.
_MATRICES = {"LSTM": 2, "RNN": 3}


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
        Values in tops that have memory of their own; what a layer keeps for itself is not counted.
    gradients : int
        Gradients of tops that have memory of their own in training; data have none.
    """

    parameters: int = 0
    multiply_adds: int = 0
    activations: int = 0
    gradients: int = 0


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
        The same with all gradients, and one history value for each weight, as SGD with momentum keeps.
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
    tops = [_count(shape) for shape in shapes.tops]
    overwrites = [*in_place, *([False] * len(tops))]
    own = sum(count for count, placed in zip(tops, overwrites, strict=False) if not placed)
    passes_on = layer_type in _PASSING_ON and len(tops) == len(shapes.bottoms) == 1
    is_data = not shapes.bottoms and layer_type != "Parameter"
    return LayerCost(
        shapes.param_count,
        _multiply_adds(layer_type, shapes, sum(tops)),
        0 if passes_on or layer_type in _VIEWS else own,
        0 if passes_on or is_data or layer_type in _GRADIENT_VIEWS else own,
    )


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
        3 * weights + activations + VALUE_BYTES * sum(cost.gradients for cost in listed),
    )


def _multiply_adds(layer_type: str, shapes: NodeShapes, outputs: int) -> int:
    if not shapes.params:
        return 0
    weight: Shape = shapes.params[0]
    if layer_type == "Convolution":
        return outputs * math.prod(weight[1:])
    if layer_type == "Deconvolution":
        return sum(map(_count, shapes.bottoms)) * math.prod(weight[1:])
    if layer_type == "InnerProduct" and shapes.tops and shapes.tops[0]:
        return outputs * (math.prod(weight) // shapes.tops[0][-1])
    if layer_type in _MATRICES:
        return _unrolled(layer_type, shapes)
    if layer_type == "Scale" and len(shapes.bottoms) == 1:
        return outputs
    return _count(shapes.tops[0]) if layer_type == "PReLU" and shapes.tops else 0


def _unrolled(layer_type: str, shapes: NodeShapes) -> int:
    """Count the matrix products of all steps; a static input is multiplied once a sequence, as in Caffe's inner net."""
    inputs = shapes.bottoms[0]
    if inputs is None or len(inputs) < 2:
        return 0
    steps, sequences = inputs[:2]
    matrices = [math.prod(shape) for shape in shapes.params if len(shape) == 2]
    static = matrices.pop(1) if len(matrices) > _MATRICES[layer_type] else 0
    return sequences * (steps * sum(matrices) + static)


def _count(shape: Shape | None) -> int:
    return 0 if shape is None else math.prod(shape)
