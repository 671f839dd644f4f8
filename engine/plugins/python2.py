"""Telling Python 2 code, line by line, and what each place is written as today. Nothing is changed here."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Python2Finding", "decode_source", "find_python2", "without_strings"]

_STRING_OR_COMMENT = re.compile(
    r"""(?P<prefix>(?<!\w)[uUbBrR]{1,2}|)"""
    r"""(?:(?P<long>\'\'\'|\"\"\")(?:\\.|(?!(?P=long)).)*(?:(?P=long)|\Z)"""
    r"""|(?P<quote>['"])(?:\\.|(?!(?P=quote))[^\n\\])*(?P=quote))"""
    r"""|\#[^\n]*""",
    re.DOTALL,
)
_CODING = re.compile(rb"^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)")
_MODULES = {
    "cPickle": "pickle",
    "ConfigParser": "configparser",
    "Queue": "queue",
    "SocketServer": "socketserver",
    "StringIO": "io",
    "Tkinter": "tkinter",
    "cStringIO": "io",
    "commands": "subprocess",
    "copy_reg": "copyreg",
    "httplib": "http.client",
    "urllib2": "urllib.request",
    "urlparse": "urllib.parse",
    "__builtin__": "builtins",
}
_NAMES = {
    "xrange": "range",
    "unicode": "str",
    "basestring": "str",
    "raw_input": "input",
    "unichr": "chr",
    "long": "int",
    "izip": "zip",
    "imap": "map",
}
_RULES: tuple[tuple[str, re.Pattern[str], str], ...] = (
    (
        "print statement",
        re.compile(r"(?:^|[:;])[ \t]*(?P<at>print)(?:[ \t]+(?![=(.,)\]])|[ \t]*>>|[ \t]*$)"),
        "print(...)",
    ),
    ("exec statement", re.compile(r"(?:^|[:;])[ \t]*(?P<at>exec)[ \t]+[^=(. \t]"), "exec(...)"),
    (
        "except with a comma",
        re.compile(r"^[ \t]*(?P<at>except)[ \t]+[^:,()]+,[ \t]*\w+[ \t]*:"),
        "except Error as name:",
    ),
    (
        "except with a comma",
        re.compile(r"^[ \t]*(?P<at>except)[ \t]*\([^()]*\)[ \t]*,[ \t]*\w+[ \t]*:"),
        "except (...) as name:",
    ),
    ("raise with a comma", re.compile(r"(?:^|[:;])[ \t]*(?P<at>raise)[ \t]+[\w.]+[ \t]*,"), "raise Error(message)"),
    ("backquotes", re.compile(r"(?P<at>`)[^`]+`"), "repr(...)"),
    ("<>", re.compile(r"(?P<at><>)"), "!="),
    ("octal number", re.compile(r"(?<![\w.])(?<![eE][-+])(?P<at>0+[1-7][0-7]*)(?![\w.])"), "0o..."),
    ("long number", re.compile(r"(?<![\w.])(?P<at>(?:0[xX][0-9a-fA-F]+|\d+)[lL])\b"), "the number without L"),
    ("has_key", re.compile(r"\.(?P<at>has_key)[ \t]*\("), "key in dictionary"),
    (
        "dictionary iterator",
        re.compile(r"\.(?P<at>iter(?:items|keys|values))[ \t]*\([ \t]*\)"),
        "items(), keys() or values()",
    ),
    ("tuple parameter", re.compile(r"\b(?P<at>lambda)[ \t]*\("), "one parameter, taken apart inside"),
    (
        "tuple parameter",
        re.compile(r"^[ \t]*(?P<at>def)[ \t]+\w+[ \t]*\([^()=:]*\([^()]*\)[^:]*\)[ \t]*:"),
        "one parameter",
    ),
)
_NAME = re.compile(
    rf"(?<![\w.])(?P<at>{'|'.join(_NAMES)})[ \t]*(?=\()|(?<=,)[ \t]*(?P<in>unicode|basestring|long)(?=[ \t]*\))"
)
_IMPORT = re.compile(r"^[ \t]*(?:from[ \t]+(?P<from>[\w.]+)[ \t]+import|import[ \t]+(?P<names>[\w., \t]+))")


@dataclass(frozen=True, slots=True)
class Python2Finding:
    """One place of Python 2 code.

    Attributes
    ----------
    line, column : int
        1-based place.
    what : str
        What it is, such as ``print statement``.
    today : str
        What is written in its place today.
    """

    line: int
    column: int
    what: str
    today: str

    def __str__(self) -> str:
        return f"line {self.line}: {self.what}; write {self.today}"


def find_python2(source: str | bytes | Path) -> tuple[Python2Finding, ...]:
    """Return the places of a module that are Python 2, in order; none for code that is not.

    Found are the usual ones: statements that have become functions, commas after ``except`` and ``raise``, numbers,
    names and modules that are gone. A string is no place, nor is a comment.

    Parameters
    ----------
    source : str, bytes or Path
        The module's text, its bytes, or its file.
    """
    if isinstance(source, Path):
        source = source.read_bytes()
    text = decode_source(source) if isinstance(source, bytes) else source
    found: list[Python2Finding] = []
    for match in _STRING_OR_COMMENT.finditer(text):
        if (match.group("prefix") or "").lower() == "ur":
            line = text.count("\n", 0, match.start()) + 1
            column = match.start() - text.rfind("\n", 0, match.start())
            found.append(Python2Finding(line, column, "ur'...' string", "r'...'"))
    for number, line_text in enumerate(without_strings(text).split("\n"), 1):
        found += _in_line(number, line_text)
    found += _mixed_tabs(text)
    return tuple(sorted(set(found), key=lambda each: (each.line, each.column)))


def _mixed_tabs(text: str) -> list[Python2Finding]:
    """Return the line from which on tabs and spaces are mixed so that only Python 2 reads them."""
    if "\t" not in text:
        return []
    try:
        ast.parse(text)
    except TabError as error:
        return [Python2Finding(error.lineno or 1, 1, "tabs and spaces mixed", "spaces alone")]
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        pass
    return []


def _in_line(number: int, line: str) -> list[Python2Finding]:
    found = [
        Python2Finding(number, match.start("at") + 1, what, today)
        for what, rule, today in _RULES
        for match in rule.finditer(line)
    ]
    for match in _NAME.finditer(line):
        group = "at" if match.group("at") else "in"
        name = match.group(group)
        found.append(Python2Finding(number, match.start(group) + 1, name, _NAMES[name]))
    imported = _IMPORT.match(line)
    if imported:
        names = imported.group("from") or imported.group("names")
        for name in re.findall(r"[\w.]+", names):
            if name in _MODULES:
                today = f"import {_MODULES[name]}"
                found.append(Python2Finding(number, line.index(name) + 1, f"module {name}", today))
    return found


def without_strings(text: str) -> str:
    """Return the text with the insides of strings and comments blanked, line by line as long as before."""

    def blank(match: re.Match[str]) -> str:
        written = match.group()
        if written.startswith("#"):
            return " " * len(written)
        return re.sub(r"[^\n]", "_", written)

    return _STRING_OR_COMMENT.sub(blank, text)


def decode_source(data: bytes) -> str:
    """Return the text of a module, by its own coding line where it has one; old files are not always UTF-8."""
    coding = next((match for line in data.split(b"\n", 2)[:2] if (match := _CODING.match(line))), None)
    for name in (coding.group(1).decode("ascii", "replace") if coding else "utf-8-sig", "utf-8-sig", "latin-1"):
        try:
            return data.decode(name)
        except (UnicodeDecodeError, LookupError):
            continue
    raise AssertionError("latin-1 reads every byte")
