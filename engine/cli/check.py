"""``netcanvas check``."""

from __future__ import annotations

import argparse

__all__ = ["run"]


def run(options: argparse.Namespace) -> int:
    """Print the faults of files; return 1 if one is an error."""
    raise NotImplementedError
