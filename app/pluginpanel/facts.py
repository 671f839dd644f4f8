"""What the list of plugins says of one of them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from app.live.plugins import python_name
from app.pluginpanel.sheets import error_text, place_in

if TYPE_CHECKING:
    from app.document import Document
    from app.pluginpanel.serving import PluginService
    from engine.plugins import PluginFolder

__all__ = ["PluginFacts", "all_facts", "plugin_facts"]

_ORIGINS = {
    "named": "Named by you",
    "project": "In this net's project",
    "user": "In your own plugins",
    "path": "On PYTHONPATH",
    "installed": "Installed",
    "shipped": "Comes with Netcanvas",
}


@dataclass(frozen=True, slots=True)
class PluginFacts:
    """One plugin as the list shows it.

    Attributes
    ----------
    folder : PluginFolder
    state : str
        In a few words.
    severity : str
        ``error``, ``warning`` or empty.
    names : tuple of str
        Its layers.
    error : str
        All that is wrong, with tracebacks.
    trusted, can_trust : bool
        Whether its code may run, and whether that is for the user to say.
    is_python2 : bool
        Whether a conversion can be offered.
    whence : str
        Where it was found.
    code : (Path, int) or None
        File and line at which its code is shown.
    sources : tuple of Path
        What a conversion reads.
    """

    folder: PluginFolder
    state: str
    severity: str
    names: tuple[str, ...]
    error: str
    trusted: bool
    can_trust: bool
    is_python2: bool
    whence: str
    code: tuple[Path, int] | None
    sources: tuple[Path, ...]

    @property
    def path(self) -> Path:
        """The folder."""
        return self.folder.path

    @property
    def name(self) -> str:
        """Name of the plugin."""
        return self.folder.name

    @property
    def version(self) -> str:
        """Its version, where it says one."""
        return self.folder.manifest.version

    @property
    def summary(self) -> str:
        """What it says of itself."""
        return self.folder.manifest.summary


def all_facts(document: Document, flow: PluginService) -> list[PluginFacts]:
    """Return what is known of the plugins that a net may use, and of files of layers in no plugin folder."""
    facts = [plugin_facts(each, flow) for each in document.live.plugins.folders]
    found = [each for each in facts if each.names or each.error]  # others are only places for plugin folders
    return [*_loose_facts(document, flow), *found]


def plugin_facts(folder: PluginFolder, flow: PluginService) -> PluginFacts:
    """Return what is known of a plugin folder; nothing of it runs for that."""
    types = {(entry.layer.module, entry.layer.cls) for entry in folder.manifest.types}
    layers = folder.layers
    names = [entry.type for entry in folder.manifest.types]
    names += [each.name for each in layers if (each.module, each.name) not in types]
    errors = [] if folder.error is None else [error_text(folder.error)]
    errors += [f"It requires {unmet}." for unmet in folder.missing]
    listing = flow.listings.get(folder.path)
    failed = () if listing is None else listing.failures
    errors += [f"Module {each.module}\n{error_text(each.error)}" for each in failed]
    errors += list(listing.warnings) if listing is not None else []
    faults = flow.document.live.plugins.picture_faults
    errors += [f"{faults[path]} Its category's icon is shown." for path in _pictures(folder) if path in faults]
    unparsed = sorted({each.file.name for each in layers if not each.parses})
    if unparsed and not failed:
        errors.append(f"Not valid Python 3: {', '.join(unparsed)}.")
    trusted = flow.may_run(folder)
    state, severity = _state(folder, flow, trusted, broken=bool(failed or unparsed), doubtful=bool(errors))
    return PluginFacts(
        folder=folder,
        state=state,
        severity=severity,
        names=tuple(dict.fromkeys(names)),
        error="\n\n".join(errors),
        trusted=trusted,
        can_trust=folder.origin in ("named", "project") and not flow.is_safe and not folder.refused,
        is_python2=bool(unparsed) or any("Python 2" in str(each.error) for each in failed),
        whence=_ORIGINS[folder.origin],
        code=(layers[0].file, layers[0].line) if layers else None,
        sources=(folder.path,),
    )


def _loose_facts(document: Document, flow: PluginService) -> list[PluginFacts]:
    """Return what is known of the files that a net names and that lie in no plugin folder, as one entry."""
    from engine.plugins import PluginFolder
    from engine.plugins.manifest import Manifest

    live, path = document.live, document.path
    files = live.plugins.loose
    if not files:
        return []
    place = path.parent if path is not None else Path.cwd()
    folder = PluginFolder(place, "project", Manifest(place.name, summary=", ".join(file.name for file in files)))
    python = [node.id for node in document.graph.nodes() if node.type == "Python" and not node.virtual]
    named = {node: python_name(document.graph, node) for node in python}
    names = [name for module, name in named.values() if module in live.plugins.foreign]
    shapes = [live.shapes[node] for node in named if node in live.shapes]
    wrong = [each.error for each in shapes if each.error is not None and Path(place_in(each.error)[0]) in files]
    errors = list(dict.fromkeys(map(error_text, wrong)))
    state, severity = _state(folder, flow, flow.may_run(folder), broken=bool(errors), doubtful=False)
    fact = PluginFacts(
        folder=folder,
        state=state,
        severity=severity,
        names=tuple(dict.fromkeys(names)),
        error="\n\n".join(errors),
        trusted=flow.may_run(folder),
        can_trust=path is not None and not flow.is_safe,
        is_python2=any("Python 2" in error for error in errors),
        whence="Files beside this net",
        code=(files[0], 0),
        sources=files,
    )
    return [fact]


def _pictures(folder: PluginFolder) -> tuple[str, ...]:
    """Return the paths of the pictures that a plugin names."""
    manifest = folder.manifest
    named = (manifest.icon, *(each.layer.icon for each in manifest.types), *(each.icon for each in manifest.layers))
    return tuple(dict.fromkeys(path for path in named if path))


def _state(
    folder: PluginFolder, flow: PluginService, trusted: bool, *, broken: bool, doubtful: bool
) -> tuple[str, str]:
    if folder.refused:
        return "refused", "error"
    if flow.is_safe and folder.origin != "shipped":
        return "off: safe mode", "warning"
    if not trusted:
        return "not trusted", "warning"
    if folder.error is not None or broken:
        return "has errors", "error"
    return ("has warnings", "warning") if doubtful else ("ready", "")
