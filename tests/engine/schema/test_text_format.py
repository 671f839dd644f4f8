"""Each rule of the text format, and each public file in its own dialect, beside protobuf's own reader."""

from __future__ import annotations

import random

import numpy as np
import pytest
from google.protobuf import text_format

from engine import prototxt
from engine.graph import OpGraph
from engine.schema import convert, format_float32, guess_dialect, load_schema, to_message, to_text
from tests.support import shared_files

CORPUS = shared_files("corpus/prototxt/*/*.prototxt")

CONV = 'layer { name: "c" convolution_param { kernel_size: 3 kernel_size: 5 bias_term: false } }'
#: Rule: a text that uses it, in any Caffe net.
RULES = {
    "no colon before a brace": "layer { }",
    "colon before a brace": "layer: { relu_param: { } }",
    "angle brackets": "layer < relu_param: < negative_slope: 1 > >",
    "brackets of both kinds": "layer { relu_param < negative_slope: 1 > }",
    "list of numbers": "input_dim: [1, 2, 3]",
    "list of strings": "input: ['a', \"b\"]",
    "list of messages": "layer: [{ name: 'a' }, < name: 'b' >]",
    "list of messages without a colon": "layer [{ name: 'a' }]",
    "empty list": "input_dim: []",
    "list over lines": "input_dim: [ # one\n 1 ,\n\n 2 # two\n ]",
    "commas": CONV.replace('"c" ', '"c", ').replace("3 ", "3,"),
    "semicolons": CONV.replace('"c" ', '"c"; ').replace("} }", "}; };"),
    "single quotes": "name: 'it\"s'",
    "double quotes": 'name: "it\'s"',
    "adjacent strings": "name: \"a\" 'b'\n\"c\" # d\n 'e'",
    "simple escapes": r'name: "\a\b\f\n\r\t\v\\\'\""',
    "octal escapes": r'name: "\1\12\1234\0"',
    "hex escapes": r'name: "\x1\x41g\x42"',
    "unicode escapes": r'name: "\u00e9\U0001F600"',
    "escapes of bytes": r'name: "\303\251"',
    "hex numbers": "input_dim: 0x1F input_dim: -0XaB input_dim: 0x0",
    "octal numbers": "input_dim: 017 input_dim: -01 input_dim: 00",
    "exponents": "layer { power_param { power: 1e3 scale: 1.5E-3 shift: -.5e+2 } }",
    "float spellings": "layer { power_param { power: 1. scale: .5 shift: 1f } }",
    "inf and nan": "layer { power_param { power: inf scale: -Infinity shift: nan } }",
    "whole numbers for floats": "layer { power_param { power: 3 scale: -0 } }",
    "enum by name": "layer { pooling_param { pool: AVE } }",
    "enum by number": "layer { pooling_param { pool: 1 } }",
    "truth by letter and number": "layer { convolution_param { bias_term: f } } force_backward: 1",
    "comments anywhere": "# a\nlayer # b\n{ # c\n name # d\n : # e\n 'x' # f\n } # g",
    "crlf": CONV.replace(" ", "\r\n"),
    "one line": CONV,
    "no blanks": "layer{name:'c'relu_param{negative_slope:1}}",
    "tabs and form feeds": CONV.replace(" ", "\t").replace("}", "\f\v}"),
    "unset and empty": "layer { name: '' relu_param {} }",
    "utf-8": "name: 'ä€😀'",
}


def official(text: str, type_name: str = "NetParameter", dialect: str = "bvlc"):
    """What protobuf's reader makes of a text; None where it refuses it."""
    try:
        return text_format.Parse(text, load_schema(dialect).message(type_name)())
    except (text_format.ParseError, UnicodeDecodeError):
        return None


