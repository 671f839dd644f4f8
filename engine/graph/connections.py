"""Verbs that wire layers: connect, disconnect, detach, rename a blob."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from contextlib import suppress

from engine.errors import CheckError, GraphError
from engine.graph.binding import UNWIRED, occurrences
from engine.graph.fields import FieldVerbs
from engine.graph.records import Edge, NodeId, phase_words
from engine.graph.verbs import verb
from engine.prototxt import Field, Item, Scalar, insert_items, keep_apart, quote

__all__ = ["ConnectionVerbs"]

# A place where a blob's name is written: node, "bottom" or "top", index.
BlobSlot = tuple[NodeId, str, int]

_MOST_BOTTOMS = 64


class _RehearsalOver(Exception):
    """Has a change taken back that was only tried."""


class ConnectionVerbs(FieldVerbs):
    """Wiring, as edits of ``bottom`` and ``top``."""

    # Connect

    def check_connect(self, source: NodeId, top: int, target: NodeId, bottom: int) -> None:
        """Raise :class:`CheckError`, saying why, if :meth:`connect` would refuse."""
        self._check_ends(source, top, target, bottom)
        above = self._ordinals[source] > self._ordinals[target]
        if above:
            self._check_cycle(source, target)
        versions = {writer for writer, _ in self._versions_of(source, top)}
        if above or not versions.issuperset(self.writers(self._bindings[source].tops[top])):
            self._rehearse(source, top, target, bottom)

    def can_connect(self, source: NodeId, top: int, target: NodeId, bottom: int) -> bool:
        """Whether :meth:`connect` would accept."""
        try:
            self.check_connect(source, top, target, bottom)
        except GraphError:
            return False
        return True

    @verb
    def connect(self, source: NodeId, top: int, target: NodeId, bottom: int) -> tuple[Edge, ...]:
        """Have a bottom read a blob.

        The bottom is given the blob's name. Where layers between the two overwrite the blob in place, the bottom
        reads the latest of them above it, as Caffe would. A target that stands above the source in the document moves
        below it, together with what depends on it; where that would change what others read, the source moves up. An
        in-place target keeps its readers; it stays in place where nothing else reads the new blob below it.

        Parameters
        ----------
        source : NodeId
            The layer that writes.
        top : int
            Which of its tops.
        target : NodeId
            The layer that reads.
        bottom : int
            Which of its bottoms; the number of its bottoms to add one.

        Returns
        -------
        tuple of Edge
            The edges that now end at the bottom.

        Raises
        ------
        CheckError
            If the two never run together, the source depends on the target, or another layer writes the same name in
            between.
        """
        self._check_ends(source, top, target, bottom)
        if self._ordinals[source] > self._ordinals[target]:
            self._check_cycle(source, target)
        blob = self._bindings[source].tops[top]
        self._leave_place(target, bottom, blob)
        self._write_bottom(target, bottom, blob)
        self._sync()
        if self._ordinals[source] > self._ordinals[target]:
            self._reorder(source, target, bottom)
        found = tuple(edge for edge in self.edges_in(target) if edge.bottom == bottom)
        versions = self._versions_of(source, top)
        strange = next((edge for edge in found if (edge.source, edge.top) not in versions), None)
        if strange is not None and not any((edge.source, edge.top) in versions for edge in found):
            raise CheckError(
                f"{self.node(target).heading} would read '{blob}' from {self.node(strange.source).title}, which writes "
                f"the same name between the two.",
                next_step="Rename one of the two blobs.",
            )
        return found

    # Disconnect

    @verb
    def disconnect(self, target: NodeId, bottom: int) -> None:
        """Unwire a bottom: it is written ``"?"``. The top of a layer that worked in place gets a name of its own."""
        self._check_bottom(target, bottom)
        self._leave_place(target, bottom, UNWIRED)
        self._write_bottom(target, bottom, UNWIRED)

    @verb
    def detach(self, node: NodeId, top: int) -> str:
        """Give a top a blob name of its own; the layers that read this version of the blob follow.

        Returns
        -------
        str
            The new name.
        """
        blob = self._top(node, top)
        name = self.fresh_blob_name(self._bindings[node].name or blob)
        self._rename_slots(self._downstream(node, top), name)
        return name

    # Rename

    def blob_family(self, node: NodeId, top: int) -> frozenset[BlobSlot]:
        """Return every place where a blob is named: its writers in both phases, their readers, in-place versions.

        Returns
        -------
        frozenset of (NodeId, str, int)
            Node, ``'bottom'`` or ``'top'``, and index.
        """
        blob = self._top(node, top)
        edges = self._edges.get(blob, {})
        neighbours: dict[BlobSlot, list[BlobSlot]] = {}
        for edge in edges:
            pair = (edge.source, "top", edge.top), (edge.target, "bottom", edge.bottom)
            neighbours.setdefault(pair[0], []).append(pair[1])
            neighbours.setdefault(pair[1], []).append(pair[0])
        family: set[BlobSlot] = set()
        work: list[BlobSlot] = [(node, "top", top)]
        while work:
            slot = work.pop()
            if slot in family:
                continue
            family.add(slot)
            work += neighbours.get(slot, ())
            other = self._bindings[slot[0]]
            if slot[2] < len(other.in_place) and other.in_place[slot[2]]:
                work += ((slot[0], "top", slot[2]), (slot[0], "bottom", slot[2]))
        return frozenset(family)

    def namesakes(self, node: NodeId, top: int) -> tuple[NodeId, ...]:
        """Return the nodes that use the same blob name for another blob, one of the other phase for instance."""
        blob = self._top(node, top)
        family = {slot[0] for slot in self.blob_family(node, top)}
        return tuple(user for user in self._users_in_order(blob) if user not in family)

    def check_rename_blob(self, node: NodeId, top: int, name: str) -> None:
        """Raise :class:`CheckError`, saying why, if :meth:`rename_blob` would refuse."""
        blob = self._top(node, top)
        if not name or name == UNWIRED:
            raise CheckError(f"Blob '{blob}' cannot be called {name!r}.", next_step="Choose a name.")
        if name == blob:
            return
        taken = self.writers(name)
        if taken:
            raise CheckError(
                f"Blob '{blob}' cannot be called '{name}': {self.node(taken[0]).title} writes that name.",
                next_step="Choose another name.",
            )

    @verb
    def rename_blob(self, node: NodeId, top: int, name: str, *, everywhere: bool = False) -> None:
        """Rename a blob with all its readers, in-place versions, and the writers of the other phase that share them.

        Parameters
        ----------
        node, top : NodeId, int
            A top that writes the blob.
        name : str
            The new name.
        everywhere : bool
            Rename also what merely has the same name; see :meth:`namesakes`.

        Raises
        ------
        CheckError
            If another layer writes ``name`` already.
        """
        self.check_rename_blob(node, top, name)
        blob = self._bindings[node].tops[top]
        slots: Iterable[BlobSlot] = self.blob_family(node, top)
        if everywhere:
            slots = [
                (user, kind, place)
                for user in self._users_in_order(blob)
                for kind, names in (("bottom", self._bindings[user].bottoms), ("top", self._bindings[user].tops))
                for place, written in enumerate(names)
                if written == blob
            ]
        self._rename_slots(slots, name)

    # How

    def _top(self, node: NodeId, top: int) -> str:
        """Return the blob name of a top.

        Raises
        ------
        CheckError
            If the layer has no such top.
        """
        tops = self._binding(node).tops
        if not 0 <= top < len(tops):
            raise CheckError(f"{self.node(node).heading} has {len(tops)} tops; there is no top {top}.")
        return tops[top]

    def _check_bottom(self, target: NodeId, bottom: int) -> None:
        have = len(self._binding(target).bottoms)
        if not 0 <= bottom < have:
            raise CheckError(f"{self.node(target).heading} has {have} bottoms; there is no bottom {bottom}.")

    def _check_ends(self, source: NodeId, top: int, target: NodeId, bottom: int) -> None:
        writer, reader = self._binding(source), self._binding(target)
        self._top(source, top)
        if not 0 <= bottom <= len(reader.bottoms) + _MOST_BOTTOMS:
            raise CheckError(
                f"{self.node(target).heading} has {len(reader.bottoms)} bottoms; there is no bottom {bottom}."
            )
        if reader.field is None:
            raise CheckError("The net's own inputs read no blob.")
        if source == target:
            raise CheckError(f"{self.node(source).heading} cannot read its own output.")
        if not writer.mask & reader.mask:
            raise CheckError(
                f"{self.node(source).heading} takes part in {phase_words(self._phases(writer.mask))} and "
                f"{self.node(target).title} in {phase_words(self._phases(reader.mask))}: they never run together.",
                next_step="Change the include rule of one of them.",
            )

    def _rehearse(self, source: NodeId, top: int, target: NodeId, bottom: int) -> None:
        """Connect, and take it back: what an order of layers does to all readers is known only when it is there."""
        with suppress(_RehearsalOver), self.change():
            self.connect(source, top, target, bottom)
            raise _RehearsalOver

    def _check_cycle(self, source: NodeId, target: NodeId) -> None:
        """Refuse if the source depends on the target; edges lead down, so only what lies between them matters."""
        end, ordinals = self._ordinals[source], self._ordinals
        successors = dict(self._network.adjacency())  # plain dicts, faster than views of them
        reached = {target: self._bindings[source].mask & self._bindings[target].mask}
        work = [target]
        while work:
            node = work.pop()
            for other, edges in successors[node].items():
                if ordinals[other] > end:
                    continue
                mask = 0
                for data in edges.values():
                    mask |= data["mask"]
                mask &= reached[node] & ~reached.get(other, 0)
                if mask:
                    reached[other] = reached.get(other, 0) | mask
                    work.append(other)
        if reached.get(source):
            raise CheckError(
                f"{self.node(source).heading} depends on {self.node(target).title}: the connection would close a cycle."
            )

    def _write_bottom(self, target: NodeId, bottom: int, blob: str) -> None:
        have = len(self._bindings[target].bottoms)
        if bottom < have:
            self._write_name((target, "bottom", bottom), blob)
            return
        mark = self._style.mark
        for name in (*[UNWIRED] * (bottom - have), blob):
            self.append_field(target, ("bottom",), quote(name, mark))

    def _write_name(self, slot: BlobSlot, name: str) -> None:
        node, kind, place = slot
        if self._bindings[node].field is None:
            message, kind = self._tree.root, "input"
        else:
            message = self.message(node)
        held = [holder.value for holder in occurrences(message, kind) if isinstance(holder.value, Scalar)][place]
        mark = held.text[0] if held.text[:1] in ("'", '"') else self._style.mark
        self._editing.assign(held, "text", quote(name, mark))

    def _rename_slots(self, slots: Iterable[BlobSlot], name: str) -> None:
        for slot in sorted(slots):
            self._write_name(slot, name)

    def _versions_of(self, node: NodeId, top: int) -> set[tuple[NodeId, int]]:
        """Return a top with the in-place versions that follow it."""
        found = {(node, top)}
        work = [(node, top)]
        while work:
            here = work.pop()
            for _, other, edge in self._network.out_edges(here[0], keys=True):
                in_place = self._bindings[other].in_place
                after = (other, edge.bottom)
                if edge.top == here[1] and edge.bottom < len(in_place) and in_place[edge.bottom] and after not in found:
                    found.add(after)
                    work.append(after)
        return found

    def _downstream(self, node: NodeId, top: int) -> set[BlobSlot]:
        """Return the slots of a version and of those that follow it, with all their readers."""
        slots: set[BlobSlot] = set()
        for writer, place in self._versions_of(node, top):
            slots.add((writer, "top", place))
            slots |= {(e.target, "bottom", e.bottom) for e in self.edges_out(writer) if e.top == place}
        return slots

    def _leave_place(self, target: NodeId, bottom: int, blob: str) -> None:
        """Before a bottom gets another name: have an in-place top follow it, or get a name of its own."""
        in_place = self._bindings[target].in_place
        if bottom >= len(in_place) or not in_place[bottom] or self._bindings[target].bottoms[bottom] == blob:
            return
        here = self._ordinals[target]
        others = [user for user in self._users.get(blob, ()) if user != target and self._ordinals[user] > here]
        if blob == UNWIRED or others:
            self.detach(target, bottom)
        else:
            self._rename_slots(self._downstream(target, bottom), blob)
            self._sync()

    def _reorder(self, source: NodeId, target: NodeId, bottom: int) -> None:
        """Bring a target below its source without changing what anything else reads."""
        log = self._editing
        for moved, after in (self._below(source, target), True), (self._above(source, target), False):
            blobs = sorted({blob for node in moved for blob in self._bindings[node].blobs()})

            def wiring(blobs: list[str] = blobs) -> list[set[Edge]]:
                """The wires of all blobs that the moved layers mention, but for the new one; other wires stay."""
                known = (self._edges.get(blob, ()) for blob in blobs)
                return [{edge for edge in edges if (edge.target, edge.bottom) != (target, bottom)} for edges in known]

            before = wiring()
            mark = len(log)
            self._move(moved, source if after else target, after=after)
            self._sync()
            if wiring() == before:
                return
            log.roll_back(mark)
            self._sync()
        raise CheckError(
            f"{self.node(target).heading} stands above {self.node(source).title}, and no order of the two leaves "
            f"what the layers between them read as it is.",
            next_step="Detach the in-place layers between them first.",
        )

    def _below(self, source: NodeId, target: NodeId) -> list[NodeId]:
        """Return the target with all that depends on it above the source, in order."""
        end = self._ordinals[source]
        found = {target}
        work = [target]
        while work:
            for other in self._network.successors(work.pop()):
                if other not in found and self._ordinals[other] < end:
                    found.add(other)
                    work.append(other)
        return self._sorted(found)

    def _above(self, source: NodeId, target: NodeId) -> list[NodeId]:
        """Return the source with all it depends on below the target, in order."""
        start = self._ordinals[target]
        found = {source}
        work = [source]
        while work:
            for other in self._network.predecessors(work.pop()):
                if other not in found and self._ordinals[other] > start:
                    found.add(other)
                    work.append(other)
        return self._sorted(found)

    def _move(self, nodes: list[NodeId], beside: NodeId, *, after: bool) -> None:
        """Move the blocks of layers, with their comments, next to another one."""
        root, log = self._tree.root, self._editing
        fields: list[Field] = [self._owner(node) for node in nodes]
        self._take_out(fields)
        place = root.items.index(self._owner(beside)) + (1 if after else 0)
        insert_items(log, root, place, list(fields), self._style)

    def _take_out(self, fields: Collection[Field]) -> None:
        """Take blocks out of the document, the last one first."""
        items = self._tree.root.items
        if len(fields) < 20:
            places = sorted((items.index(field) for field in fields), reverse=True)
        else:
            wanted: set[Item] = set(fields)
            places = [place for place, item in enumerate(items) if item in wanted][::-1]
        runs: list[tuple[int, int]] = []  # places of neighbours, the first and how many
        for place in places:
            if runs and runs[-1][0] == place + 1:
                runs[-1] = (place, runs[-1][1] + 1)
            else:
                runs.append((place, 1))
        for place, count in runs:
            self._editing.splice(self._tree.root, place, count)
        gone = 0
        for place, count in reversed(runs):
            keep_apart(self._editing, self._tree.root, place - gone, self._style)
            gone += count
