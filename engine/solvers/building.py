"""From a solver's file to its nets."""

from __future__ import annotations

import logging
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine.backends import Backend, get_backend
from engine.errors import SolverError
from engine.net import Net
from engine.paths import resolve, search_folders
from engine.registry import LayerRegistry, default_registry
from engine.schema import read_solver
from engine.solvers.course import check_test_net
from engine.solvers.extras import SolverExtras, read_extras
from engine.solvers.nets import NetPlan, plan_test_nets, plan_train_net
from engine.solvers.policies import check_policy
from engine.solvers.rules import RULES
from engine.solvers.update import UpdateRule

__all__ = ["SolverParts", "build", "check_settings", "rule_type"]

_log = logging.getLogger("engine.solvers")
_GPU = 1  # SolverParameter.SolverMode
_OLD_TYPES = ("SGD", "Nesterov", "AdaGrad", "RMSProp", "AdaDelta", "Adam")


@dataclass(frozen=True, slots=True)
class SolverParts:
    """What a solver is made of.

    Attributes
    ----------
    param : SolverParameter
    net : Net
        The training net.
    test_nets : tuple of Net
        They share the training net's parameters.
    prefix : str
        ``snapshot_prefix``, or the solver file's name without its ending; within the folder if the prefix is one.
    extras : SolverExtras
        Options beyond Caffe's.
    seed : int
        As given, from ``random_seed``, or drawn.
    folders : tuple of Path
        Folders in which relative paths are looked for.
    """

    param: Any
    net: Net
    test_nets: tuple[Net, ...]
    prefix: str
    extras: SolverExtras
    seed: int
    folders: tuple[Path, ...]

    def find(self, written: str) -> Path:
        """Return the file that a path of the solver means."""
        return resolve(written, self.folders).path


def build(
    param: Any,
    *,
    net_text: str | None,
    base_dirs: Sequence[Path],
    backend: str | Backend | None,
    registry: LayerRegistry | None,
    seed: int | None,
    source: Path | None,
    output_dir: Path | None,
) -> SolverParts:
    """Read a solver and build its nets; parameters and errors are those of ``Solver.create``."""
    file = _file_of(param) or source
    folders = tuple(base_dirs) or search_folders(file.parent if file else None)
    types = registry if registry is not None else default_registry(folders)
    schema = types.schema()
    message = read_solver(file or param, schema=schema) if isinstance(param, (str, Path)) else param
    _check_numbers(message)
    extras = read_extras(file) if file else SolverExtras()
    if seed is None:
        seed = int(message.random_seed) if message.random_seed >= 0 else secrets.randbelow(2**31)
    plans = [
        plan_train_net(message, folders, net_text, schema),
        *plan_test_nets(message, folders, net_text, schema),
    ]
    where = get_backend(backend or "numpy") if backend is None or isinstance(backend, str) else backend
    if where.is_host and message.HasField("solver_mode") and message.solver_mode == _GPU:
        _log.warning("solver_mode is GPU, but there is none that can be used: training on the CPU.")
    for index, plan in enumerate(plans):
        kind = f"test net (#{index - 1})" if index else "training net"
        _log.info("Creating %s from %s", kind, plan.origin)
    net = _build_net(plans[0], types, where, seed, None)
    test_nets = tuple(_build_net(plan, types, where, seed, net) for plan in plans[1:])
    return SolverParts(message, net, test_nets, _prefix(message, file, output_dir), extras, seed, folders)


def _prefix(param: Any, file: Path | None, output_dir: Path | None) -> str:
    """Return the prefix of snapshots, made up as Caffe does where the solver names none or a folder."""
    stem = file.stem if file else "snapshot"
    if not param.snapshot_prefix:
        return str(file.resolve().with_suffix("")) if file else stem
    if ((output_dir or Path()) / param.snapshot_prefix).is_dir():
        return str(Path(param.snapshot_prefix) / stem)
    return str(param.snapshot_prefix)


def check_settings(path: Path) -> None:
    """Refuse a solver file with faults that show without building its nets.

    Parameters
    ----------
    path : Path
        The solver's prototxt.

    Raises
    ------
    NetcanvasError
        The first fault: of the text, of a setting, of the extras beside it, or of a net file that cannot be found or
        read.
    """
    folders = search_folders(path.parent)
    schema = default_registry(folders).schema()
    param = read_solver(path, schema=schema)
    _check_numbers(param)
    rule_type(param)(param, (), get_backend("numpy"))
    extras = read_extras(path)
    plan_train_net(param, folders, schema=schema)
    check_test_net(extras.early_stopping, len(plan_test_nets(param, folders, schema=schema)))


def _check_numbers(param: Any) -> None:
    """Refuse settings that no training can have, and warn of a rate that was forgotten."""
    check_policy(param)
    rule_type(param)
    counts = [(name, int(getattr(param, name)), 1) for name in ("iter_size", "average_loss")]
    counts += [(name, int(getattr(param, name)), 0) for name in ("max_iter", "display", "snapshot")]
    counts += [("test_iter", int(batches), 1) for batches in param.test_iter]
    for name, value, least in counts:
        if value < least:
            raise SolverError(
                f"Solver: expected {name} of {least} or more, got {value}.", next_step=f"Correct {name}, or remove it."
            )
    if (param.regularization_type or "L2") not in ("L1", "L2"):
        raise SolverError(
            f"Solver: expected a regularization_type of L1 or L2, got '{param.regularization_type}'.",
            next_step="Write one of these, or remove it: L2 is what counts without it.",
        )
    if not param.base_lr:
        _log.warning(
            "Solver: base_lr is %s, so nothing will be learned.", "0" if param.HasField("base_lr") else "not set"
        )


def rule_type(param: Any) -> type[UpdateRule]:
    """Return the update rule that ``type``, or the older ``solver_type``, names.

    Raises
    ------
    SolverError
        If there is none of that name.
    """
    name = param.type or "SGD"
    if param.HasField("solver_type") and not param.HasField("type"):
        name = _OLD_TYPES[param.solver_type]
    rule = RULES.get(name)
    if rule is None:
        raise SolverError(
            f"Solver: expected a type among {', '.join(RULES)}, got '{name}'.", next_step="Correct the solver's type."
        )
    return rule


def _file_of(param: Any) -> Path | None:
    """Return the path that ``param`` is, None if it is a message or text."""
    if isinstance(param, Path):
        return param
    if isinstance(param, str) and not any(mark in param for mark in "\n:{"):
        return Path(param)
    return None


def _build_net(plan: NetPlan, registry: LayerRegistry, backend: Backend, seed: int, share_with: Net | None) -> Net:
    return Net(
        plan.param,
        plan.phase,
        registry=registry,
        backend=backend,
        level=plan.level,
        stages=plan.stages,
        base_dirs=plan.folders,
        seed=seed,
        share_with=share_with,
    )
