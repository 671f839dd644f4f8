"""The inspection process: answers, and what becomes of plugins that misbehave."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

from engine.errors import DataError, LayerError, NetcanvasError, PluginError, ShapeError, WorkerError
from engine.inspection import InspectionClient
from engine.inspection.guarding import Guard
from engine.inspection.messages import error_from_json, error_to_json
from engine.layer import Phase
from engine.plugins import PluginLoadError
from engine.schema import read_net
from tests.engine.plugins.helpers import write

GOOD = """
    import caffe
    class Good(caffe.Layer):
        def setup(self, bottom, top):
            print("to standard output")
            self.blobs.add_blob(5)
        def reshape(self, bottom, top): top[0].reshape(bottom[0].shape[0], int(self.param_str))
"""

ADVERSARIES = {
    "raises": ("raise ValueError('x7')", r"ValueError.*x7"),
    "exits": ("import sys; sys.exit(3)", r"SystemExit"),
    "leaves": ("import os; os._exit(7)", r"ended the inspection process \(exit status 7\)"),
    "crashes": ("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)", r"signal 11"),
    "hangs": ("while True: pass", r"no answer within 2 seconds"),
    "hangs_quietly": ("import time; time.sleep(100)", r"no answer within 2 seconds"),
    "eats": ("x = bytearray(3 << 30); x[::4096] = b'1' * len(x[::4096])", r"MemoryError|memory"),
}


@pytest.fixture
def client() -> Iterator[InspectionClient]:
    with InspectionClient(time_limit=20.0) as client:
        yield client


@pytest.fixture
def strict() -> Iterator[InspectionClient]:
    """A client of little patience, started already so that its time limit is for the question alone."""
    with InspectionClient(time_limit=20.0, memory_limit=1 << 30) as client:
        client.layer_shapes(message('type: "ReLU" bottom: "x" top: "y"'), Phase.TEST, [(1,)])
        client.time_limit = 2.0
        yield client


def message(text: str) -> Any:
    return read_net('layer { name: "p" ' + text + " }").layer[0]


def python(cls: str, param_str: str = "4", module: str = "mod") -> Any:
    setting = f'python_param {{ module: "{module}" layer: "{cls}" param_str: "{param_str}" }}'
    return message('type: "Python" bottom: "x" top: "y" ' + setting)


class TestShapes:
    def test_a_python_layer(self, client: InspectionClient, tmp_path: Path) -> None:
        write(tmp_path, mod=GOOD)
        shapes = client.layer_shapes(python("Good"), Phase.TRAIN, [(2, 3)], base_dirs=[tmp_path])
        assert (shapes.tops, shapes.params) == (((2, 4),), ((5,),))
        assert shapes.file == str(tmp_path / "mod.py")

    def test_an_edited_file_counts_at_the_next_question(self, client: InspectionClient, tmp_path: Path) -> None:
        write(tmp_path, mod=GOOD)
        client.layer_shapes(python("Good"), Phase.TRAIN, [(2, 3)], base_dirs=[tmp_path])
        write(tmp_path, mod=GOOD.replace("add_blob(5)", "add_blob(6)"))
        shapes = client.layer_shapes(python("Good"), Phase.TRAIN, [(2, 3)], base_dirs=[tmp_path])
        assert shapes.params == ((6,),)
        write(tmp_path, mod="def (")
        with pytest.raises(PluginLoadError) as caught:
            client.layer_shapes(python("Good"), Phase.TRAIN, [(2, 3)], base_dirs=[tmp_path])
        assert (caught.value.kind, caught.value.line) == ("syntax", 1)

    def test_two_projects_do_not_collide(self, client: InspectionClient, tmp_path: Path) -> None:
        for name, count in (("one", 5), ("two", 7)):
            write(tmp_path / name, mod=GOOD.replace("add_blob(5)", f"add_blob({count})"))
        params = [
            client.layer_shapes(python("Good"), Phase.TRAIN, [(2, 3)], base_dirs=[tmp_path / name]).params
            for name in ("one", "two", "one")
        ]
        assert params == [((5,),), ((7,),), ((5,),)]

    def test_a_top_shaped_only_in_forward_is_not_known(self, client: InspectionClient, tmp_path: Path) -> None:
        write(tmp_path, mod="import caffe\nclass Late(caffe.Layer):\n    def reshape(self, bottom, top): pass\n")
        assert client.layer_shapes(python("Late"), Phase.TRAIN, [(2,)], base_dirs=[tmp_path]).tops == (None,)

    def test_plugin_folders_are_searched(self, client: InspectionClient, tmp_path: Path) -> None:
        write(tmp_path / "more", mod=GOOD)
        shapes = client.layer_shapes(python("Good"), Phase.TRAIN, [(2, 3)], plugin_folders=[tmp_path])
        assert shapes.tops == ((2, 4),)

    def test_an_hdf5_source(self, client: InspectionClient, tmp_path: Path) -> None:
        with h5py.File(tmp_path / "a.h5", "w") as file:
            file["x"] = np.zeros((5, 3, 2), np.float32)
            file["label"] = np.zeros((5,), np.float32)
        (tmp_path / "list.txt").write_text(str(tmp_path / "a.h5"))
        layer = message('type: "HDF5Data" top: "x" top: "label" hdf5_data_param { source: "list.txt" batch_size: 4 }')
        assert client.layer_shapes(layer, Phase.TRAIN, [], base_dirs=[tmp_path]).tops == ((4, 3, 2), (4,))

    @pytest.mark.parametrize(
        ("text", "tops"),
        [
            ('"ImageData" top: "x" top: "y" image_data_param { source: "images" batch_size: 3 }', ((3, 3, 4, 6), (3,))),
            (
                '"WindowData" top: "x" top: "y" transform_param { crop_size: 5 } '
                'window_data_param { source: "windows" batch_size: 2 }',
                ((2, 3, 5, 5), (2,)),
            ),
        ],
    )
    def test_images_of_a_list(
        self, client: InspectionClient, tmp_path: Path, text: str, tops: tuple[tuple[int, ...], ...]
    ) -> None:
        (tmp_path / "a.ppm").write_bytes(b"P6 6 4 255\n" + bytes(6 * 4 * 3))
        (tmp_path / "images").write_text("a.ppm 1\n")
        (tmp_path / "windows").write_text("# 0 a.ppm 3 4 6 2 1 0.9 0 0 1 1 0 0.1 1 1 3 3\n")
        layer = message(f"type: {text}")
        assert client.layer_shapes(layer, Phase.TRAIN, [], base_dirs=[tmp_path]).tops == tops

    def test_a_damaged_database_ends_neither_process(self, client: InspectionClient, tmp_path: Path) -> None:
        (tmp_path / "db").mkdir()
        layer = message('type: "Data" top: "x" data_param { source: "db" batch_size: 1 backend: LMDB }')
        for content in (b"", b"\xde\xc0\xef\xbe" * 3000, bytes(16) + b"\xde\xc0\xef\xbe\x01" + b"\xff" * 9000):
            (tmp_path / "db" / "data.mdb").write_bytes(content)
            with pytest.raises(DataError, match=r"Database '.*data.mdb': expected"):
                client.layer_shapes(layer, Phase.TRAIN, [], base_dirs=[tmp_path])

    @pytest.mark.parametrize(
        ("text", "bottoms", "error", "words"),
        [
            ('type: "Data" top: "d" data_param { source: "nowhere" batch_size: 1 }', [], DataError, "nowhere"),
            (
                'type: "InnerProduct" bottom: "x" top: "y" inner_product_param { axis: 4 num_output: 2 }',
                [(2,)],
                LayerError,
                "'p'",
            ),
            ('type: "Wrng" bottom: "x" top: "y"', [(2,)], NetcanvasError, "Wrng"),
        ],
    )
    def test_errors_arrive_as_what_they_are(
        self, client: InspectionClient, text: str, bottoms: list[Any], error: type[Exception], words: str
    ) -> None:
        with pytest.raises(error, match=words):
            client.layer_shapes(message(text), Phase.TRAIN, bottoms)


class TestAdversaries:
    @pytest.mark.parametrize("where", ["import", "reshape"])
    @pytest.mark.parametrize("name", ADVERSARIES)
    def test_the_client_lives_and_says_what_happened(
        self, strict: InspectionClient, tmp_path: Path, name: str, where: str
    ) -> None:
        body, words = ADVERSARIES[name]
        inside = f"\n        def reshape(self, bottom, top):\n            {body}\n"
        bad = GOOD + (f"    {body}\n" if where == "import" else "    class Bad(Good):" + inside)
        write(tmp_path / "bad", mod=bad)
        write(tmp_path / "good", mod=GOOD)
        with pytest.raises(PluginError, match=words) as caught:
            strict.layer_shapes(python("Bad"), Phase.TRAIN, [(2, 3)], base_dirs=[tmp_path / "bad"])
        assert caught.value.layer == "p"
        strict.time_limit = 20.0
        assert strict.layer_shapes(python("Good"), Phase.TRAIN, [(2, 3)], base_dirs=[tmp_path / "good"]).tops == (
            (2, 4),
        )

    def test_a_fork_answers_nothing_twice(self, client: InspectionClient, tmp_path: Path) -> None:
        inside = "\n        def reshape(self, bottom, top):\n            import os\n            os.fork()\n"
        write(tmp_path, mod=GOOD + "    class Forks(Good):" + inside + "            super().reshape(bottom, top)\n")
        for size in (3, 4, 5):
            shapes = client.layer_shapes(python("Forks", str(size)), Phase.TRAIN, [(2, 3)], base_dirs=[tmp_path])
            assert shapes.tops == ((2, size),)

    def test_reading_input_and_printing_break_nothing(self, client: InspectionClient, tmp_path: Path) -> None:
        inside = (
            "\n        def setup(self, bottom, top):\n            import sys, os, subprocess"
            "\n            assert sys.stdin.read() == ''\n            os.write(1, b'x' * 100000)"
            "\n            subprocess.run(['echo', 'noise'])\n            sys.stdout.write('{}' * 1000)\n"
        )
        write(tmp_path, mod=GOOD + "    class Noisy(Good):" + inside)
        assert client.layer_shapes(python("Noisy"), Phase.TRAIN, [(2, 3)], base_dirs=[tmp_path]).tops == ((2, 4),)

    def test_what_was_printed_before_a_crash_is_shown(self, client: InspectionClient, tmp_path: Path) -> None:
        write(tmp_path, mod="import os\nprint('last words', flush=True)\nos._exit(1)\n")
        with pytest.raises(PluginError) as caught:
            client.layer_shapes(python("Bad"), Phase.TRAIN, [(2, 3)], base_dirs=[tmp_path])
        assert "last words" in caught.value.traceback_text


class TestListing:
    def test_layers_and_failures_side_by_side(self, strict: InspectionClient, tmp_path: Path) -> None:
        marker = tmp_path / "script_ran"
        write(
            tmp_path / "plugin",
            good='import caffe\nclass A(caffe.Layer):\n    """Adds.\n\n    More."""\nclass B(A): pass\n',
            pkg____init__="",
            pkg__inner="from caffe import Layer\nclass C(Layer): pass\n",
            syntax="import caffe\nclass D(caffe.Layer):\n    def f(:\n",
            exits="import caffe, sys\nclass E(caffe.Layer): pass\nsys.exit()\n",
            hangs="import caffe\nclass F(caffe.Layer): pass\nwhile True: pass\n",
            script=f"open({str(marker)!r}, 'w').close()\n",
        )
        listing = strict.list_layers(tmp_path / "plugin")
        assert [(e.module, e.name, e.summary) for e in listing.layers] == [
            ("good", "A", "Adds."),
            ("good", "B", ""),
            ("pkg.inner", "C", ""),
        ]
        failures = {failure.module: str(failure.error) for failure in listing.failures}
        assert set(failures) == {"syntax", "exits", "hangs"}
        assert "syntax.py:3" in failures["syntax"] and "SystemExit" in failures["exits"]
        assert "no answer" in failures["hangs"]
        assert not marker.exists()


class TestLifetime:
    def test_nothing_starts_before_the_first_question_and_close_is_final(self) -> None:
        client = InspectionClient()
        assert client._process is None
        client.close()
        client.close()
        with pytest.raises(WorkerError, match="closed"):
            client.layer_shapes(python("Good"), Phase.TRAIN, [(1,)])

    def test_the_process_ends_with_its_client(self, client: InspectionClient) -> None:
        client.layer_shapes(message('type: "ReLU" bottom: "x" top: "y"'), Phase.TEST, [(1,)])
        process = client._process
        assert process is not None
        pid = process._process.pid
        client.close()
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)

    def test_closing_does_not_wait_for_a_layer_that_hangs(self, client: InspectionClient, tmp_path: Path) -> None:
        begun = tmp_path / "begun"
        write(tmp_path, mod=f"open({str(begun)!r}, 'w').close()\nwhile True: pass\n")
        client.layer_shapes(message('type: "ReLU" bottom: "x" top: "y"'), Phase.TEST, [(1,)])
        raised: list[Exception] = []

        def ask() -> None:
            try:
                client.layer_shapes(python("Bad"), Phase.TRAIN, [(2, 3)], base_dirs=[tmp_path])
            except WorkerError as error:
                raised.append(error)

        thread = threading.Thread(target=ask)
        thread.start()
        while not begun.exists():
            time.sleep(0.01)
        begin = time.perf_counter()
        client.close()
        thread.join()
        assert time.perf_counter() - begin < 3
        assert len(raised) == 1 and client._process is None

    def test_questions_from_several_threads_do_not_mix(self, client: InspectionClient) -> None:
        relu = message('type: "ReLU" bottom: "x" top: "y"')
        answers: dict[int, Any] = {}

        def ask(size: int) -> None:
            answers[size] = client.layer_shapes(relu, Phase.TEST, [(size,)]).tops

        threads = [threading.Thread(target=ask, args=(size,)) for size in range(1, 9)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert answers == {size: ((size,),) for size in range(1, 9)}

    def test_memory_of_the_program_that_asks_is_not_counted(self, monkeypatch: pytest.MonkeyPatch) -> None:
        most = 2 << 30
        monkeypatch.setattr("engine.inspection.guarding._most_memory", lambda: most)
        guard = Guard()
        assert not guard.is_spent()
        most = 3 << 30
        assert guard.is_spent()

    def test_a_warm_question_is_quick(self, client: InspectionClient) -> None:
        relu = message('type: "ReLU" bottom: "x" top: "y"')
        client.layer_shapes(relu, Phase.TEST, [(1,)])
        times = []
        for _ in range(20):
            begin = time.perf_counter()
            client.layer_shapes(relu, Phase.TEST, [(1,)])
            times.append(time.perf_counter() - begin)
        assert min(times) < 0.1


@pytest.mark.parametrize(
    "error",
    [
        NetcanvasError("a", next_step="b"),
        DataError("no file"),
        LayerError("l", "T", "detail", port="bottom 0", method="setup", next_step="step"),
        ShapeError("l", "T", "detail", port="bottom 1"),
        PluginError("l", "Python", "detail", traceback_text="Traceback"),
        PluginLoadError("l", "detail", kind="syntax", file="f.py", line=3, next_step="s", traceback_text="t"),
        WorkerError("of a class that does not travel"),
    ],
)
def test_errors_survive_the_journey(error: NetcanvasError) -> None:
    again = error_from_json(error_to_json(error))
    assert str(again) == str(error)
    assert isinstance(error, type(again))
    for name in ("layer", "layer_type", "detail", "port", "method", "traceback_text", "kind", "file", "line"):
        assert getattr(again, name, None) == getattr(error, name, None)
