"""What a plugin requires of installed packages, held against what there is."""

from __future__ import annotations

import importlib.metadata
import shlex
import sys
from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["UnmetRequirement", "install_line", "unmet_requirements"]


@dataclass(frozen=True, slots=True)
class UnmetRequirement:
    """A requirement that is not met.

    Attributes
    ----------
    written : str
        As the manifest has it, such as ``scipy>=1.10``.
    package : str
        Name of the package; ``written`` where that is no requirement.
    wanted : str
        The versions asked for, such as ``>=1.10``; empty for any.
    found : str
        The version that is installed; empty for none.
    """

    written: str
    package: str
    wanted: str = ""
    found: str = ""

    def __str__(self) -> str:
        wanted = f"version {self.wanted} of " if self.wanted else ""
        return f"{wanted}'{self.package}', and {self.found or 'none'} is installed"


def unmet_requirements(written: Sequence[str]) -> tuple[UnmetRequirement, ...]:
    """Return the requirements that are not met in this Python, in the order given.

    Parameters
    ----------
    written : sequence of str
        As pip spells them (PEP 508); those whose marker excludes this Python count as met.
    """
    return tuple(found for each in written if (found := _unmet(each)) is not None)


def _unmet(written: str) -> UnmetRequirement | None:
    from packaging.requirements import InvalidRequirement, Requirement  # most plugins require nothing

    try:
        wanted = Requirement(written)
        if wanted.marker is not None and not wanted.marker.evaluate():
            return None
    except InvalidRequirement:
        return UnmetRequirement(written, written)
    try:
        found = importlib.metadata.version(wanted.name)
    except importlib.metadata.PackageNotFoundError:
        found = ""
    if found and wanted.specifier.contains(found, prereleases=True):
        return None
    return UnmetRequirement(written, wanted.name, str(wanted.specifier), found)


def install_line(unmet: Sequence[UnmetRequirement]) -> str:
    """Return the command that installs what is missing, for the Python that runs."""
    python = shlex.quote(sys.executable) if sys.platform != "win32" else f'"{sys.executable}"'
    return f"{python} -m pip install {' '.join(shlex.quote(each.written) for each in unmet)}"
