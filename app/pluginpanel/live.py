"""The plugins that an open net may use, found off the window's thread."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence, Set
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from engine.paths import search_folders
from engine.prototxt import unquote

if TYPE_CHECKING:
    from app.document import Document
    from engine.graph import NodeId, OpGraph
    from engine.plugins import ParamStrSchema, PluginFolder, PythonLayerInfo
    from engine.registry import LayerInfo, LayerRegistry

__all__ = ["LivePlugins", "python_name"]


@dataclass(frozen=True, slots=True)
class _Found:
    folders: tuple[PluginFolder, ...]
    python_layers: dict[tuple[str, str], PythonLayerInfo]
    infos: tuple[LayerInfo, ...]
    loose: tuple[Path, ...]
    foreign: frozenset[str]


class LivePlugins:
    """What plugins offer to one document. Their text is read; none of their code runs here.

    Parameters
    ----------
    document : Document
        Whose folder is looked at.
    took : callable
        Called with the new registry when plugins offer something else than before.
    looked : callable
        Called after every look.

    Attributes
    ----------
    paths : tuple of Path
        Plugin folders that the user named and trusts.
    folders : tuple of PluginFolder
        All that were found, faulty ones too, in the order in which they are searched.
    python_layers : dict
        Python layers by module and class.
    loose : tuple of Path
        Files of Python layers that the net names and that lie in no plugin folder.
    asked : bool
        Whether the user was asked to trust the document's folder.
    foreign : frozenset of str
        Modules that the net names and whose code, if there is any, came with the net.
    """

    def __init__(
        self, document: Document, took: Callable[[LayerRegistry], object], looked: Callable[[], object]
    ) -> None:
        self._document = document
        self._took = took
        self._looked = looked
        self.paths: tuple[Path, ...] = ()
        self.folders: tuple[PluginFolder, ...] = ()
        self.python_layers: dict[tuple[str, str], PythonLayerInfo] = {}
        self.loose: tuple[Path, ...] = ()
        self.foreign: frozenset[str] = frozenset()
        self.asked = False
        self._infos: tuple[LayerInfo, ...] | None = None

    @property
    def param_schemas(self) -> dict[tuple[str, str], ParamStrSchema]:
        """What the ``param_str`` of Python layers may hold, where their plugins say so."""
        return {key: each.param_str for key, each in self.python_layers.items() if each.param_str is not None}

    def use(self, paths: Iterable[Path]) -> bool:
        """Take these folders as those that the user named and trusts; return whether they are others than before."""
        wanted = tuple(dict.fromkeys(paths))
        changed = wanted != self.paths
        self.paths = wanted
        return changed

    def find(self) -> None:
        """Look what there is; what comes of it is told later."""
        document, paths = self._document, self.paths
        base_dirs = search_folders(document.path.parent if document.path else None)
        graph, trusted = document.graph, document.live.trusted
        python = [node.id for node in graph.nodes() if node.type == "Python" and not node.virtual]
        named = {python_name(graph, node)[0] for node in python} - {""}

        def work() -> tuple[_Found, LayerRegistry]:
            return _find(paths, base_dirs, named, trusted)

        document.jobs.submit("plugins", work, self._take)

    def _take(self, result: tuple[_Found, LayerRegistry]) -> None:
        found, registry = result
        changed = (found.folders, found.infos) != (self.folders, self._infos)
        self.folders, self.python_layers = found.folders, found.python_layers
        self._infos, self.loose, self.foreign = found.infos, found.loose, found.foreign
        if changed:
            self._took(registry)
        self._looked()


def python_name(graph: OpGraph, node: NodeId) -> tuple[str, str]:
    """Return the module and the class that a Python layer names; empty texts for what it does not."""
    module, name = (graph.value(node, ("python_param", field)) for field in ("module", "layer"))
    return unquote(module or '""'), unquote(name or '""')


def _find(
    paths: Sequence[Path], base_dirs: Sequence[Path], named: Set[str], trusted: bool
) -> tuple[_Found, LayerRegistry]:
    from engine.plugins import find_plugins, is_safe_mode
    from engine.plugins.provenance import module_file, runs_without_trust
    from engine.registry import default_registry

    safe = is_safe_mode()
    catalogue = find_plugins(paths, base_dirs, safe=safe)
    registry = default_registry(base_dirs, paths, trusted=trusted)
    python_layers = {(each.module, each.name): each for each in catalogue.python_layers}
    inside = [folder.path for folder in catalogue.folders]
    files = (module_file(module, paths, base_dirs) for module in sorted(named))
    loose = tuple(file for file in files if file is not None and not any(place in file.parents for place in inside))
    foreign = frozenset(module for module in named if not runs_without_trust(module, paths, base_dirs))
    return _Found(catalogue.folders, python_layers, registry.infos(), loose, foreign), registry
