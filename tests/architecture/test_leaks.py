"""What outlives its test fails it."""

from __future__ import annotations

import subprocess
import sys
import threading

import pytest

from tests import leaks


def test_a_thread_that_goes_on_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leaks, "_GRACE", 0.05)
    before, end = leaks.Running(), threading.Event()
    thread = threading.Thread(target=end.wait, name="left behind")
    thread.start()
    try:
        with pytest.raises(pytest.fail.Exception, match="left behind"):
            before.check_nothing_new()
    finally:
        end.set()
    before.check_nothing_new()


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux tells a process of its children")
def test_a_process_that_goes_on_is_named() -> None:
    before = leaks.Running()
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    try:
        with pytest.raises(pytest.fail.Exception, match=r"input\(\)"):
            before.check_nothing_new()
    finally:
        process.communicate()
    before.check_nothing_new()
