"""Failures to load a Python layer, each told apart and each with its next step."""

from __future__ import annotations

import ast
import difflib
import inspect
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Literal

from engine.errors import NetcanvasError, PluginError
from engine.faults import text_of
from engine.layer import Layer
from engine.operators import is_operator
from engine.plugins.tracebacks import as_written, hint_for, place_of, plugin_traceback, python2_hint
from engine.resources import plugins_path

__all__ = [
    "PluginFailureKind",
    "PluginLoadError",
    "class_missing",
    "constructor_failed",
    "import_failed",
    "layer_classes",
    "module_missing",
    "operator_functions",
    "source_fault",
]

_MOST_NAMES = 12

PluginFailureKind = Literal[
    "not-named", "module-missing", "import-failed", "syntax", "exit", "class-missing", "not-a-layer", "constructor"
]


class PluginLoadError(PluginError):
    """A layer of a plugin whose code cannot be loaded.

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
    layer_type : str
        Type of the layer: ``Python``, or one that a plugin registers.
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
        layer_type: str = "Python",
        next_step: str = "",
        traceback_text: str = "",
    ) -> None:
        self.kind = kind
        self.file = file
        self.line = line
        super().__init__(layer, layer_type, detail, next_step=next_step, traceback_text=traceback_text)

    def of_type(self, layer_type: str) -> PluginLoadError:
        """Return the same error of a layer of another type."""
        return PluginLoadError(
            self.layer,
            self.detail,
            kind=self.kind,
            file=self.file,
            line=self.line,
            layer_type=layer_type,
            next_step=self.next_step,
            traceback_text=self.traceback_text,
        )


def module_missing(
    layer: str, module: str, searched: Sequence[Path], known: Iterable[str], refused: Mapping[Path, str]
) -> PluginLoadError:
    """Say that no file of the module is in any of the folders that were searched, and which were not, and why."""
    shipped = plugins_path().resolve()
    own = [str(folder) for folder in searched if folder != shipped and shipped not in folder.parents]
    folders = ", ".join([*own, "the plugins that come with Netcanvas"] if len(own) < len(searched) else own) or "none"
    near = difflib.get_close_matches(module, sorted(known), n=1)
    without = "".join(f" '{folder}' is refused: {why}." for folder, why in refused.items())
    meant = f"Did you mean '{near[0]}'? " if near else ""
    return PluginLoadError(
        layer,
        f"module '{module}' was not found. Searched folders: {folders}; and PYTHONPATH.{without}",
        kind="module-missing",
        next_step=meant + _how_to_offer(module),
    )


def _how_to_offer(module: str) -> str:
    """Return what to do for a module that is not there, or that is written as a path."""
    dotted = ".".join(part for part in module.removesuffix(".py").replace("\\", "/").split("/") if part.strip("."))
    if dotted != module and dotted:
        return f"Write it as import does: '{dotted}'."
    return f"Put {module.replace('.', '/')}.py into one of them, or add its folder to the plugins."


def import_failed(layer: str, module: str, file: Path | None, error: BaseException) -> PluginLoadError:
    """Say what the module's own code raised while it was imported."""
    place, line = place_of(error, [file.parent] if file else [])
    kind, what, step = _explain(error, f"{place}:{line}" if place else "its code")
    is_told = bool(place) and file is not None and Path(place) == file  # the place of the error names it already
    return PluginLoadError(
        layer,
        f"{_module(module, None if is_told else file)} {what}",
        kind=kind,
        file=place,
        line=line,
        next_step=step,
        traceback_text=plugin_traceback(error),
    )


def source_fault(file: Path) -> NetcanvasError | None:
    """Return why a module's file is not valid Python, or None where it is, or cannot be read; it does not run."""
    try:
        ast.parse(file.read_bytes(), str(file))
    except SyntaxError as error:
        _, what, step = _explain(error, f"{error.filename}:{error.lineno or 0}")
        return NetcanvasError(f"{_module(file.stem, file)} {what}", next_step=step)
    except (OSError, ValueError, RecursionError, MemoryError):
        return None
    return None


