"""What commands print: results on standard output; log, progress and errors on standard error."""

from __future__ import annotations

import errno
import json
import logging
import math
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext, redirect_stdout
from typing import Any

import numpy as np
import numpy.typing as npt
from tqdm import tqdm

from engine.errors import LayerError, NetcanvasError
from engine.worker.logs import GlogFormatter

__all__ = ["Output", "error_text", "score_lines", "score_values"]

_BAR = "{desc} {percentage:3.0f}%|{bar}| {n_fmt}/{total_fmt} [{elapsed}<{remaining}, {rate_fmt}{postfix}]"
_MOST_VALUES = 32


class Output:
    """One command's output.

    Parameters
    ----------
    quiet : bool
        Print results and errors only.
    always_bar : bool
        Show a progress bar even where standard error is no terminal, and no log lines below warnings.
    as_json : bool
        Results are JSON.
    """

    def __init__(self, *, quiet: bool = False, always_bar: bool = False, as_json: bool = False) -> None:
        self.terminal = sys.stderr.isatty()
        self.quiet = quiet
        self.as_json = as_json
        self._results = sys.stdout
        self.has_bar = not quiet and (self.terminal or always_bar)
        self._level = logging.WARNING if quiet or always_bar else logging.INFO

    @contextmanager
    def logging(self) -> Iterator[None]:
        """Send log records to standard error: plain on a terminal, in Caffe's form where a program may read them."""
        handler = _BarFriendlyHandler()
        handler.setFormatter(logging.Formatter("%(message)s") if self.has_bar else GlogFormatter())
        handler.setLevel(self._level)
        root = logging.getLogger()
        before = root.level
        root.addHandler(handler)
        root.setLevel(self._level)
        try:
            with self.results_alone():
                yield
        finally:
            root.removeHandler(handler)
            root.setLevel(before)

    @contextmanager
    def results_alone(self) -> Iterator[None]:
        """Where results are JSON, send to standard error what plugins print, so that the JSON stands alone."""
        with redirect_stdout(sys.stderr) if self.as_json else nullcontext():
            yield

    def bar(self, total: int | None, start: int = 0, text: str = "", unit: str = "it") -> tqdm[Any]:
        """Return a progress bar, which does nothing where none is shown; without a total it only counts."""
        return tqdm(
            total=total,
            initial=start,
            desc=text,
            disable=not self.has_bar,
            bar_format=_BAR if total is not None else None,
            dynamic_ncols=True,
            mininterval=0.1 if self.terminal else 2.0,
            unit=unit,
            leave=True,
        )

    def result(self, lines: list[str], data: Mapping[str, Any]) -> None:
        """Print a result, as lines or as JSON."""
        text = json.dumps(_finite(data), allow_nan=False) if self.as_json else "\n".join(lines)
        try:
            print(text, file=self._results if self.as_json else sys.stdout, flush=True)
        except (ValueError, OSError) as error:
            if isinstance(error, OSError) and error.errno != errno.EBADF:
                raise
            sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115  # the old one would be flushed at exit
            self.error(f"A plugin's code closed the standard output, where this belongs:\n{text}")

    def note(self, text: str) -> None:
        """Print a remark that is no result, unless only results are wanted."""
        if not self.quiet:
            tqdm.write(text, file=sys.stderr)

    @staticmethod
    def error(text: str) -> None:
        """Print an error."""
        tqdm.write(f"netcanvas: error: {text}", file=sys.stderr)


class _BarFriendlyHandler(logging.Handler):
    """Writes lines above a progress bar."""

    def emit(self, record: logging.LogRecord) -> None:
        """Write one record."""
        try:
            tqdm.write(self.format(record), file=sys.stderr)
        except Exception:
            self.handleError(record)


def error_text(error: BaseException) -> str:
    """Return an error as a person should see it, with a plugin's own traceback where there is one."""
    if isinstance(error, LayerError) and error.traceback_text:
        return f"{error}\n{error.traceback_text.rstrip()}"
    if isinstance(error, NetcanvasError):
        return "\n".join([str(error), *getattr(error, "__notes__", ())])
    if isinstance(error, OSError):
        return _os_error_text(error)
    return f"{type(error).__name__}: {error}"


def _os_error_text(error: OSError) -> str:
    """Return what the operating system refused, and what to do about it."""
    name = f"'{os.fsdecode(error.filename)}'" if isinstance(error.filename, (str, bytes, os.PathLike)) else "The file"
    known = {
        errno.ENOENT: f"{name} was not found. Check the path.",
        errno.EISDIR: f"{name} is a folder. Name a file.",
        errno.ENOTDIR: f"{name}: a part of this path is no folder. Check the path.",
        errno.EACCES: f"{name} may not be read or written. Check its permissions.",
        errno.EROFS: f"{name} cannot be written: the disk is read-only. Choose another place.",
        errno.ENOSPC: f"{name} cannot be written: the disk is full. Free some space and run again.",
    }
    return known.get(error.errno or 0, f"{name}: {error.strerror or error}. Check the file and its disk.")


def _finite(data: Any) -> Any:
    """Return data with null for NaN and infinity, which JSON has no words for."""
    if isinstance(data, float):
        return data if math.isfinite(data) else None
    if isinstance(data, Mapping):
        return {name: _finite(value) for name, value in data.items()}
    return [_finite(value) for value in data] if isinstance(data, list) else data


def score_lines(outputs: Mapping[str, npt.NDArray[Any]]) -> list[str]:
    """Return test scores as lines, large outputs summarised."""
    lines = []
    for name, values in outputs.items():
        flat = np.asarray(values).reshape(-1)
        if len(flat) > _MOST_VALUES:
            lines.append(
                f"{name} = {flat.mean():g} (mean of {len(flat)} values of shape {values.shape}, "
                f"from {flat.min():g} to {flat.max():g})"
            )
        else:
            lines.append(f"{name} = {', '.join(f'{value:g}' for value in flat)}")
    return lines


def score_values(outputs: Mapping[str, npt.NDArray[Any]]) -> dict[str, Any]:
    """Return test scores for JSON: a number, or nested lists in the output's shape."""
    return {name: values.item() if values.size == 1 else values.tolist() for name, values in outputs.items()}
