"""The oldest format, V0: a layer inside of each ``layers`` block, with fields of all types in one message.

The rules are those of Caffe's ``UpgradeV0Net``: each field goes to the message of its layer's type, and layers that
only pad become the ``pad`` of the layer that follows.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from engine.errors import SchemaError
from engine.schema.upgrade.types import PADDING, V0_TYPES, V1_WORDS

__all__ = ["FIELDS", "fold_padding", "upgrade_oldest_layer"]

_ANY = ""
# Where a field goes, by the type of its layer.
FIELDS: Mapping[str, Mapping[str, tuple[str, str]]] = MappingProxyType(
    {
        "num_output": {
            "conv": ("convolution_param", "num_output"),
            "innerproduct": ("inner_product_param", "num_output"),
        },
        "biasterm": {
            "conv": ("convolution_param", "bias_term"),
            "innerproduct": ("inner_product_param", "bias_term"),
        },
        "weight_filler": {
            "conv": ("convolution_param", "weight_filler"),
            "innerproduct": ("inner_product_param", "weight_filler"),
        },
        "bias_filler": {
            "conv": ("convolution_param", "bias_filler"),
            "innerproduct": ("inner_product_param", "bias_filler"),
        },
        "pad": {"conv": ("convolution_param", "pad"), "pool": ("pooling_param", "pad")},
        "kernelsize": {"conv": ("convolution_param", "kernel_size"), "pool": ("pooling_param", "kernel_size")},
        "group": {"conv": ("convolution_param", "group")},
        "stride": {"conv": ("convolution_param", "stride"), "pool": ("pooling_param", "stride")},
        "pool": {"pool": ("pooling_param", "pool")},
        "dropout_ratio": {"dropout": ("dropout_param", "dropout_ratio")},
        "local_size": {"lrn": ("lrn_param", "local_size")},
        "alpha": {"lrn": ("lrn_param", "alpha")},
        "beta": {"lrn": ("lrn_param", "beta")},
        "k": {"lrn": ("lrn_param", "k")},
        "source": {
            "data": ("data_param", "source"),
            "hdf5_data": ("hdf5_data_param", "source"),
            "images": ("image_data_param", "source"),
            "window_data": ("window_data_param", "source"),
            "infogain_loss": ("infogain_loss_param", "source"),
        },
        "scale": {_ANY: ("transform_param", "scale")},
        "meanfile": {_ANY: ("transform_param", "mean_file")},
        "cropsize": {_ANY: ("transform_param", "crop_size")},
        "mirror": {_ANY: ("transform_param", "mirror")},
        "batchsize": {
            "data": ("data_param", "batch_size"),
            "hdf5_data": ("hdf5_data_param", "batch_size"),
            "images": ("image_data_param", "batch_size"),
            "window_data": ("window_data_param", "batch_size"),
        },
        "rand_skip": {"data": ("data_param", "rand_skip"), "images": ("image_data_param", "rand_skip")},
        "shuffle_images": {"images": ("image_data_param", "shuffle")},
        "new_height": {"images": ("image_data_param", "new_height")},
        "new_width": {"images": ("image_data_param", "new_width")},
        "concat_dim": {"concat": ("concat_param", "concat_dim")},
        "det_fg_threshold": {"window_data": ("window_data_param", "fg_threshold")},
        "det_bg_threshold": {"window_data": ("window_data_param", "bg_threshold")},
        "det_fg_fraction": {"window_data": ("window_data_param", "fg_fraction")},
        "det_context_pad": {"window_data": ("window_data_param", "context_pad")},
        "det_crop_mode": {"window_data": ("window_data_param", "crop_mode")},
    }
)
_SAME = ("blobs", "blobs_lr", "weight_decay")


def upgrade_oldest_layer(block: Any) -> list[str]:
    """Turn a ``layers`` block of the oldest format into one of the next, in place.

    Parameters
    ----------
    block : V1LayerParameter
        Its ``layer`` is taken apart; without one it stays as it is.

    Returns
    -------
    list of str
        What could not be taken over, one sentence each; Caffe leaves that out too.
    """
    if not block.HasField("layer"):
        return []
    inner = type(block.layer)()
    inner.CopyFrom(block.layer)
    block.ClearField("layer")
    notes = []
    for field, value in inner.ListFields():
        if field.name == "name":
            block.name = value
        elif field.name == "type":
            today = V0_TYPES.get(value)
            if today is None:
                notes.append(f"Layer '{inner.name}': the oldest format has no type '{value}'.")
            else:
                block.type = block.LayerType.Value(V1_WORDS[today])
        elif field.name in _SAME:
            getattr(block, field.name).MergeFrom(value)
        elif field.name == "hdf5_output_param":
            block.hdf5_output_param.CopyFrom(value)
        else:
            places = FIELDS.get(field.name, {})
            place = places.get(_ANY) or places.get(inner.type)
            if place is None:
                notes.append(f"Layer '{inner.name}': field '{field.name}' means nothing in a layer '{inner.type}'.")
            else:
                _put(getattr(block, place[0]), place[1], value)
    return notes


def _put(message: Any, name: str, value: Any) -> None:
    field = message.DESCRIPTOR.fields_by_name[name]
    if field.message_type is not None:
        getattr(message, name).CopyFrom(value)
    elif field.is_repeated:
        getattr(message, name).append(value)
    else:
        setattr(message, name, value)


def fold_padding(net: Any) -> None:
    """Make layers that only pad part of the convolution or pooling that follows, in place.

    Parameters
    ----------
    net : NetParameter
        With ``layers`` of the oldest format.

    Raises
    ------
    SchemaError
        If another layer reads what was padded, or there is more than one blob involved.
    """
    writers: dict[str, Any] = {}
    kept: list[Any] = []
    for block in net.layers:
        for place, blob in enumerate(block.bottom):
            padding = writers.get(blob)
            if padding is not None and padding.layer.type == PADDING:
                _check_fold(padding, block)
                block.layer.pad = padding.layer.pad
                block.bottom[place] = padding.bottom[0]
        for blob in block.top:
            writers[blob] = block
        if block.layer.type != PADDING:
            kept.append(block)
    if len(kept) < len(net.layers):
        copies = [type(block).FromString(block.SerializeToString()) for block in kept]
        del net.layers[:]
        net.layers.extend(copies)


def _check_fold(padding: Any, block: Any) -> None:
    pads, reads = f"padding layer '{padding.layer.name}'", f"'{block.layer.name}' ({block.layer.type or 'no type'})"
    if block.layer.type not in ("conv", "pool"):
        raise SchemaError(
            f"Expected a conv or pool layer after {pads}, got {reads}.",
            next_step="Pad directly before a conv or pool layer, or set its pad.",
        )
    if len(block.bottom) != 1 or len(padding.bottom) != 1 or len(padding.top) != 1:
        raise SchemaError(
            f"Expected one bottom and one top at {pads}, and one bottom at {reads}, which reads it.",
            next_step="Set pad in each layer that needs it, and remove the padding layer.",
        )
