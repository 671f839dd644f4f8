"""Finding where numbers stopped being finite."""

from __future__ import annotations

import math
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from engine.errors import SolverError

if TYPE_CHECKING:
    from engine.net import Net

__all__ = ["SATURATED_LOSS", "check_params", "describe_first_nonfinite", "is_saturated", "nonfinite_error", "quiet"]

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


def describe_first_nonfinite(net: Net) -> str:
    """Name the first value of a net that is not finite after a forward pass, or return an empty string.

    Layers are looked at in the order in which they ran: bottoms that come from outside, parameters, then tops.
    """
    for node in net.nodes:
        described = f"layer '{node.name}' ({node.type})"
        for position, blob in enumerate(node.blobs.on_host):
            if (found := _first_bad(blob.read_data())) is not None:
                return f"parameter {position} of {described}, {found}: an earlier update drove it there"
        for top in node.layer_param.top:
            if (found := _first_bad(net.blobs[top].read_data())) is not None:
                return f"blob '{top}' of {described}, {found}"
    return ""


def nonfinite_error(net: Net, iteration: int, loss: float) -> SolverError:
    """Return the error of a run whose loss is no number any more, naming where that began."""
    culprit = describe_first_nonfinite(net)
    where = f"It began in {culprit}." if culprit else "All blobs are finite: the sum of the losses overflows."
    return SolverError(
        f"Iteration {iteration}: expected a finite loss, got {loss:g}. {where}",
        next_step="Lower base_lr, set clip_gradients, or check the data for values that are not finite.",
    )


def check_params(net: Net, iteration: int) -> None:
    """Refuse parameters that are not finite.

    Raises
    ------
    SolverError
        Naming layer, parameter and iteration.
    """
    for name, blobs in net.params.items():
        for position, blob in enumerate(blobs):
            if (found := _first_bad(blob.read_data())) is not None:
                raise SolverError(
                    f"Iteration {iteration}: expected finite parameters, got parameter {position} of layer '{name}' "
                    f"with {found}.",
                    next_step="Lower base_lr or set clip_gradients.",
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
