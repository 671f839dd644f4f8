"""What happens to a net's message before it is built: reading text, net-level inputs, checks of the wiring."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from engine.errors import LayerError, NetError, SchemaError
from engine.layer import Phase
from engine.net.filtering import NetState, layer_included

__all__ = ["check_wiring", "inputs_to_layers", "read_param"]

UNWIRED = "?"


def read_param(param: Any, schema: Callable[[], Any] | None = None) -> Any:
    """Return the NetParameter for a message or prototxt text; layers of an old format become today's.

    Parameters
    ----------
    param : NetParameter or str
    schema : callable, optional
        Returns the :class:`engine.schema.Schema` by which text is read; BVLC's when left out.

    Raises
    ------
    engine.errors.PrototxtError
        If the text cannot be read, or old and new layers are mixed.
    """
    if isinstance(param, (str, bytes)):
        from engine.schema import read_net  # nets made from messages need no schema

        return read_net(param, schema=schema() if schema is not None else None)
    if len(param.layers):
        from engine.schema.upgrade import upgrade_layers

        copy = type(param)()
        copy.CopyFrom(param)
        upgrade_layers(copy)
        return copy
    return param


def inputs_to_layers(param: Any) -> Any:
    """Turn net-level ``input`` declarations into an Input layer placed first, as Caffe's upgrade does.

    Parameters
    ----------
    param : NetParameter
        Changed in place and returned.

    Raises
    ------
    engine.errors.NetError
        If the dimensions do not fit the number of inputs.
    """
    if not param.input:
        return param
    from engine.schema.upgrade import upgrade_inputs  # nets made from messages need no schema

    if not param.input_shape and not param.input_dim:
        raise NetError(
            f"Net '{param.name}': its inputs have no shapes.", next_step="Write an input_shape block for each input."
        )
    try:
        upgrade_inputs(param)
    except SchemaError as error:
        raise NetError(error.message, next_step=error.next_step) from error
    return param


def check_wiring(param: Any, whole: Any, state: NetState) -> None:
    """Refuse bottoms that nothing produces, and tops that two layers produce.

    Parameters
    ----------
    param : NetParameter
        The filtered net.
    whole : NetParameter
        The file it came from, to tell which phase has the missing producer.
    state : NetState
        The net's state.

    Raises
    ------
    engine.errors.NetError
        On the first fault.
    """
    producers: dict[str, Any] = {}
    for layer in param.layer:
        for index, bottom in enumerate(layer.bottom):
            if bottom == UNWIRED:
                raise LayerError(
                    layer.name, layer.type, "not connected.", port=f"bottom {index}", next_step="Connect it to a top."
                )
            if bottom not in producers:
                raise LayerError(
                    layer.name,
                    layer.type,
                    f"no layer before it produces '{bottom}' in phase {state.phase}."
                    + _other_producer(whole, bottom, state),
                    port=f"bottom {index}",
                    next_step="Connect it to a blob of this phase.",
                )
        _check_tops(layer, producers)


def _check_tops(layer: Any, producers: dict[str, Any]) -> None:
    for index, top in enumerate(layer.top):
        in_place = index < len(layer.bottom) and layer.bottom[index] == top
        if top in producers and not in_place:
            raise LayerError(
                layer.name,
                layer.type,
                f"blob '{top}' is already produced by layer '{producers[top].name}'.",
                port=f"top {index}",
                next_step="Rename one of the two tops.",
            )
        producers[top] = layer


def _other_producer(whole: Any, blob: str, state: NetState) -> str:
    """Say where a blob that is missing in this net is produced."""
    for layer in whole.layer:
        if blob not in layer.top:
            continue
        if layer_included(layer, state):
            return f" Layer '{layer.name}' produces it, but later in the file."
        others = [phase for phase in Phase if layer_included(layer, NetState(phase, state.level, state.stages))]
        where = f"only in phase {others[0]}" if others else "only under other include rules"
        return f" Layer '{layer.name}' produces it, {where}."
    return ""
