"""The state of the graph: bindings, order, wiring, and how they follow the tree.

The tree is the only truth. Edits mark the layers that they touch; :meth:`GraphCore._sync` reads those again, and
rewires only the blob names that they mention.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, cast

from engine.errors import GraphError
from engine.graph.binding import UNWIRED, Binding, bind, is_layer, scalars
from engine.graph.change import Change, Tracker
from engine.graph.lens import Lens
from engine.graph.network import draw_network
from engine.graph.records import INPUTS, Edge, Events, NodeId
from engine.graph.rules import NetState, Rules, read_state, states_for
from engine.graph.wiring import wire
from engine.prototxt import EditLog, Field, Junk, Style, Tree, all_told, misread, style_of
from engine.prototxt.edits import Part, top_of
from engine.prototxt.parts import TopItem

if TYPE_CHECKING:
    import networkx as nx

__all__ = ["GraphCore"]


class GraphCore:
    """Bindings of a document and how they follow its edits; :class:`engine.graph.OpGraph` is the public face."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._style_cache: Style | None = None
        self._bindings: dict[NodeId, Binding] = {}
        self._order: list[NodeId] = []
        self._ordinals: dict[NodeId, int] = {}
        self._next_id = INPUTS + 1
        self._users: defaultdict[str, set[NodeId]] = defaultdict(set)
        self._named: defaultdict[str, set[NodeId]] = defaultdict(set)
        self._versions: Counter[int] = Counter()
        self._edges: dict[str, dict[Edge, int]] = {}
        self._drawn: nx.MultiDiGraph[NodeId] | None = None
        self._rules: Counter[Rules] = Counter()
        self._own_state: tuple[int, frozenset[str]] = (0, frozenset())
        self._lenses: dict[NetState, Lens] = {}
        self._serial = 0
        self._states: tuple[NetState, ...] = states_for(())
        self._phase_sets: dict[int, frozenset[str]] = {}
        self._dirty: dict[Field, None] = {}
        self._may_be_broken = True  # whether there is, or may be, a mistake in the text
        self._order_dirty = True
        self._log: EditLog | None = None
        self._change: Change | None = None
        self._tracker = Tracker()
        self._stamp = object()
        self._made: set[Field] = set()
        self._subscribers: list[Callable[[Events], None]] = []
        self._telling = False
        for item in tree.root.items:
            if type(item) is Field:
                self._dirty[item] = None
        self._sync()
        self._tracker = Tracker()

    # Changes

    @contextmanager
    def change(self, text: str = "") -> Iterator[Change]:
        """Group edits into one change that can be undone; take all of them back if an exception comes through.

        A change inside of a change joins it.

        Parameters
        ----------
        text : str
            What the change does, as an undo menu shows it.

        Raises
        ------
        GraphError
            Where one that is being told of a change would make another: the history would not know their order.
        """
        if self._log is not None and self._change is not None:
            mark = len(self._log)
            try:
                yield self._change
                self._sync()
            except BaseException:
                self._log.roll_back(mark)
                self._sync()
                raise
            return
        self._check_told(text)
        log = EditLog(self._touched)
        all_known = not self._may_be_broken or all_told(self._tree.root.items)
        change = Change(self, text, log, self._stamp)
        self._log, self._change, self._tracker = log, change, Tracker()
        try:
            yield change
            self._sync()
            self._check_reading(all_known)
        except BaseException:
            log.roll_back(0)
            self._sync()
            raise
        finally:
            self._log = self._change = None
        if len(log):
            self._stamp = change._seal(object())
            change.events = self._tracker.events()
            self._emit(change.events)

    def subscribe(self, callback: Callable[[Events], None]) -> Callable[[], None]:
        """Have ``callback`` called with the :class:`Events` after each change, undo and redo.

        Returns
        -------
        callable
            Ends the subscription.
        """
        self._subscribers.append(callback)

        def unsubscribe() -> None:
            if callback in self._subscribers:
                self._subscribers.remove(callback)

        return unsubscribe

    def _replay(self, change: Change, run: Callable[[], None], expected: object, stamp: object) -> Events:
        if self._log is not None:
            raise GraphError(f"'{change.text}' cannot be undone or redone inside of another change.")
        self._check_told(change.text)
        if self._stamp is not expected:
            raise GraphError(
                f"'{change.text}' is not the change that was made last.", next_step="Undo and redo changes in order."
            )
        self._tracker = Tracker()
        run()
        self._sync()
        self._stamp = stamp
        events = self._tracker.events()
        if events.text_changed:
            self._emit(events)
        return events

    def _check_told(self, text: str) -> None:
        if self._telling:
            raise GraphError(
                f"'{text}' was asked for while another change of the net was being shown.", next_step="Do it again."
            )

    def _emit(self, events: Events) -> None:
        errors = []
        self._telling = True
        for callback in tuple(self._subscribers):
            try:
                callback(events)
            except Exception as error:  # the others must hear of it all the same
                errors.append(error)
        self._telling = False
        if errors:
            raise errors[0]

    def _check_reading(self, all_known: bool) -> None:
        """Refuse edits of broken text after which it would be read in another way than the graph has it."""
        if not self._may_be_broken:
            return
        log = self._editing
        item, corrections = misread(self._tree, log.doubtful, whole=not all_known) if len(log) else (None, [])
        for corrected, faults in corrections:
            log.correct(corrected, faults)
        if item is not None:
            raise GraphError(
                f"The text is broken around line {self._tree.start_line(item)}; it would be read in another way then.",
                next_step="Mend the text there first.",
            )
        self._may_be_broken = any(map(_is_broken, self._tree.root.items))

    @property
    def _editing(self) -> EditLog:
        assert self._log is not None, "edits are made inside of a change"
        return self._log

    @property
    def _style(self) -> Style:
        if self._style_cache is None:
            self._style_cache = style_of(self._tree)
        return self._style_cache

    # Following the tree

    def _touched(self, part: Part, items: Sequence[Any]) -> None:
        self._tracker.text_changed = True
        top = top_of(part)
        if isinstance(top, Tree):
            self._order_dirty = True
            for item in items:
                self._may_be_broken |= _is_broken(item)
                if type(item) is Field:
                    self._dirty[item] = None
                    if item.key is not None:
                        self._tracker.spliced.add(NodeId(item.key))
        elif isinstance(top, TopItem):
            self._may_be_broken |= _is_broken(top)
        if type(top) is Field:
            self._dirty[top] = None
            if top.key is not None:
                self._tracker.edited.add(NodeId(top.key))
            if top is part:
                self._order_dirty = True

    def _sync(self, inserted: int | None = None) -> None:
        """Read again what was edited, and rewire the blobs that it mentions.

        Parameters
        ----------
        inserted : int, optional
            Place among the items at the top of one new layer, where nothing else came, went or moved.
        """
        if not self._dirty and not self._order_dirty:
            return
        self._serial += 1
        dirty, self._dirty = self._dirty, {}
        root = self._tree.root
        now: dict[NodeId, Field | None] = {}
        inputs_changed = state_changed = False
        for field in dirty:
            inputs_changed |= field.name == "input"
            state_changed |= field.name == "state"
            layer = field.parent is root and is_layer(field)
            if field.key is None:
                if not layer:
                    continue
                field.key = self._next_id
                self._next_id += 1
            node = NodeId(field.key)
            if layer:
                now[node] = field
            else:
                now.setdefault(node, None)
        first = 0  # in the order, whose number is another
        if self._order_dirty and inserted is not None:
            first = self._order_place(inserted)
            self._order.insert(first, NodeId(cast("int", root.items[inserted].key)))
        elif self._order_dirty:
            keys = [item.key for item in root.items if item.key is not None]
            absent = {node for node, held in now.items() if held is None}
            if absent:  # out of the document, or no longer a layer
                keys = [key for key in keys if key not in absent]
            self._order = cast("list[NodeId]", keys)
        blobs: set[str] = set()
        if inputs_changed:
            self._bind_inputs(blobs)
        if state_changed:
            self._own_state = read_state(root)
        for node, held in now.items():
            self._rebind(node, None if held is None else bind(node, held, self._states), blobs)
        if self._order_dirty:
            self._order_dirty = False
            self._number(first)
        self._restage(blobs)
        for blob in blobs:
            self._rewire(blob)

    def _number(self, first: int) -> None:
        if first:
            self._ordinals.update(zip(self._order[first:], range(first, len(self._order)), strict=True))
            return
        if INPUTS in self._bindings and self._order[:1] != [INPUTS]:
            self._order.insert(0, INPUTS)
        self._ordinals = dict(zip(self._order, range(len(self._order)), strict=True))

    def _order_place(self, place: int) -> int:
        """Return where in the order the layer goes that is at a place among the items at the top."""
        items = self._tree.root.items
        for above in range(place - 1, -1, -1):
            at = self._ordinals.get(cast("NodeId", items[above].key))
            if at is not None:
                return at + 1
        return 1 if INPUTS in self._bindings else 0

    def _rebind(self, node: NodeId, new: Binding | None, blobs: set[str]) -> None:
        """Put what was read anew in the place of what was known of a node; None for a node that is gone."""
        old = self._bindings.pop(node, None)
        for lens in self._lenses.values():
            lens.touched.add(node)
        self._tracker.saw(node, old is not None, new is not None)
        for binding, sign in ((old, -1), (new, 1)):
            if binding is not None:
                self._count(binding, sign)
                blobs |= binding.blobs()
        if new is None:
            if old is not None and self._drawn is not None:
                self._drawn.remove_node(node)
            return
        if old is not None and old.field is not new.field:
            self._tracker.edited.add(node)
        self._bindings[node] = new
        if old is None and self._drawn is not None:
            self._drawn.add_node(node)

    def _count(self, binding: Binding, sign: int) -> None:
        """Enter a binding into the indexes, or (-1) take it out of them."""
        if binding.has_rules:
            self._rules[binding.rules] += sign
        if binding.field is not None:
            self._versions[binding.version] += sign
        if sign < 0:
            for name in binding.blobs():
                self._users[name].discard(binding.id)
            self._named[binding.name].discard(binding.id)
            if not self._named[binding.name]:
                del self._named[binding.name]
        else:
            for name in binding.blobs():
                self._users[name].add(binding.id)
            self._named[binding.name].add(binding.id)

    def _bind_inputs(self, blobs: set[str]) -> None:
        """Read the net's own inputs, which come before all layers wherever they are written."""
        old = self._bindings.get(INPUTS)
        tops = tuple(scalar.as_str() for scalar in scalars(self._tree.root, "input"))
        if tops == (old.tops if old is not None else ()):
            return
        if (old is None) == bool(tops):
            self._order_dirty = True
            self._order = [node for node in self._order if node != INPUTS]
        new = None
        if tops:
            new = Binding(INPUTS, None, "input", "Input", "Input", tops=tops, in_place=(False,) * len(tops))
            new.activate(self._states)
            self._tracker.edited.add(INPUTS)
        self._rebind(INPUTS, new, blobs)

    def _restage(self, blobs: set[str]) -> None:
        """Look at the document in other states when its rules speak of other stages or levels than before."""
        states = states_for((ask for rules in +self._rules for ask in rules.asks), self._own_state)
        if states == self._states:
            return
        self._states = states
        self._phase_sets = {}
        for binding in self._bindings.values():
            binding.activate(states)
        blobs |= set(self._users)

    def _rewire(self, blob: str) -> None:
        for lens in self._lenses.values():
            lens.rewired.add(blob)
        ids = self._users.get(blob)
        if not ids:
            self._users.pop(blob, None)
        users = [self._bindings[node] for node in sorted(ids or (), key=self._ordinals.__getitem__)]
        edges = wire(blob, users, self._phases)
        old = self._edges.get(blob, {})
        drawn = self._drawn
        for edge in old.keys() - edges.keys():
            if drawn is not None and drawn.has_edge(edge.source, edge.target, key=edge):
                drawn.remove_edge(edge.source, edge.target, key=edge)
            self._tracker.edge(edge, -1)
        for edge, mask in edges.items():
            if old.get(edge) != mask:
                if drawn is not None:
                    drawn.add_edge(edge.source, edge.target, key=edge, mask=mask)
                if edge not in old:
                    self._tracker.edge(edge, 1)
        if edges:
            self._edges[blob] = edges
        else:
            self._edges.pop(blob, None)

    @property
    def _network(self) -> nx.MultiDiGraph[NodeId]:
        """The nodes and edges as networkx has them; drawn when first asked for, since to import that takes its time."""
        if self._drawn is None:
            self._drawn = draw_network(self._bindings, self._edges.values())
        return self._drawn

    def _phases(self, mask: int) -> frozenset[str]:
        phases = self._phase_sets.get(mask)
        if phases is None:
            phases = frozenset(state.phase for place, state in enumerate(self._states) if mask >> place & 1)
            self._phase_sets[mask] = phases
        return phases

    def _resolved(self, node: NodeId, bottom: int) -> int:
        """Return the mask of states in which a bottom has a writer."""
        mask = 0
        name = self._bindings[node].bottoms[bottom]
        for edge, states in self._edges.get(name, {}).items() if name != UNWIRED else ():
            if edge.target == node and edge.bottom == bottom:
                mask |= states
        return mask


def _is_broken(item: TopItem) -> bool:
    return bool(item.faults) or type(item) is Junk
