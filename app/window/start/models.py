"""The model templates and the examples that come with the program."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path

from engine.resources import resource_path

__all__ = ["EXAMPLES", "Model", "templates"]


@dataclass(frozen=True, slots=True)
class Model:
    """A net to begin with.

    Attributes
    ----------
    name : str
        Of its file or folder.
    title, summary : str
        What is shown: a name, and one sentence.
    """

    name: str
    title: str
    summary: str

    @property
    def template(self) -> Path:
        """The file of a template."""
        return resource_path(f"templates/{self.name}.prototxt")


EXAMPLES = (
    Model("lenet", "LeNet on digits", "Ten handwritten digits; the data are included. Press Train."),
    Model("autoencoder", "Autoencoder", "Squeezes digits to 30 numbers and draws them again."),
)


def templates() -> tuple[Model, ...]:
    """Return the model templates in the order in which they are offered."""
    index = tomllib.loads(resource_path("templates/templates.toml").read_text(encoding="utf-8"))
    return tuple(Model(name, entry["title"], entry["summary"]) for name, entry in index.items())
