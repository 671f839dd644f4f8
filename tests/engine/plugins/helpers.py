"""Writing plugin folders for tests."""

from __future__ import annotations

import textwrap
from pathlib import Path


def write(folder: Path, **modules: str) -> Path:
    """Write modules into ``folder``; ``a__b`` stands for ``a/b.py``, ``a____init__`` for ``a/__init__.py``."""
    for name, text in modules.items():
        path = folder / (name.replace("____init__", "/:").replace("__", "/").replace(":", "__init__") + ".py")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text), "utf-8")
    return folder
