"""No byte is lost, whatever the file."""

from __future__ import annotations

import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.prototxt import Tree, parse
from engine.prototxt.parts import render
from tests.engine.prototxt.texts import PIECES
from tests.support import SHARED, shared_files

FILES = shared_files("corpus/prototxt/**/*") + shared_files("corpus/syntax/*")


def rebuilt(tree: Tree) -> str:
    """The text put together from the pieces, without what the parser remembers."""
    return tree.bom + "".join(render(item) for item in tree.root.items) + tree.root.close_lead


@pytest.mark.skipif(not FILES, reason="reference files are not beside this checkout")
@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SHARED / "corpus")))
def test_public_file_comes_back_byte_for_byte(path):
    data = path.read_bytes()
    tree = parse(data)
    assert bytes(tree) == data
    assert rebuilt(tree).encode("utf-8", "surrogateescape") == data


@given(st.binary(max_size=200))
def test_any_bytes_come_back(data):
    assert bytes(parse(data)) == data


@settings(max_examples=400)
@given(st.lists(PIECES, max_size=40).map("".join))
def test_any_mixture_of_the_formats_pieces_comes_back(text):
    tree = parse(text)
    assert str(tree) == text
    assert rebuilt(tree) == text


@pytest.mark.parametrize(
    "text",
    [
        "{" * 20_000,
        "a {" * 20_000 + "}" * 20_000,
        "a: [" * 5_000,
        "layer {" * 5_000,
        "a <" * 5_000,
        "[" * 20_000,
        "}" * 5_000,
    ],
    ids=["anonymous", "nested", "lists", "layers", "angles", "brackets", "closers"],
)
def test_deep_nesting_needs_no_recursion(text):
    depth = sys.getrecursionlimit()
    tree = parse(text)
    assert rebuilt(tree) == text
    assert sys.getrecursionlimit() == depth


def test_parts_know_their_lines_and_columns():
    tree = parse("\ufeffa: 1 b: 2\r\n# c\nlayer {\n  name: 'x'  # n\n  p { q: [1,\n 22] } }\n")
    a, b, layer = tree.root
    assert [(f.line, f.column) for f in (a, b, layer)] == [(1, 1), (1, 6), (3, 1)]
    name, p = layer.message
    assert (name.line, name.column, name.value.line, name.value.column) == (4, 3, 4, 9)
    (q,) = p.message
    assert (q.value.elements[1].value.line, q.value.elements[1].value.column) == (6, 2)


def test_parts_out_of_the_tree_have_no_place():
    field = next(iter(parse("a: 1").root))
    field.parent = None
    assert (field.line, field.value.column) == (0, 0)
