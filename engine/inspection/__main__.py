"""``python -m engine.inspection [BYTES]``: the inspection process, with its memory limit."""

from __future__ import annotations

import sys

from engine.inspection.server import serve

if __name__ == "__main__":
    serve(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
