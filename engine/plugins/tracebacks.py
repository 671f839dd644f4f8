"""What a user needs to see of an exception raised by plugin code: its own frames, its place, and a hint."""

from __future__ import annotations

import contextlib
import importlib
import os
import re
import shlex
import traceback
from collections.abc import Iterable
from pathlib import Path

from engine.faults import text_of
from engine.plugins.python2 import Python2Finding, find_python2

__all__ = ["as_written", "hint_for", "place_of", "plugin_traceback", "python2_hint"]

_OWN_CODE = (str(Path(__file__).resolve().parent.parent) + os.sep, "<frozen importlib", importlib.__file__)
_PYTHON2_SYNTAX = re.compile(
    r"Missing parentheses in call to|multiple exception types must be parenthesized|leading zeros in decimal|"
    r"inconsistent use of tabs|invalid hexadecimal literal|invalid decimal literal|Did you mean print"
)
_NAMESPACE = re.compile(r"netcanvas_plugins_[0-9a-f]{12}_\d+\.")
_GONE_FROM_NUMPY = re.compile(r"module 'numpy' has no attribute '(float|int|bool|object|str|complex)'")
_REPLACED = re.compile(r"property '(data|diff)' of '\w+' object has no setter")
_DICT_METHOD = re.compile(r"'\w*[dD]ict' object has no attribute '(iteritems|iterkeys|itervalues|has_key)'")
_DICT_METHODS = {"iteritems": "items()", "iterkeys": "keys()", "itervalues": "values()", "has_key": "key in it"}
_NOT_WHOLE = re.compile(
    r"only integers, slices|float(64)?' object cannot be interpreted as an integer|indices must be (of )?integer|"
    r"expected a sequence of integers or a single integer, got '(np\.)?float|"
    r"Blob '.*': expected whole numbers as dimensions"
)
_PYTHON2_NAMES = {
    "xrange": "range",
    "unicode": "str",
    "raw_input": "input",
    "basestring": "str",
    "reduce": "functools.reduce",
}
_PYTHON2_MODULES = {
    "cPickle": "pickle",
    "StringIO": "io",
    "Queue": "queue",
    "ConfigParser": "configparser",
    "urllib2": "urllib.request",
}


def _is_ours(filename: str) -> bool:
    return filename.startswith(_OWN_CODE)


def plugin_traceback(error: BaseException) -> str:
    """Return the traceback text of ``error`` without the frames of the engine and of Python's import system."""
    whole = traceback.TracebackException.from_exception(error)
    pending: list[traceback.TracebackException | None] = [whole]
    while pending:
        part = pending.pop()
        if part is None:
            continue
        part.stack[:] = [frame for frame in part.stack if not _is_ours(frame.filename)]
        pending += [part.__cause__, part.__context__]
    return as_written("".join(whole.format()))


def as_written(text: str) -> str:
    """Return a text with the names of plugin modules as users write them, without the folder's private namespace."""
    return _NAMESPACE.sub("", text)


def place_of(error: BaseException, folders: Iterable[Path] = ()) -> tuple[str, int]:
    """Return file and line where plugin code raised ``error``.

    Parameters
    ----------
    error : BaseException
        The exception as caught.
    folders : iterable of Path
        Folders of the plugin; the innermost frame below one of them counts, else the first one not the engine's.

    Returns
    -------
    tuple of (str, int)
        ``("", 0)`` when no frame is the plugin's.
    """
    if isinstance(error, SyntaxError) and error.filename:
        return error.filename, error.lineno or 0
    frames = [(frame.f_code.co_filename, line) for frame, line in traceback.walk_tb(error.__traceback__)]
    frames = [frame for frame in frames if not _is_ours(frame[0])]
    starts = tuple(str(folder) + os.sep for folder in folders)
    inside = [frame for frame in frames if starts and frame[0].startswith(starts)]
    if inside:
        return inside[-1]
    return frames[0] if frames else ("", 0)


def python2_hint(error: SyntaxError) -> str:
    """Return what in a file with a syntax error is Python 2, with lines, else an empty text."""
    found: tuple[Python2Finding, ...] = ()
    if error.filename and os.path.isfile(error.filename):
        with contextlib.suppress(OSError):
            found = find_python2(Path(error.filename))
    if found:
        here = [each for each in found if each.line == error.lineno]
        first = (here or list(found))[0]
        others = len(found) - 1
        more = f", and {others} more place{'s' if others > 1 else ''}" if others else ""
        return f"This is Python 2 code: {first}{more}. {_how_to_convert(error)}"
    old = isinstance(error, TabError) or _PYTHON2_SYNTAX.search(error.msg or "") is not None
    return f"This looks like Python 2 code. {_how_to_convert(error)}" if old else ""


def _how_to_convert(error: SyntaxError) -> str:
    command = f"netcanvas plugins convert {shlex.quote(error.filename or 'FILE')}"
    return f"Convert it to Python 3; the changes are shown first. On the command line: {command}"


def hint_for(error: BaseException) -> str:
    """Return what to change for an exception that old plugin code is known to raise, else an empty text."""
    if isinstance(error, NameError) and error.name in _PYTHON2_NAMES:
        return f"'{error.name}' is Python 2; write '{_PYTHON2_NAMES[error.name]}'."
    if isinstance(error, ModuleNotFoundError) and error.name in _PYTHON2_MODULES:
        return f"'{error.name}' is Python 2; import '{_PYTHON2_MODULES[error.name]}'."
    if isinstance(error, IndexError | TypeError) and _NOT_WHOLE.search(text_of(error)):
        return "Where it divides whole numbers, write '//': '/' no longer rounds down. Else write int(...) around it."
    method = _DICT_METHOD.search(text_of(error)) if isinstance(error, AttributeError) else None
    if method:
        return f"'{method.group(1)}' is Python 2; write '{_DICT_METHODS[method.group(1)]}'."
    gone = _GONE_FROM_NUMPY.match(text_of(error)) if isinstance(error, AttributeError) else None
    if gone:
        return f"'np.{gone.group(1)}' has left numpy; write '{gone.group(1)}'."
    kept = _REPLACED.match(text_of(error)) if isinstance(error, AttributeError) else None
    if kept:
        return f"The net keeps '{kept.group(1)}'; write into it: {kept.group(1)}[...] = values."
    if isinstance(error, TypeError) and text_of(error).startswith(
        "load() missing 1 required positional argument: 'Loader'"
    ):
        return "yaml.load asks for a loader now; write 'yaml.safe_load'."
    return ""
