"""Building a net: layers are made and connected in file order, set up and shaped one after the other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from engine.blob import Blob
from engine.errors import LayerError
from engine.layer import Layer, LayerContext, binding
from engine.net.converting import Conversion, converted
from engine.net.nodes import NetNode, call_layer, close_nodes
from engine.net.params import ParamTable
from engine.net.taking import share_params, take_stored_params
from engine.registry import LayerRegistry

__all__ = ["BuiltNet", "build_nodes"]


@dataclass(slots=True)
class BuiltNet:
    """What :func:`build_nodes` makes.

    Attributes
    ----------
    nodes : list of NetNode
        Layers in order.
    blobs : dict of Blob
        By name, in the order in which they are first produced.
    params : ParamTable
        Learnable parameters.
    unread : dict of str
        Names of blobs that no layer reads (keys only, in order).
    """

    nodes: list[NetNode] = field(default_factory=list)
    blobs: dict[str, Blob] = field(default_factory=dict)
    params: ParamTable = field(default_factory=ParamTable)
    unread: dict[str, None] = field(default_factory=dict)


def build_nodes(param: Any, registry: LayerRegistry, context: LayerContext, trained: Mapping[str, NetNode]) -> BuiltNet:
    """Make, connect, set up and shape all layers; on a fault, close those that were made.

    Parameters
    ----------
    param : NetParameter
        Filtered, with split layers.
    registry : LayerRegistry
        Where layer types are looked up.
    context : LayerContext
        Handed to every layer.
    trained : mapping of NetNode
        Layers of another net whose parameters are taken over, by name.
    """
    built = BuiltNet()
    for layer_param in param.layer:
        registry.check(layer_param)
    try:
        _add_layers(built, param, registry, replace(context, blobs=built.blobs), trained)
    except BaseException:
        close_nodes(built.nodes)
        raise
    return built


def _add_layers(
    built: BuiltNet, param: Any, registry: LayerRegistry, context: LayerContext, trained: Mapping[str, NetNode]
) -> None:
    for layer_param in param.layer:
        if not layer_param.HasField("phase"):
            layer_param.phase = int(context.phase)
        source = trained.get(layer_param.name)
        filled = len(layer_param.blobs) > 0 or (source is not None and len(source.blobs) > 0)
        layer = registry.create(layer_param, replace(context, fill_params=False) if filled else context)
        node = _connect(layer, built, context)
        check_counts(layer)
        _check_in_place(node)
        call_layer(layer, "setup", node.bottom_views, node.top_views)
        built.nodes.append(node)
        if len(layer_param.blobs):
            take_stored_params(node)
        if source is not None:
            share_params(node, source)
        call_layer(layer, "reshape", node.bottom_views, node.top_views)
        node.loss_weights = _loss_weights(node)
        node.bound.param_propagate_down = built.params.add_layer(node)


def _connect(layer: Layer, built: BuiltNet, context: LayerContext) -> NetNode:
    bound = binding(layer)
    layer_param = bound.layer_param
    bottoms = [built.blobs[name] for name in layer_param.bottom]
    for name in layer_param.bottom:
        built.unread.pop(name, None)
    tops: list[Blob] = []
    for index, name in enumerate(layer_param.top):
        if index < len(layer_param.bottom) and layer_param.bottom[index] == name:
            tops.append(bottoms[index])
        else:
            blob = Blob((), dtype=context.dtype, backend=context.backend, name=name)
            built.blobs[name] = blob
            tops.append(blob)
        built.unread[name] = None
    if layer.auto_top_blobs:
        for index in range(len(tops), bound.info.min_tops):
            tops.append(Blob((), dtype=context.dtype, backend=context.backend, name=f"{bound.name}:{index}"))
    on_device = not layer.host_arrays
    seen: list[Blob] = bottoms
    conversions: list[Conversion] = []
    if not layer.any_dtype and any(blob.dtype != context.dtype for blob in bottoms):
        seen, conversions = converted(bottoms, context, bound)
    return NetNode(
        layer,
        bottoms,
        tops,
        [blob.on_device() for blob in seen] if on_device else seen,
        [blob.on_device() for blob in tops] if on_device else tops,
        conversions=conversions,
    )


def check_counts(layer: Layer) -> None:
    """Refuse a layer with too few or too many bottoms or tops."""
    bound = binding(layer)
    info, layer_param = bound.info, bound.layer_param
    tops = len(layer_param.top)
    least_tops = 0 if layer.auto_top_blobs else info.min_tops
    for what, count, least, most, ports in (
        ("bottom", len(layer_param.bottom), info.min_bottoms, info.max_bottoms, info.bottoms),
        ("top", tops, least_tops, info.max_tops, info.tops),
    ):
        if least <= count and (most is None or count <= most):
            continue
        expected = f"{least}" if most == least else f"at least {least}" if most is None else f"{least} to {most}"
        names = f" ({', '.join(ports)})" if ports else ""
        raise LayerError(
            bound.name,
            bound.type,
            f"expected {expected} {what}{'' if expected == '1' else 's'}{names}, got {count}.",
            next_step=f"Connect every {what} that it needs." if count < least else f"Remove the surplus {what}s.",
        )
    if info.paired and tops != len(layer_param.bottom):
        raise LayerError(
            bound.name,
            bound.type,
            f"expected as many tops as bottoms, got {tops} tops and {len(layer_param.bottom)} bottoms.",
        )


def _check_in_place(node: NetNode) -> None:
    """Refuse a built-in layer that would overwrite the input it still needs."""
    if not node.bound.info.builtin or node.bound.info.in_place_ok:
        return
    for index, name in enumerate(node.layer_param.top):
        if name in node.layer_param.bottom:
            raise LayerError(
                node.name,
                node.type,
                f"cannot work in place on '{name}'.",
                port=f"top {index}",
                next_step="Give the top a name of its own.",
            )


def _loss_weights(node: NetNode) -> list[float]:
    given = [float(weight) for weight in node.layer_param.loss_weight]
    tops = len(node.tops)
    if len(given) > tops:
        raise LayerError(
            node.name, node.type, f"expected at most {tops} loss_weight, one for each top, got {len(given)}."
        )
    if given:
        weights = given + [0.0] * (tops - len(given))
    else:
        weights = [float(call_layer(node.layer, "default_loss_weight", top)) for top in range(tops)]
        last = max((top + 1 for top, weight in enumerate(weights) if weight), default=0)
        node.layer_param.loss_weight.extend(weights[:last])  # Caffe's files of weights have it
    return weights if any(weights) else []
