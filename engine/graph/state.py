"""What the graph knows of its tree: bindings, order, wiring, and how they follow edits.

The tree is the only truth. Edits mark the layers that they touch; :meth:`GraphState._sync` reads those again, and
rewires only the blob names that they mention. What that changed is noted, so that undo and redo put it back without
reading anything.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, cast

from engine.graph.binding import UNWIRED, Binding, bind, is_layer, scalars
from engine.graph.change import Account
from engine.graph.foresight import Foresight
from engine.graph.lens import Lens
from engine.graph.network import draw_network
from engine.graph.records import INPUTS, Edge, NodeId
from engine.graph.rules import NetState, Rules, read_state, states_for
from engine.graph.wiring import wire
from engine.prototxt import EditLog, Field, Item, Junk, Tree
from engine.prototxt.edits import Part, top_of
from engine.prototxt.parts import TopItem

if TYPE_CHECKING:
    import networkx as nx

__all__ = ["GraphState", "is_broken"]

#: Where more nodes and blobs than that change at once, the network is drawn anew when it is asked for.
_REDRAWN_FROM = 500
_NO_EDGES: Mapping[Edge, int] = {}


class GraphState:
    """Bindings of a document and how they follow its edits."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._bindings: dict[NodeId, Binding] = {}
        self._order: list[NodeId] = []
        self._ordinals: dict[NodeId, int] = {}
        self._next_id = INPUTS + 1
        self._users: defaultdict[str, set[NodeId]] = defaultdict(set)
        self._named: defaultdict[str, set[NodeId]] = defaultdict(set)
        self._versions: Counter[int] = Counter()
        self._edges: dict[str, Mapping[Edge, int]] = {}
        self._drawn: nx.MultiDiGraph[NodeId] | None = None
        self._rules: Counter[Rules] = Counter()
        self._own_state: tuple[int, frozenset[str]] = (0, frozenset())
        self._lenses: dict[NetState, Lens] = {}
        self._serial = 0
        self._states: tuple[NetState, ...] = states_for(())
        self._phase_sets: dict[int, frozenset[str]] = {}
        self._dirty: dict[Field, bool] = {}  # whether the text itself was edited, or the field only came, went or moved
        self._may_be_broken = True  # whether there is, or may be, a mistake in the text
        self._order_dirty = True
        self._account = Account()
        self._foreseen = Foresight()
        for item in tree.root.items:
            if type(item) is Field:
                self._dirty[item] = True
        self._sync()
        self._account = Account()

    # Following the tree

    def _touched(self, part: Part, items: Sequence[Any]) -> None:
        account, dirty = self._account, self._dirty
        account.text_changed = True
        top = top_of(part)
        if isinstance(top, Tree):
            self._order_dirty = True
            for item in items:
                if type(item) is Field:
                    if item not in dirty:
                        dirty[item] = False
                    if item.faults:
                        self._may_be_broken = True
                    if item.key is not None:
                        account.spliced.add(cast("NodeId", item.key))
                else:
                    self._may_be_broken |= is_broken(item)
        elif isinstance(top, TopItem):
            self._may_be_broken |= is_broken(top)
        if type(top) is Field:
            dirty[top] = True
            self._foreseen.bindings.pop(top, None)
            if top.key is not None:
                account.edited.add(NodeId(top.key))
            if top is part:
                self._order_dirty = True

    def _sync(self) -> None:
        """Read again what was edited, and rewire the blobs that it mentions."""
        if not self._dirty and not self._order_dirty:
            return
        self._serial += 1
        dirty, self._dirty = self._dirty, {}
        root = self._tree.root
        now: dict[NodeId, Field | None] = {}
        edited: set[NodeId] = set()
        inputs_changed = state_changed = False
        for field, is_edited in dirty.items():
            inputs_changed |= field.name == "input"
            state_changed |= field.name == "state"
            layer = field.parent is root and is_layer(field)
            if field.key is None:
                if not layer:
                    continue
                field.key = self._next_id
                self._next_id += 1
            node = NodeId(field.key)
            if is_edited:
                edited.add(node)
            if layer:
                now[node] = field
            else:
                now.setdefault(node, None)
        stays = not self._order_dirty or self._read_order(now)
        blobs: set[str] = set()
        if inputs_changed:
            self._bind_inputs(blobs)
        if state_changed:
            self._own_state = read_state(root)
            self._account.is_whole = False
        self._bind_all(now, edited, blobs, stays=stays)
        if self._order_dirty:
            self._order_dirty = False
            self._number()
        self._restage(blobs)
        self._rewire(blobs)

    def _foresight(self) -> Foresight:
        """Return room for what is to be found out ahead."""
        return Foresight(self._next_id, self._states)

    def _connect_ahead(self, layers: Iterable[Field], found: Foresight) -> None:
        """Wire layers that are to come, in the order in which they will stand; see :class:`Foresight`."""
        users = self._users
        found.connect(layers, self._phases, lambda blob: bool(users.get(blob)))

    def _expect(self, foresight: Foresight) -> None:
        """Use what was found out ahead, until the change that is being made is over."""
        self._foreseen = foresight
        self._next_id = max(self._next_id, foresight.next_id)

    def _splice_all(self, log: EditLog, start: int, before: Sequence[Item], after: Sequence[Item]) -> None:
        """Put items in the place of those from ``start`` on; what is in both, in the same order, stays untouched."""
        places = {item: place for place, item in enumerate(before)}
        kept = [(places[item], place) for place, item in enumerate(after) if item in places]
        if any(one[0] >= other[0] for one, other in pairwise(kept)):
            kept = []
        end = (len(before), len(after))
        for old, new in ((-1, -1), *kept)[::-1]:
            if end != (old + 1, new + 1):
                log.splice(self._tree.root, start + old + 1, end[0] - old - 1, after[new + 1 : end[1]])
            end = (old, new)

    # Order

    def _read_order(self, now: Mapping[NodeId, Field | None]) -> bool:
        """Bring the order in line with the tree, and return whether it stays; :meth:`_number` puts the inputs first."""
        before = self._order
        keys = [item.key for item in self._tree.root.items if item.key is not None]
        absent = {node for node, held in now.items() if held is None}
        if absent:  # out of the document, or no longer a layer
            keys = [key for key in keys if key not in absent]
        self._order = cast("list[NodeId]", [INPUTS, *keys] if INPUTS in self._bindings else keys)
        return self._order == before

    def _number(self) -> None:
        if INPUTS in self._bindings and self._order[:1] != [INPUTS]:
            self._order.insert(0, INPUTS)
        self._ordinals = dict(zip(self._order, range(len(self._order)), strict=True))

    # Bindings

    def _bind_all(
        self, now: Mapping[NodeId, Field | None], edited: set[NodeId], blobs: set[str], *, stays: bool
    ) -> None:
        """Read layers anew, as far as their text is another; ``stays`` where their order is what it was."""
        account, foreseen, states = self._account, self._foreseen, self._states
        if len(now) > _REDRAWN_FROM:
            self._drawn = None
        for node, field in now.items():
            old = self._bindings.get(node)
            if field is None:
                if old is not None:
                    self._rebind(node, old, None, blobs)
                continue
            if old is not None and old.field is field and node not in edited:  # it was only moved
                account.saw(node, old, old)
                if not stays:
                    blobs.update(old.bottoms, old.tops)
                continue
            new = foreseen.bindings.pop(field, None)
            if new is None or new.id != node:
                new = bind(node, field, states)
            elif foreseen.states != states:
                new.activate(states)
            is_wired = stays and old is not None and old.wiring == new.wiring  # as before
            self._rebind(node, old, new, set() if is_wired else blobs)
            if old is not None and old.field is not field:
                account.edited.add(node)

    def _rebind(self, node: NodeId, old: Binding | None, new: Binding | None, blobs: set[str]) -> None:
        """Put what was read anew in the place of what was known of a node; None for a node that is not there."""
        self._account.saw(node, old, new)
        self._put(node, old, new)
        for binding in (old, new):
            if binding is not None:
                blobs.update(binding.bottoms, binding.tops)

    def _put(self, node: NodeId, old: Binding | None, new: Binding | None) -> None:
        if old is not None:
            del self._bindings[node]
            self._count(old, -1)
        for lens in self._lenses.values():
            lens.touched.add(node)
        drawn = self._drawn
        if new is not None:
            self._bindings[node] = new
            self._count(new, 1)
            if old is None and drawn is not None:
                drawn.add_node(node)
        elif old is not None and drawn is not None:
            drawn.remove_node(node)

    def _count(self, binding: Binding, sign: int) -> None:
        """Enter a binding into the indexes, or (-1) take it out of them."""
        if binding.has_rules:
            self._rules[binding.rules] += sign
        if binding.field is not None:
            self._versions[binding.version] += sign
        users, node = self._users, binding.id
        if sign < 0:
            for name in binding.bottoms:
                users[name].discard(node)
            for name in binding.tops:
                users[name].discard(node)
            same = self._named[binding.name]
            same.discard(node)
            if not same:
                del self._named[binding.name]
        else:
            for name in binding.bottoms:
                users[name].add(node)
            for name in binding.tops:
                users[name].add(node)
            self._named[binding.name].add(node)

    def _bind_inputs(self, blobs: set[str]) -> None:
        """Read the net's own inputs, which come before all layers wherever they are written."""
        old = self._bindings.get(INPUTS)
        tops = tuple(scalar.as_str() for scalar in scalars(self._tree.root, "input"))
        if tops == (old.tops if old is not None else ()):
            return
        self._account.is_whole = False
        if (old is None) == bool(tops):
            self._order_dirty = True
            self._order = [node for node in self._order if node != INPUTS]
        new = None
        if tops:
            new = Binding(INPUTS, None, "input", "Input", "Input", tops=tops, in_place=(False,) * len(tops))
            new.activate(self._states)
            self._account.edited.add(INPUTS)
        self._rebind(INPUTS, old, new, blobs)

    def _restage(self, blobs: set[str]) -> None:
        """Look at the document in other states when its rules speak of other stages or levels than before."""
        states = states_for((ask for rules in +self._rules for ask in rules.asks), self._own_state)
        if states == self._states:
            return
        self._account.is_whole = False
        self._states = states
        self._phase_sets = {}
        for binding in self._bindings.values():
            binding.activate(states)
        blobs |= set(self._users)

    # Wires

    def _rewire(self, blobs: Iterable[str]) -> None:
        """Connect anew what names some blobs."""
        bindings, place, phases = self._bindings, self._ordinals.__getitem__, self._phases
        foreseen = self._foreseen.wires if self._foreseen.states == self._states else {}
        found: dict[str, Mapping[Edge, int]] = {}
        for blob in blobs:
            ids = self._users.get(blob)
            if not ids:
                self._users.pop(blob, None)
                found[blob] = _NO_EDGES
                continue
            known = foreseen.pop(blob, None)
            if known is not None and known[0] == ids:
                found[blob] = known[1]
            else:
                users = [bindings[node] for node in (sorted(ids, key=place) if len(ids) > 1 else ids)]
                found[blob] = wire(blob, users, phases)
        self._put_wires(found)

    def _put_wires(self, found: Mapping[str, Mapping[Edge, int]]) -> None:
        """Put wires in the place of those of the same blobs."""
        edges, wired = self._edges, self._account.wired
        for lens in self._lenses.values():
            lens.rewired.update(found)
        if len(found) > _REDRAWN_FROM:
            self._drawn = None
        for blob, new in found.items():
            old = edges.get(blob, _NO_EDGES)
            wired(blob, old, new)
            if self._drawn is not None:
                _redraw(self._drawn, old, new)
            if new:
                edges[blob] = new
            elif old:
                del edges[blob]

    @property
    def _network(self) -> nx.MultiDiGraph[NodeId]:
        """The nodes and edges as networkx has them; drawn when first asked for, since to import that takes its time."""
        if self._drawn is None:
            self._drawn = draw_network(self._bindings, self._edges.values())
        return self._drawn

    # Undo and redo

    def _retrace(self, account: Account, *, back: bool) -> None:
        """Know again what was known before a change, or (not ``back``) after it, once the tree is as it was then."""
        self._serial += 1
        self._dirty = {}
        if len(account.nodes) > _REDRAWN_FROM:
            self._drawn = None
        for node, (before, after) in account.nodes.items():
            old, new = (after, before) if back else (before, after)
            if old is not new:
                self._put(node, old, new)
        if self._order_dirty:
            self._order_dirty = False
            keys = (cast("NodeId", item.key) for item in self._tree.root.items)
            self._order = [key for key in keys if key in self._bindings]
            self._number()
        side = 0 if back else 1
        self._put_wires({blob: both[side] for blob, both in account.wires.items()})
        for blob in account.wires:
            if not self._users.get(blob, True):
                del self._users[blob]

    # States

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


def is_broken(item: TopItem) -> bool:
    """Whether an item at the top of a file has mistakes."""
    return bool(item.faults) or type(item) is Junk


def _redraw(drawn: nx.MultiDiGraph[NodeId], old: Mapping[Edge, int], new: Mapping[Edge, int]) -> None:
    for edge in old.keys() - new.keys():
        if drawn.has_edge(edge.source, edge.target, key=edge):
            drawn.remove_edge(edge.source, edge.target, key=edge)
    for edge, mask in new.items():
        if old.get(edge) != mask:
            drawn.add_edge(edge.source, edge.target, key=edge, mask=mask)
