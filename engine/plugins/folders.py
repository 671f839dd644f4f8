"""Plugin folders, and what each offers, read without running any of their code."""

from __future__ import annotations

import functools
import importlib.util
import logging
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from engine.errors import NetcanvasError
from engine.plugins.manifest import MANIFEST, LayerEntry, Manifest, ManifestError, read_manifest
from engine.plugins.ordinary import file_stamp
from engine.plugins.project import project_folders, with_plugins_inside
from engine.plugins.requirements import UnmetRequirement, install_line, unmet_requirements
from engine.plugins.roots import OUR_PACKAGES, folder_refusal
from engine.plugins.scan import PLUGINS, FoundLayer, scan_folder, walk_sources
from engine.registry import layer_entry_points
from engine.resources import plugins_path, user_plugins_path
from engine.schema import SchemaFragment, read_fragment

__all__ = ["Origin", "PluginFolder", "find_folders", "read_folder"]

_log = logging.getLogger(__name__)

Origin = Literal["named", "project", "user", "path", "installed", "shipped"]


@dataclass(frozen=True, slots=True)
class PluginFolder:
    """A folder that contributes layers.

    Attributes
    ----------
    path : Path
        The folder.
    origin : str
        Where it was found: ``named`` by the user, the ``project``'s ``plugins``, the ``user``'s own folder, a folder
        on PYTHONPATH (``path``), an ``installed`` package, or ``shipped`` with the product.
    manifest : Manifest
        What it says of itself; only a name where it has no ``plugin.toml``.
    fragment : SchemaFragment or None
        What it adds to the messages.
    package : str
        Dotted name of an installed package, before the names of its modules; empty for others.
    error : NetcanvasError or None
        Why it is refused, or why its manifest or schema cannot be used. The others are not touched by it.
    refused : bool
        Whether nothing at all is taken from it.
    """

    path: Path
    origin: Origin
    manifest: Manifest
    fragment: SchemaFragment | None = None
    package: str = ""
    error: NetcanvasError | None = None
    refused: bool = False

    @property
    def layers(self) -> tuple[FoundLayer, ...]:
        """Classes in its source files that look like Python layers, as the files are now."""
        return () if self.refused else _scan(self.path, _stamps(self.path, (".py",)))

    @property
    def missing(self) -> tuple[UnmetRequirement, ...]:
        """What it requires that is not installed. Its layers are offered all the same, and may fail to load."""
        return unmet_requirements(self.manifest.requires)

    def requirement_fault(self) -> NetcanvasError | None:
        """Return what is missing as an error whose next step is the command that installs it, or None."""
        unmet = self.missing
        if not unmet:
            return None
        what = f"Plugin '{self.name}' in '{self.path}' requires {'; '.join(map(str, unmet))}."
        return NetcanvasError(what, next_step=f"Run: {install_line(unmet)}")

    @property
    def name(self) -> str:
        """Name of the plugin."""
        return self.manifest.name

    @property
    def needs_trust(self) -> bool:
        """Whether its code came with a net, so that it runs only once the user trusts the net's folder."""
        return self.origin == "project"

    def entry(self, module: str, cls: str) -> LayerEntry | None:
        """Return what the manifest says of a Python layer, or None."""
        short = module.removeprefix(f"{self.package}.") if self.package else module
        found = (each for each in self.manifest.layers if (each.module, each.cls) == (short, cls))
        return next(found, None)


def find_folders(
    plugin_paths: Sequence[Path | str] = (), base_dirs: Sequence[Path | str] = (), *, safe: bool = False
) -> Iterator[tuple[Path, Origin, str]]:
    """Yield the plugin folders in the order in which they are searched, with their origin and package.

    Parameters
    ----------
    plugin_paths : sequence of path
        Named by the user.
    base_dirs : sequence of path
        The net's folders, as :func:`engine.paths.search_folders` gives them; their ``plugins`` count.
    safe : bool
        Only what is shipped with the product.
    """
    seen: set[Path] = set()

    def new(folder: Path) -> bool:
        fresh = folder not in seen
        seen.add(folder)
        return fresh

    shipped = plugins_path().resolve()
    groups: list[tuple[Origin, list[Path]]] = []
    if not safe:
        named = [folder for path in plugin_paths for folder in with_plugins_inside(Path(path).resolve())]
        bases = [base / PLUGINS for base in project_folders(base_dirs)]
        project = [folder for base in bases if base != shipped for folder in with_plugins_inside(base)]
        groups = [("named", named), ("project", project), ("user", with_plugins_inside(user_plugins_path()))]
        groups.append(("path", [folder.resolve() for folder in _python_path() if (folder / MANIFEST).is_file()]))
    for origin, folders in groups:
        yield from ((folder, origin, "") for folder in folders if new(folder))
    if not safe:
        yield from ((folder, "installed", package) for folder, package in _installed() if new(folder))
    yield from ((folder, "shipped", "") for folder in with_plugins_inside(shipped) if new(folder))


def read_folder(path: Path, origin: Origin, package: str = "") -> PluginFolder:
    """Return what a folder offers. Nothing is raised for its faults; they are in ``error``.

    What was read is remembered until a file of the folder changes.
    """
    return _read_folder(path, origin, package, _stamps(path, (".proto", ".toml")), folder_refusal(path))


def _stamps(path: Path, endings: tuple[str, ...]) -> tuple[tuple[Path, int, int], ...]:
    return tuple((file, *file_stamp(file)) for file in walk_sources(path, endings))


@functools.lru_cache(maxsize=256)
def _scan(path: Path, _version: object) -> tuple[FoundLayer, ...]:
    return tuple(scan_folder(path))


@functools.lru_cache(maxsize=256)
def _read_folder(path: Path, origin: Origin, package: str, _version: object, refusal: str) -> PluginFolder:
    manifest, fragment = Manifest(path.name), None
    fault: NetcanvasError | None = None
    try:
        manifest = read_manifest(path) or manifest
        fragment = _fragment(manifest)
    except NetcanvasError as error:
        fault = error
    if refusal:
        step = "Rename the module, and where it is imported."
        fault = ManifestError(f"Plugin folder '{path}' is refused: {refusal}.", next_step=step)
    if fault is not None:
        _log.warning("%s", fault)
    return PluginFolder(path, origin, manifest, fragment, package, fault, bool(refusal))


def _fragment(manifest: Manifest) -> SchemaFragment | None:
    fields = [(each.type, each.param_fields) for each in manifest.types if each.param_fields]
    if not manifest.schema_files and not fields:
        return None
    types = [*(each.type for each in manifest.types), *manifest.extends]
    return read_fragment(manifest.name, manifest.schema_files, fields, types)


def _python_path() -> list[Path]:
    """Return the folders that the user put on PYTHONPATH; our own place is none of them."""
    ours = str(Path(__file__).resolve().parent.parent.parent)
    return [Path(entry) for entry in os.environ.get("PYTHONPATH", "").split(os.pathsep) if entry and entry != ours]


def _installed() -> Iterator[tuple[Path, str]]:
    """Yield folder and name of each package that an entry point names; nothing of it is imported."""
    for entry in layer_entry_points():
        top, _, rest = entry.module.partition(".")
        if top in OUR_PACKAGES:
            continue
        try:
            spec = importlib.util.find_spec(top)
        except (ImportError, ValueError):
            spec = None
        places = spec.submodule_search_locations if spec is not None else None
        folder = Path(places[0], *rest.split(".")) if places else None
        if folder is None or not folder.is_dir():
            _log.warning("Entry point '%s' names '%s', which is no package of layers.", entry.name, entry.value)
        else:
            yield folder.resolve(), entry.module
