"""``netcanvas export``."""

from __future__ import annotations

import argparse
from pathlib import Path

from engine.cli.output import Output
from engine.cli.viewing import chosen_views
from engine.errors import NetcanvasError
from engine.export import export_net, guess_kind
from engine.graph import DEPLOY

__all__ = ["run"]


def run(options: argparse.Namespace) -> int:
    """Write a net as a file of another kind; return the exit code."""
    source: Path = options.file
    target: Path = options.out
    kind = guess_kind(target, options.to)
    views = chosen_views(options)
    if len(views) > 1:
        raise NetcanvasError("Stages or a level alone do not tell which net to export.", next_step="Add --phase.")
    view = views[0] if views else None
    if options.input_shape and (view is None or view.show != DEPLOY):
        raise NetcanvasError("--input-shape is for deploy nets.", next_step="Add --phase deploy, or leave it out.")
    output = Output(quiet=options.quiet)
    for changed in export_net(source, target, kind, view, options.input_shape):
        output.note(changed)
    output.note(f"Wrote {target}: {kind.summary if view is None or view.show != DEPLOY else 'the net that predicts'}.")
    return 0
