from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest

from engine.data import open_datum_source
from engine.errors import DataError
from tests.engine.data.conftest import LayerMaker, make_datum

IMAGES = np.random.default_rng(8).integers(0, 256, (10, 3, 5, 6), dtype=np.uint8)


def param(layer: LayerMaker, source: Path, more: str = "") -> object:
    return layer(
        f'name: "d" type: "Data" top: "data" top: "label" transform_param {{ mirror: true }} '
        f'data_param {{ source: "{source}" batch_size: 4 {more} }}'
    )


@pytest.fixture
def database(tmp_path: Path) -> Path:
    plyvel = pytest.importorskip("plyvel", reason="the extra netcanvas[leveldb] is not installed")
    with plyvel.DB(str(tmp_path / "db"), create_if_missing=True) as written:
        for index, image in enumerate(IMAGES):
            written.put(b"%08d_name" % index, make_datum(image, index).SerializeToString())
    return tmp_path / "db"


def test_records_come_in_key_order_and_wrap(database: Path, layer: LayerMaker) -> None:
    first = open_datum_source(param(layer, database), train=True, seed=0)
    second = open_datum_source(param(layer, database, "backend: LEVELDB"), train=True, seed=0)  # at the same time
    for source in (first, second):
        for start in (0, 4, 8):
            images, labels = source.next().arrays
            expected = IMAGES[np.arange(start, start + 4) % 10]
            assert labels.tolist() == (np.arange(start, start + 4) % 10).tolist()
            for image, wanted in zip(images, expected, strict=True):
                assert np.array_equal(image, wanted) or np.array_equal(image, wanted[:, :, ::-1])
    first.close()
    assert second.next().arrays[1].tolist() == [2, 3, 4, 5]
    second.close()


@pytest.mark.parametrize("consumed", [0, 3])
def test_position_is_restored_exactly(database: Path, layer: LayerMaker, consumed: int) -> None:
    first = open_datum_source(param(layer, database, "rand_skip: 5"), train=True, seed=4)
    for _ in range(consumed):
        first.next()
    state = first.get_state()
    expected = [first.next().arrays[0].copy() for _ in range(4)]
    second = open_datum_source(param(layer, database), train=True, seed=9)
    second.next()
    second.set_state(state)
    for wanted in expected:
        np.testing.assert_array_equal(second.next().arrays[0], wanted)
    second.set_state({**state, "key": b"gone".hex(), "record": 13})
    assert second.next().arrays[1].tolist() == [3, 4, 5, 6]
    first.close()
    second.close()


def test_damage_is_found_by_the_checksums(database: Path, layer: LayerMaker) -> None:
    import plyvel

    with plyvel.DB(str(database)) as written:
        written.compact_range()
    for table in database.glob("*.ldb"):
        data = bytearray(table.read_bytes())
        data[len(data) // 3] ^= 0x10
        table.write_bytes(data)
    with pytest.raises(DataError, match=r"Database '.*db'.*(Corruption|checksum|cannot be opened)"):
        open_datum_source(param(layer, database), train=True, seed=0).next()


@pytest.mark.parametrize("name", ["CURRENT", "MANIFEST-*"])
def test_a_database_that_lacks_a_part_is_refused(database: Path, layer: LayerMaker, name: str) -> None:
    for file in database.glob(name):
        file.write_bytes(b"")
    with pytest.raises(DataError, match=r"expected a LevelDB database, got one that cannot be opened"):
        open_datum_source(param(layer, database), train=True, seed=0)


def test_an_empty_database_is_refused(tmp_path: Path, layer: LayerMaker) -> None:
    plyvel = pytest.importorskip("plyvel", reason="the extra netcanvas[leveldb] is not installed")
    plyvel.DB(str(tmp_path / "db"), create_if_missing=True).close()
    with pytest.raises(DataError, match="expected records, got an empty database"):
        open_datum_source(param(layer, tmp_path / "db"), train=True, seed=0)


def test_a_database_in_use_elsewhere_is_waited_for_and_then_named(
    database: Path, layer: LayerMaker, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = f"import plyvel, sys; db = plyvel.DB({str(database)!r}); print('open', flush=True); sys.stdin.read()"
    holder = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert holder.stdin is not None and holder.stdout is not None
    try:
        assert holder.stdout.readline() == b"open\n"
        monkeypatch.setattr("engine.data.leveldb_reader._PATIENCE_SECONDS", 0.2)
        with pytest.raises(DataError, match=r"cannot be opened.*no other process has it open"):
            open_datum_source(param(layer, database), train=True, seed=0)
    finally:
        holder.stdin.close()
        holder.wait(10)
        holder.stdout.close()
    open_datum_source(param(layer, database), train=True, seed=0).close()


def test_the_absent_package_is_named_with_its_extra(tmp_path: Path) -> None:
    (tmp_path / "CURRENT").write_bytes(b"MANIFEST-000001\n")
    code = textwrap.dedent(
        f"""
        import sys
        sys.modules["plyvel"] = None
        from pathlib import Path
        from engine.data.databases import open_database
        from engine.errors import DataError
        try:
            open_database({str(tmp_path)!r}, (), "Layer 'd' (Data)")
        except DataError as error:
            print(error)
        """
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert "expected the package 'plyvel'" in told and 'pip install "netcanvas[leveldb]"' in told
