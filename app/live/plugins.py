"""The plugins that an open net may use, found off the window's thread."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from app.layerpicture import LayerPicture, PictureError, read_picture
from app.theme import Theme
from engine.paths import search_folders
from engine.prototxt import unquote

if TYPE_CHECKING:
    from app.document import Document
    from engine.graph import Node, NodeId, OpGraph
    from engine.plugins import ParamStrSchema, PluginFolder, PythonLayerInfo
    from engine.registry import LayerInfo, LayerRegistry

__all__ = ["LivePlugins", "python_name"]

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Found:
    folders: tuple[PluginFolder, ...]
    python_layers: dict[tuple[str, str], PythonLayerInfo]
    infos: tuple[LayerInfo, ...]
    loose: tuple[Path, ...]
    foreign: frozenset[str]
    missing: frozenset[str]
    pictures: Mapping[str, LayerPicture]
    picture_faults: Mapping[str, PictureError]


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
    serial : int
        Another number whenever something is offered, known or trusted that was not before.
    asked : bool
        Whether the user was asked to trust the document's folder.
    foreign : frozenset of str
        Modules that the net names and whose code came with the net.
    missing : frozenset of str
        Modules that the net names and that are nowhere.
    pictures : mapping of str to LayerPicture
        Pictures of layers, by their paths.
    picture_faults : mapping of str to PictureError
        Why others cannot be shown, by their paths.
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
        self.missing: frozenset[str] = frozenset()
        self.asked = False
        self.pictures: Mapping[str, LayerPicture] = {}
        self.picture_faults: Mapping[str, PictureError] = {}
        self.serial = 0
        self._shown: tuple[_Found, bool] | None = None
        self._named: frozenset[str] | None = None
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

    def info_of(self, node: Node) -> LayerInfo | None:
        """Return what is known of a layer: of a Python layer, what its plugin says of the class."""
        known = self._document.registry.info(node.type)
        if node.type != "Python" or node.virtual:
            return known
        layer = self.python_layers.get(python_name(self._document.graph, node.id))
        if layer is None or known is None:
            return known
        has_look = Theme.current().category_key(layer.info.category) not in ("other", "python")
        return replace(layer.info, category=layer.info.category if has_look else known.category)

    def waits_for_trust(self, node: Node) -> bool:
        """Whether the code of a layer came with the net and does not run before the user trusts its folder."""
        document = self._document
        if document.live.trusted or document.path is None or node.virtual:
            return False
        if node.type == "Python":
            return python_name(document.graph, node.id)[0] in self.foreign
        info = document.registry.info(node.type)
        return info is not None and info.needs_trust

    def code_state(self, node: Node) -> str:
        """Return in a few words that the code of a layer does not run, or an empty text."""
        if node.type == "Python" and python_name(self._document.graph, node.id)[0] in self.missing:
            return "code not found"
        return "code not run" if self.waits_for_trust(node) else ""

    def waiting(self) -> list[NodeId]:
        """Return the layers for which :meth:`waits_for_trust` holds."""
        if self._document.live.trusted or self._document.path is None:
            return []
        graph = self._document.graph
        readings = graph.readings()
        registry = self._document.registry
        kinds = {each.type for each in readings.values()}
        foreign = {kind for kind in kinds if (info := registry.info(kind)) is not None and info.needs_trust}
        foreign.add("Python")
        return [
            node
            for node in graph.node_ids()
            if readings[node].type in foreign and self.waits_for_trust(graph.node(node))
        ]

    def graph_changed(self, touched: Iterable[NodeId]) -> None:
        """Look again when layers that were added or changed name other modules than before."""
        graph = self._document.graph
        readings = graph.readings()
        if not any(readings[node_id].type == "Python" for node_id in touched if node_id in readings):
            return
        if self._named is not None and _modules(graph) != self._named:
            self.find()

    def picture_of(self, info: LayerInfo | None) -> LayerPicture | None:
        """Return the picture of a layer, or None where it has none that can be shown."""
        return self.pictures.get(info.icon) if info is not None and info.icon else None

    def find(self) -> None:
        """Look what there is; what comes of it is told later."""
        document, paths = self._document, self.paths
        base_dirs = search_folders(document.path.parent if document.path else None)
        trusted, pictures = document.live.trusted, self.pictures
        self._named = named = _modules(document.graph)

        def work() -> tuple[_Found, LayerRegistry]:
            return _find(paths, base_dirs, named, trusted, pictures)

        document.jobs.submit("plugins", work, self._take)

    def _take(self, result: tuple[_Found, LayerRegistry]) -> None:
        found, registry = result
        changed = (found.folders, found.infos) != (self.folders, self._infos)
        self.folders, self.python_layers = found.folders, found.python_layers
        self._infos, self.loose = found.infos, found.loose
        self.foreign, self.missing = found.foreign, found.missing
        self._take_pictures(found)
        shown = (found, self._document.live.trusted)
        if shown != self._shown:
            self._shown = shown
            self.serial += 1
        if changed:
            self._took(registry)
        self._looked()

    def _take_pictures(self, found: _Found) -> None:
        told = {str(error) for error in self.picture_faults.values()}
        self.pictures, self.picture_faults = found.pictures, found.picture_faults
        for error in self.picture_faults.values():
            if str(error) not in told:
                _log.warning("%s", error)


def python_name(graph: OpGraph, node: NodeId) -> tuple[str, str]:
    """Return the module and the class that a Python layer names; empty texts for what it does not."""
    module, name = (graph.value(node, ("python_param", field)) for field in ("module", "layer"))
    return unquote(module or '""'), unquote(name or '""')


def _modules(graph: OpGraph) -> frozenset[str]:
    """Return the modules that the Python layers of a net name."""
    python = [node for node, read in graph.readings().items() if read.type == "Python" and read.field is not None]
    return frozenset(python_name(graph, node)[0] for node in python) - {""}


def _find(
    paths: Sequence[Path],
    base_dirs: Sequence[Path],
    named: Set[str],
    trusted: bool,
    pictures: Mapping[str, LayerPicture],
) -> tuple[_Found, LayerRegistry]:
    from engine.plugins import find_plugins, is_safe_mode
    from engine.plugins.catalogue import loose_layers
    from engine.plugins.provenance import is_missing, module_file, runs_without_trust
    from engine.registry import default_registry

    safe = is_safe_mode()
    catalogue = find_plugins(paths, base_dirs, safe=safe)
    registry = default_registry(base_dirs, paths, trusted=trusted)
    python_layers = {(each.module, each.name): each for each in catalogue.python_layers}
    inside = [folder.path for folder in catalogue.folders]
    files = {module: module_file(module, paths, base_dirs) for module in sorted(named)}
    beside = {
        module: file
        for module, file in files.items()
        if file is not None and not safe and not any(place in file.parents for place in inside)
    }
    for each in (layer for module, file in beside.items() for layer in loose_layers(module, file)):
        python_layers.setdefault((each.module, each.name), each)
    loose = tuple(dict.fromkeys(beside.values()))
    missing = frozenset(module for module in named if is_missing(module, paths, base_dirs))
    foreign = frozenset(module for module in named - missing if not runs_without_trust(module, paths, base_dirs))
    infos = registry.infos()
    wanted = {info.icon for info in (*infos, *(each.info for each in python_layers.values()))} - {""}
    known = _read(wanted, pictures)
    return _Found(catalogue.folders, python_layers, infos, loose, foreign, missing, *known), registry


def _read(
    wanted: Iterable[str], known: Mapping[str, LayerPicture]
) -> tuple[dict[str, LayerPicture], dict[str, PictureError]]:
    """Read the pictures whose files are not as they were."""
    from engine.plugins.ordinary import file_stamp

    found: dict[str, LayerPicture] = {}
    faults: dict[str, PictureError] = {}
    for path in sorted(wanted):
        kept = known.get(path)
        if kept is not None and kept.stamp == file_stamp(Path(path)):
            found[path] = kept
            continue
        try:
            found[path] = read_picture(Path(path))
        except PictureError as error:
            faults[path] = error
    return found, faults
