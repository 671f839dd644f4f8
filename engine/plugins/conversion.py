"""Converting Python 2 plugins: offered, shown as a difference, written only when asked, and taken back.

The converter is `fissix`, a maintained copy of the one that Python itself had until version 3.12. It is an extra
(``pip install netcanvas[python2]``); without it, findings still say what to change by hand.
"""

from __future__ import annotations

import ast
import difflib
import hashlib
import io
import logging
import re
import tokenize
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine.errors import NetcanvasError
from engine.plugins.old_meaning import expand_tabs, keep_meaning
from engine.plugins.python2 import Python2Finding, decode_source, find_python2
from engine.plugins.scan import walk_sources

__all__ = ["AppliedConversion", "ConversionPlan", "ConvertedFile", "apply_conversion", "plan_conversion"]

_log = logging.getLogger(__name__)
_BACKUP = ".python2"
_TRUE_DIVISION = re.compile(r"^from[ \t]+__future__[ \t]+import\b.*\bdivision\b", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class ConvertedFile:
    """One file before and after.

    Attributes
    ----------
    path : Path
    before, after : bytes
        Its content; ``after`` is ``before`` where it cannot be converted.
    findings : tuple of Python2Finding
        What was found in it.
    divisions : tuple of int
        Lines on which ``/=`` may have divided whole numbers, rounding down. A conversion leaves them, and they are for
        a person to look at; other divisions keep their meaning (:mod:`engine.plugins.old_meaning`).
    error : str
        Why it cannot be converted; empty where it can.
    """

    path: Path
    before: bytes
    after: bytes
    findings: tuple[Python2Finding, ...]
    divisions: tuple[int, ...] = ()
    error: str = ""

    @property
    def diff(self) -> str:
        """The change as a unified difference."""
        before, after = (decode_source(data).splitlines(keepends=True) for data in (self.before, self.after))
        lines = difflib.unified_diff(before, after, str(self.path), f"{self.path} (converted)")
        return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)


@dataclass(frozen=True, slots=True)
class ConversionPlan:
    """What a conversion would change. Making one writes nothing.

    Attributes
    ----------
    files : tuple of ConvertedFile
        Those with Python 2 code; what is Python 3 already is left alone.
    """

    files: tuple[ConvertedFile, ...]

    @property
    def diff(self) -> str:
        """All changes as one unified difference."""
        return "".join(each.diff for each in self.files)

    @property
    def failures(self) -> tuple[ConvertedFile, ...]:
        """Files that cannot be converted; the others still can."""
        return tuple(each for each in self.files if each.error)


@dataclass(frozen=True, slots=True)
class AppliedConversion:
    """A conversion that was written.

    Attributes
    ----------
    files : tuple of (Path, Path, str)
        Each file, its backup, and the SHA-256 of what was written.
    """

    files: tuple[tuple[Path, Path, str], ...]

    def undo(self) -> None:
        """Put the files back as they were.

        Raises
        ------
        NetcanvasError
            If a file was edited since, or its backup is gone; nothing is changed then.
        """
        for path, backup, digest in self.files:
            if not backup.is_file():
                raise NetcanvasError(f"The backup '{backup}' is gone.", next_step="Restore the file by other means.")
            if not path.is_file() or _digest(path.read_bytes()) != digest:
                raise NetcanvasError(
                    f"'{path}' was edited after its conversion.", next_step=f"Its old text is in '{backup}'."
                )
        for path, backup, _ in self.files:
            _write(path, backup.read_bytes())
            backup.unlink()


def plan_conversion(places: Sequence[Path]) -> ConversionPlan:
    """Return what a conversion to Python 3 would change.

    Parameters
    ----------
    places : sequence of Path
        Files, or plugin folders with them.

    Raises
    ------
    NetcanvasError
        If the converter is not installed.
    """
    converter = _converter()
    paths = dict.fromkeys(path for place in places for path in _sources(place))
    converted = (_convert(path, converter) for path in paths)
    return ConversionPlan(tuple(each for each in converted if each is not None))


