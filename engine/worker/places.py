"""Where the runs of a net lie."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from engine.resources import resource_path, user_data_path

__all__ = ["run_parents"]


def run_parents(net: Path | None) -> tuple[Path, ...]:
    """Return the folders that hold the runs of a net file; new ones go into the first.

    Runs lie beside the net, or in the user's own folder where the net's folder belongs to somebody else or to the
    program.
    """
    if net is None:
        return (user_data_path() / "runs" / "untitled",)
    mark = hashlib.sha256(os.fsencode(net)).hexdigest()[:8]
    own = user_data_path() / "runs" / f"{net.stem}-{mark}"
    beside = net.parent / "runs"
    shipped = net.resolve().is_relative_to(resource_path().resolve())
    if shipped or not os.access(beside if beside.is_dir() else net.parent, os.W_OK):
        return (own, beside)
    return (beside, own)
