"""Finding layer types: the dock and the search at the pointer."""

from app.palette.dock import PalettePanel
from app.palette.search import SearchPopup

__all__ = ["PalettePanel", "SearchPopup"]
