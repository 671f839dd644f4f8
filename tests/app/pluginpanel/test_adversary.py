"""An adversary's folder in the window: it lives, each node says what its plugin did, and the others work."""

from __future__ import annotations

import re
import time
from typing import Any

import pytest
from PySide6.QtCore import QTimer

from engine.inspection import InspectionClient
from tests.app.pluginpanel.conftest import Project
from tests.engine.inspection.adversaries import ADVERSARIES, GOOD, HARMLESS, PATCHES, layer
from tests.engine.plugins.helpers import write

INPUT = 'layer { name: "x" type: "Input" top: "x" input_param { shape { dim: 2 dim: 3 } } }\n'
NAMES = ["good", *ADVERSARIES, *HARMLESS, *PATCHES, "also_good"]


@pytest.mark.slow
def test_the_window_lives_and_names_each(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    usual = InspectionClient.__init__

    def quick(self: InspectionClient, **_limits: Any) -> None:
        usual(self, time_limit=5.0, memory_limit=1 << 29)

    monkeypatch.setattr(InspectionClient, "__init__", quick)
    write(
        project.folder / "plugins", good=GOOD, also_good=GOOD, **{name: each[0] for name, each in ADVERSARIES.items()}
    )
    write(project.folder / "plugins", **HARMLESS, **PATCHES)
    late: list[float] = []
    last = [time.perf_counter()]

    def beat() -> None:
        late.append(time.perf_counter() - last[0])
        last[0] = time.perf_counter()

    begin = time.monotonic()
    project.open(INPUT + "".join(map(layer, NAMES)))
    timer = QTimer()
    timer.timeout.connect(beat)
    last[0] = time.perf_counter()
    timer.start(20)
    project.wait_until(lambda: all(project.tops(name) == ((2, 3),) for name in ("good", "also_good")), 90_000)
    project.wait_until(lambda: all(project.error(name) for name in ADVERSARIES), 10_000)
    timer.stop()
    assert time.monotonic() - begin < 90
    project.wait_until(
        lambda: all(project.window.document.problems_of(project.node(n))[0] == "error" for n in ADVERSARIES)
    )
    for name, (_, _, words) in ADVERSARIES.items():
        assert f"'{name}'" in project.error(name)
        assert re.search(words, project.error(name)), (name, project.error(name))
        severity, sentences = project.window.document.problems_of(project.node(name))
        assert severity == "error" and sentences, name
    for name in ("good", "also_good", *HARMLESS, *PATCHES):
        assert project.tops(name) == ((2, 3),), name
    assert sorted(late)[int(len(late) * 0.99)] < 0.25  # the window was never held up
    # It can still be worked with.
    project.window.document.apply("Rename", lambda graph: graph.rename_node(project.node("good"), "better"))
    project.wait_until(lambda: project.tops("better") == ((2, 3),), 60_000)
