"""``netcanvas devices``, and which device a command computes on."""

from __future__ import annotations

import argparse
import platform
from collections.abc import Mapping
from dataclasses import asdict
from importlib import metadata
from types import MappingProxyType

import engine
from engine.backends.inventory import (
    BackendFacts,
    Gpu,
    MatrixLibrary,
    Processor,
    find_backends,
    find_gpus,
    find_matrix_libraries,
)
from engine.cli.measuring import memory_words
from engine.cli.output import Output
from engine.cli.tables import table
from engine.errors import SolverError

__all__ = ["check_gpu", "run"]

_PACKAGES = ("numpy", "protobuf", "lmdb", "plyvel", "h5py", "Pillow")
_CUPY = ("cupy", "cupy-cuda11x", "cupy-cuda12x", "cupy-cuda13x")  # one package under several names
_ABSENT = "not installed"
_DESCRIPTIONS: Mapping[str, str] = MappingProxyType(
    {
        "numpy": "the processor, through numpy",
        "strict": "a stand-in for a device, slow; finds mistakes of layers that only a device would show",
    }
)


def check_gpu(wanted: str | None, *, asked: str = "--gpu") -> None:
    """Refuse a GPU that was asked for and is not there; a file that asks for one only gets a warning.

    Parameters
    ----------
    wanted : str or None
        Which GPU, None where none was asked for.
    asked : str
        How it was asked for, for the message.

    Raises
    ------
    SolverError
        If a GPU was asked for.
    """
    if wanted is not None:
        raise SolverError(
            f"Expected a GPU for {asked} {wanted}, got none that this version can use.",
            next_step=f"Leave {asked} out to compute on the CPU.",
        )


def run(options: argparse.Namespace) -> int:
    """Print where nets can compute; return the exit code."""
    check_gpu(options.gpu)
    backends, processor, gpus = find_backends(), Processor.find(), find_gpus()
    libraries, versions = find_matrix_libraries(), _versions()
    lines = [
        *_backend_lines(backends),
        *_processor_lines(processor, libraries),
        *_gpu_lines(gpus),
        "versions:",
        *(f"  {line}" for line in table(list(versions.items()), words=2)),
    ]
    result = {
        "backends": [asdict(backend) for backend in backends],
        "processor": asdict(processor),
        "matrix_libraries": [asdict(library) for library in libraries],
        "gpus": [asdict(gpu) for gpu in gpus],
        "versions": {name: None if version == _ABSENT else version for name, version in versions.items()},
        "platform": platform.platform(),
    }
    Output(quiet=options.quiet, as_json=options.json).result(lines, result)
    return 0


def _backend_lines(backends: list[BackendFacts]) -> list[str]:
    rows = [
        (each.name, _DESCRIPTIONS.get(each.name, "usable") if each.usable else f"cannot be used: {each.reason}")
        for each in backends
    ]
    return ["backends:", *(f"  {line}" for line in table(rows, words=2))]


def _processor_lines(processor: Processor, libraries: list[MatrixLibrary]) -> list[str]:
    cores = f"{processor.usable_cores} of {processor.cores} cores usable, {processor.threads} taken by default"
    lines = ["processor:", f"  {processor.name}: {cores}", "matrix library (BLAS):"]
    lines += [f"  {each.name} {each.version} for {each.architecture}" for each in libraries]
    return lines if libraries else [*lines, "  unknown"]


def _gpu_lines(gpus: list[Gpu]) -> list[str]:
    lines = [f"  {gpu.index}: {gpu.name}, {memory_words(gpu.memory)}, driver {gpu.driver}" for gpu in gpus]
    if not gpus:
        return ["GPUs:", "  none"]
    return ["GPUs (this version computes on the processor only):", *lines]


def _versions() -> dict[str, str]:
    versions = {"netcanvas": engine.__version__, "python": platform.python_version()}
    versions |= {name: _version((name,)) for name in _PACKAGES}
    return versions | {"cupy": _version(_CUPY)}


def _version(names: tuple[str, ...]) -> str:
    """Return the version of a package, which may go by several names."""
    for name in names:
        try:
            return metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return _ABSENT
