"""Whose code a layer is, and what may run before a net's folder is trusted."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.graph import OpGraph
from engine.inspection import InspectionClient
from engine.layer import Phase
from engine.layer_specs import graph_layers
from engine.plugins.provenance import is_missing, missing_module, module_file, runs_without_trust
from engine.shapes import NodeShapes, ShapeService, join_shapes
from tests.engine.plugins.helpers import write

LAYER = """
    import caffe
    class L(caffe.Layer):
        def setup(self, bottom, top): pass
        def reshape(self, bottom, top): top[0].reshape(SIZE)
"""


def layer(size: int, first: str = "") -> str:
    return f"{first}\n" + LAYER.replace("SIZE", str(size))


def shapes(module: str, named: Path, project: Path) -> NodeShapes:
    text = 'layer { name: "x" type: "Input" top: "x" input_param { shape { dim: 2 } } }\n'
    text += (
        f'layer {{ name: "p" type: "Python" bottom: "x" top: "y" python_param {{ module: "{module}" layer: "L" }} }}'
    )
    specs = graph_layers(OpGraph.parse(text.encode()))
    with InspectionClient(time_limit=20.0) as client:
        found = ShapeService(client=client).infer(specs, Phase.TRAIN, base_dirs=[project], plugin_folders=[named])
    return found[specs[-1].node_id]


def test_the_first_folder_that_has_the_module_decides(tmp_path: Path) -> None:
    named = write(tmp_path / "named", mine=layer(1), both=layer(1))
    project = write(tmp_path / "project", beside=layer(2), both=layer(2), plugins__inside=layer(2))
    assert runs_without_trust("mine", [named], [project])
    assert runs_without_trust("both", [named], [project])
    for module in ("beside", "inside", "gone", ""):
        assert not runs_without_trust(module, [named], [project])
    assert not runs_without_trust("mine", [], [project, tmp_path])
    assert module_file("both", [named], [project]) == named / "both.py"
    assert module_file("inside", [named], [project]) == project / "plugins" / "inside.py"
    assert module_file("gone", [named], [project]) is None


def test_shipped_layers_run_untrusted_unless_the_project_has_one_of_the_name(tmp_path: Path) -> None:
    assert runs_without_trust("channel_scale", [], [tmp_path])
    write(tmp_path, channel_scale=layer(1))
    assert not runs_without_trust("channel_scale", [], [tmp_path])


def test_named_code_runs_and_sees_nothing_of_an_untrusted_project(tmp_path: Path) -> None:
    mark = tmp_path / "ran"
    named = write(tmp_path / "named", mine=layer(5), curious=layer(5, "    import secret"))
    project = write(tmp_path / "project", secret=f"open({str(mark)!r}, 'w')\n", theirs=layer(1, "    import secret"))
    assert shapes("mine", named, project).tops == ((5,),)
    assert "not trusted" in shapes("theirs", named, project).reason
    assert "secret" in str(shapes("curious", named, project).error)
    assert not mark.exists()


@pytest.mark.parametrize("broken_first", [True, False])
def test_code_that_broke_in_one_state_keeps_what_it_gave_in_the_other(broken_first: bool) -> None:
    from engine.errors import PluginError

    error = PluginError("p", "Python", "lost.")
    known = {"p": NodeShapes(((2,),), ((3,),))}
    broken = {"p": NodeShapes(((2,),), (None,), (), "unknown", str(error), error)}
    joined = join_shapes([broken, known] if broken_first else [known, broken])["p"]
    assert (joined.tops, joined.state, joined.error) == (((3,),), "stale", error)


@pytest.mark.parametrize(
    ("module", "missing"),
    [
        ("here", False),
        ("pkg.inner", False),
        ("numpy", False),
        ("numpy.no_such_thing", False),  # only importing it would tell
        ("no_such_thing_zz", True),
        ("no_such_thing_zz.inner", True),
        ("../here", True),
        ("", True),
    ],
)
def test_a_module_is_missing_where_no_folder_and_no_package_has_it(tmp_path: Path, module: str, missing: bool) -> None:
    write(tmp_path, here="raise SystemExit", pkg____init__="raise SystemExit", pkg__inner="")
    assert is_missing(module, [], [tmp_path]) is missing
    told = missing_module(module, [], [tmp_path])
    assert bool(told) is (missing and bool(module))
    assert not told or (f"module '{module}' was not found" in told and str(tmp_path) in told)
