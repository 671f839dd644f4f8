"""Plugin code that replaces names of shared modules, such as ``numpy.zeros``: undone for all but itself, and told.

Code that runs while it is imported, made or set up is watched; what it replaced is put back, and its own modules get
a view of the shared module in which the change stands. So ``np.load = functools.partial(np.load, ...)`` does for a
plugin what it means, and for nobody else. Later calls are not watched, for the time that would take; where one of them
replaced something, :func:`blame` tells it once there is a failure.
"""

from __future__ import annotations

import builtins
import contextlib
import functools
import importlib
import logging
import sys
import traceback
from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from engine.last_words import last_words
from engine.plugins.ordinary import FreshSourceLoader
from engine.plugins.roots import OUR_PACKAGES, plugin_finder

__all__ = ["Replaced", "SharedNames", "blame", "plugin_place", "watched"]

_log = logging.getLogger("netcanvas.plugins")

#: Modules whose names other layers rely on.
_SHARED = (
    "numpy",
    "numpy.linalg",
    "numpy.random",
    "builtins",
    "json",
    "logging",
    "math",
    "os",
    "random",
    "threading",
    "time",
    "engine.blob",
    "engine.blob_list",
    "engine.layer",
    "engine.layer_context",
)
#: Packages whose own changes are nobody's fault.
_APPLICATION = frozenset({*OUR_PACKAGES, "PySide6", "shiboken6"})
_ABSENT = object()
_SHOWN = 3


@dataclass(frozen=True, slots=True)
class Replaced:
    """A name of a shared module that is not what it was.

    Attributes
    ----------
    module, name : str
    value : object
        What it is now, if anything.
    original : object
        What it was.
    """

    module: str
    name: str
    value: Any
    original: Any

    def __str__(self) -> str:
        return f"{self.module}.{self.name}"


class SharedNames:
    """The names of shared modules as they were when this was made.

    Public functions and classes count, and numpy's other public values: the standard library changes its own state,
    and libraries keep things among the built-in names, as Qt does ``qApp``, that nobody is to hold on to.
    """

    def __init__(self) -> None:
        self._before = {name: dict(_own_names(module)) for name, module in _modules()}

    def replaced(self) -> list[Replaced]:
        """Return what is not as it was; names that were added harm nobody."""
        found = []
        for module_name, module in _modules():
            now = vars(module)
            for name, value in self._before[module_name].items():
                new = now.get(name, _ABSENT)
                if new is not value and not _is_applications(new):
                    found.append(Replaced(module_name, name, new, value))
        return found


def _own_names(module: ModuleType) -> Iterator[tuple[str, Any]]:
    everything = module.__name__.startswith("numpy")
    for name, value in vars(module).items():
        if not name.startswith("_") and (everything or callable(value)):
            yield name, value


def _is_applications(value: Any) -> bool:
    """Whether a value was defined by the application itself, which replaces what it likes."""
    return str(getattr(value, "__module__", "")).partition(".")[0] in _APPLICATION


@functools.cache
def _modules() -> list[tuple[str, ModuleType]]:
    """Return the shared modules; the same ones always, whatever becomes of :data:`sys.modules`."""
    return [(name, builtins if name == "builtins" else importlib.import_module(name)) for name in _SHARED]


@contextlib.contextmanager
def watched(whose: str, stage: str, module: str = "") -> Iterator[None]:
    """Run plugin code, and undo for all others what it replaces in shared modules.

    Parameters
    ----------
    whose : str
        Of which layer it is, for the log: ``Layer 'a' (Python)``.
    stage : str
        What runs, for the case that it ends the process: ``import``, ``constructor`` or ``setup``.
    module : str
        Name in :data:`sys.modules` of the module with the code; none while it is imported.
    """
    finder = plugin_finder()
    before = SharedNames()
    if finder.shared is None:
        finder.shared = before
    known, streams = set(sys.modules), (sys.stdout, sys.stderr)
    words = last_words()
    if words is not None:
        words.note(words.entry(f"{whose} in {stage}"))
    try:
        yield
    finally:
        sys.stdout, sys.stderr = sys.stdout or streams[0], sys.stderr or streams[1]
        replaced = before.replaced()
        if replaced:
            _put_back(replaced)
            _keep_for([module] if module else _imported(set(sys.modules) - known, replaced), replaced)
            finder.replaced += map(str, replaced)
            _log.warning("%s: %s", whose, told(list(map(str, replaced)), place_of_values(replaced)))
        if words is not None:
            words.note()


