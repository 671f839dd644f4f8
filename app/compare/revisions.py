"""Revisions of a file in git, asked of the program ``git``; never called in the window's thread.

A repository may be anybody's, so git is kept from running what its configuration names: no hooks, no file monitor, no
filters for showing, no signatures.
"""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

from engine.errors import NetcanvasError

__all__ = ["MOST", "Revision", "RevisionError", "list_revisions", "read_revision"]

#: So many of the newest revisions are listed.
MOST = 40
_SECONDS = 10.0
_GIT = (
    *("git", "--no-pager", "--no-optional-locks", "--literal-pathspecs"),
    *("-c", "core.fsmonitor=false", "-c", f"core.hooksPath={os.devnull}", "-c", "log.showSignature=false"),
    *("-c", "core.quotePath=false"),
)
_FORMAT = "%x1e%H%x1f%an%x1f%ad%x1f%s"


class RevisionError(NetcanvasError):
    """Git is missing, or does not know the file."""


@dataclass(frozen=True, slots=True)
class Revision:
    """One commit that changed a file.

    Attributes
    ----------
    commit : str
        Its full hash.
    author, date, subject : str
        The date as ``2024-05-31``.
    name : str
        What the file was called then, from the top of the repository.
    """

    commit: str
    author: str
    date: str
    subject: str
    name: str


def list_revisions(path: Path) -> list[Revision]:
    """Return the newest revisions of a file, newest first, through its renamings.

    Raises
    ------
    RevisionError
        When git is not installed, the folder is in no repository, or no commit has the file.
    """
    words = ("log", "--follow", f"--max-count={MOST}", "--date=short", f"--format={_FORMAT}")
    out = _git(path, *words, "--name-only", "--no-ext-diff", "--no-textconv", "-z", "--", path.name)
    found = []
    for entry in out.decode("utf-8", "replace").split("\x1e")[1:]:
        head, _zero, names = entry.partition("\0")
        commit, author, date, subject = head.split("\x1f", 3)
        name = next((each.strip("\n") for each in names.split("\0") if each.strip("\n")), "")
        if name:
            found.append(Revision(commit, author, date, subject, name))
    if not found:
        raise RevisionError(f"No commit has '{path.name}' yet.", next_step="Commit the file first.")
    return found


def read_revision(path: Path, revision: Revision) -> bytes:
    """Return what the file held in a revision.

    Raises
    ------
    RevisionError
        As :func:`list_revisions`.
    """
    return _git(path, "cat-file", "blob", f"{revision.commit}:{revision.name}")


def _git(path: Path, *words: str) -> bytes:
    environment = {**os.environ, "GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C"}
    try:
        done = subprocess.run(
            [*_GIT, *words],
            cwd=path.parent,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_SECONDS,
            check=False,
            creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
        )
    except FileNotFoundError:
        raise RevisionError("Git is not installed.", next_step="Install git to compare with revisions.") from None
    except subprocess.TimeoutExpired:
        raise RevisionError(f"Git did not answer within {_SECONDS:.0f} seconds.", next_step="Try again.") from None
    if done.returncode:
        said = done.stderr.decode("utf-8", "replace").strip().splitlines()
        if any("not a git repository" in line for line in said):
            raise RevisionError(f"'{path.parent.name}' is in no git repository.", next_step="Run 'git init' there.")
        if any("does not have any commits" in line for line in said):
            raise RevisionError(f"No commit has '{path.name}' yet.", next_step="Commit the file first.")
        raise RevisionError(f"Git failed: {said[-1] if said else done.returncode}", next_step="Try it in a terminal.")
    return done.stdout
