"""Where Python layers are looked for, and how a class is loaded from there."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import logging
import os
import stat
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from engine.faults import is_fault
from engine.layer import Layer
from engine.operators import is_operator
from engine.plugins import failures
from engine.plugins.ordinary import import_ordinary
from engine.plugins.roots import (
    RESERVED_NAMES,
    PluginFinder,
    PluginRoot,
    folder_refusal,
    plugin_finder,
)
from engine.plugins.scan import PLUGINS
from engine.plugins.tracebacks import place_of
from engine.resources import plugins_path, user_plugins_path

__all__ = ["FunctionCode", "LoadedModule", "PluginProject", "search_order"]

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class LoadedModule:
    """A module of Python layers that is in use.

    Attributes
    ----------
    name : str
        As the net's ``module`` field spells it.
    file : Path or None
        The file actually used; None for a module that has none.
    module : module
        The module itself.
    """

    name: str
    file: Path | None
    module: ModuleType


@dataclass(frozen=True, slots=True)
class FunctionCode:
    """A function that is a layer, with its module and its name there."""

    function: Callable[..., Any]
    module: ModuleType
    name: str


def with_plugins_inside(folder: Path) -> list[Path]:
    """Return a folder of plugin folders followed by these."""
    try:
        children = list(folder.iterdir())
    except OSError:  # none there, or not for us to read
        return []
    inside = sorted(child for child in children if not child.name.startswith((".", "_")) and child.is_dir())
    return [folder, *inside]


def project_folders(base_dirs: Sequence[Path | str]) -> list[Path]:
    """Return the folders that may be a net's project: its base folders, but no ancestor that everyone may write to.

    Trust in a net below ``/tmp`` is none in whatever somebody else puts into ``/tmp/plugins``.
    """
    bases = [Path(base).resolve() for base in base_dirs]
    near = _near(bases)
    return [base for base in bases if base in near or not _is_public(base)]


def _near(bases: Sequence[Path]) -> list[Path]:
    """Return the base folders that are no ancestors of an earlier one: the working directory and the net's folder."""
    return [base for index, base in enumerate(bases) if not any(base in b.parents for b in bases[:index])]


def _is_public(folder: Path) -> bool:
    try:
        return os.name == "posix" and bool(folder.stat().st_mode & stat.S_IWOTH)
    except OSError:
        return True


def search_order(
    plugin_paths: Sequence[Path | str] = (), base_dirs: Sequence[Path | str] = ()
) -> tuple[tuple[Path, ...], tuple[Path, ...]]:
    """Return the folders to search before and after ``sys.path``.

    Parameters
    ----------
    plugin_paths : sequence of path
        Plugin folders named by the user; the folders in them are plugin folders too.
    base_dirs : sequence of path
        The net's folders as :func:`engine.paths.search_folders` gives them. A ``plugins`` folder in any of them counts.

    Returns
    -------
    before, after : tuple of Path
        ``before``: the plugin folders, the project's ``plugins``, the working directory, the net's own folder and the
        user's own plugins; not the plugin folders that :func:`~engine.plugins.roots.folder_refusal` refuses.
        ``after``: the plugins shipped with the product, then the net folder's ancestors, which are no place for
        modules but are searched before giving up.
    """
    bases = project_folders(base_dirs)
    before = [folder for folder in _named_and_project(plugin_paths, bases) if not folder_refusal(folder)]
    own = [folder for folder in with_plugins_inside(user_plugins_path()) if not folder_refusal(folder)]
    near = _near(bases)
    before += [*near, *own]
    after = [*with_plugins_inside(plugins_path().resolve()), *(base for base in bases if base not in near)]
    first = dict.fromkeys(before)
    return tuple(first), tuple(folder for folder in dict.fromkeys(after) if folder not in first)


def _named_and_project(plugin_paths: Sequence[Path | str], bases: Sequence[Path]) -> list[Path]:
    """Return the plugin folders that the user named and those of the project, refused ones too."""
    shipped = plugins_path().resolve()
    places = [*(Path(path).resolve() for path in plugin_paths), *(base / PLUGINS for base in bases)]
    return [folder for place in places if place != shipped for folder in with_plugins_inside(place)]


