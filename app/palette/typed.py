"""Numbers typed behind the name of a layer type: ``conv 20 5`` is a Convolution of 20 outputs with a kernel of 5."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields

from app.palette.fuzzy import Entry
from app.palette.starters import number_names, starter_fields
from engine.registry import LayerInfo

__all__ = ["TypedEntry", "fields_with", "with_numbers"]

_NUMBER = re.compile(r"(?:([a-z_]+)=)?(\d+(?:\.\d+)?)")
_ALL = "dim*"
#: What may be 0; one of these is no number of things.
_MAY_BE_NOTHING = frozenset({"pad", "dim", "dropout_ratio"})


@dataclass(frozen=True, slots=True)
class TypedEntry(LayerInfo):
    """A layer type with the numbers that were typed behind its name.

    Attributes
    ----------
    kind : str
        The type and the numbers, as in ``Convolution 20 5``.
    """

    kind: str = ""


def with_numbers(infos: Iterable[Entry], pattern: str) -> tuple[Sequence[Entry], str]:
    """Return what may be searched, and the part of a pattern that is a name.

    Where numbers follow the name, these are the types that take such numbers, each telling what they mean.
    """
    words = pattern.split()
    first = next((at for at, word in enumerate(words) if at and (word[0].isdigit() or "=" in word)), len(words))
    name, numbers = " ".join(words[:first]), words[first:]
    if not numbers:
        return tuple(infos), pattern
    return tuple(entry for info in infos if (entry := _entry(info, numbers)) is not None), name


def _entry(info: Entry, numbers: Sequence[str]) -> TypedEntry | None:
    values = _values(info.type, numbers) if isinstance(info, LayerInfo) else None
    if values is None:
        return None
    facts = {field.name: getattr(info, field.name) for field in fields(LayerInfo)}
    facts["summary"] = ", ".join(f"{name} {' × '.join(found)}" for name, found in values.items())
    return TypedEntry(**facts, kind=" ".join([info.type, *numbers]))


def _values(kind: str, numbers: Sequence[str]) -> dict[str, list[str]] | None:
    """Return what numbers mean for a type, by the names of fields; None where it takes no such numbers."""
    names = number_names(kind)
    if names == (_ALL,):
        found = {"dim": list(numbers)} if numbers else {}
    else:
        found = {}
        free = list(names)
        for word in numbers:
            match = _NUMBER.fullmatch(word)
            name = match.group(1) if match is not None and match.group(1) else free[0] if free else ""
            if match is None or name not in free:
                return None
            free.remove(name)
            found[name] = [match.group(2)]
    return found if found and all(_fits(name, value) for name, each in found.items() for value in each) else None


def _fits(name: str, value: str) -> bool:
    if name == "dropout_ratio":
        return _NUMBER.fullmatch(value) is not None and float(value) < 1.0
    return value.isdecimal() and len(value) < 10 and (name in _MAY_BE_NOTHING or int(value) > 0)


def fields_with(kind: str, numbers: Sequence[str]) -> str | None:
    """Return the fields that a new layer of a type starts with, with the numbers in their places, as prototxt.

    A kernel that was typed brings no padding with it: what a new layer starts with suits its own kernel.
    """
    text = starter_fields(kind)
    values = _values(kind, numbers) if text is not None else None
    if text is None or values is None:
        return text
    if "kernel_size" in values and "pad" not in values:
        text = re.sub(r"pad: \d+ ", "", text)
    for name, found in values.items():
        written = " ".join(f"{name}: {value}" for value in found)
        text, places = re.subn(rf"\b{name}: \S+(?: {name}: \S+)*", written, text, count=1)
        if not places:
            text = text.replace("{ ", f"{{ {written} ", 1)
    return text
