"""The settings of a solver as a form edits them, and how they are grouped."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from app.properties.groups import FieldGroup
from app.properties.target import GraphTarget

if TYPE_CHECKING:
    from app.solver.document import SolverDocument
    from engine.schema import Schema

__all__ = ["SolverTarget", "solver_groups"]

MESSAGE = "SolverParameter"
_RATE = ("lr_policy", "base_lr", "gamma", "power", "stepsize", "stepvalue", "max_iter")
_UPDATE = (
    "type",
    "momentum",
    "momentum2",
    "rms_decay",
    "delta",
    "weight_decay",
    "regularization_type",
    "clip_gradients",
    "iter_size",
    "random_seed",
    "weights",
)
_GROUPS = (
    ("Learning rate", _RATE, "how it falls, and for how long", True),
    (
        "Update",
        _UPDATE,
        "the rule that changes the weights",
        True,
    ),
    (
        "Net",
        ("net", "train_net", "test_net", "net_param", "train_net_param", "test_net_param", "train_state", "test_state"),
        "what is trained and tested",
        True,
    ),
    (
        "Testing",
        ("test_iter", "test_interval", "test_initialization", "test_compute_loss"),
        "when, and over how many batches",
        True,
    ),
    (
        "Snapshots",
        ("snapshot", "snapshot_prefix", "snapshot_format", "snapshot_diff", "snapshot_after_train"),
        "when the weights are kept, and where",
        True,
    ),
    ("Log", ("display", "average_loss", "debug_info"), "what is told meanwhile", True),
    ("Device", ("solver_mode", "device_id", "layer_wise_reduce"), "for Caffe; a run chooses its own", False),
)


def solver_groups(schema: Schema) -> tuple[FieldGroup, ...]:
    """Return the groups of a solver's fields, those of a dialect and of old files last."""
    solver = schema.describe(MESSAGE)
    groups = []
    for title, names, note, is_open in _GROUPS:
        infos = tuple(info for name in names if (info := solver.field(name)) is not None)
        groups.append(FieldGroup(title, MESSAGE, (), infos, note, is_open))
    named = {info.name for group in groups for info in group.fields}
    rest = tuple(info for info in solver.fields if info.name not in named)
    return (*groups, FieldGroup("More", MESSAGE, (), rest))


class SolverTarget(GraphTarget):
    """The fields of a solver's file."""

    def __init__(self, solver: SolverDocument) -> None:
        self.solver = solver
        super().__init__(solver, (None,))

    @property
    def schema(self) -> Schema:
        """The schema of the fields."""
        return self.solver.schema

    @property
    def folder(self) -> Path | None:
        """Folder that relative paths belong to."""
        return self.solver.path.parent

    @property
    def unknown(self) -> frozenset[str]:
        """Names of fields that the schema does not know."""
        return self.present - {info.name for info in self.schema.describe(MESSAGE).fields}

    def _whose(self) -> str:
        return "the solver"
