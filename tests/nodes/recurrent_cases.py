"""Cases of the recurrent layers for the harness.

Every first marker is 0, so that equal passes are equal although a layer carries its state on. The first dimension,
which the harness changes, is the number of steps.
"""

from __future__ import annotations

import numpy as np

from engine.testing import LayerCase

__all__ = ["RECURRENT_CASES", "recurrent"]

RNG = np.random.default_rng(17)
FILL = 'weight_filler { type: "gaussian" std: 0.5 } bias_filler { type: "uniform" min: -0.5 max: 0.5 }'


def normal(*shape: int) -> np.ndarray:
    return RNG.normal(size=shape)


def markers(steps: int, count: int) -> np.ndarray:
    """Return markers of sequences that all begin at the first step, and some later on."""
    values = np.ones((steps, count))
    values[0] = 0
    values[steps // 2, ::2] = 0
    return values


def recurrent(kind: str, more: str = "") -> str:
    return f'type: "{kind}" recurrent_param {{ num_output: 3 {more} {FILL} }}'


def _of(kind: str, states: int) -> dict[str, LayerCase]:
    exposed = [normal(1, 2, 3) for _ in range(states)]
    name = kind.lower()
    shown = {"tops": 1 + states, "ungraded_tops": range(1, 1 + states), "batched": False}
    hidden = recurrent(kind, "expose_hidden: true")
    return {
        name: LayerCase(recurrent(kind), [normal(5, 2, 4), markers(5, 2)], no_gradient=[1]),
        f"{name} one step": LayerCase(recurrent(kind), [normal(1, 3, 4), markers(1, 3)], no_gradient=[1]),
        f"{name} of pictures": LayerCase(recurrent(kind), [normal(4, 3, 2, 2), markers(4, 3)], no_gradient=[1]),
        f"{name} static": LayerCase(
            recurrent(kind), [normal(4, 3, 2), markers(4, 3), normal(3, 2, 2)], no_gradient=[1], batched=False
        ),
        f"{name} exposed": LayerCase(
            hidden, [normal(4, 2, 5), np.ones((4, 2)), *exposed], no_gradient=[1, *range(2, 2 + states)], **shown
        ),
        f"{name} static exposed": LayerCase(
            hidden,
            [normal(4, 2, 5), markers(4, 2), normal(2, 4), *exposed],
            no_gradient=[1, *range(3, 3 + states)],
            **shown,
        ),
    }


RECURRENT_CASES = {
    **_of("LSTM", 2),
    **_of("RNN", 1),
    "lstm unit": LayerCase(
        'type: "LSTMUnit"',
        [normal(1, 3, 2), normal(1, 3, 8), np.array([[1, 0, 1.0]])],
        2,
        no_gradient=[2],
        batched=False,
    ),
}
