"""Python's import functions as modules of a plugin folder see them, beside the import statement itself."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from types import ModuleType

__all__ = ["importlib_for"]


def importlib_for(namespace: Callable[[str], str]) -> ModuleType:
    """Return a view of :mod:`importlib` whose ``import_module`` looks where import statements look.

    Parameters
    ----------
    namespace : callable
        Given a module's name, returns the package below which it is known, or an empty text for an ordinary one.
    """
    view = ModuleType("importlib")
    vars(view).update(vars(importlib))

    def import_module(name: str, package: str | None = None) -> ModuleType:
        own = "" if name.startswith(".") else namespace(name)
        return importlib.import_module(f"{own}.{name}" if own else name, package)

    vars(view)["import_module"] = import_module
    return view
