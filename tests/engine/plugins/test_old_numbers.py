"""Arrays of one value as numbers, in plugin modules alone."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine.plugins import PluginProject
from tests.engine.plugins.helpers import write

ONE = np.full((1, 1, 1), 2.5, np.float32)
TWO = np.array([1.0, 2.0])


def load(folder: Path, text: str) -> Any:
    write(folder, mod=text)
    return PluginProject(base_dirs=[folder]).load_module("mod").module


def calculate(folder: Path, expression: str, **names: Any) -> Any:
    module = load(folder, f"import numpy as np\ndef f({', '.join(names)}):\n    return {expression}\n")
    return module.f(*names.values())


@pytest.mark.parametrize(
    ("expression", "value", "expected"),
    [
        ("int(x)", ONE, 2),
        ("float(x) + int('7')", ONE, 9.5),
        ("round(x)", ONE, 2),
        ("round(x, 1)", ONE, 2.5),
        ("'%d of %s' % (x, 'a')", ONE, "2 of a"),
        ("'%.2f' % x", ONE, "2.50"),
        ("int(x, 16)", "ff", 255),
        ("'%s %s' % x", (1, 2), "1 2"),
        ("'%(a)d' % x", {"a": 3}, "3"),
        ("x % 4", 7, 3),
        ("[int(each) for each in x]", [ONE, 3], [2, 3]),
        ("np.arange(9)[x : x + 2].tolist()", np.float32(4), [4, 5]),
        ("'abcd'[:x]", 2.0, "ab"),
        ("'abcd'[x:]", None, "abcd"),
        ("np.arange(9)[-x:-1].tolist()", 3, [6, 7]),
        ("np.arange(4).reshape(x, 2).tolist()", 2.0, [[0, 1], [2, 3]]),
        ("np.arange(4).reshape((2, x)).tolist()", np.float64(2), [[0, 1], [2, 3]]),
        ("np.reshape([1.0, 2.0], (x, 1)).tolist()", np.sqrt(4), [[1.0], [2.0]]),
        ("np.zeros(x).tolist()", 2.0, [0, 0]),
        ("np.ones(shape=(1, x)).tolist()", 2.0, [[1, 1]]),
        ("len(np.random.choice([0.5, 1.0], size=x, replace=False))", np.float64(2), 2),
    ],
)
def test_numbers(tmp_path: Path, expression: str, value: Any, expected: Any) -> None:
    assert calculate(tmp_path, expression, x=value) == expected


@pytest.mark.parametrize("expression", ["int(x)", "float(x)", "round(x)", "'%d' % x"])
def test_what_is_no_number_still_fails(tmp_path: Path, expression: str) -> None:
    with pytest.raises(TypeError):
        calculate(tmp_path, expression, x=TWO)


@pytest.mark.parametrize("size", [1.5, float("nan"), "2", None])
def test_a_size_is_a_whole_number(tmp_path: Path, size: object) -> None:
    with pytest.raises(TypeError):
        calculate(tmp_path, "np.zeros((2, x)) if x is not None else np.zeros(x, 1, 2, 3, 4)", x=size)


def test_only_numpys_functions_are_called_again(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    module = load(
        tmp_path,
        """
        import numpy as np
        class Own:
            calls = 0
            def reshape(self, size):
                self.calls += 1
                raise TypeError("mine")
        def go(own): own.reshape(2.0)
        def size(): return np.zeros(3.0)
    """,
    )
    own = module.Own()
    with pytest.raises(TypeError, match="mine"):
        module.go(own)
    assert own.calls == 1 and not caplog.records
    with caplog.at_level(logging.WARNING):
        assert len(module.size()) == len(module.size()) == 3
    (told,) = [each.getMessage() for each in caplog.records]
    assert told.endswith("mod.py:9 takes a float as a size; write int(...).")


def test_a_slice_ends_at_whole_numbers_alone(tmp_path: Path) -> None:
    with pytest.raises(TypeError):
        calculate(tmp_path, "'abcd'[:x]", x=1.5)


def test_elements_are_set(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    module = load(
        tmp_path,
        """
        def f(loss, grid, names, one):
            loss[0] = one
            grid[1, 0] = one
            loss[1:] = 7
            names['a'] = one
            names[one.size] = one
            for i in range(2):
                grid[0][i] = i
        """,
    )
    loss, grid, names = np.zeros(3), np.zeros((2, 2)), dict[Any, Any]()
    with caplog.at_level(logging.WARNING, "netcanvas.plugins"):
        module.f(loss, grid, names, ONE)
        module.f(loss, grid, names, ONE)
    assert loss.tolist() == [2.5, 7, 7] and grid.tolist() == [[0, 1], [2.5, 0]]
    assert names["a"] is ONE and names[1] is ONE
    if caplog.messages:  # numpy before 2.4 takes them itself
        assert [message.partition(" takes")[0] for message in caplog.messages] == [
            f"{tmp_path / 'mod.py'}:3",
            f"{tmp_path / 'mod.py'}:4",
        ]
    with pytest.raises(ValueError, match="sequence|array"):
        module.f(loss, grid, names, TWO)


def test_order_of_evaluation_and_place_of_errors_stay(tmp_path: Path) -> None:
    module = load(
        tmp_path,
        """
        def f(say):
            say('target')[say('index')] = say('value')
        def g():
            {}[[]] = int(

                1 / 0)
        """,
    )
    said: list[str] = []

    def say(word: str) -> Any:
        said.append(word)
        return {"target": np.zeros(2), "index": 0, "value": 1}[word]

    module.f(say)
    assert said == ["value", "target", "index"]
    with pytest.raises(ZeroDivisionError) as caught:
        module.g()
    assert caught.traceback[-1].lineno == 6  # from 0
    assert caught.traceback[-1].path == tmp_path / "mod.py"


def test_a_name_of_the_modules_own_is_left_alone(tmp_path: Path) -> None:
    module = load(tmp_path, "def int(x):\n    return 'mine'\ndef f(x):\n    return int(x)\n")
    assert module.f(ONE) == "mine"


def test_a_loop_of_assignments_costs_little(tmp_path: Path) -> None:
    import time

    text = "def f(a, n):\n    for i in range(n):\n        a[i] = i\n"
    module, plain = load(tmp_path, text), dict[str, Any]()
    exec(text, plain)
    array = np.zeros(20_000)
    best = [1.0, 1.0]
    for _ in range(7):
        for index, call in enumerate((module.f, plain["f"])):
            begin = time.thread_time()
            call(array, len(array))
            best[index] = min(best[index], time.thread_time() - begin)
    assert best[0] - best[1] < len(array) * 0.5e-6
