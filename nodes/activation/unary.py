"""What elementwise layers made of one primitive have in common."""

from __future__ import annotations

from collections.abc import Sequence

from engine.api import Blob, Layer, LowerContext, Primitive
from engine.ops import Op, OpSpec

__all__ = ["UnaryLayer"]


class UnaryLayer(Layer):
    """One bottom, one top of the same shape, no parameters, one operation; may work in place."""

    _spec: OpSpec
    _primitive: Primitive

    def spec(self, bottom: Blob) -> OpSpec:
        """Return the operation; called once, at set-up."""
        raise NotImplementedError

    def setup(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Make the primitive."""
        self._spec = self.spec(bottom[0])
        self._primitive = self.primitive(self._spec)

    def reshape(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Give the top the bottom's shape."""
        top[0].reshape_like(bottom[0])

    def forward(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Run the primitive."""
        self._primitive.forward([bottom[0].data], [], [top[0].data])

    def backward(self, top: Sequence[Blob], propagate_down: Sequence[bool], bottom: Sequence[Blob]) -> None:
        """Run the primitive's backward pass."""
        if propagate_down[0]:
            self._primitive.backward([bottom[0].data], [], [top[0].data], [top[0].diff], [bottom[0].diff], [])

    def lower(self, ctx: LowerContext) -> Sequence[Op]:
        """Return the one operation."""
        return [Op(self._spec, list(ctx.bottom), [], list(ctx.top))]
