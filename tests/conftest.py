"""Settings of the whole suite."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from engine.backends.threads import matrix_threads


@pytest.fixture(scope="session", autouse=True)
def calm_matrix_threads() -> Iterator[None]:
    """The threads that trainings use, so that figures and bits are those of the product."""
    with matrix_threads():
        yield
