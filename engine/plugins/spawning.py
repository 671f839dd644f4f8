"""Functions and classes of plugins in processes that :mod:`multiprocessing` starts anew instead of forking them.

Such a process is told by name what to run, and the private names of plugin modules mean nothing to it. So what is sent
to it from a plugin says its folder instead. New processes are the rule on Windows and macOS, and everywhere from
Python 3.14 on; old data layers fetch their batches in one.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence
from functools import reduce
from pathlib import Path
from types import FunctionType
from typing import Any

from engine.plugins.roots import PluginRoot, plugin_finder

__all__ = ["let_plugins_spawn"]


def let_plugins_spawn() -> None:
    """Teach :mod:`multiprocessing`, where it is loaded, what code of plugins is called in another process."""
    reduction = sys.modules.get("multiprocessing.reduction")
    if reduction is not None:
        reduction.ForkingPickler.reducer_override = _reduced


def _reduced(pickler: Any, value: Any) -> Any:
    """Stand in for :meth:`pickle.Pickler.reducer_override`."""
    if not isinstance(value, (FunctionType, type)):
        return NotImplemented
    namespace, _, module = str(getattr(value, "__module__", "")).partition(".")
    root = plugin_finder().root_of(namespace)
    if root is None or not module or "<locals>" in value.__qualname__:
        return NotImplemented
    neighbours = [str(each.folder) for each in root.neighbours]
    return _found, (str(root.folder), neighbours, module, value.__qualname__)


def _found(folder: str, neighbours: Sequence[str], module: str, name: str) -> Any:
    """Return what has a name in a plugin's module; called in the new process."""
    from engine.compat import install  # plugins say "import caffe"; compat is above this package

    install()
    finder = plugin_finder()
    root = finder.root(Path(folder))
    _meet(root, [finder.root(Path(each)) for each in neighbours])
    loaded = importlib.import_module(f"{root.namespace}.{module}")
    return reduce(getattr, name.split("."), loaded)


def _meet(root: PluginRoot, neighbours: Sequence[PluginRoot]) -> None:
    for each in (root, *neighbours):
        each.neighbours = [other for other in (root, *neighbours) if other is not each]
