"""What is said of a run in its ``status.json``."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

__all__ = ["ACTIVE_STATES", "STATES", "RunStatus"]

STATES = ("waiting", "running", "paused", "finished", "failed", "stopped", "lost")
ACTIVE_STATES = frozenset({"waiting", "running", "paused"})


@dataclass(frozen=True, slots=True)
class RunStatus:
    """What ``status.json`` says.

    Attributes
    ----------
    state : str
        One of :data:`STATES`.
    iteration, max_iter : int
        Progress when the file was written.
    loss : float or None
        Smoothed loss of the last iteration.
    outputs : mapping
        Last outputs of the first test net.
    message : str
        One sentence for a person, for runs that failed or were lost.
    failure : mapping
        ``layer``, ``method`` and ``traceback`` of a failed run; the first two of a lost one, where they are known.
    snapshot : str
        Newest solver state, relative to the run folder.
    started, updated : float
        Seconds since the epoch.
    host, pid, mark : str, int, str
        The process: machine, number, and when it began (see :func:`engine.worker.processes.start_mark`).
    family, address : str
        Where viewers reach it, such as ``AF_UNIX`` and a path.
    """

    state: str = "waiting"
    iteration: int = 0
    max_iter: int = 0
    loss: float | None = None
    outputs: Mapping[str, Any] = field(default_factory=dict)
    message: str = ""
    failure: Mapping[str, Any] = field(default_factory=dict)
    snapshot: str = ""
    started: float = 0.0
    updated: float = 0.0
    host: str = ""
    pid: int = 0
    mark: str = ""
    family: str = ""
    address: str = ""

    @property
    def active(self) -> bool:
        """Whether the run has not ended, as far as the file knows."""
        return self.state in ACTIVE_STATES

    @classmethod
    def from_json(cls, text: str) -> RunStatus:
        """Read the file's text; raises ValueError when it is not a status."""
        data = json.loads(text)
        if not isinstance(data, dict) or data.get("state") not in STATES:
            raise ValueError("expected an object with a known state")
        known = {item.name for item in fields(cls)}
        values = {key: value for key, value in data.items() if key in known}
        if values.get("loss") is not None:
            values["loss"] = float(values["loss"])
        return cls(**values)
