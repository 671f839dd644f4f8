"""The net that a weights file holds, opened as one that is saved nowhere yet."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from app.document import Document
from app.window.files.foreign import Choices, kind_of
from app.window.files.reading import read_slow_net
from engine.errors import NetcanvasError
from engine.files import net_of_weights, read_stored_layers
from engine.graph import OpGraph
from engine.schema import FileKind

if TYPE_CHECKING:
    from app.window.mainwindow import MainWindow

__all__ = ["belongs_elsewhere", "open_net_of_weights"]


def belongs_elsewhere(path: Path, document: Document) -> bool:
    """Whether a file holds the weights, and so the layers, of a net that is not the one in view.

    Raises
    ------
    OSError
        When it cannot be read.
    """
    if kind_of(path) is not FileKind.WEIGHTS:
        return False
    try:
        return not any(layer.blobs and document.graph.named(layer.name) for layer in read_stored_layers(path))
    except NetcanvasError:  # damaged, which is said when it is read
        return True


def open_net_of_weights(window: MainWindow, path: Path) -> bool:
    """Show the net that a weights file holds; return whether it is shown.

    Raises
    ------
    Cancelled
        When the window is closed meanwhile.
    FileFormatError, SchemaError, OSError
        As :func:`engine.files.net_of_weights`.
    """
    for page in window.tabs.pages():
        if page.document.path is None and page.document.weights == path:
            window.show_document(page.document)
            return True
    notes: list[str] = []

    def read(file: Path) -> bytes:
        net = net_of_weights(file)
        notes.extend(net.notes)
        return net.text.encode()

    if window.isVisible():
        _text, graph = read_slow_net(path, window, read)
    else:
        graph = OpGraph.parse(read(path))
    document = Document(graph)
    document.label, document.weights = path.stem, path
    document.undo_stack.resetClean()  # it is nowhere on disk yet
    window.show_document(document)
    window.settings.add_recent(path)
    said = " ".join([f"This is the net that '{path.name}' holds, without its values.", *notes])
    train = partial(window.files.foreign.train, weights=path)
    choices: Choices = [("Save as\u2026", window.files.save_as), ("Train from these weights", train)]
    window.tabs.current.bars.add(said, "info", choices).keep()
    return True
