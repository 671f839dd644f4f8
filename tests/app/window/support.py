"""What the tests of the window do again and again."""

from __future__ import annotations

from app.window.mainwindow import MainWindow


def open_net(window: MainWindow, path) -> None:
    assert window.files.open(path)
    window.canvas.set_scale(1.0)


def edit(window: MainWindow) -> None:
    graph = window.document.graph
    window.document.apply("Rename conv1", lambda g: g.rename_node(graph.named("conv1")[0].id, "first"))
