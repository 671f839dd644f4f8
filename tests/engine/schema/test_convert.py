"""Text to messages: values equal to those of protobuf's own reader, and what does not fit is named with its place."""

from __future__ import annotations

import csv
import math

import pytest
from google.protobuf import text_format

from engine import prototxt
from engine.errors import SchemaError
from engine.schema import convert, load_schema, to_message, to_text
from tests.support import shared, shared_files

SCHEMA = load_schema()
CORPUS = shared_files("corpus/prototxt/*/*.prototxt")
PROBES = shared_files("corpus/syntax/*.prototxt")


def message_of(text, type_name="NetParameter", strict=True):
    return to_message(prototxt.parse(text).root, type_name, strict=strict)


def official(text, type_name):
    """What protobuf's own text reader makes of a text, or None where it refuses it."""
    try:
        return text_format.Parse(text, SCHEMA.message(type_name)())
    except (text_format.ParseError, UnicodeDecodeError):
        return None


def corpus_type(path):
    return "SolverParameter" if "solver" in path.name else "NetParameter"


@pytest.mark.parametrize("path", CORPUS, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_public_files_give_the_official_values(path):
    data = path.read_bytes()
    expected = official(data, corpus_type(path))
    if expected is None:
        conversion = convert(prototxt.parse(data).root, corpus_type(path))
        assert conversion.problems or prototxt.parse(data).problems
    else:
        assert message_of(data, corpus_type(path)).SerializeToString() == expected.SerializeToString()


def test_most_public_files_are_comparable():
    shared("corpus/prototxt")
    comparable = [path for path in CORPUS if official(path.read_bytes(), corpus_type(path)) is not None]
    assert len(comparable) > 60


def probe_verdicts():
    path = shared("corpus/syntax/expected.csv")
    with path.open(newline="") as file:
        return {row["file"]: row for row in csv.DictReader(file)}


# A byte order mark is accepted on purpose: editors on Windows write it.
@pytest.mark.parametrize("path", [path for path in PROBES if "bom" not in path.name], ids=lambda path: path.stem)
def test_syntax_probes_follow_libprotobuf(path):
    verdict = probe_verdicts()[path.name]
    tree = prototxt.parse(path.read_bytes())
    conversion = convert(tree.root, "NetParameter")
    accepted = not tree.problems and not conversion.problems
    assert accepted == (verdict["libprotobuf_3_21"] == "accept"), [*tree.problems, *conversion.problems]
    if verdict["same_message_as_base"] == "yes":
        base = (path.parent / "00_base.prototxt").read_bytes()
        assert conversion.message == message_of(base)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("dim: 0x1F dim: 017 dim: -3 dim: - 4 dim: [5, 6] dim: 0", [31, 15, -3, -4, 5, 6, 0]),
        ("dim: 9223372036854775807 dim: -9223372036854775808", [2**63 - 1, -(2**63)]),
    ],
)
def test_integers(text, expected):
    assert list(message_of(text, "BlobShape").dim) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1", 1.0),
        ("1.", 1.0),
        (".5", 0.5),
        ("-1.5e-3f", -1.5e-3),
        ("2F", 2.0),
        ("- 7", -7.0),
        ("1E5", 1e5),
        ("inf", math.inf),
        ("-Infinity", -math.inf),
        ("NaN", math.nan),
        ("1e60", math.inf),
    ],
)
def test_floats(text, expected):
    value = message_of(f"power: {text}", "PowerParameter").power
    assert value == pytest.approx(expected, rel=1e-7, nan_ok=True)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("true", True),
        ("True", True),
        ("t", True),
        ("1", True),
        ("0x1", True),
        ("false", False),
        ("f", False),
        ("0", False),
    ],
)
def test_booleans(text, expected):
    assert message_of(f"bias_term: {text}", "ScaleParameter").bias_term is expected


@pytest.mark.parametrize("text", ["AVE", "1"])
def test_enums_by_name_and_number(text):
    assert message_of(f"pool: {text}", "PoolingParameter").pool == 1


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (r'"a\tb" \'c\''.replace("\\'", "'"), "a\tbc"),
        (r'"\101\x42\u00e4"', "ABä"),
        ('"ä"', "ä"),
        (r'"\344"', "ä"),  # not UTF-8: read as Latin-1, for Caffe takes such names as well
        ('"a"\n  # comment\n  "b"', "ab"),
    ],
)
def test_strings(text, expected):
    assert message_of(f"name: {text}").name == expected


