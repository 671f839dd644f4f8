"""The words of the text format, as regular expressions.

One match takes a whole field: what leads to it, name, gap, value and the rest of its line. That is what makes a file
of 10,000 layers cheap to read. Repeats of one sign are possessive, so that no text makes them backtrack. Repeats of
groups are not: early releases of Python 3.11 (3.11.2 is one) do not go back when a possessive group fails half-way.
"""

from __future__ import annotations

import re

__all__ = [
    "BAD_VALUE",
    "BLANK_LINES",
    "BOM",
    "ELEMENT",
    "FIELD",
    "GAP",
    "JUNK",
    "LIST_RUN",
    "NAME",
    "OPEN_REST",
    "PLAIN_NUMBER",
    "REST",
    "RUNS",
    "SCALAR",
    "TRIVIA",
    "separators",
    "starts_field",
    "without_comments",
]

#: The byte order mark; at the beginning of a file it is no part of the text.
BOM = "\ufeff"

_H = r"[ \t\r\v\f]*+"
_TRIVIA = r"[ \t\n\r\v\f]*+(?:#[^\n]*+[ \t\n\r\v\f]*+)*"
_REST = rf"{_H}(?:[,;]{_H})?(?:\#[^\n]*+)?\n?+"
_OPEN_REST = rf"{_H}(?:\#[^\n]*+)?\n?+"
_NAME = r"[A-Za-z_][A-Za-z0-9_]*+"
_STRING = r"""(?:"(?:[^"\\\n]++|\\[^\n])*"|'(?:[^'\\\n]++|\\[^\n])*')"""
_STRINGS = rf"{_STRING}(?:{_TRIVIA}{_STRING})*"
_SPACE = r"[ \t\n\r\v\f]*+"
# What may follow a number or a word directly.
_END = r"(?=[ \t\n\r\v\f,;}>\]\#]|\Z)"
_NUMBER = rf"(?:-{_TRIVIA})?(?:0[xX][0-9a-fA-F]++|(?:[0-9]++\.?+[0-9]*+|\.[0-9]++)(?:[eE][+-]?+[0-9]++)?[fF]?+){_END}"
_WORD = rf"(?:-{_TRIVIA})?{_NAME}{_END}(?!{_SPACE}[:{{<])"
_SCALAR = rf"(?:{_STRINGS}|{_NUMBER}|{_WORD})"

#: A whole scalar field, the head of a message, or a closing bracket; the last group that matched tells which.
FIELD = re.compile(
    rf"({_TRIVIA})(?:({_NAME})(?:({_TRIVIA}:{_TRIVIA})({_SCALAR})(?P<scalar>{_REST})"
    rf"|({_TRIVIA}(?::{_TRIVIA})?)(?P<message>[{{<]{_OPEN_REST}))"
    rf"|([}}>])(?P<close>{_REST}))"
)
#: One part of a list: a scalar, the head of a message, or the closing bracket.
ELEMENT = re.compile(
    rf"({_TRIVIA})(?:({_SCALAR})(?P<scalar>{_REST})|(?P<message>[{{<]{_OPEN_REST})|(\])(?P<close>{_REST}))"
)
# Numbers in a row, of the plain spellings; not more at once than a reader who shows its progress would wait for.
_PLAIN_NUMBER = r"-?(?:0|[1-9][0-9]*+)(?:\.[0-9]*+)?(?:[eE][+-]?[0-9]++)?(?![0-9A-Za-z_.])"
_MANY = "{64,8192}"
#: The numbers of a repeated field that follow its first one, name by name; by the name of the field.
RUNS = {
    name: re.compile(rf"(?:[ \t\n\r]*+{name}[ \t]*+:[ \t]*+{_PLAIN_NUMBER}){_MANY}")
    for name in ("data", "diff", "double_data", "double_diff")
}
#: The same in a list, from its first number on.
LIST_RUN = re.compile(rf"({_TRIVIA})({_PLAIN_NUMBER}(?:[ \t\n\r]*+,[ \t\n\r]*+{_PLAIN_NUMBER}){_MANY})({_REST})")
PLAIN_NUMBER = re.compile(_PLAIN_NUMBER)
TRIVIA = re.compile(_TRIVIA)
NAME = re.compile(rf"{_NAME}|\[[^\]\[{{}}\n#\"']*+\]")
GAP = re.compile(rf"{_TRIVIA}[:=]?+{_TRIVIA}")
SCALAR = re.compile(_SCALAR)
REST = re.compile(_REST)
OPEN_REST = re.compile(_OPEN_REST)
#: An unreadable value: up to a separator, a bracket, blank space or a comment; an unclosed string up to the line's end.
BAD_VALUE = re.compile(r"""["'][^\n]*+|[“”„‟‘’‚‛«»][^\n“”„‟‘’‚‛«»]*+[“”„‟‘’‚‛«»]?+|[^ \t\n\r\v\f,;{}\[\]#]++""")
#: Unreadable text: the rest of the line, up to a bracket.
JUNK = re.compile(r"[^\n{}]*+\n?+")
#: Lines without a word or a sign, as many as follow one another.
BLANK_LINES = re.compile(r"^(?:[ \t\r\v\f]*\n)+", re.MULTILINE)
_START = re.compile(rf"{_H}(?:{_NAME}{_SPACE}[:{{<]|[}}>]|\#|\n|\Z)")


def starts_field(text: str, position: int) -> bool:
    """Whether a line that begins at ``position`` looks like the start of a field, a comment or a closing bracket."""
    return _START.match(text, position) is not None


def separators(tail: str) -> str:
    """Return the separators in the rest of a line."""
    return "".join(char for char in without_comments(tail) if char in ",;")


def without_comments(blank: str) -> str:
    """Return what stands between two words, without its comments."""
    return re.sub(r"#[^\n]*", "", blank) if "#" in blank else blank
