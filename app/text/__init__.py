"""The prototxt pane: the net as text, in step with the graph both ways."""

from __future__ import annotations

from app.text.pane import TextPane

__all__ = ["TextPane"]
