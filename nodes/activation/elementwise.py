"""What elementwise layers written against the array module have in common."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from engine.api import Array, Blob, Layer, Phase
from nodes.memory import is_in_place

__all__ = ["ElementwiseLayer"]

_log = logging.getLogger(__name__)


class ElementwiseLayer(Layer):
    """One bottom, one top of the same shape, no parameters; subclasses say how elements are computed.

    Attributes
    ----------
    needs_input : bool
        Whether the gradient is computed from the input. In place it then comes out wrong, as in Caffe, since the
        output has taken the input's place; a net that is trained so is warned of.
    """

    needs_input: bool = False

    def setup(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Read the settings, and tell of a gradient that comes out wrong in place."""
        self.read_param()
        if not (self.needs_input and is_in_place(bottom, top)):
            return
        self.backward_reads = "values"  # of its bottom, which its top then is
        self.spoils_itself = True
        if self.phase is Phase.TRAIN:
            _log.warning(
                "Layer '%s' (%s): in place its gradient is wrong, as in Caffe. Give the top a name of its own.",
                self.name,
                self.type,
            )

    def read_param(self) -> None:
        """Read the layer's own message; called once, at set-up."""

    def reshape(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Give the top the bottom's shape."""
        top[0].reshape_like(bottom[0])

    def forward(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Compute the elements."""
        self.apply(bottom[0].data, top[0].data)

    def backward(self, top: Sequence[Blob], propagate_down: Sequence[bool], bottom: Sequence[Blob]) -> None:
        """Compute the gradient."""
        if propagate_down[0]:
            self.apply_backward(bottom[0].data, top[0].data, top[0].diff, bottom[0].diff)

    def apply(self, x: Array, y: Array) -> None:
        """Compute ``y``, which in place is the memory of ``x``."""
        raise NotImplementedError

    def apply_backward(self, x: Array, y: Array, dy: Array, dx: Array) -> None:
        """Compute ``dx``, which in place is the memory of ``dy``."""
        raise NotImplementedError
