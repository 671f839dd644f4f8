from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from engine.worker import Event, RunFolder, TrainingProcess, Viewer, attach
from tests.engine.worker.nets import TinyNet, solver_text

PATIENCE = 30.0


def our_threads() -> list[str]:
    return [thread.name for thread in threading.enumerate() if thread.name.startswith("netcanvas")]


@pytest.fixture(autouse=True)
def no_threads_left() -> Iterator[None]:
    yield
    deadline = time.monotonic() + 5.0
    while our_threads() and time.monotonic() < deadline:
        time.sleep(0.02)
    assert our_threads() == []


@pytest.fixture(scope="session")
def tiny_net(tmp_path_factory: pytest.TempPathFactory) -> TinyNet:
    return TinyNet.write(tmp_path_factory.mktemp("tiny"))


StartRun = Callable[..., tuple[RunFolder, TrainingProcess]]
Watch = Callable[..., Viewer]


@pytest.fixture
def start_run(tmp_path: Path, tiny_net: TinyNet) -> Iterator[StartRun]:
    """Start runs of the tiny net; whatever still trains at the end of the test is killed."""
    started: list[TrainingProcess] = []

    def start(
        net: str | None = None,
        solver: dict[str, str] | None = None,
        run: RunFolder | None = None,
        **options: object,
    ) -> tuple[RunFolder, TrainingProcess]:
        if run is None:
            run = RunFolder.create(tmp_path / "runs", net or tiny_net.text, solver_text(**solver or {}), "tiny")
            options.setdefault("base_dirs", [tiny_net.folder])
        process = TrainingProcess.start(run, **options)  # type: ignore[arg-type]
        started.append(process)
        return run, process

    yield start
    for process in started:
        process.kill()
        process.run.status(returncode=process.wait(PATIENCE))  # which takes the socket of a killed one away


@pytest.fixture
def watch() -> Iterator[Callable[..., Viewer]]:
    viewers: list[Viewer] = []

    def open_viewer(run: RunFolder, process: TrainingProcess | None = None) -> Viewer:
        viewer = attach(run, process=process)
        viewers.append(viewer)
        return viewer

    yield open_viewer
    for viewer in viewers:
        viewer.close()


def wait_for(viewer: Viewer, wanted: Callable[[Event], bool]) -> tuple[Event, list[Event]]:
    """Return the first event that fits and all events up to and with its batch; fail when the run ends before."""
    seen: list[Event] = []
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        batch = viewer.events(0.1)
        seen += batch
        for event in batch:
            if wanted(event):
                return event, seen
        if viewer.ended:
            break
    raise AssertionError(f"the event did not come; last of {len(seen)}: {seen[-3:]}")


def is_a(kind: type[Event], **values: object) -> Callable[[Event], bool]:
    return lambda event: isinstance(event, kind) and all(getattr(event, key) == values[key] for key in values)


def until_end(viewer: Viewer) -> list[Event]:
    seen: list[Event] = []
    deadline = time.monotonic() + PATIENCE
    while not viewer.ended:
        assert time.monotonic() < deadline, f"the run did not end; last of {len(seen)}: {seen[-3:]}"
        seen += viewer.events(0.1)
    return seen
