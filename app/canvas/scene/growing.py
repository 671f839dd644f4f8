"""Making the items of a net: at once, or those of a big one in slices, between which the window answers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from app.canvas.scene.docking import find_docked
from app.slices import Slices

if TYPE_CHECKING:
    from app.canvas.scene.scene import CanvasScene
    from engine.graph import Events

__all__ = ["Growth"]


class Growth:
    """Makes the items of a scene, for a net that is opened and for very many layers and wires that come.

    Who needs items of what came just now calls :meth:`finish`.

    Parameters
    ----------
    scene : CanvasScene

    Attributes
    ----------
    is_done : bool
        Whether there is an item for each node and wire.
    """

    def __init__(self, scene: CanvasScene) -> None:
        self._scene = scene
        self._slices = Slices(scene)
        self._awaited: list[Callable[[], object]] = []
        self.is_done = False

    def grow_at_once(self) -> None:
        """Make all items now."""
        self.is_done = True
        for _step in self._grow():
            pass

    def start(self) -> None:
        """Make all items in slices, and what follows from them."""
        self._slices.start(self._grow_slowly(), self._grown)

    def cancel(self) -> None:
        """Leave the rest unmade, for the scene goes."""
        self._slices.cancel()
        self._awaited.clear()

    def when_done(self, action: Callable[[], object]) -> None:
        """Do something once there is an item for each node and wire: now, or when all are made."""
        if self.is_done:
            action()
        else:
            self._awaited.append(action)

    def finish(self) -> None:
        """Make what is missing at once, for the net is another than it was when that began."""
        if self.is_done:
            return
        scene = self._scene
        graph = scene.document.graph
        there = frozenset(graph.edges())
        scene.remove_edges([edge for edge in scene.edges if edge not in there])
        for node_id in [node_id for node_id in scene.nodes if node_id not in graph]:
            scene.remove_node(node_id)
        self.start()
        self._slices.finish()

    def follow(self, events: Events) -> None:
        """Follow a change with which very much comes, whose items are made in slices; more may be in the making."""
        scene = self._scene
        scene.replay(replace(events, added=frozenset(), edges_added=frozenset()))
        self.is_done = scene.is_indexed = False
        self._slices.start(self._grow_back(), self._grown)

    def _grow(self) -> Iterator[None]:
        """Make all items, one a step; the net may be edited in between, but then :meth:`finish` is called."""
        scene = self._scene
        graph = scene.document.graph
        for node_id in graph.node_ids():
            scene.add_nodes((node_id,))
            yield
        for edge in graph.edges():
            scene.add_edges((edge,), led=False)
            yield
        scene.hide_view_edges()
        scene.show_view_edges()
        scene.label_wires()
        scene.overview.forget()
        for node in tuple(scene.nodes.values()):
            find_docked(node)
            yield
        for wire in tuple(scene.edges.values()):
            scene.lead(wire)
            yield
        scene.content_changed.emit()

    def _grow_slowly(self) -> Iterator[None]:
        """The same, and what follows from it."""
        yield from self._grow()
        yield from self._follow_up()

    def _follow_up(self) -> Iterator[None]:
        scene = self._scene
        if len(scene.document.positions.blocks):
            scene.folding.refresh()
            yield
        scene.fit_scene_rect()
        yield
        scene.told_shown()
        yield

    def _grow_back(self) -> Iterator[None]:
        scene = self._scene
        folded = len(scene.document.positions.blocks) > 0
        for node_id in scene.document.graph.node_ids():
            if node_id not in scene.nodes:
                scene.add_nodes((node_id,))
                scene.nodes[node_id].setVisible(not folded)
                yield
        yield from self._grow()
        self.is_done = True  # so that folding joins the wires in slices too
        yield from self._follow_up()

    def _grown(self) -> None:
        self.is_done = self._scene.is_indexed = True
        awaited, self._awaited = self._awaited, []
        for action in awaited:
            action()
