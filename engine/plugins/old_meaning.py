"""What a converter from Python 2 leaves as it is written although it means something else today.

Whole numbers that are divided, pickles, files in memory, and tabs in indentation. Text goes in and comes out; nothing
else changes.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from engine.plugins.python2 import without_strings

__all__ = ["DIVIDE", "expand_tabs", "keep_meaning"]

DIVIDE = "_python2_divide"
_STRING_IO = "_python2_stringio"
_OPEN = f'''

def {_STRING_IO}(value):
    """Return a file in memory, of bytes or of text, as Python 2's StringIO does."""
    import io

    return io.BytesIO(value) if isinstance(value, bytes) else io.StringIO(value)

'''
_DEFINITION = f'''

def {DIVIDE}(left, right):
    """Divide as Python 2 does: whole numbers by whole numbers round down."""
    kinds = [getattr(getattr(value, "dtype", type(value)), "kind", type(value).__name__) for value in (left, right)]
    return left // right if all(kind in ("int", "bool", "i", "u") for kind in kinds) else left / right

'''
_STRING_FILES = ("StringIO", "io.StringIO")
_TAB = 8  # columns between tab stops, by which Python 2 reads indentation
_INDENT = re.compile(r"^[ \t]*\t[ \t]*", re.MULTILINE)
_SLASH = re.compile(r"[ \t]*/[ \t]*")
_FLOATS = frozenset({"float", "float32", "float64", "sqrt", "exp", "log", "log2", "log10", "mean", "std", "random"})


def expand_tabs(text: str) -> str:
    """Return a module's text with spaces in place of the tabs that it is indented by; strings stay."""
    blanked = without_strings(text)
    pieces, done = [], 0
    for match in _INDENT.finditer(blanked):
        pieces += [text[done : match.start()], match.group().expandtabs(_TAB)]
        done = match.end()
    return "".join([*pieces, text[done:]])


def keep_meaning(text: str, *, rounds: bool) -> tuple[str, tuple[int, ...]]:
    """Return the text of a converted module, changed where it would do something else than before.

    Parameters
    ----------
    text : str
        A module in Python 3's syntax, lines ending in a line feed.
    rounds : bool
        Whether ``/`` rounded whole numbers down: it did without ``from __future__ import division``.

    Returns
    -------
    text : str
        Divisions of what may be whole numbers call a function that is added; pickles are opened as bytes, and those
        that Python 2 wrote can be read; files in memory take bytes too.
    lines : tuple of int
        Lines with ``/=``, which is left: it may change an array in place, so that a person has to look at it.

    Raises
    ------
    SyntaxError
        If the text is no module.
    """
    tree = ast.parse(text)
    edits = _Edits(text)
    for node in ast.walk(tree):
        if (
            rounds
            and isinstance(node, ast.BinOp)
            and isinstance(node.op, ast.Div)
            and _may_round(node.left, node.right)
        ):
            edits.divide(node)
    _pickles(tree, edits)
    _files_in_memory(tree, edits)
    if edits.divisions:
        edits.define(tree, _DEFINITION)
    changed = edits.applied()
    return changed, tuple(_in_place(ast.parse(changed))) if rounds else ()


def _in_place(tree: ast.Module) -> Iterator[int]:
    for node in ast.walk(tree):
        if isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Div) and not _is_float(node.value):
            yield node.lineno


def _may_round(left: ast.expr, right: ast.expr) -> bool:
    return not _is_float(left) and not _is_float(right)


def _is_float(node: ast.expr) -> bool:
    """Whether an expression is a float, or an array of floats, for certain."""
    if isinstance(node, ast.Constant):
        return isinstance(node.value, float)
    if isinstance(node, ast.UnaryOp):
        return _is_float(node.operand)
    if isinstance(node, ast.BinOp):
        return not isinstance(node.op, ast.Mod) and (_is_float(node.left) or _is_float(node.right))
    if isinstance(node, ast.Attribute):
        return node.attr == "pi"
    if isinstance(node, ast.Call):
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        return name in _FLOATS
    return False


def _files_in_memory(tree: ast.Module, edits: _Edits) -> None:
    """Let a file in memory hold bytes too, which Python 2's held."""
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and ast.unparse(node.func) in _STRING_FILES]
    calls = [call for call in calls if len(call.args) == 1 and not call.keywords]
    for call in calls:
        edits.rename(call.func, _STRING_IO)
    if calls:
        edits.define(tree, _OPEN)


def _pickles(tree: ast.Module, edits: _Edits) -> None:
    """Open files of pickles as bytes, and read text in them as numpy's arrays in old pickles need it."""
    imported = [alias for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names]
    names = {alias.asname or alias.name for alias in imported if alias.name in ("pickle", "cPickle")}
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and _is_pickling(node, names)]
    for call in calls:
        if call.func.attr in ("load", "loads") and len(call.args) == 1 and not call.keywords:  # type: ignore[attr-defined]
            edits.append(call, 'encoding="latin1"')
        for argument in call.args:
            edits.open_as_bytes(argument)
    for node in ast.walk(tree):
        if isinstance(node, ast.With):
            inside = [call for call in calls if node.lineno <= call.lineno <= (node.end_lineno or node.lineno)]
            used = {each.id for call in inside for each in call.args if isinstance(each, ast.Name)}
            for item in node.items:
                if isinstance(item.optional_vars, ast.Name) and item.optional_vars.id in used:
                    edits.open_as_bytes(item.context_expr)


def _is_pickling(call: ast.Call, modules: set[str]) -> bool:
    func = call.func
    return (
        isinstance(func, ast.Attribute)
        and func.attr in ("load", "loads", "dump")
        and isinstance(func.value, ast.Name)
        and func.value.id in modules
    )


class _Edits:
    """Changes of a text, collected by place."""

    def __init__(self, text: str) -> None:
        self.divisions = 0
        self._text = text
        self._blanked = without_strings(text)
        self._lines = text.split("\n")
        self._starts = [0]
        for line in self._lines:
            self._starts.append(self._starts[-1] + len(line) + 1)
        self._changes: set[tuple[int, int, int, str]] = set()

    def divide(self, node: ast.BinOp) -> None:
        """Make a call of a division."""
        start, end = self._span(node)
        slash = _SLASH.search(self._blanked, self._span(node.left)[1], self._span(node.right)[0])
        if slash is None:
            return
        self.divisions += 1
        self._change(start, start, f"{DIVIDE}(")
        self._change(slash.start(), slash.end(), ", ")
        self._change(end, end, ")")

    def rename(self, node: ast.expr, name: str) -> None:
        """Write another name."""
        self._change(*self._span(node), name)

    def append(self, call: ast.Call, argument: str) -> None:
        """Give a call another argument."""
        end = self._span(call)[1] - 1
        before = self._blanked[:end].rstrip()[-1:]
        self._change(end, end, argument if before in ",(" else f", {argument}")

    def open_as_bytes(self, node: ast.expr) -> None:
        """Open a file for bytes where an expression opens one for text."""
        if not isinstance(node, ast.Call) or getattr(node.func, "id", "") != "open" or not node.args:
            return
        if len(node.args) == 1 and not node.keywords:
            self.append(node, '"rb"')
        elif len(node.args) > 1 and isinstance(node.args[1], ast.Constant) and node.args[1].value in ("r", "w"):
            self._change(*self._span(node.args[1]), f'"{node.args[1].value}b"')

    def define(self, tree: ast.Module, definition: str) -> None:
        """Put a definition after the imports that a module begins with."""
        above = 0
        for index, node in enumerate(tree.body):
            if not isinstance(node, (ast.Import, ast.ImportFrom)) and not (index == 0 and _is_text(node)):
                break
            above = node.end_lineno or node.lineno
        if not above and tree.body:
            first = tree.body[0]
            above = min([first.lineno, *(each.lineno for each in getattr(first, "decorator_list", ()))]) - 1
        place = min(self._starts[above], len(self._text))
        self._change(place, place, definition)

    def applied(self) -> str:
        """Return the text with all changes."""
        text = self._text
        for start, end, _, new in sorted(self._changes, reverse=True):
            text = text[:start] + new + text[end:]
        return text

    def _change(self, start: int, end: int, new: str) -> None:
        # Where two begin at one place both count, so that each is told apart by its number.
        self._changes.add((start, end, len(self._changes) if start == end else 0, new))

    def _span(self, node: ast.expr) -> tuple[int, int]:
        assert node.end_lineno is not None and node.end_col_offset is not None
        return self._place(node.lineno, node.col_offset), self._place(node.end_lineno, node.end_col_offset)

    def _place(self, line: int, column: int) -> int:
        """Return where in the text a place is that Python counts in bytes of a line."""
        return self._starts[line - 1] + len(self._lines[line - 1].encode()[:column].decode())


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
