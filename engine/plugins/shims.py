"""What old layers expect of Python and its libraries and no longer get, for plugin modules alone.

A layer written ten years ago calls ``xrange``, ``np.float`` or ``yaml.load`` without a loader. A module that does is
given these, through the built-in names and import statements of that module: no other module sees any of it. Each is
named in the log, with the line and what to write instead.
"""

from __future__ import annotations

import ast
import builtins
import functools
import importlib
import logging
import sys
from collections.abc import Callable, Mapping, Sequence
from types import ModuleType
from typing import Any

from engine.plugins.old_names import MODULES, NAMES, OLD_ATTRIBUTES, Shim, attributes_of

__all__ = ["is_old", "shimmed_builtins"]

_log = logging.getLogger("netcanvas.plugins")
_Import = Callable[..., ModuleType]


def shimmed_builtins(source: bytes, path: str, given: dict[str, Any]) -> dict[str, Any]:
    """Return the built-in names for a plugin module: those given, and what its source uses that is gone.

    Parameters
    ----------
    source : bytes
        The module's text.
    path : str
        Its file, for the log.
    given : dict
        Built-in names of its plugin folder, ``__import__`` among them; returned as they are where nothing old is used.
    """
    try:
        used = _Used(ast.parse(source))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return given
    if not used.is_old:
        return given
    teller = _Teller(path, used)
    found = dict(given)
    for name in used.names:
        teller.tell(name, name, NAMES[name].instead)
        found[name] = NAMES[name].value
    found["__import__"] = functools.partial(_import, given["__import__"], teller, {})
    return found


def is_old(source: bytes) -> bool:
    """Whether a module's source uses what is gone."""
    try:
        return _Used(ast.parse(source)).is_old
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False


class _Used(ast.NodeVisitor):
    """Which old names a module uses, with their first lines."""

    def __init__(self, tree: ast.Module) -> None:
        self.lines: dict[str, int] = {}
        self._stored: set[str] = set()
        self._loaded: set[str] = set()
        self._imports = False
        self.visit(tree)
        self.names = sorted(self._loaded & NAMES.keys() - self._stored - vars(builtins).keys())
        self.is_old = bool(self.names) or self._imports or any(name in self.lines for name in OLD_ATTRIBUTES)

    def visit_Name(self, node: ast.Name) -> None:
        (self._loaded if isinstance(node.ctx, ast.Load) else self._stored).add(node.id)
        self.lines.setdefault(node.id, node.lineno)

    def visit_arg(self, node: ast.arg) -> None:
        self._stored.add(node.arg)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        self._stored.add(node.name)
        self.generic_visit(node)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        self.lines.setdefault(f".{node.attr}", node.lineno)
        self.generic_visit(node)

    def visit_Import(self, node: ast.Import) -> None:
        self._note(node, [alias.name for alias in node.names], node.names)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        for alias in node.names:
            self.lines.setdefault(f".{alias.name}", node.lineno)
        if node.level == 0 and node.module:
            self._note(node, [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)], node.names)

    def _note(self, node: ast.stmt, modules: Sequence[str], names: Sequence[ast.alias]) -> None:
        for module in modules:
            self.lines.setdefault(module, node.lineno)
            self._imports = self._imports or module in MODULES
        self._stored.update(alias.asname or alias.name.partition(".")[0] for alias in names)


class _Teller:
    """Says once for each name and module what was given."""

    def __init__(self, path: str, used: _Used) -> None:
        self._path = path
        self._used = used
        self._told: set[str] = set()

    def tell(self, name: str, key: str, instead: str) -> None:
        """Log that the module was given ``name``."""
        if name not in self._told:
            self._told.add(name)
            line = self._used.lines.get(key)
            place = f"{self._path}:{line}" if line else self._path
            _log.warning("%s uses %s, which is gone; it gets a stand-in. Write %s.", place, name, instead)


