"""``caffe.proto``: Caffe's message types."""

from __future__ import annotations

import importlib
from typing import Any

__all__ = ["caffe_pb2"]


def __getattr__(name: str) -> Any:
    # As in pycaffe it is there after "import caffe"; its message classes are made when they are used.
    if name in __all__:
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
