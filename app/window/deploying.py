"""The net that predicts, made of the net in view and opened beside it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from app.document import Document
from engine.errors import NetcanvasError
from engine.graph import DEPLOY, OpGraph, View, upgraded_text

if TYPE_CHECKING:
    from app.window.mainwindow import MainWindow
    from app.window.page import DocumentPage

__all__ = ["make_deploy_net"]

_MOST_SAID = 3
_SHAPE = ("input_param", "shape")


def make_deploy_net(window: MainWindow, page: DocumentPage | None = None) -> None:
    """Make a net that predicts of the net in view, as ``netcanvas export --phase deploy`` does, in a tab of its own.

    That net stays as it is. What was changed is said in a bar of the new tab; where the shape of an input is not
    known, it can be assumed, and then the net is made.

    Parameters
    ----------
    page : DocumentPage, optional
        Shows the net; the page in view by default.
    """
    page = page or window.tabs.current
    document = page.document
    document.settle()
    if not len(document.graph):
        bar = page.bars.add("The net is empty. Add layers first (Tab).", "warning")
        bar.leave_when(document.changed, lambda: len(document.graph) > 0)
        return
    data, path = bytes(document.graph), document.path
    seen = document.view
    view = seen if seen.show == DEPLOY else View(DEPLOY, seen.level, seen.stages)
    assumed = document.assumptions.shapes
    title = path.stem if path is not None else document.label

    def work() -> tuple[bytes, list[str], frozenset[str]]:
        from engine.export.deploy import to_deploy

        graph = OpGraph.parse(data)
        graph = OpGraph.parse(upgraded_text(graph))
        before = _input_names(graph)
        told = to_deploy(graph, path.parent if path is not None else Path(), view, assumed=assumed)
        return bytes(graph), told, _input_names(graph) - before

    def done(made: tuple[bytes, list[str], frozenset[str]]) -> None:
        text, told, inputs = made
        new = Document(OpGraph.parse(text))
        new.label = f"{title} (deploy)"
        new.undo_stack.resetClean()  # it is nowhere on disk yet
        window.show_document(new)
        summary = _summary(told)
        answers: list[tuple[str, Callable[[], object]]] = [("Save as\u2026", window.files.save_as)]
        batch = max((_batch(new.graph, name) for name in inputs), default=1)
        if batch > 1:
            summary += f" It keeps the batch of the data, {batch}; a program that predicts one item at a time wants 1."
            answers.append(("Batch of 1", partial(_take_one, window, new, inputs)))
        window.tabs.current.bars.add(summary, "info", answers).keep()

    document.jobs.submit("deploy", work, done, partial(_failed, window, page))


def _input_names(graph: OpGraph) -> frozenset[str]:
    return frozenset(node.name for node in graph.nodes() if node.type == "Input" and not node.virtual)


def _batch(graph: OpGraph, name: str) -> int:
    """Return how many items an Input layer gives at once."""
    value = graph.value(graph.named(name)[0].id, (*_SHAPE, 0, "dim", 0))
    return int(value) if value is not None else 1


def _take_one(window: MainWindow, document: Document, inputs: frozenset[str]) -> None:
    """Let Input layers give one item at a time, in one undoable step."""

    def edit(graph: OpGraph) -> None:
        for name in sorted(inputs):
            node = graph.named(name)[0]
            for shape in range(len(node.tops)):
                if graph.value(node.id, (*_SHAPE, shape, "dim", 0)) is not None:
                    graph.set_field(node.id, (*_SHAPE, shape, "dim", 0), "1")

    document.apply("Batch of 1", edit)
    window.notify("The batch is 1 now.", "info", [("Save as\u2026", window.files.save_as)])


def _summary(told: list[str]) -> str:
    """Say what was changed; what is gone in a number where it is much."""
    gone = [sentence for sentence in told if sentence.endswith(" is gone.")]
    said = [sentence for sentence in told if sentence not in gone]
    if len(gone) > _MOST_SAID:
        gone = [f"{len(gone)} layers for training are gone."]
    return " ".join(["This is the net that predicts.", *said, *gone])


def _failed(window: MainWindow, page: DocumentPage, error: Exception) -> None:
    from engine.export.deploy import UnknownInputError

    if not isinstance(error, NetcanvasError):
        raise error
    document = page.document
    nodes = document.graph.named(error.layer) if isinstance(error, UnknownInputError) else ()
    if not isinstance(error, UnknownInputError) or not nodes:
        page.bars.add(f"No deploy net was made. {error}", "error")
        return

    def ask() -> None:
        page.assuming.ask(nodes[-1].id)
        if page.assuming.sheet is not None:
            page.assuming.sheet.assumed.connect(partial(make_deploy_net, window, page))

    bar = page.bars.add(f"No deploy net was made. {error.message}", "warning", [("Assume a shape\u2026", ask)])
    bar.leave_when(document.assumptions.changed)
