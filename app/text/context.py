"""Where in a prototxt a cursor is: in which message, what that has already, and what is being typed."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

__all__ = ["Context", "Given", "read_context"]

#: Texts, remarks, names with what follows them, and brackets.
_TOKEN = re.compile(
    r"""\#.*
    |(?P<name>[A-Za-z_]\w*)(?=\s*:?\s*\{)
    |(?P<field>[A-Za-z_]\w*)\s*:\s*(?P<value>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|[^\s{}\[\]"';,\#]+)?
    |"(?:[^"\\]|\\.)*"?|'(?:[^'\\]|\\.)*'?
    |(?P<bracket>[{}])""",
    re.VERBOSE,
)
_VALUE = re.compile(
    r"""(?P<field>[A-Za-z_]\w*)\s*:\s*\[?(?:[^\[\]{}"']*,\s*)?(?P<quote>["']?)"""
    r"""(?P<prefix>[^"'\s{}\[\],;:#]*)$"""
)
_WORD = re.compile(r"(?P<prefix>[A-Za-z_]\w*)?$")
_MOST_LINES = 800  # a message of more lines is taken for none

Line = Callable[[int], str | None]


@dataclass(frozen=True, slots=True)
class Given:
    """A field that a message has already: its name, its value as written (empty for messages), its 0-based line."""

    name: str
    value: str
    line: int


@dataclass(frozen=True, slots=True)
class Context:
    """What is known of a place in a text.

    Attributes
    ----------
    path : tuple of str
        Names of the messages around the place, the outermost first.
    given : tuple of Given
        What the innermost message has besides what is being typed.
    outer : tuple of Given
        What the outermost message (the layer) has, above the place at least.
    field : str
        The field whose value is being typed; empty where a field's name is expected.
    quote : str
        The quote that was opened before the value, or empty.
    prefix : str
        What of the word is typed.
    """

    path: tuple[str, ...]
    given: tuple[Given, ...]
    outer: tuple[Given, ...]
    field: str
    quote: str
    prefix: str

    def value_of(self, name: str) -> str:
        """Return the value of a field of the outermost message, without quotes; empty where there is none."""
        return next((each.value.strip("\"'") for each in self.outer if each.name == name), "")


def read_context(line_at: Line, line: int, column: int) -> Context | None:
    """Read what is around a place; None within a remark.

    Parameters
    ----------
    line_at : callable
        Returns the text of a 0-based line, None outside of the text.
    line, column : int
        The place, 0-based.
    """
    text = line_at(line) or ""
    before = text[:column]
    if _in_remark(before):
        return None
    start = max((match.end() for match in _TOKEN.finditer(before) if match["bracket"]), default=0)
    value = _VALUE.search(before, start)
    word = None if value else _WORD.search(before, start)
    if value is None and word is None:
        return None
    found = value or word
    assert found is not None
    prefix = found["prefix"] or ""
    typed_from = value.start() if value else column - len(prefix)
    if value is None and _in_text(before[:typed_from]):
        return None
    path, above, outer = _above(line_at, line, before[:typed_from])
    rest = re.sub(r"^[\w./-]*[\"']?", "", text[column:]) if value else re.sub(r"^\w*", "", text[column:])
    below = _below(line_at, line, rest)
    return Context(
        path=path,
        given=(*above, *below),
        outer=(*above, *below) if len(path) <= 1 else outer,
        field=value["field"] if value else "",
        quote=value["quote"] if value else "",
        prefix=prefix,
    )


def _in_remark(before: str) -> bool:
    last = None
    for match in _TOKEN.finditer(before):
        last = match
    return last is not None and last.group().startswith("#")


def _in_text(before: str) -> bool:
    last = None
    for match in _TOKEN.finditer(before):
        last = match
    return last is not None and last.end() == len(before) and last.group()[0] in "\"'" and len(last.group()) == 1


def _above(line_at: Line, line: int, before: str) -> tuple[tuple[str, ...], list[Given], tuple[Given, ...]]:
    """Read upwards: the messages around, what the innermost has above, and what the outermost has above."""
    levels: list[list[Given]] = [[]]
    names: list[str] = []
    depth = 0  # brackets that close above and are not opened yet
    text: str | None = before
    for number in range(line, max(line - _MOST_LINES, -1), -1):
        name = ""
        for match in reversed(_named_brackets(text or "")):
            name = match[0]
            if match[1] == "}":
                depth += 1
            elif match[1] == "{" and depth:
                depth -= 1
                if not depth:
                    levels[-1].append(Given(name, "", number))
            elif match[1] == "{":
                names.append(name)
                levels.append([])
            elif not depth:
                levels[-1].append(Given(name, match[2], number))
        text = line_at(number - 1) if number else None
        if not depth and names and number and _at_top(text, names):
            break
    outer = levels[-2] if len(levels) > 1 else levels[0]
    return tuple(reversed(names)), levels[0][::-1], tuple(outer[::-1])


def _at_top(above: str | None, names: list[str]) -> bool:
    """Whether reading upwards has come out of a layer: nothing encloses those."""
    return names[-1] in ("layer", "layers") and (above is None or above[:1] in "}#" or not above.strip())


def _named_brackets(text: str) -> list[tuple[str, str, str]]:
    """Return name, bracket and value of what stands in a line: fields have no bracket, closing ones no name."""
    found: list[tuple[str, str, str]] = []
    pending = ""
    for match in _TOKEN.finditer(text):
        if match["name"]:
            pending = match["name"]
        elif match["field"]:
            found.append((match["field"], "", match["value"] or ""))
        elif match["bracket"]:
            found.append((pending if match["bracket"] == "{" else "", match["bracket"], ""))
            pending = ""
    return found


def _below(line_at: Line, line: int, rest: str) -> list[Given]:
    """Read downwards what the message around has up to its end."""
    found: list[Given] = []
    depth = 0
    text: str | None = rest
    for number in range(line, line + _MOST_LINES):
        for name, bracket, value in _named_brackets(text or ""):
            if bracket == "{":
                if not depth:
                    found.append(Given(name, "", number))
                depth += 1
            elif bracket == "}":
                depth -= 1
                if depth < 0:
                    return found
            elif not depth:
                found.append(Given(name, value, number))
        text = line_at(number + 1)
        if text is None:
            break
    return found
