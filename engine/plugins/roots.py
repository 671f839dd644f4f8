"""Plugin folders as roots of modules, each with a namespace of its own.

Two projects may both hold a ``layers.py``. So a module found in a plugin folder is not imported as ``layers`` but as
``<namespace of the folder>.layers``, and import statements inside it are looked up in its own folder first. A folder
that is on ``sys.path`` anyway keeps ordinary names, so that a script and its layers see the same module.
"""

from __future__ import annotations

import builtins
import functools
import hashlib
import importlib
import os
import re
import sys
import threading
from collections.abc import Mapping, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import (
    EXTENSION_SUFFIXES,
    SOURCE_SUFFIXES,
    ExtensionFileLoader,
    FileFinder,
    ModuleSpec,
)
from pathlib import Path
from types import CodeType, ModuleType
from typing import TYPE_CHECKING, Any

from engine.faults import is_fault
from engine.plugins.import_views import importlib_for
from engine.plugins.old_numbers import Numbers, compile_with_numbers
from engine.plugins.ordinary import FreshSourceLoader, file_stamp, keep, leads_to, load_ordinary

if TYPE_CHECKING:
    from engine.plugins.tampering import SharedNames

__all__ = [
    "OUR_PACKAGES",
    "RESERVED_NAMES",
    "PluginFinder",
    "PluginRoot",
    "folder_refusal",
    "plugin_finder",
]

OUR_PACKAGES = ("app", "engine", "nodes")
"""Names of our own packages; a plugin folder with a module of such a name is refused."""

RESERVED_NAMES = frozenset({*OUR_PACKAGES, "caffe", "numpy"})
"""Top-level names that always mean the installed package, whatever a plugin folder holds."""

_NAMESPACE = re.compile(r"(netcanvas_plugins_[0-9a-f]{12})_\d+")


def folder_refusal(folder: Path) -> str:
    """Return why no module is taken from a plugin folder, or an empty text.

    A module called like one of our packages would be imported in place of ours by whoever puts the folder on
    ``sys.path``, or would never be found here; either way somebody gets the wrong code.
    """
    for name in OUR_PACKAGES:
        for path in (folder / f"{name}.py", folder / name / "__init__.py"):
            if path.is_file():
                return f"it holds a module named '{name}' ({path}), which is a package of Netcanvas"
    return ""


class _PluginLoader(FreshSourceLoader):
    """Loads a module of a plugin root; its import statements go through the root."""

    def __init__(self, root: PluginRoot, fullname: str, path: str) -> None:
        super().__init__(fullname, path)
        self._root = root

    def get_code(self, fullname: str) -> CodeType:
        """Compile the source, with arrays of one value for numbers, and remember which version of the file it was."""
        path = self.get_filename(fullname)
        self._root.stamps[Path(path)] = file_stamp(path)
        return compile_with_numbers(self.get_data(path), path) or super().get_code(fullname)

    def _builtins(self) -> dict[str, Any]:
        """Return those with the root's ``__import__``."""
        return self._root.builtins


