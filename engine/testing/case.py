"""A layer under test, with its inputs, in a net of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from engine.backends.base import junk_value
from engine.layer import Layer, Phase, stream
from engine.net import Net
from engine.registry import LayerRegistry, default_registry
from engine.schema.text import quote

__all__ = ["LayerCase", "Outcome", "Rig"]

Values = npt.NDArray[Any]


@dataclass(frozen=True)
class LayerCase:
    """A layer with its inputs.

    Attributes
    ----------
    text : str
        The layer's prototxt without name, bottoms and tops: ``'type: "ReLU" relu_param { negative_slope: 0.1 }'``.
    bottoms : sequence of array
        Values of its bottoms.
    tops : int
        Number of tops.
    in_place : bool
        Whether the first top is the first bottom.
    phase : Phase
        What the net is built for.
    no_gradient : sequence of int
        Bottoms without a gradient (labels).
    ungraded_tops : sequence of int
        Tops whose gradient the layer does not read (masks).
    batched : bool
        Whether the first dimension of every bottom is a batch that may change.
    params : sequence of array
        Values of its parameters, in order; what its fillers give where there are none.
    fixed_params : sequence of int
        Parameters without a gradient (statistics).
    registry : LayerRegistry, optional
        Where the type is found; all installed ones when omitted.
    name : str
        What messages call the layer.
    """

    text: str
    bottoms: Sequence[Values]
    tops: int = 1
    in_place: bool = False
    phase: Phase = Phase.TRAIN
    no_gradient: Sequence[int] = ()
    ungraded_tops: Sequence[int] = ()
    batched: bool = True
    params: Sequence[Values] = ()
    fixed_params: Sequence[int] = ()
    registry: LayerRegistry | None = None
    name: str = "subject"

    @property
    def bottom_names(self) -> list[str]:
        """Names of the bottoms in the net."""
        return [f"bottom{index}" for index in range(len(self.bottoms))]

    @property
    def top_names(self) -> list[str]:
        """Names of the tops in the net."""
        names = [f"top{index}" for index in range(self.tops)]
        return [self.bottom_names[0], *names[1:]] if self.in_place else names

    def net_text(self, extra: str = "") -> str:
        """Return a net of the layer over Input layers; ``extra`` goes into the layer's block."""
        lines = ["force_backward: true"]
        for name, values in zip(self.bottom_names, self.bottoms, strict=True):
            dims = " ".join(f"dim: {dim}" for dim in values.shape)
            lines.append(f'layer {{ name: "{name}" type: "Input" top: "{name}" input_param {{ shape {{ {dims} }} }} }}')
        ports = [f'bottom: "{name}"' for name in self.bottom_names] + [f'top: "{name}"' for name in self.top_names]
        lines.append(f"layer {{ name: {quote(self.name)} {' '.join(ports)} {self.text} {extra} }}")
        return "\n".join(lines)

    def resized(self, batch: int) -> LayerCase:
        """Return the case with another batch size; values are repeated as needed."""
        bottoms = [np.resize(values, (batch, *values.shape[1:])) for values in self.bottoms]
        return LayerCase(**{**self.__dict__, "bottoms": bottoms})


@dataclass(frozen=True)
class Outcome:
    """What one forward and backward pass gave, as host copies.

    Attributes
    ----------
    loss : float
        Weighted losses, plus the inner product of each other top with its gradient.
    tops, bottom_grads, param_grads : list of ndarray
        Gradients of bottoms without one are ``None``.
    """

    loss: float
    tops: list[Values]
    bottom_grads: list[Values | None]
    param_grads: list[Values] = field(default_factory=list)

    def arrays(self) -> list[tuple[str, Values]]:
        """Return all arrays with names, for comparisons."""
        found = [(f"top {index}", values) for index, values in enumerate(self.tops)]
        found += [
            (f"gradient of bottom {i}", values) for i, values in enumerate(self.bottom_grads) if values is not None
        ]
        return found + [(f"gradient of parameter {index}", values) for index, values in enumerate(self.param_grads)]


class Rig:
    """A built case that can be run again and again with the same random draws.

    Parameters
    ----------
    case : LayerCase
        What to run.
    extra : str
        More prototxt for the layer's block.
    **options
        For :class:`engine.net.Net`.
    """

    def __init__(self, case: LayerCase, *, extra: str = "", **options: Any) -> None:
        self.case = case
        self.net = Net(
            case.net_text(extra), case.phase, seed=7, registry=case.registry or default_registry(), **options
        )
        self.layer: Layer = self.net.layers[-1]
        self._draws = stream(self.layer).bit_generator.state
        self.params = self.net.params.get(case.name, [])
        for blob, values in zip(self.params, case.params, strict=False):
            blob.data[...] = values

    def load(self, bottoms: Sequence[Values]) -> None:
        """Reshape the inputs and give them values."""
        for name, values in zip(self.case.bottom_names, bottoms, strict=True):
            blob = self.net.blobs[name]
            blob.reshape(*values.shape)
            blob.data[...] = values

    def poison(self) -> None:
        """Fill tops, gradients and scratch memory with junk; parameter gradients, which are added to, stay."""
        for name in {*self.case.bottom_names, *self.case.top_names}:
            blob = self.net.blobs[name]
            blob.diff[...] = junk_value(blob.dtype)
            if name not in self.case.bottom_names:
                blob.data[...] = junk_value(blob.dtype)
        self.net.workspace.poison()

    def forward(self) -> float:
        """Run forward with the same random draws as every time; return the weighted losses."""
        stream(self.layer).bit_generator.state = self._draws
        return self.net.forward()

    def graded_tops(self) -> list[str]:
        """Return the tops that a gradient is written to: those that are no losses, unless the layer is a loss."""
        if self.net.loss_weights:
            return []
        return [name for index, name in enumerate(self.case.top_names) if index not in self.case.ungraded_tops]

    def top_grads(self) -> dict[str, Values]:
        """Return fixed random gradients for the graded tops, in their present shapes."""
        rng = np.random.default_rng(11)
        return {name: rng.normal(size=self.net.blobs[name].shape) for name in self.graded_tops()}

    def value(self) -> float:
        """Run forward and return the scalar whose gradient :meth:`run` computes, in double precision."""
        loss = self.forward()
        for name, grads in self.top_grads().items():
            loss += float((self.net.blobs[name].data.astype(np.float64) * grads).sum())
        return loss

    def run(self, bottoms: Sequence[Values] | None = None, *, poison: bool = False, clear: bool = True) -> Outcome:
        """Run forward and backward once.

        Parameters
        ----------
        bottoms : sequence of array, optional
            Inputs; the case's when omitted.
        poison : bool
            Fill all memory that the layer should write with junk first.
        clear : bool
            Set parameter gradients to zero first.
        """
        net, case = self.net, self.case
        inputs = case.bottoms if bottoms is None else bottoms
        self.load(inputs)
        if poison:
            net.reshape()
            self.poison()
            self.load(inputs)  # a top may share its bottom's memory
        loss = self.value()
        tops = [net.blobs[name].data.copy() for name in case.top_names]
        for name, grads in self.top_grads().items():
            net.blobs[name].diff[...] = grads
        if clear:
            net.clear_param_diffs()
        net.backward()
        bottom_grads = [
            None if index in case.no_gradient else net.blobs[name].diff.copy()
            for index, name in enumerate(case.bottom_names)
        ]
        return Outcome(loss, tops, bottom_grads, [blob.diff.copy() for blob in self.params])
