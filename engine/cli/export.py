"""``netcanvas export``."""

from __future__ import annotations

import argparse
from pathlib import Path

from engine.cli.output import Output
from engine.cli.viewing import chosen_views
from engine.errors import NetcanvasError
from engine.export import export_net, guess_kind

__all__ = ["run"]


def run(options: argparse.Namespace) -> int:
    """Write a net as a file of another kind; return the exit code."""
    source: Path = options.file
    target: Path = options.out
    kind = guess_kind(target, options.to)
    views = chosen_views(options)
    if len(views) > 1:
        raise NetcanvasError("Stages or a level alone do not tell which net to export.", next_step="Add --phase.")
    export_net(source, target, kind, *views)
    Output(quiet=options.quiet).note(f"Wrote {target}: {kind.summary}.")
    return 0
