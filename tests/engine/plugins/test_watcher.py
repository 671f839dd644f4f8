"""Saved files are heard, once and when they are whole."""

from __future__ import annotations

import os
import queue
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.plugins import FilesChanged, PluginWatcher


@pytest.fixture
def heard() -> queue.Queue[FilesChanged]:
    return queue.Queue()


@pytest.fixture
def watcher(tmp_path: Path, heard: queue.Queue[FilesChanged]) -> Iterator[PluginWatcher]:
    (tmp_path / "a.py").write_text("x = 1")
    with PluginWatcher(heard.put, [tmp_path, tmp_path / "later"], interval=0.02) as watcher:
        yield watcher


def test_saving_adding_and_removing(tmp_path: Path, watcher: PluginWatcher, heard: queue.Queue[FilesChanged]) -> None:
    (tmp_path / "a.py").write_text("x = 22")
    assert heard.get(timeout=5) == FilesChanged(changed=(tmp_path / "a.py",))
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "b.proto").write_text("")
    assert heard.get(timeout=5).added == (tmp_path / "sub" / "b.proto",)
    (tmp_path / "a.py").unlink()
    assert heard.get(timeout=5).removed == (tmp_path / "a.py",)


def test_a_folder_that_comes_later_and_an_edit_of_the_same_size(
    tmp_path: Path, watcher: PluginWatcher, heard: queue.Queue[FilesChanged]
) -> None:
    (tmp_path / "later").mkdir()
    (tmp_path / "later" / "c.py").write_text("x = 1")
    assert tmp_path / "later" / "c.py" in heard.get(timeout=5).added
    status = os.stat(tmp_path / "a.py")
    os.utime(tmp_path / "a.py", ns=(status.st_atime_ns, status.st_mtime_ns + 1000))
    assert heard.get(timeout=5).changed == (tmp_path / "a.py",)


def test_what_is_written_in_steps_is_heard_once(
    tmp_path: Path, watcher: PluginWatcher, heard: queue.Queue[FilesChanged]
) -> None:
    with (tmp_path / "a.py").open("w") as file:
        for number in range(4):
            file.write(f"x = {number}\n")
            file.flush()
            time.sleep(0.01)
    assert heard.get(timeout=5).changed == (tmp_path / "a.py",)
    time.sleep(0.2)
    assert heard.empty()


def test_other_files_and_caches_are_nothing(tmp_path: Path) -> None:
    watcher = PluginWatcher(lambda _: None, [tmp_path])
    (tmp_path / "net.prototxt").write_text("")
    (tmp_path / "__pycache__").mkdir()
    (tmp_path / "__pycache__" / "a.py").write_text("")
    assert watcher.look() is None
    (tmp_path / "plugin.toml").write_text("")
    assert watcher.look() == FilesChanged(added=(tmp_path / "plugin.toml",))
    assert watcher.look() is None


def test_new_folders_hold_no_news(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x = 1")
    watcher = PluginWatcher(lambda _: None)
    watcher.watch([tmp_path])
    assert watcher.look() is None


def test_a_callback_that_fails_does_not_end_it(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    heard: queue.Queue[str] = queue.Queue()

    def fail(change: FilesChanged) -> None:
        heard.put(change.all[0].name)
        raise RuntimeError("of the callback")

    with PluginWatcher(fail, [tmp_path], interval=0.02):
        for name in ("a.py", "b.py"):
            (tmp_path / name).write_text("")
            assert heard.get(timeout=5) == name
    assert "of the callback" in caplog.text


def test_it_may_be_stopped_from_its_own_callback(tmp_path: Path) -> None:
    ended = threading.Event()

    def stop(_: FilesChanged) -> None:
        watcher.stop()
        ended.set()

    watcher = PluginWatcher(stop, [tmp_path], interval=0.02)
    watcher.start()
    (tmp_path / "a.py").write_text("")
    assert ended.wait(5)
    watcher.stop()
