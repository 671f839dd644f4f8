"""The codec of ``param_str``: what a Python layer's parameter text says, and how to change one value of it.

``param_str`` is free text and each plugin reads it in its own way. The usual ways are recognised so that a form can be
offered; a text that fits none of them is ``"text"`` and stays whole. Nothing is ever evaluated: values are read as
literals or not at all, and a replacement changes the bytes of that value only.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

from engine.errors import CheckError
from engine.param_values import ParamStyle, read_value, spelled

__all__ = ["ParamItem", "ParamStr", "ParamStrKind", "ParamStyle", "parse_param_str", "read_value", "spelled"]

ParamStrKind = Literal["empty", "number", "list", "json", "dict", "pairs", "yaml", "lines", "flags", "text"]

_FILL = "\x01"
_STRING = re.compile(r"""[uUbBrR]{0,2}(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")""", re.DOTALL)
_BRACKETS = {"(": ")", "[": "]", "{": "}"}
_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?|[-+]?0[xX][0-9a-fA-F]+")
_FLAG_TOKEN = re.compile(r"""(?:[^\s"']|"[^"]*"|'[^']*')+""")
_FLAG_NAME = re.compile(r"--?([A-Za-z_][\w.\-]*)")
_PLAIN_KEY = re.compile(r"[\w.\-/]+(?: +[\w.\-/]+)*")
_STYLES: dict[str, ParamStyle] = {
    "json": "json",
    "dict": "python",
    "pairs": "python",
    "yaml": "yaml",
    "lines": "yaml",
    "flags": "plain",
}


@dataclass(frozen=True, slots=True)
class ParamItem:
    """One value found in a ``param_str``.

    Attributes
    ----------
    key : str
        Name of the value; its index, as text, in a list; empty for a single number.
    value : object
        The value where ``text`` is a literal, otherwise ``text`` itself.
    text : str
        The value as written; empty for a flag or key that has no value.
    start, end : int
        Half-open span of ``text`` in the whole ``param_str``, in characters.
    begin : int
        Where the entry begins: at its key, or at the value of an entry without one.
    """

    key: str
    value: Any
    text: str
    start: int
    end: int
    begin: int


@dataclass(frozen=True, slots=True)
class ParamStr:
    """A ``param_str`` and what was recognised in it.

    Attributes
    ----------
    kind : str
        ``empty``, ``number``, ``list`` (with or without brackets), ``json`` (object), ``dict`` (Python literal),
        ``pairs`` (the same without braces), ``yaml`` (lines of ``key: value``, or a flow mapping with plain keys),
        ``lines`` (lines of ``- value``), ``flags`` (``--name value``) or ``text``.
    items : tuple of ParamItem
        Values in order of appearance; keys of a repeated name stay apart.
    source : str
        The whole text.
    style : str
        How its values are spelled: ``json``, ``python``, ``yaml`` or ``plain``.
    """

    kind: ParamStrKind
    items: tuple[ParamItem, ...]
    source: str
    style: ParamStyle = "plain"

    def item(self, key: str) -> ParamItem:
        """Return the value named ``key``; of several, the last, which is the one that counts."""
        for item in reversed(self.items):
            if item.key == key:
                return item
        known = ", ".join(item.key for item in self.items) or "none"
        raise CheckError(f"param_str: expected one of the keys {known}, got '{key}'.")

    def replace(self, key: str, new_text: str) -> str:
        """Return the text with one value written anew, every other byte unchanged.

        Parameters
        ----------
        key : str
            Which value, see :attr:`ParamItem.key`.
        new_text : str
            The value as it shall be written; :meth:`spell` makes it from a Python value.

        Raises
        ------
        CheckError
            There is no such key, or the new text would change what the other values are.
        """
        item = self.item(key)
        gap = " " if item.start == item.end and new_text and not self.source[: item.start].endswith(" ") else ""
        changed = self.source[: item.start] + gap + new_text + self.source[item.end :]
        if self.kind in ("number", "text"):
            return changed
        again = parse_param_str(changed, self.style)
        others = [(i.key, i.text) for i in self.items if i is not item]
        kept = [(i.key, i.text) for old, i in zip(self.items, again.items, strict=False) if old is not item]
        if len(again.items) != len(self.items) or kept != others:
            raise CheckError(
                f"param_str: '{new_text}' as the value of '{key}' would change how the rest is read.",
                next_step="Put it in quotes, or edit the text as a whole.",
            )
        return changed

    def spell(self, key: str, value: object) -> str:
        """Write ``value`` in the style of this text: its quotes, and ``true`` or ``True`` as the kind asks."""
        return spelled(value, self.style, like=self.item(key).text)


