"""Our reader of .proto files against protobuf's own compiler, whose results lie beside the shipped descriptions."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from google.protobuf import descriptor_pb2

from engine.errors import SchemaError
from engine.resources import resource_path
from engine.schema.proto_file import NO_NUMBER, parse_proto

FOLDER = resource_path("schema")
SHIPPED = [FOLDER / "caffe.proto", *sorted((FOLDER / "dialects").glob("*.proto"))]


def fields(messages: Any, scope: str = "") -> Iterator[tuple[str, tuple[object, ...]]]:
    for message in messages:
        for field in message.field:
            default = field.default_value
            facts = (field.number, field.label, default, field.type_name.rpartition(".")[2], field.options.packed)
            yield f"{scope}{message.name}.{field.name}", facts
        yield from fields(message.nested_type, f"{scope}{message.name}.")


def enums(messages: Any, found: Any) -> list[tuple[str, list[tuple[str, int]]]]:
    own = [(enum.name, [(value.name, value.number) for value in enum.value]) for enum in found]
    return own + [each for message in messages for each in enums(message.nested_type, message.enum_type)]


def comments(file: Any) -> dict[tuple[int, ...], str]:
    places = file.source_code_info.location
    return {tuple(place.path): " ".join(place.leading_comments.split()) for place in places if place.leading_comments}


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_fields_enums_and_comments_are_those_of_the_compiler(path: Path) -> None:
    text = re.sub(r'^import "(?!.*caffe\.proto).*$', "", path.read_text("utf-8"), flags=re.MULTILINE)
    ours = parse_proto(text, str(path))
    (theirs,) = descriptor_pb2.FileDescriptorSet.FromString(path.with_suffix(".desc").read_bytes()).file
    assert dict(fields(ours.message_type)) == dict(fields(theirs.message_type))
    assert enums(ours.message_type, ours.enum_type) == enums(theirs.message_type, theirs.enum_type)
    assert comments(ours) == comments(theirs)


@pytest.mark.parametrize(
    ("written", "default"),
    [
        ("optional int32 x = 1 [default = -0x10];", "-16"),
        ("optional int32 x = 1 [default = 010];", "8"),
        ("optional float x = 1 [default = -1e-3];", "-0.001"),
        ("optional float x = 1 [default = -inf];", "-inf"),
        ("optional bool x = 1 [default = true, deprecated = true];", "true"),
        ('optional string x = 1 [default = \'a\\x41\\n"\' "b"];', 'aA\n"b'),
        ("optional E x = 1 [default = B];", "B"),
    ],
)
def test_defaults(written: str, default: str) -> None:
    (message,) = parse_proto(f"message M {{ enum E {{ A = 0; B = 1; }} {written} }}").message_type
    assert message.field[0].default_value == default


def test_a_field_may_have_no_number() -> None:
    (message,) = parse_proto("message M { optional int32 x; repeated float y [packed = true]; }").message_type
    assert [field.number for field in message.field] == [NO_NUMBER, NO_NUMBER]
    assert message.field[1].options.packed


@pytest.mark.parametrize(
    ("text", "line", "fault"),
    [
        ("message M {\n int32 x = 1;\n}", 2, "begins with optional, required or repeated"),
        ("message M {\n optional int32 x = 1\n}", 3, "Expected ';', got '}'"),
        ("message M {\n optional int32 x = 1;", 2, "got the end of the file"),
        ("message M {\n optional int32 x = 1; optional int32 x = 2;\n}", 2, "taken already"),
        ("message M {\n optional int32 x = 1; optional int32 y = 1;\n}", 2, "another field"),
        ("message M {\n optional int32 x = 19500;\n}", 2, "19000"),
        ("message M {\n optional int32 x = 0;\n}", 2, "field number"),
        ("message M {\n oneof x { int32 y = 1; }\n}", 2, "oneof"),
        ("message M {\n optional group G = 1 { }\n}", 2, "group"),
        ("message M {\n optional bool x = 1 [default = 3];\n}", 2, "expected true or false, got '3'"),
        ("message M {\n repeated int32 x = 1 [default = 3];\n}", 2, "cannot have a default"),
        ('syntax = "proto3";', 1, "proto2"),
        ('import "other.proto";', 1, "stands by itself"),
        ("service S { }", 1, "expected 'message' or 'enum'"),
        ("enum E {\n}", 1, "no values"),
        ("message M {\n optional int32 x = 1; §\n}", 2, "Unexpected '§'"),
        ("message M {" * 40, 1, "nested more than"),
    ],
)
def test_faults_have_their_place(text: str, line: int, fault: str) -> None:
    with pytest.raises(SchemaError, match="(?i)" + re.escape(fault)) as caught:
        parse_proto(text, "my.proto")
    assert (caught.value.source, caught.value.line) == ("my.proto", line)


def test_a_huge_file_is_refused_unread() -> None:
    with pytest.raises(SchemaError, match="characters long"):
        parse_proto(" " * (2 << 20))
