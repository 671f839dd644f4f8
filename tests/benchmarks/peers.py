"""One run of one node editor over one graph: ours, or another one that Python programs build on.

    python -m tests.benchmarks.peers EDITOR GRAPH.json

The same graph, at the same places, in a window of the same size; each editor is driven by its own verbs, and by the
events that a user's hand makes. Prints one line of JSON a figure as soon as it is known, so that a run that is cut
short has told what it found. Needs nothing of ours but for our own editor, so that another Python may run it.
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any, Protocol

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
os.environ.setdefault("QT_API", "pyside6")

__all__ = ["EDITORS", "FIGURES", "Graph"]

#: What is measured, in this order; times in milliseconds of processor time.
FIGURES = ("open", "memory, MB", "pan step", "zoom step, worst", "drag step", "delete 100", "undo of it")
_SIZE = 1600, 900
_DELETED = slice(20, 120)

Graph = dict[str, Any]


class Editor(Protocol):
    """An editor under test.

    Attributes
    ----------
    view : QGraphicsView
        What receives the events.
    can_undo : bool
        Whether it has an undo at all.
    """

    view: Any
    can_undo: bool

    def prepare(self, graph: Graph) -> None:
        """Import, read and declare what is no part of showing a net."""

    def open(self, graph: Graph) -> None:
        """Make a window with all nodes and wires."""

    def close(self) -> None:
        """Close that window."""

    def card(self, number: int) -> Any:
        """Return the graphics item of a node."""

    def look_at(self, number: int) -> None:
        """Bring a node into the middle, at about 100 %."""

    def pan(self, dx: int, dy: int) -> None: ...

    def delete(self, numbers: Sequence[int]) -> None: ...

    def undo(self) -> None: ...


class Netcanvas:
    """Ours."""

    package, can_undo = "netcanvas", True

    def prepare(self, graph: Graph) -> None:
        from PySide6.QtWidgets import QApplication

        from app.collector import CalmCollector
        from app.document import Document
        from app.theme import Theme
        from engine.graph import OpGraph

        self.collector = CalmCollector()  # as in the editor when it runs
        Theme.load("light").apply(QApplication.instance())
        self.document = Document(OpGraph.parse(Path(graph["net"]).read_text()))
        for node, place in zip(self.document.graph.node_ids(), graph["places"], strict=True):
            self.document.positions.place(node, *place)

    def open(self, graph: Graph) -> None:
        from app.canvas.view import CanvasView

        self.view = CanvasView(self.document)
        self.view.resize(*_SIZE)
        self.view.show()
        self.view.frame_start()

    def close(self) -> None:
        self.view.close_document()
        self.view.close()
        self.document.close()
        self.collector.close()

    def card(self, number: int) -> Any:
        return list(self.view.canvas.nodes.values())[number]

    def look_at(self, number: int) -> None:
        self.view.set_scale(1.0)
        self.view.centerOn(self.card(number))

    def pan(self, dx: int, dy: int) -> None:
        self.view.scroll_by(dx, dy)

    def delete(self, numbers: Sequence[int]) -> None:
        ids = self.document.graph.node_ids()
        self.document.apply("Delete", lambda graph: graph.remove_nodes([ids[number] for number in numbers]))

    def undo(self) -> None:
        self.document.undo_stack.undo()


class NodeGraphQt:
    """https://pypi.org/project/NodeGraphQt"""

    package, can_undo = "NodeGraphQt", True

    def prepare(self, graph: Graph) -> None:
        from NodeGraphQt import BaseNode

        self.kinds = {ports: _node_graph_kind(BaseNode, *ports) for ports in _port_counts(graph)}

    def open(self, graph: Graph) -> None:
        from NodeGraphQt import NodeGraph

        self.graph = NodeGraph()
        for kind in self.kinds.values():
            self.graph.register_node(kind)
        self.view = self.graph.viewer()
        self.nodes = []
        for (name, *ports), place in zip(graph["nodes"], graph["places"], strict=True):
            kind = self.kinds[tuple(ports)].type_
            self.nodes.append(self.graph.create_node(kind, name, selected=False, pos=place, push_undo=False))
        for source, top, target, bottom in graph["edges"]:
            self.nodes[source].output(top).connect_to(self.nodes[target].input(bottom), push_undo=False)
        self.graph.widget.resize(*_SIZE)
        self.graph.widget.show()

    def close(self) -> None:
        self.graph.widget.close()

    def card(self, number: int) -> Any:
        return self.nodes[number].view

    def look_at(self, number: int) -> None:
        self.view.reset_zoom(self.card(number).sceneBoundingRect().center())

    def pan(self, dx: int, dy: int) -> None:
        self.view._set_viewer_pan(dx, dy)

    def delete(self, numbers: Sequence[int]) -> None:
        self.graph.delete_nodes([self.nodes[number] for number in numbers])

    def undo(self) -> None:
        self.graph.undo_stack().undo()


