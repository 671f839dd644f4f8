"""``python -m engine.cli``: the command line without the editor."""

from __future__ import annotations

import sys

from engine.cli import main
from engine.supervising import run_supervised

if __name__ == "__main__":
    sys.exit(run_supervised(sys.argv[1:], main))
