"""Putting what a fork of Caffe adds into BVLC's description.

A dialect's ``.proto`` file is valid by itself: its package is ``caffe.<dialect>``, and a message in it that BVLC has
too holds only what the fork adds or changes. Here the two become one description in package ``caffe``. Forks gave
the same numbers to different fields, so what a dialect says takes the place of what stood there: a field or enum
value of the same name is replaced, one whose number is taken is left out, for that fork does not have it.
"""

from __future__ import annotations

import re
from typing import Any

__all__ = ["local_name", "merge"]

_DIALECT = re.compile(r"^(\.?caffe\.)[a-z][a-z0-9_]*\.")


def local_name(full_name: str) -> str:
    """Return a full name without the dialect in it: ``caffe.ssd.Sampler.min_scale`` is ``caffe.Sampler.min_scale``.

    Names of messages and enums start with a capital, those of dialects do not.
    """
    return _DIALECT.sub(r"\1", full_name)


def merge(base: Any, addition: Any) -> None:
    """Add a dialect to a description.

    Parameters
    ----------
    base : google.protobuf.descriptor_pb2.FileDescriptorProto
        Changed in place.
    addition : google.protobuf.descriptor_pb2.FileDescriptorProto
        The dialect's own file.
    """
    _merge_types(base.message_type, base.enum_type, addition.message_type, addition.enum_type)


def _merge_types(messages: Any, enums: Any, added_messages: Any, added_enums: Any) -> None:
    known_messages = {message.name: message for message in messages}
    for added in added_messages:
        target = known_messages.get(added.name)
        if target is None:
            target = messages.add(name=added.name)
        _merge_message(target, added)
    known_enums = {enum.name: enum for enum in enums}
    for added in added_enums:
        target = known_enums.get(added.name)
        if target is None:
            target = enums.add(name=added.name)
        _replace(target.value, added.value)


def _merge_message(target: Any, added: Any) -> None:
    _merge_types(target.nested_type, target.enum_type, added.nested_type, added.enum_type)
    _replace(target.field, added.field)
    for field in target.field:
        if field.type_name:
            field.type_name = local_name(field.type_name)


def _replace(held: Any, added: Any) -> None:
    """Put fields or enum values among others; the order is that of the description, new ones last."""
    new = {item.name: item for item in added}
    taken = {item.number for item in added}
    kept = [new.pop(item.name, item) for item in held if item.name in new or item.number not in taken]
    copies = [item.__class__.FromString(item.SerializeToString()) for item in (*kept, *new.values())]
    del held[:]
    held.extend(copies)
