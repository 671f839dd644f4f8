"""Reading a ``.proto`` file at run time: what a plugin declares of its messages, before any of its code is trusted.

protobuf's Python package has no parser, and a compiler is no part of an installation. Read here is what describes
messages in proto2: messages and enums, nested or not; optional, required and repeated fields; defaults, ``packed`` and
``deprecated``; comments, which become tooltips. One thing is ours: a field, or a word of an enum, may come without a
number, and exists in text only then.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NoReturn, TypeAlias

from google.protobuf import descriptor_pb2

from engine.errors import SchemaError
from engine.schema.proto_tokens import Token, tokenize, unquote
from engine.schema.text import quote

__all__ = ["NO_NUMBER", "NO_WORD_NUMBER", "parse_proto"]

#: Number of a field that was declared without one.
NO_NUMBER = 0
#: Stands for the number of an enum word that has none.
NO_WORD_NUMBER = -(1 << 31)

_Field = descriptor_pb2.FieldDescriptorProto
_Repeated: TypeAlias = Any  # a repeated field of descriptors
_LABELS = {
    "optional": _Field.LABEL_OPTIONAL,
    "required": _Field.LABEL_REQUIRED,
    "repeated": _Field.LABEL_REPEATED,
}
_SCALARS = {
    name: _Field.Type.Value(f"TYPE_{name.upper()}")
    for name in (
        *("double", "float", "int32", "int64", "uint32", "uint64", "sint32", "sint64", "fixed32", "fixed64"),
        *("sfixed32", "sfixed64", "bool", "string", "bytes"),
    )
}
_UNREAD = frozenset({"service", "extend", "oneof", "map", "group", "extensions"})
_HIGHEST = (1 << 29) - 1
_RESERVED = range(19000, 20000)
_DEEPEST = 16
_BIGGEST = 1 << 20


def parse_proto(text: str, source: str = "") -> descriptor_pb2.FileDescriptorProto:
    """Read a ``.proto`` file.

    Parameters
    ----------
    text : str
        Its content.
    source : str
        Its name, for errors.

    Returns
    -------
    google.protobuf.descriptor_pb2.FileDescriptorProto
        Types are named as they are written, and comments are in ``source_code_info``, as protobuf's compiler has
        them. A field without a number has :data:`NO_NUMBER`, a word of an enum :data:`NO_WORD_NUMBER`.

    Raises
    ------
    engine.errors.SchemaError
        With line and column of what is not understood.
    """
    if len(text) > _BIGGEST:
        raise SchemaError(
            f"The description is {len(text)} characters long; expected {_BIGGEST} or less.", source=source
        )
    return _Reader(tokenize(text, source), source).file()


class _Reader:
    """Recursive descent over the tokens of one file; the last token is the end."""

    def __init__(self, tokens: Sequence[Token], source: str) -> None:
        self._tokens = tokens
        self._at = 0
        self._source = source
        self._file = descriptor_pb2.FileDescriptorProto()

    def file(self) -> descriptor_pb2.FileDescriptorProto:
        while (token := self._peek()).kind != "end":
            if token.text == "message":
                self._message(self._file.message_type, (4, len(self._file.message_type)), 1)
            elif token.text == "enum":
                self._enum(self._file.enum_type, (5, len(self._file.enum_type)))
            else:
                self._statement()
        return self._file

    def _statement(self) -> None:
        """Read one of the lines that frame a file."""
        token = self._next()
        if token.text == ";":
            return
        if token.text == "syntax":
            self._expect("=")
            version = self._next()
            if version.kind != "string" or unquote(version.text) != "proto2":
                self._fail(version, 'expected syntax "proto2"', "Caffe's messages are proto2.")
        elif token.text == "import":
            name = self._next()
            if name.kind != "string" or unquote(name.text).rpartition("/")[2] != "caffe.proto":
                self._fail(name, "a plugin's description stands by itself; expected 'caffe.proto', the only import")
        elif token.text == "package":
            self._file.package = self._next("name").text
        elif token.text == "option":
            self._skip_to_semicolon()
            return
        else:
            self._fail(token, "expected 'message' or 'enum'", _hint(token))
        self._expect(";")

    def _message(self, messages: _Repeated, path: tuple[int, ...], depth: int) -> None:
        start = self._next()
        if depth > _DEEPEST:
            self._fail(start, f"messages are nested more than {_DEEPEST} deep")
        message = messages.add(name=self._name({each.name for each in messages}))
        self._note(path, start)
        self._expect("{")
        while not self._accept("}"):
            token = self._peek()
            if token.text == "message" and self._peek(1).kind == "name":
                self._message(message.nested_type, (*path, 3, len(message.nested_type)), depth + 1)
            elif token.text == "enum" and self._peek(1).kind == "name":
                self._enum(message.enum_type, (*path, 4, len(message.enum_type)))
            elif token.text in ("option", "reserved"):
                self._skip_to_semicolon()
            elif not self._accept(";"):
                self._field(message, (*path, 2, len(message.field)))

    def _field(self, message: descriptor_pb2.DescriptorProto, path: tuple[int, ...]) -> None:
        start = self._next()
        label = _LABELS.get(start.text)
        if label is None:
            self._fail(start, "expected a field, which begins with optional, required or repeated", _hint(start))
        kind = self._next("name")
        if kind.text in _UNREAD and self._peek().text != "=":
            self._fail(kind, f"'{kind.text}' is not read here", "Use a message and fields.")
        field = message.field.add(label=label)
        if kind.text in _SCALARS:
            field.type = _SCALARS[kind.text]
        else:
            field.type_name = kind.text
        name_token = self._peek()
        field.name = self._name({each.name for each in message.field})
        if self._accept("="):
            field.number = self._number({each.number for each in message.field})
        self._note(path, start)
        if self._accept("["):
            self._options(field, name_token)
        self._expect(";")

    def _options(self, field: descriptor_pb2.FieldDescriptorProto, owner: Token) -> None:
        while True:
            name = self._next("name")
            self._expect("=")
            value = self._next()
            if name.text == "default":
                if field.label == _Field.LABEL_REPEATED:
                    self._fail(name, f"repeated field '{owner.text}' cannot have a default")
                field.default_value = self._default(field, value)
            elif name.text in ("packed", "deprecated"):
                setattr(field.options, name.text, value.text == "true")
            if self._accept("]"):
                return
            self._expect(",")

    def _default(self, field: descriptor_pb2.FieldDescriptorProto, value: Token) -> str:
        sign = value.text if value.text in ("-", "+") else ""
        if sign:
            value = self._next()
        while value.kind == "string" and self._peek().kind == "string":
            following = self._next()
            value = Token("string", quote(unquote(value.text) + unquote(following.text)), value.line, value.column)
        read = _READERS.get(field.type) if field.type_name == "" else _read_word
        try:
            return (read or _read_integer)(value, sign)
        except ValueError:
            self._fail(value, f"default of '{field.name}': expected {_WANTED.get(field.type, 'a whole number')}")

    def _enum(self, enums: _Repeated, path: tuple[int, ...]) -> None:
        start = self._next()
        enum = enums.add(name=self._name({each.name for each in enums}))
        self._note(path, start)
        self._expect("{")
        while not self._accept("}"):
            if self._peek().text in ("option", "reserved") and self._peek(1).text != "=":
                self._skip_to_semicolon()
                continue
            if self._accept(";"):
                continue
            here = self._peek()
            value = enum.value.add(name=self._name({each.name for each in enum.value}))
            self._note((*path, 2, len(enum.value) - 1), here)
            value.number = NO_WORD_NUMBER
            if self._accept("="):
                sign = -1 if self._accept("-") else 1
                value.number = sign * self._integer(1 << 31)
            if self._accept("["):
                while not self._accept("]"):
                    self._next()
            self._expect(";")
        if not enum.value:
            self._fail(start, f"enum '{enum.name}' has no values")

    # -- tokens

    def _peek(self, ahead: int = 0) -> Token:
        return self._tokens[min(self._at + ahead, len(self._tokens) - 1)]

    def _next(self, kind: str = "") -> Token:
        token = self._peek()
        if token.kind == "end" or (kind and token.kind != kind):
            self._fail(token, f"expected a {kind or 'value'}")
        self._at += 1
        return token

    def _accept(self, text: str) -> bool:
        if self._peek().text != text or self._peek().kind == "string":
            return False
        self._at += 1
        return True

    def _expect(self, text: str) -> None:
        if not self._accept(text):
            self._fail(self._peek(), f"expected '{text}'")

    def _name(self, taken: set[str]) -> str:
        token = self._next("name")
        if "." in token.text or token.text in taken:
            self._fail(token, "expected a name without dots" if "." in token.text else "this name is taken already")
        return token.text

    def _number(self, taken: set[int]) -> int:
        token = self._peek()
        number = self._integer(_HIGHEST + 1)
        if number < 1 or number in _RESERVED:
            self._fail(token, f"expected a field number from 1 to {_HIGHEST}, and none from 19000 to 19999")
        if number in taken:
            self._fail(token, "another field of the message has this number")
        return number

    def _integer(self, end: int) -> int:
        token = self._next("number")
        try:
            value = int(_read_integer(token, ""))
        except ValueError:
            self._fail(token, "expected a whole number")
        if value >= end:
            self._fail(token, f"expected a number below {end}")
        return value

    def _skip_to_semicolon(self) -> None:
        while self._next().text != ";":
            pass

    def _note(self, path: tuple[int, ...], token: Token) -> None:
        if token.comment:
            self._file.source_code_info.location.add(path=path, leading_comments=token.comment)

    def _fail(self, token: Token, what: str, step: str = "") -> NoReturn:
        got = "the end of the file" if token.kind == "end" else f"'{token.text}'"
        raise SchemaError(
            f"{what[:1].upper()}{what[1:]}, got {got}.",
            line=token.line,
            column=token.column,
            source=self._source,
            next_step=step or "Correct the line.",
        )


def _hint(token: Token) -> str:
    if token.text in _UNREAD:
        return f"'{token.text}' is not read here; use messages and fields."
    if token.kind == "name":
        return "Fields of proto2 begin with optional, required or repeated."
    return ""


def _read_integer(token: Token, sign: str) -> str:
    if token.kind != "number":
        raise ValueError
    text = token.text
    is_octal = len(text) > 1 and text[0] == "0" and text.isdecimal()
    return str(int(f"{sign}{text}", 8 if is_octal else 0))


def _read_float(token: Token, sign: str) -> str:
    if token.text in ("inf", "nan"):
        return f"{'-' if sign == '-' else ''}{token.text}"
    if token.kind != "number":
        raise ValueError
    return repr(float(f"{sign}{token.text}")).removesuffix(".0")


def _read_word(token: Token, sign: str) -> str:
    if token.kind != "name" or sign:
        raise ValueError
    return token.text


def _read_bool(token: Token, sign: str) -> str:
    if token.text not in ("true", "false") or sign:
        raise ValueError
    return token.text


def _read_string(token: Token, sign: str) -> str:
    if token.kind != "string" or sign:
        raise ValueError
    return unquote(token.text)


_READERS: dict[int, Callable[[Token, str], str]] = {
    _Field.TYPE_FLOAT: _read_float,
    _Field.TYPE_DOUBLE: _read_float,
    _Field.TYPE_BOOL: _read_bool,
    _Field.TYPE_STRING: _read_string,
    _Field.TYPE_BYTES: _read_string,
}
_WANTED: dict[int, str] = {
    _Field.TYPE_FLOAT: "a number",
    _Field.TYPE_DOUBLE: "a number",
    _Field.TYPE_BOOL: "true or false",
    _Field.TYPE_STRING: "text in quotes",
    _Field.TYPE_BYTES: "text in quotes",
    0: "a word of the enum",
}
