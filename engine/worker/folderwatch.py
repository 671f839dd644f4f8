"""A run's folder that goes away under its process: what cannot be recorded nor reached is not trained on."""

from __future__ import annotations

import contextlib
import logging
import threading
from collections.abc import Callable, Iterator

from engine.worker.runfolder import RunFolder

__all__ = ["watching_folder"]

_log = logging.getLogger(__name__)

_LOOK_SECONDS = 1.0
#: A folder that is written anew, or is on a disk of another machine, may be away for a moment.
_LOOKS = 3


@contextlib.contextmanager
def watching_folder(run: RunFolder, end: Callable[[str], object]) -> Iterator[None]:
    """Call ``end`` with a sentence, from a thread, if the folder of a run goes away meanwhile.

    A folder that merely cannot be looked at, as on a disk that does not answer, is not gone.

    Parameters
    ----------
    run : RunFolder
        Of the training in this process.
    end : callable
        Ends the training; called once.
    """
    done = threading.Event()

    def watch() -> None:
        missed = 0
        while missed < _LOOKS:
            if done.wait(_LOOK_SECONDS):
                return
            missed = missed + 1 if _is_gone(run) else 0
        message = f"The folder of run '{run.name}' is gone, so its training ends: nothing of it could be kept."
        _log.error("%s", message)
        end(message)

    thread = threading.Thread(target=watch, name="netcanvas-folder-watch", daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        if thread is not threading.current_thread():
            thread.join(_LOOK_SECONDS)


def _is_gone(run: RunFolder) -> bool:
    try:
        run.status_file.stat()
    except (FileNotFoundError, NotADirectoryError):
        return True
    except OSError:
        return False
    return False
