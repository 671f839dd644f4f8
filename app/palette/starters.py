"""What a new layer of a type starts with, from ``resources/palette/starters.toml``."""

from __future__ import annotations

import tomllib
from functools import lru_cache
from typing import Any

from engine.resources import resource_path

__all__ = ["number_names", "starter_fields", "works_in_place"]


@lru_cache(maxsize=1)
def _starters() -> dict[str, Any]:
    return tomllib.loads(resource_path("palette/starters.toml").read_text(encoding="utf-8"))


def works_in_place(kind: str) -> bool:
    """Whether a new layer of a type overwrites what it reads."""
    return kind in _starters()["in_place"]["types"]


def starter_fields(kind: str) -> str | None:
    """What a new layer of a type starts with, as prototxt; None for nothing."""
    fields: str | None = _starters()["fields"].get(kind)
    return fields


def number_names(kind: str) -> tuple[str, ...]:
    """Return the fields that numbers typed behind the name of a type mean, in order; ``dim*`` takes them all."""
    return tuple(_starters()["typed"].get(kind, ()))
