from __future__ import annotations

import threading
import time
from typing import Any

import numpy as np
import pytest

from engine.data.batches import Batch
from engine.data.prefetch import Prefetcher


class Counting:
    """Makes batches that hold their number."""

    def __init__(self, fails_at: int = -1) -> None:
        self.made = 0
        self.fails_at = fails_at
        self.threads: set[int] = set()

    def __call__(self, used: Batch | None) -> Batch:
        self.threads.add(threading.get_ident())
        if self.made == self.fails_at:
            raise ValueError("record 3 is bad")
        self.made += 1
        return Batch((np.full(1, self.made, np.float32),), {})


def wait_for(condition: Any) -> bool:
    end = time.monotonic() + 5
    while not condition() and time.monotonic() < end:
        time.sleep(0.005)
    return bool(condition())


@pytest.mark.parametrize("depth", [1, 4])
def test_batches_are_made_while_the_consumer_computes_and_no_more_than_may_wait(depth: int) -> None:
    produce = Counting()
    prefetcher = Prefetcher(produce, depth, "test")
    assert prefetcher.next().arrays[0] == [1]
    # without being asked again: the consumer holds one, ``depth`` wait, one is in the producer's hand
    assert wait_for(lambda: produce.made == depth + 2)
    time.sleep(0.05)
    assert produce.made == depth + 2
    assert threading.get_ident() not in produce.threads
    assert [int(prefetcher.next().arrays[0][0]) for _ in range(6)] == [2, 3, 4, 5, 6, 7]
    prefetcher.close()


def test_an_error_comes_in_its_turn() -> None:
    prefetcher = Prefetcher(Counting(fails_at=2), 4, "test")
    assert [int(prefetcher.next().arrays[0][0]) for _ in range(2)] == [1, 2]
    with pytest.raises(ValueError, match="record 3 is bad"):
        prefetcher.next()
