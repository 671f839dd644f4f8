"""Makes ``import caffe`` mean the module in this package, and its submodules those beside it."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from types import MappingProxyType, ModuleType

from engine.errors import NetcanvasError

__all__ = ["CompatFinder", "ToolFinder", "install"]

_OURS = "engine.compat."
_NAMES = ("caffe",)
_TOOLS = MappingProxyType({"test_gradient_for_python_layer": "engine.testing.python_layers"})
_PARTS = tuple(f"{_OURS}{name}." for name in _NAMES)


class _AliasLoader(Loader):
    """Gives the module of another name, so that both names are one module."""

    def __init__(self, target: str) -> None:
        self._target = target
        self._spec: ModuleSpec | None = None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        module = importlib.import_module(self._target)
        self._spec = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        module.__spec__ = self._spec


class CompatFinder(MetaPathFinder):
    """Finds ``caffe`` and ``caffe.*`` in :mod:`engine.compat`."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return an alias of our module; a part that is missing is said to be missing."""
        if fullname.startswith(_PARTS):
            if PathFinder.find_spec(fullname, path) is None:
                # Without a name: Python would swallow it in "from caffe import x" and say less.
                raise ModuleNotFoundError(f"'{fullname.removeprefix(_OURS)}' is not yet offered by Netcanvas.")
            return None
        if fullname.partition(".")[0] not in _NAMES:
            return None
        ours = importlib.util.find_spec(_OURS + fullname)
        assert ours is not None  # a missing part has been refused above, by the import of its own name
        return ModuleSpec(
            fullname, _AliasLoader(_OURS + fullname), is_package=ours.submodule_search_locations is not None
        )


class ToolFinder(MetaPathFinder):
    """Finds the tools that Python layers were tested with, where there is no file of the name."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return an alias of our module."""
        target_name = _TOOLS.get(fullname)
        return None if target_name is None else ModuleSpec(fullname, _AliasLoader(target_name))


def install() -> None:
    """Make ``import caffe`` in this process resolve to Netcanvas; calling it again does nothing.

    Raises
    ------
    NetcanvasError
        If another ``caffe`` has been imported already.
    """
    for name in _NAMES:
        loaded = sys.modules.get(name)
        if loaded is not None and not loaded.__name__.startswith(_OURS):
            raise NetcanvasError(
                f"Another '{name}' is loaded already, from {getattr(loaded, '__file__', None) or 'an unknown place'}; "
                f"both cannot be '{name}' in one process.",
                next_step=f"Call engine.compat.install() before anything imports {name}, or use 'netcanvas run'.",
            )
    if not any(isinstance(finder, CompatFinder) for finder in sys.meta_path):
        sys.meta_path.insert(0, CompatFinder())
        sys.meta_path.append(ToolFinder())
