"""Solvers with something wrong, and each mended."""

from __future__ import annotations

SOLVER_CASES = [
    ("solver-max-iter", 'net: "both.prototxt" max_iter: 0', 'net: "both.prototxt"', "warning"),
    ("solver-net-missing", 'net: "gone.prototxt"', 'net: "both.prototxt"', "error"),
    ("solver-net-other", 'net: "deploy.prototxt"', 'net: "both.prototxt"', "warning"),
    ("solver-train-phase", 'net: "deploy.prototxt"', 'net: "both.prototxt"', "warning"),
    ("solver-test-phase", 'net: "train.prototxt" test_iter: 1', 'net: "both.prototxt" test_iter: 1', "error"),
    ("solver-test-iter", 'net: "both.prototxt" test_interval: 5', 'net: "both.prototxt"', "warning"),
    (
        "solver-regularization",
        'net: "both.prototxt" regularization_type: "L3"',
        'net: "both.prototxt" regularization_type: "L1"',
        "error",
    ),
    (
        "solver-steps",
        'net: "both.prototxt" stepvalue: [1, 9, 5]',
        'net: "both.prototxt" stepvalue: [1, 5, 9]',
        "warning",
    ),
    ("solver-policy", 'net: "both.prototxt" lr_policy: "stepp"', 'net: "both.prototxt" lr_policy: "fixed"', "error"),
    (
        "solver-stepsize",
        'net: "both.prototxt" lr_policy: "step" gamma: 0.1',
        'net: "both.prototxt" lr_policy: "step" gamma: 0.1 stepsize: 5',
        "error",
    ),
    (
        "solver-stepvalue",
        'net: "both.prototxt" lr_policy: "multistep" gamma: 0.1',
        'net: "both.prototxt" lr_policy: "multistep" gamma: 0.1 stepvalue: [5, 8]',
        "warning",
    ),
    *(
        (
            "solver-gamma",
            f'net: "both.prototxt" lr_policy: "{policy}" {steps}',
            f'net: "both.prototxt" lr_policy: "{policy}" {steps} gamma: 0.5',
            "warning",
        )
        for policy, steps in (("step", "stepsize: 5"), ("multistep", "stepvalue: 5"), ("exp", ""))
    ),
    (
        "solver-power",
        'net: "both.prototxt" lr_policy: "poly"',
        'net: "both.prototxt" lr_policy: "poly" power: 0.9',
        "warning",
    ),
    (
        "solver-weights-missing",
        'net: "both.prototxt" weights: "train.prototxt, gone.caffemodel"',
        'net: "both.prototxt" weights: "train.prototxt"',
        "error",
    ),
]


def complete(solver: str) -> str:
    """A solver that says how long it trains."""
    return solver if "max_iter" in solver else f"{solver} max_iter: 1"
