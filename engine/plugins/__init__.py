"""Python layers from plugin folders: finding, loading, reloading, and what went wrong when they fail."""

from __future__ import annotations

from engine.plugins.failures import PluginLoadError
from engine.plugins.project import LoadedModule, PluginProject, search_order
from engine.plugins.python_layer import python_layer_factory, seed_global_generators, use_plugin_folders
from engine.plugins.tracebacks import as_written, hint_for, place_of, plugin_traceback

__all__ = [
    "LoadedModule",
    "PluginLoadError",
    "PluginProject",
    "as_written",
    "hint_for",
    "place_of",
    "plugin_traceback",
    "python_layer_factory",
    "search_order",
    "seed_global_generators",
    "use_plugin_folders",
]
