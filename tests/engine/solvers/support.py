from __future__ import annotations

from typing import Any

from engine.prototxt import parse
from engine.schema import to_message


def solver_param(text: str) -> Any:
    return to_message(parse(text.encode()).root, "SolverParameter", strict=True)
