"""From a saved file to the new shapes of an open net, as the editor does it."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import Any

from engine.graph import OpGraph
from engine.inspection import InspectionClient
from engine.layer import Phase
from engine.plugins import FilesChanged, PluginWatcher
from engine.shapes import ShapeService, graph_layers
from tests.engine.plugins.helpers import write

LAYER = """
    import caffe
    from helper import SIZE
    class L(caffe.Layer):
        def setup(self, bottom, top): pass
        def reshape(self, bottom, top): top[0].reshape(SIZE)
"""
NET = b"""
    layer { name: "x" type: "Input" top: "x" input_param { shape { dim: 2 } } }
    layer { name: "p" type: "Python" bottom: "x" top: "y" python_param { module: "mod" layer: "L" } }
"""


def test_an_edit_shows_in_under_a_second(tmp_path: Path) -> None:
    write(tmp_path, mod=LAYER, helper="SIZE = 1\n")
    graph = OpGraph.parse(NET)
    specs = graph_layers(graph)
    heard = threading.Event()
    shown: list[Any] = []
    with InspectionClient(time_limit=20.0) as client:
        service = ShapeService(client=client)

        def look() -> tuple[Any, ...]:
            found = service.infer(specs, Phase.TRAIN, base_dirs=[tmp_path], trusted=True)
            return found[specs[-1].node_id].tops

        def on_change(_: FilesChanged) -> None:
            service.forget(types=["Python"])
            shown.append(look())
            heard.set()

        assert look() == ((1,),)
        seconds = []
        with PluginWatcher(on_change, [tmp_path]):
            for size in (2, 3, 4):
                heard.clear()
                begin = time.perf_counter()
                write(tmp_path, helper=f"SIZE = {size}\n")  # not the layer's own file, but what it imports
                assert heard.wait(20)
                seconds.append(time.perf_counter() - begin)
    assert shown == [((2,),), ((3,),), ((4,),)]
    assert min(seconds) < 1
