"""Verbs that copy layers as text and paste them as new layers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import cast

from engine.errors import CheckError, GraphError, PrototxtError
from engine.graph.binding import UNWIRED, Binding, layer_body, scalars
from engine.graph.fields import insertion_index
from engine.graph.pasting import Names, Pasting
from engine.graph.placing import place_for
from engine.graph.records import Node, NodeId
from engine.graph.rewriting import TextVerbs
from engine.graph.upgrading import is_old, upgraded_text
from engine.graph.verbs import verb
from engine.prototxt import (
    EditLog,
    Field,
    Item,
    Scalar,
    Style,
    end_line,
    insert_fields,
    insert_items,
    parse,
    parse_fields,
    quote,
    reindented,
)

__all__ = ["FragmentVerbs"]

_HEAD = ("name", "type", "bottom", "top")
_TODAY = 2


class FragmentVerbs(TextVerbs):
    """Pieces of a document, as prototxt that any editor understands."""

    def copy_fragment(self, nodes: Iterable[NodeId]) -> str:
        """Return layers as they are written, with their comments, in document order; empty where none is a layer."""
        chosen = set(nodes)
        owners = (self._owner(node.id) for node in self.nodes() if node.id in chosen and not node.virtual)
        return "".join(owner.text.lstrip("\r\n").rstrip() + "\n" for owner in owners)

    def read_fragment(self, text: str, *, after: NodeId | None = None, keep_inputs: bool = False) -> Pasting:
        """Find out what becomes of a text that is pasted; in any thread, and changing nothing.

        Where the document changes meanwhile, what is found, or raised, is of no use, and :meth:`paste_fragment` does
        without.

        Parameters
        ----------
        text, after, keep_inputs
            As for :meth:`paste_fragment`, which raises the same errors.
        """
        version, spacing = self._tree.version, self._style.spacing
        pieces, originals = self._pieces(text)
        names = Names(set(self._named), set(self._users))
        items: list[Item] = [*self._tree.root.items]
        foresight = self._foresight()
        writers: dict[str, list[Field]] = {}
        copies: list[Field] = []
        spaced = None
        place = None if after is None else self._place_for("", (), after)

        def reading(item: Item) -> Binding | None:
            return foresight.bindings.get(cast("Field", item)) or self._reading(item)

        for node in originals:
            name, bottoms, tops = self._named_anew(node, names, keep_inputs=keep_inputs)
            copy = _copy(pieces, node, name, bottoms, tops, self._style)
            if place is None:
                above = {field for blob in bottoms for field in (*writers.get(blob, ()), *self._fields_writing(blob))}
                at = place_for(items, reading, node.type, reads=bool(bottoms), writers=above)
            else:
                at, place = place, place + 1
            if spacing and at:
                copy.lead = spacing + copy.lead
            elif spacing and items and isinstance(items[0], Field):
                spaced = items[0]
            items.insert(at, copy)
            foresight.read(copy)
            copies.append(copy)
            for top in tops:
                writers.setdefault(top, []).append(copy)
        new = set(copies)
        self._connect_ahead([item for item in items if type(item) is Field and item in new], foresight)
        terms = (after, keep_inputs)
        return Pasting(text, version, terms, originals, tuple(copies), tuple(items), spaced, foresight)

    @verb
    def paste_fragment(
        self, text: str, *, after: NodeId | None = None, keep_inputs: bool = False, reading: Pasting | None = None
    ) -> tuple[NodeId, ...]:
        """Add the layers of a text under fresh names; among themselves they are wired as they were.

        All else stays as it is written, comments too, indented as this document is.

        Layers of different phases that share a name, or a blob, share the new one too. A layer that works in place
        does so on copies only: one whose input is not part of the text gets a top of its own.

        Parameters
        ----------
        text : str
            Prototxt with layers; what else it holds is left out. Old layers are brought to today's format, unless this
            document is in the old one.
        after : NodeId, optional
            The layer to stand behind; by default each goes where :meth:`add_node` puts it.
        keep_inputs : bool
            Whether bottoms from outside of the text keep their blob, where this document has it; otherwise they are
            written ``"?"``.
        reading : Pasting, optional
            What :meth:`read_fragment` found of it, to be used once; it saves the time that takes.

        Returns
        -------
        tuple of NodeId
            Of the new nodes, in the order of the text.

        Raises
        ------
        GraphError
            When the text holds no layers.
        CheckError
            When the format of this document has no such type.
        """
        if self._writes_v1:
            return self._paste_as_old(text, after, keep_inputs=keep_inputs)
        log, root = self._editing, self._tree.root
        if reading is None or (reading.text, reading.version, reading.terms) != (
            text,
            self._tree.version,
            (after, keep_inputs),
        ):
            reading = self.read_fragment(text, after=after, keep_inputs=keep_inputs)
        self._expect(reading.foresight)
        new = set(reading.copies)
        for above, item in pairwise(reading.items):
            if item in new and above not in new and not above.text.endswith("\n"):
                end_line(log, above, self._style)
        if reading.spaced is not None:
            log.assign(reading.spaced, "lead", self._style.spacing + reading.spaced.lead)
        self._splice_all(log, 0, [*root.items], reading.items)
        self._sync()
        return tuple([NodeId(cast("int", copy.key)) for copy in reading.copies])

    def _paste_as_old(self, text: str, after: NodeId | None, *, keep_inputs: bool) -> tuple[NodeId, ...]:
        """Paste into a document of the old format, layer by layer: what comes may be of today's."""
        pieces, originals = self._pieces(text)
        names = Names(set(self._named), set(self._users))
        added: list[NodeId] = []
        for node in originals:
            name, bottoms, tops = self._named_anew(node, names, keep_inputs=keep_inputs)
            fields = (field.text.strip() for field in pieces.message(node.id) if field.name not in _HEAD)
            if node.version == _TODAY:
                more = "\n".join(fields)
                made = self.add_node(node.type, name=name, bottoms=bottoms, tops=tops, fields=more, after=after)
            else:
                copy = _copy(pieces, node, name, bottoms, tops, self._style)
                place = self._place_for(node.type, bottoms, after)
                insert_items(self._editing, self._tree.root, place, [copy], self._style)
                made = self._settle(copy, place)
            added.append(made)
            after = None if after is None else made
        return tuple(added)

    def _pieces(self, text: str) -> tuple[FragmentVerbs, tuple[Node, ...]]:
        """Return a text as a graph, in today's format unless this document is in the old one, and its layers."""
        pieces: FragmentVerbs = type(self)(parse(text))
        if is_old(pieces) and not self._writes_v1:
            try:
                pieces = type(self)(parse(upgraded_text(pieces)))
            except PrototxtError as error:
                raise GraphError(
                    f"The layers are of an old format and cannot be read: {error.message}",
                    next_step="Correct them where they come from.",
                ) from error
        originals = tuple([node for node in pieces.nodes() if not node.virtual])
        if not originals:
            raise GraphError("The text holds no layers.", next_step="Copy layers here or from a prototxt file.")
        return pieces, originals

    def _named_anew(self, node: Node, names: Names, *, keep_inputs: bool) -> tuple[str, list[str], list[str]]:
        """Return name, bottoms and tops of a layer's copy."""
        name = names.name(node)
        bottoms = [
            names.newest(blob) or (blob if keep_inputs and self.writers(blob) else UNWIRED) for blob in node.bottoms
        ]
        tops = names.tops(node, name)
        self.check_add_node(node.type, tops=tops)
        names.take(name, bottoms, tops)
        return name, bottoms, tops


def _copy(
    pieces: FragmentVerbs, node: Node, name: str, bottoms: Sequence[str], tops: Sequence[str], style: Style
) -> Field:
    """Return a layer as it is written, under other names, indented as a file of another style is."""
    original = pieces._owner(node.id)
    if original.faults:
        fault = original.faults[0]
        raise CheckError(f"The text of {node.title} is broken: {fault.message}", next_step=fault.hint)
    (copy,) = parse_fields(reindented(original, pieces._style, style))
    message, body = copy.message, layer_body(copy)
    assert message is not None
    if body.text_of("name") is None:
        field = Field("", "name", ": ", Scalar(quote(name, style.mark)))
        insert_fields(EditLog(), body, insertion_index(body, "name"), [field], style)
    for within, kind, values in ((body, "name", [name]), (message, "bottom", bottoms), (message, "top", tops)):
        for held, value in zip(scalars(within, kind)[-len(values) :], values, strict=False):
            if held.as_str() != value:
                held.text = quote(value, held.text[0] if held.text[:1] in ("'", '"') else style.mark)
    copy.forget()
    return copy