@pytest.mark.parametrize("rule", RULES)
def test_every_rule_gives_the_official_values(rule):
    text = RULES[rule]
    tree = prototxt.parse(text)
    conversion = convert(tree.root, "NetParameter")
    assert not tree.problems and not conversion.problems
    assert bytes(tree) == text.encode()
    expected = official(text)
    assert expected is not None, "an example that protobuf refuses shows nothing"
    assert conversion.message.SerializeToString(deterministic=True) == expected.SerializeToString(deterministic=True)


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("input_dim: - 3", "input_dim: -3"),
        ("layer { power_param { power: -\n 2.5 } }", "layer { power_param { power: -2.5 } }"),
        (r"name: '\?\X42'", "name: '?B'"),
    ],
)
def test_what_only_libprotobuf_takes_is_taken(text, same):
    """Python's reader refuses these; Caffe's, in C++, takes them."""
    conversion = convert(prototxt.parse(text).root, "NetParameter")
    assert not conversion.problems
    assert conversion.message == official(same)


@pytest.mark.parametrize(
    "text",
    [
        "[type.googleapis.com/caffe.NetParameter] { name: 'x' }\n",
        "layer {\n  [a.b.extension]: 1 # kept\n}\n",
        "\ufeffname: 'x'\n",
        "name: 'r\udce9seau'\n",
    ],
    ids=["any", "extension", "bom", "latin-1"],
)
def test_what_only_the_file_knows_is_kept(text):
    data = text.encode("utf-8", "surrogateescape")
    tree = prototxt.parse(data)
    assert bytes(tree) == data
    assert not tree.problems


@pytest.mark.parametrize("path", CORPUS, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_public_files_give_the_official_values_in_their_dialect(path):
    data = path.read_bytes()
    tree = prototxt.parse(data)
    type_name = "SolverParameter" if "solver" in path.name else "NetParameter"
    dialect = guess_dialect(tree).name
    expected = official(data, type_name, dialect)
    conversion = convert(tree.root, type_name, schema=load_schema(dialect))
    if expected is None:
        assert tree.problems or conversion.problems
    else:
        assert not conversion.problems
        assert conversion.message.SerializeToString() == expected.SerializeToString()


def numbers(message: prototxt.Message) -> list[prototxt.Scalar]:
    """All numbers of a document."""
    found, work = [], [message]
    while work:
        for item in work.pop().items:
            value = getattr(item, "value", None)
            if isinstance(value, prototxt.Message | prototxt.ListValue):
                work.append(value)
            elif isinstance(value, prototxt.Scalar) and value.kind == "number":
                found.append(value)
    return found


@pytest.mark.parametrize("path", CORPUS, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_any_number_of_a_public_file_changes_one_line(path):
    """B22."""
    data = path.read_bytes()
    tree = prototxt.parse(data)
    found = numbers(tree.root)
    if not found:
        pytest.skip("no number in it")
    log = prototxt.EditLog(lambda part, items: None)
    for number in random.Random(1).sample(found, min(5, len(found))):
        log.assign(number, "text", "12345")
        before, after = data.split(b"\n"), bytes(tree).split(b"\n")
        assert len(before) == len(after)
        assert sum(old != new for old, new in zip(before, after, strict=True)) == 1
        log.undo()
        log = prototxt.EditLog(lambda part, items: None)
        assert bytes(tree) == data


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.1, "0.1"),
        (0.0005, "0.0005"),
        (0.00392156862745, "0.003921569"),
        (1e-10, "1e-10"),
        (1, "1"),
        (float("inf"), "inf"),
    ],
)
def test_floats_are_saved_as_the_shortest_text_of_the_same_float32(value, text):
    """B21."""
    assert format_float32(value) == text
    solver = load_schema().message("SolverParameter")(base_lr=value)
    again = to_message(prototxt.parse(to_text(solver)).root, "SolverParameter", strict=True)
    assert to_text(solver) == f"base_lr: {text}\n"
    assert np.float32(again.base_lr).tobytes() == np.float32(value).tobytes()
    assert official(to_text(solver), "SolverParameter") == solver


def test_floats_that_nobody_touched_keep_their_spelling():
    """B21."""
    graph = OpGraph.parse("base_lr: 1e-3\ngamma: 0.00392156862745\npower: 0.5 # half\n")
    graph.set_field(None, ("power",), "0.75")
    assert graph.text == "base_lr: 1e-3\ngamma: 0.00392156862745\npower: 0.75 # half\n"
