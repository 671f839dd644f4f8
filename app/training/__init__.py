"""Training as the user sees it: the panel, its curves, its runs."""

from app.training.panel import TrainingPanel

__all__ = ["TrainingPanel"]
