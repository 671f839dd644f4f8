"""Arrays that hold one value where a number is wanted, and floats where a slice ends, in plugin modules.

Until numpy 2.4, ``int(blob.data[i])`` gave a number also where ``data[i]`` has axes, as it has in the four-axis blobs
of old nets; so did ``float``, ``round``, ``'%d' % array`` and ``loss[0] = array``. Until numpy 1.12, slices and shapes
took whole numbers that are floats, as labels from blobs are. In plugin modules they still do: what Python makes of it
is tried first, and the module's own text and line numbers stay.
"""

from __future__ import annotations

import ast
import logging
import sys
from collections.abc import Callable, Iterable, Mapping
from types import CodeType, ModuleType
from typing import Any

import numpy as np

__all__ = ["Numbers", "compile_with_numbers"]

_log = logging.getLogger("netcanvas.plugins")
_NUMBER, _FORMAT, _SET, _BOUND, _SIZED = (
    f"_netcanvas_{name}" for name in ("number", "format", "set", "bound", "sized")
)
_CALLS = frozenset({"int", "float", "round"})
#: Functions and methods of numpy that take a shape or a size.
_SHAPING = frozenset({"choice", "empty", "ones", "reshape", "tile", "zeros"})


def compile_with_numbers(source: bytes, path: str) -> CodeType | None:
    """Compile a module so that :class:`Numbers` is asked where an array may stand for a number.

    Returns
    -------
    code or None
        None where there is no such place, or the source is no module.
    """
    try:
        tree = ast.parse(source, path)
        rewriter = _Rewriter(tree)
        rewriter.visit(tree)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    if not rewriter.changed:
        return None
    code: CodeType = compile(tree, path, "exec", dont_inherit=True)
    return code


class Numbers:
    """What the changed places of a plugin folder's modules call; it says once for each place what it did."""

    def __init__(self) -> None:
        self._told: set[tuple[str, int]] = set()

    @property
    def names(self) -> Mapping[str, Callable[..., Any]]:
        """The functions, under the names by which compiled modules call them."""
        return {_NUMBER: self._number, _FORMAT: self._format, _SET: self._set, _BOUND: self._bound, _SIZED: self._sized}

    def _number(self, convert: Callable[..., Any], value: Any, *more: Any) -> Any:
        try:
            return convert(value, *more)
        except TypeError:
            if not _is_one_value(value):
                raise
        self._tell()
        return convert(value.item(), *more)

    def _format(self, text: str, values: Any) -> Any:
        try:
            return text % values
        except TypeError:
            given = values if isinstance(values, tuple) else (values,)
            if not any(map(_is_one_value, given)):
                raise
        self._tell()
        return text % tuple(each.item() if _is_one_value(each) else each for each in given)

    def _set(self, value: Any, target: Any, index: Any) -> None:
        try:
            target[index] = value
        except ValueError:
            if not (isinstance(target, np.ndarray) and _is_one_value(value)):
                raise
            target[index] = value.item()
            self._tell()

    def _bound(self, value: Any) -> Any:
        if type(value) is int or not isinstance(value, (float, np.floating)) or not float(value).is_integer():
            return value
        self._tell("a float as the end of a slice; write int(...)")
        return int(value)

    def _sized(self, function: Callable[..., Any], *args: Any, **options: Any) -> Any:
        try:
            return function(*args, **options)
        except TypeError:
            if not _is_numpys(function):
                raise
            whole, named = [_whole(each) for each in args], {name: _whole(each) for name, each in options.items()}
            if not (_differ(args, whole) or _differ(options.values(), named.values())):
                raise
        result = function(*whole, **named)
        self._tell("a float as a size; write int(...)")
        return result

    def _tell(self, what: str = "an array with axes as a number; write array.item()") -> None:
        frame = sys._getframe(2)
        place = (frame.f_code.co_filename, frame.f_lineno)
        if place not in self._told:
            self._told.add(place)
            _log.warning("%s:%d takes %s.", *place, what)


