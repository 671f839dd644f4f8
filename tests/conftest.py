"""Settings of the whole suite."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

from engine.backends.threads import matrix_threads
from tests.leaks import Running


def pytest_collection_finish() -> None:
    """Ten thousand tests and what they import stay to the end: Python need not look through them for garbage."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session", autouse=True)
def calm_matrix_threads() -> Iterator[None]:
    """The threads that trainings use, so that figures and bits are those of the product."""
    with matrix_threads():
        yield


@pytest.fixture(autouse=True)
def nothing_left_running() -> Iterator[None]:
    """No thread and no process may outlive its test."""
    before = Running()
    yield
    before.check_nothing_new()
