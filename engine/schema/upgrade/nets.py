"""Whole nets and solvers, from any format that Caffe ever had to today's."""

from __future__ import annotations

from typing import Any

from engine.errors import SchemaError
from engine.schema.upgrade.old import move_transform_fields, upgrade_old_layer
from engine.schema.upgrade.oldest import fold_padding, upgrade_oldest_layer

__all__ = ["input_shapes", "upgrade_inputs", "upgrade_layer", "upgrade_layers", "upgrade_net", "upgrade_solver"]

_SOLVER_TYPES = ("SGD", "Nesterov", "AdaGrad", "RMSProp", "AdaDelta", "Adam")


def upgrade_net(net: Any) -> list[str]:
    """Bring a net to today's format, in place, as Caffe does when it reads one.

    Parameters
    ----------
    net : NetParameter
        In any format, from text or from a weights file; one in today's format stays as it is.

    Returns
    -------
    list of str
        What could not be taken over, one sentence each.

    Raises
    ------
    SchemaError
        If old and new layers are mixed, or what is written fits no format.
    """
    notes = upgrade_layers(net)
    upgrade_inputs(net)
    return notes


def upgrade_layers(net: Any) -> list[str]:
    """Bring the layers of a net to today's format, in place; like :func:`upgrade_net`, but ``input`` fields stay."""
    notes: list[str] = []
    if net.layers:
        if net.layer:
            raise SchemaError(
                f"Net '{net.name}' mixes {len(net.layers)} old 'layers' and {len(net.layer)} new 'layer' blocks.",
                next_step="Write all of them in one format.",
            )
        if any(block.HasField("layer") for block in net.layers):
            fold_padding(net)
        for block in net.layers:
            notes += _upgrade_block(block, net.layer.add())
        net.ClearField("layers")
    for layer in net.layer:
        # Three entries belong to the statistics, which once had to be kept from learning by hand.
        if layer.type == "BatchNorm" and len(layer.param) == 3:
            for param in layer.param:
                param.lr_mult = param.decay_mult = 0
    return notes


def upgrade_layer(block: Any, layer: Any) -> None:
    """Write one layer of an old format as one of today.

    Parameters
    ----------
    block : V1LayerParameter
        With a ``layer`` inside in the oldest format; stays as it is.
    layer : LayerParameter
        Empty; is filled.
    """
    copy = type(block)()
    copy.CopyFrom(block)
    _upgrade_block(copy, layer)


def _upgrade_block(block: Any, layer: Any) -> list[str]:
    notes = upgrade_oldest_layer(block)
    move_transform_fields(block)
    upgrade_old_layer(block, layer)
    return notes


def upgrade_inputs(net: Any) -> None:
    """Turn a net's ``input`` declarations into an Input layer, placed first; in place.

    Inputs without any shape, as some weights files have, are dropped.

    Raises
    ------
    SchemaError
        If the number of shapes or dimensions does not fit the number of inputs.
    """
    shapes = input_shapes(net)
    if shapes:
        layers = [type(layer).FromString(layer.SerializeToString()) for layer in net.layer]
        del net.layer[:]
        first = net.layer.add(name="input", type="Input", top=list(net.input))
        for sizes in shapes:
            first.input_param.shape.add(dim=sizes)
        net.layer.extend(layers)
    for field in ("input", "input_shape", "input_dim"):
        net.ClearField(field)


def input_shapes(net: Any) -> list[list[int]]:
    """Return the shapes of a net's ``input`` declarations, one for each; none where the net does not say them.

    Raises
    ------
    SchemaError
        If both ways to write shapes are used, or their number does not fit the number of inputs.
    """
    count, shapes, dims = len(net.input), list(net.input_shape), list(net.input_dim)
    if not count:
        return []
    if shapes and dims:
        raise SchemaError(
            f"Net '{net.name}': expected input_shape or input_dim, got both.", next_step="Keep input_shape."
        )
    if shapes:
        if len(shapes) != count:
            raise SchemaError(
                f"Net '{net.name}': expected one input_shape for each of its {count} inputs, got {len(shapes)}."
            )
        return [list(shape.dim) for shape in shapes]
    if dims and len(dims) != 4 * count:
        raise SchemaError(
            f"Net '{net.name}': expected 4 input_dim for each of its {count} inputs, so {4 * count}, got {len(dims)}.",
            next_step="Write input_shape blocks for inputs with another number of dimensions.",
        )
    return [dims[place : place + 4] for place in range(0, len(dims), 4)]


def upgrade_solver(solver: Any) -> None:
    """Write a solver's old ``solver_type`` as ``type``, in place.

    Parameters
    ----------
    solver : SolverParameter

    Raises
    ------
    SchemaError
        If both are given.
    """
    if not solver.HasField("solver_type"):
        return
    if solver.HasField("type"):
        raise SchemaError(
            f"Expected 'type' or the older 'solver_type', got both ('{solver.type}' and "
            f"{_SOLVER_TYPES[solver.solver_type]}).",
            next_step="Keep 'type'.",
        )
    solver.type = _SOLVER_TYPES[solver.solver_type]
    solver.ClearField("solver_type")
