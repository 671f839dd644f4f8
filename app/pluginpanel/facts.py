"""What the list of plugins says of one of them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from app.pluginpanel.sheets import error_text

if TYPE_CHECKING:
    from app.window.pluginflow import PluginFlow
    from engine.plugins import PluginFolder

__all__ = ["PluginFacts", "plugin_facts"]

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
    """

    folder: PluginFolder
    state: str
    severity: str
    names: tuple[str, ...]
    error: str
    trusted: bool
    can_trust: bool
    is_python2: bool

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

    @property
    def whence(self) -> str:
        """Where it was found."""
        return _ORIGINS[self.folder.origin]

    @property
    def is_place(self) -> bool:
        """Whether it is a place for plugin folders, with nothing in itself."""
        return not self.folder.layers and not self.folder.manifest.types


def plugin_facts(folder: PluginFolder, flow: PluginFlow) -> PluginFacts:
    """Return what is known of a plugin folder; nothing of it runs for that."""
    types = {(entry.layer.module, entry.layer.cls) for entry in folder.manifest.types}
    layers = folder.layers
    names = [entry.type for entry in folder.manifest.types]
    names += [each.name for each in layers if (each.module, each.name) not in types]
    errors = [] if folder.error is None else [error_text(folder.error)]
    errors += [f"It requires {name}, which is not installed." for name in folder.missing]
    listing = flow.listings.get(folder.path)
    failed = () if listing is None else listing.failures
    errors += [f"Module {each.module}\n{error_text(each.error)}" for each in failed]
    errors += list(listing.warnings) if listing is not None else []
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
    )


def _state(folder: PluginFolder, flow: PluginFlow, trusted: bool, *, broken: bool, doubtful: bool) -> tuple[str, str]:
    if folder.refused:
        return "refused", "error"
    if flow.is_safe and folder.origin != "shipped":
        return "off: safe mode", "warning"
    if not trusted:
        return "not trusted", "warning"
    if folder.error is not None or broken:
        return "has errors", "error"
    return ("has warnings", "warning") if doubtful else ("ready", "")
