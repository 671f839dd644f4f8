"""Finding where numbers stopped being finite."""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from engine.errors import NonFiniteError
from engine.net.observing import NetObserver

if TYPE_CHECKING:
    from engine.blob import Blob
    from engine.net import Net, NetNode

__all__ = [
    "SATURATED_LOSS",
    "Finding",
    "GradientCheck",
    "check_params",
    "find_in_forward",
    "is_saturated",
    "nonfinite_error",
    "quiet",
]

_LOWER = "Lower base_lr, set clip_gradients, or check the data for values that are not finite."

SATURATED_LOSS = -math.log(np.finfo(np.float32).tiny)
"""Softmax loss of a true class whose probability fell to the smallest float32: 87.3365 in Caffe's logs."""


def quiet() -> AbstractContextManager[None]:
    """Turn numpy's warnings about overflow off: a solver finds what is not finite and names it.

    What the user turned into an exception stays one.
    """
    modes: Any = {kind: "ignore" for kind, mode in np.geterr().items() if mode == "warn"}
    return np.errstate(**modes)


def is_saturated(loss: float) -> bool:
    """Whether a loss is that of probabilities gone to zero everywhere."""
    return abs(loss - SATURATED_LOSS) < 1e-3


@dataclass(frozen=True, slots=True)
class Finding:
    """The first value that is not finite.

    Attributes
    ----------
    layer, type : str
        Name and type of the layer that computed it.
    blob : str
        Name of the blob; the number of a parameter.
    part : str
        ``data`` or ``diff`` of a blob, ``parameter`` or ``parameter diff``.
    value : str
        The value and its place, such as ``nan at (0, 3)``.
    """

    layer: str
    type: str
    blob: str
    part: str
    value: str

    def __str__(self) -> str:
        where = f"layer '{self.layer}' ({self.type}), {self.value}"
        if self.part == "parameter":
            return f"parameter {self.blob} of {where}: an earlier update drove it there"
        if self.part == "parameter diff":
            return f"the gradient of parameter {self.blob} of {where}"
        return f"blob '{self.blob}' of {where}" if self.part == "data" else f"the gradient of '{self.blob}' by {where}"


def find_in_forward(net: Net) -> Finding | None:
    """Return the first value that is not finite after a forward pass, in the order in which layers ran.

    Of a blob that layers worked on in place, only the last values are left. Those layers run again, one by one, where
    they are built in and read no data.
    """
    for position, node in enumerate(net.nodes):
        for index, blob in enumerate(node.blobs.on_host):
            if (value := _first_bad(blob.read_data())) is not None:
                return Finding(node.name, node.type, str(index), "parameter", value)
        for name, blob in zip(node.layer_param.top, node.tops, strict=False):
            if _first_bad(blob.read_data()) is not None:
                return _first_writer(net, position, name, blob)
    return None


def _first_writer(net: Net, position: int, name: str, blob: Blob) -> Finding:
    """Return which of the layers that write a blob, the one at a position first, made it bad."""
    first = net.nodes[position]
    writers = [at for at, node in enumerate(net.nodes) if at >= position and blob in node.tops]
    culprit = first
    nodes = [net.nodes[at] for at in writers]
    if len(writers) > 1 and all(node.bound.info.builtin and not node.layer.is_source for node in nodes):
        kept = blob.read_data().copy()
        for at, node in zip(writers, nodes, strict=True):
            net.forward(at, at)
            if _first_bad(blob.read_data()) is not None:
                culprit = node
                break
        blob.data[...] = kept
    return Finding(culprit.name, culprit.type, name, "data", _first_bad(blob.read_data()) or "")


def nonfinite_error(net: Net, iteration: int, loss: float) -> NonFiniteError:
    """Return the error of a run whose loss is no number any more, naming where that began."""
    finding = find_in_forward(net)
    fault = f"expected a finite loss, got {loss:g}."
    if finding is None:
        where = "All blobs are finite: the sum of the losses overflows."
        return NonFiniteError(f"Iteration {iteration}: {fault} {where}", iteration=iteration, next_step=_LOWER)
    return _error(finding, iteration, f"{fault} It began in {finding}.", _LOWER)


