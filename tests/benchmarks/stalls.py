"""How long a window's thread does not come back to its events, and what it does meanwhile."""

from __future__ import annotations

import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from types import FrameType

from PySide6.QtCore import QEventLoop, QObject, Qt, QTimer

__all__ = ["Blame", "StallWatch", "Stretch"]

_BEAT_MS = 5
_CALM_MS = 1.5
_LOOK_S = 0.001
_OURS = frozenset({"app", "engine", "nodes"})


@dataclass(frozen=True, slots=True)
class Stretch:
    """What the window's thread did from one beat of the watch to the next.

    Attributes
    ----------
    busy : float
        Milliseconds of the thread's own processor time: what a stall takes on a machine that does nothing else.
    waited : float
        Milliseconds by the clock that the beat came late, with what other threads and programs took.
    begun, ended : float
        When, by ``time.perf_counter``.
    """

    busy: float
    waited: float
    begun: float
    ended: float


class StallWatch(QObject):
    """Counts the time between the beats of a timer; a key or a click would have waited as long as a beat does.

    Attributes
    ----------
    stretches : list of Stretch
        All since the last :meth:`run` began.
    """

    def __init__(self) -> None:
        super().__init__()
        self.stretches: list[Stretch] = []
        self._timer = QTimer(self)
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.setInterval(_BEAT_MS)
        self._timer.timeout.connect(self._beat)
        self._loop = QEventLoop(self)
        self._settled: Callable[[], bool] = lambda: True
        self._quiet = self._give_up_after = 0.0
        self._acted = False
        self._busy = self._clock = self._calm_since = self._begun = 0.0

    @property
    def longest(self) -> Stretch:
        """The stretch with most processor time."""
        return max(self.stretches, key=lambda each: each.busy)

    @property
    def busy(self) -> float:
        """Milliseconds of processor time that the thread took in all."""
        return sum(each.busy for each in self.stretches)

    @property
    def waited(self) -> float:
        """Milliseconds by the clock that the latest beat was late."""
        return max(each.waited for each in self.stretches)

    def run(
        self, action: Callable[[], object], settled: Callable[[], bool], quiet: float = 0.25, give_up_after: float = 90
    ) -> None:
        """Do something in the event loop and watch until nothing more comes of it.

        Parameters
        ----------
        action : callable
            What the user does; a part of what is watched.
        settled : callable
            Whether all is there that must come.
        quiet : float
            Seconds without work after which it counts as done.
        give_up_after : float
            Seconds after which to raise TimeoutError.
        """
        self.stretches = []
        self._settled, self._quiet, self._give_up_after = settled, quiet, give_up_after
        self._busy, self._clock = time.thread_time(), time.perf_counter()
        self._begun = self._calm_since = self._clock
        self._timer.start()
        self._acted = False

        def act() -> None:
            action()
            self._acted = True

        QTimer.singleShot(0, self, act)
        self._loop.exec()
        self._timer.stop()
        if not settled():
            raise TimeoutError(f"there was still work after {give_up_after:.0f} s")

    def _beat(self) -> None:
        busy, clock = time.thread_time(), time.perf_counter()
        stretch = Stretch(
            (busy - self._busy) * 1e3, (clock - self._clock) * 1e3 - _BEAT_MS, begun=self._clock, ended=clock
        )
        self.stretches.append(stretch)
        if stretch.busy > _CALM_MS or not (self._acted and self._settled()):
            self._calm_since = clock
        if clock - self._calm_since > self._quiet or clock - self._begun > self._give_up_after:
            self._loop.quit()
        self._busy, self._clock = time.thread_time(), time.perf_counter()


@dataclass(frozen=True, slots=True)
class _Look:
    at: float
    busy: float
    stack: tuple[str, ...]


class Blame:
    """Looks again and again where the thread is that made this, to say what held it up.

    What was seen counts by the processor time that the thread took since the last look, so that a place where it only
    waits for another thread is not blamed. Looking costs time itself: it is for finding out, not for measuring.
    """

    def __init__(self) -> None:
        self._looks: list[_Look] = []
        self._thread = threading.get_ident()
        self._over = threading.Event()

    def start(self) -> None:
        """Begin to look."""
        sys.setswitchinterval(_LOOK_S / 2)
        threading.Thread(target=self._look, name="blame", daemon=True).start()

    def stop(self) -> None:
        """Look no more."""
        self._over.set()

    def of(self, stretch: Stretch, least: float = 0.08) -> list[str]:
        """Return our functions that were under way in a stretch, each with its part of the time, callers first."""
        looks = [look for look in self._looks if stretch.begun <= look.at <= stretch.ended]
        whole = sum(look.busy for look in looks)
        busy: Counter[str] = Counter()
        depths: Counter[str] = Counter()
        for look in looks:
            for depth, name in enumerate(reversed(look.stack)):
                busy[name] += look.busy  # type: ignore[assignment]  # a counter of seconds
                depths[name] = max(depths[name], depth)
        told = [name for name, part in busy.items() if part >= least * whole]
        return [f"{100 * busy[name] / whole:4.0f} %  {name}" for name in sorted(told, key=depths.__getitem__)]

    def _look(self) -> None:
        clock = time.pthread_getcpuclockid(self._thread)
        last = time.clock_gettime(clock)
        while not self._over.wait(_LOOK_S):
            now = time.clock_gettime(clock)
            stack = _names(sys._current_frames().get(self._thread))
            self._looks.append(_Look(time.perf_counter(), now - last, stack))
            last = now


def _names(frame: FrameType | None) -> tuple[str, ...]:
    """Return our functions on a stack, the innermost first, and what that one calls of others."""
    names: dict[str, None] = {}
    while frame is not None:
        code = frame.f_code
        folders = code.co_filename.split("/")
        if _OURS.intersection(folders) or not names:
            names[f"{'/'.join(folders[-2:])}:{code.co_firstlineno} {code.co_qualname}"] = None
        frame = frame.f_back
    return tuple(names)
