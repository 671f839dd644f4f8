"""Modules of Python's own look-up that hold layers: loaded fresh from their source, with what old code needs."""

from __future__ import annotations

import builtins
import importlib
import importlib.util
import os
import sys
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

from engine.plugins.shims import is_old, shimmed_builtins

__all__ = ["FreshSourceLoader", "file_stamp", "import_ordinary", "keep", "leads_to", "load_ordinary"]


class FreshSourceLoader(SourceFileLoader):
    """A source loader without bytecode files: an edit within one clock tick counts, and user folders stay clean."""

    def get_code(self, fullname: str) -> CodeType:
        """Compile the source as it is now."""
        path = self.get_filename(fullname)
        return self.source_to_code(self.get_data(path), path)

    def exec_module(self, module: ModuleType) -> None:
        """Run the module, with stand-ins for what an old one uses that is gone."""
        path = self.get_filename(module.__name__)
        names = shimmed_builtins(self.get_data(path), path, self._builtins())
        if names is not builtins.__dict__:
            module.__dict__["__builtins__"] = names
        super().exec_module(module)

    def _builtins(self) -> dict[str, Any]:
        return builtins.__dict__


def file_stamp(path: str | Path) -> tuple[int, int]:
    """Return time (ns) and size of a file, which tell whether it was edited; zeros when it is gone."""
    try:
        status = os.stat(path)
    except OSError:
        return (0, 0)
    return (status.st_mtime_ns, status.st_size)


def leads_to(top: str, file: Path | None) -> bool:
    """Whether Python's own look-up of the top-level name ``top`` leads to ``file``, or to its folder."""
    try:
        spec = importlib.util.find_spec(top)
    except (ImportError, ValueError):
        return False
    if spec is None or file is None:
        return False
    places = [spec.origin] if spec.has_location else list(spec.submodule_search_locations or ())
    return any(place is not None and os.path.realpath(place) == os.path.realpath(file) for place in places)


def import_ordinary(name: str) -> ModuleType:
    """Import a layer's module that is on ``sys.path``, with stand-ins where it is an old one."""
    if name not in sys.modules:
        spec = importlib.util.find_spec(name)
        loader = spec.loader if spec is not None else None
        if spec is not None and type(loader) is SourceFileLoader and is_old(loader.get_data(loader.path)):
            load_ordinary(name)
    return importlib.import_module(name)


def load_ordinary(name: str) -> None:
    """Load a module with an ordinary name from its source; the one that was in use comes back on failure."""
    old = sys.modules.pop(name, None)
    try:
        spec = importlib.util.find_spec(name)
        if spec is None or spec.origin is None or not spec.origin.endswith(".py"):
            raise ModuleNotFoundError(f"No module named '{name}'", name=name)
        spec.loader = FreshSourceLoader(name, spec.origin)
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        spec.loader.exec_module(module)
        keep(name, module)
    except BaseException:
        sys.modules.pop(name, None)
        if old is not None:
            sys.modules[name] = old
        raise


def keep(name: str, module: ModuleType) -> None:
    """Let a module go on under another name, as its package's attribute too."""
    sys.modules[name] = module
    package, _, last = name.rpartition(".")
    if package in sys.modules:
        setattr(sys.modules[package], last, module)
