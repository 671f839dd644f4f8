"""The page of the panel for one layer, or for several of one type."""

from __future__ import annotations

import re
from collections.abc import Hashable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.properties.fieldgroups import FieldGroups
from app.properties.groups import FieldGroup, layer_groups
from app.properties.pages.header import LayerHeader
from app.properties.section import Section
from app.properties.snapshot import Path
from app.properties.target import LayerTarget
from engine.diagnostics.layers import weights_note
from engine.errors import NetcanvasError

if TYPE_CHECKING:
    from app.document import Document
    from engine.graph import Node, NodeId
    from engine.registry import LayerInfo

__all__ = ["LayerPage", "page_key"]

#: What is wrong with these is said in the header, which shows them.
_HEADER_FIELDS = {("name",), ("type",), ("bottom",), ("top",)}
#: How a message begins that names the layer, which the panel need not.
_ADDRESS = re.compile(r"^Layer '[^']*'(?: \([^)]*\))?: ")


class LayerPage(QWidget):
    """Header and groups of fields.

    The page is made for one list of groups and bound to any layers that have the same.

    Parameters
    ----------
    target : LayerTarget
        The layers to edit.
    folds : dict of str to bool
        Which groups the user opened and closed, by title; kept up to date.
    """

    def __init__(self, target: LayerTarget, folds: dict[str, bool], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.target = target
        self.groups = groups_of(target)
        self.key = page_key(target)
        self.header = LayerHeader(self)
        self.header.renamed.connect(self._rename)
        self.fields = FieldGroups(target, self.groups, folds, self._unknown_names(), self)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self.header)
        layout.addWidget(self.fields)
        layout.addStretch(1)
        self.refresh_facts()
        self.refresh_diagnoses()

    @property
    def sections(self) -> list[Section]:
        """The groups of fields."""
        return self.fields.sections

    def _unknown_names(self) -> set[str]:
        return set(self.target.present) - {
            info.name for info in self.target.schema.describe(message_of(self.target)).fields
        }

    @property
    def document(self) -> Document:
        """The document that is edited."""
        return self.target.document

    @property
    def node(self) -> Node:
        """The layer, or the first of several."""
        return self.document.graph.node(self.target.ids[0])

    @property
    def is_gone(self) -> bool:
        """Whether a layer that is shown was taken out of the net."""
        return not all(node_id in self.document.graph for node_id in self.target.ids)

    def try_bind(self, ids: Sequence[NodeId]) -> bool:
        """Show other layers if they have the same groups; return whether they do."""
        target = LayerTarget(self.document, ids)
        if page_key(target) != self.key:
            return False
        self.target = target
        self.header.name.revert()
        self.fields.bind(target)
        self.refresh_facts()
        self.refresh_diagnoses()
        return True

    def refresh(self) -> bool:
        """Show what the file says now; return False if the page no longer fits the layer."""
        if self.target.refresh():
            if page_key(self.target) != self.key:
                return False
            self.fields.refresh()
        self.refresh_facts()
        return True

    def refresh_forms(self) -> None:
        """Show the fields again: what is known of them has changed."""
        self.fields.refresh()

    def refresh_facts(self) -> None:
        """Show name, type and what is computed."""
        nodes = [self.document.graph.node(node_id) for node_id in self.target.ids]
        info = self._info(nodes[0])
        if len(nodes) > 1:
            self.header.show_group(nodes, info)
            return
        self.header.show_node(nodes[0], info, self.document.live.plugins.picture_of(info))
        self.header.show_shapes(nodes[0], self.document.shapes.get(nodes[0].id))
        self.fields.show_shapes()

    def _info(self, node: Node) -> LayerInfo | None:
        """Return what is known of a layer: of a Python layer, what its plugin says."""
        return self.document.live.plugins.info_of(node)

    def refresh_diagnoses(self) -> None:
        """Show what the diagnosis says about the layer and its fields."""
        found: dict[Path, tuple[str, bool]] = {}
        for each in self.document.diagnostics:
            if each.node in self.target.ids and each.severity != "info":
                text = _ADDRESS.sub("", f"{each.message} {each.next_step}".strip())
                text = text[:1].upper() + text[1:]
                is_error = each.severity == "error"
                path = () if each.field[:1] in _HEADER_FIELDS else each.field
                if path not in found or (is_error and not found[path][1]):
                    found[path] = (text, is_error)
        self.header.diagnose(*found.pop((), ("", False)))
        self.fields.diagnose(found)

    def search(self, words: str) -> bool:
        """Show only fields that match; return whether there is one. Everything for empty words."""
        self.header.setVisible(not words)
        return self.fields.search(words)

    def _rename(self, name: str) -> None:
        if self.is_gone:  # removed while its name was being typed
            return
        node = self.node
        if name == node.name:
            self.header.say("")
            return
        try:
            label = f"Rename {node.name or 'layer'} to {name}"
            self.document.apply(label, lambda graph: graph.rename_node(node.id, name))
        except NetcanvasError as error:
            self.header.say(str(error))
            return
        self.header.say(weights_note(self.document.graph.node(node.id), node.name))


def groups_of(target: LayerTarget) -> tuple[FieldGroup, ...]:
    """Return the groups of fields that the layers of a target show; of several types, what any layer has."""
    nodes = [target.document.graph.node(node_id) for node_id in target.ids]
    if nodes[0].virtual:
        return ()
    types = {node.type for node in nodes}
    if len(types) > 1:
        common = layer_groups(target.schema, "", (), nodes[0].version)
        return tuple(replace(group, is_open=True) for group in common if not group.base and group.title != "More")
    return layer_groups(target.schema, nodes[0].type, target.present, nodes[0].version)


def page_key(target: LayerTarget) -> Hashable:
    """Return what makes one page serve several layers: the same groups of fields, and one layer or several."""
    unknown = target.present - {info.name for info in target.schema.describe(message_of(target)).fields}
    nodes = [target.document.graph.node(node_id) for node_id in target.ids]
    return groups_of(target), target.is_single, bool(unknown), len({node.type for node in nodes}) > 1


def message_of(target: LayerTarget) -> str:
    """Return the message type that the layers of a target are written in."""
    version = target.document.graph.node(target.ids[0]).version
    return "LayerParameter" if version == 2 else "V1LayerParameter"
