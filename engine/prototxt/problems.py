"""What is wrong with a text, and where."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Fault", "ParseProblem"]


@dataclass(frozen=True, slots=True)
class Fault:
    """A mistake inside one item at the top of a file; it moves with the item.

    Attributes
    ----------
    offset : int
        Place in the item's text, in characters.
    message : str
        What was expected and what came, in one sentence that names the layer.
    hint : str
        A guess at the cause and the next step.
    """

    offset: int
    message: str
    hint: str


@dataclass(frozen=True, slots=True)
class ParseProblem:
    """A mistake in the text of a file.

    Attributes
    ----------
    line, column : int
        1-based place.
    offset : int
        Place in characters from the start of the text.
    message : str
        What was expected and what came, in one sentence that names the layer.
    hint : str
        A guess at the cause and the next step.
    context : str
        The line of text it is about.
    """

    line: int
    column: int
    offset: int
    message: str
    hint: str
    context: str
