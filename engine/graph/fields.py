"""Verbs that edit the fields of a layer, or of the net itself."""

from __future__ import annotations

from collections.abc import Sequence

from engine.errors import CheckError, PrototxtError
from engine.graph.binding import Slot, occurrences
from engine.graph.looking import ViewQueries
from engine.graph.records import NodeId, Path
from engine.graph.verbs import verb
from engine.prototxt import (
    Element,
    Field,
    Junk,
    ListValue,
    Message,
    Note,
    Scalar,
    Value,
    comments_inside,
    insert_fields,
    note_end,
    parse_value,
    quote,
)

__all__ = ["FieldVerbs", "insertion_index"]

# Fields that stand at the head of a layer, in this order; all others go to its end.
_HEAD = ("name", "type", "bottom", "top")
_MOST_PADS = 64


class FieldVerbs(ViewQueries):
    """Setting, clearing and repeating fields; the node may be None for the net's own fields."""

    def check_set_field(self, node: NodeId | None, path: Path, text: str) -> None:
        """Raise :class:`CheckError` if ``text`` is not one value or the path leads through a plain value."""
        _value(path, text)
        self._check_path(self.message(node), path)

    @verb
    def set_field(self, node: NodeId | None, path: Path, text: str) -> None:
        """Write a value; messages on the way to it are created where they are missing.

        Parameters
        ----------
        node : NodeId or None
            The layer; None for the net's own fields.
        path : tuple of str and int
            For example ``("convolution_param", "num_output")`` or ``("param", 0, "lr_mult")``.
        text : str
            The value as prototxt writes it, strings with their quotes; see :meth:`set_string`.

        Raises
        ------
        CheckError
            If ``text`` is not one value, or the path cannot be followed.
        """
        value = _value(path, text)
        message = self.message(node)
        self._check_path(message, path)
        slot = self._find(message, path)
        if slot is None:
            self._create(message, path, value)
        else:
            self._replace(slot, value)

    @verb
    def set_string(self, node: NodeId | None, path: Path, value: str) -> None:
        """Write a string, quoted and escaped, with the quotes that the field or the file uses."""
        held = self.field(node, path)
        mark = self._style.mark
        if isinstance(held, Scalar) and held.text[:1] in ("'", '"'):
            mark = held.text[0]
        self.set_field(node, path, quote(value, mark))

    def set_param_str(self, node: NodeId, value: str) -> None:
        """Write the ``param_str`` of a Python layer."""
        self.set_string(node, ("python_param", "param_str"), value)

    @verb
    def clear_field(self, node: NodeId | None, path: Path) -> None:
        """Remove a field with all its values, or one value where the path ends in an index.

        A message that :meth:`set_field` created and that is left empty goes too. Nothing happens where the field is
        not written. Comments of the field, above it, in it and beside it, stay where it was, on lines of their own.
        """
        message = self.message(node)
        if isinstance(path[-1], int):
            slot = self._find(message, path)
            slots = [slot] if slot is not None else []
        else:
            slots = self._slots(message, path)
        for slot in slots:
            self._leave_comments(slot)
            self._remove(slot)

    @verb
    def append_field(self, node: NodeId | None, path: Path, text: str) -> None:
        """Add a value to the end of a repeated field: into its list where it is written as one."""
        self.insert_field(node, (*path, self.count(node, path)), text)

    @verb
    def insert_field(self, node: NodeId | None, path: Path, text: str) -> None:
        """Insert a value into a repeated field; the path ends in the index that it will have.

        Raises
        ------
        CheckError
            If the index is beyond the end, or ``text`` is not one value.
        """
        value = _value(path, text)
        message = self.message(node)
        self._check_path(message, path)
        index, name = path[-1], path[-2]
        if not isinstance(index, int):
            raise CheckError(f"Expected a path that ends in an index, got {path!r}.")
        slots = self._slots(message, path[:-1])
        if index > len(slots):
            raise CheckError(f"Field '{name}' has {len(slots)} values; nothing can be inserted at {index}.")
        if not slots:
            self._create(message, path[:-1], value)
            return
        neighbour = slots[index] if index < len(slots) else slots[-1]
        self._insert_beside(neighbour, value, after=index == len(slots))

    @verb
    def move_field(self, node: NodeId | None, path: Path, to: int) -> None:
        """Move one value of a repeated field to another index; the path ends in the index that it has."""
        slots = self._slots(self.message(node), path[:-1])
        here = path[-1]
        if not isinstance(here, int) or not 0 <= here < len(slots) or not 0 <= to < len(slots):
            raise CheckError(f"Field '{path[-2]}' has {len(slots)} values; {here} cannot move to {to}.")
        values = [slot.value for slot in slots]
        values.insert(to, values.pop(here))
        for slot, value in zip(slots, values, strict=True):
            self._editing.assign(slot, "value", value)

    @verb
    def rename_field(self, node: NodeId | None, path: Path, name: str) -> None:
        """Give a field another name; its value stays as it is written. In a list, all its values go along."""
        self._editing.assign(self._written(node, path), "name", name)

    @verb
    def relocate_field(self, node: NodeId | None, path: Path, to: Path) -> None:
        """Move a field with its comments to another message of the layer, behind its like.

        Parameters
        ----------
        node : NodeId or None
            The layer; None for the net's own fields.
        path, to : tuple of str and int
            Where the field is, and where it shall be; ``to`` ends in a name. Messages on the way are created.

        Raises
        ------
        CheckError
            If nothing is written at ``path``, or ``to`` leads through a plain value.
        """
        held, message = self._written(node, path), self.message(node)
        self._check_path(message, to)
        mark, last = self.count(node, to), to[-1]
        texts = [slot.value.text for slot in ([held] if not isinstance(held.value, ListValue) else held.value.elements)]
        for text in texts:
            self.append_field(node, to, text)
        made = self._slots(message, to)[mark] if texts else None
        if isinstance(made, Field) and last == made.name and made.tail.endswith("\n"):
            indent = made.lead[made.lead.rfind("\n") + 1 :]
            above = "".join(f"{indent}{comment}{self._style.newline}" for comment in _comments(held.lead))
            beside = "".join(f"  {comment}" for comment in _comments(held.tail))
            self._editing.assign(made, "lead", above + made.lead)
            self._editing.assign(made, "tail", made.tail.rstrip() + beside + self._style.newline)
        self._remove(held)

    # How

    def _written(self, node: NodeId | None, path: Path) -> Field:
        """Return the field that is written at a path; for a value of a list, the one that holds the list."""
        slot = self._find(self.message(node), path)
        if isinstance(slot, Element):
            slot = slot.parent.owner if slot.parent is not None else None
        if slot is None:
            raise CheckError(f"Nothing is written at {path!r}.")
        return slot

    def _check_path(self, message: Message, path: Path) -> None:
        if not path or not isinstance(path[0], str):
            raise CheckError(f"A path begins with a field name, got {path!r}.")
        for place in range(1, len(path)):
            before, here = path[place - 1], path[place]
            if isinstance(here, int):
                have = len(self._slots(message, path[:place]))
                if isinstance(before, int) or not 0 <= here <= have + _MOST_PADS:
                    raise CheckError(f"Field '{before}' has {have} values; there is no place {here}.")
                continue
            slot = self._find(message, path[:place])
            if slot is not None and not isinstance(slot.value, Message):
                raise CheckError(f"Field '{before}' holds the plain value {slot.value.text}; it has no '{here}'.")

    def _replace(self, slot: Slot, value: Value) -> None:
        log = self._editing
        if isinstance(slot.value, Scalar) and isinstance(value, Scalar):
            log.assign(slot.value, "text", value.text)
            return
        if isinstance(slot, Element):
            if isinstance(value, ListValue):
                raise CheckError("A list cannot stand inside of a list.", next_step="Set one value.")
            log.assign(slot, "value", value)
            return
        parent = slot.parent
        assert parent is not None
        place = parent.items.index(slot)
        new = Field(slot.lead, slot.name, slot.gap, value, slot.tail)
        log.splice(parent, place, 1)
        insert_fields(log, parent, place, [new], self._style)

    def _create(self, message: Message, path: Path, value: Value) -> None:
        """Write a field that is missing, with the messages that lead to it."""
        log = self._editing
        place = 0
        while place < len(path):
            name = str(path[place])
            index = path[place + 1] if place + 1 < len(path) and isinstance(path[place + 1], int) else None
            after = place + (1 if index is None else 2)
            slots = occurrences(message, name)
            if after < len(path) and slots and (index is None or int(index) < len(slots)):
                inner = slots[-1 if index is None else int(index)].value
                assert isinstance(inner, Message)
                message, place = inner, after
                continue
            is_last = after == len(path)
            pads = 0 if index is None else int(index) - len(slots)
            if pads and is_last:
                raise CheckError(f"Field '{name}' has {len(slots)} values; there is no place {index}.")
            for _ in range(pads):
                self._add(message, name, Message("{", close="}"))
            if is_last:
                self._add(message, name, value)
                return
            # A chain of new messages is written at once, so that each is laid out around what it holds.
            field = self._nested((name, *path[after:]), value)
            at = insertion_index(message, name)
            made = insert_fields(log, message, at, [field], self._style)[0]
            while made.message is not None and made.message.items:
                self._made.add(made)
                made = list(made.message)[-1]
            return

    def _nested(self, path: Path, value: Value) -> Field:
        """Return a field that holds ``value`` at the end of a path; empty messages stand for lower indexes."""
        field: Field | None = None
        pads = 0
        for step in reversed(path):
            if isinstance(step, int):
                pads = step
                continue
            if field is None:
                field = Field("", step, ": ", value)
            else:
                message = Message("{", close="}")
                message.items += [*(Field("", field.name, " ", Message("{", close="}")) for _ in range(pads)), field]
                field, pads = Field("", step, " ", message), 0
        assert field is not None
        return field

    def _add(self, message: Message, name: str, value: Value) -> Field:
        slots = occurrences(message, name)
        if slots and isinstance(slots[-1], Element) and not isinstance(value, ListValue):
            self._insert_beside(slots[-1], value, after=True)
            holder = slots[-1].parent
            assert holder is not None and holder.owner is not None
            return holder.owner
        index = insertion_index(message, name)
        return insert_fields(self._editing, message, index, [Field("", name, ": ", value)], self._style)[0]

    def _insert_beside(self, neighbour: Slot, value: Value, *, after: bool) -> None:
        log = self._editing
        parent = neighbour.parent
        assert parent is not None
        place = _place(parent.items, neighbour) + (1 if after else 0)
        if isinstance(parent, Message):
            assert isinstance(neighbour, Field)
            insert_fields(log, parent, place, [Field("", neighbour.name, ": ", value)], self._style)
            return
        if isinstance(value, ListValue):
            raise CheckError("A list cannot stand inside of a list.", next_step="Add one value.")
        assert isinstance(neighbour, Element)
        if after:
            rest = neighbour.tail
            log.assign(neighbour, "tail", ", ")
            log.splice(parent, place, 0, [Element("", value, rest)])
        else:
            log.splice(parent, place, 0, [Element(neighbour.lead, value, ", ")])
            log.assign(neighbour, "lead", "")

    def _leave_comments(self, slot: Slot) -> None:
        """Hand the comments of a value that is about to be removed over to what stands beside it, and its line too."""
        parent = slot.parent
        assert parent is not None
        if isinstance(parent, ListValue) and len(parent.elements) == 1:
            assert parent.owner is not None
            self._leave_comments(parent.owner)
            return
        comments = comments_inside(slot)
        items: Sequence[Field | Junk | Note | Element] = parent.items
        place = _place(items, slot)
        before = items[place - 1] if place else parent
        rest = before.open if isinstance(before, Message | ListValue) else getattr(before, "tail", "\n")
        if rest and not rest.endswith("\n") and "\n" not in slot.lead and slot.tail.endswith("\n"):
            beside = "".join(f"  {comment}" for comment in comments)  # on the line of what stands before it
            attribute = "open" if before is parent else "tail"
            self._editing.assign(before, attribute, f"{rest.rstrip()}{beside}{self._style.newline}")
            return
        lines, indent = slot.lead[: slot.lead.rfind("\n") + 1], slot.lead[slot.lead.rfind("\n") + 1 :]
        text = lines if "#" in lines else ""
        text += "".join(f"{indent}{comment}{self._style.newline}" for comment in comments)
        if isinstance(slot, Field) and place + 1 < len(items) and not slot.tail.endswith("\n"):
            text += indent  # what follows stands on its line
        if not text:
            return
        if place + 1 == len(items):
            self._editing.assign(parent, "close_lead", text + parent.close_lead)
            return
        following = items[place + 1]
        lead = text + following.lead
        cut = 0 if isinstance(following, Element | Note) else note_end(lead)
        self._editing.assign(following, "lead", lead[cut:])
        if cut:
            self._editing.splice(parent, place + 1, 0, [Note(lead[:cut])])

    def _remove(self, slot: Slot) -> None:
        log = self._editing
        parent = slot.parent
        assert parent is not None
        place = _place(parent.items, slot)
        if isinstance(parent, ListValue):
            if len(parent.elements) == 1:
                assert parent.owner is not None
                self._remove(parent.owner)
                return
            last = place == len(parent.elements) - 1
            rest = parent.elements[place].tail
            log.splice(parent, place, 1)
            if last:
                before = parent.elements[-1]
                beside = before.tail[before.tail.find("#") :] if "#" in before.tail else ""
                log.assign(before, "tail", f"{rest}  {beside}" if beside else rest)
            return
        log.splice(parent, place, 1)
        owner = parent.owner
        if isinstance(owner, Field) and owner in self._made and not parent.items and not parent.close_lead.strip():
            self._remove(owner)


def insertion_index(message: Message, name: str) -> int:
    """Return where a new field of a name goes: behind its like, at its place in the head of a layer, or at the end."""
    last = rank = -1
    own = _HEAD.index(name) if name in _HEAD else len(_HEAD)
    for place, item in enumerate(message.items):
        if isinstance(item, Field) and item.name == name:
            last = place
        if isinstance(item, Field) and item.name in _HEAD and _HEAD.index(item.name) <= own:
            rank = place
    if last >= 0:
        return last + 1
    if own < len(_HEAD):
        return rank + 1
    return len(message.items)


def _comments(blank: str) -> list[str]:
    return [line.strip() for line in blank.splitlines() if line.strip().startswith("#")]


def _place(items: Sequence[object], wanted: object) -> int:
    for place, item in enumerate(items):
        if item is wanted:
            return place
    raise ValueError("the value is not where its parent says")


def _value(path: Path, text: str) -> Value:
    try:
        return parse_value(text)
    except PrototxtError as error:
        name = next((step for step in reversed(path) if isinstance(step, str)), "?")
        raise CheckError(f"Field '{name}': {error.message}", next_step=error.next_step) from error
