"""What is computed about a net while it is edited: shapes, diagnoses, costs, plugins, checks and measurements."""

from app.live.facts import LiveFacts

__all__ = ["LiveFacts"]
