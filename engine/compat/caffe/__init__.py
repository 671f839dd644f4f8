"""``caffe`` for scripts and Python layers: see :mod:`engine.compat` for how ``import caffe`` comes to mean this.

Names of pycaffe that are missing raise an :class:`AttributeError` that says so.
"""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engine.compat.caffe.layer import Layer
from engine.compat.caffe.missing import not_offered
from engine.compat.caffe.session import init_log, log, set_device, set_mode_cpu, set_mode_gpu, set_random_seed
from engine.layer import Phase

if TYPE_CHECKING:
    from engine.compat.caffe.net import Net
    from engine.compat.caffe.net_spec import NetSpec, layers, params, to_proto
    from engine.compat.caffe.solver import (
        AdaDeltaSolver,
        AdaGradSolver,
        AdamSolver,
        NesterovSolver,
        RMSPropSolver,
        SGDSolver,
        Solver,
        get_solver,
    )

__all__ = [
    "TEST",
    "TRAIN",
    "AdaDeltaSolver",
    "AdaGradSolver",
    "AdamSolver",
    "Layer",
    "NesterovSolver",
    "Net",
    "NetSpec",
    "RMSPropSolver",
    "SGDSolver",
    "Solver",
    "get_solver",
    "init_log",
    "layer_type_list",
    "layers",
    "log",
    "params",
    "set_device",
    "set_mode_cpu",
    "set_mode_gpu",
    "set_random_seed",
    "to_proto",
]

__version__ = "1.0.0"

TRAIN = Phase.TRAIN
TEST = Phase.TEST

_ON_DEMAND = {
    "AdaDeltaSolver": "solver",
    "AdaGradSolver": "solver",
    "AdamSolver": "solver",
    "NesterovSolver": "solver",
    "RMSPropSolver": "solver",
    "Net": "net",
    "NetSpec": "net_spec",
    "SGDSolver": "solver",
    "Solver": "solver",
    "get_solver": "solver",
    "layers": "net_spec",
    "params": "net_spec",
    "to_proto": "net_spec",
}


def layer_type_list() -> list[str]:
    """Return the names of all layer types, sorted; plugins of the working directory's project are among them."""
    from engine.paths import search_folders  # Python layers need none of it
    from engine.registry import default_registry

    return list(default_registry(search_folders(Path.cwd())).types())


def __getattr__(name: str) -> Any:
    # A Python layer says "import caffe" while a net is being built: nets and solvers come in when they are used.
    if name in _ON_DEMAND:
        return getattr(importlib.import_module(f"{__name__}.{_ON_DEMAND[name]}"), name)
    if name in ("coord_map", "io", "net_spec", "proto"):
        return importlib.import_module(f"{__name__}.{name}")
    raise not_offered("caffe", name, __all__)
