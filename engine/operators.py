"""Functions as layers, in Caffe2's manner: what a function says of itself beside its code.

A function ``f(inputs, outputs)`` of a plugin module is a layer without more ado; its gradient is the module's
``grad_f``. The decorators here are for what that leaves open.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeGuard, TypeVar

__all__ = ["OperatorSettings", "gradient_of", "is_operator", "operator", "settings_of", "takes_workspace"]

F = TypeVar("F", bound=Callable[..., Any])

_ATTRIBUTE = "__netcanvas_operator__"


@dataclass(frozen=True, slots=True)
class OperatorSettings:
    """What is known of a function that is a layer.

    Attributes
    ----------
    gradient : callable or None
        Its gradient function.
    shapes : callable or None
        Takes the shapes of the inputs, returns those of the outputs.
    dtypes : sequence of dtype, or None
        Types of the outputs, beside ``shapes``; the net's for None.
    pass_workspace : bool or None
        Whether the third argument is the workspace; None for what the signature says.
    builder : bool
        Whether it is no operator but makes one.
    grad_output_indices, grad_input_indices : sequence of int, or None
        Which outputs' gradients the gradient function reads, and which inputs' it computes; all for None.
    """

    gradient: Callable[..., Any] | None = None
    shapes: Callable[..., Any] | None = None
    dtypes: Sequence[Any] | None = None
    pass_workspace: bool | None = None
    builder: bool = False
    grad_output_indices: Sequence[int] | None = None
    grad_input_indices: Sequence[int] | None = None


def settings_of(function: Callable[..., Any]) -> OperatorSettings:
    """Return what the decorators were told of a function."""
    found = getattr(function, _ATTRIBUTE, None)
    return found if isinstance(found, OperatorSettings) else OperatorSettings()


def operator(
    *,
    gradient: Callable[..., Any] | None = None,
    shapes: Callable[..., Any] | None = None,
    dtypes: Sequence[Any] | None = None,
    pass_workspace: bool | None = None,
    builder: bool = False,
    grad_output_indices: Sequence[int] | None = None,
    grad_input_indices: Sequence[int] | None = None,
) -> Callable[[F], F]:
    """Say of a function how it is a layer.

    Parameters
    ----------
    gradient : callable, optional
        Computes the gradient: ``gradient(inputs, outputs)``, where ``inputs`` are the function's inputs, its outputs
        and the gradients of its outputs, and ``outputs`` the gradients of its inputs.
    shapes : callable, optional
        ``shapes(*input_shapes)`` returns the shape of each output; without it, they come from one call on zeros.
    dtypes : sequence of dtype, optional
        Types of the outputs where ``shapes`` is given; those of the net by default.
    pass_workspace : bool, optional
        Whether the function gets a third argument, the workspace; without it, the number of its parameters says so.
    builder : bool
        The function is called once for each layer, with its ``param_str``, and returns the operator, or a pair of the
        operator and its gradient. What it keeps is that layer's own.
    grad_output_indices : sequence of int, optional
        Outputs whose gradients the gradient function is given; all by default.
    grad_input_indices : sequence of int, optional
        Inputs whose gradients it computes; all by default.
    """
    settings = OperatorSettings(
        gradient, shapes, dtypes, pass_workspace, builder, grad_output_indices, grad_input_indices
    )

    def mark(function: F) -> F:
        setattr(function, _ATTRIBUTE, settings)
        return function

    return mark


def gradient_of(function: Callable[..., Any]) -> Callable[[F], F]:
    """Make the function that follows the gradient of ``function``; see :func:`operator` for its arguments."""

    def mark(gradient: F) -> F:
        setattr(function, _ATTRIBUTE, replace(settings_of(function), gradient=gradient))
        return gradient

    return mark


def is_operator(value: object) -> TypeGuard[Callable[..., Any]]:
    """Whether a module's attribute can be a layer: a function that takes inputs and outputs."""
    if inspect.isclass(value) or not callable(value):
        return False
    if hasattr(value, _ATTRIBUTE):
        return True
    return _takes(value, 2) or _takes(value, 3)


def takes_workspace(function: Callable[..., Any], declared: bool | None = None) -> bool:
    """Whether a function wants the workspace as its third argument."""
    return declared if declared is not None else not _takes(function, 2) and _takes(function, 3)


def _takes(function: Callable[..., Any], count: int) -> bool:
    """Whether a function can be called with ``count`` arguments by position."""
    try:
        inspect.signature(function).bind(*range(count))
    except TypeError:
        return False
    except ValueError:  # built-in code may have no signature
        return count == 2
    return True
