"""What the layers that go through sequences have in common: ports, parameters, and the state that they carry."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from engine.api import Array, Blob, Layer
from engine.ops import product
from nodes.memory import kept, scratch

__all__ = ["RecurrentLayer"]

SEQUENCES, CONTINUES, STATIC = 0, 1, 2  # bottoms; the states follow


class RecurrentLayer(Layer):
    """Base of the layers that go through ``N`` sequences in ``T`` steps (Caffe's ``RecurrentLayer``).

    Bottoms: sequences ``(T, N, ...)``; markers ``(T, N)``, 0 where a sequence begins and 1 where it goes on; optionally
    a static input ``(N, ...)``, which every step sees; with ``expose_hidden`` the states before the first step, each
    ``(1, N, D)``. Tops: outputs ``(T, N, D)``; with ``expose_hidden`` the states after the last step. ``D`` is
    ``num_output``.

    Without ``expose_hidden`` a pass goes on from where the pass before it ended, unless its markers say otherwise.
    Where the number of sequences changed, those that are still there go on and new ones start at 0. As in Caffe no
    gradient passes from one forward pass to the one before it: exposed states that go in have gradient 0, and the
    gradient of those that come out is not read.

    First parameters, for ``G`` gates: ``W_x (G D, inputs)``, ``b (G D,)``, with a static input
    ``W_x_static (G D, static inputs)``, then ``W_h (G D, D)``, which multiplies the hidden state. The
    number of steps may change from pass to pass, which Caffe refuses; ``debug_info`` has no effect.
    """

    #: Names of the states in messages, the hidden state first.
    states: ClassVar[tuple[str, ...]] = ("hidden state",)
    #: Sums of ``num_output`` inputs that each step makes.
    gates: ClassVar[int] = 1

    _depth: int
    _exposed: bool
    _static: bool
    _history: list[Array]  # for each state (T + 1, N, D): before the first step, after each step
    _carried: list[Array]  # for each state (N, D); empty before the first pass
    _inputs: Array = None  # (T, N, G D): the sums, which the steps may overwrite
    _hidden: Array = None  # (T, N, D): the hidden state that each step sees

    # -- ports and parameters --------------------------------------------------------------------------------------

    def setup(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Read ``recurrent_param`` and make the parameters."""
        param = self.layer_param.recurrent_param
        self._depth, self._exposed = int(param.num_output), bool(param.expose_hidden)
        if self._depth < 1:
            self.fail(
                f"expected num_output of 1 or more, got {self._depth}.", next_step="Set recurrent_param num_output."
            )
        self._history = [None] * len(self.states)
        self._carried = []
        self._check_ports(bottom, top)
        self._check_bottoms(bottom)
        rows = self.gates * self._depth
        self.fill(self.blobs.add_blob(rows, product(bottom[SEQUENCES].shape[2:])), param.weight_filler)
        self.fill(self.blobs.add_blob(rows), param.bias_filler)
        if self._static:
            self.fill(self.blobs.add_blob(rows, product(bottom[STATIC].shape[1:])), param.weight_filler)
        self.fill(self.blobs.add_blob(rows, self._depth), param.weight_filler)

    def _check_ports(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        exposed = len(self.states) if self._exposed else 0
        says = f"expose_hidden: {str(self._exposed).lower()}"
        least = STATIC + exposed
        if len(bottom) not in (least, least + 1):
            self.fail(
                f"expected {least} bottoms, or {least + 1} with a static input, at {says}, got {len(bottom)}.",
                next_step="Connect sequences, markers, the static input if any, and the exposed states.",
            )
        if len(top) != 1 + exposed:
            self.fail(
                f"expected {1 + exposed} tops at {says}, got {len(top)}.",
                next_step="Give it a top for its outputs and, with expose_hidden, one for each state.",
            )
        self._static = len(bottom) > least

    def _check_bottoms(self, bottom: Sequence[Blob]) -> None:
        x, cont = bottom[SEQUENCES], bottom[CONTINUES]
        if x.axes < 3:
            self.fail_shape(f"expected sequences (T, N, ...), got shape {x.shape} from blob '{x.name}'.", bottom=0)
        if cont.shape != x.shape[:2]:
            self.fail_shape(
                f"expected markers of shape {x.shape[:2]}, one for each step of each sequence of blob '{x.name}', got "
                f"{cont.shape} from blob '{cont.name}'.",
                bottom=CONTINUES,
            )
        count = x.shape[1]
        if self._static and (bottom[STATIC].axes < 2 or bottom[STATIC].shape[0] != count):
            self.fail_shape(
                f"expected a static input ({count}, ...), a row for each sequence, got shape {bottom[STATIC].shape} "
                f"from blob '{bottom[STATIC].name}'.",
                bottom=STATIC,
            )
        for index in range(self._first_state, len(bottom)):
            if bottom[index].shape != (1, count, self._depth):
                self.fail_shape(
                    f"expected a {self.states[index - self._first_state]} of shape {(1, count, self._depth)}, got "
                    f"{bottom[index].shape} from blob '{bottom[index].name}'.",
                    bottom=index,
                )

    @property
    def _first_state(self) -> int:
        return STATIC + self._static

    @property
    def _hidden_weight(self) -> int:
        return 2 + self._static

    def reshape(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Check the bottoms; steps and sequences may be other in number than before."""
        self._check_bottoms(bottom)
        for port, weight, start in ((SEQUENCES, 0, 2), (STATIC, 2, 1))[: 1 + self._static]:
            expected = self.blobs[weight].shape[1]
            found = product(bottom[port].shape[start:])
            if found != expected:
                self.fail_shape(
                    f"expected {expected} elements from axis {start} on (the size of its weights), got {found}: blob "
                    f"'{bottom[port].name}' has shape {bottom[port].shape}.",
                    bottom=port,
                )
        steps, count = bottom[CONTINUES].shape
        top[0].reshape(steps, count, self._depth)
        for blob in top[1:]:
            blob.reshape(1, count, self._depth)

    def allow_force_backward(self, bottom_index: int) -> bool:
        """Markers have no gradient."""
        return bottom_index != CONTINUES

    # -- forward -----------------------------------------------------------------------------------------------------

    def forward(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Weigh the inputs of all steps at once, then go through the steps."""
        cont = bottom[CONTINUES].data
        steps, count = cont.shape
        x = bottom[SEQUENCES].data
        inputs = self._inputs = kept(self, self._inputs, x, (steps, count, self.gates * self._depth))
        self._hidden = kept(self, self._hidden, x, (steps, count, self._depth))
        self._history = [kept(self, old, x, (steps + 1, count, self._depth)) for old in self._history]
        self._begin(bottom)
        self._weigh(bottom, inputs)
        top[0].data[...] = self.run(inputs, cont.reshape((steps, count, 1)))
        last = [history[-1] for history in self._history]
        if not self._exposed:
            self._carried = [state.copy() for state in last]
        for blob, state in zip(top[1:], last, strict=False):
            blob.data[0] = state

    def _begin(self, bottom: Sequence[Blob]) -> None:
        """Put the states before the first step where the steps look for them."""
        for index, history in enumerate(self._history):
            first = history[0]
            if self._exposed:
                first[...] = bottom[self._first_state + index].data[0]
                continue
            first[...] = 0
            if self._carried:
                going_on = self._carried[index][: first.shape[0]]
                first[: going_on.shape[0]] = going_on

    def _weigh(self, bottom: Sequence[Blob], inputs: Array) -> None:
        xp = self.xp
        weight = self.blobs[0].data
        flat = bottom[SEQUENCES].data.reshape((-1, weight.shape[1]))
        xp.matmul(flat, weight.T, out=inputs.reshape((-1, weight.shape[0])))
        inputs += self.blobs[1].data
        if self._static:
            weight = self.blobs[2].data
            inputs += xp.matmul(bottom[STATIC].data.reshape((-1, weight.shape[1])), weight.T)

    def run(self, inputs: Array, cont: Array) -> Array:
        """Go through the steps, and return the outputs ``(T, N, D)``; they fill :attr:`_history`.

        Parameters
        ----------
        inputs : array (T, N, G D)
            Weighted inputs of all steps, which may be overwritten.
        cont : array (T, N, 1)
            The markers.
        """
        raise NotImplementedError

    def see_hidden(self, inputs: Array, cont: Array, index: int) -> None:
        """Add to a step's inputs the weighted hidden state of the step before it, where the sequence goes on."""
        seen = self._hidden[index]
        self.xp.multiply(self._history[0][index], cont[index], out=seen)
        inputs[index] += self.xp.matmul(seen, self.blobs[self._hidden_weight].data.T)

    # -- backward ----------------------------------------------------------------------------------------------------

    def backward(self, top: Sequence[Blob], propagate_down: Sequence[bool], bottom: Sequence[Blob]) -> None:
        """Go back through the steps, then compute the gradients of weights and inputs for all steps at once."""
        if propagate_down[CONTINUES]:
            self.fail("markers have no gradient.", bottom=CONTINUES, next_step="Set propagate_down: false for them.")
        grads = scratch(self, "inputs", self._inputs)
        cont = bottom[CONTINUES].data
        self.run_back(top[0].diff, cont.reshape((*cont.shape, 1)), grads)
        flat = grads.reshape((-1, self.gates * self._depth))
        self.learn(0, flat, bottom[SEQUENCES].data)
        self.learn(1, flat)
        self.learn(self._hidden_weight, flat, self._hidden)
        self._give(bottom[SEQUENCES], flat, 0, wanted=propagate_down[SEQUENCES])
        if self._static:
            summed = grads.sum(axis=0)
            self.learn(2, summed, bottom[STATIC].data)
            self._give(bottom[STATIC], summed, 2, wanted=propagate_down[STATIC])
        for index in range(self._first_state, len(bottom)):
            if propagate_down[index]:
                bottom[index].diff[...] = 0

    def run_back(self, top_grad: Array, cont: Array, grads: Array) -> None:
        """Go back through the steps.

        Parameters
        ----------
        top_grad : array (T, N, D)
            Gradients of the outputs.
        cont : array (T, N, 1)
            The markers.
        grads : array (T, N, G D)
            Overwritten with the gradients of the weighted inputs.
        """
        raise NotImplementedError

    def hidden_gradient(self, grads: Array, cont: Array, index: int) -> Array:
        """Return what the gradient of a step's inputs gives for the hidden state of the step before it, ``(N, D)``."""
        return self.xp.matmul(grads[index], self.blobs[self._hidden_weight].data) * cont[index]

    def learn(self, index: int, grads: Array, inputs: Array | None = None) -> None:
        """Add to the gradient of a weight that multiplied ``inputs``, or of a bias.

        Parameters
        ----------
        index : int
            Of the parameter.
        grads : array (rows, outputs)
            Gradients of what the weight gave.
        inputs : array, optional
            What it multiplied, with ``rows`` rows once flattened; omitted for a bias.
        """
        if not self.param_propagate_down[index]:
            return
        grad = self.blobs[index].diff
        if inputs is None:
            grad += grads.sum(axis=0)
        else:
            grad += self.xp.matmul(grads.T, inputs.reshape((-1, grad.shape[1])))

    def _give(self, blob: Blob, grads: Array, weight: int, *, wanted: bool) -> None:
        if wanted:
            matrix = self.blobs[weight].data
            self.xp.matmul(grads, matrix, out=blob.diff.reshape((-1, matrix.shape[1])))

    # -- exact resume ------------------------------------------------------------------------------------------------

    def get_state(self) -> dict[str, Any]:
        """Return the states that the next pass goes on from."""
        return {"carried": [self.backend.to_host(state).tolist() for state in self._carried]}

    def set_state(self, state: dict[str, Any]) -> None:
        """Go on from the states that :meth:`get_state` returned."""
        states = [np.array(rows, self.context.dtype) for rows in state["carried"]]
        fits = all(rows.ndim == 2 and rows.shape[1] == self._depth for rows in states if rows.size)
        if len(states) not in (0, len(self.states)) or not fits:
            self.fail(
                f"expected {len(self.states)} states of {self._depth} values for each sequence, got arrays of shapes "
                f"{[rows.shape for rows in states]}.",
                next_step="Resume with the net that the state was saved from.",
            )
        self._carried = [self.to_backend(rows.reshape((-1, self._depth))) for rows in states]
