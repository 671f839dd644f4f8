"""The properties panel, made from the schema."""

from __future__ import annotations

from app.properties.panel import PropertiesPanel

__all__ = ["PropertiesPanel"]
