"""Converted modules do what they did: divisions round, pickles open."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine.plugins.old_meaning import DIVIDE, expand_tabs, keep_meaning


def last_line(text: str, **options: Any) -> str:
    changed, _ = keep_meaning(text, rounds=options.get("rounds", True))
    ast.parse(changed)
    return changed.rstrip("\n").rsplit("\n", 1)[-1]


@pytest.mark.parametrize(
    ("written", "kept"),
    [
        ("x = a / b", "x = D(a, b)"),
        ("x = a / b / c", "x = D(D(a, b), c)"),
        ("x = a / (b / c)", "x = D(a, (D(b, c)))"),
        ("x = (a + b) / (c)", "x = D((a + b), (c))"),
        ("x = (a * b / c) + 1", "x = (D(a * b, c)) + 1"),
        ("x = f(a / 2)[n/3:]", "x = f(D(a, 2))[D(n, 3):]"),
        ("x = 'ä' + f('/', n / 2)  # a / b", "x = 'ä' + f('/', D(n, 2))  # a / b"),
        ("x = (a /  # half / of it\n     2)", "     2))"),
        ("x = -a / b ** 2", "x = D(-a, b ** 2)"),
        ("x = a / 2.0 + 1.0 * b / c + a / float(b)", "x = a / 2.0 + 1.0 * b / c + a / float(b)"),
        ("x = np.sqrt(a) / b + np.pi / b", "x = np.sqrt(a) / b + np.pi / b"),
        ("x = a // b", "x = a // b"),
    ],
)
def test_divisions(written: str, kept: str) -> None:
    assert last_line(f"import numpy as np\n{written}\n").replace(DIVIDE, "D") == kept


@pytest.mark.parametrize(
    ("left", "right", "result"),
    [
        (7, 2, 3),
        (-7, 2, -4),
        (7, 2.0, 3.5),
        (True, 2, 0),
        (np.int64(7), 2, 3),
        (np.array([7, -7]), 2, [3, -4]),
        (np.array([7.0]), 2, [3.5]),
        (np.float32(7), np.int32(2), 3.5),
    ],
)
def test_whole_numbers_stay_whole(left: Any, right: Any, result: Any) -> None:
    names: dict[str, Any] = {}
    exec(keep_meaning("def f(a, b):\n    return a / b\n", rounds=True)[0], names)
    np.testing.assert_array_equal(names["f"](left, right), result)


@pytest.mark.parametrize(
    ("above", "first"),
    [
        ('"""Words."""\nfrom __future__ import absolute_import\nimport os\n', "import os"),
        ("# words\n", "# words"),
        ("", ""),
    ],
)
def test_the_function_is_put_below_the_imports(above: str, first: str) -> None:
    text, _ = keep_meaning(f"{above}@g\ndef f():\n    return 1 / n\n", rounds=True)
    assert text.split(f"def {DIVIDE}")[0].rstrip().endswith(first)
    ast.parse(text)


def test_true_division_is_left_alone() -> None:
    assert keep_meaning("x = a / b\nx /= 2\n", rounds=False) == ("x = a / b\nx /= 2\n", ())


@pytest.mark.parametrize(
    ("written", "kept"),
    [
        ("d = pkl.load(open(f, 'r'))", 'd = pkl.load(open(f, "rb"), encoding="latin1")'),
        ("d = pkl.load(open(f))", 'd = pkl.load(open(f, "rb"), encoding="latin1")'),
        ("d = pkl.load(open(f, 'rb'))", "d = pkl.load(open(f, 'rb'), encoding=\"latin1\")"),
        ("pkl.dump(d, open(f, 'w'))", 'pkl.dump(d, open(f, "wb"))'),
        ("pkl.dump(d, open(f, 'wb'), -1)", "pkl.dump(d, open(f, 'wb'), -1)"),
        ("d = pkl.load(g, fix_imports=True)", "d = pkl.load(g, fix_imports=True)"),
        ("d = json.load(open(f))", "d = json.load(open(f))"),
    ],
)
def test_pickles(written: str, kept: str) -> None:
    assert last_line(f"import pickle as pkl, json\n{written}\n") == kept


def test_pickles_below_with() -> None:
    text = "import pickle\nwith open(a) as f:\n    f.read()\nwith open(b, 'r') as f:\n    d = pickle.load(f)\n"
    changed, _ = keep_meaning(text, rounds=True)
    assert "with open(a) as f" in changed and 'with open(b, "rb") as f' in changed


def test_a_pickle_of_python_2_is_read(tmp_path: Path) -> None:
    (tmp_path / "p").write_bytes(b"S'\\xe9'\np0\n.")  # as protocol 0 writes the byte string '\xe9'
    names: dict[str, Any] = {"place": tmp_path / "p"}
    exec(keep_meaning("import pickle\nwith open(place) as f:\n    d = pickle.load(f)\n", rounds=True)[0], names)
    assert names["d"] == "\xe9"


@pytest.mark.parametrize("made", ["from io import StringIO\nf = StringIO(x)\n", "import io\nf = io.StringIO(x)\n"])
@pytest.mark.parametrize("value", [b"\xff", "text"])
def test_files_in_memory(made: str, value: bytes | str) -> None:
    names: dict[str, Any] = {"x": value}
    exec(keep_meaning(made, rounds=True)[0], names)
    assert names["f"].read() == value


def test_tabs() -> None:
    assert expand_tabs("if a:\n    if b:\n\tf('''\n\tg''')\n  \th()\n") == (
        "if a:\n    if b:\n        f('''\n\tg''')\n        h()\n"
    )
