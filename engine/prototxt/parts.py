"""The parts of the lossless tree: every character of a prototxt file, in the place where it was written.

A field owns the whole line it stands on: what leads to it (blank lines, the comments directly above, indentation),
its name, the gap to its value, the value, and the rest of its line (separator, comment at the end, line break). So
removing, adding or moving a field takes its comments along and leaves its neighbours as they are.

Parts change only through :class:`engine.prototxt.edits.EditLog`.
"""

from __future__ import annotations

from collections.abc import Iterator

from engine.prototxt.document import Document
from engine.prototxt.problems import Fault
from engine.prototxt.scalars import kind_of, unquote, unquote_bytes

__all__ = [
    "Container",
    "Document",
    "Element",
    "Field",
    "Item",
    "Junk",
    "ListValue",
    "Message",
    "Note",
    "Part",
    "Scalar",
]
__all__ += ["TopItem", "Value", "locate", "pieces", "render"]


class _Placed:
    __slots__ = ()

    @property
    def line(self) -> int:
        """1-based line on which the part begins, past what leads to it; 0 outside a tree."""
        return locate(self)[0]  # type: ignore[arg-type]

    @property
    def column(self) -> int:
        """1-based column at which the part begins, past what leads to it; 0 outside a tree."""
        return locate(self)[1]  # type: ignore[arg-type]


class _Rendered:
    __slots__ = ()

    @property
    def text(self) -> str:
        """The part as it stands in the file."""
        return render(self)  # type: ignore[arg-type]


class Scalar(_Placed):
    """A value that is neither a message nor a list.

    Attributes
    ----------
    owner : Field, Element or None
        What holds the value.
    text : str
        The value as written: ``"conv1"``, ``0x10``, ``- 0.5``, ``MAX``; adjacent strings with what lies between them.
    """

    __slots__ = ("owner", "text")

    def __init__(self, text: str, owner: Field | Element | None = None) -> None:
        self.text = text
        self.owner = owner

    @property
    def kind(self) -> str:
        """What the text looks like: ``'string'``, ``'number'`` or ``'identifier'``."""
        return kind_of(self.text)

    def as_str(self) -> str:
        """Return the value without quotes and escapes; bytes that are not UTF-8 become surrogate escapes."""
        return unquote(self.text)

    def as_bytes(self) -> bytes:
        """Return the value without quotes and escapes, as bytes."""
        return unquote_bytes(self.text)

    def __repr__(self) -> str:
        return f"Scalar({self.text!r})"


class Message(_Rendered):
    """A message: its brackets and the items between them.

    Attributes
    ----------
    owner : Field, Element, Tree or None
        What holds the message.
    open, close : str
        The opening bracket with the rest of its line, and the closing bracket; both empty for the root, ``close``
        empty where the bracket is missing.
    items : list of Field, Junk and Note
        In the order of the text.
    close_lead : str
        What stands between the last item and the closing bracket.
    """

    __slots__ = ("close", "close_lead", "items", "open", "owner")

    def __init__(
        self,
        open_: str = "{",
        owner: Field | Element | Document | None = None,
        close_lead: str = "",
        close: str = "",
    ) -> None:
        self.owner = owner
        self.open = open_
        self.items: list[Item] = []
        self.close_lead = close_lead
        self.close = close

    def __iter__(self) -> Iterator[Field]:
        return (item for item in self.items if type(item) is Field)

    def fields(self, name: str) -> list[Field]:
        """Return the fields called ``name``, in order."""
        return [item for item in self.items if type(item) is Field and item.name == name]

    def get(self, name: str) -> Field | None:
        """Return the last field called ``name``, the one that counts for a singular field; None where there is none."""
        for item in reversed(self.items):
            if type(item) is Field and item.name == name:
                return item
        return None

    def text_of(self, name: str) -> str | None:
        """Return the unquoted value of the last scalar field called ``name``, or None."""
        field = self.get(name)
        if field is None or type(field.value) is not Scalar:
            return None
        return field.value.as_str()

    def __repr__(self) -> str:
        return f"Message({[field.name for field in self]})"


class ListValue(_Rendered):
    """The short form of a repeated field, ``[a, b]``.

    Attributes
    ----------
    owner : Field or None
        The field that holds the list.
    open, close : str
        The opening bracket with the rest of its line, and the closing bracket; ``close`` empty where it is missing.
    elements : list of Element
        In the order of the text.
    close_lead : str
        What stands between the last element and the closing bracket.
    """

    __slots__ = ("close", "close_lead", "elements", "open", "owner")

    def __init__(self, open_: str = "[", owner: Field | None = None) -> None:
        self.owner = owner
        self.open = open_
        self.elements: list[Element] = []
        self.close_lead = ""
        self.close = ""

    @property
    def items(self) -> list[Element]:
        """The elements, under the name that messages use for their parts."""
        return self.elements

    def __repr__(self) -> str:
        return f"ListValue({[element.value for element in self.elements]})"


Value = Scalar | Message | ListValue
Container = Message | ListValue


class Element(_Rendered):
    """One value of a list, with what leads to it and the comma after it."""

    __slots__ = ("lead", "parent", "tail", "value")

    def __init__(self, lead: str, value: Scalar | Message, tail: str = "", parent: ListValue | None = None) -> None:
        self.lead = lead
        self.value = value
        self.tail = tail
        self.parent = parent
        value.owner = self


