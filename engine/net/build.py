"""Building a net: layers are made and connected in file order, set up and shaped one after the other."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from engine.backends import Backend
from engine.blob import Blob
from engine.errors import LayerError
from engine.layer import Layer, LayerContext
from engine.net.nodes import NetNode, call_layer
from engine.net.params import ParamTable
from engine.registry import LayerInfo, LayerRegistry

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


def build_nodes(param: Any, registry: LayerRegistry, context: LayerContext, trained: dict[str, Layer]) -> BuiltNet:
    """Make, connect, set up and shape all layers; on a fault, close those that were made.

    Parameters
    ----------
    param : NetParameter
        Filtered, with split layers.
    registry : LayerRegistry
        Where layer types are looked up.
    context : LayerContext
        Handed to every layer.
    trained : dict of Layer
        Layers of another net whose parameters are taken over, by name.
    """
    built = BuiltNet()
    try:
        _add_layers(built, param, registry, context, trained)
    except BaseException:
        for node in built.nodes:
            node.layer.close()
        raise
    return built


def _add_layers(
    built: BuiltNet, param: Any, registry: LayerRegistry, context: LayerContext, trained: dict[str, Layer]
) -> None:
    for layer_param in param.layer:
        if not layer_param.HasField("phase"):
            layer_param.phase = int(context.phase)
        source = trained.get(layer_param.name)
        own_context = replace(context, fill_params=False) if source is not None and len(source.blobs) else context
        layer = registry.create(layer_param, own_context)
        node = _connect(layer, layer_param, built, context.backend)
        check_counts(layer, layer.info, layer_param)
        check_in_place(layer, layer_param)
        call_layer(layer, "setup", node.bottom_views, node.top_views)
        built.nodes.append(node)
        if source is not None:
            share_params(layer, source)
        call_layer(layer, "reshape", node.bottom_views, node.top_views)
        node.loss_weights = _loss_weights(layer, layer_param, len(node.tops))
        layer.param_propagate_down = built.params.add_layer(layer)


def _connect(layer: Layer, layer_param: Any, built: BuiltNet, backend: Backend) -> NetNode:
    bottoms = [built.blobs[name] for name in layer_param.bottom]
    for name in layer_param.bottom:
        built.unread.pop(name, None)
    tops: list[Blob] = []
    for index, name in enumerate(layer_param.top):
        if index < len(layer_param.bottom) and layer_param.bottom[index] == name:
            tops.append(bottoms[index])
        else:
            blob = Blob((), dtype=layer.context.dtype, backend=backend, name=name)
            built.blobs[name] = blob
            tops.append(blob)
        built.unread[name] = None
    if layer.auto_top_blobs:
        for index in range(len(tops), layer.info.min_tops):
            tops.append(Blob((), dtype=layer.context.dtype, backend=backend, name=f"{layer.name}:{index}"))
    on_device = not layer.host_arrays
    return NetNode(
        layer,
        bottoms,
        tops,
        [blob.on_device() for blob in bottoms] if on_device else bottoms,
        [blob.on_device() for blob in tops] if on_device else tops,
    )


def check_counts(layer: Layer, info: LayerInfo, layer_param: Any) -> None:
    """Refuse a layer with too few or too many bottoms or tops."""
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
            layer.name,
            layer_param.type,
            f"expected {expected} {what}{'' if expected == '1' else 's'}{names}, got {count}.",
            next_step=f"Connect every {what} that it needs." if count < least else f"Remove the surplus {what}s.",
        )
    if info.paired and tops != len(layer_param.bottom):
        raise LayerError(
            layer.name,
            layer_param.type,
            f"expected as many tops as bottoms, got {tops} tops and {len(layer_param.bottom)} bottoms.",
        )


def check_in_place(layer: Layer, layer_param: Any) -> None:
    """Refuse a built-in layer that would overwrite the input it still needs."""
    if not layer.info.builtin or layer.info.in_place_ok:
        return
    for index, name in enumerate(layer_param.top):
        if name in layer_param.bottom:
            raise LayerError(
                layer.name,
                layer_param.type,
                f"cannot work in place on '{name}'.",
                port=f"top {index}",
                next_step="Give the top a name of its own.",
            )


def _loss_weights(layer: Layer, layer_param: Any, tops: int) -> list[float]:
    given = [float(weight) for weight in layer_param.loss_weight]
    if len(given) > tops:
        raise LayerError(
            layer.name, layer_param.type, f"expected at most {tops} loss_weight, one for each top, got {len(given)}."
        )
    weights = [given[top] if top < len(given) else 0.0 for top in range(tops)]
    if not given:
        weights = [float(layer.default_loss_weight(top)) for top in range(tops)]
    return weights if any(weights) else []


def share_params(layer: Layer, source: Layer) -> None:
    """Make a layer's parameters one memory with those of the layer of that name in another net.

    Raises
    ------
    engine.errors.LayerError
        If numbers or shapes of the parameters differ.
    """
    mine, theirs = layer.blobs.on_host, source.blobs.on_host
    if len(mine) != len(theirs):
        raise LayerError(
            layer.name,
            layer.layer_param.type,
            f"expected {len(theirs)} parameters, as the layer of that name in the trained net has, got {len(mine)}.",
            next_step="Rename it if it is another layer.",
        )
    for index, (blob, trained) in enumerate(zip(mine, theirs, strict=True)):
        if blob.shape != trained.shape:
            raise LayerError(
                layer.name,
                layer.layer_param.type,
                f"parameter {index}: expected shape {trained.shape}, as in the trained net, got {blob.shape}.",
                next_step="Rename the layer if it is another one.",
            )
        blob.share_data(trained)
