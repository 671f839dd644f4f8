"""Functions as layers: ``f(inputs, outputs)`` of a plugin module is a node, in Caffe2's manner."""

from __future__ import annotations

import inspect
import logging
from collections.abc import Callable, Sequence
from dataclasses import replace
from types import ModuleType
from typing import Any, NoReturn

import numpy as np

from engine.blob import Blob
from engine.errors import LayerError
from engine.layer import Layer
from engine.operators import OperatorSettings, is_operator, settings_of, takes_workspace
from engine.plugins.tensors import (
    GradientTensor,
    InputTensor,
    OperatorWorkspace,
    OutputTensor,
    WorkspaceUnknownError,
)

__all__ = ["FunctionLayer"]

_log = logging.getLogger("netcanvas.plugins")


class FunctionLayer(Layer):
    """A layer whose forward pass is a function, and whose backward pass is another.

    The shapes of the tops come from one call on zeros whenever the bottoms change, unless the function declares them
    with :func:`engine.operators.operator`. Values keep the type that the function gives them.

    Parameters
    ----------
    function : callable
        The module's function, or what makes one.
    module : module
        Where its gradient is looked for, as ``grad_<name>``.
    name : str
        The function's name in the module.
    """

    type = "Python"
    host_arrays = True
    any_dtype = True

    def __init__(self, function: Callable[..., Any], module: ModuleType, name: str) -> None:
        self.function = function
        self._module = module
        self._function_name = name
        self._settings = self._complete(settings_of(function))
        self._signature: object = None
        self._told = False

    def _complete(self, settings: OperatorSettings) -> OperatorSettings:
        gradient = settings.gradient or getattr(self._module, f"grad_{self._function_name}", None)
        return replace(settings, gradient=gradient if is_operator(gradient) else None)

    @property
    def source_file(self) -> str:
        """The file of the function; empty where there is none."""
        try:
            return inspect.getfile(inspect.unwrap(self.function))
        except TypeError:
            return getattr(self._module, "__file__", None) or ""

    def _netcanvas_code(self) -> str:
        return f"function {self._module.__name__}.{self._function_name}"

    def _netcanvas_module(self) -> str:
        return self._module.__name__

    def _netcanvas_hint(self, method: str) -> str:
        if method != "reshape" or self._settings.shapes is not None:
            return ""
        return "Its shapes come from a call on zeros; @operator(shapes=...) declares them where it cannot take these."

    def _netcanvas_bound(self) -> None:
        settings = self._settings
        self._workspace = OperatorWorkspace(self.context.blobs, shapes_only=self.context.shapes_only)
        self._take(self.function, settings.gradient)

    def _take(self, forward: Callable[..., Any], backward: Callable[..., Any] | None) -> None:
        self._forward, self._backward = forward, backward
        self._forward_looks = takes_workspace(forward, self._settings.pass_workspace)
        self._backward_looks = backward is not None and takes_workspace(backward)

    def setup(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Let a builder make the operator."""
        if self._settings.builder:
            built = self.function(self.layer_param.python_param.param_str)
            pair = built if isinstance(built, tuple) else (built, None)
            made = settings_of(pair[0])
            if not is_operator(pair[0]):
                self.fail(f"expected the builder to return a function of inputs and outputs, got {built!r}.")
            self._take(pair[0], pair[1] or made.gradient or self._settings.gradient)
            self._settings = replace(
                self._settings, shapes=self._settings.shapes or made.shapes, dtypes=self._settings.dtypes or made.dtypes
            )

    def reshape(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Give the tops shape and type, where the bottoms' have changed."""
        signature = tuple((blob.shape, blob.dtype) for blob in bottom)
        if signature == self._signature:
            return
        if self._settings.shapes is not None:
            self._declared(self._settings.shapes(*(blob.shape for blob in bottom)), top)
        else:
            self._try(bottom, top)
        self._signature = signature

    def _declared(self, shapes: Any, top: Sequence[Blob]) -> None:
        given = [shapes] if len(top) == 1 and all(isinstance(dim, int | np.integer) for dim in shapes) else list(shapes)
        if len(given) != len(top):
            self.fail(f"expected a shape for each of its {len(top)} tops from 'shapes', got {given}.")
        dtypes = self._settings.dtypes or [self.context.dtype] * len(top)
        for blob, shape, dtype in zip(top, given, dtypes, strict=True):
            blob.retype(dtype)
            blob.reshape(tuple(shape))

    def _try(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Call the function on zeros, and give the tops what its outputs have."""
        shapes_only = self.context.shapes_only
        try:
            found = self._outcome([np.zeros(blob.shape, blob.dtype) for blob in bottom], top)
        except WorkspaceUnknownError:
            return
        except (IndexError, TypeError):
            if not shapes_only:
                raise
            # by itself, a layer is not told what type its bottoms have; indices are whole numbers
            found = self._outcome([np.zeros(blob.shape, np.int64) for blob in bottom], top)
        for index, (blob, made) in enumerate(zip(top, found, strict=True)):
            if any(blob is other for other in bottom):
                if made.shape != blob.shape:
                    self.fail(f"works in place on shape {blob.shape} and made {made.shape}.", top=index)
                continue
            blob.retype(made.dtype)
            blob.reshape(made.shape)

    def _outcome(self, arrays: list[Any], top: Sequence[Blob]) -> list[Blob]:
        made = [Blob((), dtype=self.context.dtype, name=blob.name) for blob in top]
        outputs = [
            OutputTensor(blob, index, self.context.dtype, shaped=False, settled=False)
            for index, blob in enumerate(made)
        ]
        self._call([InputTensor(array) for array in arrays], outputs)
        self._check(outputs)
        return made

    def _call(self, inputs: Sequence[Any], outputs: Sequence[Any]) -> None:
        if self._forward_looks:
            self._forward(inputs, outputs, self._workspace)
        else:
            self._forward(inputs, outputs)

    def _check(self, outputs: Sequence[OutputTensor]) -> None:
        for index, output in enumerate(outputs):
            if not output.shaped:
                self.fail(
                    "the function gave it no value.",
                    top=index,
                    next_step=f"Call outputs[{index}].feed(array), or reshape(shape) and write its data.",
                )

    def forward(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Call the function."""
        declared = self._settings.shapes is not None
        outputs = [
            OutputTensor(
                blob,
                index,
                self.context.dtype,
                shaped=declared or any(blob is other for other in bottom),
                settled=True,
            )
            for index, blob in enumerate(top)
        ]
        self._call([InputTensor(blob.data) for blob in bottom], outputs)
        self._check(outputs)

    def backward(self, top: Sequence[Blob], propagate_down: Sequence[bool], bottom: Sequence[Blob]) -> None:
        """Call the gradient function with inputs, outputs and gradients of outputs, in this order."""
        backward, settings = self._backward, self._settings
        if backward is None:
            self._fail_gradient()
        read = range(len(top)) if settings.grad_output_indices is None else settings.grad_output_indices
        computed = range(len(bottom)) if settings.grad_input_indices is None else settings.grad_input_indices
        arrays = [blob.data for blob in (*bottom, *top)] + [top[index].diff for index in read]
        in_place = {id(blob) for blob in top}
        gradients = []
        for index in computed:
            blob = bottom[index]
            own = propagate_down[index] and id(blob) not in in_place
            gradients.append(GradientTensor(blob.diff if own else np.zeros_like(blob.diff), index))
        inputs = [InputTensor(array) for array in arrays]
        if self._backward_looks:
            backward(inputs, gradients, self._workspace)
        else:
            backward(inputs, gradients)
        for index, gradient in zip(computed, gradients, strict=True):
            if not propagate_down[index]:
                continue
            if not gradient.written:
                self._tell_unwritten(index)
                gradient.data[...] = 0
            if id(bottom[index]) in in_place:  # its gradient was read until now
                bottom[index].diff[...] = gradient.data
        for index, blob in enumerate(bottom):
            if propagate_down[index] and index not in computed:
                blob.diff[...] = 0

    def _fail_gradient(self) -> NoReturn:
        name = self._function_name
        raise LayerError(
            self.name,
            "Python",
            f"function '{name}' has no gradient, and one is wanted.",
            next_step=f"Define grad_{name}(inputs, outputs) in its module, or write propagate_down: false.",
        )

    def _tell_unwritten(self, index: int) -> None:
        if not self._told:
            self._told = True
            _log.warning(
                "Layer '%s' (Python): the gradient function of '%s' writes no gradient for input %d; zeros are taken.",
                self.name,
                self._function_name,
                index,
            )

    def allow_force_backward(self, bottom_index: int) -> bool:
        """Whether there is a gradient for the bottom."""
        computed = self._settings.grad_input_indices
        return self._backward is not None and (computed is None or bottom_index in computed)