def check_params(net: Net, iteration: int) -> None:
    """Refuse parameters that are not finite.

    Raises
    ------
    NonFiniteError
        Naming layer, parameter and iteration.
    """
    for node in net.nodes:
        for index, blob in enumerate(node.blobs.on_host):
            if (value := _first_bad(blob.read_data())) is not None:
                finding = Finding(node.name, node.type, str(index), "parameter", value)
                fault = f"expected finite parameters, got parameter {index} of layer '{node.name}' with {value}."
                raise _error(finding, iteration, fault, "Lower base_lr or set clip_gradients.")


class GradientCheck:
    """Finds gradients that are not finite before they spoil the parameters.

    In every iteration it looks at one parameter a layer, the smallest: the bias where there is one, which all gradients
    of the layer are summed into. Only when that fails does the backward pass run again, watched layer by layer.

    Parameters
    ----------
    net : Net
        The training net.
    """

    def __init__(self, net: Net) -> None:
        self._net = net
        smallest: dict[str, Blob] = {}
        for item in net.learnable:
            if item.lr_mult and (item.layer not in smallest or item.blob.count < smallest[item.layer].count):
                smallest[item.layer] = item.blob
        self._watched = [blob.on_device() for blob in smallest.values()]

    def check(self, iteration: int) -> None:
        """Look at the gradients after a backward pass.

        Raises
        ------
        NonFiniteError
            Naming the layer whose backward pass gave the first one that is not finite.
        """
        flats = [blob.diff.reshape(-1) for blob in self._watched]
        if not flats or math.isfinite(float(sum(flat @ flat for flat in flats))):
            return
        finding = self._look()
        if finding is not None:
            fault = f"expected finite gradients. It began in {finding}."
            raise _error(finding, iteration, fault, _LOWER)

    def _look(self) -> Finding | None:
        """Run backward again and return the first gradient that is not finite; None where only squares overflow."""
        nodes = self._net.nodes
        present = [_bad_param_diff(node, [True] * len(node.blobs)) for node in reversed(nodes)]
        found = next((finding for finding in present if finding is not None), None)
        if found is None:
            return None
        left = {item.blob: item.blob.read_diff().copy() for item in self._net.learnable}
        watch = _GradientWatch()
        self._net.clear_param_diffs()
        self._net.observers.append(watch)
        try:
            self._net.backward()
        finally:
            self._net.observers.remove(watch)
            for blob, diff in left.items():
                blob.diff[...] = diff
        return found if watch.finding is None else watch.finding


class _GradientWatch(NetObserver):
    """Looks at what each layer's backward pass gave, until something was found."""

    def __init__(self) -> None:
        self.finding: Finding | None = None

    def backward_done(self, node: NetNode) -> None:
        if self.finding is not None:
            return
        for name, blob, wanted in zip(node.layer_param.bottom, node.bottoms, node.propagate_down, strict=True):
            if wanted and (value := _first_bad(blob.read_diff())) is not None:
                self.finding = Finding(node.name, node.type, name, "diff", value)
                return
        self.finding = _bad_param_diff(node, node.bound.param_propagate_down)


def _bad_param_diff(node: NetNode, wanted: Sequence[bool]) -> Finding | None:
    for index, blob in enumerate(node.blobs.on_host):
        if wanted[index] and (value := _first_bad(blob.read_diff())) is not None:
            return Finding(node.name, node.type, str(index), "parameter diff", value)
    return None


def _error(finding: Finding, iteration: int, fault: str, next_step: str) -> NonFiniteError:
    return NonFiniteError(
        f"Iteration {iteration}: {fault}",
        layer=finding.layer,
        blob=finding.blob,
        part=finding.part,
        iteration=iteration,
        next_step=next_step,
    )


def _first_bad(array: npt.NDArray[Any]) -> str | None:
    """Describe the first element that is not finite."""
    if array.dtype.kind != "f":
        return None
    # A sum is not finite if an element is not; the reverse needs a closer look.
    with np.errstate(over="ignore", invalid="ignore"):
        if math.isfinite(float(np.sum(array))):
            return None
    bad = np.flatnonzero(~np.isfinite(array))
    if not len(bad):
        return None
    place = tuple(int(axis) for axis in np.unravel_index(int(bad[0]), array.shape))
    return f"{array.reshape(-1)[bad[0]]:g} at {place}"
