"""Threads of the matrix library."""

from __future__ import annotations

import os

import pytest
from threadpoolctl import threadpool_info

from engine.backends.threads import default_threads, matrix_threads


def blas_threads() -> set[int]:
    return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}


def test_half_the_cores_are_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    for cores, expected in ((1, 1), (2, 1), (3, 1), (16, 8)):
        monkeypatch.setattr(os, "sched_getaffinity", lambda _pid, n=cores: set(range(n)), raising=False)
        assert default_threads() == expected


def test_the_limit_holds_inside_the_block_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _pid: {0, 1, 2}, raising=False)
    before = blas_threads()
    with matrix_threads(3) as outer:
        assert (outer, blas_threads()) == (3, {3})
        with matrix_threads(1):
            assert blas_threads() == {1}
        assert blas_threads() == {3}
    assert blas_threads() == before


def test_no_more_threads_are_taken_than_there_are_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _pid: {0, 1}, raising=False)
    with matrix_threads(5) as number:
        assert (number, blas_threads()) == (2, {2})
