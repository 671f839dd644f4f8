"""Where nets compute: ``numpy`` on the host, ``strict`` for finding mistakes that only a real device would show."""

from __future__ import annotations

import functools

from engine.backends.base import Array, Backend, Primitive, Workspace
from engine.errors import NetError

__all__ = ["Array", "Backend", "Primitive", "Workspace", "backend_names", "get_backend"]


def backend_names() -> tuple[str, ...]:
    """Return the names that :func:`get_backend` takes."""
    return ("numpy", "strict")


@functools.cache
def get_backend(name: str = "numpy") -> Backend:
    """Return a backend by name.

    Parameters
    ----------
    name : str
        One of :func:`backend_names`.

    Raises
    ------
    engine.errors.NetError
        If there is no such backend.
    """
    if name == "numpy":
        from engine.backends.numpy_backend import NumpyBackend

        return NumpyBackend()
    if name == "strict":
        from engine.backends.strict import StrictBackend

        return StrictBackend()
    raise NetError(f"No backend is called '{name}'.", next_step=f"Choose one of {', '.join(backend_names())}.")
