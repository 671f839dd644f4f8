"""Texts damaged at random: where protobuf's own reader takes one, ours does and reads the same; and back again.

What the two judge differently is listed in :data:`JUSTIFIED`, with the reason. Most of it is Python's reader being
another one than libprotobuf's, which Caffe has.
"""

from __future__ import annotations

import random
import re

import pytest
from google.protobuf import text_format

from engine import prototxt
from engine.prototxt import bad_escape
from engine.schema import Schema, convert, guess_dialect, load_schema
from tests.support import shared_files

_PIECES = (
    "# c|-|- |+|'|;|\"|\\|\n|\r|\t|\0|\f|:|,|[|]|{|}|<|>|0x|0|1|f|e|.|inf|nan|-inf|true|t|[]|[1]|[1,2]|'a' 'b'"
    "|\\x41|\\101|\\u00e9|\\?|\\xg|\\8|\\N|/|//|=|%|é|1e5|1.5|.5f|1F|1.|0x1F|08|017|1e|-1|_|a|-#c\n1|- 1|-\n1"
    "|-0x1|- inf|infinity|-nan|name|name:|type|{}|<>|input_dim:[|include{phase:TEST}|[a.b]|: {|: [|[{|}]| |  |#c\n"
    "|18446744073709551616|4294967296"
)
PIECES = _PIECES.split("|")
SMALL = (
    'layer { name: "c" type: "Convolution" bottom: "x" top: \'y\' convolution_param { kernel_size: [3, 5] '
    'num_output: 0x10 weight_filler < type: "a" "b" std: -1.5e-3 > } '
    'include { phase: TEST stage: "s" } }\ninput_dim: 1 input_dim: -01',
    'input: "x"; input_shape { dim: [1, 2], dim: 3 }\nforce_backward: true # c\n'
    "layer: { power_param: { power: -2 scale: inf shift: .5f } }",
    'layers { name: "c" type: RELU blobs_lr: 1 layer { name: "x" pad: 1 } }\n'
    'state { phase: TRAIN level: -1 stage: "\\x41\\n\\101" }\nlayer [ { name: "a" }, < name: "b" > ]',
    "layer { pooling_param { pool: AVE } loss_weight: [1, -2, 1e3] blobs { data: [1, 2.5, -3e-1] shape { dim: 3 } } }",
)
#: Reason for which a text may be judged differently: what the text looks like.
JUSTIFIED = {
    # Texts that Python takes and libprotobuf does not.
    "blank space is ASCII's": r"[\x1c-\x1f\x85\xa0]",
    "numbers have no underscores": r"[\dx]_\d",
    "numbers carry no plus sign": r"[^eE]\+",
    "one f may follow a float": r"(?:[\d.]f|inf|infinity|nan)f",
    "a backslash means something": r"\\[^abfnrtv\\'\"]",
    # Texts that libprotobuf takes and Python does not.
    "a sign may stand apart from its number": r"-(?:[ \t\n\r\v\f]|#[^\n]*\n)",
    "bytes that are no UTF-8, of escapes": r"\\[xX0-7]",
}


def mutated(text: str, chance: random.Random) -> str:
    for _ in range(chance.choice([1, 1, 1, 2, 3])):
        at = chance.randrange(len(text) + 1)
        piece = chance.choice(PIECES)
        match chance.randrange(5):
            case 0:
                text = text[:at] + piece + text[at:]
            case 1:
                text = text[:at] + text[at + chance.choice([1, 1, 2, 3]) :]
            case 2:
                text = text[:at] + piece + text[at + 1 :]
            case 3:
                start = chance.randrange(len(text) + 1)
                text = text[:at] + text[start : start + chance.choice([1, 3, 8, 20])] + text[at:]
            case _:
                text = text[:at] + chr(chance.randrange(1, 128)) + text[at + 1 :]
    return text


def files() -> list[tuple[str, Schema]]:
    """Small texts, and small public files, with the schema of each."""
    found = [(text, load_schema()) for text in SMALL] * 40
    for path in shared_files("corpus/prototxt/*/*"):
        data = path.read_bytes()
        if len(data) < 4000:
            schema = load_schema(guess_dialect(prototxt.parse(data)).name)
            found.append((data.decode("utf-8", "replace"), schema))
    return found


