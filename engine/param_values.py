"""Single values of a ``param_str``: what one means, and how it is spelled. Nothing is ever evaluated."""

from __future__ import annotations

import ast
import json
import re
from typing import Literal

__all__ = ["ParamStyle", "read_value", "spelled"]

#: How values are spelled: as JSON, as Python, as YAML, or as bare words.
ParamStyle = Literal["json", "python", "yaml", "plain"]

_YAML_WORDS: dict[str, object] = {"true": True, "false": False, "null": None, "none": None, "~": None}
_NEEDS_QUOTES = re.compile(r"^$|^[\s'\"!&*\[{%@`#|>-]|[:#\n,]|\s$")


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


def spelled(value: object, style: ParamStyle, *, like: str = "") -> str:
    """Write a value in a style, with the quotes and the case of a text that stood there before."""
    if isinstance(value, bool) or value is None:
        if style == "json" or (style == "yaml" and not like[:1].isupper()):
            return json.dumps(value)
        return str(value)
    if isinstance(value, str):
        return _spell_string(value, style, like)
    if isinstance(value, list | tuple) and style in ("yaml", "plain"):
        inside = ", ".join(spelled(each, style) for each in value)
        return f"[{inside}]" if style == "yaml" or like[:1] == "[" else inside
    return json.dumps(value) if style in ("json", "yaml") else repr(value)


def _spell_string(value: str, style: ParamStyle, like: str) -> str:
    if style == "json":
        return json.dumps(value, ensure_ascii=False)
    quote = like[:1] if like[:1] in ("'", '"') else ""
    if not quote and style != "python":
        if style == "plain":
            return value if value and not re.search(r"\s", value) else f'"{value}"'
        if not _NEEDS_QUOTES.search(value) and isinstance(read_value(value), str):
            return value
    if style != "python" and (quote or "'") == "'":
        return "'" + value.replace("'", "''") + "'" if "'" not in value else json.dumps(value, ensure_ascii=False)
    if quote == '"':
        return json.dumps(value, ensure_ascii=False)
    return repr(value)
