"""A prototxt file as a tree, and where its parts stand."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import accumulate

from engine.prototxt.parts import Document, Element, Field, ListValue, Message, Part, TopItem
from engine.prototxt.problems import ParseProblem

__all__ = ["Tree"]


# So many lines are counted one by one after an edit, before a table of all is made.
_FEW = 4


class Tree(Document):
    """A prototxt file.

    Attributes
    ----------
    root : Message
        The file's own fields.
    bom : str
        The byte order mark, or empty.
    version : int
        Grows with every edit.
    """

    __slots__ = (
        "_columns",
        "_counted_version",
        "_counts",
        "_lines",
        "_lines_version",
        "_places",
        "bom",
        "root",
        "version",
    )

    def __init__(self, bom: str = "") -> None:
        super().__init__()
        self.bom = bom
        self.root = Message("", self)
        self.version = 0
        self._lines: list[int] = []
        self._places: dict[TopItem, int] = {}
        self._columns: dict[int, int] = {}  # of items by their place, as far as they were asked for
        self._lines_version = -1
        self._counts = 0  # how often a line was asked for
        self._counted_version = -1

    @property
    def text(self) -> str:
        """The whole file as text; bytes that are not UTF-8 appear as surrogate escapes."""
        return "".join([self.bom, *[item.text for item in self.root.items], self.root.close_lead])

    def __str__(self) -> str:
        return self.text

    def __bytes__(self) -> bytes:
        text = self.text
        try:
            return text.encode("utf-8", "surrogateescape")
        except UnicodeEncodeError:  # lone surrogates that no bytes stand behind: the text was never a file
            return text.encode("utf-8", "surrogatepass")

    @property
    def problems(self) -> list[ParseProblem]:
        """What is wrong with the text, in the order of the text."""
        found = []
        for item in self.root.items:
            for fault in item.faults:
                line, column = self.start_line(item), 0
                text = item.text
                offset = min(fault.offset, len(text))
                line += text.count("\n", 0, offset)
                line_start = text.rfind("\n", 0, offset) + 1
                column = offset - line_start + 1
                line_end = text.find("\n", offset)
                context = text[line_start : None if line_end < 0 else line_end].strip()
                if not line_start:
                    column += self.start_column(item) - 1
                absolute = self.start_offset(item) + offset
                found.append(ParseProblem(line, column, absolute, fault.message, fault.hint, context))
        return found

    def start_line(self, item: TopItem) -> int:
        """1-based line on which the text of a top item begins; 0 for what is not at the top of this tree."""
        if item.parent is not self.root:
            return 0
        if self._counted_version != self.version:
            self._counted_version, self._counts = self.version, 0
        self._counts += 1
        if self._lines_version != self.version and self._counts <= _FEW:  # a table of all would not pay
            above: list[TopItem] = []
            above += self.root.items
            return 1 + sum(map(_line_breaks, above[: above.index(item)]))
        place = self._place(item)
        return self._lines[place]

    def _place(self, item: TopItem) -> int:
        """Return where an item stands among those at the top, from a table of all of them."""
        if self._lines_version != self.version:
            items = self.root.items
            self._lines = list(accumulate([_line_breaks(before) for before in items], initial=1))
            self._places = dict(zip(items, range(len(items)), strict=True))
            self._columns = {}
            self._lines_version = self.version
        return self._places[item]

    def start_column(self, item: TopItem) -> int:
        """1-based column at which the text of a top item begins."""
        last = place = self._place(item)
        items, columns = self.root.items, self._columns
        while place > 0 and place not in columns and "\n" not in items[place - 1].text:
            place -= 1
        if place not in columns:
            before = items[place - 1].text if place else ""
            columns[place] = len(before) - before.rfind("\n")
        for following in range(place, last):
            columns[following + 1] = columns[following] + len(items[following].text)
        return columns[last]

    def start_offset(self, item: TopItem) -> int:
        """Offset, in characters, of the text of a top item."""
        return len(self.bom) + sum(len(before.text) for before in self.root.items[: self._place(item)])

    def touch(self) -> None:
        """Note that the text has changed."""
        self.version += 1
        if self.offsets:
            self.offsets = {}

    def taken_apart(self) -> Iterator[None]:
        """Part what refers to each other, an item of the file at each step; the tree is of no use after that.

        Its memory is then free as soon as nothing refers to it, without a search for circles of references.
        """
        items = self.root.items
        self._places = {}
        while items:
            stack: list[Part] = [items.pop()]
            while stack:
                part = stack.pop()
                if isinstance(part, TopItem | Element):
                    part.parent = None
                if isinstance(part, Field | Element):
                    part.value.owner = None
                    stack.append(part.value)
                elif isinstance(part, Message | ListValue):
                    stack.extend(part.items)
            yield
        self.root.owner = None


def _line_breaks(item: TopItem) -> int:
    known = item._lines  # faster than to ask the item
    return known if known >= 0 else item.line_breaks