class PluginProject:
    """The Python layers that a net can name.

    Code is shared between projects folder by folder: the modules of one folder are loaded once in a process.

    Parameters
    ----------
    plugin_paths, base_dirs : sequence of path
        See :func:`search_order`.
    finder : PluginFinder, optional
        Holder of the loaded modules; this process's own when omitted.
    """

    def __init__(
        self,
        plugin_paths: Sequence[Path | str] = (),
        base_dirs: Sequence[Path | str] = (),
        *,
        finder: PluginFinder | None = None,
    ) -> None:
        self.finder = finder or plugin_finder()
        self.before, self.after = search_order(plugin_paths, base_dirs)
        self._candidates = _named_and_project(plugin_paths, project_folders(base_dirs))

    @property
    def folders(self) -> tuple[Path, ...]:
        """Every folder that is searched beside ``sys.path``, in order."""
        return self.before + self.after

    def load_class(self, module: str, name: str, *, layer: str = "") -> type[Layer]:
        """Return the layer class that a net names; see :meth:`load_code`."""
        code = self._load_code(module, name, layer, operators=False)
        assert not isinstance(code, FunctionCode)
        return code

    def load_code(self, module: str, name: str, *, layer: str = "") -> type[Layer] | FunctionCode:
        """Return the layer class that a net names, or the function that is one.

        Parameters
        ----------
        module : str
            Dotted name of the module, as in ``python_param { module: 'rpn.anchor_target_layer' }``.
        name : str
            Name of the class in it.
        layer : str
            Name of the layer, for messages.

        Raises
        ------
        PluginLoadError
            The module is not there, cannot be imported, or lacks the class; ``kind`` says which.
        """
        return self._load_code(module, name, layer, operators=True)

    def _load_code(self, module: str, name: str, layer: str, *, operators: bool) -> type[Layer] | FunctionCode:
        if not module or not name:
            raise failures.PluginLoadError(
                layer,
                f"expected python_param with module and layer, got module '{module}' and layer '{name}'.",
                kind="not-named",
                next_step="Name the Python module and the class in it.",
            )
        loaded = self.load_module(module, layer=layer)
        value = getattr(loaded.module, name, None)
        if inspect.isclass(value) and issubclass(value, Layer):
            make: type[Layer] | FunctionCode = value
        elif operators and is_operator(value):
            make = FunctionCode(value, loaded.module, name)
        else:
            raise failures.class_missing(layer, loaded.module, module, name, loaded.file)
        _log.info("Layer '%s' is %s from %s", layer, name, loaded.file or module)
        return make

    def load_module(self, module: str, *, layer: str = "") -> LoadedModule:
        """Import the module ``module`` from the first place that has it.

        Raises
        ------
        PluginLoadError
            See :meth:`load_code`.
        """
        from engine.compat import install  # plugins say "import caffe"; compat is above this package

        install()
        if module.partition(".")[0] in RESERVED_NAMES:
            raise failures.PluginLoadError(
                layer,
                f"module '{module}': the name '{module.partition('.')[0]}' is taken by the product itself.",
                kind="module-missing",
                next_step="Rename the module.",
            )
        with self.finder.lock:
            found = self.find(module)
            if self.finder.refuses_stale and (stale := self.failure_of(module, layer=layer)) is not None:
                raise stale
            if isinstance(found, PluginRoot):
                return self._load_from(found, module, layer)
            if found is None:
                refused = {folder: why for folder in self._candidates if (why := folder_refusal(folder))}
                raise failures.module_missing(layer, module, self.folders, self._known_modules(module), refused)
            try:
                loaded = import_ordinary(module)
            except BaseException as error:
                if not is_fault(error):
                    raise
                raise failures.import_failed(layer, module, found, error) from error
            return LoadedModule(module, found, loaded)

    def find(self, module: str) -> PluginRoot | Path | None:
        """Return the root that holds the module, or the file where Python's own look-up finds it, or None."""
        for folder in self.before:
            root = self.finder.root(folder)
            if root.locate(module):
                return root
        ordinary = _ordinary_file(module)
        if ordinary is not None:
            return ordinary
        return next((root for root in map(self.finder.root, self.after) if root.locate(module)), None)

    def file_of(self, module: str) -> Path | None:
        """Return the file that the name ``module`` means here; nothing is imported from plugin folders."""
        found = self.find(module)
        return found.locate(module) if isinstance(found, PluginRoot) else found

    def changed_files(self) -> list[Path]:
        """Return the plugin files in use that were edited since they were loaded."""
        return [path for root in self._roots() for path in root.changed_files()]

    def reload(self, *, layer: str = "") -> list[Path]:
        """Load the project's plugin modules from their sources again.

        Nets built before keep the classes they have; build them anew to use the new ones. A module that fails keeps
        its old code, and no other module is touched by that.

        Returns
        -------
        list of Path
            Files actually used.

        Raises
        ------
        PluginLoadError
            Of the first module that could not be loaded; :meth:`failure_of` tells each.
        """
        files: list[Path] = []
        failed: list[PluginRoot] = []
        with self.finder.lock:
            for root in self._roots():
                names = root.reload()
                files += [path for path in map(root.locate, names) if path is not None]
                if root.failures:
                    failed.append(root)
        for root in failed:
            error = next(iter(root.failures.values()))
            raise self._reload_error(root, error, layer) from error
        return files

    def failure_of(self, module: str, *, layer: str = "") -> failures.PluginLoadError | None:
        """Return why the last reload could not load a module, whose old code is in use, or None."""
        found = self.find(module)
        if not isinstance(found, PluginRoot) or module not in found.failures:
            return None
        return self._reload_error(found, found.failures[module], layer)

    @staticmethod
    def _reload_error(root: PluginRoot, error: BaseException, layer: str) -> failures.PluginLoadError:
        file = _failing_file(root, error)
        return failures.import_failed(layer, file.stem if file else root.folder.name, file, error)

    def _load_from(self, root: PluginRoot, module: str, layer: str) -> LoadedModule:
        for other in self._roots():
            if other is not root and other not in root.neighbours:
                root.neighbours.append(other)
        file = root.locate(module)
        try:
            return LoadedModule(module, file, root.load(module))
        except BaseException as error:
            if not is_fault(error):
                raise
            raise failures.import_failed(layer, module, file, error) from error

    def _roots(self) -> list[PluginRoot]:
        return [self.finder.root(folder) for folder in self.folders]

    def _known_modules(self, module: str) -> Iterable[str]:
        """Yield the modules beside the places where ``module`` could be."""
        package = module.rpartition(".")[0]
        for folder in self.folders:
            place = folder / package.replace(".", "/") if package else folder
            for path in place.glob("*.py") if place.is_dir() else ():
                yield f"{package}.{path.stem}" if package else path.stem


def _ordinary_file(module: str) -> Path | None:
    """Return where Python's own look-up finds a module, without importing more than its parent packages."""
    present = sys.modules.get(module)
    if present is not None:
        return Path(getattr(present, "__file__", None) or module)
    try:
        spec = importlib.util.find_spec(module)
    except (ImportError, ValueError):
        return None
    return Path(spec.origin or module) if spec is not None and spec.loader is not None else None


def _failing_file(root: PluginRoot, error: BaseException) -> Path | None:
    place, _ = place_of(error, [root.folder])
    return Path(place) if place else None