def _import(
    original: _Import,
    teller: _Teller,
    views: dict[str, ModuleType],
    name: str,
    globals: Mapping[str, object] | None = None,
    locals: Mapping[str, object] | None = None,
    fromlist: Sequence[str] | None = (),
    level: int = 0,
) -> ModuleType:
    """Stand in for ``__import__`` inside an old module."""
    try:
        module = original(name, globals, locals, fromlist, level)
    except ModuleNotFoundError as error:
        old = _old_module(name, fromlist or ())
        if level or not old or not error.name or not f"{name}.".startswith(f"{error.name}."):
            raise
        return _stand_in(old, name, fromlist, teller)
    if level:
        return module
    old = _old_module(name, fromlist or ())
    if "." in old and _is_empty(old):
        return _stand_in(old, name, fromlist, teller)
    return _view(module, teller, views)


def _old_module(name: str, fromlist: Sequence[str]) -> str:
    """Return which module that may be gone an import statement means, or an empty text."""
    return next((each for each in (name, *(f"{name}.{part}" for part in fromlist)) if each in MODULES), "")


def _is_empty(old: str) -> bool:
    """Whether a module is there no more, or has none of its old names."""
    present = sys.modules.get(old)
    names = importlib.import_module(MODULES[old].value).__all__
    return present is None or not any(hasattr(present, each) for each in names)


def _stand_in(old: str, name: str, fromlist: Sequence[str] | None, teller: _Teller) -> ModuleType:
    """Return what an import statement that means a module that is gone gets."""
    teller.tell(old, old, MODULES[old].instead)
    target = importlib.import_module(MODULES[old].value)
    package, dot, part = old.rpartition(".")
    return _with_part(package, part, target) if dot and (name != old or not fromlist) else target


def _with_part(package: str, part: str, target: ModuleType) -> ModuleType:
    """Return a package, or an empty one where there is none, with a part that it lacks."""
    try:
        whole: ModuleType = _OldModule(importlib.import_module(package), {}, lambda *told: None)
    except ModuleNotFoundError:
        whole = ModuleType(package)
    whole.__dict__[part] = target
    return whole


def _view(module: ModuleType, teller: _Teller, views: dict[str, ModuleType]) -> ModuleType:
    """Return a module with the names that it no longer has, for those that lost some."""
    name = getattr(module, "__name__", "")
    old = attributes_of(name, module)
    if not old:
        return module
    if name not in views:
        views[name] = _OldModule(module, old, teller.tell)
    return views[name]


class _OldModule(ModuleType):
    """A module as it is, and with names that it once had; only who was given it sees these."""

    def __init__(self, module: ModuleType, old: Mapping[str, Shim], tell: Callable[[str, str, str], None]) -> None:
        super().__init__(module.__name__, module.__doc__)
        state = self.__dict__
        if module.__name__ == "numpy":  # its names do not change, and are looked up in every line
            state.update(vars(module))
        state.update(_module=module, _old=old, _tell=tell)
        state.update({name: self._told(name) for name, shim in old.items() if shim.replaces})

    def _told(self, name: str) -> Callable[..., Any]:
        """Return a function in place of one that is still there, but no longer takes a single argument."""
        shim = self.__dict__["_old"][name]

        def call(*args: Any, **kwargs: Any) -> Any:
            if len(args) + len(kwargs) != 1:
                return getattr(self.__dict__["_module"], name)(*args, **kwargs)
            self.__dict__["_tell"](f"{self.__name__}.{name}", f".{name}", shim.instead)
            return shim.value(*args, **kwargs)

        return call

    def __getattr__(self, name: str) -> Any:
        module, old = self.__dict__["_module"], self.__dict__["_old"]
        try:
            return getattr(module, name)
        except AttributeError:
            if name not in old:
                raise
        self.__dict__["_tell"](f"{self.__name__}.{name}", f".{name}", old[name].instead)
        value = self.__dict__[name] = old[name].value
        return value

    def __setattr__(self, name: str, value: object) -> None:
        setattr(self.__dict__["_module"], name, value)
        if name in self.__dict__:
            self.__dict__[name] = value

    def __dir__(self) -> list[str]:
        return dir(self.__dict__["_module"])
