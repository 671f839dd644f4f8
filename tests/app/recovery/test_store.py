"""Recovery files on disk: what is written, who may take it, and what damage does."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

from app.recovery.lock import ProcessLock
from app.recovery.store import Kept, RecoveryStore
from tests.support import ROOT

KEPT = Kept("a1", "net.prototxt", Path("/there/net.prototxt"), b"name: 'x' # \xff\n", '{"nodes": []}', "d")


def crash(store: RecoveryStore) -> None:
    """What the system does when a process is killed: its locks are gone, its files stay."""
    store._lock.release()


@pytest.mark.parametrize("kept", [KEPT, Kept("b", "Untitled", None, b"")])
def test_what_is_kept_comes_back_whole(kept):
    assert Kept.from_json(kept.to_json()) == kept


def test_a_clean_end_leaves_nothing(tmp_path):
    store = RecoveryStore(tmp_path)
    store.write(KEPT)
    store.close()
    assert list(tmp_path.iterdir()) == []


def test_two_running_programs_do_not_steal_each_others(tmp_path):
    first, second = RecoveryStore(tmp_path), RecoveryStore(tmp_path)
    first.write(KEPT)
    assert second.leftovers() == []
    crash(first)
    found = second.leftovers()
    assert [each.kept for each in found] == [[KEPT]]
    assert RecoveryStore(tmp_path).leftovers() == [], "who offers it holds it"
    found[0].release()


def test_what_was_offered_is_found_only_when_asked_for(tmp_path):
    store = RecoveryStore(tmp_path)
    store.write(KEPT)
    crash(store)
    left = RecoveryStore(tmp_path).leftovers()[0]
    left.mark_offered()
    left.release()
    assert RecoveryStore(tmp_path).leftovers() == []
    again = RecoveryStore(tmp_path).leftovers(offered=True)
    assert [each.kept for each in again] == [[KEPT]]
    again[0].discard()
    assert list(tmp_path.iterdir()) == []


def test_what_was_put_aside_long_ago_is_removed(tmp_path, monkeypatch):
    store = RecoveryStore(tmp_path)
    store.write(KEPT)
    crash(store)
    left = RecoveryStore(tmp_path).leftovers()[0]
    left.mark_offered()
    left.release()
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + 31 * 86_400)
    assert RecoveryStore(tmp_path).leftovers(offered=True) == []
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("junk", [b"", b"{", b"[]", b'{"version": 99}', b"\xff\xff", b'{"version": 1}'])
def test_a_damaged_file_hides_no_other(tmp_path, junk):
    store = RecoveryStore(tmp_path)
    store.write(KEPT)
    next(tmp_path.iterdir()).joinpath("0.json").write_bytes(junk)
    crash(store)
    left = RecoveryStore(tmp_path).leftovers()
    assert [each.kept for each in left] == [[KEPT]]
    left[0].release()


def test_the_system_frees_the_lock_of_a_killed_process(tmp_path):
    code = (
        "import sys, time\nfrom pathlib import Path\nfrom app.recovery.lock import ProcessLock\n"
        "lock = ProcessLock(Path(sys.argv[1])); assert lock.acquire(); print('held', flush=True); time.sleep(60)"
    )
    path = tmp_path / "lock"
    process = subprocess.Popen([sys.executable, "-c", code, path], stdout=subprocess.PIPE, text=True, cwd=ROOT)
    try:
        assert process.stdout.readline() == "held\n"
        assert not ProcessLock(path).acquire()
    finally:
        process.kill()
        process.wait()
        process.stdout.close()
    mine = ProcessLock(path)
    assert mine.acquire()
    mine.release()
