"""Field values as text: what a person types, what the prototxt says, and the one sentence between them.

Nothing here knows Qt. A value typed into an editor is checked against its :class:`~engine.schema.FieldInfo` and turned
into prototxt text; what is valid is kept as typed (``1e-3`` stays ``1e-3``).
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from engine.errors import CheckError
from engine.prototxt import quote, unquote
from engine.schema import FieldInfo

__all__ = [
    "INTEGER_RANGES",
    "default_text",
    "display_text",
    "join_list",
    "prototxt_text",
    "split_list",
    "step_number",
]

INTEGER_RANGES: dict[str, tuple[int, int]] = {
    "int32": (-(2**31), 2**31 - 1),
    "int64": (-(2**63), 2**63 - 1),
    "uint32": (0, 2**32 - 1),
    "uint64": (0, 2**64 - 1),
}
_FLOAT32_MAX = 3.4028234663852886e38
_INTEGER = re.compile(r"[-+]?(?:0[xX][0-9a-fA-F]+|0[0-7]*|[1-9]\d*)")
_FLOAT = re.compile(r"[-+]?(?:(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?[fF]?|inf(?:inity)?|nan)", re.IGNORECASE)
_STRING_PART = re.compile(r"""'((?:[^'\\\n]|\\.)*)'|"((?:[^"\\\n]|\\.)*)\"""", re.DOTALL)


def prototxt_text(info: FieldInfo, typed: str, *, written: str | None = None) -> str:
    """Turn what a person typed into the prototxt text of one value.

    Parameters
    ----------
    info : FieldInfo
        The field, whose kind and range are checked.
    typed : str
        The text of the editor; strings without quotes.
    written : str, optional
        The value as the file spells it now; a string keeps its quote character.

    Raises
    ------
    CheckError
        The text is not a value of that kind; the message is one sentence for the place below the field.
    """
    if info.kind in ("string", "bytes"):
        return quote(typed, "'" if written is not None and written.startswith("'") else '"')
    text = typed.strip()
    if not text:
        raise CheckError(f"{info.name}: a value is expected.")
    if info.kind in INTEGER_RANGES:
        return _integer(info, text)
    if info.kind in ("float", "double"):
        return _float(info, text)
    allowed = ("true", "false") if info.kind == "bool" else tuple(info.enum_values)
    if text in allowed:
        return text
    if text.upper() in allowed:
        return text.upper()
    raise CheckError(f"{info.name}: one of {', '.join(allowed)} is expected, got '{text}'.")


def _integer(info: FieldInfo, text: str) -> str:
    low, high = INTEGER_RANGES[info.kind]
    if not _INTEGER.fullmatch(text):
        raise CheckError(f"{info.name}: a whole number is expected, got '{text}'.")
    value = _integer_value(text)
    if value < low:
        least = "0 or more" if low == 0 else f"at least {low}"
        raise CheckError(f"{info.name}: a number of {least} is expected, got {text}.")
    if value > high:
        raise CheckError(f"{info.name}: a number of at most {high} is expected, got {text}.")
    return text.removeprefix("+")


def _integer_value(text: str) -> int:
    digits = text.lstrip("+-")
    base = 16 if digits[:2].lower() == "0x" else 8 if digits.startswith("0") else 10
    value = int(digits, base)
    return -value if text.startswith("-") else value


def _float(info: FieldInfo, text: str) -> str:
    if not _FLOAT.fullmatch(text):
        raise CheckError(f"{info.name}: a number such as 0.01 or 1e-3 is expected, got '{text}'.")
    value = float(text.rstrip("fF") if text[-1] in "fF" and "inf" not in text.lower() else text)
    finite = value == value and abs(value) != float("inf")
    if info.kind == "float" and finite and abs(value) > _FLOAT32_MAX:
        raise CheckError(f"{info.name}: a number of at most 3.4e38 is expected, got {text}.")
    text = text.removeprefix("+")
    return f"0{text}" if text.startswith(".") else text


def default_text(info: FieldInfo) -> str:
    """Return what applies when the field is absent, as an editor shows it; empty where nothing does."""
    return unquote(info.default_text) if info.kind in ("string", "bytes") else info.default_text


def display_text(info: FieldInfo, written: str) -> str:
    """Return a value of the file as an editor shows it: strings without their quotes, all else as written."""
    return unquote(written) if info.kind in ("string", "bytes") else written


def split_list(info: FieldInfo, typed: str) -> list[str]:
    """Split a comma list into entries; spaces separate numbers too, and quotes keep a comma inside a string."""
    if info.kind not in ("string", "bytes"):
        return [part for part in re.split(r"[,\s]+", typed.strip().strip("[]")) if part]
    entries, rest = [], typed.strip()
    while rest:
        quoted = _STRING_PART.match(rest)
        if quoted and rest[quoted.end() :].lstrip()[:1] in ("", ","):
            entries.append(unquote(quoted.group()))
            rest = rest[quoted.end() :].lstrip().removeprefix(",").lstrip()
            continue
        entry, _, rest = rest.partition(",")
        if entry.strip():
            entries.append(entry.strip())
        rest = rest.lstrip()
    return entries


def join_list(info: FieldInfo, entries: Sequence[str]) -> str:
    """Join entries, as an editor shows them, to the comma list that :func:`split_list` reads."""
    if info.kind in ("string", "bytes"):
        entries = [quote(e) if not e or e != e.strip() or set(e) & set(",\n\t\"'") else e for e in entries]
    return ", ".join(entries)


def step_number(kind: str, text: str, steps: int) -> str:
    """Return a number moved by ``steps``.

    Integers move by one. Floats move by one unit of their last written digit, so that 0.01 goes to 0.02 and 1e-3 to
    2e-3, and keep their notation. Text that is no number starts from zero. The result stays in the kind's range.
    """
    if kind in INTEGER_RANGES:
        low, high = INTEGER_RANGES[kind]
        value = _integer_value(text) if _INTEGER.fullmatch(text) else 0
        return str(min(max(value + steps, low), high))
    match = re.fullmatch(r"([-+]?)(\d*)(?:\.(\d*))?([eE][-+]?\d+)?[fF]?", text)
    if not match or not (match.group(2) or match.group(3)):
        return str(steps)
    sign, whole, fraction, exponent = match.group(1), match.group(2), match.group(3) or "", match.group(4) or ""
    scaled = int((whole + fraction) or "0") * (-1 if sign == "-" else 1) + steps
    digits = str(abs(scaled)).rjust(len(fraction) + 1, "0")
    moved = f"{digits[: len(digits) - len(fraction)]}.{digits[len(digits) - len(fraction) :]}" if fraction else digits
    return ("-" if scaled < 0 else "") + moved + exponent
