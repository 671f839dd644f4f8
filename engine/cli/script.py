"""``netcanvas run``."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

from engine.backends.threads import matrix_threads
from engine.compat import install
from engine.registry import default_registry

__all__ = ["run"]

_INTERRUPTED = 130


def run(path: Path, arguments: Sequence[str], *, quiet: bool = False) -> int:
    """Run a script as the main program, with its folder on the module path as Python has it.

    Parameters
    ----------
    path : Path
        A Python file.
    arguments : sequence of str
        What it finds in ``sys.argv`` after its own name.
    quiet : bool
        Print no warnings of the engine.

    Returns
    -------
    int
        The exit code that the script asked for; 1 after an exception, which is printed as Python prints it.
    """
    default_registry()  # our packages are loaded before the script's folder can shadow them
    editor = _take_app()
    log = logging.getLogger("engine")
    saved_level = log.level
    if quiet:
        log.setLevel(logging.ERROR)
    install()
    script = os.path.abspath(path)
    main = ModuleType("__main__")
    main.__file__ = script
    saved_argv, saved_path, saved_main = sys.argv, list(sys.path), sys.modules["__main__"]
    sys.modules["__main__"] = main
    sys.argv = [str(path), *arguments]
    sys.path.insert(0, str(path.resolve().parent))
    try:
        with matrix_threads():
            exec(compile(path.read_bytes(), script, "exec"), main.__dict__)
    except SystemExit as exit_request:
        return _exit_code(exit_request)
    except BaseException as error:
        _print_error(error, script)
        return _INTERRUPTED if isinstance(error, KeyboardInterrupt) else 1
    finally:
        log.setLevel(saved_level)
        sys.argv = saved_argv
        sys.path[:] = saved_path
        sys.modules["__main__"] = saved_main
        _take_app()
        sys.modules.update(editor)
    return 0


def _take_app() -> dict[str, ModuleType]:
    """Take all modules of ``app`` out: a script runs without the editor, and may have an ``app`` of its own."""
    names = [name for name in sys.modules if name.partition(".")[0] == "app"]
    return {name: sys.modules.pop(name) for name in names}


def _print_error(error: BaseException, script: str) -> None:
    """Print an exception with its traceback, which begins in the script."""
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_code.co_filename != script:
        trace = trace.tb_next
    sys.stdout.flush()
    sys.excepthook(type(error), error.with_traceback(trace), trace)


def _exit_code(exit_request: SystemExit) -> int:
    if exit_request.code is None or isinstance(exit_request.code, int):
        return exit_request.code or 0
    print(exit_request.code, file=sys.stderr)
    return 1
