"""Verbs that add, remove, move and rename layers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import cast

from engine.errors import CheckError, PrototxtError
from engine.graph.binding import UNWIRED, Binding, layer_body
from engine.graph.connections import ConnectionVerbs
from engine.graph.fields import insertion_index
from engine.graph.placing import first_layer, place_for
from engine.graph.records import INPUTS, NodeId
from engine.graph.verbs import verb
from engine.graph.versions import v1_type
from engine.prototxt import Field, Item, Message, Scalar, insert_fields, parse_fields, quote

__all__ = ["LayerVerbs"]

_INPUT_FIELDS = ("input", "input_dim", "input_shape")
#: From so many layers on it takes less to look at all wires than at those of each.
_MANY = 200


class LayerVerbs(ConnectionVerbs):
    """Layers as wholes."""

    def check_add_node(self, type_name: str, *, tops: Sequence[str] | int | None = None) -> None:
        """Raise :class:`CheckError`, saying why, if :meth:`add_node` would refuse."""
        if not type_name:
            raise CheckError("A layer needs a type.", next_step="Choose one from the palette.")
        if self._writes_v1 and v1_type(type_name) is None:
            raise CheckError(
                f"The old 'layers' format of this file has no type '{type_name}'.",
                next_step="Upgrade the file to today's format first.",
            )
        if isinstance(tops, Sequence) and any(not top or top == UNWIRED for top in tops):
            raise CheckError(f"A top needs a name, got {list(tops)!r}.")

    @verb
    def add_node(
        self,
        type_name: str,
        *,
        name: str | None = None,
        bottoms: Sequence[str] = (),
        tops: Sequence[str] | int | None = None,
        fields: str | None = None,
        after: NodeId | None = None,
    ) -> NodeId:
        """Add a layer, written in the file's own style.

        Parameters
        ----------
        type_name : str
            Today's name of the type.
        name : str, optional
            The layer's name; ``conv1``, ``conv2``, ... by default.
        bottoms : sequence of str
            Blob names; ``"?"`` for bottoms that are wired later.
        tops : sequence of str or int, optional
            Blob names as they shall be, or how many fresh ones; one by default. See :meth:`fresh_blob_name`.
        fields : str, optional
            Further fields as prototxt: ``convolution_param { num_output: 20 kernel_size: 5 }``.
        after : NodeId, optional
            The layer to stand behind; behind the inputs of the net is before all others. By default sources go behind
            those that begin the file, losses and the like to the end, all others before the losses, and never above
            what they read.

        Returns
        -------
        NodeId
            Of the new node.

        Raises
        ------
        CheckError
            If the file's format has no such type, or ``fields`` cannot be read.
        """
        self.check_add_node(type_name, tops=tops)
        name = self.fresh_layer_name(type_name) if name is None else name
        if tops is None or isinstance(tops, int):
            tops = self._fresh_tops(name, 1 if tops is None else tops)
        mark = self._style.mark
        written = quote(type_name, mark)
        if self._writes_v1:
            written = v1_type(type_name) or written
        message = Message("{", close="}")
        pieces = [("name", quote(name, mark)), ("type", written)]
        pieces += [("bottom", quote(bottom, mark)) for bottom in bottoms]
        pieces += [("top", quote(top, mark)) for top in tops]
        message.items += [Field("", key, ": ", Scalar(text)) for key, text in pieces]
        try:
            message.items += parse_fields(fields or "")
        except PrototxtError as error:
            raise CheckError(f"The fields of the new layer cannot be read: {error.message}") from error
        layer = Field("", "layers" if self._writes_v1 else "layer", " ", message)
        place = self._place_for(type_name, bottoms, after)
        (made,) = insert_fields(self._editing, self._tree.root, place, [layer], self._style)
        return self._settle(made, place)

    @verb
    def remove_nodes(self, nodes: Iterable[NodeId]) -> None:
        """Remove layers, with the comments directly above them.

        Bottoms that then have no writer left in any phase are written ``"?"``. A bottom keeps its name where another
        layer still writes it: the layer before an in-place one, or the writer of the other phase.
        """
        gone = set(nodes)
        bindings = [self._binding(node) for node in gone]
        if len(gone) < _MANY:
            leaving = (edge for node in gone for edge in self.edges_out(node))
        else:
            leaving = (edge for edges in self._edges.values() for edge in edges if edge.source in gone)
        readers = {(edge.target, edge.bottom) for edge in leaving if edge.target not in gone}
        doomed: set[Field] = {binding.field for binding in bindings if binding.field is not None}
        if INPUTS in gone:
            doomed |= {field for field in self._tree.root if field.name in _INPUT_FIELDS}
        self._take_out(doomed)
        self._sync()
        for target, bottom in sorted(readers):
            if not self._resolved(target, bottom):
                self._write_name((target, "bottom", bottom), UNWIRED)

    def check_rename_node(self, node: NodeId, name: str) -> None:
        """Raise :class:`CheckError`, saying why, if :meth:`rename_node` would refuse."""
        self._owner(node)
        if not name:
            raise CheckError(f"{self.node(node).heading} needs a name.", next_step="Type one.")
        mask = self._bindings[node].mask
        for other in self._named.get(name, ()):
            if other != node and self._bindings[other].mask & mask:
                raise CheckError(
                    f"{self.node(node).heading} cannot be called '{name}': a layer of the same phase is, and "
                    f"weights go by name.",
                    next_step="Choose another name.",
                )

    @verb
    def rename_node(self, node: NodeId, name: str) -> None:
        """Rename a layer, and no blob. Weights go by layer name: those trained under the old one no longer load.

        Raises
        ------
        CheckError
            If the name is empty, or another layer of the same phase has it.
        """
        self.check_rename_node(node, name)
        body = layer_body(self._owner(node))
        held = body.get("name")
        if held is not None and isinstance(held.value, Scalar):
            mark = held.value.text[0] if held.value.text[:1] in ("'", '"') else self._style.mark
            self._editing.assign(held.value, "text", quote(name, mark))
            return
        field = Field("", "name", ": ", Scalar(quote(name, self._style.mark)))
        insert_fields(self._editing, body, insertion_index(body, "name"), [field], self._style)

    @verb
    def move_node(self, node: NodeId, *, after: NodeId | None) -> None:
        """Move a layer's text behind another one, or before all; what reads what follows the new order.

        Behind the inputs of the net is before all other layers.
        """
        self._owner(node)
        if after is not None and after != INPUTS:
            self._move([node], after, after=True)
            return
        first = next((other for other in self._order if other not in (INPUTS, node)), None)
        if first is not None:
            self._move([node], first, after=False)

    # How

    @property
    def _writes_v1(self) -> bool:
        """Whether new layers are written in the old format: where the file has only that."""
        return not self._versions[2] and (self._versions[0] > 0 or self._versions[1] > 0)

    def _fresh_tops(self, name: str, count: int) -> list[str]:
        tops: list[str] = []
        for place in range(count):
            base = name if not place else f"{name}_{place}"
            tops.append(self.fresh_blob_name(base))
        return tops

    def _place_for(self, type_name: str, bottoms: Sequence[str], after: NodeId | None) -> int:
        """Return the place of a new layer among the items of the root."""
        items = self._tree.root.items
        if after is not None:
            field = self._binding(after).field
            return first_layer(items, self._reading) if field is None else items.index(field) + 1
        writers = {field for name in bottoms for field in self._fields_writing(name)}
        return place_for(items, self._reading, type_name, reads=bool(bottoms), writers=writers)

    def _fields_writing(self, blob: str) -> list[Field]:
        """Return the layers that write a blob, as the tree has them."""
        fields = (self._bindings[node].field for node in self.writers(blob)) if blob != UNWIRED else ()
        return [field for field in fields if field is not None]

    def _reading(self, item: Item) -> Binding | None:
        """Return what was read of a layer; None for what is none."""
        binding = self._bindings.get(cast("NodeId", item.key))
        return binding if binding is not None and binding.field is item else None

    def _settle(self, made: Field, place: int) -> NodeId:
        self._space(made, place)
        self._sync()
        assert made.key is not None
        return NodeId(made.key)

    def _space(self, made: Field, place: int) -> None:
        """Part a new layer from its neighbours by blank lines where the file does so."""
        spacing = self._style.spacing
        if not spacing:
            return
        items = self._tree.root.items
        if place:
            self._editing.assign(made, "lead", spacing + made.lead)
        elif len(items) > 1 and isinstance(items[1], Field):
            self._editing.assign(items[1], "lead", spacing + items[1].lead)
