"""What the palette offers for an open net: layer types, and the Python layers of its plugins."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from app.palette.templates import template_entries
from engine.prototxt import quote
from engine.registry import LayerInfo

if TYPE_CHECKING:
    from app.document import Document
    from engine.plugins import PythonLayerInfo

__all__ = ["NEW_LAYER", "PythonEntry", "kind_of", "palette_entries", "python_entry", "python_kind"]

#: What the palette hands on where a new Python layer shall be made.
NEW_LAYER = "new:python"

_PREFIX = "python:"


@dataclass(frozen=True, slots=True)
class PythonEntry(LayerInfo):
    """A Python layer as the palette shows it: under the name of its class.

    Attributes
    ----------
    kind : str
        What the palette hands on when it is chosen; see :func:`python_entry`.
    """

    kind: str = ""


def kind_of(entry: object) -> str:
    """Return what the palette hands on for an entry: a layer type, or which Python layer is meant."""
    return str(getattr(entry, "kind", "") or getattr(entry, "type", ""))


def palette_entries(document: Document) -> tuple[LayerInfo, ...]:
    """Return all that can be added to a net."""
    wizard = PythonEntry(
        type="New Python layer\u2026",
        category="Python",
        summary="Make a layer of your own from a few questions.",
        bottoms=("bottom*",),
        tops=("top*",),
        kind=NEW_LAYER,
    )
    offered = (each for each in document.live.python_layers.values() if not each.name.startswith("_"))
    return (*document.registry.infos(), *map(_entry, offered), wizard, *template_entries())


def python_entry(document: Document, kind: str) -> tuple[LayerInfo, str] | None:
    """Return what is known of the Python layer that a palette entry means, and the fields that name it; else None."""
    if not kind.startswith(_PREFIX):
        return None
    module, _, name = kind.removeprefix(_PREFIX).rpartition("/")
    found = document.live.python_layers.get((module, name))
    info = found.info if found is not None else document.registry.info("Python") or LayerInfo("Python")
    # Where nobody says how many ports it has, it starts with one of each.
    bottoms = ("bottom",) if info.bottoms[-1:] == ("bottom*",) else info.bottoms
    tops = ("top",) if info.tops[-1:] == ("top*",) else info.tops
    return replace(
        info, type=name, bottoms=bottoms, tops=tops
    ), f"python_param {{ module: {quote(module)} layer: {quote(name)} }}"


def python_kind(module: str, name: str) -> str:
    """Return what the palette hands on for a Python layer."""
    return f"{_PREFIX}{module}/{name}"


def _entry(layer: PythonLayerInfo) -> PythonEntry:
    facts = {**{name: getattr(layer.info, name) for name in LayerInfo.__dataclass_fields__}, "type": layer.name}
    facts["summary"] = layer.info.summary or f"Python layer of module {layer.module}."
    return PythonEntry(**facts, kind=python_kind(layer.module, layer.name))