def parse_param_str(text: str, style: ParamStyle | None = None) -> ParamStr:
    """Recognise the form of a ``param_str`` and find its values.

    Parameters
    ----------
    text : str
        The decoded text, as the layer gets it.
    style : str, optional
        How a list in it is spelled, where that is known from what is around it.

    Returns
    -------
    ParamStr
        Of kind ``text`` and without items when no form fits. Never raises.
    """
    stripped = text.strip()
    if not stripped:
        return ParamStr("empty", (), text, style or "plain")
    start = text.index(stripped)
    end = start + len(stripped)
    if _NUMBER.fullmatch(stripped):
        return ParamStr("number", (_item("", text, start, end),), text, style or "plain")
    shape = _shape(text, start, end)
    found = _flags(text)
    if found is None and shape is not None:
        found = (
            _braced(text, start, end) or _sequence(text, shape) or _block_sequence(text, shape) or _mapping(text, shape)
        )
    kind, items = found or ("text", [])
    if kind == "list" and style is None:
        style = "python" if stripped[0] in "[(" else "plain"
    return ParamStr(kind, tuple(items), text, _STYLES.get(kind) or style or "plain")


_Found = tuple[ParamStrKind, list[ParamItem]]


def _item(key: str, text: str, start: int, end: int, begin: int | None = None) -> ParamItem:
    written = text[start:end]
    return ParamItem(key, read_value(written), written, start, end, start if begin is None else begin)


def _shape(text: str, start: int, end: int) -> str | None:
    """Return ``text`` with strings and bracketed parts masked and comments blanked, or None if brackets do not match.

    What is left are the separators of the outermost level, at their places.
    """
    marks = [" "] * start + list(text[start:end]) + [" "] * (len(text) - end)
    stack: list[str] = []
    boundary = True
    index = start
    while index < end:
        char = text[index]
        string = _STRING.match(text, index, end) if boundary else None
        if string:
            marks[index : string.end()] = _FILL * len(string.group())
            index, boundary = string.end(), False
            continue
        if char == "#" and (index == start or text[index - 1].isspace()):
            stop = text.find("\n", index, end)
            stop = end if stop < 0 else stop
            marks[index:stop] = (_FILL if stack else " ") * (stop - index)
            index, boundary = stop, True
            continue
        nested = bool(stack)
        if char in _BRACKETS:
            stack.append(_BRACKETS[char])
            nested = True
        elif char in ")]}" and (not stack or stack.pop() != char):
            return None
        if nested:
            marks[index] = _FILL
        boundary = char.isspace() or char in "([{,:="
        index += 1
    return None if stack else "".join(marks)


def _trim(shape: str, start: int, end: int) -> tuple[int, int]:
    while start < end and shape[start].isspace():
        start += 1
    while end > start and shape[end - 1].isspace():
        end -= 1
    return start, end


def _pieces(shape: str, separators: str, start: int = 0, end: int | None = None) -> Iterator[tuple[int, int]]:
    end = len(shape) if end is None else end
    for index in range(start, end + 1):
        if index == end or shape[index] in separators:
            yield start, index
            start = index + 1


def _key_value(text: str, shape: str, start: int, end: int, *, flow: bool) -> ParamItem | None:
    """Read ``key: value`` from a piece; None if it is not one. In a flow mapping the colon needs no space after it."""
    start, end = _trim(shape, start, end)
    colon = shape.find(":", start, end)
    while colon >= 0 and not flow and shape[colon - 1] != _FILL and not shape[colon + 1 : end][:1].isspace():
        if colon + 1 == end:
            break
        colon = shape.find(":", colon + 1, end)
    if colon <= start:
        return None
    key_start, key_end = _trim(shape, start, colon)
    written = text[key_start:key_end]
    if shape[key_start] == _FILL:
        key = read_value(written)
        if not isinstance(key, str | int | float | tuple) or written == key:
            return None
    else:
        key = written
        if not _PLAIN_KEY.fullmatch(written):
            return None
    return _item(str(key), text, *_trim(shape, colon + 1, end), begin=key_start)


