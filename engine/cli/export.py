"""``netcanvas export``."""

from __future__ import annotations

import argparse
from pathlib import Path

from engine.cli.output import Output
from engine.export import export_net, guess_kind

__all__ = ["run"]


def run(options: argparse.Namespace) -> int:
    """Write a net as a file of another kind; return the exit code."""
    source: Path = options.file
    target: Path = options.out
    kind = guess_kind(target, options.to)
    export_net(source, target, kind)
    Output.note(f"Wrote {target}: {kind.summary}.")
    return 0
