"""``netcanvas run``."""

from __future__ import annotations

import runpy
import sys
from collections.abc import Sequence
from pathlib import Path

from engine.backends.threads import matrix_threads
from engine.compat import install
from engine.registry import default_registry

__all__ = ["run"]


def run(path: Path, arguments: Sequence[str]) -> int:
    """Run a script as the main program, with its folder on the module path as Python has it.

    Parameters
    ----------
    path : Path
        A Python file.
    arguments : sequence of str
        What it finds in ``sys.argv`` after its own name.

    Returns
    -------
    int
        The exit code that the script asked for; its exceptions come through with their traceback.
    """
    default_registry()  # our packages are loaded before the script's folder can shadow them
    install()
    saved_argv, saved_path = sys.argv, list(sys.path)
    sys.argv = [str(path), *arguments]
    sys.path.insert(0, str(path.resolve().parent))
    try:
        with matrix_threads():
            runpy.run_path(str(path), run_name="__main__")
    except SystemExit as exit_request:
        return _exit_code(exit_request)
    finally:
        sys.argv = saved_argv
        sys.path[:] = saved_path
    return 0


def _exit_code(exit_request: SystemExit) -> int:
    if exit_request.code is None or isinstance(exit_request.code, int):
        return exit_request.code or 0
    print(exit_request.code, file=sys.stderr)
    return 1