def _explain(error: BaseException, place: str) -> tuple[PluginFailureKind, str, str]:
    """Return the kind of an import's failure, what to say of the module, and the next step."""
    if isinstance(error, SyntaxError):
        column = f":{error.offset}" if error.offset else ""
        step = python2_hint(error) or "Correct the line and reload."
        return "syntax", f"is not valid Python: {place}{column}: {_sentence(error.msg)}", step
    if isinstance(error, SystemExit):
        step = "Move the call of sys.exit under \"if __name__ == '__main__':\"."
        return "exit", f"ended the program (SystemExit {error.code}) while it was imported, at {place}.", step
    if isinstance(error, ModuleNotFoundError) and error.name:
        step = hint_for(error) or f"Install '{error.name}' for this Python, or put it beside the plugin."
        what = f"was found, but its own import of '{error.name}' failed at {place}: {_sentence(error)}"
        return "import-failed", what, step
    what = f"was found, but importing it raised {type(error).__name__} at {place}: {_sentence(error)}"
    return "import-failed", what, hint_for(error) or "Correct the plugin and reload."


def _module(module: str, file: Path | None) -> str:
    return f"module '{module}' ({file})" if file else f"module '{module}'"


def _sentence(text: object) -> str:
    said = as_written(text_of(text) if isinstance(text, BaseException) else str(text).strip())
    return said if said.endswith((".", "!", "?")) else said + "."


def layer_classes(module: ModuleType) -> list[str]:
    """Return the names of the layer classes that ``module`` defines or imports, in order of definition."""
    return [name for name, value in vars(module).items() if _is_layer(value)]


def operator_functions(module: ModuleType) -> list[str]:
    """Return the names of the functions that ``module`` defines and that may be layers, in order of definition."""
    return [
        name
        for name, value in vars(module).items()
        if inspect.isfunction(value)
        and value.__module__ == module.__name__
        and not name.startswith(("_", "grad_"))
        and is_operator(value)
    ]


def _is_layer(value: object) -> bool:
    return (
        inspect.isclass(value)
        and issubclass(value, Layer)
        and value.__module__.partition(".")[0] not in ("engine", "caffe")
    )


def class_missing(layer: str, module: ModuleType, module_name: str, name: str, file: Path | None) -> PluginLoadError:
    """Say that the module lacks the class, or that what it has by that name is no layer."""
    classes, functions = layer_classes(module), operator_functions(module)
    offered = _offered(classes, functions)
    where = _module(module_name, file)
    value = getattr(module, name, None)
    if value is not None:
        is_function = inspect.isroutine(value)
        what = "a function" if is_function else "a class" if inspect.isclass(value) else type(value).__name__
        may_be = is_function and not is_operator(value)
        expected = "a subclass of caffe.Layer" + ", or a function of inputs and outputs" * may_be
        step = f"Write 'def {name}(inputs, outputs):' or" if may_be else "Write"
        return PluginLoadError(
            layer,
            f"'{name}' in {where} is {what}, expected {expected}. {offered}",
            kind="not-a-layer",
            file=str(file or ""),
            next_step=f"{step} 'class {name}(caffe.Layer):'.",
        )
    classes += functions
    near = difflib.get_close_matches(name, classes, n=1, cutoff=0.5)
    if not near:
        near = [known for known in classes if known.lower() in name.lower() or name.lower() in known.lower()][:1]
    return PluginLoadError(
        layer,
        f"{where} has no layer '{name}'. {offered}",
        kind="class-missing",
        file=str(file or ""),
        next_step=f"Did you mean '{near[0]}'?"
        if near
        else f"Define 'class {name}(caffe.Layer):' there, or correct the name.",
    )


def _offered(classes: list[str], functions: list[str]) -> str:
    """Say which layers a module has."""
    kinds = (("layers", classes), ("functions that can be layers", functions))
    parts = [f"the {kind}: {_listed(names)}" for kind, names in kinds if names]
    return (
        f"It has {'; and '.join(parts)}." if parts else "It has no layers: no class and no function that could be one."
    )


def _listed(names: list[str]) -> str:
    return ", ".join(names if len(names) <= _MOST_NAMES else [*names[:_MOST_NAMES], "\u2026"])


def constructor_failed(layer: str, cls: type[Layer], error: BaseException) -> PluginLoadError:
    """Say what the constructor of a layer class raised."""
    file, line = place_of(error)
    at = f" at {file}:{line}" if file else ""
    return PluginLoadError(
        layer,
        f"the constructor of {cls.__name__} raised {type(error).__name__}{at}: {_sentence(error)}",
        kind="constructor",
        file=file,
        line=line,
        next_step=hint_for(error) or "Caffe calls it with the layer's message; most layers need none and use setup.",
        traceback_text=plugin_traceback(error),
    )
