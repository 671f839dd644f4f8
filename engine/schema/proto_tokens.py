"""The tokens of a ``.proto`` file, each with the comment above it."""

from __future__ import annotations

import re
from dataclasses import dataclass

from engine.errors import SchemaError

__all__ = ["Token", "tokenize", "unquote"]

_TOKEN = re.compile(
    r"""(?P<space>[ \t\r\f\v]+)
    |(?P<newline>\n)
    |(?P<comment>//[^\n]*|/\*.*?\*/)
    |(?P<name>\.?[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)
    |(?P<number>0[xX][0-9a-fA-F]+|(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)
    |(?P<string>"(?:[^"\\\n]|\\[^\n])*"|'(?:[^'\\\n]|\\[^\n])*')
    |(?P<mark>[{}\[\]()<>=;,+:-])""",
    re.VERBOSE | re.DOTALL | re.ASCII,
)
_ESCAPE = re.compile(r"\\(x[0-9a-fA-F]{1,2}|[0-7]{1,3}|.)", re.DOTALL)
_ESCAPES = {"n": "\n", "r": "\r", "t": "\t", "a": "\a", "b": "\b", "f": "\f", "v": "\v"}


@dataclass(frozen=True, slots=True)
class Token:
    """One token.

    Attributes
    ----------
    kind : str
        ``name``, ``number``, ``string``, ``mark`` or ``end``.
    text : str
        As written.
    line, column : int
        1-based place.
    comment : str
        The comment lines directly above, without their marks; empty where a blank line comes between.
    """

    kind: str
    text: str
    line: int
    column: int
    comment: str = ""


def tokenize(text: str, source: str = "") -> list[Token]:
    """Return the tokens of a ``.proto`` file, an ``end`` token last.

    Raises
    ------
    SchemaError
        At a character that starts no token.
    """
    tokens: list[Token] = []
    comments: list[str] = []
    at, line, line_start, blank = 0, 1, 0, True
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            raise SchemaError(
                f"Unexpected {text[at]!r} in the description.", line=line, column=at - line_start + 1, source=source
            )
        kind, written = str(match.lastgroup), match.group()
        column = at - line_start + 1
        if kind == "newline":
            if blank:
                comments.clear()
            blank = True
        elif kind == "comment":
            # a comment behind a declaration belongs to it, not to what follows
            if not tokens or tokens[-1].line != line:
                comments.append(_comment_text(written))
                blank = False
        elif kind != "space":
            tokens.append(Token(kind, written, line, column, "\n".join(comments)))
            comments.clear()
            blank = False
        at = match.end()
        breaks = written.count("\n")
        if breaks:
            line += breaks
            line_start = match.start() + written.rfind("\n") + 1
    tokens.append(Token("end", "", line, max(at - line_start + 1, 1)))
    return tokens


def unquote(literal: str) -> str:
    """Return the text of a string literal."""
    return _ESCAPE.sub(_escaped, literal[1:-1])


def _escaped(match: re.Match[str]) -> str:
    code = match.group(1)
    if code[0] == "x" and len(code) > 1:
        return chr(int(code[1:], 16))
    if code[0] in "01234567":
        return chr(int(code, 8))
    return _ESCAPES.get(code, code)


def _comment_text(written: str) -> str:
    if written.startswith("//"):
        return written[2:]
    return "\n".join(line.strip().lstrip("*") for line in written[2:-2].splitlines())
