"""Whose messages a script sees: BVLC's Caffe's, with what plugins of the user's or the project's declare."""

from __future__ import annotations

import functools
import os
from collections.abc import Iterator
from pathlib import Path

from engine.paths import search_folders
from engine.plugins import find_plugins, is_safe_mode, plugin_folders
from engine.registry import default_registry
from engine.schema import Schema, dialect_names, load_schema

__all__ = ["net_schema", "net_schemas"]


def net_schema() -> Schema:
    """Return the schema of nets, solvers and all else that a script makes; looked up once for a working directory.

    All messages come from this one, since those of another cannot be put into them. It is BVLC's as long as no plugin
    but those shipped with the product declares messages.
    """
    return _net_schema(os.getcwd(), plugin_folders())


@functools.lru_cache(maxsize=8)
def _net_schema(folder: str, plugins: tuple[Path, ...]) -> Schema:
    folders = search_folders(Path(folder))
    found = find_plugins(plugins, folders, safe=is_safe_mode()).folders
    own = any(each.fragment is not None for each in found if each.origin != "shipped")
    return default_registry(folders, plugins).schema() if own else load_schema()


def net_schemas() -> Iterator[Schema]:
    """Yield what a net may be written in: :func:`net_schema`, each dialect, then BVLC's with every plugin's types."""
    first = net_schema()
    yield first
    yield from (schema for schema in map(load_schema, dialect_names()) if schema is not first)
    yield default_registry(search_folders(Path.cwd())).schema()