def told(names: list[str], place: str = "") -> str:
    """Return the sentences that say what a layer's code replaced."""
    return (
        f"its code{place} replaced {_listed(names)}, which other layers use. That was undone for all but its own "
        "modules. Keep a changed copy under a name of its own."
    )


def blame() -> str:
    """Return what plugin code has replaced in shared modules and not put back, in one sentence; empty for nothing."""
    shared = plugin_finder().shared
    replaced = shared.replaced() if shared is not None else []
    if not replaced:
        return ""
    verb = "has" if len(replaced) == 1 else "have"
    return f"{_listed(list(map(str, replaced)))} {verb} been replaced by a plugin's code{place_of_values(replaced)}."


def plugin_place(error: BaseException) -> str:
    """Return ``file:line`` of the innermost frame of plugin code that an exception came through; empty for none."""
    place = ""
    for frame, line in traceback.walk_tb(error.__traceback__):
        if _is_plugins(frame.f_globals.get("__spec__")):
            place = f"{frame.f_code.co_filename}:{line}"
    return place


def place_of_values(replaced: list[Replaced]) -> str:
    """Return where the first of the new values is defined that tells it, as in `` (layer.py:3)``."""
    for each in replaced:
        code = getattr(each.value, "__code__", None)
        if code is not None:
            return f" ({code.co_filename}:{code.co_firstlineno})"
    return ""


def _listed(names: list[str]) -> str:
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return f"{', '.join(names[:_SHOWN])}{more}"


def _put_back(replaced: list[Replaced]) -> None:
    modules = dict(_modules())
    for each in replaced:
        vars(modules[each.module])[each.name] = each.original


def _imported(names: Set[str], replaced: list[Replaced]) -> list[str]:
    """Return which of the modules that were imported are a plugin's, or define what now stands in shared modules."""
    files = {code.co_filename for each in replaced if (code := getattr(each.value, "__code__", None)) is not None}
    modules = {name: sys.modules.get(name) for name in names}
    return [
        name
        for name, module in modules.items()
        if _is_plugins(getattr(module, "__spec__", None)) or getattr(module, "__file__", None) in files
    ]


def _is_plugins(spec: Any) -> bool:
    return isinstance(getattr(spec, "loader", None), FreshSourceLoader)


def _keep_for(names: list[str], replaced: list[Replaced]) -> None:
    """Let some plugin modules, and those of their folders, see shared modules with what was replaced."""
    tops = {name.partition(".")[0] for name in names}
    own = [module for name, module in list(sys.modules.items()) if name.partition(".")[0] in tops]
    views = _views(replaced)
    shared = dict(_modules())
    there = [each for each in replaced if each.value is not _ABSENT]
    for module in own:
        for name, value in list(vars(module).items()):
            view = views.get(getattr(value, "__name__", "")) if isinstance(value, ModuleType) else None
            if view is None:
                continue
            if value is shared.get(view.__name__, value):
                vars(module)[name] = view
            else:  # what an old module has for it, see engine.plugins.shims
                vars(value).update({each.name: each.value for each in there if each.module == view.__name__})
        own_builtins = vars(module).get("__builtins__")
        if isinstance(own_builtins, dict) and own_builtins is not vars(builtins):
            own_builtins.update({each.name: each.value for each in there if each.module == "builtins"})


def _views(replaced: list[Replaced]) -> Mapping[str, ModuleType]:
    """Return copies of the shared modules in which what was replaced stands; a package's holds those of its parts."""
    views: dict[str, ModuleType] = {}
    for each in sorted(replaced, key=lambda each: each.module, reverse=True):
        if each.module == "builtins" or each.module.startswith("engine."):
            continue
        package, _, part = each.module.rpartition(".")
        for name in filter(None, (each.module, package)):
            if name not in views:
                views[name] = ModuleType(name)
                vars(views[name]).update(vars(importlib.import_module(name)))
        if package:
            vars(views[package])[part] = views[each.module]
        if each.value is _ABSENT:
            vars(views[each.module]).pop(each.name, None)
        else:
            vars(views[each.module])[each.name] = each.value
    return views
