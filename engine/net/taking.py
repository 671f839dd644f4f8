"""Parameters that are taken over rather than filled: from another net, or from the layer's own message."""

from __future__ import annotations

from engine.errors import LayerError
from engine.net.nodes import NetNode

__all__ = ["share_params", "take_stored_params"]


def share_params(node: NetNode, source: NetNode) -> None:
    """Make a layer's parameters one memory with those of the layer of that name in another net.

    Raises
    ------
    engine.errors.LayerError
        If numbers or shapes of the parameters differ.
    """
    mine, theirs = node.blobs.on_host, source.blobs.on_host
    if len(mine) != len(theirs):
        raise LayerError(
            node.name,
            node.type,
            f"expected {len(theirs)} parameters, as the layer of that name in the trained net has, got {len(mine)}.",
            next_step="Rename it if it is another layer.",
        )
    for index, (blob, trained) in enumerate(zip(mine, theirs, strict=True)):
        if blob.shape != trained.shape:
            raise LayerError(
                node.name,
                node.type,
                f"parameter {index}: expected shape {trained.shape}, as in the trained net, got {blob.shape}.",
                next_step="Rename the layer if it is another one.",
            )
        blob.share_data(trained)


def take_stored_params(node: NetNode) -> None:
    """Fill a layer's parameters from the ``blobs`` of its message, as Caffe's layers do in place of their fillers.

    The message lets go of them afterwards, so that weights are not held twice.

    Raises
    ------
    engine.errors.LayerError
        If numbers or shapes differ from those of the layer, or a blob is damaged.
    """
    from engine.files.blobs import decode_blob  # few nets carry weights in their text
    from engine.schema.wire import WireError

    blobs = node.blobs.on_host
    written = node.layer_param.blobs
    if len(blobs) != len(written):
        raise LayerError(
            node.name,
            node.type,
            f"expected {len(blobs)} blobs in the net's file, one for each parameter, got {len(written)}.",
            next_step="Remove them to have the parameters filled, or set bias_term.",
        )
    for index, (blob, message) in enumerate(zip(blobs, written, strict=True)):
        try:
            stored = decode_blob(memoryview(message.SerializeToString()))
        except WireError as error:
            raise LayerError(node.name, node.type, f"blob {index} in the net's file: {error}.") from error
        if not stored.fits(blob.shape):
            raise LayerError(
                node.name,
                node.type,
                f"blob {index} in the net's file: expected shape {blob.shape}, got {stored.shape}.",
                next_step="Remove the blobs to have the parameters filled, or correct the layer's settings.",
            )
        if not node.bound.context.shapes_only:
            blob.data[...] = stored.data.reshape(blob.shape)
    node.layer_param.ClearField("blobs")