def _braced(text: str, start: int, end: int) -> _Found | None:
    if text[start] != "{" or text[end - 1] != "}":
        return None
    shape = _shape(text, start + 1, end - 1)
    if shape is None:
        return None
    items = _all_key_values(text, shape, _pieces(shape, ",", start + 1, end - 1), flow=True)
    if items is None:
        return None
    whole = text[start:end]
    try:
        json.loads(whole)
    except (ValueError, RecursionError):
        return ("dict" if isinstance(read_value(whole), dict) else "yaml"), items
    return "json", items


def _all_key_values(text: str, shape: str, pieces: Iterable[tuple[int, int]], *, flow: bool) -> list[ParamItem] | None:
    items = []
    for start, end in pieces:
        if not shape[start:end].strip():
            continue
        item = _key_value(text, shape, start, end, flow=flow)
        if item is None:
            return None
        items.append(item)
    return items


def _sequence(text: str, shape: str) -> _Found | None:
    """A list in brackets or parentheses, or values set apart by commas alone."""
    start, end = _trim(shape, 0, len(shape))
    if start == end:
        return None
    if text[start] in "[(":
        inner = _shape(text, start + 1, end - 1) if text[end - 1] == _BRACKETS[text[start]] else None
        if inner is None:
            return None
        shape, start, end = inner, start + 1, end - 1
    elif "," not in shape or any(re.search(r"[:\s]", shape[slice(*_trim(shape, *p))]) for p in _pieces(shape, ",")):
        return None
    spans = [_trim(shape, *piece) for piece in _pieces(shape, ",", start, end)]
    if spans and spans[-1][0] == spans[-1][1]:
        spans.pop()
    return "list", [_item(str(index), text, *span) for index, span in enumerate(spans)]


def _block_sequence(text: str, shape: str) -> _Found | None:
    """Lines of ``- value``; what is indented deeper belongs to the line above."""
    lines = [piece for piece in _pieces(shape, "\n") if shape[slice(*piece)].strip()]
    starts = [(_trim(shape, *piece), piece[0]) for piece in lines]
    if not starts or not _is_dash(shape, starts[0][0][0]):
        return None
    indent = starts[0][0][0] - starts[0][1]
    items: list[ParamItem] = []
    for (first, last), line in starts:
        if first - line == indent and _is_dash(shape, first):
            start, end = _trim(shape, first + 1, last)
            items.append(_item(str(len(items)), text, min(start, end), end, first))
        elif first - line > indent:
            above = items.pop()
            items.append(_item(above.key, text, above.start if above.text else first, last, above.begin))
        else:
            return None
    return "lines", items


def _is_dash(shape: str, place: int) -> bool:
    return shape[place] == "-" and shape[place + 1 : place + 2].strip() == ""


def _mapping(text: str, shape: str) -> _Found | None:
    """Lines of ``key: value``, or pairs set apart by commas as inside a Python dict."""
    if "," in shape:
        items = _all_key_values(text, shape, _pieces(shape, ",\n"), flow=False)
        if items:
            return "pairs", items
    lines = [piece for piece in _pieces(shape, "\n") if shape[slice(*piece)].strip()]
    indent = _trim(shape, *lines[0])[0] - lines[0][0] if lines else 0
    items = []
    for start, end in lines:
        first, last = _trim(shape, start, end)
        belongs = items and (first - start > indent or shape.startswith("- ", first))
        item = None if belongs else _key_value(text, shape, start, end, flow=False)
        if belongs:
            previous = items.pop()
            item = _item(previous.key, text, previous.start if previous.text else first, last, previous.begin)
        if item is None:
            return None
        items.append(item)
    return ("yaml", items) if items else None


def _flags(text: str) -> _Found | None:
    """``--name value``, ``--name=value`` and ``--name``; several values after a name are one value."""
    items: list[ParamItem] = []
    for token in _FLAG_TOKEN.finditer(text):
        name = None if _NUMBER.fullmatch(token.group()) else _FLAG_NAME.match(token.group())
        if name:
            begin, start = token.start(), token.start() + name.end()
            written = text[start : token.end()]
            if written.startswith("="):
                items.append(_item(name.group(1), text, start + 1, token.end(), begin))
            elif written:
                return None
            else:
                items.append(ParamItem(name.group(1), True, "", start, start, begin))
        elif items and (items[-1].text or items[-1].value is True):
            last = items.pop()
            items.append(_item(last.key, text, last.start if last.text else token.start(), token.end(), last.begin))
        else:
            return None
    return ("flags", items) if items else None
