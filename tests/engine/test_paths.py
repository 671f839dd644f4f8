"""Files that a net names: names that no file can have are not found, and do no harm."""

from __future__ import annotations

import pytest

from engine.paths import resolve


@pytest.mark.parametrize("written", ["x" * 20_000, "a\0b", "~nobody-of-that-name/x", "/proc/1/root/x", "a/../" * 2000])
def test_a_name_that_no_file_can_have_is_not_found(tmp_path, written):
    found = resolve(written, [tmp_path])
    assert not found.found
    assert found.written == written
    assert found.tried


def test_the_first_folder_that_has_it_is_taken(tmp_path):
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    (tmp_path / "two" / "file").write_text("")
    found = resolve("file", [tmp_path / "one", tmp_path / "two"])
    assert found.found
    assert found.path == tmp_path / "two" / "file"
