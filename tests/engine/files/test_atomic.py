"""Nothing the user had is ever half-overwritten."""

from __future__ import annotations

import os
import stat

import pytest

from engine.files import atomic_write, atomic_writer


def leftovers(folder):
    return [file.name for file in folder.iterdir() if file.name.endswith(".tmp")]


def test_new_file_follows_the_umask(tmp_path):
    path = tmp_path / "a.bin"
    old = os.umask(0o027)
    try:
        atomic_write(path, b"new")
    finally:
        os.umask(old)
    assert path.read_bytes() == b"new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert not leftovers(tmp_path)


def test_permissions_stay(tmp_path):
    path = tmp_path / "a.bin"
    path.write_bytes(b"old")
    path.chmod(0o604)
    atomic_write(path, b"new")
    assert path.read_bytes() == b"new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o604


def test_symbolic_links_stay(tmp_path):
    real = tmp_path / "real" / "a.bin"
    real.parent.mkdir()
    real.write_bytes(b"old")
    link = tmp_path / "link.bin"
    link.symlink_to(real)
    atomic_write(link, b"new")
    assert link.is_symlink()
    assert real.read_bytes() == b"new"


def test_failure_leaves_the_old_file(tmp_path):
    path = tmp_path / "a.bin"
    path.write_bytes(b"old")

    def interrupted():
        with atomic_writer(path) as file:
            file.write(b"half")
            file.flush()
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert path.read_bytes() == b"old"
    assert not leftovers(tmp_path)


def test_reader_sees_the_old_content_until_the_end(tmp_path):
    path = tmp_path / "a.bin"
    path.write_bytes(b"old")
    with atomic_writer(path) as file:
        file.write(b"new")
        file.flush()
        assert path.read_bytes() == b"old"
    assert path.read_bytes() == b"new"


def test_missing_folder_is_an_error(tmp_path):
    with pytest.raises(FileNotFoundError):
        atomic_write(tmp_path / "none" / "a.bin", b"new")


def test_long_names(tmp_path):
    path = tmp_path / ("n" * 250)
    atomic_write(path, b"new")
    assert path.read_bytes() == b"new"


def test_a_pipe_is_written_to_and_stays_one(tmp_path):
    """Root could replace a device such as ``/dev/stdout`` by a file."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        atomic_write(pipe, b"new")
        assert os.read(reader, 10) == b"new"
    finally:
        os.close(reader)
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert [file.name for file in tmp_path.iterdir()] == ["pipe"]


def test_a_missing_folder_is_named_by_the_file_that_was_asked_for(tmp_path):
    with pytest.raises(FileNotFoundError) as caught:
        atomic_write(tmp_path / "gone" / "a.bin", b"new")
    assert caught.value.filename == str((tmp_path / "gone" / "a.bin").resolve())
