"""Gradient checks of Python layers, named as nets name them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from engine.layer import Phase
from engine.registry import LayerRegistry
from engine.schema.text import quote, to_text
from engine.testing.case import LayerCase, Values
from engine.testing.gradcheck import check_layer_gradients
from engine.testing.reports import GradientReport

__all__ = ["case_of_message", "check_python_layer", "python_layer_case", "test_gradient_for_python_layer"]

# What a layer has to do with its net, and not with what it computes.
_OF_THE_NET = (
    "name",
    "bottom",
    "top",
    "include",
    "exclude",
    "loss_weight",
    "propagate_down",
    "param",
    "blobs",
    "phase",
)


def python_layer_case(
    module: str,
    layer: str,
    bottoms: Sequence[Values],
    *,
    tops: int = 1,
    param_str: str = "",
    propagate_down: Sequence[bool] | None = None,
    ungraded_tops: Sequence[int] = (),
    phase: Phase = Phase.TRAIN,
) -> LayerCase:
    """Return the case of a Python layer.

    Parameters
    ----------
    module, layer : str
        As in ``python_param``; the layer may be a class or a function.
    bottoms : sequence of array
        Values of its bottoms.
    tops : int
        Number of tops.
    param_str : str
        The layer's parameter text.
    propagate_down : sequence of bool, optional
        For each bottom, whether it has a gradient; all by default.
    ungraded_tops : sequence of int
        Tops whose gradient the layer does not read.
    phase : Phase
        What ``self.phase`` is.
    """
    blocked = [index for index, flag in enumerate(propagate_down or ()) if not flag]
    text = f'type: "Python" python_param {{ module: {quote(module)} layer: {quote(layer)}'
    text += f" param_str: {quote(param_str)} }}" if param_str else " }"
    return LayerCase(
        _with_flags(text, len(bottoms), blocked),
        bottoms,
        tops=tops,
        phase=phase,
        no_gradient=blocked,
        ungraded_tops=ungraded_tops,
        name=layer,
    )


def case_of_message(
    message: Any,
    bottoms: Sequence[Values],
    *,
    phase: Phase,
    blocked: Sequence[int] = (),
    registry: LayerRegistry | None,
) -> LayerCase:
    """Return the case of a layer as a net has it.

    Parameters
    ----------
    message : LayerParameter
        The layer; its ``propagate_down`` says which bottoms have no gradient, beside ``blocked``.
    bottoms : sequence of array
        Values of its bottoms.
    phase : Phase
        What the net is built for.
    blocked : sequence of int
        More bottoms without a gradient.
    registry : LayerRegistry, optional
        Where its type is found.
    """
    none = {index for index, flag in enumerate(message.propagate_down) if not flag} | set(blocked)
    bare = type(message)()
    bare.CopyFrom(message)
    in_place = bool(message.top and message.bottom and message.top[0] == message.bottom[0])
    for field in _OF_THE_NET:
        bare.ClearField(field)
    return LayerCase(
        _with_flags(to_text(bare), len(bottoms), sorted(none)),
        bottoms,
        tops=len(message.top),
        in_place=in_place,
        phase=phase,
        no_gradient=sorted(none),
        registry=registry,
        name=message.name or message.type,
    )


def _with_flags(text: str, bottoms: int, blocked: Sequence[int]) -> str:
    if not blocked:
        return text
    return text + "".join(f" propagate_down: {str(index not in blocked).lower()}" for index in range(bottoms))


def check_python_layer(
    case: LayerCase, name: str, *, base_dirs: Sequence[Path] = (), **settings: Any
) -> GradientReport:
    """Check the gradients of a case; see :func:`engine.testing.check_layer_gradients` for the settings."""
    return check_layer_gradients(case, layer=name, base_dirs=tuple(base_dirs) or (Path.cwd(),), **settings)


def test_gradient_for_python_layer(
    input_names_and_values: Sequence[tuple[str, npt.ArrayLike]],
    output_names: Sequence[str],
    py_module: str,
    py_layer: str,
    param_str: str | None = None,
    propagate_down: Sequence[bool] | None = None,
    bp_top: Sequence[bool] | None = None,
) -> bool:
    """Check the gradients of a Python layer: the tool that layers for Caffe have long been tested with.

    Parameters
    ----------
    input_names_and_values : sequence of (str, array)
        Names and values of the bottoms.
    output_names : sequence of str
        Names of the tops.
    py_module, py_layer : str
        As in ``python_param``; the module is looked for in the working directory and on ``sys.path``.
    param_str : str, optional
        The layer's parameter text.
    propagate_down : sequence of bool, optional
        For each bottom, whether its gradient is checked; all by default.
    bp_top : sequence of bool, optional
        For each top, whether it has a gradient; all by default.

    Returns
    -------
    bool
        True.

    Raises
    ------
    AssertionError
        If a gradient is not right; says which, and where.
    ValueError
        If there are not as many flags as bottoms or tops.
    """
    names = [name for name, _ in input_names_and_values]
    for what, flags, count in (("propagate_down", propagate_down, len(names)), ("bp_top", bp_top, len(output_names))):
        if flags is not None and len(flags) != count:
            raise ValueError(f"{what}: expected {count} values, got {len(flags)}.")
    case = python_layer_case(
        py_module,
        py_layer,
        [np.asarray(values, np.float64) for _, values in input_names_and_values],
        tops=len(output_names),
        param_str=param_str or "",
        propagate_down=propagate_down,
        ungraded_tops=[index for index, flag in enumerate(bp_top or ()) if not flag],
    )
    report = check_python_layer(case, f"{py_module}.{py_layer}")
    called = dict(enumerate(names))
    faults = [f"{_called(finding.target, called)}: {finding.detail}" for finding in report.findings if finding.failed]
    assert report.passed, f"Layer {report.layer}: " + " ".join(faults)
    return True


test_gradient_for_python_layer.__test__ = False  # type: ignore[attr-defined]  # no test by itself, whatever its name


def _called(target: str, names: dict[int, str]) -> str:
    kind, _, index = target.partition(" ")
    return f"bottom '{names[int(index)]}'" if kind == "bottom" else target
