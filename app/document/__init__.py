"""An open net: its graph, its file, where its nodes stand, and the history of all that is done to it."""

from app.document.document import Document
from app.document.netfile import ChangedOnDiskError

__all__ = ["ChangedOnDiskError", "Document"]
