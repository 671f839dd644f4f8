"""From a document to a run folder."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from app.training.testnets import edited_test_nets
from engine.graph import UNWIRED
from engine.paths import search_folders
from engine.worker import RunFolder, TrainingProcess, run_parents

if TYPE_CHECKING:
    from app.document import Document

__all__ = ["Launch", "default_solver_text", "obstacle", "only_assumed", "run_parents", "solver_choices"]

_BIGGEST_SOLVER = 256 * 1024


@dataclass(frozen=True, slots=True)
class Launch:
    """All that starts a new training, frozen at the moment of the click.

    Attributes
    ----------
    parent : Path
        Folder of the runs.
    name : str
        What the run is called after.
    net_text, solver_text : str
        What trains.
    extras_text : str or None
        Text of ``SOLVER.prototxt.extras.json``, where there is one.
    base_dirs, plugin_paths : sequence of Path
        Where data and plugins are looked for.
    origin : mapping
        Where the texts came from, for the run's records.
    test_nets : mapping of str to str
        Texts of test nets that are edited and not saved, by how the solver names them.
    weights, snapshot : Path or None
        A ``.caffemodel`` to begin from, or a ``.solverstate`` to go on from.
    """

    parent: Path
    name: str
    net_text: str
    solver_text: str
    extras_text: str | None = None
    base_dirs: Sequence[Path] = ()
    plugin_paths: Sequence[Path] = ()
    origin: dict[str, str] = field(default_factory=dict)
    test_nets: Mapping[str, str] = field(default_factory=dict)
    weights: Path | None = None
    snapshot: Path | None = None

    @classmethod
    def of(cls, document: Document, others: Iterable[Document] = ()) -> Launch:
        """Freeze what the document says now.

        Parameters
        ----------
        document : Document
            The net that trains.
        others : iterable of Document
            Other nets that are open: those that its solver tests with are taken as they are edited.

        Raises
        ------
        OSError
            When the solver cannot be read.
        ValueError
            When a solver was chosen that is not there: settings made up would train something else.
        """
        path = document.path
        solver_text = document.solver_text
        if solver_text is None and document.solver_path is not None:
            raise ValueError(f"'{document.solver_path.name}' is not there")
        tests = edited_test_nets(document, others)
        folders = [folder for _text, file in tests.values() for folder in search_folders(file.parent)]
        origin = {"net_path": str(path or ""), "solver_path": str(document.solver_path or "")}
        return cls(
            parent=run_parents(path)[0],
            name=path.stem if path else (document.graph.net_name or "untitled"),
            net_text=bytes(document.graph).decode("utf-8", "surrogateescape"),
            solver_text=default_solver_text(document) if solver_text is None else solver_text,
            extras_text=_extras_of(document.solver_path),
            base_dirs=tuple(dict.fromkeys([*search_folders(path.parent if path else None), *folders])),
            plugin_paths=tuple(getattr(document, "plugin_paths", ())),
            origin=origin,
            test_nets={written: text for written, (text, _file) in tests.items()},
        )

    def start(self) -> tuple[RunFolder, TrainingProcess]:
        """Write the run folder and start its process; WorkerError says what is in the way."""
        run = RunFolder.create(
            self.parent,
            self.net_text,
            self.solver_text,
            self.name,
            extras_text=self.extras_text,
            environment=self.origin,
            test_nets=self.test_nets,
        )
        process = TrainingProcess.start(
            run,
            base_dirs=self.base_dirs,
            plugin_paths=self.plugin_paths,
            weights=self.weights,
            snapshot=self.snapshot,
        )
        return run, process


def obstacle(document: Document | None) -> str:
    """Say why a document cannot be trained, or nothing."""
    if document is None:
        return "Open a net first."
    if document.waits_for:
        return document.waits_for
    graph = document.graph
    if not len(graph):
        return "The net is empty. Add layers first (Tab)."
    unwired = graph.readers(UNWIRED)
    return f"Layer '{graph.node(unwired[0]).name}' has an open bottom. Connect it first." if unwired else ""


def only_assumed(document: Document) -> str:
    """Say that a run takes nothing of what is assumed of the shapes of a net; nothing where nothing is."""
    blobs = sorted({known.assumed for known in document.shapes.values() if known.assumed})
    names = " and ".join(f"'{blob}'" for blob in blobs)
    return f"What is assumed of {names} is only looked at here: a run reads the data themselves." if blobs else ""


def _extras_of(solver: Path | None) -> str | None:
    path = None if solver is None else solver.with_name(f"{solver.name}.extras.json")
    return path.read_bytes().decode("utf-8", "surrogateescape") if path is not None and path.is_file() else None


def default_solver_text(document: Document) -> str:
    """Return settings for a net without a solver file: SGD for 1,000 iterations, with tests where the net has some."""
    lines = [
        "# Settings that Netcanvas made up, for there was no solver file beside the net.",
        'type: "SGD"',
        "base_lr: 0.01",
        "momentum: 0.9",
        "weight_decay: 0.0005",
        'lr_policy: "inv"',
        "gamma: 0.0001",
        "power: 0.75",
        "max_iter: 1000",
        "display: 100",
        "snapshot: 500",
    ]
    if any(node.type == "Accuracy" and "TEST" in node.phases for node in document.graph.nodes()):
        lines += ["test_iter: 10", "test_interval: 100"]
    return "\n".join(lines) + "\n"


def solver_choices(net: Path | None, chosen: Path | None) -> list[Path]:
    """Return the solver files beside a net, and the chosen one wherever it lies."""
    found = set() if chosen is None else {chosen}
    if net is not None:
        for path in net.parent.glob("*.prototxt"):
            if path != net and (path == chosen or _looks_like_solver(path)):
                found.add(path)
    return sorted(found, key=lambda path: path.name)


def _looks_like_solver(path: Path) -> bool:
    from app.document.solverfile import net_of_solver

    try:
        small = path.stat().st_size <= _BIGGEST_SOLVER
    except OSError:
        return False
    return small and ("solver" in path.stem.lower() or net_of_solver(path) is not None)
