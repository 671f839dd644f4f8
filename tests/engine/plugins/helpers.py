"""Writing plugin folders for tests."""

from __future__ import annotations

import textwrap
from pathlib import Path


def write(folder: Path, **modules: str) -> Path:
    """Write modules into ``folder``; ``__`` in a name stands for a folder, ``a__b`` is ``a/b.py``."""
    for name, text in modules.items():
        path = folder / (name.replace("__", "/") + ".py")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text), "utf-8")
    return folder
