"""What the parser understands, and what it says about what it does not."""

from __future__ import annotations

import csv
import re

import pytest

from engine.prototxt import ListValue, Message, Note, Scalar, lexer, parse, quote, scalars, unquote, unquote_bytes
from tests.engine.prototxt.texts import EXOTIC, FIVE, PLAIN
from tests.support import SHARED, shared, shared_files


def plain_values(message: Message):
    """Names with unquoted values, nested; lists spread out."""
    found = []
    for field in message:
        values = [e.value for e in field.value.elements] if isinstance(field.value, ListValue) else [field.value]
        for value in values:
            found.append((field.name, value.as_str() if isinstance(value, Scalar) else plain_values(value)))
    return found


def test_plain_and_exotic_spelling_mean_the_same():
    """B4."""
    plain, exotic = parse(PLAIN), parse(EXOTIC)
    assert not plain.problems and not exotic.problems
    assert plain_values(plain.root) == plain_values(exotic.root)


@pytest.mark.skipif(not shared_files("corpus/syntax/expected.csv"), reason="reference files are not here")
def test_verdicts_agree_with_libprotobuf():
    """Refused there means flagged here, apart from what only the schema can tell and what is worth accepting."""
    schema_only = {"29_enum_quoted", "32_bool_yes", "51_unknown_field", "52_unknown_scalar_field", "55_int_overflow"}
    schema_only |= {"50_duplicate_singular_msg", "57_float_for_int", "36_utf8_bom", "63_tab_and_formfeed"}
    rows = list(csv.DictReader(shared("corpus/syntax/expected.csv").read_text("utf-8", "replace").splitlines()))
    wrong = []
    for row in rows:
        stem = row["file"].removesuffix(".prototxt")
        flagged = bool(parse((SHARED / "corpus/syntax" / row["file"]).read_bytes()).problems)
        if stem not in schema_only and flagged != (row["libprotobuf_3_21"] == "reject"):
            wrong.append(stem)
    assert len(rows) > 30
    assert not wrong


@pytest.mark.parametrize(
    "text",
    ["1.", ".5", "1e-3", "0x1F", "010", "-inf", "- 0.5", "nan", "1.5f", "-infinity", "True", "LMDB", "1E+5"],
)
def test_number_and_word_spellings_are_taken(text):
    tree = parse(f"x: {text}\n")
    assert not tree.problems
    assert tree.root.get("x").value.text == text


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('"a\\tb\\n\\"q\\" \\\'s\\\' \\\\"', "a\tb\n\"q\" 's' \\"),
        ('"\\303\\251"', "é"),
        ('"\\u00e9\\U0001F600"', "é😀"),
        ('"\\ud83d\\ude00"', "😀"),
        ('"a" # note "x"\n \'b\'', "ab"),
        ("'it\"s'", 'it"s'),
        ("MAX", "MAX"),
        ("“x”", "x"),
    ],
)
def test_strings_lose_quotes_and_escapes(text, value):
    assert unquote(text) == value


def test_bytes_that_are_not_utf8_survive_in_strings():
    field = parse(b'name: "r\xe9seau"').root.get("name")
    assert field.value.as_bytes() == b"r\xe9seau"
    assert unquote_bytes('"\\377"') == b"\xff"


@pytest.mark.parametrize("value", ["", "plain", 'say "x"', "it's", "both ' and \"", "a\\b\n\t\x01", "é\udcff"])
def test_quoted_values_read_back(value):
    for mark in ('"', "'"):
        assert unquote(quote(value, mark)) == value


def test_comments_parted_by_a_blank_line_stand_alone():
    tree = parse("# licence\n\n# about a\na: 1 # one\n# about b\nb: 2\n")
    note, a, b = tree.root.items
    assert isinstance(note, Note) and note.text == "# licence\n"
    assert a.text == "\n# about a\na: 1 # one\n"
    assert b.text == "# about b\nb: 2\n"


def without_line(text: str, number: int) -> str:
    lines = text.splitlines(keepends=True)
    return "".join(lines[: number - 1] + lines[number:])


def test_missing_brace_names_the_layer_left_open_and_spares_the_others():
    """B2."""
    tree = parse(without_line(FIVE, 18))
    (problem,) = tree.problems
    assert "'l3'" in problem.message
    assert problem.line == 17
    assert "'}'" in problem.hint
    assert [field.message.text_of("name") for field in tree.root.fields("layer")] == ["l1", "l2", "l3", "l4", "l5"]


def test_missing_inner_brace_is_guessed_from_the_indentation():
    text = 'layer {\n  name: "a"\n  p {\n    q: 1\n}\nlayer {\n  name: "b"\n}\n'
    tree = parse(text)
    (problem,) = tree.problems
    assert "'p'" in problem.hint and "'a'" in problem.message
    assert len(tree.root.fields("layer")) == 2


