"""Options of a solver that Caffe does not have, kept beside its file so that Caffe still reads that.

``SOLVER.prototxt.extras.json`` is an object with any of these, each an object too:

``warm_up``
    ``iterations`` : the rate grows for so many iterations. ``start`` : from this part of what the policy says (0.1).
``early_stopping``
    ``output`` : name of an output of a test net. ``goal`` : ``"max"`` or ``"min"``, what is better. ``patience`` : end
    after so many tests in a row without a better value. ``min_delta`` : by how much it must be better (0).
    ``test_net`` : which test net (0). ``snapshot_best`` : take a snapshot whenever the value is better (false).
``retention``
    ``keep_last`` : of the snapshots that this training took, keep so many of the newest. ``keep_every`` : keep those of
    every so many iterations as well. ``keep_best`` : keep the best one for early stopping as well (true).
"""

from __future__ import annotations

import difflib
import json
import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from engine.errors import SolverError

__all__ = ["EarlyStopping", "Retention", "SolverExtras", "WarmUp", "extras_file", "parse_extras", "read_extras"]


@dataclass(frozen=True, slots=True)
class WarmUp:
    """A learning rate that grows to what the policy says (Goyal et al. 2017, section 2.2: gradual warmup).

    Attributes
    ----------
    iterations : int
        Length.
    start : float
        Factor of the first iteration, from 0 to 1.
    """

    iterations: int
    start: float = 0.1

    def factor(self, iteration: int) -> float:
        """Return the factor on the policy's rate: ``start + (1 - start) i / iterations``, and 1 from then on."""
        return min(1.0, self.start + (1.0 - self.start) * iteration / self.iterations)


@dataclass(frozen=True, slots=True)
class EarlyStopping:
    """When to end a training that gets no better; see the module for the fields."""

    output: str
    goal: str
    patience: int
    min_delta: float = 0.0
    test_net: int = 0
    snapshot_best: bool = False


@dataclass(frozen=True, slots=True)
class Retention:
    """Which snapshots to keep; see the module for the fields."""

    keep_last: int
    keep_every: int | None = None
    keep_best: bool = True


@dataclass(frozen=True, slots=True)
class SolverExtras:
    """All options beyond Caffe's; None is off."""

    warm_up: WarmUp | None = None
    early_stopping: EarlyStopping | None = None
    retention: Retention | None = None

    def lines(self) -> list[str]:
        """Describe what is on, a line each, for the log."""
        found = []
        if (warm := self.warm_up) is not None:
            found.append(f"Warm-up: {warm.iterations} iterations from {warm.start:g} times the learning rate.")
        if (stop := self.early_stopping) is not None:
            better = f"{'above' if stop.goal == 'max' else 'below'} the best"
            by = f" by more than {stop.min_delta:g}" if stop.min_delta else ""
            found.append(
                f"Early stopping: after {stop.patience} tests in a row without '{stop.output}' {better}{by} in test "
                f"net (#{stop.test_net})."
            )
        if (keep := self.retention) is not None:
            every = f", those of every {keep.keep_every} iterations" if keep.keep_every else ""
            best = " and the best one" if keep.keep_best and stop is not None else ""
            found.append(f"Retention: the newest {keep.keep_last} snapshots{every}{best} are kept.")
        return found


def extras_file(solver: Path) -> Path:
    """Return where the extras of a solver's file lie."""
    return solver.with_name(f"{solver.name}.extras.json")


def read_extras(solver: Path) -> SolverExtras:
    """Read the extras beside a solver's file; without such a file, everything is off.

    Raises
    ------
    SolverError
        If the file cannot be read, or something in it is wrong.
    """
    path = extras_file(solver)
    try:
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        return SolverExtras()
    except (OSError, UnicodeDecodeError) as error:
        raise SolverError(
            f"'{path}' cannot be read: {getattr(error, 'strerror', None) or error}.",
            next_step="Correct it, or remove it to train without its options.",
        ) from error
    return parse_extras(text, os.fspath(path))