class PluginRoot:
    """A folder whose modules are plugins.

    Parameters
    ----------
    folder : Path
        The folder, resolved.

    Attributes
    ----------
    neighbours : list of PluginRoot
        Roots of the same project, looked through after this one by import statements inside its modules.
    requested : list of str
        Modules that were asked for by name, in order; a reload loads these again.
    stamps : dict
        Source files that were loaded, with time and size at that moment.
    failures : dict
        Modules that the last reload could not load, with what they raised; their old code is in use.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.stem = "netcanvas_plugins_" + hashlib.sha256(os.fsencode(folder)).hexdigest()[:12]
        self.neighbours: list[PluginRoot] = []
        self.requested: list[str] = []
        self.stamps: dict[Path, tuple[int, int]] = {}
        self.builtins: dict[str, Any] = {**builtins.__dict__, **Numbers().names, "__import__": self._import}
        self.failures: dict[str, BaseException] = {}
        self._kept: list[str] = []
        self._generation = 1
        self._owners: dict[tuple[str, tuple[str, ...]], PluginRoot | None] = {}

    @property
    def namespace(self) -> str:
        """Name of the package under which the modules are known to Python at present."""
        return f"{self.stem}_{self._generation}"

    def locate(self, name: str) -> Path | None:
        """Return the file of the dotted module ``name`` below this folder, or None."""
        *packages, last = name.split(".")
        if "/" in name or "\\" in name:  # a path, which import statements do not take
            return None
        folder = self.folder
        for package in packages:
            folder /= package
        candidates = [folder / last / "__init__.py"]
        candidates += [folder / (last + suffix) for suffix in (*SOURCE_SUFFIXES, *EXTENSION_SUFFIXES)]
        return next((path for path in candidates if path.is_file()), None)

    def load(self, name: str) -> ModuleType:
        """Import the module ``name``, which :meth:`locate` finds, and return it. Whatever it raises goes through."""
        if name not in self.requested:
            self.requested.append(name)
        try:
            return importlib.import_module(self.imported_name(name))
        except BaseException:
            self.requested.remove(name)
            for root in (self, *self.neighbours):  # what it lacks may be there when it is asked for again
                root._owners.clear()
            raise

    def imported_name(self, name: str) -> str:
        """Return the name of a module in ``sys.modules``: the plain one if ``sys.path`` leads to the same file."""
        top = name.partition(".")[0]
        return name if leads_to(top, self.locate(top)) else f"{self.namespace}.{name}"

    def changed_files(self) -> list[Path]:
        """Return the loaded source files that are not as they were when they were loaded.

        A module whose import failed counts as well: what it lacks may be there by now.
        """
        waiting = [name for name, error in self.failures.items() if isinstance(error, ImportError)]
        failed = [path for path in map(self.locate, waiting) if path is not None]
        return [*(path for path, stamp in self.stamps.items() if file_stamp(path) != stamp), *failed]

    def reload(self) -> list[str]:
        """Load every requested module from its source again.

        A module that fails keeps its old code, and so do those that import it; the reason is in :attr:`failures`
        until its files change again.

        Returns
        -------
        list of str
            Names of the modules that have new code.
        """
        old = self.namespace
        names = list(self.requested)
        importlib.invalidate_caches()
        self._generation += 1
        self._owners.clear()
        self.stamps.clear()
        self.failures.clear()
        for name in names:
            try:
                if self.imported_name(name) == name:
                    self.stamps.update((path, file_stamp(path)) for path in [self.locate(name)] if path is not None)
                    load_ordinary(name)
                else:
                    importlib.import_module(self.imported_name(name))
            except BaseException as error:
                if not is_fault(error):
                    raise
                self.failures[name] = error
                kept = sys.modules.get(f"{old}.{name}")
                if kept is not None:
                    keep(f"{self.namespace}.{name}", kept)
        if self.failures:
            self._kept.append(old)  # what old code imports while it runs is old code too
        else:
            for namespace in (old, *self._kept):
                _forget(namespace)
            self._kept.clear()
        return [name for name in names if name not in self.failures]

    def _import(
        self,
        name: str,
        globals: Mapping[str, object] | None = None,
        locals: Mapping[str, object] | None = None,
        fromlist: Sequence[str] | None = (),
        level: int = 0,
    ) -> ModuleType:
        """Stand in for ``__import__`` inside this root's modules."""
        owner = self._owner(name, tuple(fromlist or ())) if level == 0 else None
        if owner is None:
            return self._ordinary(name, builtins.__import__(name, globals, locals, fromlist or (), level))
        full = f"{owner.namespace}.{name}"
        if fromlist:
            return builtins.__import__(full, globals, locals, fromlist, 0)
        builtins.__import__(full, globals, locals, (), 0)
        return sys.modules[f"{owner.namespace}.{name.partition('.')[0]}"]

    def _ordinary(self, name: str, module: ModuleType) -> ModuleType:
        """Return a module of others as this root's modules see it."""
        if name.startswith("multiprocessing"):
            from engine.plugins.spawning import let_plugins_spawn  # which needs this module

            let_plugins_spawn()
        return self._importlib if module is importlib else module

    @functools.cached_property
    def _importlib(self) -> ModuleType:
        return importlib_for(lambda name: owner.namespace if (owner := self._owner(name, ())) is not None else "")

    def _owner(self, name: str, fromlist: tuple[str, ...]) -> PluginRoot | None:
        """Return the root that an absolute import means, or None for Python's own look-up."""
        key = (name, fromlist)
        if key not in self._owners:
            top = name.partition(".")[0]
            mine = top not in RESERVED_NAMES and top not in sys.stdlib_module_names
            roots = (self, *self.neighbours) if mine else ()
            self._owners[key] = next((root for root in roots if root._holds(name, fromlist)), None)
        return self._owners[key]

    def _holds(self, name: str, fromlist: tuple[str, ...]) -> bool:
        top = name.partition(".")[0]
        file = self.locate(top)
        if file is not None:
            return not leads_to(top, file)
        wanted = [name, *(f"{name}.{item}" for item in fromlist)] if (self.folder / top).is_dir() else []
        return any(self.locate(module) for module in wanted) and not leads_to(top, self.folder / top)


