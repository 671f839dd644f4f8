"""Formulas of the layers, written apart from them in double precision, each with its source."""

from tests.nodes.references.losses import LOSSES, RECURRENT
from tests.nodes.references.reference import Reference
from tests.nodes.references.shapes import SHAPES
from tests.nodes.references.units import UNITS
from tests.nodes.references.windows import WINDOWS

__all__ = ["REFERENCES", "Reference"]

REFERENCES = [*UNITS, *WINDOWS, *SHAPES, *LOSSES, *RECURRENT]