def test_bytes():
    assert message_of(r'data: "\000\377a"', "Datum").data == b"\x00\xffa"


def test_empty_message_is_present():
    message = message_of("layer { relu_param { } }")
    assert message.layer[0].HasField("relu_param")
    assert not message.layer[0].HasField("name")


@pytest.mark.parametrize(
    ("text", "kind", "line", "column", "words"),
    [
        ('name: "x"\nlayer {\n  bogus: 1\n}', "unknown_field", 3, 3, "LayerParameter has no field 'bogus'"),
        ('name: "x"\nname: "y"', "duplicate_field", 2, 1, "'name' may be given only once"),
        ("layer { relu_param { } relu_param { } }", "duplicate_field", 1, 24, "'relu_param'"),
        ("layer {\n  pooling_param { kernel_size: 2.0 } }", "bad_value", 2, 32, "expected a whole number, got 2.0"),
        ("layer { pooling_param { kernel_size: -1 } }", "bad_value", 1, 38, "from 0 to 4294967295"),
        ("layer { pooling_param { pool: MEAN } }", "unknown_word", 1, 31, "one of MAX, AVE, STOCHASTIC, got MEAN"),
        ('layer { pooling_param { pool: "AVE" } }', "bad_value", 1, 31, "without quotes"),
        ("layer { dropout_param { dropout_ratio: 0x1 } }", "bad_value", 1, 40, "a decimal number"),
        ("layer { dropout_param { dropout_ratio: 010 } }", "bad_value", 1, 40, "a decimal number"),
        ("layer { dropout_param { dropout_ratio: half } }", "bad_value", 1, 40, "a decimal number"),
        ("force_backward: yes", "bad_value", 1, 17, "expected true or false, got yes"),
        ("name: lenet", "bad_value", 1, 7, "text in quotes, got lenet"),
        ("layer: 1", "bad_value", 1, 8, "expected { ... }, got 1"),
        ("name { }", "bad_value", 1, 1, "expected a value"),
        ('name: ["a"]', "bad_value", 1, 1, "takes one value, got a list"),
    ],
)
def test_problems_are_named_with_their_place(text, kind, line, column, words):
    (problem,) = convert(prototxt.parse(text).root, "NetParameter").problems
    assert (problem.kind, problem.line, problem.column) == (kind, line, column)
    assert words in problem.text
    with pytest.raises(SchemaError, match=f"^{line}:{column}: "):
        message_of(text)


@pytest.mark.parametrize(
    ("written", "step"),
    [
        ("convolution_parm", "Did you mean 'convolution_param'?"),
        ("dropuot_param", "Did you mean 'dropout_param'?"),
        ("permute_param", "Correct it, or remove it."),  # a field of another Caffe, no slip
    ],
)
def test_misspelt_field_gets_a_suggestion(written, step):
    (problem,) = convert(prototxt.parse(f"layer {{ {written} {{ }} }}").root, "NetParameter").problems
    assert problem.next_step == step


def test_lenient_reading_keeps_what_fits():
    text = 'name: "a" name: "b" layer { type: "ROIPooling" roi_pooling_param { pooled_h: 7 } phase: LATE }'
    message = message_of(text, strict=False)
    assert message.name == "b"
    assert message.layer[0].type == "ROIPooling"
    assert not message.layer[0].HasField("phase")


def test_ten_thousand_layers():
    block = 'layer { name: "c" type: "Convolution" bottom: "a" top: "b" convolution_param { num_output: 8 pad: 1 } }\n'
    assert len(message_of(block * 10_000).layer) == 10_000


@pytest.mark.parametrize("path", CORPUS, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_printed_text_reads_back_equal(path):
    message = convert(prototxt.parse(path.read_bytes()).root, corpus_type(path)).message
    text = to_text(message)
    assert message_of(text, corpus_type(path)) == message
    assert official(text, corpus_type(path)) == message