def _forget(namespace: str) -> None:
    for name in [n for n in sys.modules if n == namespace or n.startswith(namespace + ".")]:
        del sys.modules[name]


class PluginFinder(MetaPathFinder):
    """Finds modules of plugin roots for Python's import system, and holds the roots of this process.

    Attributes
    ----------
    lock : RLock
        Held while modules are loaded.
    plugin_folders : tuple of Path
        Folders that every net of this process searches first.
    safe : bool
        Whether this process is in safe mode: nothing is taken from plugins but what is shipped with the product.
    refuses_stale : bool
        Whether a module whose reload failed is an error, instead of its old code being used.
    told : set of Path
        Plugin folders of which it was told what they lack.
    shared : SharedNames or None
        Names of shared modules before the first plugin of this process ran.
    replaced : list of str
        Those that plugins replaced and that were put back, for whoever tells it.
    """

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.plugin_folders: tuple[Path, ...] = ()
        self.safe = False
        self.refuses_stale = False
        self.told: set[Path] = set()
        self.shared: SharedNames | None = None
        self.replaced: list[str] = []
        self._roots: dict[Path, PluginRoot] = {}
        self._by_stem: dict[str, PluginRoot] = {}

    def root(self, folder: Path) -> PluginRoot:
        """Return the root of a folder; the same object every time."""
        folder = folder.resolve()
        with self.lock:
            root = self._roots.get(folder)
            if root is None:
                root = self._roots[folder] = PluginRoot(folder)
                self._by_stem[root.stem] = root
            return root

    def root_of(self, namespace: str) -> PluginRoot | None:
        """Return the root whose modules have names below ``namespace``, or None."""
        match = _NAMESPACE.fullmatch(namespace)
        return self._by_stem.get(match.group(1)) if match else None

    def roots(self) -> tuple[PluginRoot, ...]:
        """Return every root of this process."""
        return tuple(self._roots.values())

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Find a module below a root's namespace; None for every other name."""
        root = self.root_of(fullname.partition(".")[0])
        if root is None:
            return None
        if "." not in fullname:
            return _folder_spec(fullname, [str(root.folder)])
        source_loader: Any = functools.partial(_PluginLoader, root)  # FileFinder calls it as it would call a class
        details = ((source_loader, SOURCE_SUFFIXES), (ExtensionFileLoader, EXTENSION_SUFFIXES))
        portions: list[str] = []
        for entry in path or ():
            spec = FileFinder(entry, *details).find_spec(fullname)
            if spec is not None and spec.loader is not None:
                return spec
            if spec is not None:
                portions += spec.submodule_search_locations or ()
        return _folder_spec(fullname, portions) if portions else None


def _folder_spec(fullname: str, folders: list[str]) -> ModuleSpec:
    spec = ModuleSpec(fullname, None, is_package=True)
    spec.submodule_search_locations = folders
    return spec


def plugin_finder() -> PluginFinder:
    """Return the finder installed in this process's import system, installing it when there is none."""
    for finder in sys.meta_path:
        if isinstance(finder, PluginFinder):
            return finder
    finder = PluginFinder()
    sys.meta_path.insert(0, finder)
    return finder