def test_missing_last_brace_is_told_at_the_end():
    tree = parse('layer {\n  name: "a"\n')
    (problem,) = tree.problems
    assert (problem.line, "'a'" in problem.message) == (2, True)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("num_output 10", ["':'", "num_output", "10"]),
        ("num_output = 10", ["=", "':' in place of '='"]),
        ("name: “conv1”", ["“conv1”", "quotes", "straight"]),
        ("name: conv/1", ["conv/1", "quotes"]),
        ('name: "conv1', ['"conv1', "not closed"]),
        ("pad: +1", ["+1", "plus"]),
        ("pad: 1,,", ["','"]),
        ("pad:", ["'pad'", "no value"]),
        ("// note", ["//", "'#'"]),
        ("dim: [1, 2,]", ["']'", "comma"]),
        ("???", ["???"]),
    ],
)
def test_mistakes_are_told_with_place_token_layer_and_guess(line, words):
    """B2."""
    text = f'layer {{\n  type: "X"\n  name: "here"\n  {line}\n  top: "t"\n}}\nlayer {{ name: "next" }}\n'
    tree = parse(text)
    assert str(tree) == text
    (problem,) = tree.problems
    assert problem.line == 4
    assert "'here'" in problem.message
    assert all(word in f"{problem.message} {problem.hint}" for word in words)
    assert line.strip() in problem.context
    first, second = tree.root.fields("layer")
    assert first.message.text_of("top") == "t"
    assert second.message.text_of("name") == "next"


def test_a_brace_too_many_is_told():
    tree = parse('layer {\n  name: "a"\n}\n}\nlayer { name: "b" }\n')
    (problem,) = tree.problems
    assert (problem.line, problem.column) == (4, 1)
    assert "'a'" in problem.message
    assert len(tree.root.fields("layer")) == 2


@pytest.mark.parametrize(
    "text",
    [
        'layers {\n  layer {\n    name: "c"\n  }\n  bottom: "d"\n}\n',
        'layers { layer { name: "o" type: "conv" } bottom: "a" top: "b" }',
        'layers{layer{name:"o"}bottom:"a"}layers{layer{name:"p"}bottom:"a"}',
        'layers <layer <name: "o"> bottom: "a">',
        'layers {\nlayer {\nname: "o"\n}\nbottom: "a"\n}\nlayers {\nbottom: "a"\nlayer {\nname: "p"\n}\n}\n',
        'layers\n{\nlayer\n{\nname: "o"\n}\n}\n',
    ],
    ids=["indented", "one line", "no blanks", "angles", "flush left", "brackets alone"],
)
def test_the_oldest_format_has_a_layer_inside_of_each(text):
    tree = parse(text)
    assert not tree.problems
    assert {field.name for field in tree.root} == {"layers"}
    assert all(field.message.get("layer") for field in tree.root)


def test_a_mistake_before_the_bracket_of_a_layer_is_not_blamed_on_the_one_above():
    unclosed, equals = parse('layer {\n  name: "a"\nlayer = {\n  name: "b"\n}\n').problems
    assert "'a' is not closed" in unclosed.message
    assert equals.message == "Expected ':' after 'layer', found '='."


def test_an_old_layer_left_open_before_a_new_one_is_told():
    (problem,) = parse('layers {\n  name: "a"\nlayer {\n  name: "b"\n}\n').problems
    assert "'a'" in problem.message


@pytest.mark.parametrize(
    ("head", "name"),
    [
        ("input_shape {\n  dim: 1\n", "input_shape"),
        ("state { phase: TEST\n", "state"),
        ("state {\n  stage: 'a' deeper {\n", "state"),
        ("unheard_of <\n a: 1\n# note\n\n", "unheard_of"),
        ("net_param {\n  state {\n    level: 1\n", "state"),
    ],
)
def test_an_open_message_does_not_swallow_the_layers_below(head, name):
    nested = head.startswith("net_param")
    layers = FIVE.replace("layer {", "  layer {") + "}\n" if nested else FIVE
    tree = parse(head + layers)
    holder = tree.root.items[0].value if nested else tree.root
    assert [field.value.text_of("name") for field in holder.fields("layer")] == [f"l{i}" for i in range(1, 6)]
    (problem,) = tree.problems
    assert problem.message == f"'{name}' is not closed before the next layer." and f"close '{name}'" in problem.hint
    assert abs(problem.line - head.rstrip().count("\n") - 1) <= 1 and bytes(tree).decode() == head + layers


@pytest.mark.parametrize("head", ['layer\n  name: "a"\n}\n', "layer (\n  name: 'a'\n)\n", "layers [\n"])
def test_a_layer_without_its_bracket_is_told_and_spares_the_others(head):
    tree = parse(head + FIVE)
    assert len(tree.root.fields("layer")) == 5 and str(tree) == head + FIVE
    told = [problem for problem in tree.problems if problem.line == 1]
    assert told and ("'{'" in told[0].message + told[0].hint or "not closed" in told[0].message)


def test_layers_further_in_are_no_missing_braces():
    for text in ("some_net {\nlayer {\n}\n}", "holder {\n  layer { }\n}", "holder { layer { } }"):
        assert not parse(text).problems


def test_layers_of_nets_inside_solvers_are_no_missing_braces():
    solver = "net_param {\n  layer {\n    name: 'a'\n  }\n  layer {\n    name: 'b'\n  }\n}\nbase_lr: 0.1\n"
    assert not parse(solver).problems


def test_problems_stop_at_a_hundred():
    assert len(parse("}\n" * 5000).problems) <= 100


def test_last_field_counts_and_all_are_listed():
    root = parse("a: 1\na: 2\nb {}\n").root
    assert root.text_of("a") == "2"
    assert len(root.fields("a")) == 2
    assert root.text_of("b") is None and root.get("c") is None


@pytest.mark.parametrize("module", [lexer, scalars])
def test_no_group_is_repeated_possessively(module):
    """Python 3.11.2 stays where a possessive group failed: `(?:,b)*+` on ",c" takes the comma."""
    patterns = [each.pattern for each in vars(module).values() if isinstance(each, re.Pattern)]
    assert patterns
    assert [each for each in patterns if re.search(r"\)[*+?]\+", each)] == []
