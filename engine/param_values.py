"""Single values of a ``param_str``: what one means, and how it is spelled. Nothing is ever evaluated."""

from __future__ import annotations

import ast
import json
import math
import re
from typing import Literal

__all__ = ["ParamStyle", "as_typed", "read_value", "spelled"]

#: How values are spelled: as JSON, as Python, as YAML, or as bare words.
ParamStyle = Literal["json", "python", "yaml", "plain"]

_YAML_WORDS: dict[str, object] = {"true": True, "false": False, "null": None, "none": None, "~": None}
_NEEDS_QUOTES = re.compile(r"^$|^[\s'\"!&*\[{%@`#|>?-]|[:#\n,\]}]|\s$")
#: What YAML 1.1, as old layers read it, takes for something else than text, beside what :func:`read_value` does.
_NO_TEXT = re.compile(
    r"(?:yes|no|on|off|=|<<|[-+]?\.(?:inf|nan)|[-+]?0[xob]?[0-9a-f_]+|[-+]?[\d_.]+(?:e[-+]?\d+)?|\d{4}-\d\d?-\d\d?.*)",
    re.IGNORECASE,
)
_YAML_FLOAT = re.compile(r"[-+]?\d[\d_]*\.[\d_]*(?:[eE][-+]\d+)?|[-+]?\.[\d_]+(?:[eE][-+]\d+)?")
_ESCAPES = {"\n": "\\n", "\t": "\\t", "\r": "\\r", '"': '\\"', "\\": "\\\\"}


def read_value(written: str) -> object:
    """Return what a value means, where it is a literal of Python, JSON or YAML; else the text itself."""
    try:
        return ast.literal_eval(written)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        pass
    if written.lower() in _YAML_WORDS:
        return _YAML_WORDS[written.lower()]
    try:
        return json.loads(written)
    except (ValueError, RecursionError):
        return written


def as_typed(text: str, style: ParamStyle) -> str:
    """Return a value as a person typed it, but a number so that the style reads one: YAML takes ``1e-5`` for text."""
    value = read_value(text)
    is_number = style == "yaml" and isinstance(value, float) and not _YAML_FLOAT.fullmatch(text)
    return spelled(value, style) if is_number else text


def spelled(value: object, style: ParamStyle, *, like: str = "") -> str:
    """Write a value in a style, with the quotes and the case of a text that stood there before."""
    if isinstance(value, bool) or value is None:
        if style == "json" or (style == "yaml" and (value is None or not like[:1].isupper())):
            return json.dumps(value)
        return str(value)
    if isinstance(value, str):
        return _spell_string(value, style, like)
    if isinstance(value, list | tuple) and style in ("yaml", "plain"):
        inside = ", ".join(spelled(each, style) for each in value)
        return f"[{inside}]" if style == "yaml" or like[:1] == "[" else inside
    if isinstance(value, dict) and style == "yaml":
        return f"{{{', '.join(f'{spelled(key, style)}: {spelled(each, style)}' for key, each in value.items())}}}"
    if style == "yaml" and isinstance(value, float):
        return _yaml_float(value)
    return json.dumps(value) if style in ("json", "yaml") else repr(value)


def _yaml_float(value: float) -> str:
    """Write a float as YAML 1.1 reads one: ``1e-05`` would be text there, for want of a point."""
    if not math.isfinite(value):
        return ".nan" if math.isnan(value) else "-.inf" if value < 0 else ".inf"
    mantissa, mark, exponent = repr(value).partition("e")
    return f"{mantissa if '.' in mantissa or not mark else mantissa + '.0'}{mark}{exponent}"


def _yaml_quoted(value: str) -> str:
    def escaped(letter: str) -> str:
        code = ord(letter)
        if letter in _ESCAPES:
            return _ESCAPES[letter]
        if letter == " " or (letter.isprintable() and letter != "\ufeff"):
            return letter
        return f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}" if code < 65536 else f"\\U{code:08x}"

    return f'"{"".join(map(escaped, value))}"'


def _spell_string(value: str, style: ParamStyle, like: str) -> str:
    if style == "json":
        return json.dumps(value, ensure_ascii=False)
    quote = like[:1] if like[:1] in ("'", '"') else ""
    if not quote and style != "python":
        if style == "plain":
            return value if value and not re.search(r"\s", value) else f'"{value}"'
        plain = value.isprintable() and not _NEEDS_QUOTES.search(value) and not _NO_TEXT.fullmatch(value)
        if plain and isinstance(read_value(value), str):
            return value
    if style == "yaml":
        return f"'{value}'" if quote != '"' and "'" not in value and value.isprintable() else _yaml_quoted(value)
    if style == "plain" and (quote or "'") == "'":
        return f"'{value}'" if "'" not in value else json.dumps(value, ensure_ascii=False)
    if quote == '"':
        return json.dumps(value, ensure_ascii=False)
    return repr(value)
