"""Long short-term memory."""

from __future__ import annotations

from typing import ClassVar

from engine.api import Array
from nodes.memory import kept, scratch
from nodes.recurrent.recurrent import RecurrentLayer
from nodes.recurrent.unit import GATES, open_gates, step, step_back

__all__ = ["LSTMLayer"]


class LSTMLayer(RecurrentLayer):
    """Long short-term memory over sequences (Caffe's ``LSTMLayer``).

    Ports and carried state: see :class:`~nodes.recurrent.recurrent.RecurrentLayer`; the states are the hidden state and
    the cell, and the outputs are the hidden states. Parameters, named as in Caffe's inner net: ``W_xc (4 D, inputs)``,
    ``b_c (4 D,)``, with a static input ``W_xc_static (4 D, static inputs)``, ``W_hc (4 D, D)``. Their rows belong to
    the input, forget and output gate and the candidate, ``D`` rows each; formulas: :mod:`nodes.recurrent.unit`.
    """

    type = "LSTM"
    states: ClassVar[tuple[str, ...]] = ("hidden state", "cell")
    gates: ClassVar[int] = GATES

    _squashed: Array = None

    def run(self, inputs: Array, cont: Array) -> Array:
        """Go through the steps; the inputs become the gates."""
        hidden, cell = self._history
        squashed = self._squashed = kept(self, self._squashed, inputs, (*inputs.shape[:2], self._depth))
        for index in range(inputs.shape[0]):
            self.see_hidden(inputs, cont, index)
            gates = self._split(inputs, index)
            open_gates(self.xp, gates, cont[index])
            step(self.xp, gates, cell[index], cell[index + 1], squashed[index], hidden[index + 1])
        return hidden[1:]

    def run_back(self, top_grad: Array, cont: Array, grads: Array) -> None:
        """Go back through the steps with the gradients of hidden state and cell."""
        cell, squashed = self._history[1], self._squashed
        cell_grad = scratch(self, "cell", grads, top_grad.shape[1:])
        cell_grad[...] = 0
        later: Array | float = 0.0
        for index in reversed(range(grads.shape[0])):
            out = self._split(grads, index)
            gates = self._split(self._inputs, index)
            step_back(gates, cell[index], squashed[index], top_grad[index] + later, cell_grad, out)
            later = self.hidden_gradient(grads, cont, index)

    def _split(self, rows: Array, index: int) -> Array:
        """Return a step of an array ``(T, N, 4 D)`` as ``(N, 4, D)``."""
        return rows[index].reshape((rows.shape[1], GATES, self._depth))
