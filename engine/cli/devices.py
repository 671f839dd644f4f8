"""Which device a command computes on."""

from __future__ import annotations

from engine.errors import SolverError

__all__ = ["check_gpu"]


def check_gpu(wanted: str | None) -> None:
    """Refuse ``--gpu``, which asks for what is not there; a file that asks for a GPU only gets a warning.

    Raises
    ------
    SolverError
        If a GPU was asked for.
    """
    if wanted is not None:
        raise SolverError(
            f"Expected a GPU for --gpu {wanted}, got none that this version can use.",
            next_step="Leave --gpu out to compute on the CPU.",
        )
