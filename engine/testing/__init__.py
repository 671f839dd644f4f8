"""Checks that any layer should pass, for our tests and for plugin authors.

::

    from engine.testing import LayerCase, check_layer

    def test_relu():
        check_layer(LayerCase('type: "ReLU"', [rng.normal(size=(4, 3))]))
"""

from engine.testing.case import LayerCase, Outcome
from engine.testing.checks import (
    check_accumulation,
    check_backends,
    check_layer,
    check_plan,
    check_poison,
    check_propagate_down,
    check_two_passes,
)
from engine.testing.gradcheck import check_layer_gradients
from engine.testing.gradients import check_gradients
from engine.testing.python_layers import (
    check_python_layer,
    python_layer_case,
    test_gradient_for_python_layer,
)
from engine.testing.reports import GradientFinding, GradientReport

__all__ = [
    "GradientFinding",
    "GradientReport",
    "LayerCase",
    "Outcome",
    "check_accumulation",
    "check_backends",
    "check_gradients",
    "check_layer",
    "check_layer_gradients",
    "check_plan",
    "check_poison",
    "check_propagate_down",
    "check_python_layer",
    "check_two_passes",
    "python_layer_case",
    "test_gradient_for_python_layer",
]
