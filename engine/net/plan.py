"""The plan of a net: layers that lower run as a flat list of primitive calls, the others as they are.

A plan is made once. It binds each lowered operation to a primitive of the backend, which keeps its scratch memory from
pass to pass; shapes are looked at before every pass, and only layers whose bottoms changed shape are lowered again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from engine.backends import Primitive
from engine.blob import Blob, Shape
from engine.faults import is_fault
from engine.layer import LowerContext
from engine.net.nodes import NetNode, call_layer, layer_failure
from engine.ops import Op, OpSpec

__all__ = ["Plan"]


@dataclass(frozen=True, slots=True)
class _BoundOp:
    """An operation with the primitive that runs it.

    ``bottom_slots`` tell which bottom of the layer each input is, -1 for one that the layer made itself;
    ``param_slots`` which of its parameters each param is.
    """

    op: Op
    primitive: Primitive
    bottom_slots: tuple[int, ...]
    param_slots: tuple[int, ...]

    def forward(self) -> None:
        op = self.op
        self.primitive.forward(
            [blob.data for blob in op.inputs], [blob.data for blob in op.params], [blob.data for blob in op.outputs]
        )

    def backward(self, propagate_down: Sequence[bool], param_wanted: Sequence[bool]) -> None:
        op = self.op
        self.primitive.backward(
            [blob.data for blob in op.inputs],
            [blob.data for blob in op.params],
            [blob.data for blob in op.outputs],
            [blob.diff for blob in op.outputs],
            [
                blob.diff if slot < 0 or propagate_down[slot] else None
                for blob, slot in zip(op.inputs, self.bottom_slots, strict=True)
            ],
            [blob.diff if param_wanted[slot] else None for blob, slot in zip(op.params, self.param_slots, strict=True)],
        )


@dataclass(slots=True)
class _Step:
    """One layer in the plan."""

    node: NetNode
    shapes: tuple[Shape, ...] | None = None
    bound: list[_BoundOp] = field(default_factory=list)
    lowered: bool = False
    primitives: list[tuple[OpSpec, Primitive]] = field(default_factory=list)

    def bind(self) -> None:
        """Reshape the layer and lower it for the present shapes."""
        node = self.node
        layer = node.layer
        call_layer(layer, "reshape", node.bottom_views, node.top_views)
        ops = call_layer(layer, "lower", LowerContext(node.bottom_views, node.top_views, node.phase))
        self.lowered = ops is not None
        self.bound = self._bind_ops(ops or ())
        self.shapes = tuple(blob.shape for blob in node.bottoms)

    def _bind_ops(self, ops: Sequence[Op]) -> list[_BoundOp]:
        bottoms = {view.on_host: slot for slot, view in enumerate(self.node.bottom_views)}
        params = {blob.on_host: slot for slot, blob in enumerate(self.node.blobs)}
        made: set[Blob] = set()
        bound = []
        for position, op in enumerate(ops):
            inputs = [blob.on_host for blob in op.inputs]
            bottom_slots = tuple(-1 if blob in made else bottoms[blob] for blob in inputs)
            param_slots = tuple(params[blob.on_host] for blob in op.params)
            bound.append(_BoundOp(op, self._primitive(position, op.spec), bottom_slots, param_slots))
            made.update(blob.on_host for blob in op.outputs)
        return bound

    def _primitive(self, position: int, spec: OpSpec) -> Primitive:
        """Return the primitive of the last binding if it does the same, with its memory, or a new one."""
        if position < len(self.primitives) and self.primitives[position][0] == spec:
            return self.primitives[position][1]
        context = self.node.bound.context
        primitive = context.backend.primitive(spec, context.workspace)
        self.primitives[position:] = [(spec, primitive)]
        return primitive


class Plan:
    """How a net runs.

    Parameters
    ----------
    nodes : sequence of NetNode
        The net, with backward flags.
    """

    def __init__(self, nodes: Sequence[NetNode]) -> None:
        self._steps = [_Step(node) for node in nodes]

    def forward(self, index: int) -> None:
        """Run the layer at a position."""
        step = self._steps[index]
        node = step.node
        method = "reshape"
        try:
            if step.lowered or step.shapes is None:
                if step.shapes is None or any(
                    blob.shape != shape for blob, shape in zip(node.bottoms, step.shapes, strict=True)
                ):
                    step.bind()
            else:
                node.layer.reshape(node.bottom_views, node.top_views)
            method = "forward"
            if step.lowered:
                for bound in step.bound:
                    bound.forward()
            else:
                node.layer.forward(node.bottom_views, node.top_views)
        except BaseException as error:
            if not is_fault(error):
                raise
            raise layer_failure(node.layer, method, error) from error

    def backward(self, index: int) -> None:
        """Run the backward pass of the layer at a position."""
        step = self._steps[index]
        node = step.node
        try:
            if step.lowered:
                for bound in reversed(step.bound):
                    bound.backward(node.propagate_down, node.bound.param_propagate_down)
            else:
                node.layer.backward(node.top_views, node.propagate_down, node.bottom_views)
        except BaseException as error:
            if not is_fault(error):
                raise
            raise layer_failure(node.layer, "backward", error) from error

    def describe(self) -> list[tuple[str, tuple[str, ...]]]:
        """Return, for each layer, the operations that it runs as; none for a layer that is called as it is."""
        return [(step.node.name, tuple(bound.op.spec.kind for bound in step.bound)) for step in self._steps]