class TopItem(_Placed):
    """What is remembered of an item at the top of a file, where it pays."""

    __slots__ = ("_lines", "_text", "faults", "key", "parent")

    def __init__(self, parent: Message | None) -> None:
        self.parent = parent
        self.key: int | None = None
        self.faults: tuple[Fault, ...] = ()
        self._text: str | None = None
        self._lines = -1

    @property
    def text(self) -> str:
        """The item as it stands in the file, with what leads to it and the rest of its line."""
        if self._text is not None:
            return self._text
        text = render(self)
        if self.parent is not None and isinstance(self.parent.owner, Document):
            self._text = text
        return text

    @property
    def line_breaks(self) -> int:
        """Number of line breaks in the item's text."""
        if self._lines < 0:
            self._lines = self.text.count("\n")
        return self._lines

    def forget(self) -> None:
        """Drop what was derived from the text, which is about to change."""
        self._text = None
        self._lines = -1


class Field(TopItem):
    """A name with its value.

    Attributes
    ----------
    parent : Message or None
        The message that holds the field; None while it is out of the tree.
    lead : str
        Blank lines, comments directly above, indentation.
    name : str
        As written; extension and Any names keep their brackets. Empty where the text has none.
    gap : str
        What stands between name and value: ``": "``, ``" "``.
    value : Scalar, Message or ListValue
        The value.
    tail : str
        The rest of the line: a separator, a comment, the line break.
    faults : tuple of Fault
        What is wrong with the text, for fields at the top of a file.
    key : int or None
        Free for the owner of the tree: the graph keeps a node's id here.
    """

    __slots__ = ("gap", "lead", "name", "tail", "value")

    def __init__(
        self, lead: str, name: str, gap: str, value: Value, tail: str = "", parent: Message | None = None
    ) -> None:
        self.parent = parent
        self.faults = ()
        self._text = None
        self._lines = -1
        self.lead = lead
        self.name = name
        self.gap = gap
        self.value = value
        self.tail = tail
        self.key = None
        value.owner = self

    @property
    def message(self) -> Message | None:
        """The value, if it is a message."""
        value = self.value
        return value if type(value) is Message else None

    def __repr__(self) -> str:
        return f"Field({self.name!r}, {self.value!r})"


class Junk(TopItem):
    """Text that could not be read, kept as it is.

    Attributes
    ----------
    lead : str
        What stands before the text: blank space and comments.
    junk : str
        The text itself with the rest of its line.
    """

    __slots__ = ("junk", "lead")

    def __init__(self, lead: str, junk: str, parent: Message | None = None) -> None:
        super().__init__(parent)
        self.lead = lead
        self.junk = junk


class Note(TopItem):
    """Comments that belong to no field: a blank line parts them from what follows."""

    __slots__ = ("lead",)

    def __init__(self, lead: str, parent: Message | None = None) -> None:
        super().__init__(parent)
        self.lead = lead


Item = Field | Junk | Note
Part = Scalar | Message | ListValue | Element | TopItem


def render(part: Part) -> str:
    """Return the text of a part of the tree, put together from its pieces."""
    return "".join(pieces(part))


def pieces(part: Part) -> list[str]:
    """Return the text of a part of the tree in the pieces that its parts hold, empty ones too."""
    out: list[str] = []
    stack: list[Part | str] = [part]
    while stack:
        piece = stack.pop()
        if isinstance(piece, str):
            out.append(piece)
        elif isinstance(piece, Field):
            value = piece.value
            if type(value) is Scalar:
                out += (piece.lead, piece.name, piece.gap, value.text, piece.tail)
            else:
                out += (piece.lead, piece.name, piece.gap)
                stack += (piece.tail, value)
        elif isinstance(piece, Scalar):
            out.append(piece.text)
        elif isinstance(piece, (Message, ListValue)):
            out.append(piece.open)
            stack += (piece.close, piece.close_lead)
            stack += reversed(piece.items)
        elif isinstance(piece, Element):
            out.append(piece.lead)
            stack += (piece.tail, piece.value)
        elif isinstance(piece, Junk):
            out += (piece.lead, piece.junk)
        elif isinstance(piece, Note):
            out.append(piece.lead)
    return out


def locate(part: Part) -> tuple[int, int]:
    """Return the 1-based line and column of a part; (0, 0) outside a tree."""
    offset = len(part.lead) if isinstance(part, (Field, Element, Junk)) else 0
    inside: list[tuple[Container, Part]] = []
    here: Part = part
    while True:
        if isinstance(here, (Scalar, Message, ListValue)):
            owner = here.owner
            if isinstance(owner, Field):
                offset += len(owner.lead) + len(owner.name) + len(owner.gap)
            elif isinstance(owner, Element):
                offset += len(owner.lead)
            else:
                return (0, 0)
            here = owner
        parent: Container | None = here.parent
        if parent is None:
            return (0, 0)
        if isinstance(parent, Message) and isinstance(parent.owner, Document):
            break
        offset += len(parent.open)
        inside.append((parent, here))
        here = parent
    assert isinstance(here, TopItem)
    tree = parent.owner
    offset += sum(_offset_in(tree.offsets.setdefault(container, {}), container, child) for container, child in inside)
    text = here.text
    line_start = text.rfind("\n", 0, offset) + 1
    column = offset - line_start + 1
    if not line_start:
        column += tree.start_column(here) - 1
    return tree.start_line(here) + text.count("\n", 0, offset), column


def _offset_in(known: dict[Part, int], container: Container, child: Part) -> int:
    """Return where the text of a child begins after the opening bracket; ``known`` holds the first children's."""
    place = len(known)
    while child not in known:
        before = container.items[place - 1] if place else None
        known[container.items[place]] = 0 if before is None else known[before] + len(render(before))
        place += 1
    return known[child]
