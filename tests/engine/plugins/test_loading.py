from __future__ import annotations

import random
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from engine.errors import PluginError
from engine.plugins import PluginLoadError, PluginProject, search_order
from engine.plugins.roots import PluginFinder, plugin_finder
from engine.resources import plugins_path
from tests.engine.plugins.helpers import write
from tests.support import ROOT

LAYER = """
    import caffe
    class {name}(caffe.Layer):
        factor = {factor}
        def setup(self, bottom, top): pass
        def reshape(self, bottom, top): top[0].reshape(*bottom[0].shape)
        def forward(self, bottom, top): top[0].data[...] = bottom[0].data * self.factor
        def backward(self, top, propagate_down, bottom): pass
"""


def layer(name: str = "L", factor: int = 2) -> str:
    return textwrap.dedent(LAYER).format(name=name, factor=factor)


def project(*plugin_paths: Path, base_dirs: tuple[Path, ...] = ()) -> PluginProject:
    return PluginProject(plugin_paths, base_dirs)


def load_error(here: PluginProject, module: str, name: str = "L") -> PluginLoadError:
    with pytest.raises(PluginLoadError) as caught:
        here.load_class(module, name, layer="loss")
    assert isinstance(caught.value, PluginError)
    assert "'loss' (Python)" in str(caught.value)
    return caught.value


