"""How many threads the matrix library may use.

Its threads wait for each other by spinning. With as many of them as processor cores, any other busy program stalls
every product: on 2 cores a step of LeNet took 144 ms instead of 16 beside one busy process, with one thread 40. So half
the cores are taken unless somebody asks for more. The number is part of a run: it decides the order of additions.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator

from threadpoolctl import threadpool_limits

__all__ = ["default_threads", "matrix_threads"]


def default_threads() -> int:
    """Return half the cores that this process may use, at least 1."""
    return max(1, _cores() // 2)


def _cores() -> int:
    affinity = getattr(os, "sched_getaffinity", None)  # Linux only
    return len(affinity(0)) if affinity is not None else os.cpu_count() or 1


@contextlib.contextmanager
def matrix_threads(count: int | None = None) -> Iterator[int]:
    """Limit the matrix library's threads within a ``with`` block.

    Parameters
    ----------
    count : int, optional
        Threads; :func:`default_threads` when absent. No more are taken than there are cores: they would only wait.

    Yields
    ------
    int
        The number in force.
    """
    number = min(count or default_threads(), _cores())
    with threadpool_limits(limits=number, user_api="blas"):
        yield number
