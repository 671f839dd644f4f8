"""Which net of a document a command is asked about: ``--phase``, ``--level`` and ``--stage``."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from types import MappingProxyType

from engine.graph import DEPLOY, View
from engine.layer import Phase

__all__ = ["chosen_views", "phase_of", "view_of"]

_SHOWN: Mapping[str, str] = MappingProxyType({"train": "TRAIN", "test": "TEST", "deploy": DEPLOY})


def view_of(options: argparse.Namespace, phase: str | None = None) -> View:
    """Return the view that a command's options ask for, in another phase if one is given."""
    stages = frozenset(filter(None, options.stage.split(",")))
    return View(_SHOWN[phase or options.phase], options.level, stages)


def chosen_views(options: argparse.Namespace) -> tuple[View, ...]:
    """Return the views that options without a default phase ask for: both phases for stages or a level alone.

    Nothing is returned where nothing is asked for.
    """
    if options.phase is not None:
        return (view_of(options),)
    if options.level or options.stage:
        return (view_of(options, "test"), view_of(options, "train"))
    return ()


def phase_of(view: View) -> Phase:
    """Return the phase in which a view's layers are made."""
    return Phase.TRAIN if view.show == "TRAIN" else Phase.TEST
