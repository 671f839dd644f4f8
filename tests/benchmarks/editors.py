"""The node editors that are measured, ours first: what each calls its verbs.

Needs nothing of ours but for our own editor, so that another Python may run it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Protocol

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
os.environ.setdefault("QT_API", "pyside6")

__all__ = ["EDITORS", "Editor", "Graph", "NodeEditor"]

_SIZE = 1600, 900

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
