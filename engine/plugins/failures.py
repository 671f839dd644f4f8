"""Failures to load a Python layer, each told apart and each with its next step."""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Iterable, Sequence
from pathlib import Path
from types import ModuleType
from typing import Literal

from engine.errors import PluginError
from engine.layer import Layer
from engine.plugins.tracebacks import hint_for, place_of, plugin_traceback, python2_hint

__all__ = [
    "PluginFailureKind",
    "PluginLoadError",
    "class_missing",
    "constructor_failed",
    "import_failed",
    "layer_classes",
    "module_missing",
]

PluginFailureKind = Literal[
    "not-named", "module-missing", "import-failed", "syntax", "exit", "class-missing", "not-a-layer", "constructor"
]


class PluginLoadError(PluginError):
    """A Python layer whose code cannot be loaded.

    Parameters
    ----------
    layer : str
        Name of the layer in the net.
    detail : str
        What was expected and what was found.
    kind : str
        Which of the things that can go wrong did.
    file : str
        The plugin file, empty when none was found.
    line : int
        1-based line in ``file``; 0 when unknown.
    next_step, traceback_text : str
        As for :class:`engine.errors.LayerError`.
    """

    def __init__(
        self,
        layer: str,
        detail: str,
        *,
        kind: PluginFailureKind,
        file: str = "",
        line: int = 0,
        next_step: str = "",
        traceback_text: str = "",
    ) -> None:
        self.kind = kind
        self.file = file
        self.line = line
        super().__init__(layer, "Python", detail, next_step=next_step, traceback_text=traceback_text)


def module_missing(layer: str, module: str, searched: Sequence[Path], known: Iterable[str]) -> PluginLoadError:
    """Say that no file of the module is in any of the folders that were searched."""
    folders = ", ".join(str(folder) for folder in searched) or "none"
    near = difflib.get_close_matches(module, sorted(known), n=1)
    meant = f"Did you mean '{near[0]}'? " if near else ""
    return PluginLoadError(
        layer,
        f"module '{module}' was not found. Searched folders: {folders}; and PYTHONPATH.",
        kind="module-missing",
        next_step=f"{meant}Put {module.replace('.', '/')}.py into one of them, or add its folder to the plugins.",
    )


def import_failed(layer: str, module: str, file: Path | None, error: BaseException) -> PluginLoadError:
    """Say what the module's own code raised while it was imported."""
    folders = [file.parent] if file else []
    place, line = place_of(error, folders)
    trace = plugin_traceback(error)
    name = f"module '{module}' ({file})" if file else f"module '{module}'"
    if isinstance(error, SyntaxError):
        where = f"{place}:{line}" + (f":{error.offset}" if error.offset else "")
        return PluginLoadError(
            layer,
            f"{name} is not valid Python: {where}: {error.msg}",
            kind="syntax",
            file=place,
            line=line,
            next_step=python2_hint(error) or "Correct the line and reload.",
            traceback_text=trace,
        )
    at = f" at {place}:{line}" if place else ""
    if isinstance(error, SystemExit):
        return PluginLoadError(
            layer,
            f"{name} ended the program (SystemExit {error.code}) while it was imported{at}.",
            kind="exit",
            file=place,
            line=line,
            next_step="Move the call of sys.exit under \"if __name__ == '__main__':\".",
            traceback_text=trace,
        )
    if isinstance(error, ModuleNotFoundError) and error.name:
        step = hint_for(error) or f"Install '{error.name}' for this Python, or put it beside the plugin."
        return PluginLoadError(
            layer,
            f"{name} was found, but its own import of '{error.name}' failed{at}: {error}",
            kind="import-failed",
            file=place,
            line=line,
            next_step=step,
            traceback_text=trace,
        )
    return PluginLoadError(
        layer,
        f"{name} was found, but importing it raised {type(error).__name__}{at}: {error}",
        kind="import-failed",
        file=place,
        line=line,
        next_step=hint_for(error) or "Correct the plugin and reload.",
        traceback_text=trace,
    )


def layer_classes(module: ModuleType) -> list[str]:
    """Return the names of the layer classes that ``module`` defines or imports, in order of definition."""
    return [name for name, value in vars(module).items() if _is_layer(value)]


def _is_layer(value: object) -> bool:
    return (
        inspect.isclass(value)
        and issubclass(value, Layer)
        and value.__module__.partition(".")[0] not in ("engine", "caffe")
    )


def class_missing(layer: str, module: ModuleType, module_name: str, name: str, file: Path | None) -> PluginLoadError:
    """Say that the module lacks the class, or that what it has by that name is no layer."""
    classes = layer_classes(module)
    offered = f"It has the layers: {', '.join(classes)}." if classes else "It has no layer classes."
    where = f"module '{module_name}' ({file})" if file else f"module '{module_name}'"
    value = getattr(module, name, None)
    if value is not None:
        what = (
            "a function" if inspect.isroutine(value) else "a class" if inspect.isclass(value) else type(value).__name__
        )
        return PluginLoadError(
            layer,
            f"'{name}' in {where} is {what}, expected a subclass of caffe.Layer. {offered}",
            kind="not-a-layer",
            file=str(file or ""),
            next_step=f"Write 'class {name}(caffe.Layer):'.",
        )
    near = difflib.get_close_matches(name, classes, n=1, cutoff=0.5)
    if not near:
        near = [known for known in classes if known.lower() in name.lower() or name.lower() in known.lower()][:1]
    return PluginLoadError(
        layer,
        f"{where} has no class '{name}'. {offered}",
        kind="class-missing",
        file=str(file or ""),
        next_step=f"Did you mean '{near[0]}'?"
        if near
        else f"Define 'class {name}(caffe.Layer):' there, or correct the name.",
    )


def constructor_failed(layer: str, cls: type[Layer], error: BaseException) -> PluginLoadError:
    """Say what the constructor of a layer class raised."""
    file, line = place_of(error)
    at = f" at {file}:{line}" if file else ""
    return PluginLoadError(
        layer,
        f"the constructor of {cls.__name__} raised {type(error).__name__}{at}: {error}",
        kind="constructor",
        file=file,
        line=line,
        next_step=hint_for(error) or "Caffe calls it with the layer's message; most layers need none and use setup.",
        traceback_text=plugin_traceback(error),
    )
