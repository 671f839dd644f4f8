"""Verbs that copy layers as text and paste them as new layers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from engine.errors import CheckError, GraphError, PrototxtError
from engine.graph.binding import UNWIRED, layer_body, scalars
from engine.graph.fields import insertion_index
from engine.graph.records import Node, NodeId
from engine.graph.rewriting import TextVerbs
from engine.graph.upgrading import is_old, upgraded_text
from engine.graph.verbs import verb
from engine.prototxt import EditLog, Field, Scalar, Style, insert_fields, parse, parse_fields, quote, reindented

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

    @verb
    def paste_fragment(
        self, text: str, *, after: NodeId | None = None, keep_inputs: bool = False
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
        pieces = type(self)(parse(text))
        if is_old(pieces) and not self._writes_v1:
            try:
                pieces = type(self)(parse(upgraded_text(pieces)))
            except PrototxtError as error:
                raise GraphError(
                    f"The layers are of an old format and cannot be read: {error.message}",
                    next_step="Correct them where they come from.",
                ) from error
        originals = [node for node in pieces.nodes() if not node.virtual]
        if not originals:
            raise GraphError("The text holds no layers.", next_step="Copy layers here or from a prototxt file.")
        names, blobs = _Renamed(), _Renamed()
        added: list[NodeId] = []
        for node in originals:
            name = self._copy_name(node, names)
            bottoms = [
                blobs.newest(blob) or (blob if keep_inputs and self.writers(blob) else UNWIRED) for blob in node.bottoms
            ]
            tops = self._copy_tops(node, name, blobs)
            self.check_add_node(node.type, tops=tops)
            if self._writes_v1 and node.version == _TODAY:
                fields = "\n".join(field.text.strip() for field in pieces.message(node.id) if field.name not in _HEAD)
                made = self.add_node(node.type, name=name, bottoms=bottoms, tops=tops, fields=fields, after=after)
            else:
                copy = _copy(pieces, node, name, bottoms, tops, self._style)
                made = self._insert_layer(copy, self._place_for(node.type, bottoms, after))
            added.append(made)
            after = None if after is None else made
        return tuple(added)

    def _copy_name(self, node: Node, names: _Renamed) -> str:
        name = names.twin(node.name, node.phases)
        if not name:
            taken = not node.name or self.ids_named(node.name)
            name = self.fresh_layer_name(node.type) if taken else node.name
            names.add(node.name, name, node.phases)
        return name

    def _copy_tops(self, node: Node, name: str, blobs: _Renamed) -> list[str]:
        tops: list[str] = []
        for place, blob in enumerate(node.tops):
            held = blobs.newest(blob)
            if node.in_place[place] and held:
                tops.append(held)
                continue
            fresh = blobs.twin(blob, node.phases)
            fresh = fresh or self._free_blob(name if len(node.tops) == 1 else blob, tops)
            blobs.add(blob, fresh, node.phases)
            tops.append(fresh)
        return tops

    def _free_blob(self, base: str, taken: list[str]) -> str:
        """Return a name that no blob has, nor a top that is about to be written."""
        name, place = self.fresh_blob_name(base), 0
        while name in taken:
            place += 1
            name = self.fresh_blob_name(f"{base}_{place}")
        return name


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


class _Renamed:
    """New names for old ones. Layers of different phases that share a name share the new one too."""

    def __init__(self) -> None:
        self._names: dict[str, list[tuple[str, frozenset[str]]]] = {}

    def add(self, old: str, new: str, phases: frozenset[str]) -> None:
        self._names.setdefault(old, []).append((new, phases))

    def newest(self, old: str) -> str:
        """Return the last new name, or nothing."""
        known = self._names.get(old)
        return known[-1][0] if known else ""

    def twin(self, old: str, phases: frozenset[str]) -> str:
        """Return the new name that was given in other phases only, or nothing."""
        known = self._names.get(old, ())
        return next((new for new, _ in known if all(new != n or not (p & phases) for n, p in known)), "")
