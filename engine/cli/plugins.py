"""``netcanvas plugins``: what plugins there are, and converting those in Python 2."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from engine.cli.output import Output
from engine.cli.tables import table
from engine.errors import FileFormatError, NetcanvasError
from engine.paths import search_folders
from engine.plugins import (
    AppliedConversion,
    PluginFolder,
    apply_conversion,
    find_plugins,
    plan_conversion,
    plugin_folders,
)
from engine.plugins.conversion import ConvertedFile
from engine.plugins.project import with_plugins_inside

__all__ = ["run"]

_HEAD = ("plugin", "version", "from", "layers", "folder")
_NONE: dict[Path, Path] = {}


def run(options: argparse.Namespace) -> int:
    """List plugins or convert them; return the exit code."""
    output = Output(quiet=options.quiet, as_json=options.json)
    return _list(options, output) if options.action == "list" else _convert(options, output)


def _list(options: argparse.Namespace, output: Output) -> int:
    """Print the plugins that nets find, and what is wrong with them; nothing of them runs."""
    if options.write:
        raise NetcanvasError("--write is for 'plugins convert'.", next_step="Leave it out.")
    nets = [_existing(place) for place in options.places] or [Path.cwd()]
    bases = [folder for net in nets for folder in search_folders(net if net.is_dir() else net.parent)]
    catalogue = find_plugins(plugin_folders(), list(dict.fromkeys(bases)))
    shown = [folder for folder in catalogue.folders if folder.layers or folder.manifest.types or folder.error]
    faults = [fault for fault in catalogue.faults if any(fault.folder == folder.path for folder in shown)]
    rows = [_HEAD, *((each.name, each.manifest.version, each.origin, _names(each), str(each.path)) for each in shown)]
    lines = table(rows, words=len(_HEAD))
    lines += [f"warning: {fault.error}" for fault in faults]
    data = {
        "plugins": [_facts(each) for each in shown],
        "faults": [
            {"plugin": each.plugin, "folder": str(each.folder), "message": each.error.message}
            | {"next_step": each.error.next_step}
            for each in faults
        ],
    }
    output.result(lines, data)
    return 0


def _names(folder: PluginFolder) -> str:
    types = [entry.type for entry in folder.manifest.types]
    classes = {entry.layer.cls for entry in folder.manifest.types}
    names = [*types, *(each.name for each in folder.layers if each.name not in classes)]
    return f"{', '.join(names[:3])} and {len(names) - 3} more" if len(names) > 4 else ", ".join(names)


def _facts(folder: PluginFolder) -> dict[str, Any]:
    return {
        "name": folder.name,
        "version": folder.manifest.version,
        "origin": folder.origin,
        "folder": str(folder.path),
        "types": [entry.type for entry in folder.manifest.types],
        "layers": [{"module": each.module, "name": each.name, "line": each.line} for each in folder.layers],
        "requires": list(folder.manifest.requires),
        "missing": [
            {"package": each.package, "wanted": each.wanted, "found": each.found or None} for each in folder.missing
        ],
    }


def _convert(options: argparse.Namespace, output: Output) -> int:
    """Print what a conversion changes; write it, with backups, only if asked to. Return 1 if a file cannot be."""
    named = [_existing(place) for place in options.places]
    places = [each for place in named for each in (with_plugins_inside(place) if place.is_dir() else [place])]
    if not places:
        raise NetcanvasError("plugins convert: expected files or folders to convert, got none.", next_step="Name one.")
    plan = plan_conversion(places)
    backups = _backups(apply_conversion(plan)) if options.write else _NONE
    lines = [line for each in plan.files if not each.error for line in each.diff.splitlines()]
    if lines or options.json:
        output.result(
            lines, {"written": bool(options.write), "files": [_outcome(each, backups) for each in plan.files]}
        )
    for each in plan.files:
        _note_file(each, backups, output)
    good = [each for each in plan.files if not each.error]
    if not plan.files:
        output.note("There is no Python 2 code.")
    elif good and not options.write:
        count = f"{len(good)} file{'s' if len(good) > 1 else ''}"
        output.note(f"This would change {count}; nothing was written. To write it, with backups, add --write.")
    for failed in plan.failures:
        output.error(f"'{failed.path}' cannot be converted: {failed.error}. Convert it by hand.")
    return 1 if plan.failures else 0


def _existing(place: Path) -> Path:
    if not place.exists():
        raise FileFormatError(f"'{place}' was not found.", next_step="Check the path.")
    return place.resolve()


def _backups(applied: AppliedConversion) -> dict[Path, Path]:
    return {path: backup for path, backup, _ in applied.files}


def _outcome(each: ConvertedFile, backups: dict[Path, Path]) -> dict[str, Any]:
    return {
        "file": str(each.path),
        "backup": str(backups[each.path]) if each.path in backups else None,
        "findings": [{"line": found.line, "what": found.what, "today": found.today} for found in each.findings],
        "divisions": list(each.divisions),
        "diff": "" if each.error else each.diff,
        "error": each.error or None,
    }


def _note_file(each: ConvertedFile, backups: dict[Path, Path], output: Output) -> None:
    if each.path in backups:
        output.note(f"Converted {each.path}; its old text is in {backups[each.path]}.")
    if each.divisions and not each.error:
        output.note(f"{each.path}: look at {_lines(each.divisions)} of the new text: '/=' may have rounded down.")


def _lines(numbers: Sequence[int]) -> str:
    return f"line{'s' if len(numbers) > 1 else ''} {', '.join(map(str, numbers))}"
