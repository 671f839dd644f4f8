"""The old format, V1: ``layers`` blocks with types in capitals, and learning settings in lists of their own."""

from __future__ import annotations

from typing import Any

from engine.schema.upgrade.types import type_of_word

__all__ = ["TRANSFORMERS", "TRANSFORM_FIELDS", "move_transform_fields", "upgrade_old_layer"]

TRANSFORM_FIELDS = ("scale", "mean_file", "crop_size", "mirror")
# Types whose own parameters once said how data is transformed.
TRANSFORMERS = {"DATA": "data_param", "IMAGE_DATA": "image_data_param", "WINDOW_DATA": "window_data_param"}
# Fields whose meaning has changed, or that are handled elsewhere; all others are called the same today.
_CHANGED = frozenset({"type", "param", "blob_share_mode", "blobs_lr", "weight_decay", "layer"})


def move_transform_fields(block: Any) -> None:
    """Move what the parameters of a data layer say about its transformation into ``transform_param``, in place.

    Parameters
    ----------
    block : V1LayerParameter
        Of any type.
    """
    name = TRANSFORMERS.get(block.LayerType.Name(block.type))
    if name is None or not block.HasField(name):
        return
    own = getattr(block, name)
    for field in TRANSFORM_FIELDS:
        if own.HasField(field):
            setattr(block.transform_param, field, getattr(own, field))
            own.ClearField(field)


def upgrade_old_layer(block: Any, layer: Any) -> None:
    """Write an old layer as one of today.

    Parameters
    ----------
    block : V1LayerParameter
        Without a ``layer`` inside.
    layer : LayerParameter
        Empty; is filled.
    """
    for field, value in block.ListFields():
        if field.name in _CHANGED:
            continue
        if field.is_repeated:
            getattr(layer, field.name).MergeFrom(value)
        elif field.message_type is not None:
            getattr(layer, field.name).CopyFrom(value)
        else:
            setattr(layer, field.name, value)
    if block.HasField("type"):
        layer.type = type_of_word(block.LayerType.Name(block.type))
    for source, target in (("param", "name"), ("blobs_lr", "lr_mult"), ("weight_decay", "decay_mult")):
        for place, value in enumerate(getattr(block, source)):
            setattr(_param(layer, place), target, value)
    for place, mode in enumerate(block.blob_share_mode):
        param = _param(layer, place)
        param.share_mode = param.DimCheckMode.Value(block.DimCheckMode.Name(mode))


def _param(layer: Any, place: int) -> Any:
    while len(layer.param) <= place:
        layer.param.add()
    return layer.param[place]
