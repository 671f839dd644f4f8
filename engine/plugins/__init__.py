"""Python layers from plugin folders: finding, loading, reloading, and what went wrong when they fail."""

from __future__ import annotations

from engine.plugins.catalogue import PluginCatalogue, PluginFault, PythonLayerInfo, find_plugins
from engine.plugins.conversion import AppliedConversion, ConversionPlan, apply_conversion, plan_conversion
from engine.plugins.declarations import Declarations
from engine.plugins.failures import PluginLoadError
from engine.plugins.folders import PluginFolder
from engine.plugins.manifest import Manifest, ManifestError
from engine.plugins.param_schema import ParamField, ParamStrSchema
from engine.plugins.project import LoadedModule, PluginProject, search_order
from engine.plugins.python2 import Python2Finding, find_python2
from engine.plugins.python_layer import (
    is_safe_mode,
    plugin_folders,
    python_layer_factory,
    seed_global_generators,
    use_plugin_folders,
    use_safe_mode,
)
from engine.plugins.tracebacks import as_written, hint_for, place_of, plugin_traceback
from engine.plugins.watcher import FilesChanged, PluginWatcher

__all__ = [
    "AppliedConversion",
    "ConversionPlan",
    "Declarations",
    "FilesChanged",
    "LoadedModule",
    "Manifest",
    "ManifestError",
    "ParamField",
    "ParamStrSchema",
    "PluginCatalogue",
    "PluginFault",
    "PluginFolder",
    "PluginLoadError",
    "PluginProject",
    "PluginWatcher",
    "Python2Finding",
    "PythonLayerInfo",
    "apply_conversion",
    "as_written",
    "find_plugins",
    "find_python2",
    "hint_for",
    "is_safe_mode",
    "place_of",
    "plan_conversion",
    "plugin_folders",
    "plugin_traceback",
    "python_layer_factory",
    "search_order",
    "seed_global_generators",
    "use_plugin_folders",
    "use_safe_mode",
]
