"""The program: the editor, or a subcommand, or training in the terminal where there is no display."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from engine.supervising import run_supervised

__all__ = ["main"]

_INTERRUPTED = 130


def main(argv: Sequence[str] | None = None) -> int:
    """Run Netcanvas.

    Parameters
    ----------
    argv : sequence of str, optional
        Arguments without the program's name; those of the process by default.

    Returns
    -------
    int
        Exit status.
    """
    if argv is None:
        return run_supervised(sys.argv[1:], main)
    arguments = list(argv)
    if "--safe" in arguments[:2]:
        from engine.plugins import use_safe_mode

        arguments.remove("--safe")
        use_safe_mode()
    if arguments and not _names_a_file(arguments):
        try:
            from engine.cli import is_command
            from engine.cli import main as run_command

            if is_command(arguments) or len(arguments) > 1:
                return run_command(arguments)
        except KeyboardInterrupt:  # while modules are imported; after that, the commands see to it
            return _INTERRUPTED
    file = Path(arguments[0]) if arguments else None
    if not _has_display():
        return _without_display(file)
    return _edit(file)


def _edit(file: Path | None) -> int:
    """Run the editor, for which the cycle collector only takes time: of what is imported nothing is garbage."""
    gc.disable()
    try:
        from app.start import run_editor

        return run_editor(file)
    finally:
        gc.enable()


def _names_a_file(arguments: Sequence[str]) -> bool:
    """Whether the only argument is plainly a file: then the commands need not be imported, which takes its time."""
    return len(arguments) == 1 and not arguments[0].startswith("-") and bool(Path(arguments[0]).suffix)


def _has_display() -> bool:
    if sys.platform != "linux" or os.environ.get("QT_QPA_PLATFORM"):
        return True
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def _without_display(file: Path | None) -> int:
    if file is not None:
        sys.stderr.write(
            f"netcanvas: there is no display to show '{file}' on. Look at it with 'netcanvas show {file}', "
            "or train with 'netcanvas train --solver FILE'.\n"
        )
        return 1
    from engine.cli import train_in_terminal
    from engine.examples import prepare_example

    sys.stderr.write("netcanvas: there is no display, so the bundled LeNet is trained here in the terminal.\n")
    return train_in_terminal(prepare_example().solver)
