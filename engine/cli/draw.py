"""``netcanvas draw``: the application's to do; it is found by its entry point, for the engine knows no application."""

from __future__ import annotations

import argparse
import importlib
from importlib.metadata import entry_points
from typing import Any

from engine.cli.output import Output
from engine.cli.viewing import view_of
from engine.errors import NetcanvasError
from engine.graph import View

__all__ = ["run"]

_GROUP, _NAME = "netcanvas.commands", "draw"
_BESIDE = "app.draw"  # in a checkout that was installed before the entry point was there


def run(options: argparse.Namespace) -> int:
    """Draw a net; return 0."""
    asked = options.phase is not None or options.stage or options.level
    view = view_of(options, options.phase or "test") if asked else View()
    line = _drawer()(options, view)
    Output(quiet=options.quiet, as_json=False).result([line], {})
    return 0


def _drawer() -> Any:
    for point in entry_points(group=_GROUP):
        if point.name == _NAME:
            return point.load()
    try:
        return importlib.import_module(_BESIDE).draw
    except ImportError as error:
        raise NetcanvasError(
            f"Pictures are drawn by the application, which cannot be loaded: {error}.",
            next_step="Install Netcanvas with its application.",
        ) from error
