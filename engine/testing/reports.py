"""What a gradient check found, as values that can be shown, sent and printed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

__all__ = ["GradientFinding", "GradientReport"]


@dataclass(frozen=True, slots=True)
class GradientFinding:
    """What was found of the gradient of one bottom or parameter, or of one comparison.

    Attributes
    ----------
    target : str
        ``bottom 0``, ``parameter 1``, ``blocked bottoms``, ``backend strict``.
    status : str
        ``right``, ``wrong``, ``kinks`` (nearly every direction crosses one), ``random`` (two passes differ) or
        ``skipped``.
    detail : str
        One sentence; empty where all is right.
    error : float
        Largest difference of directional derivatives, relative to the larger one, or absolute below 1.
    directions : int
        How many were compared.
    element : tuple of int
        The element at fault; empty where it is not known.
    analytic, numeric : float
        Its derivative as the layer says, and by finite differences.
    """

    target: str
    status: str
    detail: str = ""
    error: float = 0.0
    directions: int = 0
    element: tuple[int, ...] = ()
    analytic: float = 0.0
    numeric: float = 0.0

    @property
    def failed(self) -> bool:
        """Whether the gradient cannot be relied on."""
        return self.status in ("wrong", "kinks", "random")

    def __str__(self) -> str:
        if self.status == "right":
            measured = f" ({self.directions} directions, largest error {self.error:.1e})" if self.directions else ""
            return f"{self.target}: right{measured}"
        return f"{self.target}: {self.status}: {self.detail}"


@dataclass(frozen=True, slots=True)
class GradientReport:
    """What a gradient check of a layer found.

    Attributes
    ----------
    layer : str
        Module and class, or the layer's name.
    findings : tuple of GradientFinding
        In the order in which they were made.
    warnings : tuple of str
        What is no fault of the gradient but will be one elsewhere.
    """

    layer: str
    findings: tuple[GradientFinding, ...]
    warnings: tuple[str, ...] = ()

    @property
    def passed(self) -> bool:
        """Whether nothing is at fault."""
        return not any(finding.failed for finding in self.findings)

    @property
    def summary(self) -> str:
        """The outcome in one sentence."""
        wrong = [finding.target for finding in self.findings if finding.failed]
        if wrong:
            return f"The gradient of '{self.layer}' is not right: {', '.join(wrong)}."
        if not any(finding.directions for finding in self.findings):
            return f"'{self.layer}' has no gradient to check."
        return f"The gradient of '{self.layer}' is right."

    def lines(self) -> list[str]:
        """Return the findings and warnings, one a line."""
        return [*map(str, self.findings), *(f"warning: {warning}" for warning in self.warnings)]

    def to_json(self) -> dict[str, Any]:
        """Return the report as JSON values."""
        return {
            "layer": self.layer,
            "passed": self.passed,
            "findings": [{**asdict(finding), "element": list(finding.element)} for finding in self.findings],
            "warnings": list(self.warnings),
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> GradientReport:
        """Return the report that :meth:`to_json` described."""
        findings = (GradientFinding(**{**each, "element": tuple(each["element"])}) for each in value["findings"])
        return cls(value["layer"], tuple(findings), tuple(value["warnings"]))
