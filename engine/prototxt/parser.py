"""From text to tree; broken text too, as far as it goes."""

from __future__ import annotations

import re
from collections.abc import Set

from engine.prototxt import faults, lexer
from engine.prototxt.numbers import Numbers
from engine.prototxt.parts import Element, Field, Junk, ListValue, Message, Scalar
from engine.prototxt.reading import MOST_FAULTS, Progress, Reading
from engine.prototxt.scalars import SMART_QUOTES
from engine.prototxt.tree import Tree

__all__ = ["MOST_FAULTS", "Progress", "parse", "parse_part"]


def parse(data: bytes | str, *, progress: Progress | None = None) -> Tree:
    """Read prototxt without losing a character.

    Text that is broken still gives a tree: what cannot be read is kept as :class:`Junk`, a layer left open is closed
    before the next one, and :attr:`Tree.problems` says what is wrong and where.

    Parameters
    ----------
    data : bytes or str
        The file. Bytes are read as UTF-8; other bytes are kept as surrogate escapes.
    progress : callable, optional
        Called now and then with how many characters have been read, and of how many. What it raises ends the reading.

    Returns
    -------
    Tree
        ``bytes(tree)`` equals ``data`` for bytes, ``str(tree)`` equals ``data`` for text.
    """
    text = data.decode("utf-8", "surrogateescape") if isinstance(data, bytes) else data
    bom = lexer.BOM if text.startswith(lexer.BOM) else ""
    return _Parser(text[len(bom) :], Tree(bom), progress=progress).run()


def parse_part(text: str, start: int, stops: Set[int]) -> tuple[Tree, int]:
    """Read a text from the place where a top item begins, until the reader is between two items at one of ``stops``.

    Returns
    -------
    tree : Tree
        The items that were read. ``root.close_lead`` is what stands at the end of the text, if that was reached.
    end : int
        Place in ``text`` at which reading ended.
    """
    parser = _Parser(text, Tree(), start, stops)
    return parser.run(), parser.position if parser.stopped else len(text)


