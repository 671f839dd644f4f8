"""Which fields of a layer stand together in the panel, and in which order."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace

from engine.schema import FieldInfo, Schema

__all__ = ["FieldGroup", "layer_groups", "words_of"]

_IN_HEADER = frozenset({"name"})
_LOSS = frozenset({"loss_weight"})
_LEARNING = frozenset({"param", "blobs_lr", "weight_decay", "blob_share_mode"})
_RULES = frozenset({"phase", "include", "exclude"})
_SHARED_PARAMS = frozenset({"transform_param", "loss_param"})
_OLDEST = 0


@dataclass(frozen=True, slots=True)
class FieldGroup:
    """A titled part of the panel.

    Attributes
    ----------
    title : str
        What the group is about.
    message : str
        Message type that the fields belong to.
    base : tuple of str
        Path from the layer to that message.
    fields : tuple of FieldInfo
        The fields to show.
    note : str
        Shown beside the title.
    is_open : bool
        Whether the group starts open.
    """

    title: str
    message: str
    base: tuple[str, ...]
    fields: tuple[FieldInfo, ...]
    note: str = ""
    is_open: bool = False


def layer_groups(schema: Schema, layer_type: str, present: Collection[str], version: int = 2) -> tuple[FieldGroup, ...]:
    """Return the groups for a layer.

    Parameters
    ----------
    schema : Schema
        What the fields are.
    layer_type : str
        Type as the net spells it today.
    present : collection of str
        Names of the fields that the layer has; another type's parameters show only then.
    version : int
        2 for ``layer``, 1 for ``layers``, 0 for ``layers`` with a ``layer`` inside.

    Returns
    -------
    tuple of FieldGroup
        The type's own parameters first, then loss, learning, phases, everything else, and last what the type does
        not read.
    """
    there = frozenset(present)
    message = "LayerParameter" if version == 2 else "V1LayerParameter"
    layer = schema.describe(message)
    own = [info for name in schema.param_fields_for(layer_type) if (info := layer.field(name)) is not None]
    if version == _OLDEST:
        own = [info for info in layer.fields if info.name == "layer"]

    def part(title: str, names: Collection[str], note: str = "", *, is_open: bool = False) -> FieldGroup:
        infos = tuple(info for info in layer.fields if info.name in names)
        return FieldGroup(title, message, (), infos, note, is_open or bool(there & {info.name for info in infos}))

    groups = [_param_group(schema, info, layer_type, "", there, index == 0) for index, info in enumerate(own)]
    is_loss = layer_type.endswith("Loss")
    learning = part("Learning", _LEARNING | (_LOSS if is_loss else set()), "rate and decay", is_open=is_loss)
    groups += [learning, part("Phases", _RULES, "when it takes part")]
    params = {info.name for info in layer.fields if info.name.endswith("_param")} | {info.name for info in own}
    taken = {info.name for group in groups if not group.base for info in group.fields}
    rest = {info.name for info in layer.fields} - taken - params - _IN_HEADER
    more = part("More", rest)
    groups.append(replace(more, is_open=False))
    foreign = [info for info in layer.fields if info.name in there & params and info not in own]
    for info in foreign:
        note = "" if info.name in _SHARED_PARAMS else f"{layer_type or 'this type'} does not read it"
        groups.append(_param_group(schema, info, "", note, there, False))
    return tuple(group for group in groups if group.fields)


def _param_group(
    schema: Schema, info: FieldInfo, layer_type: str, note: str, present: frozenset[str], main: bool
) -> FieldGroup:
    message = info.message_type or ""
    title = layer_type if main and layer_type else words_of(info.name.removesuffix("_param"))
    fields = schema.describe(message).fields
    return FieldGroup(title, message, (info.name,), fields, note or info.name, main or info.name in present)


def words_of(name: str) -> str:
    """Return a field's name as words with a capital: ``transform`` as ``Transform``."""
    words = name.replace("_", " ")
    return words[:1].upper() + words[1:]
