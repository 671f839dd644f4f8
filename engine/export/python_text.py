"""Python expressions as text, laid out within a line's width."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["Call", "Expression", "bytes_literal", "call", "lay_out", "lay_out_assignment", "list_of", "string_literal"]

_WIDTH = 100
_INDENT = 4


@dataclass(frozen=True, slots=True)
class Call:
    """Brackets with something in them: a call or a list.

    Attributes
    ----------
    opening : str
        Text up to and with the opening bracket, such as ``dict(``.
    items : tuple of (str, Expression)
        What stands before each item, such as ``name=`` or nothing, and the item.
    closing : str
        The closing bracket.
    """

    opening: str
    items: tuple[tuple[str, Expression], ...]
    closing: str


Expression = str | Call


def call(function: str, items: Sequence[tuple[str, Expression]]) -> Call:
    """Return a call; an item is ``("", value)`` or ``("name=", value)``."""
    return Call(f"{function}(", tuple(items), ")")


def list_of(items: Sequence[Expression]) -> Call:
    """Return a list."""
    return Call("[", tuple(("", item) for item in items), "]")


def string_literal(value: str) -> str:
    """Return a text as a Python literal, in double quotes where that needs no escapes."""
    text = repr(value)
    return f'"{text[1:-1]}"' if text[0] == "'" and '"' not in value else text


def bytes_literal(value: bytes) -> str:
    """Return bytes as a Python literal."""
    return repr(value)


def lay_out(prefix: str, expression: Expression, indent: int) -> list[str]:
    """Return an expression as lines: one where it fits, else one for each item.

    Parameters
    ----------
    prefix : str
        What stands before it, such as ``n.conv1 = ``.
    expression : Expression
    indent : int
        Columns before the first line.
    """
    return _lines(prefix, expression, "", indent)


def lay_out_assignment(targets: Sequence[str], expression: Expression, indent: int) -> list[str]:
    """Return an assignment as lines; targets that are too many for one stand in parentheses."""
    prefix = f"{', '.join(targets)} = "
    if indent + len(prefix) <= _WIDTH or len(targets) == 1:
        return lay_out(prefix, expression, indent)
    margin = " " * indent
    return [f"{margin}(", *_filled(targets, indent + _INDENT), *lay_out(") = ", expression, indent)]


def _lines(prefix: str, expression: Expression, suffix: str, indent: int) -> list[str]:
    margin = " " * indent
    line = f"{margin}{prefix}{_flat(expression)}{suffix}"
    if isinstance(expression, str) or not expression.items or len(line) <= _WIDTH:
        return [line]
    inner = indent + _INDENT
    lines = [f"{margin}{prefix}{expression.opening}"]
    if all(not name and isinstance(item, str) for name, item in expression.items) and len(expression.items) > 8:
        lines += _filled([str(item) for _, item in expression.items], inner)
    else:
        for name, item in expression.items:
            lines += _lines(name, item, ",", inner)
    return [*lines, f"{margin}{expression.closing}{suffix}"]


def _flat(expression: Expression) -> str:
    if isinstance(expression, str):
        return expression
    items = ", ".join(f"{name}{_flat(item)}" for name, item in expression.items)
    return f"{expression.opening}{items}{expression.closing}"


def _filled(words: Sequence[str], indent: int) -> list[str]:
    """Return plain values, as many on a line as fit."""
    margin = " " * indent
    lines = [margin]
    for word in words:
        if len(lines[-1]) + len(word) + 2 > _WIDTH and lines[-1] != margin:
            lines.append(margin)
        lines[-1] += f"{word}," if lines[-1] == margin else f" {word},"
    return lines
