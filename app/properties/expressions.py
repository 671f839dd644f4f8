"""Arithmetic in number fields: ``2*64``, ``=64/2``, and what changes the values that are there, ``+8`` or ``*2``.

Nothing here knows Qt. Results are exact: decimal numbers are fractions until they are written.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from app.properties.values import INTEGER_RANGES, prototxt_text
from engine.errors import CheckError
from engine.schema import FieldInfo

__all__ = ["Formula", "is_number_kind", "read_formula", "split_formulas"]

_LONGEST = 200
_LARGEST_POWER = 64
_LARGEST_BASE = 10**18  # of a power, above and below the line of the fraction
_LARGEST_WHOLE = 10**400  # more than any kind of number holds, less than Python refuses to write
_RELATIVE = re.compile(r"\s*([-+*/])(=?)\s*(?=\S)")
_LITERAL = re.compile(r"[-+]?(?:0[xX][0-9a-fA-F]+|(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?[fF]?|inf(?:inity)?|nan)", re.I)

_Operation = Callable[[Fraction, Fraction], Fraction]


@dataclass(frozen=True, slots=True)
class Formula:
    """What was typed into a number field, where that is more than a number.

    Attributes
    ----------
    text : str
        As typed.
    operator : str
        ``+``, ``-``, ``*`` or ``/`` where it changes the value that is there; empty where it stands for itself.
    operand : Fraction
        The value of the rest.
    """

    text: str
    operator: str
    operand: Fraction

    @property
    def is_relative(self) -> bool:
        """Whether the result depends on the value that is there."""
        return bool(self.operator)

    def result(self, info: FieldInfo, before: str = "0") -> str:
        """Return the prototxt text of the result.

        Parameters
        ----------
        info : FieldInfo
            The field, whose kind and range are checked.
        before : str
            The value that is there, or the default.

        Raises
        ------
        CheckError
            When the result is no value of that kind, or ``before`` is no number; the message is one sentence.
        """
        value = self.operand
        if self.operator:
            value = _divided_safely(info, self.text, _OPERATORS[self.operator], _number(info, before), self.operand)
        return prototxt_text(info, _spell(info, value, self.text))


def is_number_kind(kind: str) -> bool:
    """Whether a field of this kind takes formulas."""
    return kind in INTEGER_RANGES or kind in ("float", "double")


def read_formula(info: FieldInfo, typed: str) -> Formula | None:
    """Read what was typed; None where it is a plain number, or nothing that can be computed.

    ``+8``, ``*2``, ``/2`` and ``-=8`` change the value that is there; ``-8`` is a number. A sign of equality in front
    makes the rest stand for itself.

    Raises
    ------
    CheckError
        When it divides by zero or is too large; the message is one sentence.
    """
    text = typed.strip()
    if not is_number_kind(info.kind) or not text or len(text) > _LONGEST:
        return None
    relative = _RELATIVE.match(text)
    if relative and (relative[2] or relative[1] in "+*/"):
        operand = _evaluate(info, text[relative.end() :])
        return None if operand is None else Formula(text, relative[1], operand)
    if _LITERAL.fullmatch(text):
        return None
    value = _evaluate(info, text.removeprefix("="))
    return None if value is None else Formula(text, "", value)


def split_formulas(info: FieldInfo, typed: str) -> list[str] | None:
    """Split a list in which something is computed at its commas; None where it is a plain list of numbers."""
    text = typed.strip().strip("[]")
    if not is_number_kind(info.kind) or all(_LITERAL.fullmatch(part) for part in re.split(r"[,\s]+", text) if part):
        return [text] if re.fullmatch(r"\+\S+", text) else None
    return [part.strip() for part in text.split(",") if part.strip()]


def _number(info: FieldInfo, text: str) -> Fraction:
    value = _evaluate(info, text.rstrip("fF") if text[:2].lower() != "0x" else text)
    if value is None:
        raise CheckError(f"{info.name}: '{text}' is no number to compute with.")
    return value


def _spell(info: FieldInfo, value: Fraction, text: str) -> str:
    if abs(value) > _LARGEST_WHOLE:
        raise CheckError(f"{info.name}: the result of {text} is too large.")
    if value.denominator == 1 and (info.kind in INTEGER_RANGES or abs(value) < 10**15):
        return str(value.numerator)
    try:
        shown = repr(float(value))
    except OverflowError as error:
        raise CheckError(f"{info.name}: the result of {text} is too large.") from error
    if info.kind in INTEGER_RANGES:
        raise CheckError(f"{info.name}: a whole number is expected, but {text} gives {float(value):g}.")
    return shown


def _evaluate(info: FieldInfo, text: str) -> Fraction | None:
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    return _value(info, text, tree)


def _value(info: FieldInfo, text: str, node: ast.expr) -> Fraction | None:
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        try:
            return Fraction(node.value if isinstance(node.value, int) else repr(node.value))
        except ValueError:
            return None
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.UAdd | ast.USub):
        inner = _value(info, text, node.operand)
        return None if inner is None else -inner if isinstance(node.op, ast.USub) else inner
    if not isinstance(node, ast.BinOp):
        return None
    operation = _NODES.get(type(node.op))
    left, right = _value(info, text, node.left), _value(info, text, node.right)
    if operation is None or left is None or right is None:
        return None
    return _divided_safely(info, text, operation, left, right)


def _divided_safely(info: FieldInfo, text: str, operation: _Operation, left: Fraction, right: Fraction) -> Fraction:
    try:
        return operation(left, right)
    except ZeroDivisionError as error:
        raise CheckError(f"{info.name}: {text.strip()} divides by zero.") from error
    except OverflowError as error:
        raise CheckError(f"{info.name}: the result of {text.strip()} is too large.") from error


def _power(base: Fraction, exponent: Fraction) -> Fraction:
    if abs(exponent) > _LARGEST_POWER or max(abs(base.numerator), base.denominator) > _LARGEST_BASE:
        raise OverflowError
    result = base**exponent
    if isinstance(result, complex):
        raise OverflowError
    return Fraction(result)


_OPERATORS: dict[str, _Operation] = {
    "+": lambda left, right: left + right,
    "-": lambda left, right: left - right,
    "*": lambda left, right: left * right,
    "/": lambda left, right: left / right,
}
_NODES: dict[type[ast.operator], _Operation] = {
    ast.Add: _OPERATORS["+"],
    ast.Sub: _OPERATORS["-"],
    ast.Mult: _OPERATORS["*"],
    ast.Div: _OPERATORS["/"],
    ast.FloorDiv: lambda left, right: Fraction(left // right),
    ast.Mod: lambda left, right: left % right,
    ast.Pow: _power,
}
