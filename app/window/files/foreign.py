"""Files that are neither nets nor solvers: what they are, and what the net in view can do with them."""

from __future__ import annotations

import contextlib
import mmap
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from app.window.files.solverfollow import name_in_solver
from engine.errors import NetcanvasError
from engine.schema import FileKind, describe_kind, sniff

if TYPE_CHECKING:
    from app.document import Document
    from app.window.mainwindow import MainWindow
    from engine.graph import OpGraph

__all__ = ["Choices", "ForeignFiles", "kind_of"]

#: What is read as a net or a solver, whatever is wrong with it.
_READ = frozenset((FileKind.EMPTY, FileKind.NET_TEXT, FileKind.SOLVER_TEXT, FileKind.TEXT, FileKind.JSON))
_MEAN_FOR = ("Data", "ImageData", "WindowData")
_SIDECARS = {".canvas.json": "how '{}' is arranged", ".extras.json": "settings of ours for the solver '{}'"}

Choices = list[tuple[str, Callable[[], object]]]


class ForeignFiles(QObject):
    """Says what a file is that cannot be edited here, and offers what it is for.

    Parameters
    ----------
    window : MainWindow
        Where it is said.
    """

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window

    def take(self, path: Path) -> bool:
        """Tell of a file that is no text of a net or a solver; return False for one that may be."""
        if path.suffix == ".py":
            self._window.plugins.show_code(path)
            return True
        for ending, words in _SIDECARS.items():
            if path.name.endswith(ending):
                what = words.format(path.name.removesuffix(ending))
                self._window.notify(f"'{path.name}' says {what}. Open that; it is read with it.", "warning")
                return True
        kind = kind_of(path)
        if kind is None:
            return False
        text, choices = self._told(path, kind)
        self._window.notify(text, "info" if choices else "error", choices).keep()
        return True

    def _told(self, path: Path, kind: FileKind) -> tuple[str, Choices]:
        stem, document = path.name.removesuffix(".h5"), self._window.document
        is_hdf5 = kind is FileKind.HDF5
        if kind is FileKind.WEIGHTS or (is_hdf5 and stem.endswith(".caffemodel")):
            return self._weights(path, document)
        if kind is FileKind.SOLVER_STATE or (is_hdf5 and stem.endswith(".solverstate")):
            text = f"'{path.name}' is the state of a solver, from which a training goes on where it was."
            if not len(document.graph):
                return f"{text} Open its net first.", []
            return text, [(f"Go on training '{document.title}'", partial(self.train, snapshot=path))]
        if kind is FileKind.BLOB:
            return self._mean(path, document)
        if kind is FileKind.IMAGE:
            return (
                f"'{path.name}' is an image. Nets read images from a list, by an ImageData layer, or from a database "
                "that 'netcanvas convert_imageset' makes.",
                [],
            )
        if kind is FileKind.HDF5:
            return f"'{path.name}' is an HDF5 file. An HDF5Data layer reads those that a text file lists.", []
        with _content(path) as data:
            what, step = describe_kind(data)
        step = step if step != "Check the path." else "Nets and solvers are prototxt text."
        return f"'{path.name}' is {what}. {step}", []

    def _weights(self, path: Path, document: Document) -> tuple[str, Choices]:
        text = f"'{path.name}' holds trained weights, by the names of layers."
        if not len(document.graph):
            return f"{text} Open their net first.", []
        choices: Choices = [(f"Train '{document.title}' from them", partial(self.train, weights=path))]
        if document.solver_path is not None:
            choices.append(("Name them in the solver", partial(self._name_weights, document, path)))
        if not path.name.endswith(".h5"):
            choices.append(("Open the net in it", partial(self._window.files.open_net_of, path)))
        return text, choices

    def _mean(self, path: Path, document: Document) -> tuple[str, Choices]:
        text = f"'{path.name}' is a stored blob, such as the mean of images that a data layer takes away."
        layers = [node.id for node in document.graph.nodes() if node.type in _MEAN_FOR]
        if not layers:
            return f"{text} The net in view has no layer that reads one.", []
        names = ", ".join(dict.fromkeys(f"'{document.graph.node(each).name}'" for each in layers))

        def edit(graph: OpGraph) -> None:
            for each in layers:
                if each in graph:
                    graph.set_string(each, ("transform_param", "mean_file"), str(path))

        def use() -> None:
            try:
                document.apply(f"Take {path.name} as the mean", edit)
            except NetcanvasError as error:
                self._window.notify(str(error), "error")

        return text, [(f"Take it as the mean of {names}", use)]

    def train(self, *, weights: Path | None = None, snapshot: Path | None = None) -> None:
        """Train the net in view from weights, or go on from a state."""
        window = self._window
        window.load_panels()
        window.show_panel("training")
        window.panels["training"].train_from(weights=weights, snapshot=snapshot)

    def _name_weights(self, document: Document, path: Path) -> None:
        if name_in_solver(self._window, document, f"Begin from {path.name}", "weights", str(path)):
            self._window.show_panel("solver")


def kind_of(path: Path) -> FileKind | None:
    """Return what a file looks like, by its content; None for what is read as a net or a solver, whatever it is.

    Raises
    ------
    OSError
        When it cannot be read.
    """
    with _content(path) as data:
        kind = sniff(data)
        is_text = kind is FileKind.BINARY and data.find(b"\0") < 0  # with stray characters in it
    return None if is_text or kind in _READ else kind


@contextlib.contextmanager
def _content(path: Path) -> Iterator[bytes | mmap.mmap]:
    """Give a file as bytes without reading more of it than is looked at; nothing of a pipe, which is read once only."""
    if not path.is_file() or not path.stat().st_size:
        yield b""
        return
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        yield data
