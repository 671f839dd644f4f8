"""Layers of ``type: "Python"``: the user's own objects, made from the class that the net names."""

from __future__ import annotations

import inspect
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from engine.faults import is_fault
from engine.layer import Layer, LayerContext, layer_seed
from engine.plugins import failures
from engine.plugins.functions import FunctionLayer
from engine.plugins.project import FunctionCode, PluginProject
from engine.plugins.roots import plugin_finder
from engine.plugins.tampering import watched

__all__ = [
    "is_safe_mode",
    "make_layer",
    "plugin_folders",
    "python_layer_factory",
    "seed_global_generators",
    "use_plugin_folders",
    "use_safe_mode",
]


def use_plugin_folders(folders: Sequence[Path | str]) -> None:
    """Set the plugin folders that nets of this process search first, in place of those set before.

    Parameters
    ----------
    folders : sequence of path
        Each may hold modules, or plugin folders that do.
    """
    plugin_finder().plugin_folders = tuple(Path(folder).resolve() for folder in folders)


def plugin_folders() -> tuple[Path, ...]:
    """Return the folders that :func:`use_plugin_folders` set."""
    return plugin_finder().plugin_folders


def use_safe_mode(safe: bool = True) -> None:
    """Leave out every plugin that is not shipped with the product, and run no plugin's code for the editor's sake."""
    plugin_finder().safe = safe


def is_safe_mode() -> bool:
    """Return whether :func:`use_safe_mode` was called."""
    return plugin_finder().safe


def python_layer_factory(
    layer_param: Any, context: LayerContext, *, plugin_folders: Sequence[Path | str] | None = None
) -> Layer:
    """Make the object of a Python layer.

    Parameters
    ----------
    layer_param : LayerParameter
        Its ``python_param`` names module and class.
    context : LayerContext
        ``base_dirs`` say which project's modules are meant; ``seed`` also seeds the global generators of numpy and
        :mod:`random`, which plugins draw from.
    plugin_folders : sequence of path, optional
        Folders to search first; those of :func:`use_plugin_folders` when omitted.

    Returns
    -------
    Layer
        An instance of the user's own class, not yet bound.

    Raises
    ------
    PluginLoadError
        The module or the class cannot be loaded, or the class's constructor raised.
    """
    folders = plugin_finder().plugin_folders if plugin_folders is None else plugin_folders
    param = layer_param.python_param
    return make_layer(param.module, param.layer, layer_param, context, folders=folders, base_dirs=context.base_dirs)


def make_layer(
    module: str,
    name: str,
    layer_param: Any,
    context: LayerContext,
    *,
    folders: Sequence[Path | str],
    base_dirs: Sequence[Path | str] = (),
) -> Layer:
    """Make the object of a layer whose class is in a plugin.

    Parameters
    ----------
    module, name : str
        The module and the class in it.
    layer_param, context
        As for :func:`python_layer_factory`, which says what is returned and raised.
    folders, base_dirs : sequence of path
        Where the module is looked for, as for :class:`PluginProject`.
    """
    whose = f"Layer '{layer_param.name}' ({layer_param.type})"
    try:
        with watched(whose, "import"):
            code = PluginProject(folders, base_dirs).load_code(module, name, layer=layer_param.name)
    except failures.PluginLoadError as error:
        raise error.of_type(layer_param.type) from error.__cause__
    seed_global_generators(context.seed, layer_param.name)
    if isinstance(code, FunctionCode):
        return FunctionLayer(code.function, code.module, code.name)
    try:
        with watched(whose, "constructor", code.__module__):
            return make_instance(code, layer_param)
    except BaseException as error:
        if not is_fault(error):
            raise
        raise failures.constructor_failed(layer_param.name, code, error).of_type(layer_param.type) from error


def make_instance(cls: type[Layer], layer_param: Any) -> Layer:
    """Call the class as Caffe does, with the layer's message, or without if it is written against ``engine.api``."""
    from engine.compat.caffe.layer import Layer as CaffeLayer  # compat is above this package

    for method in ("setup", "reshape", "forward", "backward"):
        function = getattr(cls, method)
        if inspect.isgeneratorfunction(function) or inspect.iscoroutinefunction(function):
            raise TypeError(f"{method} holds a yield or is async, so that calling it would run nothing")
    make: Any = cls
    layer = make(layer_param) if issubclass(cls, CaffeLayer) else make()
    if not isinstance(layer, Layer):
        raise TypeError(f"expected a layer, got {type(layer).__name__}")
    return layer


def seed_global_generators(seed: int | None, name: str = "") -> None:
    """Seed numpy's global generator and :mod:`random` from a run's seed and a layer's name; ``None`` leaves them.

    Old plugins draw from these generators. With the name mixed in, two layers do not draw the same noise.
    """
    if seed is None:
        return
    state = layer_seed(seed, name).generate_state(8)
    np.random.seed(state)
    random.seed(state.tobytes())
