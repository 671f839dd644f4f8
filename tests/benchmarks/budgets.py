"""Budgets of the design that need no window: the layout of a net, and its live validation after an edit.

    python -m tests.benchmarks.budgets

Milliseconds of processor time, the median of a few tries; ends with status 1 where one is above three times its budget.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

from app.canvas.edits.arrange import layout_inputs
from app.canvas.layout.layout import lay_out
from app.canvas.scene.scene import CanvasScene
from app.document import Document
from app.live.shapes import LiveShapes
from engine.diagnostics import SchemaMemo, diagnose
from engine.graph import NodeId, OpGraph
from engine.layer import Phase
from engine.shapes import LayerSpec, ShapeService
from tests.benchmarks.nets import residual_net

__all__ = ["BUDGETS", "ROOM", "Validation", "layout_time", "measure"]

#: Milliseconds.
BUDGETS = {
    "layout, 500 layers": 60.0,
    "layout, 2,000 layers": 150.0,
    "live validation after an edit, 2,000 layers": 3.0,
}
ROOM = 3

_TRIES = 9


def middle(action: Callable[[], object], tries: int, before: Callable[[], object] = lambda: None) -> float:
    """Milliseconds of processor time that an action takes, the median; ``before`` each try is not counted."""
    times = []
    for _ in range(tries):
        before()
        start = time.process_time()
        action()
        times.append((time.process_time() - start) * 1e3)
    return statistics.median(times)


def layout_time(count: int) -> float:
    """Milliseconds for the places of all layers of a net, without moving them there."""
    document = Document(OpGraph.parse(residual_net(count)))
    scene = CanvasScene(document)
    try:
        return middle(lambda: lay_out(*layout_inputs(scene)), 5)
    finally:
        scene.close()
        document.close()


class Validation:
    """A net that is edited and checked again and again, as the editor does it.

    Parameters
    ----------
    count : int
        About how many layers it has.
    """

    def __init__(self, count: int) -> None:
        self._document = Document(OpGraph.parse(residual_net(count)))
        self.graph = self._document.graph
        self._live: LiveShapes = self._document.live.shaping
        self._registry = self._document.registry
        self._service = ShapeService(registry=self._registry)
        self._memo = SchemaMemo()
        self._specs: dict[NodeId, LayerSpec] = {node: self._live.spec(node) for node in self.graph.node_ids()}
        self._shapes: dict[Any, Any] = {}
        self._edited = self._inner_convolution()
        self.infer()
        self.check()

    def _inner_convolution(self) -> NodeId:
        """Return a convolution in the middle whose channels may change: another one reads it."""
        graph, ids = self.graph, self.graph.node_ids()
        for node in ids[len(ids) // 2 :]:
            readers = {graph.node(edge.target).type for edge in graph.edges_out(node)}
            if graph.node(node).type == "Convolution" and "Eltwise" not in readers:
                return node
        raise LookupError("no layer of the net can be edited")

    def edit(self) -> None:
        """Give the convolution other channels than it has."""
        now = self.graph.value(self._edited, ("convolution_param", "num_output"))
        self.graph.set_field(self._edited, ("convolution_param", "num_output"), "5" if now == "4" else "4")
        self._specs[self._edited] = self._live.spec(self._edited)

    def break_it(self) -> None:
        """Give the convolution a kernel that is larger than what it reads."""
        self.graph.set_field(self._edited, ("convolution_param", "kernel_size"), "999")
        self._specs[self._edited] = self._live.spec(self._edited)
        self.infer()

    def infer(self) -> None:
        """Infer the shapes of the net in both phases; the editor does so in a thread."""
        specs = list(self._specs.values())
        for phase in (Phase.TEST, Phase.TRAIN):
            self._shapes |= self._service.infer(specs, phase)

    def check(self) -> int:
        """Find what is wrong with the net, with its shapes; the window waits for that. Return how much there is."""
        registry = self._registry
        return len(
            diagnose(self.graph, schema=registry.schema(None), registry=registry, shapes=self._shapes, memo=self._memo)
        )

    def times(self) -> tuple[float, float]:
        """Milliseconds of the check after an edit, and of the shapes before it."""

        def edit_and_infer() -> None:
            self.edit()
            self.infer()

        return middle(self.check, _TRIES, edit_and_infer), middle(self.infer, _TRIES, self.edit)

    def close(self) -> None:
        """Let go of the document."""
        self._document.close()


def measure() -> Iterator[tuple[str, float]]:
    """Yield each figure of ``BUDGETS`` as it is measured; one more, which has no budget, tells of the shapes."""
    layout_time(60)  # what is imported on first use
    yield "layout, 500 layers", layout_time(500)
    yield "layout, 2,000 layers", layout_time(2000)
    net = Validation(2000)
    try:
        check, shapes = net.times()
    finally:
        net.close()
    yield "live validation after an edit, 2,000 layers", check
    yield "shapes before that, in a thread", shapes


def main() -> int:
    """Run and print; return the exit status."""
    from PySide6.QtWidgets import QApplication

    from app.theme import Theme

    app = QApplication.instance() or QApplication([])
    assert isinstance(app, QApplication)
    Theme.load("light").apply(app)
    failed = False
    for name, value in measure():
        budget = BUDGETS.get(name)
        verdict = "" if budget is None else "ok" if value <= budget else "over" if value <= ROOM * budget else "FAILED"
        failed |= verdict == "FAILED"
        print(f"{name:45} {value:8.1f}   {'' if budget is None else f'budget {budget:5.0f}   {verdict}'}", flush=True)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