def _node_graph_kind(base: type, inputs: int, outputs: int) -> Any:
    def init(self: Any) -> None:
        base.__init__(self)
        for number in range(inputs):
            self.add_input(f"in{number}")
        for number in range(outputs):
            self.add_output(f"out{number}")

    name = f"Layer{inputs}x{outputs}"
    return type(name, (base,), {"__init__": init, "__identifier__": "bench", "NODE_NAME": name})


class NodeEditor:
    """https://pypi.org/project/nodeeditor-qtpy"""

    package, can_undo = "nodeeditor-qtpy", True

    def prepare(self, graph: Graph) -> None:
        import nodeeditor.node_editor_widget  # noqa: F401

    def open(self, graph: Graph) -> None:
        from nodeeditor.node_edge import EDGE_TYPE_BEZIER, Edge
        from nodeeditor.node_editor_widget import NodeEditorWidget
        from nodeeditor.node_node import Node

        self.widget = NodeEditorWidget()
        scene, self.view = self.widget.scene, self.widget.view
        self.nodes = []
        for (name, inputs, outputs), place in zip(graph["nodes"], graph["places"], strict=True):
            node = Node(scene, name, inputs=[1] * inputs, outputs=[1] * outputs)
            node.setPos(*place)
            self.nodes.append(node)
        for source, top, target, bottom in graph["edges"]:
            start, end = self.nodes[source].outputs[top], self.nodes[target].inputs[bottom]
            Edge(scene, start, end, edge_type=EDGE_TYPE_BEZIER)
        scene.history.storeInitialHistoryStamp()
        self.widget.resize(*_SIZE)
        self.widget.show()

    def close(self) -> None:
        self.widget.close()

    def card(self, number: int) -> Any:
        return self.nodes[number].grNode

    def look_at(self, number: int) -> None:
        self.view.centerOn(self.card(number))

    def pan(self, dx: int, dy: int) -> None:
        _scroll(self.view, dx, dy)

    def delete(self, numbers: Sequence[int]) -> None:
        for number in numbers:
            self.nodes[number].grNode.setSelected(True)
        self.view.deleteSelected()

    def undo(self) -> None:
        self.widget.scene.history.undo()


class QtPyNodeEditor:
    """https://pypi.org/project/qtpynodeeditor; it has no undo."""

    package, can_undo = "qtpynodeeditor", False

    def prepare(self, graph: Graph) -> None:
        import qtpynodeeditor as nodes

        self.kinds = {ports: _flow_kind(nodes, *ports) for ports in _port_counts(graph)}

    def open(self, graph: Graph) -> None:
        import qtpynodeeditor as nodes
        from PySide6.QtCore import QPointF

        registry = nodes.DataModelRegistry()
        for kind in self.kinds.values():
            registry.register_model(kind)
        self.scene = nodes.FlowScene(registry=registry)
        self.nodes = []
        for (_name, *ports), place in zip(graph["nodes"], graph["places"], strict=True):
            node = self.scene.create_node(self.kinds[tuple(ports)])
            node.graphics_object.setPos(QPointF(*place))
            self.nodes.append(node)
        port = nodes.PortType
        for source, top, target, bottom in graph["edges"]:
            out, into = self.nodes[source][port.output][top], self.nodes[target][port.input][bottom]
            self.scene.create_connection(out, into, check_cycles=False)  # its check looks through the whole net
        self.view = nodes.FlowView(self.scene)
        self.view.resize(*_SIZE)
        self.view.show()

    def close(self) -> None:
        self.view.close()

    def card(self, number: int) -> Any:
        return self.nodes[number].graphics_object

    def look_at(self, number: int) -> None:
        self.view.setSceneRect(self.scene.itemsBoundingRect())
        self.view.centerOn(self.card(number))

    def pan(self, dx: int, dy: int) -> None:
        _scroll(self.view, dx, dy)

    def delete(self, numbers: Sequence[int]) -> None:
        for number in numbers:
            self.card(number).setSelected(True)
        self.view.delete_selected()

    def undo(self) -> None:
        raise NotImplementedError


def _flow_kind(nodes: Any, inputs: int, outputs: int) -> Any:
    data = nodes.NodeDataType(id="blob", name="Blob")
    ports = {nodes.PortType.input: inputs, nodes.PortType.output: outputs}
    values = {
        "name": f"Layer{inputs}x{outputs}",
        "caption": f"Layer {inputs}x{outputs}",
        "caption_visible": True,
        "num_ports": ports,
        "data_type": data,
        "port_caption": {side: dict.fromkeys(range(count), "blob") for side, count in ports.items()},
        "out_data": lambda self, port: None,
        "set_in_data": lambda self, data, port: None,
        "embedded_widget": lambda self: None,
    }
    return type(values["name"], (nodes.NodeDataModel,), values)


def _port_counts(graph: Graph) -> set[tuple[int, int]]:
    return {(inputs, outputs) for _name, inputs, outputs in graph["nodes"]}


#: The editors by name.
EDITORS: dict[str, Callable[[], Any]] = {
    each.package: each for each in (Netcanvas, NodeGraphQt, NodeEditor, QtPyNodeEditor)
}


