"""Asking the inspection process; safe from any thread, one question at a time."""

from __future__ import annotations

import base64
import os
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from engine.errors import NetcanvasError, PluginError, WorkerError
from engine.inspection.guarding import place_in_dump
from engine.inspection.messages import (
    LayerListing,
    LayerShapes,
    ListedLayer,
    ModuleFailure,
    PluginLost,
    error_from_json,
)
from engine.inspection.process import InspectionProcess, ProcessLost
from engine.layer import Phase
from engine.plugins.scan import scan_folder
from engine.plugins.tampering import told

if TYPE_CHECKING:
    from engine.testing.reports import GradientReport

__all__ = ["InspectionClient"]

_STAGES = {"import": "imported", "setup": "set up", "reshape": "reshaped", "check": "checked"}


def _usual_memory() -> int:
    """Return the default limit in bytes: 4 GiB, or half of the machine's memory where it has little."""
    try:
        whole = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):  # not on Windows
        return 4 << 30
    return min(4 << 30, whole // 2)


class InspectionClient:
    """Owner of an inspection process, which is started by the first question and again after it was lost.

    Parameters
    ----------
    time_limit : float
        Seconds for one question.
    memory_limit : int
        Bytes of private memory for the process; 0 for no limit. 4 GiB, or half of the machine's, when omitted.
    """

    def __init__(self, *, time_limit: float = 10.0, memory_limit: int | None = None) -> None:
        self.time_limit = time_limit
        self.memory_limit = _usual_memory() if memory_limit is None else memory_limit
        self._lock = threading.Lock()
        self._process: InspectionProcess | None = None
        self._closed = False

    def layer_shapes(
        self,
        layer_param: Any,
        phase: Phase,
        bottoms: Sequence[Sequence[int]],
        *,
        base_dirs: Sequence[Path | str] = (),
        plugin_folders: Sequence[Path | str] = (),
        trusted: bool = True,
        level: int = 0,
        stages: Sequence[str] = (),
    ) -> LayerShapes:
        """Run ``setup`` and ``reshape`` of a layer for bottoms of the given shapes.

        For a Python layer this runs the user's code, and is for trusted folders only; its edited files are loaded
        anew. A data layer opens its source and looks at the first record.

        Parameters
        ----------
        layer_param : LayerParameter
            The layer's message.
        phase : Phase
            For which net.
        bottoms : sequence of shapes
            One for each bottom.
        base_dirs, plugin_folders : sequence of path
            Where files and modules are looked for.
        trusted : bool
            Whether the code of the plugins of ``base_dirs`` may run; without, only that of others does.
        level, stages : int, sequence of str
            The net's state.

        Raises
        ------
        engine.errors.NetcanvasError
            What the layer raised; :class:`PluginLost` when it hung, crashed or left.
        """
        question = _about(layer_param, phase, bottoms, base_dirs, plugin_folders, trusted)
        question |= {"level": level, "stages": list(stages)}
        result = self._ask("layer_shapes", question, layer_param.name, layer_param.type)
        tops = tuple(None if shape is None else tuple(shape) for shape in result["tops"])
        warnings = _warnings(layer_param.name, layer_param.type, result)
        return LayerShapes(tops, tuple(map(tuple, result["params"])), result["file"], warnings)

    def check_gradients(
        self,
        layer_param: Any,
        phase: Phase,
        bottoms: Sequence[Sequence[int]],
        *,
        labels: Sequence[int] = (),
        seed: int = 0,
        base_dirs: Sequence[Path | str] = (),
        plugin_folders: Sequence[Path | str] = (),
        trusted: bool = True,
    ) -> GradientReport:
        """Compare the gradients of a layer with finite differences, on random values of the given shapes.

        This runs the layer's code many times; give the client a time limit of a minute or so.

        Parameters
        ----------
        layer_param, phase, bottoms, base_dirs, plugin_folders, trusted
            As for :meth:`layer_shapes`, which says what is raised.
        labels : sequence of int
            Bottoms whose values are 0 or 1 and that have no gradient.
        seed : int
            Of values and directions.
        """
        question = _about(layer_param, phase, bottoms, base_dirs, plugin_folders, trusted)
        question |= {"labels": list(labels), "seed": seed}
        result = self._ask("check_gradients", question, layer_param.name, layer_param.type)
        from engine.testing.reports import GradientReport  # the checks load nets

        return GradientReport.from_json(result["report"])

    def list_layers(self, folder: Path, *, patience: float = 30.0) -> LayerListing:
        """Load the modules of a trusted plugin folder that define layers, and return what they offer.

        One bad module never hides another: each is asked for by itself, with a time limit of its own.

        Parameters
        ----------
        folder : Path
        patience : float
            Seconds for all modules together; those that are left then are told as not looked at.
        """
        layers: list[ListedLayer] = []
        failures: list[ModuleFailure] = []
        warnings: list[str] = []
        deadline = time.monotonic() + patience
        for module in dict.fromkeys(found.module for found in scan_folder(folder)):
            if time.monotonic() > deadline:
                late = f"not looked at: the modules before it took longer than {patience:g} seconds."
                failures.append(ModuleFailure(module, PluginError(module, "Python", late)))
                continue
            try:
                result = self._ask("list_module", {"folder": str(folder), "module": module}, module, "Python")
            except NetcanvasError as error:
                failures.append(ModuleFailure(module, error))
            else:
                layers += [ListedLayer(module, e["name"], e["file"], e["summary"]) for e in result["layers"]]
                warnings += _warnings(module, "Python", result)
        return LayerListing(tuple(layers), tuple(failures), tuple(warnings))

    def close(self) -> None:
        """End the process at once, also while another thread waits for an answer; questions after this are refused."""
        self._closed = True
        waited_for = self._process
        if self._lock.locked() and waited_for is not None:
            waited_for.stop()
        with self._lock:
            if self._process is not None:
                self._process.close()
                self._process = None

    def __enter__(self) -> InspectionClient:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self.close()

    def _ask(self, task: str, question: dict[str, Any], layer: str, layer_type: str) -> dict[str, Any]:
        with self._lock:
            process = self._running()
            try:
                answer = process.ask(task, question, self.time_limit)
            except ProcessLost as lost:
                self._process = None
                self._refuse_if_closed()
                raise self._lost(lost, layer, layer_type) from None
            if answer["spent"]:  # what its code left behind is not for the next layer
                process.kill()
                self._process = None
        patched = " ".join(_warnings(layer, layer_type, answer))
        if "error" in answer:
            fields = answer["error"]["fields"]
            fields["next_step"] = f"{fields['next_step']} {patched}".strip()
            raise error_from_json(answer["error"])
        if "failed" in answer:
            detail = f"inspection failed: {answer['failed']}"
            raise PluginError(layer, layer_type, detail, next_step=patched, traceback_text=answer["traceback"])
        result: dict[str, Any] = answer["result"]
        result["replaced"] = answer["replaced"]
        return result

    def _running(self) -> InspectionProcess:
        self._refuse_if_closed()
        if self._process is not None and not self._process.alive:
            self._process.kill()
            self._process = None
        if self._process is None:
            self._process = InspectionProcess(self.memory_limit)
            self._refuse_if_closed()
        return self._process

    def _refuse_if_closed(self) -> None:
        if self._closed:
            raise WorkerError("The inspection process is closed.", next_step="Make a new InspectionClient.")

    def _lost(self, lost: ProcessLost, layer: str, layer_type: str) -> PluginLost:
        during = f" while it was {_STAGES[lost.stage]}" if lost.stage in _STAGES else ""
        file, line, _ = place_in_dump(lost.output) if lost.reason == "time" else ("", 0, "")
        if lost.reason == "time":
            place = f" It was at {file}:{line}." if file else ""
            detail = f"no answer within {self.time_limit:g} seconds{during}; the inspection process was stopped.{place}"
            step = "Look for an endless loop, or for a long job at import or in setup."
        elif lost.reason == "garbled":
            detail = f"its code wrote into the inspection process's answers{during}; the process was stopped."
            step = "Write to standard output only."
        else:
            how = f"signal {-lost.returncode}" if lost.returncode < 0 else f"exit status {lost.returncode}"
            detail = f"its code ended the inspection process ({how}){during}."
            step = "Look for os._exit, for native code that crashes, and for memory."
        method = lost.stage if lost.stage not in ("import", "check") else ""
        error = PluginLost(layer, layer_type, detail, method=method, next_step=step, traceback_text=lost.output)
        error.file, error.line = file, line
        return error


def _about(
    layer_param: Any,
    phase: Phase,
    bottoms: Sequence[Sequence[int]],
    base_dirs: Sequence[Path | str],
    plugin_folders: Sequence[Path | str],
    trusted: bool,
) -> dict[str, Any]:
    """Return what every question about a layer says of it."""
    return {
        "layer": base64.b64encode(layer_param.SerializeToString()).decode(),
        "phase": int(phase),
        "bottoms": [list(shape) for shape in bottoms],
        "base_dirs": [str(folder) for folder in base_dirs],
        "plugin_folders": [str(folder) for folder in plugin_folders],
        "trusted": trusted,
    }


def _warnings(layer: str, layer_type: str, result: dict[str, Any]) -> tuple[str, ...]:
    """Say which names of shared modules the layer's code replaced."""
    replaced = result["replaced"]
    if not replaced:
        return ()
    return (f"Layer '{layer}' ({layer_type}): {told(replaced)}",)
