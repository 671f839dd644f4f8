"""New fields in the style of the file that they come into."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass

from engine.errors import PrototxtError
from engine.prototxt.edits import EditLog
from engine.prototxt.parser import parse
from engine.prototxt.parts import Element, Field, Item, ListValue, Message, Scalar, Value
from engine.prototxt.tree import Tree

__all__ = [
    "Style",
    "end_line",
    "insert_fields",
    "insert_items",
    "keep_apart",
    "parse_fields",
    "parse_value",
    "reindented",
    "style_of",
]

_SAMPLE = 40


@dataclass(frozen=True, slots=True)
class Style:
    """How a file is written.

    Attributes
    ----------
    newline : str
        Line break.
    unit : str
        Indentation of one level.
    mark : str
        Quotation mark.
    gap : str
        Between a name and its value.
    head : str
        Between a name and its bracket.
    spacing : str
        What stands between two layers beside the line break: empty or a blank line.
    """

    newline: str = "\n"
    unit: str = "  "
    mark: str = '"'
    gap: str = ": "
    head: str = " "
    spacing: str = ""


def style_of(tree: Tree) -> Style:
    """Look at the first layers of a file and tell its style."""
    counts: dict[str, Counter[str]] = {name: Counter() for name in ("unit", "mark", "gap", "head", "spacing")}
    tops = [item for item in tree.root.items if type(item) is Field and item.message is not None][:_SAMPLE]
    newline = "\r\n" if any("\r\n" in top.text for top in tops[:3]) else "\n"
    for place, top in enumerate(tops):
        if place:
            counts["spacing"][newline * min(_blank_lines(top.lead), 2)] += 1
        stack = [top]
        while stack:
            field = stack.pop()
            message = field.message
            if message is None:
                if isinstance(field.value, Scalar):
                    if field.gap.strip() == ":":
                        counts["gap"][field.gap] += 1
                    if field.value.kind == "string":
                        counts["mark"][field.value.text[0]] += 1
                continue
            if field.gap.strip() in ("", ":"):  # not a slip such as "="
                counts["head"][field.gap] += 1
            for inner in message:
                outer, own = _indent(field.lead), _indent(inner.lead)
                if message.open.endswith("\n") and own.startswith(outer) and _owns_line(inner):
                    counts["unit"][own[len(outer) :]] += 1
                stack.append(inner)
    usual = {name: found.most_common(1)[0][0] for name, found in counts.items() if found}
    if usual.get("mark", '"') not in ('"', "'"):
        usual["mark"] = '"'
    for name in ("gap", "head"):
        if "\n" in usual.get(name, "") or "#" in usual.get(name, ""):
            del usual[name]
    return Style(newline=newline, **usual)


def parse_value(text: str) -> Value:
    """Read one value: a scalar, a message in brackets, or a list.

    Raises
    ------
    PrototxtError
        If ``text`` is not exactly one value.
    """
    written = text.strip()
    tree = parse(f"value: {written}\n")
    items = tree.root.items
    if tree.problems or len(items) != 1:
        problem = tree.problems[0] if tree.problems else None
        raise PrototxtError(
            f"Expected one value, got {_shown(text)}.", next_step=problem.hint if problem else "Write a single value."
        )
    field = items[0]
    assert isinstance(field, Field)
    if field.tail.strip():
        raise PrototxtError(f"Expected one value, got {_shown(text)}.", next_step="Remove what follows the value.")
    return field.value


def parse_fields(text: str) -> list[Field]:
    """Read fields.

    Raises
    ------
    PrototxtError
        If ``text`` is broken.
    """
    tree = parse(text)
    if tree.problems:
        problem = tree.problems[0]
        raise PrototxtError(problem.message, line=problem.line, column=problem.column, next_step=problem.hint)
    return list(tree.root)


def insert_fields(log: EditLog, message: Message, index: int, fields: list[Field], style: Style) -> list[Field]:
    """Insert copies of ``fields``, laid out like their new neighbours.

    Parameters
    ----------
    log : EditLog
        Makes the edit.
    message : Message
        Where the fields go.
    index : int
        Place among the message's items.
    fields : list of Field
        What to insert; only names and values count.
    style : Style
        Of the file, for what the neighbours do not tell.

    Returns
    -------
    list of Field
        The inserted fields.
    """
    inserted = []
    for field in fields:
        inserted.append(_insert_field(log, message, index, field, style))
        index += 1
    return inserted


def _insert_field(log: EditLog, message: Message, index: int, field: Field, style: Style) -> Field:
    before = message.items[index - 1] if index else None
    previous = before.text if before is not None else message.open
    is_root = isinstance(message.owner, Tree)
    if not message.items and not is_root and not previous.endswith("\n") and _parent_owns_lines(message):
        outer = _indent(message.owner.lead) if isinstance(message.owner, (Field, Element)) else ""
        log.assign(message, "open", previous.rstrip() + style.newline)
        log.assign(message, "close_lead", outer if message.close else "")
        previous = message.open
    if previous.endswith("\n") or is_root:
        indent = _inner_indent(message, index, style)
        lead = indent if previous.endswith("\n") or not previous else style.newline + indent
        tail = _separator(before) + (
            "" if lead.startswith(("\n", "\r")) and index == len(message.items) else style.newline
        )
        new = _laid_out(field, lead, tail, indent, style, inline=_twin_is_inline(message, field))
    else:
        ends_blank = previous[-1:].isspace()
        at_end = index == len(message.items)
        lead = "" if ends_blank or (not index and not at_end) else " "
        tail = " " if not at_end or ends_blank or before is None else ""
        new = _laid_out(field, lead, tail, "", style, inline=True)
    log.splice(message, index, 0, [new])
    return new


def insert_items(log: EditLog, root: Message, index: int, items: list[Item], style: Style) -> None:
    """Insert items that come from another place of the same file, each on lines of its own."""
    before = root.items[index - 1] if index else None
    if before is not None and not before.text.endswith("\n"):
        end_line(log, before, style)
    for item in items[:-1] if index == len(root.items) else items:
        if not item.text.endswith("\n"):
            end_line(log, item, style)
    log.splice(root, index, 0, items)


def keep_apart(log: EditLog, root: Message, index: int, style: Style) -> None:
    """Break the line before an item at the top where it would run into what ends without a break: ``1layer {``."""
    if 0 < index < len(root.items):
        before, text = root.items[index - 1], root.items[index].text
        end = before.text[-1:]
        if end and text and not (end.isspace() or end in "}>],;" or text[0].isspace()):
            end_line(log, before, style)


def reindented(field: Field, own: Style, style: Style) -> str:
    """Return the text of a field from the top of a file as it is written at the top of a file of another style.

    Parameters
    ----------
    field : Field
        With the comments above it and on its last line.
    own, style : Style
        Of the field's file and of the other one; only indentation and line breaks follow.
    """
    base = _indent(field.lead)
    lines = [line.rstrip("\r") for line in field.text.strip(" \t\r\n\v\f").split("\n")]
    if own.unit and style.unit and (base or own.unit != style.unit):
        lines = lines[:1] + [_moved(line.removeprefix(base), own.unit, style.unit) for line in lines[1:]]
    return "".join(line + style.newline for line in lines)


def _moved(line: str, unit: str, other: str) -> str:
    """Write the indentation of a line in other units; what is no whole unit stays."""
    levels = 0
    while line.startswith(unit, levels * len(unit)):
        levels += 1
    return other * levels + line[levels * len(unit) :]


def end_line(log: EditLog, item: Item, style: Style) -> None:
    """Break the line behind an item at the top of a file."""
    if isinstance(item, Field):
        log.assign(item, "tail", item.tail.rstrip(" \t") + style.newline)
    else:
        attribute = "junk" if hasattr(item, "junk") else "lead"
        log.assign(item, attribute, getattr(item, attribute) + style.newline)


def _laid_out(field: Field, lead: str, tail: str, indent: str, style: Style, *, inline: bool) -> Field:
    """Copy a field with all that it holds, in the given layout."""
    top = Field(lead, field.name, style.gap, Scalar(""), tail)
    work: list[tuple[Field | Element, Value, str]] = [(top, field.value, indent)]
    while work:
        holder, value, outer = work.pop()
        new: Value
        if isinstance(value, Scalar):
            new = Scalar(value.text)
        elif isinstance(value, ListValue):
            new = ListValue("[")
            new.close = "]"
            for place, element in enumerate(value.elements):
                copy = Element("", Scalar(""), "" if place == len(value.elements) - 1 else ", ", new)
                new.elements.append(copy)
                work.append((copy, element.value, outer))
        else:
            new = Message("{ " if inline else "{" + style.newline, close="}", close_lead="" if inline else outer)
            if not any(True for _ in value):
                new.open, new.close_lead = "{", ""
            inner = outer + style.unit
            for child in value:
                copy_ = Field(
                    "" if inline else inner, child.name, style.gap, Scalar(""), " " if inline else style.newline
                )
                copy_.parent = new
                new.items.append(copy_)
                work.append((copy_, child.value, inner))
            if isinstance(holder, Field):
                holder.gap = style.head
        assert not isinstance(holder, Element) or not isinstance(new, ListValue)
        holder.value = new
        new.owner = holder
    return top


def _inner_indent(message: Message, index: int, style: Style) -> str:
    """Indentation of a line of a message: that of the nearest neighbour above, else below, else one level more."""
    neighbours = [*reversed(message.items[:index]), *message.items[index:]]
    for item in neighbours[:8]:
        if isinstance(item, Field) and _owns_line(item):
            return _indent(item.lead)
    owner = message.owner
    if isinstance(owner, (Field, Element)):
        return _indent(owner.lead) + style.unit
    return ""


def _owns_line(field: Field) -> bool:
    """Whether a field begins a line, as far as its parent can tell cheaply."""
    parent = field.parent
    if parent is None:
        return True
    if parent.items and parent.items[0] is field:
        return parent.open.endswith("\n") or not parent.open
    return "\n" in field.lead or bool(_indent(field.lead)) or isinstance(parent.owner, Tree)


def _parent_owns_lines(message: Message) -> bool:
    owner = message.owner
    if isinstance(owner, Field):
        return "\n" in owner.tail or _owns_line(owner)
    return False


def _twin_is_inline(message: Message, field: Field) -> bool:
    """Whether the nearest message of the same name in ``message`` is written on one line."""
    twin = message.get(field.name)
    return (
        twin is not None and twin.message is not None and "\n" not in twin.message.text and len(twin.message.items) > 0
    )


def _separator(before: Item | None) -> str:
    if not isinstance(before, Field):
        return ""
    first = before.tail.lstrip()[:1]
    return first if first in (",", ";") else ""


def _indent(lead: str) -> str:
    line = lead[lead.rfind("\n") + 1 :]
    return line if not line.strip() else ""


def _blank_lines(lead: str) -> int:
    return len(re.findall(r"^[ \t\r]*\n", lead, re.MULTILINE))


def _shown(text: str) -> str:
    return repr(text if len(text) <= 40 else text[:37] + "...")
