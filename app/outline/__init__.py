"""The net as a tree: the same graph as on the canvas, for keyboards and screen readers."""

from __future__ import annotations

from app.outline.panel import OutlinePanel

__all__ = ["OutlinePanel"]
