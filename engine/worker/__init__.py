"""Training in a process of its own, and watching it.

A run is a folder (:class:`RunFolder`). :meth:`TrainingProcess.start` trains it in a process that needs nobody;
:func:`attach` lets any number of viewers listen and give commands, now or later, from this program or another.
"""

from engine.worker.client import TrainingProcess, Viewer, attach, kill
from engine.worker.events import (
    Event,
    Failure,
    Finished,
    Hello,
    LogRecord,
    Lost,
    Metrics,
    Output,
    Progress,
    SnapshotTaken,
    StateChanged,
    TensorReply,
    Updates,
)
from engine.worker.logs import LogTail
from engine.worker.metrics import History, read_history
from engine.worker.places import run_parents
from engine.worker.protocol import PROTOCOL_VERSION, Message, ProtocolError, ProtocolVersionError
from engine.worker.runfolder import RunFolder, list_runs, snapshot_iteration
from engine.worker.runstatus import ACTIVE_STATES, STATES, RunStatus

__all__ = [
    "ACTIVE_STATES",
    "PROTOCOL_VERSION",
    "STATES",
    "Event",
    "Failure",
    "Finished",
    "Hello",
    "History",
    "LogRecord",
    "LogTail",
    "Lost",
    "Message",
    "Metrics",
    "Output",
    "Progress",
    "ProtocolError",
    "ProtocolVersionError",
    "RunFolder",
    "RunStatus",
    "SnapshotTaken",
    "StateChanged",
    "TensorReply",
    "TrainingProcess",
    "Updates",
    "Viewer",
    "attach",
    "kill",
    "list_runs",
    "read_history",
    "run_parents",
    "snapshot_iteration",
]
