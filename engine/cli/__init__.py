"""The command line.

:func:`main` runs a subcommand; the console entry ``netcanvas`` comes here whenever its first argument is one
(:func:`is_command`), and otherwise opens the editor. :func:`train_in_terminal` stands in for the editor where there is
no display.
"""

from __future__ import annotations

from engine.cli.commands import COMMANDS, is_command, main, train_in_terminal

__all__ = ["COMMANDS", "is_command", "main", "train_in_terminal"]
