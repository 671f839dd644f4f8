"""Verbs that set a layer aside without losing it: bypass, and freezing its weights.

Both are plain edits of the text, so that what is shown, saved and trained stays one thing, and both are told by a
comment of their own above the layer, which says how to take them back:

* A bypassed layer is in no net (``exclude { }``); what read its tops reads its bottoms. Each reader keeps the name that
  it gave up in a comment, the newest last.
* The weights of a frozen layer have ``lr_mult: 0``; the comment holds the rates that were written before.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Sequence

from engine.errors import CheckError
from engine.graph.binding import UNWIRED
from engine.graph.fragments import FragmentVerbs
from engine.graph.records import NodeId
from engine.graph.rules import Rule
from engine.graph.verbs import verb
from engine.prototxt import Message

__all__ = ["SettingAsideVerbs"]

_BYPASSED = "bypassed"
_RULES = "bypassed; its exclude rules were include rules"
_READER = re.compile(r'bottom (\d+) bypasses "(.*)"')
_FROZEN = re.compile(r"frozen; lr_mult was (.*)")
_NOT_WRITTEN = "default"
_NO_ENTRY = "none"


class SettingAsideVerbs(FragmentVerbs):
    """Bypass and freeze."""

    # Bypass

    def is_bypassed(self, node: NodeId) -> bool:
        """Whether :meth:`bypass` set a layer aside."""
        field = self._binding(node).field
        return field is not None and "# bypassed" in field.lead and self._bypass_mark(node) is not None

    def check_bypass(self, node: NodeId) -> None:
        """Raise :class:`CheckError`, saying why, if :meth:`bypass` would refuse."""
        self._owner(node)
        binding, title = self._binding(node), self.node(node).heading
        if self.is_bypassed(node):
            raise CheckError(f"{title} is bypassed already.")
        if not self._readers_of(node):
            return
        if not binding.bottoms:
            raise CheckError(
                f"{title} cannot be bypassed: it reads nothing that could be passed on.",
                next_step="Delete it, or give it an include rule.",
            )
        for _reader, _bottom, top in self._readers_of(node):
            if binding.bottoms[_passed(binding.bottoms, top)] == UNWIRED:
                raise CheckError(
                    f"{title} cannot be bypassed: its bottom {_passed(binding.bottoms, top)} is not connected.",
                    next_step="Connect it first.",
                )

    def _check_ends(self, source: NodeId, top: int, target: NodeId, bottom: int) -> None:
        for node in (source, target):
            if self.is_bypassed(node):
                raise CheckError(
                    f"{self.node(node).heading} is bypassed: it is in no net.", next_step="Take it in again first."
                )
        super()._check_ends(source, top, target, bottom)

    @verb
    def bypass(self, node: NodeId) -> None:
        """Take a layer out of all nets and have what reads it read its inputs; :meth:`restore` takes it back.

        Top ``i`` is stood for by bottom ``i``, or by the first bottom where there are fewer. Wires keep to what they
        mean when several layers in a row are bypassed, in whatever order they come back.

        Raises
        ------
        CheckError
            If there is nothing that could stand for what others read.
        """
        self.check_bypass(node)
        binding = self._binding(node)
        for reader, bottom, top in self._readers_of(node):
            place = _passed(binding.bottoms, top)
            self._add_marks(reader, [_reads(bottom, binding.tops[top])])
            # What stands for this layer may itself stand for others.
            self._add_marks(reader, [_reads(bottom, name) for name in self._given_up(node, place)])
            self._write_name((reader, "bottom", bottom), binding.bottoms[place])
        included = self.count(node, ("include",))
        for _rule in range(included):
            self.rename_field(node, ("include", 0), "exclude")
        self.append_field(node, ("exclude",), "{ }")
        self._add_marks(node, [_RULES if included else _BYPASSED])

    @verb
    def restore(self, node: NodeId) -> None:
        """Take :meth:`bypass` back: the layer is in its nets again, and what read it reads it.

        Raises
        ------
        CheckError
            If the layer is not bypassed.
        """
        mark = self._bypass_mark(node)
        if mark is None:
            raise CheckError(f"{self.node(node).heading} is not bypassed.")
        excluded = self.count(node, ("exclude",))
        empty = [place for place in range(excluded) if self._is_empty_rule(node, place)]
        if empty:
            self.clear_field(node, ("exclude", empty[-1]))
        if mark == _RULES:
            for _rule in range(self.count(node, ("exclude",))):
                self.rename_field(node, ("exclude", 0), "include")
        self._drop_marks(node, [mark])
        self._sync()
        tops = self._binding(node).tops
        for reader in self._order[self._ordinals[node] + 1 :]:
            field = self._binding(reader).field
            if field is None or " bypasses " not in field.lead:
                continue
            for bottom in range(len(self._binding(reader).bottoms)):
                names = self._given_up(reader, bottom)
                found = next((place for place, name in enumerate(names) if name in tops), None)
                if found is not None:
                    self._drop_marks(reader, [_reads(bottom, name) for name in names[found:]])
                    self._write_name((reader, "bottom", bottom), names[found])

    @verb
    def remove_nodes(self, nodes: Iterable[NodeId]) -> None:
        """Remove layers as :meth:`LayerVerbs.remove_nodes` does; what read a bypassed one no longer says so."""
        gone = set(nodes)
        for node in gone:
            if self.is_bypassed(node):
                self._forget_bypass(node, gone)
        super().remove_nodes(gone)

    def _forget_bypass(self, node: NodeId, gone: Container[NodeId]) -> None:
        """Drop what readers of a bypassed layer keep for it to come back; a layer that is gone does not."""
        tops = set(self._binding(node).tops)
        for reader in self._order[self._ordinals[node] + 1 :]:
            field = self._binding(reader).field
            if reader in gone or field is None or " bypasses " not in field.lead:
                continue
            for bottom in range(len(self._binding(reader).bottoms)):
                names = [name for name in dict.fromkeys(self._given_up(reader, bottom)) if name in tops]
                self._drop_marks(reader, [_reads(bottom, name) for name in names])

    # Freeze

    def is_frozen(self, node: NodeId) -> bool:
        """Whether all learning rates that are written in a layer's ``param`` entries are 0, and there are some."""
        if self.message(node).get("param") is None:
            return False
        count = self.count(node, ("param",))
        rates = [self.value(node, ("param", place, "lr_mult")) for place in range(count)]
        return bool(rates) and all(rate is not None and _is_zero(rate) for rate in rates)

    @verb
    def freeze(self, node: NodeId, params: int) -> None:
        """Have training leave the weights of a layer as they are: ``lr_mult: 0`` for each.

        Parameters
        ----------
        params : int
            How many learnable blobs the layer has.

        Raises
        ------
        CheckError
            If it has none, is frozen already, or is written in the old format.
        """
        title = self.node(node).heading
        if params < 1:
            raise CheckError(f"{title} has no weights to freeze.")
        if self.is_frozen(node) and self.count(node, ("param",)) >= params:
            raise CheckError(f"{title} is frozen already.")
        if self._binding(node).version < 2:
            raise CheckError(
                f"{title} is written in the old 'layers' format, whose learning rates are written otherwise.",
                next_step="Upgrade the file to today's format first.",
            )
        before: list[str] = []
        for place in range(max(params, self.count(node, ("param",)))):
            written = place < self.count(node, ("param",))
            rate = self.value(node, ("param", place, "lr_mult")) if written else None
            before.append(_NO_ENTRY if not written else _NOT_WRITTEN if rate is None else rate)
            self.set_field(node, ("param", place, "lr_mult"), "0")
        self._add_marks(node, [f"frozen; lr_mult was {', '.join(before)}"])

    @verb
    def unfreeze(self, node: NodeId) -> None:
        """Have a layer learn again, with the rates that it had; with the default where none are known."""
        mark = next((each for each in self._marks(node) if _FROZEN.fullmatch(each)), None)
        count = self.count(node, ("param",))
        found = _FROZEN.fullmatch(mark) if mark is not None else None
        before = found[1].split(", ") if found is not None else [_NOT_WRITTEN] * count
        for place in reversed(range(count)):
            rate = before[place] if place < len(before) else _NOT_WRITTEN
            path = ("param", place, "lr_mult")
            if rate not in (_NO_ENTRY, _NOT_WRITTEN):
                self.set_field(node, path, rate)
                continue
            self.clear_field(node, path)
            entry = self.field(node, ("param", place)) if self.count(node, ("param",)) > place else None
            if rate == _NO_ENTRY and isinstance(entry, Message) and not entry.items:
                self.clear_field(node, ("param", place))
        if mark is not None:
            self._drop_marks(node, [mark])

    # How

    def _readers_of(self, node: NodeId) -> list[tuple[NodeId, int, int]]:
        """Return reader, bottom and top for what reads a layer that does not work in place, bypassed readers too."""
        binding = self._binding(node)
        found = {(edge.target, edge.bottom, edge.top) for edge in self.edges_out(node)}
        for top, blob in enumerate(binding.tops):
            for user in self._users.get(blob, ()):
                if self._ordinals[user] > self._ordinals[node] and self.is_bypassed(user):
                    names = self._bindings[user].bottoms
                    found |= {(user, bottom, top) for bottom, name in enumerate(names) if name == blob}
        place = self._ordinals
        return sorted(
            (each for each in found if not (each[2] < len(binding.in_place) and binding.in_place[each[2]])),
            key=lambda each: (place[each[0]], each[1]),
        )

    def _given_up(self, node: NodeId, bottom: int) -> list[str]:
        """Return the blobs that a bottom would read were it not for bypassed layers, the nearest first."""
        found = (_READER.fullmatch(mark) for mark in self._marks(node))
        return [each[2] for each in found if each is not None and int(each[1]) == bottom]

    def _bypass_mark(self, node: NodeId) -> str | None:
        rules = self._binding(node).rules
        if Rule() not in rules.exclude:
            return None
        return next((mark for mark in self._marks(node) if mark in (_BYPASSED, _RULES)), None)

    def _is_empty_rule(self, node: NodeId, place: int) -> bool:
        rule = self.field(node, ("exclude", place))
        return isinstance(rule, Message) and not rule.items

    def _marks(self, node: NodeId) -> list[str]:
        """Return the comments directly above a layer, without their signs."""
        field = self._binding(node).field
        lines = field.lead.splitlines() if field is not None else []
        return [line.strip().removeprefix("# ") for line in lines if line.strip().startswith("# ")]

    def _add_marks(self, node: NodeId, marks: Sequence[str]) -> None:
        """Write comments on lines of their own, directly above a layer; one that shares a line gets its own."""
        field = self._owner(node)
        items = self._tree.root.items
        place = items.index(field)
        if "\n" not in field.lead and place and not items[place - 1].text.endswith("\n"):
            self._editing.assign(field, "lead", self._style.newline + field.lead.lstrip())
        for mark in marks:
            start = field.lead.rfind("\n") + 1
            indent = field.lead[start:]
            line = f"{indent}# {mark}{self._style.newline}"
            self._editing.assign(field, "lead", field.lead[:start] + line + indent)

    def _drop_marks(self, node: NodeId, marks: Sequence[str]) -> None:
        field = self._owner(node)
        for mark in marks:
            lines = field.lead.splitlines(keepends=True)
            place = max(at for at, line in enumerate(lines) if line.strip() == f"# {mark}")
            del lines[place]
            self._editing.assign(field, "lead", "".join(lines))


def _passed(bottoms: Sequence[str], top: int) -> int:
    """Return which bottom stands for a top."""
    return top if top < len(bottoms) else 0


def _reads(bottom: int, blob: str) -> str:
    return f'bottom {bottom} bypasses "{blob}"'


def _is_zero(text: str) -> bool:
    try:
        return float(text.rstrip("fF")) == 0.0
    except ValueError:
        return False