class _Parser(Reading):
    """The grammar."""

    def run(self) -> Tree:
        while True:
            self._fields()
            if self.stopped:
                break
            if isinstance(self.here, ListValue):
                self._list_part(self.here)
            elif self._slow(self.here):
                break
        self._finish()
        return self.tree

    def _fields(self) -> None:
        """Take well-formed fields as long as there are any."""
        text, root, match_field = self.text, self.root, lexer.FIELD.match
        position, here, stops = self.position, self.here, self.stops
        while isinstance(here, Message):
            if here is root and position in stops and not self.layers:
                self.stopped = True
                break
            match = match_field(text, position)
            if match is None:
                break
            lead, name, gap, value, tail, head_gap, head, close, close_tail = match.groups()
            kind = match.lastgroup
            if kind == "close":
                if here is root or (close == ">") != (here.open[0] == "<"):
                    break
                here.close_lead = lead
                here.close = close
                owner = here.owner
                assert isinstance(owner, (Field, Element)) and owner.parent is not None
                owner.tail = close_tail
                if self.layers and self.layers[-1] is owner:
                    self.layers.pop()
                here = owner.parent
                position = match.end()
                continue
            if here is not root and name in faults.LAYER_NAMES and kind == "message":
                here = self._close_open_layer(here, name, lead, position)
            if "#" in lead:
                lead = self._part_note(here, lead, position)
            if here is root:
                self.starts.append(match.end(1) - len(lead))
                self._tell(position)
            if kind == "scalar":
                if name in lexer.RUNS and here is not root and not tail.strip():
                    run = self._run(name, value, tail, match.end())
                    if run is not None:
                        numbers, rest = run
                        here.items.append(Field(lead, name, gap, numbers, rest[0], here))
                        position = rest.end()
                        self._tell(position)
                        continue
                here.items.append(Field(lead, name, gap, Scalar(value), tail, here))
            else:
                message = Message(head)
                field = Field(lead, name, head_gap, message, "", here)
                here.items.append(field)
                if name in faults.LAYER_NAMES:
                    self.layers.append(field)
                here = message
            position = match.end()
        self.position, self.here = position, here

    def _run(self, name: str, first: str, tail: str, position: int) -> tuple[Numbers, re.Match[str]] | None:
        """Take the numbers that follow the first one of a field, with the rest of the line; None where few do."""
        more = lexer.RUNS[name].match(self.text, position)
        if more is None or lexer.PLAIN_NUMBER.fullmatch(first) is None:
            return None
        rest = lexer.REST.match(self.text, more.end())
        assert rest is not None
        return Numbers(first + tail + more[0]), rest

    def _close_open_layer(self, here: Message, name: str, lead: str, start: int) -> Message:
        """Close what lacks its bracket before the next layer begins; return where the layer belongs."""
        begins_line = "\n" in lead or self.text[start - 1 : start] in ("", "\n")
        outdent = faults.indent(lead) if begins_line else None
        told = False
        while self.layers:
            owner = self.layers[-1]
            may_nest = here is owner.value and name == "layer" and owner.name == "layers"
            indented = outdent is None or outdent > faults.indent(owner.lead)
            if may_nest and faults.may_hold_layer(here) and (indented or not faults.is_layer(here)):
                return here  # the oldest format has a layer inside of each
            if not told:
                self._fault_unclosed(owner, start, "the next layer")
                told = True
            self.layers.pop()
            assert owner.parent is not None
            here = owner.parent
        open_ = faults.holds_no_layer(here, self.root)
        if open_ is not None and outdent is not None and outdent <= faults.indent(open_.lead):
            if not told:
                self._fault_unclosed(open_, start, "the next layer")
            assert open_.parent is not None
            here = open_.parent
        return here

    def _list_part(self, here: ListValue) -> None:
        """Take one part of a list."""
        owner = here.owner
        if owner is not None and owner.name in lexer.RUNS and self._list_run(here):
            return
        match = lexer.ELEMENT.match(self.text, self.position)
        if match is None:
            self._bad_list_part(here)
            return
        lead, value, tail, head, close, close_tail = match.groups()
        if match.lastgroup == "close":
            if here.elements and lexer.separators(here.elements[-1].tail):
                self._fault(match.end(1), "Expected a value after ',' in a list, found ']'.", "Remove the last comma.")
            here.close_lead = lead
            here.close = close
            owner = here.owner
            assert owner is not None and owner.parent is not None
            owner.tail = close_tail
            self.here = owner.parent
        else:
            self._check_comma(here, match.end(1))
            if match.lastgroup == "scalar":
                here.elements.append(Element(lead, Scalar(value), tail, here))
            else:
                message = Message(head)
                here.elements.append(Element(lead, message, "", here))
                self.here = message
        self.position = match.end()

    def _list_run(self, here: ListValue) -> bool:
        """Take many numbers of a list as one piece; return whether there were any."""
        if here.elements and not isinstance(here.elements[-1].value, Numbers):
            return False
        match = lexer.LIST_RUN.match(self.text, self.position)
        if match is None:
            return False
        self._check_comma(here, match.end(1))
        here.elements.append(Element(match[1], Numbers(match[2]), match[3], here))
        self.position = match.end()
        self._tell(self.position)
        return True

    def _check_comma(self, here: ListValue, position: int) -> None:
        before = here.elements[-1].tail if here.elements else ","
        if before[:1] != "," and lexer.separators(before) != ",":
            self._fault(position, "Expected ',' between the values of a list.", "Put a comma there.")

    def _bad_list_part(self, here: ListValue) -> None:
        start = self.position
        trivia = lexer.TRIVIA.match(self.text, start)
        assert trivia is not None
        if trivia.end() < len(self.text) and self.text[trivia.end()] == "," and here.elements:
            rest = lexer.REST.match(self.text, trivia.end())
            assert rest is not None
            if lexer.separators(here.elements[-1].tail):
                self._fault(trivia.end(), "Expected a value in a list, found ','.", "Remove the comma.")
            here.elements[-1].tail += self.text[start : rest.end()]
            self.position = rest.end()
            return
        owner = here.owner
        assert owner is not None and owner.parent is not None
        place = len(self.text[:start].rstrip())  # in the list itself, not in what comes next
        self._fault(place - 1, f"The list of '{owner.name}' is not closed.", "A ']' is missing here or before.")
        self.here = owner.parent

    def _slow(self, here: Message) -> bool:
        """Take one item that is not a plain field; return whether the text has ended."""
        text, start = self.text, self.position
        trivia = lexer.TRIVIA.match(text, start)
        assert trivia is not None
        position = trivia.end()
        if position == len(text):
            return True
        char = text[position]
        if char in ",;":
            self._separator(here, start, position)
        elif char == "{":
            self._fault(position, "Expected a field name before '{'.", "Name the message, or remove the bracket.")
            self._open_message(here, start, position, "", "", position)
        elif char in "}>":
            self._stray_close(here, start, position, char)
        elif (name := lexer.NAME.match(text, position)) is None or not self._named(here, start, position, name.end()):
            self._junk(here, start, position)
        return False

    def _separator(self, here: Message, start: int, position: int) -> None:
        rest = lexer.REST.match(self.text, position)
        assert rest is not None
        last = here.items[-1] if here.items else None
        if isinstance(last, Field):
            if lexer.separators(last.tail):
                self._fault(position, f"Expected a field, found '{self.text[position]}'.", "Remove the separator.")
            last.tail += self.text[start : rest.end()]
            self.position = rest.end()
        else:
            self._junk(here, start, position)

    def _stray_close(self, here: Message, start: int, position: int, char: str) -> None:
        if here is self.root or char == ">":
            before = next((item for item in reversed(here.items[-4:]) if isinstance(item, Field)), None)
            where = f" after {faults.title(before, capital=False)}" if before is not None and before.message else ""
            self._fault(
                position, f"Unexpected '{char}'{where}.", f"One '{char}' too many, or one bracket too few above."
            )
            self._keep_junk(here, start, position, position + 1)
            return
        self._fault(position, f"A message opened with '<' is closed with '{char}'.", "Use '>' to close it.")
        rest = lexer.REST.match(self.text, position + 1)
        assert rest is not None
        here.close_lead = self.text[start:position]
        here.close = char
        owner = here.owner
        assert isinstance(owner, (Field, Element)) and owner.parent is not None
        owner.tail = rest[0]
        if self.layers and self.layers[-1] is owner:
            self.layers.pop()
        self.here = owner.parent
        self.position = rest.end()

    def _named(self, here: Message, start: int, position: int, name_end: int) -> bool:
        """Take a field that the fast way refused; return False where it is none."""
        text = self.text
        name = text[position:name_end]
        gap = lexer.GAP.match(text, name_end)
        assert gap is not None
        at = gap.end()
        mark = gap[0].lstrip(" \t\n\r\v\f")[:1]
        next_char = text[at : at + 1]
        if next_char and next_char in "{<":
            if here is not self.root and name in faults.LAYER_NAMES:
                here = self.here = self._close_open_layer(here, name, text[start:position], start)
            if mark == "=":
                self._fault(name_end, *faults.equals_sign(name))
            self._open_message(here, start, position, name, gap[0], at)
            return True
        if next_char == "[":
            self._open_list(here, start, position, name, gap[0], at)
            return True
        if mark not in (":", "=") and "\n" in gap[0]:
            return False
        value = lexer.SCALAR.match(text, at)
        if mark in (":", "=") and value is None and ("\n" in gap[0] or next_char in ("", "}", ",", ";")):
            return self._empty_value(here, start, position, name, gap[0], mark)
        if value is None:
            value = lexer.BAD_VALUE.match(text, at)
            if value is None or (mark not in (":", "=") and next_char not in SMART_QUOTES):
                return False
            self._fault(at, *faults.bad_value(name, value[0]))
        elif mark == "=":
            self._fault(name_end, *faults.equals_sign(name))
        elif mark != ":":
            self._fault(
                at, f"Expected ':' after '{name}', found '{value[0]}'.", f"Write {name}: {value[0]} with a colon."
            )
        self._add_scalar(here, start, position, name, gap[0], value[0], value.end())
        return True

    def _empty_value(self, here: Message, start: int, position: int, name: str, gap: str, mark: str) -> bool:
        written = gap[: gap.index(mark) + 1]
        end = position + len(name) + len(written)
        self._fault(position, f"'{name}' has no value.", "Write one after the colon, or remove the field.")
        self._add_scalar(here, start, position, name, written, "", end)
        return True

    def _add_scalar(self, here: Message, start: int, position: int, name: str, gap: str, value: str, end: int) -> None:
        rest = lexer.REST.match(self.text, end)
        assert rest is not None
        lead = self._lead(here, start, position)
        here.items.append(Field(lead, name, gap, Scalar(value), rest[0], here))
        self.position = rest.end()

    def _open_message(self, here: Message, start: int, position: int, name: str, gap: str, at: int) -> None:
        rest = lexer.OPEN_REST.match(self.text, at + 1)
        assert rest is not None
        message = Message(self.text[at] + rest[0])
        field = Field(self._lead(here, start, position), name, gap, message, "", here)
        here.items.append(field)
        if name in faults.LAYER_NAMES:
            self.layers.append(field)
        self.here = message
        self.position = rest.end()

    def _open_list(self, here: Message, start: int, position: int, name: str, gap: str, at: int) -> None:
        rest = lexer.OPEN_REST.match(self.text, at + 1)
        assert rest is not None
        after = lexer.TRIVIA.match(self.text, rest.end())
        assert after is not None
        mark = lexer.without_comments(gap).strip()
        if mark == "=":
            self._fault(at, *faults.equals_sign(name))
        elif not mark and self.text[after.end() : after.end() + 1] not in ("{", "<"):
            self._fault(at, f"Expected ':' after '{name}', found '['.", f"Write {name}: [ with a colon.")
        values = ListValue("[" + rest[0])
        here.items.append(Field(self._lead(here, start, position), name, gap, values, "", here))
        self.here = values
        self.position = rest.end()

    def _junk(self, here: Message, start: int, position: int) -> None:
        """Keep unreadable text up to a line that looks like a field again."""
        text = self.text
        match = lexer.JUNK.match(text, position)
        assert match is not None
        end = max(match.end(), position + 1)
        while match.end() > match.start() and text[end - 1] == "\n" and not lexer.starts_field(text, end):
            match = lexer.JUNK.match(text, end)
            assert match is not None
            end = match.end()
        shown = text[position:end].split("\n", 1)[0].strip()
        last = here.items[-1] if here.items else None
        if not isinstance(last, Junk):
            self._fault(position, *faults.junk(shown))
        self._keep_junk(here, start, position, end)

    def _keep_junk(self, here: Message, start: int, position: int, end: int) -> None:
        text = self.text
        if text[end - 1] != "\n" and text[position] in "}>":
            rest = lexer.REST.match(text, end)
            assert rest is not None
            end = rest.end()
        here.items.append(Junk(self._lead(here, start, position), text[position:end], here))
        self.position = end
