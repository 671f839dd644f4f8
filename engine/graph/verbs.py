"""Verbs check first: the decorator that makes an edit a change."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec, TypeVar

from engine.graph.queries import GraphQueries

__all__ = ["verb"]

P = ParamSpec("P")
R = TypeVar("R")
G = TypeVar("G", bound=GraphQueries)


def verb(method: Callable[Concatenate[G, P], R]) -> Callable[Concatenate[G, P], R]:
    """Run a method inside the current change, or in one of its own; if it raises, its edits are taken back."""

    @wraps(method)
    def inside(self: G, /, *args: P.args, **kwargs: P.kwargs) -> R:
        with self.change(method.__name__.replace("_", " ")):
            return method(self, *args, **kwargs)

    return inside
