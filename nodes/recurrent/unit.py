"""One step of long short-term memory, without its weights.

The four gates of a step lie in one array ``(N, 4, D)``: input, forget, output, candidate. Source of the formulas:
Zaremba and Sutskever 2014, "Learning to Execute", with Caffe's continuation marker in the forget gate.
"""

from __future__ import annotations

from typing import Any

from engine.api import Array

__all__ = ["open_gates", "step", "step_back"]

GATES = 4
INPUT, FORGET, OUTPUT, CANDIDATE = range(GATES)


def open_gates(xp: Any, gates: Array, cont: Array) -> None:
    """Turn what goes into the gates into their values, in place.

    Parameters
    ----------
    xp : module
        Array module.
    gates : array (N, 4, D)
        Sums of weighted inputs; afterwards ``sigmoid`` of the first three, the second times ``cont``, and ``tanh`` of
        the last.
    cont : array (N, 1)
        0 where a sequence begins at this step, else 1.
    """
    sigmoids = gates[:, :CANDIDATE]
    sigmoids *= 0.5  # sigmoid(x) = tanh(x / 2) / 2 + 1 / 2, which never overflows
    xp.tanh(gates, out=gates)
    sigmoids *= 0.5
    sigmoids += 0.5
    forget = gates[:, FORGET]
    forget *= cont


def step(xp: Any, gates: Array, before: Array, cell: Array, squashed: Array, hidden: Array) -> None:
    """Compute the new cell ``c = f c_before + i g``, ``tanh(c)`` and the hidden state ``o tanh(c)``.

    Parameters
    ----------
    xp : module
        Array module.
    gates : array (N, 4, D)
        As :func:`open_gates` leaves them.
    before : array (N, D)
        The cell before this step.
    cell, squashed, hidden : array (N, D)
        Overwritten.
    """
    xp.multiply(gates[:, INPUT], gates[:, CANDIDATE], out=squashed)
    xp.multiply(gates[:, FORGET], before, out=cell)
    cell += squashed
    xp.tanh(cell, out=squashed)
    xp.multiply(gates[:, OUTPUT], squashed, out=hidden)


def step_back(gates: Array, before: Array, squashed: Array, hidden_grad: Array, cell_grad: Array, out: Array) -> None:
    """Compute the gradients of a step.

    The derivative of the forget gate is ``f (1 - f)`` with ``cont`` in ``f``, as in Caffe: true where it is 0 or 1.

    Parameters
    ----------
    gates, before, squashed : array
        As :func:`step` had and left them.
    hidden_grad : array (N, D)
        Gradient of the hidden state.
    cell_grad : array (N, D)
        Gradient of the new cell; afterwards that of the cell before.
    out : array (N, 4, D)
        Overwritten with the gradients of what goes into the gates.
    """
    i, f, o, g = (gates[:, gate] for gate in range(GATES))
    cell_grad += hidden_grad * o * (1 - squashed * squashed)
    out[:, INPUT] = cell_grad * g * i * (1 - i)
    out[:, FORGET] = cell_grad * before * f * (1 - f)
    out[:, OUTPUT] = hidden_grad * squashed * o * (1 - o)
    out[:, CANDIDATE] = cell_grad * i * (1 - g * g)
    cell_grad *= f
