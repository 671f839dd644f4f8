"""Nets that commands run."""

from __future__ import annotations

import argparse
from pathlib import Path

from engine.errors import NetError
from engine.files import load_weights
from engine.layer import Phase
from engine.net import Net
from engine.paths import search_folders
from engine.registry import default_registry
from engine.schema import read_net

__all__ = ["open_net"]


def open_net(options: argparse.Namespace, phase: Phase) -> Net:
    """Build the net of a command and load its weights.

    Parameters
    ----------
    options : Namespace
        With ``model``, ``weights``, ``level``, ``stage`` and ``seed``.
    phase : Phase

    Returns
    -------
    Net
        To be closed by the caller.

    Raises
    ------
    NetcanvasError
        If the net cannot be built, has no layer in the phase, or the weights do not fit it.
    """
    model: Path = options.model
    registry = default_registry(search_folders(model.parent))
    net = Net(
        read_net(model, schema=registry.schema()),
        phase,
        registry=registry,
        level=options.level,
        stages=tuple(filter(None, options.stage.split(","))),
        base_dirs=search_folders(model.parent),
        seed=options.seed,
    )
    try:
        if not net.layers:
            raise NetError(
                f"'{model}': expected a net with layers in phase {phase}, got none; there is nothing to run.",
                next_step=f"Check its layers' include rules: netcanvas show {model} --phase {phase}.",
            )
        for weights in options.weights:
            load_weights(net, weights)
    except BaseException:
        net.close()
        raise
    return net
