"""What this machine has to compute with."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from threadpoolctl import threadpool_info

from engine.backends import backend_names, get_backend
from engine.backends.threads import default_threads
from engine.errors import NetcanvasError

__all__ = ["BackendFacts", "Gpu", "MatrixLibrary", "Processor", "find_backends", "find_gpus", "find_matrix_libraries"]

_PATIENCE_SECONDS = 20.0
_MEBI = 1 << 20


@dataclass(frozen=True, slots=True)
class BackendFacts:
    """A place where nets can compute.

    Attributes
    ----------
    name : str
    usable : bool
    reason : str
        Why it cannot be used, if so.
    """

    name: str
    usable: bool
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Processor:
    """The processor.

    Attributes
    ----------
    name : str
    cores : int
        Logical cores of the machine.
    usable_cores : int
        Those that this process may use.
    threads : int
        Threads that matrix products take unless told otherwise.
    """

    name: str
    cores: int
    usable_cores: int
    threads: int

    @classmethod
    def find(cls) -> Processor:
        """Look at this machine."""
        affinity = getattr(os, "sched_getaffinity", None)  # Linux only
        cores = os.cpu_count() or 1
        return cls(_processor_name(), cores, len(affinity(0)) if affinity else cores, default_threads())


@dataclass(frozen=True, slots=True)
class MatrixLibrary:
    """A library of matrix products (BLAS) that is loaded.

    Attributes
    ----------
    name, version, architecture : str
    threads : int
        How many it uses now.
    """

    name: str
    version: str
    architecture: str
    threads: int


@dataclass(frozen=True, slots=True)
class Gpu:
    """A graphics processor.

    Attributes
    ----------
    index : int
    name : str
    memory : int
        Bytes.
    driver : str
        Version.
    """

    index: int
    name: str
    memory: int
    driver: str


def find_backends() -> list[BackendFacts]:
    """Return all backends, with the reason where one cannot be used here."""
    found = []
    for name in backend_names():
        try:
            get_backend(name)
        except (NetcanvasError, ImportError, OSError) as error:
            found.append(BackendFacts(name, False, str(error)))
        else:
            found.append(BackendFacts(name, True))
    return found


def find_matrix_libraries() -> list[MatrixLibrary]:
    """Return the matrix libraries that numpy has loaded."""
    return [
        MatrixLibrary(
            str(each.get("internal_api") or "unknown"),
            str(each.get("version") or "unknown"),
            str(each.get("architecture") or "unknown"),
            int(each["num_threads"]),
        )
        for each in threadpool_info()
        if each.get("user_api") == "blas"
    ]


def find_gpus() -> list[Gpu]:
    """Return the GPUs that NVIDIA's driver reports; none where there is no such driver."""
    program = shutil.which("nvidia-smi")
    if program is None:
        return []
    query = "--query-gpu=index,name,memory.total,driver_version"
    command = [program, query, "--format=csv,noheader,nounits"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_PATIENCE_SECONDS, check=True)
    except (OSError, subprocess.SubprocessError):
        return []
    return read_gpus(done.stdout.splitlines())


def read_gpus(lines: Sequence[str]) -> list[Gpu]:
    """Return the GPUs that lines of index, name, mebibytes and driver tell of; others are passed over."""
    found = []
    for line in lines:
        index, *name, memory, driver = [part.strip() for part in line.split(",")] if line.count(",") > 2 else [""] * 3
        if index.isdecimal():
            size = int(memory) * _MEBI if memory.isdecimal() else 0
            found.append(Gpu(int(index), ", ".join(name), size, driver))
    return found


def _processor_name() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text(errors="replace").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine() or "unknown"
