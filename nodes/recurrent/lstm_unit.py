"""One step of an LSTM as a layer."""

from __future__ import annotations

from collections.abc import Sequence

from engine.api import Array, Blob, Layer
from nodes.memory import kept, scratch
from nodes.recurrent.unit import GATES, open_gates, step, step_back

__all__ = ["LSTMUnitLayer"]


class LSTMUnitLayer(Layer):
    """Updates the memory cell of an LSTM by what goes into its gates (Caffe's ``LSTMUnitLayer``).

    Bottoms: cell ``(1, N, D)``; inputs of the gates ``(1, N, 4 D)``, in the order input, forget, output, candidate; and
    markers ``(1, N)``, 0 where a sequence begins. Tops: new cell and hidden state ``(1, N, D)``.
    """

    type = "LSTMUnit"

    _gates: Array | None = None
    _squashed: Array | None = None

    def reshape(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Check that the three bottoms fit together."""
        cell = bottom[0].shape
        if len(cell) != 3 or cell[0] != 1:
            self.fail_shape(f"expected a cell (1, N, D), got shape {cell} from blob '{bottom[0].name}'.", bottom=0)
        for index, expected in ((1, (1, cell[1], GATES * cell[2])), (2, (1, cell[1]))):
            if bottom[index].shape != expected:
                self.fail_shape(
                    f"expected shape {expected} with a cell of shape {cell}, got {bottom[index].shape} from blob "
                    f"'{bottom[index].name}'.",
                    bottom=index,
                )
        for blob in top:
            blob.reshape(cell)

    def forward(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Open the gates and take the step."""
        before = bottom[0].data[0]
        size, depth = before.shape
        gates = self._gates = kept(self, self._gates, before, (size, GATES, depth))
        squashed = self._squashed = kept(self, self._squashed, before)
        gates[...] = bottom[1].data.reshape(gates.shape)
        open_gates(self.xp, gates, bottom[2].data.reshape((size, 1)))
        step(self.xp, gates, before, top[0].data[0], squashed, top[1].data[0])

    def backward(self, top: Sequence[Blob], propagate_down: Sequence[bool], bottom: Sequence[Blob]) -> None:
        """Compute the gradients of cell and gates."""
        if propagate_down[2]:
            self.fail("markers have no gradient.", bottom=2, next_step="Set propagate_down: false for them.")
        if not any(propagate_down):
            return
        before, hidden_grad = bottom[0].data[0], top[1].diff[0]
        cell_grad = scratch(self, "cell", before)
        cell_grad[...] = top[0].diff[0]
        grads = scratch(self, "gates", self._gates)
        step_back(self._gates, before, self._squashed, hidden_grad, cell_grad, grads)
        for index, grad in enumerate((cell_grad, grads)):
            if propagate_down[index]:
                bottom[index].diff[...] = grad.reshape(bottom[index].shape)

    def allow_force_backward(self, bottom_index: int) -> bool:
        """Markers have no gradient."""
        return bottom_index != 2