def _scroll(view: Any, dx: int, dy: int) -> None:
    for bar, step in ((view.horizontalScrollBar(), dx), (view.verticalScrollBar(), dy)):
        bar.setValue(bar.value() + step)


class _Run:
    """Measures one editor."""

    def __init__(self, app: Any, editor: Editor, graph: Graph, *, aloud: bool) -> None:
        self.app, self.editor, self.graph, self.aloud = app, editor, graph, aloud

    def timed(self, action: Callable[[], object]) -> float:
        """Milliseconds of processor time of something and of the painting that follows."""
        start = time.process_time()
        action()
        self.app.processEvents()
        return (time.process_time() - start) * 1e3

    def all(self) -> None:
        """Measure and print everything."""
        editor, graph = self.editor, self.graph
        editor.prepare(graph)
        self.app.processEvents()
        before = _memory()
        self.tell("open", self.timed(lambda: editor.open(graph)))
        self.tell("memory, MB", _memory() - before)
        place = graph["middle"]
        editor.look_at(place)
        self.app.processEvents()
        steps = [self.timed(lambda step=step: editor.pan(*_there_and_back(step))) for step in range(60)]
        self.tell("pan step", statistics.median(steps))
        turns = [self.timed(lambda turn=turn: self.wheel(turn)) for turn in (120,) * 6 + (-120,) * 12 + (120,) * 6]
        self.tell("zoom step, worst", sorted(turns)[-2])
        self.tell("drag step", self.drag(place))
        numbers = range(len(graph["nodes"]))[_DELETED]
        self.tell("delete 100", self.timed(lambda: editor.delete(numbers)))
        if editor.can_undo:
            self.tell("undo of it", self.timed(editor.undo))
        editor.close()

    def tell(self, name: str, value: float) -> None:
        if self.aloud:
            print(json.dumps([name, round(value, 2)]), flush=True)

    def wheel(self, turn: int) -> None:
        """Turn the wheel over the middle of the view; with Ctrl where that is what zooms."""
        from PySide6.QtCore import QPoint, QPointF, Qt
        from PySide6.QtGui import QWheelEvent

        port = self.editor.view.viewport()
        at = QPointF(port.rect().center())
        keys = Qt.KeyboardModifier
        held = keys.ControlModifier if isinstance(self.editor, NodeEditor) else keys.NoModifier
        where = QPointF(port.mapToGlobal(at.toPoint()))
        phase, none = Qt.ScrollPhase.NoScrollPhase, Qt.MouseButton.NoButton
        self.app.sendEvent(port, QWheelEvent(at, where, QPoint(), QPoint(0, turn), none, held, phase, False))

    def drag(self, number: int) -> float:
        """Drag a node with its wires; return the median step."""
        from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
        from PySide6.QtGui import QMouseEvent

        view = self.editor.view
        item = self.editor.card(number)
        self.editor.look_at(number)
        self.app.processEvents()
        body = item.boundingRect()
        grip = QPointF(body.center().x(), body.top() + min(body.height() / 2, 24.0))
        start = view.mapFromScene(item.mapToScene(grip))
        before = item.scenePos()
        assert view.viewport().rect().contains(start), "the node is not in view"

        def mouse(kind: QEvent.Type, at: QPoint, button: Any, buttons: Any) -> None:
            where = QPointF(view.viewport().mapToGlobal(at))
            none = Qt.KeyboardModifier.NoModifier
            self.app.sendEvent(view.viewport(), QMouseEvent(kind, QPointF(at), where, button, buttons, none))

        left, none = Qt.MouseButton.LeftButton, Qt.MouseButton.NoButton
        mouse(QEvent.Type.MouseButtonPress, start, left, left)
        steps = []
        for step in range(1, 60):
            at = start + QPoint(4 * step, 3 * step)
            steps.append(self.timed(lambda at=at: mouse(QEvent.Type.MouseMove, at, none, left)))
        moved = item.scenePos() != before
        mouse(QEvent.Type.MouseButtonRelease, start + QPoint(236, 177), left, none)
        self.app.processEvents()
        assert moved, "the node was not dragged"
        return statistics.median(steps[2:])


def _there_and_back(step: int) -> tuple[int, int]:
    sign = 1 if step // 30 % 2 else -1
    return 12 * sign, 7 * sign


def _memory() -> float:
    """Resident memory in MB; the most that there was where the system does not tell what there is."""
    with contextlib.suppress(OSError):
        return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize() / 2**20
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main(name: str, graph: Path) -> None:
    """Measure one editor, and print its version first.

    A small net goes first: in an editor that runs, fonts and icons are there already.
    """
    from PySide6.QtWidgets import QApplication

    print(json.dumps(["version", version(name)]), flush=True)
    app = QApplication([])
    read = json.loads(graph.read_text())
    _Run(app, EDITORS[name](), read["small"], aloud=False).all()
    _Run(app, EDITORS[name](), read, aloud=True).all()
    sys.stdout.flush()
    os._exit(0)  # some editors crash when they go


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
