"""Rules about a solver's learning rate: policies that lack a setting, or that Caffe's defaults make still or nought."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from difflib import get_close_matches

from engine.diagnostics.records import Diagnostic, QuickFix, Severity
from engine.graph import OpGraph
from engine.graph.binding import scalars
from engine.prototxt import Field, Message
from engine.solvers.policies import POLICIES

__all__ = ["check_policy_settings"]

#: Where a rate that drops twice does so, as parts of the whole training.
_DROPS = (0.5, 0.75)


def check_policy_settings(root: Message) -> Iterator[Diagnostic]:
    """Find a learning rate policy that no run takes, or whose rate never falls or is 0 from its first drop on.

    Parameters
    ----------
    root : Message
        The solver, in text that can be read. Settings that are not written have Caffe's defaults, which are 0 for
        ``gamma``, ``power`` and ``stepsize``.
    """
    policy, field = root.text_of("lr_policy"), root.get("lr_policy")
    if not policy or field is None:
        return
    gamma, power, stepsize = (_number(root, name) for name in ("gamma", "power", "stepsize"))
    drops = bool(scalars(root, "stepvalue"))
    told = _Teller(field)
    if policy not in POLICIES:
        likely = get_close_matches(policy, POLICIES, n=1)
        message = f"Solver: expected an lr_policy among {', '.join(POLICIES)}, got '{policy}'."
        fixes = [QuickFix(f"Make it {name}", _writing("lr_policy", f'"{name}"')) for name in likely]
        yield told("solver-policy", "error", message, "Correct lr_policy.", "lr_policy", *fixes)
    elif policy == "step" and stepsize is not None and stepsize < 1:
        message = f"Solver: expected a stepsize of at least 1 with lr_policy 'step', got {stepsize:g}."
        step = "Set stepsize to the number of iterations between two drops of the rate."
        every = max(1, int(_number(root, "max_iter") or 1) // 3)
        fix = QuickFix(f"Drop the rate every {every} iterations", _writing("stepsize", str(every)))
        yield told("solver-stepsize", "error", message, step, "stepsize", fix)
    elif policy == "multistep" and not drops:
        message = "Solver: policy 'multistep' has no stepvalue, so the rate never drops."
        step = "Set stepvalue to the iterations at which it drops."
        at = sorted({max(1, int((_number(root, "max_iter") or 1) * part)) for part in _DROPS})
        fix = QuickFix(f"Drop the rate at {' and '.join(map(str, at))}", _appending("stepvalue", [*map(str, at)]))
        yield told("solver-stepvalue", "warning", message, step, "stepvalue", fix)
    if policy in ("step", "multistep", "exp") and gamma == 0 and (policy != "multistep" or drops):
        when = "after the first iteration" if policy == "exp" else "from the first drop on"
        message = f"Solver: gamma is 0 with lr_policy '{policy}', so the rate is 0 {when}."
        step = "Set gamma to what the rate is multiplied with" + (" in each iteration." if policy == "exp" else ".")
        value, words = ("0.999", "Lose a thousandth each time") if policy == "exp" else ("0.1", "Drop to a tenth")
        yield told("solver-gamma", "warning", message, step, "gamma", QuickFix(words, _writing("gamma", value)))
    if policy == "poly" and power == 0:
        message = "Solver: power is 0 with lr_policy 'poly', so the rate stays as it is."
        step = "Set power: 1 falls in a straight line, more falls faster at first."
        fix = QuickFix("Fall in a straight line", _writing("power", "1"))
        yield told("solver-power", "warning", message, step, "power", fix)


class _Teller:
    """Makes diagnostics that stand at the policy, about a field that may not be written."""

    def __init__(self, at: Field) -> None:
        self._line, self._column = at.line, at.column

    def __call__(
        self, code: str, severity: Severity, message: str, step: str, field: str, *fixes: QuickFix
    ) -> Diagnostic:
        first = fixes[0] if fixes else None
        return Diagnostic(code, severity, message, self._line, self._column, None, (field,), step, first)


def _number(root: Message, name: str) -> float | None:
    """Return the value of a setting, 0 where it is not written, None where it is no number."""
    values = scalars(root, name)
    try:
        return float(values[-1].text) if values else 0.0
    except ValueError:
        return None


def _writing(name: str, text: str) -> Callable[[OpGraph], None]:
    return lambda target: target.set_field(None, (name,), text)


def _appending(name: str, texts: list[str]) -> Callable[[OpGraph], None]:
    def append(target: OpGraph) -> None:
        for text in texts:
            target.append_field(None, (name,), text)

    return append
