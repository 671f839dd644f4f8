"""What pycaffe keeps for the whole process: mode, device, random seed."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import Any

__all__ = ["init_log", "log", "session", "set_device", "set_mode_cpu", "set_mode_gpu", "set_random_seed"]

_log = logging.getLogger("netcanvas.caffe")


@dataclass(slots=True)
class _Session:
    """Settings that nets and solvers made afterwards use.

    Attributes
    ----------
    backend : str
        Name of the backend.
    seed : int or None
        Seed of random numbers; None asks the system.
    told_no_gpu : bool
        Whether the absence of a GPU has been said.
    """

    backend: str = "numpy"
    seed: int | None = None
    told_no_gpu: bool = False


session = _Session()


def set_mode_cpu() -> None:
    """Make nets created from now on compute on the CPU."""
    session.backend = "numpy"


def set_mode_gpu() -> None:
    """Ask for a GPU; without one, nets compute on the CPU and a warning says so once."""
    if not session.told_no_gpu:
        session.told_no_gpu = True
        _log.warning("caffe.set_mode_gpu(): no GPU backend is offered yet; computing on the CPU.")


def set_device(device_id: int) -> None:
    """Choose the GPU; accepted and without effect as long as there is none to choose."""
    if device_id < 0:
        raise ValueError(f"caffe.set_device: expected a device id of 0 or more, got {device_id}.")


def set_random_seed(seed: int) -> None:
    """Seed nets and solvers created from now on, and the global generators that Python layers draw from."""
    session.seed = int(seed)


def init_log(*_: Any, **__: Any) -> None:
    """Do nothing: where the log goes is the program's choice (``logging``), not the script's."""


def log(message: str) -> None:
    """Write a line to the log."""
    _log.info("%s", message)