def apply_conversion(plan: ConversionPlan) -> AppliedConversion:
    """Write a conversion; each file's old text stays beside it, in a file ending in ``.python2``.

    Raises
    ------
    NetcanvasError
        If a file has changed since the plan was made, or cannot be written. What was written before is taken back.
    """
    wanted = [each for each in plan.files if not each.error]
    for each in wanted:
        if not each.path.is_file() or each.path.read_bytes() != each.before:
            raise NetcanvasError(f"'{each.path}' was edited since.", next_step="Look at the conversion again.")
    done: list[tuple[Path, Path, str]] = []
    try:
        for each in wanted:
            backup = _free_backup(each.path)
            _write(backup, each.before)
            done.append((each.path, backup, _digest(each.after)))
            _write(each.path, each.after)
            _log.info("Converted '%s' to Python 3; its old text is in '%s'.", each.path, backup)
    except (OSError, NetcanvasError):
        for path, backup, _ in done:
            _write(path, backup.read_bytes())
            backup.unlink()
        raise
    return AppliedConversion(tuple(done))


def _sources(place: Path) -> Iterator[Path]:
    return walk_sources(place) if place.is_dir() else iter([place])


def _convert(path: Path, converter: Any) -> ConvertedFile | None:
    data = path.read_bytes()
    findings = find_python2(data)
    if not findings:
        return None
    text = decode_source(data)
    whole = text if text.endswith("\n") else f"{text}\n"
    try:
        after = str(converter.refactor_string(whole.replace("\r\n", "\n"), str(path)))
        if "\t" in after and _is_mixed(after):
            after = expand_tabs(after)
        after, divisions = keep_meaning(after, rounds=not _TRUE_DIVISION.search(text))
    except Exception as error:  # the converter's parser has errors of its own
        return ConvertedFile(path, data, data, findings, error=_told(error))
    after = _with_line_ends(after, text)
    has_coding = data.lstrip()[:2] == b"#!" or b"coding" in b"".join(data.split(b"\n", 2)[:2])
    encoded = after.encode(_coding_of(data) if has_coding else "utf-8")
    try:
        ast.parse(encoded)
    except (SyntaxError, ValueError) as error:
        return ConvertedFile(path, data, data, findings, error=f"what comes out is not Python 3 yet: {_told(error)}")
    return ConvertedFile(path, data, encoded, findings, divisions)


def _told(error: Exception) -> str:
    """Say in a few words what the converter, or Python, could not read, and on which line."""
    _, (line, _) = getattr(error, "context", None) or ("", (getattr(error, "lineno", 0), 0))
    at = f"line {line}: " if line else ""
    if isinstance(error, SyntaxError):
        return f"{at}{error.msg}"
    return f"{at}Python 2 does not read it either" if at else f"{type(error).__name__}: {error}"


def _with_line_ends(after: str, before: str) -> str:
    """Return a text whose lines end as most did before, and each as it did where no line came or went."""
    old, new = (text.splitlines(keepends=True) for text in (before, after))
    dos = [line.endswith("\r\n") for line in old]
    if len(old) != len(new):
        dos = [2 * sum(dos) > len(dos)] * len(new)
    return "".join(
        line[:-1] + "\r\n" if at and line.endswith("\n") else line for at, line in zip(dos, new, strict=True)
    )


def _is_mixed(text: str) -> bool:
    """Whether a module's indentation mixes tabs and spaces as Python 3 refuses it."""
    try:
        ast.parse(text)
    except TabError:
        return True
    except SyntaxError:
        return False
    return False


def _coding_of(data: bytes) -> str:
    """Return the encoding that Python reads a module by."""
    try:
        return tokenize.detect_encoding(io.BytesIO(data).readline)[0]
    except SyntaxError:
        return "utf-8"


def _write(path: Path, data: bytes) -> None:
    from engine.files import atomic_write  # with its readers of weights, too much for who only loads plugins

    atomic_write(path, data)


def _free_backup(path: Path) -> Path:
    backup = path.with_name(path.name + _BACKUP)
    number = 1
    while backup.exists():
        number += 1
        backup = path.with_name(f"{path.name}{_BACKUP}-{number}")
    return backup


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _converter() -> Any:
    try:
        from fissix.refactor import RefactoringTool, get_fixers_from_package
    except ImportError as error:
        raise NetcanvasError(
            "The converter from Python 2 is not installed.",
            next_step="Install it: pip install fissix. Or change the lines by hand.",
        ) from error
    return RefactoringTool(get_fixers_from_package("fissix.fixes"), {"print_function": False})
