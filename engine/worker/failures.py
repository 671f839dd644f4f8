"""Turning whatever ended a training into one sentence for a person."""

from __future__ import annotations

import traceback

from engine.errors import LayerError, NetcanvasError
from engine.worker.events import Failure

__all__ = ["describe_failure"]


def describe_failure(error: BaseException) -> Failure:
    """Say in one sentence what happened, naming the layer where one is at fault; the traceback is kept apart."""
    trace = "".join(traceback.format_exception(error))
    if isinstance(error, LayerError):
        return Failure(str(error), error.layer, error.method, error.traceback_text or trace)
    if isinstance(error, NetcanvasError):  # some of which name a layer, too
        return Failure(str(error), str(getattr(error, "layer", "")), "", trace)
    if isinstance(error, MemoryError):
        return Failure("There is not enough memory for this net. Lower the batch size.", "", "", trace)
    if isinstance(error, OSError):
        where = f" '{error.filename}'" if error.filename else ""
        return Failure(f"The system refused{where}: {error.strerror or error}.", "", "", trace)
    text = f"{type(error).__name__}: {error}".strip().rstrip(":")
    return Failure(f"The training stopped at an unexpected error: {text}. See the details.", "", "", trace)
