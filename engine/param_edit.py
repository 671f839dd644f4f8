"""Changing a ``param_str`` value by value, nested ones too: every byte that is not about the change stays.

A place in a ``param_str`` is a path: names of keys, and indices of lists as text, from the outside in.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from engine.errors import CheckError
from engine.param_str import ParamItem, ParamStr, ParamStyle, parse_param_str, spelled

if TYPE_CHECKING:
    from engine.plugins.param_schema import ParamStrSchema

__all__ = ["Nested", "add_value", "nested", "plain_values", "remove_value", "replace_value", "schema_faults"]

_TAG = re.compile(r"![^\s\[\](){},]*[ \t]+(?=[\[({])")
_LISTS = ("list", "lines")
_PLAIN_KEY = re.compile(r"[A-Za-z_][\w.\-]*")
_FLAG = re.compile(r"[A-Za-z_][\w.\-]*")


@dataclass(frozen=True, slots=True)
class Nested:
    """What stands inside a value.

    Attributes
    ----------
    parsed : ParamStr
        The inner text with its values.
    offset : int
        Where ``parsed.source`` begins in the outer text, once the blanks that stand for its indentation are gone.
    end : int
        Where it ends there.
    padding : int
        How many blanks ``parsed.source`` begins with that the outer text has not.
    """

    parsed: ParamStr
    offset: int
    end: int
    padding: int = 0


def nested(outer: ParamStr, item: ParamItem) -> Nested | None:
    """Return what stands inside a value: of a list or a mapping, its parts; of any other value, None.

    A tag such as ``!!python/tuple`` is passed over, and constructs nothing.
    """
    text, start = item.text, item.start
    tag = _TAG.match(text) if outer.style == "yaml" else None
    if tag:
        text, start = text[tag.end() :], start + tag.end()
    if text[:1] in ("[", "(", "{") and text[:1]:
        inner = parse_param_str(text, outer.style)
        return Nested(inner, start, item.end) if inner.kind not in ("text", "empty", "number", "flags") else None
    if "\n" in text and outer.kind in ("yaml", "lines"):
        padding = start - (outer.source.rfind("\n", 0, start) + 1)
        stop = outer.source.find("\n", item.end)
        stop = len(outer.source) if stop < 0 else stop  # a remark on its last line belongs to it
        inner = parse_param_str(" " * padding + outer.source[start:stop], "yaml")
        return Nested(inner, start, stop, padding) if inner.kind in ("yaml", "lines") else None
    return None


def replace_value(parsed: ParamStr, path: Sequence[str], text: str) -> str:
    """Return the text with the value at ``path`` written as ``text``, every other byte unchanged.

    Raises
    ------
    CheckError
        There is no such value, or the new text would change what the others are.
    """
    return _at(parsed, path[:-1], lambda inner: inner.replace(path[-1], text))


def remove_value(parsed: ParamStr, path: Sequence[str]) -> str:
    """Return the text without the entry at ``path``: its key, its value and the separator that goes with them.

    Raises
    ------
    CheckError
        There is no such entry, or without it the rest would be read in another way.
    """
    return _at(parsed, path[:-1], lambda inner: _without(inner, path[-1]))


def add_value(parsed: ParamStr, path: Sequence[str], value: object, *, style: ParamStyle = "json") -> str:
    """Return the text with one more value, written in the text's own style.

    Parameters
    ----------
    path : sequence of str
        Where it goes; the last name is the new key, which counts for nothing in a list.
    value : object
        The value; see :func:`engine.param_str.spelled`.
    style : str
        How an empty text begins.

    Raises
    ------
    CheckError
        The key is there already, or the text has no place for a value.
    """
    return _at(parsed, path[:-1], lambda inner: _with(inner, path[-1], value, style))


def plain_values(parsed: ParamStr) -> dict[str, Any]:
    """Return the values as a schema checks them: lists as lists, whatever notation they are written in."""
    return {item.key: _plain(parsed, item) for item in parsed.items}


def schema_faults(schema: ParamStrSchema, parsed: ParamStr) -> dict[str, str]:
    """Return what is wrong with the values of a text, a sentence each, by the names of the parameters.

    Of a text that is in no known form, and of one without names, nothing can be said.
    """
    if parsed.kind in ("text", "number", "list", "lines"):
        return {}
    values = plain_values(parsed)
    missing = [each.name for each in schema.fields if each.required and each.name not in values]
    faults = {name: f"Parameter '{name}' is missing." for name in missing}
    for name, value in values.items():
        field = schema.field(name)
        fault = field.fault(value) if field is not None else schema.faults({name: value})[0]
        if fault:
            faults[name] = fault
    return faults


def _plain(outer: ParamStr, item: ParamItem) -> Any:
    inside = nested(outer, item)
    if inside is None:
        return list(item.value) if isinstance(item.value, tuple) else item.value
    values = {each.key: _plain(inside.parsed, each) for each in inside.parsed.items}
    return list(values.values()) if inside.parsed.kind in _LISTS else values


def _at(parsed: ParamStr, path: Sequence[str], edit: Callable[[ParamStr], str]) -> str:
    if not path:
        return edit(parsed)
    item = parsed.item(path[0])
    inside = nested(parsed, item)
    if inside is None:
        raise CheckError(f"param_str: '{path[0]}' holds no values of its own.")
    new = _at(inside.parsed, path[1:], edit)[inside.padding :]
    changed = parsed.source[: inside.offset] + new + parsed.source[inside.end :]
    again = parse_param_str(changed, parsed.style)
    pairs = list(zip(parsed.items, again.items, strict=False))
    others_stay = all((old.key, old.text) == (each.key, each.text) for old, each in pairs if old is not item)
    if (again.kind, len(again.items)) != (parsed.kind, len(parsed.items)) or not others_stay:
        raise CheckError(f"param_str: that would change how the rest beside '{path[0]}' is read.")
    return changed


def _without(parsed: ParamStr, key: str) -> str:
    item = parsed.item(key)
    index = next(place for place, each in enumerate(parsed.items) if each is item)
    before = parsed.items[index - 1] if index else None
    after = parsed.items[index + 1] if index + 1 < len(parsed.items) else None
    start, end = item.begin, max(item.end, item.start)
    source = parsed.source
    if _by_lines(parsed):
        start = source.rfind("\n", 0, start) + 1
        end = source.find("\n", end) + 1 or len(source)
        if end == len(source) and start and not source.endswith("\n"):
            start -= 1  # the last line takes the break before it along
    elif after is not None:
        end = after.begin
    elif before is not None:
        start = max(before.end, before.start)
    elif parsed.source[end : end + 1] == ",":
        end += 1
    changed = source[:start] + source[end:]
    rest = [(each.key, each.text) for each in parsed.items if each is not item]
    _check(parsed, changed, rest, f"'{key}' cannot be taken out alone")
    return changed


def _with(parsed: ParamStr, key: str, value: object, style: ParamStyle) -> str:
    if parsed.kind == "empty":
        pair = f"{spelled(key, style)}: {spelled(value, style)}"
        return f"{key}: {spelled(value, 'yaml')}" if style == "yaml" else f"{{{pair}}}"
    if parsed.kind in ("text", "number"):
        raise CheckError("param_str: this text has no place for one more value.", next_step="Edit the text.")
    is_list = parsed.kind in _LISTS
    if not is_list and any(item.key == key for item in parsed.items):
        raise CheckError(
            f"param_str: there is a '{key}' already.", next_step="Change its value, or choose another name."
        )
    written = _entry(parsed, key, value)
    if not parsed.items:
        at = parsed.source.index(parsed.source.strip()[0]) + 1
        changed = parsed.source[:at] + written + parsed.source[at:]
    elif _by_lines(parsed):
        last = parsed.items[-1]
        at = parsed.source.find("\n", max(last.end, last.start))
        at = len(parsed.source) if at < 0 else at
        start = parsed.source.rfind("\n", 0, last.begin) + 1
        changed = f"{parsed.source[:at]}\n{parsed.source[start : last.begin]}{written}{parsed.source[at:]}"
    else:
        at = max(parsed.items[-1].end, parsed.items[-1].start)
        changed = parsed.source[:at] + _separator(parsed) + written + parsed.source[at:]
    name = str(len(parsed.items)) if is_list else key
    again = parse_param_str(changed, parsed.style)
    added = again.items[-1].text if again.items else ""
    _check(
        parsed, changed, [*((each.key, each.text) for each in parsed.items), (name, added)], f"'{key}' cannot be added"
    )
    return changed


def _check(parsed: ParamStr, changed: str, wanted: list[tuple[str, str]], what: str) -> None:
    again = parse_param_str(changed, parsed.style)
    found = [(each.key, each.text) for each in again.items]
    if parsed.kind in _LISTS:
        found, wanted = [("", text) for _, text in found], [("", text) for _, text in wanted]
    alike = again.kind in (parsed.kind, "empty") or {again.kind, parsed.kind} <= {"pairs", "yaml"} or not wanted
    alike = alike or {again.kind, parsed.kind} <= {"list", "number"}
    if again.kind == "number":
        found = [("", again.items[0].text)]
    if not alike or found != wanted:
        raise CheckError(f"param_str: {what}.", next_step="Edit the text as a whole.")


def _by_lines(parsed: ParamStr) -> bool:
    """Whether each entry has lines of its own."""
    return parsed.kind == "lines" or (parsed.kind == "yaml" and not parsed.source.strip().startswith("{"))


def _separator(parsed: ParamStr) -> str:
    """Return what stands between the last two entries, or what usually does."""
    if parsed.kind == "flags":
        return " "
    if len(parsed.items) > 1:
        before, last = parsed.items[-2:]
        between = parsed.source[before.end : last.begin]
        if between.replace(",", "", 1).strip() == "" and "," in between:
            return between
    return ", "


def _entry(parsed: ParamStr, key: str, value: object) -> str:
    """Write an entry as the last one is written."""
    last = parsed.items[-1] if parsed.items else None
    written = spelled(value, parsed.style, like=last.text if last is not None and isinstance(value, str) else "")
    if parsed.kind == "lines":
        return f"- {written}"
    if parsed.kind == "list":
        return written
    if parsed.kind == "flags":
        return _flag(parsed, last, key, value, written)
    head = parsed.source[last.begin : last.start] if last is not None else ""
    quote = head[:1] if head[:1] in ("'", '"') else ""
    if not quote and not (last is not None and _PLAIN_KEY.fullmatch(key)):
        quote = '"' if parsed.style == "json" or last is None else "'"
    colon = re.search(r":[ \t]*$", head)
    flow = parsed.style in ("json", "python") and bool(quote)  # elsewhere a colon alone is part of a word
    between = colon.group() if colon and (colon.group() != ":" or flow) else ": "
    if quote and (quote in key or "\\" in key):
        return f"{spelled(key, 'json' if quote == chr(34) else 'python')}{between}{written}"
    return f"{quote}{key}{quote}{between}{written}"


def _flag(parsed: ParamStr, last: ParamItem | None, key: str, value: object, written: str) -> str:
    if not _FLAG.fullmatch(key):
        raise CheckError(f"param_str: a flag's name has letters, digits, '_', '-' and '.', got '{key}'.")
    head = parsed.source[last.begin : last.start] if last is not None else "--"
    dashes = "--" if head.startswith("--") else "-"
    if value is True:
        return f"{dashes}{key}"
    if isinstance(value, list | tuple):  # as programs take several values after a flag
        return " ".join((f"{dashes}{key}", *(spelled(each, "plain") for each in value)))
    return f"{dashes}{key}{'=' if head.endswith('=') else ' '}{written}"