def parse_extras(text: str, source: str = "extras") -> SolverExtras:
    """Read extras from JSON text.

    Parameters
    ----------
    text : str
    source : str
        Where it came from, for messages.

    Raises
    ------
    SolverError
        Naming the option, what was expected and what came.
    """
    try:
        data = json.loads(text, object_pairs_hook=lambda pairs: _object(pairs, source))
    except json.JSONDecodeError as error:
        raise SolverError(
            f"{source}:{error.lineno}:{error.colno}: expected JSON, got something else: {error.msg}.",
            next_step="Correct the file, or remove it to train without its options.",
        ) from error
    block = _Block(data, "", source, ("warm_up", "early_stopping", "retention"))
    extras = SolverExtras(_warm_up(block), _early_stopping(block), _retention(block))
    if data.get("retention", {}).get("keep_best") and extras.early_stopping is None:
        raise _error(source, "retention.keep_best", "early_stopping, which says what is best", "none")
    return extras


def _object(pairs: Sequence[tuple[str, Any]], source: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise _error(source, key, "one value", "two")
        found[key] = value
    return found


def _warm_up(root: _Block) -> WarmUp | None:
    block = root.block("warm_up", ("iterations", "start"))
    if block is None:
        return None
    return WarmUp(block.integer("iterations", 1), block.number("start", 0.1, most=1.0))


def _early_stopping(root: _Block) -> EarlyStopping | None:
    block = root.block("early_stopping", ("output", "goal", "patience", "min_delta", "test_net", "snapshot_best"))
    if block is None:
        return None
    return EarlyStopping(
        block.text("output"),
        block.text("goal", ("max", "min")),
        block.integer("patience", 1),
        block.number("min_delta", 0.0),
        block.integer("test_net", 0, 0),
        block.flag("snapshot_best", False),
    )


def _retention(root: _Block) -> Retention | None:
    block = root.block("retention", ("keep_last", "keep_every", "keep_best"))
    if block is None:
        return None
    every = block.integer("keep_every", 1) if "keep_every" in block.data else None
    return Retention(block.integer("keep_last", 1), every, block.flag("keep_best", True))


class _Block:
    """One object of the file, whose values are asked for by name and kind."""

    def __init__(self, data: Any, path: str, source: str, known: Sequence[str]) -> None:
        self._path = path
        self._source = source
        if not isinstance(data, dict):
            raise _error(source, path or "the file", "an object", data)
        self.data: Mapping[str, Any] = MappingProxyType(data)
        for key in data:
            if key not in known:
                near = difflib.get_close_matches(key, known, 1)
                hint = f"Did you mean '{near[0]}'?" if near else "Remove it."
                raise _error(source, self._name(key), f"an option among {', '.join(known)}", f"'{key}'", hint)

    def _name(self, key: str) -> str:
        return f"{self._path}.{key}" if self._path else key

    def block(self, key: str, known: Sequence[str]) -> _Block | None:
        if key not in self.data:
            return None
        return _Block(self.data[key], self._name(key), self._source, known)

    def _get(self, key: str, expected: str, default: Any) -> Any:
        if key not in self.data and default is None:
            raise _error(self._source, self._name(key), expected, "nothing")
        return self.data.get(key, default)

    def integer(self, key: str, least: int, default: int | None = None) -> int:
        expected = f"a whole number of {least} or more"
        value = self._get(key, expected, default)
        if isinstance(value, bool) or not isinstance(value, int) or value < least:
            raise _error(self._source, self._name(key), expected, value)
        return value

    def number(self, key: str, default: float, most: float = math.inf) -> float:
        value = self._get(key, "", default)
        expected = "a number of 0 or more" if math.isinf(most) else f"a number from 0 to {most:g}"
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= most:
            raise _error(self._source, self._name(key), expected, value)
        if math.isinf(value):
            raise _error(self._source, self._name(key), "a finite number", value)
        return float(value)

    def text(self, key: str, among: Sequence[str] = ()) -> str:
        expected = " or ".join(f'"{word}"' for word in among) or "a text"
        value = self._get(key, expected, None)
        if not isinstance(value, str) or not value or (among and value not in among):
            raise _error(self._source, self._name(key), expected, value)
        return value

    def flag(self, key: str, default: bool) -> bool:
        value = self._get(key, "true or false", default)
        if not isinstance(value, bool):
            raise _error(self._source, self._name(key), "true or false", value)
        return value


def _error(source: str, name: str, expected: str, got: Any, next_step: str = "") -> SolverError:
    shown = got if isinstance(got, str) and (got in ("nothing", "none", "two") or got[:1] == "'") else json.dumps(got)
    return SolverError(f"{source}: {name}: expected {expected}, got {shown}.", next_step=next_step or "Correct it.")
