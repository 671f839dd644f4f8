"""The stand-in device refuses what a device would refuse."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from engine.backends import Workspace, backend_names, get_backend
from engine.errors import NetError

STRICT = get_backend("strict")
XP = STRICT.xp


def device(*values: float) -> Any:
    return STRICT.asarray(np.array(values, np.float32))


@pytest.mark.parametrize(
    "misuse",
    [
        lambda a: np.asarray(a),
        lambda a: np.array([a, a]),
        lambda a: np.add(a, 1),
        lambda a: np.ones(2, np.float32) + a,
        lambda a: a + np.ones(2, np.float32),
        lambda a: XP.add(a, np.ones(2)),
        lambda a: a.__setitem__(0, np.ones(1)),
        lambda a: np.zeros(2).__setitem__(slice(None), a),
        lambda a: XP.matmul(a, a, out=np.zeros(())),
        lambda a: XP.stack([a, np.ones(2)]),
    ],
)
def test_mixing_with_host_arrays_is_refused(misuse: Callable[[Any], Any]) -> None:
    with pytest.raises(TypeError):
        misuse(device(1, 2))


@pytest.mark.parametrize("name", ["tolist", "tobytes", "tofile", "nonsense"])
def test_methods_that_reach_the_host_are_not_offered(name: str) -> None:
    with pytest.raises(AttributeError):
        getattr(device(1), name)


@pytest.mark.parametrize("name", ["save", "frombuffer", "memmap"])
def test_functions_that_reach_the_host_are_not_offered(name: str) -> None:
    with pytest.raises(AttributeError):
        getattr(XP, name)


def test_arithmetic_stays_on_the_device() -> None:
    a, b = device(1, 2), device(3, 5)
    results = [a + b, 2 * a, a - 1, 1 / b, a @ b, -a, a < b, a**2, XP.maximum(a, b), XP.exp(a), a.sum(), a[::-1], a.T]
    results += [XP.where(a > 1, a, b), XP.add.reduce(b), a.reshape(2, 1), XP.stack([a, b]), a.astype(np.int64)]
    assert all(type(result) is type(a) for result in results)


def test_in_place_and_out_write_the_same_memory() -> None:
    a, out = device(1, 2), device(0, 0)
    view = a[:1]
    a += 1
    a *= device(2, 3)
    view -= 1
    XP.multiply(a, 2, out=out)
    assert STRICT.to_host(a).tolist() == [3, 9]
    assert STRICT.to_host(out).tolist() == [6, 18]


def test_scalars_come_out_explicitly() -> None:
    a = device(2.5)
    assert (float(a.sum()), int(a.sum()), bool(a.any()), len(a)) == (2.5, 2, True, 1)


def test_copies_do_not_share_memory() -> None:
    host = np.ones(2, np.float32)
    array = STRICT.asarray(host)
    host[0] = 5
    assert STRICT.to_host(array).tolist() == [1, 1]
    STRICT.copy_to_host(array, host)
    assert host.tolist() == [1, 1]
    STRICT.copy_from_host(np.array([3, 4], np.float32), array)
    assert STRICT.to_host(array).tolist() == [3, 4]


def test_fresh_memory_is_junk() -> None:
    assert np.isnan(STRICT.to_host(STRICT.empty((2, 2), np.float32))).all()
    assert not STRICT.to_host(STRICT.zeros((2,), np.float32)).any()


@pytest.mark.parametrize("backend", ["numpy", "strict"])
def test_workspace_reuses_grows_and_is_poisoned(backend: str) -> None:
    chosen = get_backend(backend)
    workspace = Workspace(chosen)
    first = workspace.take("a", (2, 3), np.float32)
    first[...] = 1
    assert workspace.take("a", (6,), np.float32).sum() == 6
    assert workspace.take("b", (6,), np.float32).shape == (6,)
    assert workspace.nbytes == 48
    workspace.poison()
    assert np.isnan(chosen.to_host(first)).all()
    assert workspace.take("a", (10,), np.float32).shape == (10,)


def test_unknown_backend_names_the_known_ones() -> None:
    with pytest.raises(NetError, match="'cuda'.*numpy, strict"):
        get_backend("cuda")
    assert backend_names() == ("numpy", "strict")
