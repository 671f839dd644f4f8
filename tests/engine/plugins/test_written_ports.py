"""Names of ports that a class of a plugin has itself, read from its text."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.plugins import find_plugins
from engine.plugins.catalogue import loose_layers
from tests.engine.plugins.helpers import write

CLASS = "import caffe\nclass L(caffe.Layer):\n    '''What it does.'''\n    {}\n"
MANIFEST = '[layers."mod.L"]\nbottoms = ["declared"]\n'


@pytest.mark.parametrize(
    ("line", "ports"),
    [
        ('bottoms = ("features", "boxes?")', ("features", "boxes?")),
        ('bottoms: list[str] = ["features"]', ("features",)),
        ("bottoms = ()", ("bottom*",)),
        ("bottoms = []", ("bottom*",)),
        ('bottoms = ("features", 3)', ("bottom*",)),
        ('bottoms = make("features")', ("bottom*",)),
        ('tops = ("features",)', ("bottom*",)),
        ('def setup(self): self.bottoms = ("features",)', ("bottom*",)),
    ],
)
def test_bottoms_are_what_the_class_binds(tmp_path: Path, line: str, ports: tuple[str, ...]) -> None:
    write(tmp_path, mod=CLASS.format(line))
    (layer,) = loose_layers("pkg.mod", tmp_path / "mod.py")
    assert layer.info.bottoms == ports
    assert (layer.module, layer.name, layer.line, layer.info.summary) == ("pkg.mod", "L", 2, "What it does.")
    assert layer.info.needs_trust


def test_a_manifest_counts_more_than_the_class(tmp_path: Path) -> None:
    write(
        tmp_path,
        mod=CLASS.format('bottoms, other = ("a", "b"), 1\n    bottoms = ("features",)\n    tops = ("scores",)'),
    )
    known = find_plugins([tmp_path]).python_layer("mod", "L")
    assert known is not None and (known.info.bottoms, known.info.tops) == (("features",), ("scores",))
    (tmp_path / "plugin.toml").write_text(MANIFEST)
    known = find_plugins([tmp_path]).python_layer("mod", "L")
    assert known is not None and (known.info.bottoms, known.info.tops) == (("declared",), ("scores",))


def test_a_file_that_is_gone_has_no_layers(tmp_path: Path) -> None:
    assert loose_layers("mod", tmp_path / "mod.py") == ()
