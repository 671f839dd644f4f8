"""``python -m engine.cli``: the command line without the editor."""

from __future__ import annotations

import sys

from engine.cli import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
