"""Code of a plugin that ends the process of a training at once, by ``os._exit``: told before it happens."""

from __future__ import annotations

import contextlib
import os
import sys
import traceback
from collections.abc import Callable, Iterator
from types import FrameType
from typing import NoReturn

from engine.layer import Layer
from engine.worker.events import Failure

__all__ = ["tell_of_exit"]

_METHODS = frozenset(("setup", "reshape", "forward", "backward"))


@contextlib.contextmanager
def tell_of_exit(tell: Callable[[Failure], object]) -> Iterator[None]:
    """Call ``tell`` when something in this process calls ``os._exit`` meanwhile, and let it end then.

    Processes that are forked from it end as ever.
    """
    leave, process = os._exit, os.getpid()

    def told(status: int) -> NoReturn:
        if os.getpid() == process:
            with contextlib.suppress(Exception):
                tell(_failure(status, sys._getframe(1)))
        leave(status)

    os._exit = told
    try:
        yield
    finally:
        os._exit = leave


def _failure(status: int, frame: FrameType) -> Failure:
    stack = "".join(traceback.format_stack(frame))
    where = f"os._exit({status}) at {frame.f_code.co_filename}:{frame.f_lineno}"
    step = "Raise an error there instead."
    at: FrameType | None = frame
    while at is not None:
        owner, method = at.f_locals.get("self"), at.f_code.co_name
        binding = getattr(owner, "_netcanvas_binding", None) if isinstance(owner, Layer) else None
        if binding is not None and method in _METHODS:
            whose = f"Layer '{binding.name}' ({binding.layer_param.type}), {method}"
            return Failure(f"{whose}: its code ended the training with {where}. {step}", binding.name, method, stack)
        at = at.f_back
    return Failure(f"The training was ended with {where}. {step}", "", "", stack)
