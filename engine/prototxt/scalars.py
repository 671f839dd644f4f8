"""Scalar texts: what they look like, and strings with their quotes and escapes.

The escapes are those of protobuf's text format: C's simple ones, octal, hexadecimal, and Unicode code points.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

__all__ = ["SMART_QUOTES", "bad_escape", "kind_of", "quote", "unquote", "unquote_bytes"]

SMART_QUOTES = "“”„‟‘’‚‛«»"

_SIMPLE = {
    "a": b"\a",
    "b": b"\b",
    "f": b"\f",
    "n": b"\n",
    "r": b"\r",
    "t": b"\t",
    "v": b"\v",
    "?": b"?",
    "\\": b"\\",
    "'": b"'",
    '"': b'"',
}
_PIECE = re.compile(r'"(?P<double>(?:[^"\\]++|\\.)*)"?|' r"'(?P<single>(?:[^'\\]++|\\.)*)'?", re.DOTALL)
_PLAIN = re.compile(r'"([^"\\]*)"\Z|' r"'([^'\\]*)'\Z")
_ESCAPE = re.compile(
    r"\\(?:u(?P<high>[dD][89abAB][0-9a-fA-F]{2})\\u(?P<low>[dD][c-fC-F][0-9a-fA-F]{2})"
    r"|(?P<octal>[0-7]{1,3})|[xX](?P<hex>[0-9a-fA-F]{1,2})|u(?P<u4>[0-9a-fA-F]{4})|U(?P<u8>[0-9a-fA-F]{8})"
    r"|(?P<simple>.))",
    re.DOTALL,
)
_KNOWN_ESCAPE = re.compile(
    r"\\(?:[abfnrtv\\?'\"0-7]|[xX][0-9a-fA-F]|u[0-9a-fA-F]{4}|U00[01][0-9a-fA-F]{5}|(?P<unknown>.?))", re.DOTALL
)
_NEEDS_ESCAPE = re.compile(r"[\\\x00-\x1f\x7f]")


def kind_of(text: str) -> str:
    """Say what a scalar's text looks like: ``'string'``, ``'number'`` or ``'identifier'``."""
    first = text[:1] or " "
    if first in "\"'" or first in SMART_QUOTES:
        return "string"
    return "number" if first in "0123456789.-+" else "identifier"


def unquote(text: str) -> str:
    r"""Return the value of a scalar's text, without quotes and escapes.

    Text that is not quoted is returned as it is. Bytes that are not UTF-8 become surrogate escapes, so that encoding
    with ``surrogateescape`` gives the bytes back.

    Examples
    --------
    >>> unquote(r'"a\tb" "c"')
    'a\tbc'
    """
    plain = _PLAIN.match(text)
    if plain is not None:
        return plain[1] if plain[1] is not None else plain[2]
    if kind_of(text) != "string":
        return text
    return unquote_bytes(text).decode("utf-8", "surrogateescape")


def unquote_bytes(text: str) -> bytes:
    """Return the value of a scalar's text as bytes; see :func:`unquote`."""
    first = text[:1]
    if first and first in SMART_QUOTES:
        return text.strip(SMART_QUOTES).encode("utf-8", "surrogateescape")
    if kind_of(text) != "string":
        return text.encode("utf-8", "surrogateescape")
    return b"".join(map(_unescape, _bodies(text)))


def bad_escape(text: str) -> str:
    """Return the first escape in a quoted scalar's text that libprotobuf refuses; empty where there is none."""
    if "\\" in text and text[:1] in ("'", '"'):
        for body in _bodies(text):
            for match in _KNOWN_ESCAPE.finditer(body):
                if match["unknown"] is not None:
                    return match[0]
    return ""


def _bodies(text: str) -> Iterator[str]:
    """Return what stands between the quotes of each piece of a string."""
    position = 0
    while position < len(text):
        match = _PIECE.match(text, position)
        if match is not None:
            yield match["double"] if match["double"] is not None else match["single"]
            position = match.end()
        elif text[position] == "#":
            position = (text.find("\n", position) + 1) or len(text)
        else:
            position += 1


def quote(value: str, mark: str = '"') -> str:
    r"""Return ``value`` as a quoted string, with escapes where they are needed.

    Parameters
    ----------
    value : str
        The value; letters beyond ASCII stay as they are, surrogate escapes too.
    mark : str
        ``"`` or ``'``. The other one is taken where that saves escapes, as in JSON inside of a string.
    """
    if mark in value:
        other = "'" if mark == '"' else '"'
        mark = mark if other in value else other
    escaped = _NEEDS_ESCAPE.sub(_escape, value).replace(mark, "\\" + mark)
    return f"{mark}{escaped}{mark}"


def _escape(match: re.Match[str]) -> str:
    char = match[0]
    short = {"\n": "\\n", "\r": "\\r", "\t": "\\t", "\\": "\\\\"}.get(char)
    return short or f"\\{ord(char):03o}"


def _unescape(body: str) -> bytes:
    if "\\" not in body:
        return body.encode("utf-8", "surrogateescape")
    pieces = []
    position = 0
    for match in _ESCAPE.finditer(body):
        pieces.append(body[position : match.start()].encode("utf-8", "surrogateescape"))
        pieces.append(_escaped_bytes(match))
        position = match.end()
    pieces.append(body[position:].encode("utf-8", "surrogateescape"))
    return b"".join(pieces)


def _escaped_bytes(match: re.Match[str]) -> bytes:
    if match["octal"]:
        return bytes([int(match["octal"], 8) & 0xFF])
    if match["hex"]:
        return bytes([int(match["hex"], 16)])
    if match["high"]:
        point = 0x10000 + ((int(match["high"], 16) - 0xD800) << 10) + int(match["low"], 16) - 0xDC00
        return chr(point).encode()
    code = match["u4"] or match["u8"]
    if code:
        point = int(code, 16)
        return chr(point).encode("utf-8", "surrogatepass") if point <= 0x10FFFF else match[0].encode()
    char: str = match["simple"]
    return _SIMPLE.get(char, b"\\" + char.encode("utf-8", "surrogateescape"))