class TestSearch:
    def test_order_is_plugins_project_net_folder_path_shipped(self, tmp_path: Path) -> None:
        named = tmp_path / "named"
        (named / "inside").mkdir(parents=True)
        base = tmp_path / "project" / "models"
        (base.parent / "plugins" / "p").mkdir(parents=True)
        base.mkdir()
        before, after = search_order([named], [base, base.parent])
        plugins = base.parent / "plugins"
        assert before == (named, named / "inside", plugins, plugins / "p", base)
        assert after[0] == plugins_path().resolve()
        assert after[-1] == base.parent

    @pytest.mark.parametrize("winner", ["named", "plugins", "net"])
    def test_the_first_folder_wins(self, tmp_path: Path, winner: str) -> None:
        net = tmp_path / "project"
        places = {"named": tmp_path / "named", "plugins": net / "plugins", "net": net}
        order = list(places)[list(places).index(winner) :]
        for factor, place in enumerate(order):
            write(places[place], mod_first=layer(factor=10 + factor))
        here = project(places["named"], base_dirs=(net,))
        assert here.load_class("mod_first", "L").factor == 10  # type: ignore[attr-defined]
        assert here.file_of("mod_first") == places[winner] / "mod_first.py"

    def test_a_dotted_module_is_found_with_and_without_init(self, tmp_path: Path) -> None:
        write(tmp_path, rpn__anchor_target_layer=layer("AnchorTargetLayer"), pkg____init__="", pkg__deep__x=layer())
        here = project(tmp_path)
        assert here.load_class("rpn.anchor_target_layer", "AnchorTargetLayer").__name__ == "AnchorTargetLayer"
        assert here.load_class("pkg.deep.x", "L").__name__ == "L"

    def test_pythonpath_modules_keep_their_ordinary_name(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        write(tmp_path, on_the_path=layer() + "\nstate = []\n")
        monkeypatch.syspath_prepend(tmp_path)
        loaded = project(base_dirs=(tmp_path,)).load_module("on_the_path")
        import on_the_path  # type: ignore[import-not-found]

        assert loaded.module is on_the_path

    def test_the_project_wins_over_an_installed_module_of_that_name(self, tmp_path: Path) -> None:
        write(tmp_path, tqdm=layer(factor=7))
        here = project(base_dirs=(tmp_path,))
        assert here.load_class("tqdm", "L").factor == 7  # type: ignore[attr-defined]
        assert here.file_of("tqdm") == tmp_path / "tqdm.py"
        import tqdm

        assert not hasattr(tqdm, "L")

    @pytest.mark.parametrize("name", ["engine", "nodes.x", "caffe.layers"])
    def test_our_own_names_are_refused(self, tmp_path: Path, name: str) -> None:
        write(tmp_path, engine=layer(), nodes__x=layer())
        assert "taken by the product" in str(load_error(project(tmp_path), name))


class TestImportsInsidePlugins:
    def test_siblings_are_found_in_every_spelling(self, tmp_path: Path) -> None:
        write(
            tmp_path,
            pkg____init__="",
            pkg__conf="VALUE = [3]",
            helper="from pkg.conf import VALUE",
            bare__more="X = 4",
            pkg__main=textwrap.dedent("""
                import helper, pkg.conf, pkg.conf as c2
                from . import conf
                from .conf import VALUE
                from pkg import conf as c3
                from bare import more
                same = helper.VALUE is pkg.conf.VALUE is c2.VALUE is conf.VALUE is VALUE is c3.VALUE
                assert same and more.X == 4
                import numpy, json, os.path
            """)
            + layer(),
        )
        project(tmp_path).load_class("pkg.main", "L")
        assert "helper" not in sys.modules and "pkg" not in sys.modules

    def test_a_neighbour_folder_of_the_same_project_is_searched_next(self, tmp_path: Path) -> None:
        write(tmp_path / "plugins" / "one", layers="import common\n" + layer())
        write(tmp_path / "plugins" / "two", common="X = 1")
        assert project(base_dirs=(tmp_path,)).load_class("layers", "L").factor == 2  # type: ignore[attr-defined]

    def test_the_standard_library_stays_itself(self, tmp_path: Path) -> None:
        uses = "import random\n" + layer() + "    random = random\n"
        write(tmp_path, random="raise RuntimeError('shadowed')", uses=uses)
        assert project(tmp_path).load_class("uses", "L").random is random  # type: ignore[attr-defined]

    def test_no_bytecode_is_written_into_the_folder(self, tmp_path: Path) -> None:
        write(tmp_path, clean=layer())
        project(tmp_path).load_class("clean", "L")
        assert [path.name for path in tmp_path.iterdir()] == ["clean.py"]


class TestFailures:
    """A2: which of the things that can go wrong did."""

    def test_module_not_found_names_the_searched_folders_and_the_near_miss(self, tmp_path: Path) -> None:
        write(tmp_path, anchor_target_layer=layer())
        error = load_error(project(tmp_path), "anchor_target_layr")
        assert error.kind == "module-missing"
        assert str(tmp_path) in str(error) and "Did you mean 'anchor_target_layer'?" in str(error)

    @pytest.mark.parametrize("written", ["rpn.layers.py", "rpn/layers", "../rpn/layers.py"])
    def test_a_module_written_as_a_path_is_told_how_to_be_written(self, tmp_path: Path, written: str) -> None:
        assert load_error(project(tmp_path), written).next_step == "Write it as import does: 'rpn.layers'."

    def test_its_own_import_failing_names_the_inner_module(self, tmp_path: Path) -> None:
        write(tmp_path, needs="import os\nimport not_installed_zz\n")
        error = load_error(project(tmp_path), "needs")
        assert error.kind == "import-failed"
        assert "not_installed_zz" in str(error) and "was found" in str(error)
        assert (Path(error.file), error.line) == (tmp_path / "needs.py", 2)
        assert "import not_installed_zz" in error.traceback_text
        assert "importlib" not in error.traceback_text

    def test_a_sibling_failing_is_pinned_to_the_sibling(self, tmp_path: Path) -> None:
        write(tmp_path, outer="import inner\n", inner="x = 1\nraise ValueError('x7')\n")
        error = load_error(project(tmp_path), "outer")
        assert "ValueError" in str(error) and "x7" in str(error)
        assert (Path(error.file), error.line) == (tmp_path / "inner.py", 2)

    def test_class_missing_suggests_the_near_miss(self, tmp_path: Path) -> None:
        write(tmp_path, has="from engine.api import Blob\n" + layer("AnchorTargetLayer"))
        error = load_error(project(tmp_path), "has", "AnchorTargetLayr")
        assert error.kind == "class-missing"
        assert "Did you mean 'AnchorTargetLayer'?" in str(error) and "Blob" not in str(error)

    @pytest.mark.parametrize(
        ("body", "what"),
        [("def L(inputs, outputs): pass", "a function"), ("class L: pass", "a class"), ("L = 3", "int")],
    )
    def test_what_is_no_layer_is_said_to_be_none(self, tmp_path: Path, body: str, what: str) -> None:
        write(tmp_path, **{"odd_" + what.split()[-1]: body})
        error = load_error(project(tmp_path), "odd_" + what.split()[-1])
        assert error.kind == "not-a-layer" and f"is {what}, expected a subclass of caffe.Layer" in str(error)

    @pytest.mark.parametrize(
        ("body", "line", "hint"),
        [("x = 1\ndef f(:\n", 2, "Correct the line"), ("x = 1\n\nprint 'old'\n", 3, "Python 2")],
    )
    def test_syntax_errors_are_pinned_to_file_and_line(self, tmp_path: Path, body: str, line: int, hint: str) -> None:
        write(tmp_path, **{f"bad{line}": body})
        error = load_error(project(tmp_path), f"bad{line}")
        assert error.kind == "syntax"
        assert f"bad{line}.py:{line}" in str(error) and hint in str(error)

    def test_system_exit_is_an_error_of_the_layer(self, tmp_path: Path) -> None:
        write(tmp_path, leaves="import sys\nsys.exit(3)\n")
        error = load_error(project(tmp_path), "leaves")
        assert error.kind == "exit" and "SystemExit 3" in str(error) and error.line == 2

    def test_a_corrected_module_loads_at_once(self, tmp_path: Path) -> None:
        write(tmp_path, later="raise ValueError\n")
        load_error(project(tmp_path), "later")
        write(tmp_path, later=layer(factor=4))
        assert project(tmp_path).load_class("later", "L").factor == 4  # type: ignore[attr-defined]

    def test_one_bad_plugin_leaves_the_others_alone(self, tmp_path: Path) -> None:
        write(tmp_path, bad="1/0", good=layer())
        here = project(tmp_path)
        load_error(here, "bad")
        assert here.load_class("good", "L").factor == 2  # type: ignore[attr-defined]

    @pytest.mark.parametrize(("module", "name"), [("", "L"), ("m", "")])
    def test_fields_left_out_are_named(self, tmp_path: Path, module: str, name: str) -> None:
        assert load_error(project(tmp_path), module, name).kind == "not-named"


class TestReload:
    """A17: explicit reload, and modules of one name in two projects."""

    def test_two_projects_keep_their_own_module(self, tmp_path: Path) -> None:
        for name, factor in (("one", 2), ("two", 3)):
            write(tmp_path / name, layers=layer(factor=factor))
        factors = [
            project(base_dirs=(tmp_path / name,)).load_class("layers", "L").factor  # type: ignore[attr-defined]
            for name in ("one", "two", "one")
        ]
        assert factors == [2, 3, 2]

    def test_an_edit_counts_after_a_reload_and_a_failed_one_keeps_the_old(self, tmp_path: Path) -> None:
        write(tmp_path, layers="import other\n" + layer(factor=3), other="X = 1")
        here = project(base_dirs=(tmp_path,))
        old = here.load_class("layers", "L")
        assert tmp_path / "layers.py" not in here.changed_files()
        write(tmp_path, layers="import other\n" + layer(factor=5))
        assert here.changed_files() == [tmp_path / "layers.py"]
        assert here.load_class("layers", "L") is old
        assert tmp_path / "layers.py" in here.reload()
        new = here.load_class("layers", "L")
        assert (new.factor, old.factor) == (5, 3)  # type: ignore[attr-defined]
        write(tmp_path, other="def (:")
        with pytest.raises(PluginLoadError, match=r"other\.py:1"):
            here.reload()
        assert here.load_class("layers", "L") is new
        write(tmp_path, other="X = 2")
        here.reload()
        assert here.load_class("layers", "L") is not new

    def test_modules_on_the_path_reload_too(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        write(tmp_path, plain_reload=layer(factor=3))
        monkeypatch.syspath_prepend(tmp_path)
        here = project(base_dirs=(tmp_path,))
        here.load_class("plain_reload", "L")
        module = sys.modules["plain_reload"]
        write(tmp_path, plain_reload="1/0")
        with pytest.raises(PluginLoadError, match="ZeroDivisionError"):
            here.reload()
        assert sys.modules["plain_reload"] is module
        write(tmp_path, plain_reload=layer(factor=5))
        here.reload()
        assert here.load_class("plain_reload", "L").factor == 5  # type: ignore[attr-defined]

    def test_imports_inside_old_functions_still_work(self, tmp_path: Path) -> None:
        write(
            tmp_path,
            pkg____init__="",
            pkg__late="X = 9",
            pkg__m="def f():\n    from . import late\n    return late.X\n",
        )
        here = project(tmp_path)
        old = here.load_module("pkg.m").module
        here.reload()
        assert old.f() == 9


def test_the_finder_is_one_object_a_process() -> None:
    assert plugin_finder() is plugin_finder()
    assert sum(isinstance(finder, PluginFinder) for finder in sys.meta_path) == 1


class TestPythonsOtherImports:
    @pytest.mark.parametrize(
        "code",
        [
            "import importlib; X = importlib.import_module('mod_other').X",
            "from importlib import import_module; X = import_module('mod_other').X",
            "import importlib.util; importlib.util.find_spec('json'); X = importlib.import_module('mod_other').X",
            "import importlib; assert importlib.import_module('json').dumps; X = 7",
            "X = __import__('mod_other').X",
        ],
    )
    def test_import_module_looks_where_the_statement_does(self, tmp_path: Path, code: str) -> None:
        write(tmp_path / "a", mod_imports=f"{code}\n{layer()}", mod_other="X = 7\n")
        write(tmp_path / "b", mod_other="X = 8\n")
        loaded = project(tmp_path / "b", base_dirs=(tmp_path / "a",)).load_module("mod_imports")
        assert loaded.module.X == 7 and "mod_other" not in sys.modules

    @pytest.mark.parametrize("what", ["Process(target=work, args=(queue,))", "Fetcher(queue)"])
    def test_what_another_process_runs_is_found_there(self, tmp_path: Path, what: str) -> None:
        """As the data layers of py-faster-rcnn fetch their batches, where processes are not forked."""
        code = """
            import multiprocessing
            import caffe
            import mod_helper
            new = multiprocessing.get_context("spawn")
            Process = new.Process
            def work(queue): queue.put(mod_helper.X)
            class Fetcher(Process):
                def __init__(self, queue):
                    super().__init__()
                    self.queue = queue
                def run(self): work(self.queue)
            def fetch():
                queue = new.Queue()
                process = WHAT
                process.start()
                found = queue.get(timeout=60)
                process.join()
                queue.close()
                queue.join_thread()
                return found
        """
        write(tmp_path, mod_spawns=textwrap.dedent(code).replace("WHAT", what), mod_helper="X = 7\n")
        fetch = f"PluginProject([], [Path({str(tmp_path)!r})]).load_module('mod_spawns').module.fetch()"
        program = f"from pathlib import Path; from engine.plugins import PluginProject; print({fetch})"
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=ROOT, timeout=120)
        assert (done.stdout, done.returncode) == ("7\n", 0), done.stderr

    def test_a_path_is_no_modules_name(self, tmp_path: Path) -> None:
        write(tmp_path / "inner", mod=layer())
        assert "Write it as import does: 'inner.mod'." in str(load_error(project(base_dirs=(tmp_path,)), "inner/mod"))
