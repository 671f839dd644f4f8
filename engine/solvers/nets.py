"""Which nets a solver trains and tests: Caffe's ways of naming them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from engine.errors import SolverError
from engine.layer import Phase
from engine.paths import resolve, search_folders
from engine.schema import Schema, read_net

__all__ = ["NetPlan", "plan_test_nets", "plan_train_net"]

_TRAIN_FIELDS = ("net", "net_param", "train_net", "train_net_param")


@dataclass(frozen=True, slots=True)
class NetPlan:
    """A net as a solver wants it.

    Attributes
    ----------
    param : NetParameter
        The whole net, not yet filtered.
    phase : Phase
        What it is built for.
    level : int
    stages : tuple of str
        Its state, merged from the net's own and the solver's.
    folders : tuple of Path
        Folders in which its relative paths are looked for.
    origin : str
        The field that names it, and the file, for messages.
    """

    param: Any
    phase: Phase
    level: int = 0
    stages: tuple[str, ...] = ()
    folders: tuple[Path, ...] = field(default=())
    origin: str = ""


def plan_train_net(
    param: Any, folders: Sequence[Path], net_text: str | None = None, schema: Schema | None = None
) -> NetPlan:
    """Find the training net.

    Parameters
    ----------
    param : SolverParameter
        Exactly one of ``net``, ``net_param``, ``train_net``, ``train_net_param`` is to be set.
    folders : sequence of Path
        Folders in which the net file is looked for.
    net_text : str, optional
        Prototxt that stands for whatever ``param`` names.
    schema : Schema, optional
        By which nets are read; BVLC's when left out.

    Raises
    ------
    SolverError
        If none or several are set, or the file is missing.
    """
    if net_text is not None:
        net, origin, where = read_net(net_text, schema=schema), "net", tuple(folders)
    else:
        named = [name for name in _TRAIN_FIELDS if param.HasField(name) and getattr(param, name) != ""]
        if len(named) != 1:
            got = " and ".join(named) or "none"
            raise SolverError(
                f"Solver: expected one of {', '.join(_TRAIN_FIELDS)}, got {got}.",
                next_step="Name the net's file in 'net'." if not named else "Remove all but one.",
            )
        net, origin, where = _net_of(named[0], getattr(param, named[0]), folders, schema)
    return _with_state(net, Phase.TRAIN, [param.train_state] if param.HasField("train_state") else [], where, origin)


def plan_test_nets(
    param: Any, folders: Sequence[Path], net_text: str | None = None, schema: Schema | None = None
) -> list[NetPlan]:
    """Find the test nets: ``test_net_param``, then ``test_net``, then ``net`` for each ``test_iter`` that is left.

    Parameters
    ----------
    param : SolverParameter
    folders : sequence of Path
        Folders in which net files are looked for.
    net_text : str, optional
        Prototxt that stands for ``net`` or ``net_param``.
    schema : Schema, optional
        By which nets are read; BVLC's when left out.

    Raises
    ------
    SolverError
        If ``test_iter`` or ``test_state`` does not fit the nets, or ``test_interval`` is missing.
    """
    own: list[tuple[Any, str, tuple[Path, ...]]] = [
        (net, f"test_net_param {index}", tuple(folders)) for index, net in enumerate(param.test_net_param)
    ]
    own += [_net_of(f"test_net {index}", written, folders, schema) for index, written in enumerate(param.test_net)]
    generic = net_text is not None or param.HasField("net") or param.HasField("net_param")
    wanted = len(param.test_iter)
    if wanted < len(own) or (not generic and wanted != len(own)):
        raise SolverError(
            f"Solver: expected one test_iter for each of {len(own)} test nets, got {wanted}.",
            next_step="Give each test net its number of batches in test_iter.",
        )
    if generic and wanted > len(own):
        if net_text is not None:
            shared: tuple[Any, str, tuple[Path, ...]] = (read_net(net_text, schema=schema), "net", tuple(folders))
        elif param.HasField("net"):
            shared = _net_of("net", param.net, folders, schema)
        else:
            shared = (param.net_param, "net_param", tuple(folders))
        own += [shared] * (wanted - len(own))
    if own and len(param.test_state) not in (0, len(own)):
        raise SolverError(
            f"Solver: expected no test_state or one for each of {len(own)} test nets, got {len(param.test_state)}."
        )
    if own and param.test_interval < 1:
        raise SolverError(
            f"Solver: expected a test_interval of at least 1 with {len(own)} test nets, got {param.test_interval}.",
            next_step="Set test_interval, or remove test_iter.",
        )
    states = list(param.test_state) or [None] * len(own)
    return [
        _with_state(net, Phase.TEST, [state] if state is not None else [], where, origin)
        for (net, origin, where), state in zip(own, states, strict=True)
    ]


def _net_of(name: str, value: Any, folders: Sequence[Path], schema: Schema | None) -> tuple[Any, str, tuple[Path, ...]]:
    if not isinstance(value, str):
        return value, name, tuple(folders)
    found = resolve(value, folders)
    if not found.found:
        tried = ", ".join(f"'{path}'" for path in found.tried)
        raise SolverError(f"Solver: {name} '{value}' was not found; tried {tried}.", next_step="Correct the path.")
    where = tuple(dict.fromkeys((*folders, *search_folders(found.path.parent))))
    return read_net(found.path, schema=schema), f"{name} '{found.path}'", where


def _with_state(net: Any, phase: Phase, states: Sequence[Any], folders: tuple[Path, ...], origin: str) -> NetPlan:
    level, stages = int(net.state.level), list(net.state.stage)
    for state in states:
        level = int(state.level) if state.HasField("level") else level
        stages += state.stage
    return NetPlan(net, phase, level, tuple(dict.fromkeys(stages)), folders, origin)
