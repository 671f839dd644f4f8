"""``netcanvas gradcheck``."""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import numpy.typing as npt

from engine.cli.arguments.plugins import BottomSpec
from engine.cli.output import Output
from engine.errors import NetcanvasError
from engine.layer import Phase
from engine.plugins import plugin_folders, use_plugin_folders
from engine.testing import check_python_layer, python_layer_case

__all__ = ["run"]


def run(options: argparse.Namespace) -> int:
    """Check the gradients of a Python layer; return 1 if one is not right."""
    module, name = options.layer
    rng = np.random.default_rng(options.seed)
    case = python_layer_case(
        module,
        name,
        [_values(spec, rng) for spec in options.bottoms],
        tops=options.tops,
        param_str=options.param_str,
        propagate_down=_flags(options),
        phase=Phase[options.phase.upper()],
    )
    output = Output(quiet=options.quiet, as_json=options.json)
    for folder in options.plugins:
        if not folder.is_dir():
            raise NetcanvasError(f"--plugins: expected a folder, got '{folder}'.", next_step="Check the path.")
    before = plugin_folders()
    use_plugin_folders([*options.plugins, *before])
    try:
        with output.results_alone():
            report = check_python_layer(case, f"{module}.{name}", base_dirs=[Path.cwd()], seed=options.seed)
    finally:
        use_plugin_folders(before)
    output.result([*report.lines(), report.summary], report.to_json())
    return 0 if report.passed else 1


def _values(spec: BottomSpec, rng: np.random.Generator) -> npt.NDArray[np.float64]:
    if spec.low is not None and spec.high is not None:
        return rng.integers(spec.low, spec.high, spec.shape, endpoint=True).astype(np.float64)
    return np.asarray(rng.normal(size=spec.shape))


def _flags(options: argparse.Namespace) -> list[bool]:
    flags: list[bool] = options.propagate_down or [spec.low is None for spec in options.bottoms]
    if len(flags) != len(options.bottoms):
        raise NetcanvasError(
            f"--propagate-down: expected {len(options.bottoms)} values, one for each --bottom, got {len(flags)}.",
            next_step="Give --bottom once for each bottom.",
        )
    return flags
