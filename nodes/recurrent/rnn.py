"""The plain recurrent network."""

from __future__ import annotations

from collections.abc import Sequence

from engine.api import Array, Blob
from nodes.memory import kept, scratch
from nodes.recurrent.recurrent import RecurrentLayer

__all__ = ["RNNLayer"]


class RNNLayer(RecurrentLayer):
    """Plain recurrent network over sequences (Caffe's ``RNNLayer``).

    ``h = tanh(W_xh x + b_h + W_xh_static s + W_hh h_before)`` and ``o = tanh(W_ho h + b_o)`` at each step. Ports and
    carried state: see :class:`~nodes.recurrent.recurrent.RecurrentLayer`; the outputs are ``o``. Parameters, named as
    in Caffe's inner net: ``W_xh (D, inputs)``, ``b_h (D,)``, with a static input ``W_xh_static (D, static inputs)``,
    ``W_hh (D, D)``, ``W_ho (D, D)``, ``b_o (D,)``.
    """

    type = "RNN"

    _outputs: Array = None  # kept: a layer after this one may work in place

    def setup(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Read ``recurrent_param`` and make the parameters."""
        super().setup(bottom, top)
        param = self.layer_param.recurrent_param
        self.fill(self.blobs.add_blob(self._depth, self._depth), param.weight_filler)
        self.fill(self.blobs.add_blob(self._depth), param.bias_filler)

    def run(self, inputs: Array, cont: Array) -> Array:
        """Go through the steps, then compute the outputs of all of them."""
        xp, hidden = self.xp, self._history[0]
        for index in range(inputs.shape[0]):
            self.see_hidden(inputs, cont, index)
            xp.tanh(inputs[index], out=hidden[index + 1])
        outputs = self._outputs = kept(self, self._outputs, inputs)
        flat = outputs.reshape((-1, self._depth))
        xp.matmul(hidden[1:].reshape(flat.shape), self.blobs[-2].data.T, out=flat)
        outputs += self.blobs[-1].data
        xp.tanh(outputs, out=outputs)
        return outputs

    def run_back(self, top_grad: Array, cont: Array, grads: Array) -> None:
        """Compute the gradients of the outputs' weights, then go back through the steps."""
        xp, hidden, outputs = self.xp, self._history[0], self._outputs
        into_outputs = scratch(self, "outputs", grads)
        _through_tanh(top_grad, outputs, into_outputs)
        flat = into_outputs.reshape((-1, self._depth))
        count = len(self.blobs)
        self.learn(count - 2, flat, hidden[1:])
        self.learn(count - 1, flat)
        of_hidden = xp.matmul(flat, self.blobs[-2].data).reshape(grads.shape)
        later: Array | float = 0.0
        for index in reversed(range(grads.shape[0])):
            _through_tanh(of_hidden[index] + later, hidden[index + 1], grads[index])
            later = self.hidden_gradient(grads, cont, index)


def _through_tanh(grad: Array, values: Array, out: Array) -> None:
    """Overwrite ``out`` with the gradient of what went into ``tanh``, from the gradient of the values it gave."""
    out[...] = grad * (1 - values * values)