def _is_one_value(value: object) -> bool:
    return isinstance(value, np.ndarray) and value.ndim > 0 and value.size == 1


def _whole(value: Any) -> Any:
    """Return a float that is a whole number as an ``int``, also inside of a tuple or a list; anything else as it is."""
    if isinstance(value, (float, np.floating)) and float(value).is_integer():
        return int(value)
    return type(value)(map(_whole, value)) if type(value) in (tuple, list) else value


def _differ(before: Iterable[Any], after: Iterable[Any]) -> bool:
    return any(
        repr(old) != repr(new) for old, new in zip(before, after, strict=True) if not isinstance(old, np.ndarray)
    )


def _is_numpys(function: Any) -> bool:
    """Whether a function, or the object whose method it is, is numpy's: called twice, it does no more than once."""
    owner = getattr(function, "__self__", None)
    of_object = owner is not None and not isinstance(owner, ModuleType)
    module = getattr(type(owner) if of_object else function, "__module__", "")
    return str(module).partition(".")[0] == "numpy"


class _Rewriter(ast.NodeTransformer):
    """Makes calls of the places where an array may stand for a number."""

    def __init__(self, tree: ast.Module) -> None:
        self.changed = False
        stored = {
            node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)
        }
        stored |= {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
        stored |= {node.name for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
        stored |= {
            alias.asname or alias.name
            for node in ast.walk(tree)
            for alias in getattr(node, "names", ())
            if isinstance(alias, ast.alias)
        }
        self._calls = _CALLS - stored

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.func, ast.Attribute) and node.func.attr in _SHAPING:
            self.changed = True
            call = ast.Call(ast.Name(_SIZED, ast.Load()), [node.func, *node.args], node.keywords)
            return ast.fix_missing_locations(ast.copy_location(call, node))
        plain = node.args and not node.keywords and not any(isinstance(each, ast.Starred) for each in node.args)
        if not (plain and isinstance(node.func, ast.Name) and node.func.id in self._calls):
            return node
        if isinstance(node.args[0], (ast.Constant, ast.JoinedStr)):
            return node
        return self._call(_NUMBER, [node.func, *node.args], node)

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.op, ast.Mod) and isinstance(node.left, ast.Constant) and isinstance(node.left.value, str):
            return self._call(_FORMAT, [node.left, node.right], node)
        return node

    def visit_Slice(self, node: ast.Slice) -> ast.AST:
        self.generic_visit(node)
        node.lower, node.upper = self._bound(node.lower), self._bound(node.upper)
        return node

    def _bound(self, node: ast.expr | None) -> ast.expr | None:
        plain = node.operand if isinstance(node, ast.UnaryOp) else node
        if node is None or isinstance(plain, ast.Constant):
            return node
        return self._call(_BOUND, [node], node)

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        self.generic_visit(node)
        target = node.targets[0]
        if len(node.targets) != 1 or not isinstance(target, ast.Subscript) or _selects_many(target.slice):
            return node
        index = target.slice
        for each in ast.walk(index):
            if isinstance(each, (ast.Tuple, ast.List)):
                each.ctx = ast.Load()
        return ast.copy_location(ast.Expr(self._call(_SET, [node.value, target.value, index], node)), node)

    def _call(self, name: str, args: list[ast.expr], node: ast.expr | ast.stmt) -> ast.expr:
        self.changed = True
        call = ast.Call(ast.Name(name, ast.Load()), args, [])
        return ast.fix_missing_locations(ast.copy_location(call, node))


def _selects_many(index: ast.expr) -> bool:
    """Whether an index is a slice, or an ellipsis, or has one; keys of dictionaries are no places either."""
    parts = index.elts if isinstance(index, ast.Tuple) else [index]
    return any(isinstance(part, ast.Slice) or _is_word_or_ellipsis(part) for part in parts)


def _is_word_or_ellipsis(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and not isinstance(node.value, int)