def official(text: str, schema: Schema) -> bytes | str:
    """What protobuf's reader makes of a text, or why it refuses it."""
    try:
        return text_format.Parse(text, schema.message("NetParameter")()).SerializeToString(deterministic=True)
    except (text_format.ParseError, UnicodeError) as error:
        return str(error)


def ours(text: str, schema: Schema) -> bytes | str:
    tree = prototxt.parse(text)
    if tree.problems:
        return tree.problems[0].message
    conversion = convert(tree.root, "NetParameter", schema=schema)
    if conversion.problems:
        return conversion.problems[0].text
    message: bytes = conversion.message.SerializeToString(deterministic=True)
    return message


def differences(seed: int, count: int) -> tuple[int, list[tuple[str, bytes | str, bytes | str]]]:
    """Compare the two on texts damaged at random; return how many both take, and what they judge differently."""
    chance, sources = random.Random(seed), files()
    both, found = 0, []
    for _ in range(count):
        source, schema = chance.choice(sources)
        text = mutated(source, chance)
        theirs, own = official(text, schema), ours(text, schema)
        if isinstance(theirs, bytes) and theirs == own:
            both += 1
        elif (isinstance(theirs, bytes) or isinstance(own, bytes)) and not is_justified(text, own):
            found.append((text, theirs, own))
    return both, found


def is_justified(text: str, own: bytes | str) -> bool:
    """Whether the reason is known; ours alone ends a layer where another one begins further left."""
    if isinstance(own, str) and "not closed before the next layer" in own:
        return True
    return any(re.search(shape, text, re.IGNORECASE) for shape in JUSTIFIED.values())


@pytest.mark.filterwarnings("ignore:invalid escape sequence:DeprecationWarning")  # of Python's reader
@pytest.mark.parametrize("seed", range(4))
def test_damaged_texts_are_judged_as_by_protobuf(seed: int) -> None:
    both, found = differences(seed, 1500)
    assert both > 30
    assert not found


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("input_dim: [1 2]", "Expected ',' between"),
        ("input_dim: [1; 2]", "Expected ',' between"),
        ("input_dim: [1,, 2]", "Expected a value in a list, found ','"),
        ("input_dim: [1, # one\n , 2]", "Expected a value in a list, found ','"),
        ("input_dim = [1, 2]", "found '='"),
        ("layer [{ } { }]", "expected ',' between"),
    ],
)
def test_lists_are_read_strictly_and_kept(text: str, words: str) -> None:
    tree = prototxt.parse(text)
    assert len(tree.problems) == 1 and words in tree.problems[0].message
    assert bytes(tree).decode() == text and not isinstance(official(text, load_schema()), bytes)


@pytest.mark.parametrize(
    ("text", "unknown"),
    [
        (r'"C:\data\new"', r"\d"),
        (r'"C:\Users"', r"\U"),
        (r"'\xg'", r"\x"),
        (r'"\u12"', r"\u"),
        (r'"a" # \q' + '\n "b\\8"', r"\8"),
        (r'"\a\b\f\n\r\t\v\\\?\'\"\0\x1\u00e9\U0010FFFF"', ""),
        (r'"a" # \q', ""),
    ],
)
def test_escapes_that_mean_nothing_are_told(text: str, unknown: str) -> None:
    assert bad_escape(text) == unknown
    conversion = convert(prototxt.parse(f"name: {text}\n").root, "NetParameter")
    assert [unknown in problem.text for problem in conversion.problems] == ([True] if unknown else [])


@pytest.mark.parametrize("number", ["- # minus\n 3", "-#\n\n# and\n3"])
def test_a_comment_may_part_a_sign_from_its_number(number: str) -> None:
    """Python's reader refuses it; Caffe's, in C++, takes it."""
    text = f"input_dim: {number} # three\nlayer {{ power_param {{ power: {number} }} }}\n"
    conversion = convert(prototxt.parse(text).root, "NetParameter")
    assert not conversion.problems and prototxt.parse(text).text == text
    assert conversion.message.input_dim[0] == conversion.message.layer[0].power_param.power == -3
