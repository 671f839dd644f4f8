"""What ``plugins/segmentation`` and ``plugins/mobile`` say of themselves is whole, and true of their code."""

from __future__ import annotations

import itertools
import re
from typing import Any

import pytest

from engine.layer import Layer
from engine.plugins import PluginFolder, PluginProject, find_plugins
from engine.registry import default_registry
from engine.schema import load_schema, read_net
from tests.support import shared

NAMES = ("segmentation", "mobile")
FOLDERS = {folder.name: folder for folder in find_plugins(safe=True).folders if folder.name in NAMES}
ENTRIES = [
    pytest.param(FOLDERS[name], entry, id=entry.type) for name in NAMES for entry in FOLDERS[name].manifest.types
]


def test_nothing_is_wrong_with_them() -> None:
    assert [folder.error for folder in FOLDERS.values()] == [None, None]
    assert [len(FOLDERS[name].manifest.types) for name in NAMES] == [7, 7]


@pytest.mark.parametrize(("folder", "entry"), ENTRIES)
def test_each_type_is_documented(folder: PluginFolder, entry: Any) -> None:
    layer = entry.layer
    cls = PluginProject([folder.path]).load_class(layer.module, layer.cls)
    assert issubclass(cls, Layer) and cls.__doc__ and len(cls.__doc__) > 40
    assert layer.summary.endswith(".")
    if entry.only_with:
        return
    assert layer.doc and layer.bottoms is not None and layer.tops
    info = default_registry(safe=True).info(entry.type)
    assert info is not None and info.plugin == folder.name
    fields = (
        load_schema(fragments=default_registry(safe=True).fragments).message("LayerParameter").DESCRIPTOR.fields_by_name
    )
    assert info.param_field in fields if info.param_field else entry.type in ("HardSwish", "Axpy")


@pytest.mark.parametrize("folder", FOLDERS.values(), ids=lambda folder: folder.name)
def test_every_field_has_a_sentence(folder: PluginFolder) -> None:
    (path,) = folder.manifest.schema_files
    lines = path.read_text().splitlines()
    for above, line in itertools.pairwise(lines):
        if re.match(r"\s+(optional|repeated) ", line):
            assert above.strip().startswith("// ") and above.rstrip().endswith((".", "PSPNet)", "effect.")), line


@pytest.mark.parametrize("name", NAMES)
def test_every_type_is_in_the_example(name: str) -> None:
    used = {layer.type for layer in read_net(FOLDERS[name].path / "examples" / "net.prototxt", strict=False).layer}
    own = {entry.type for entry in FOLDERS[name].manifest.types if not entry.only_with}
    assert own - used <= {"DenseImageData"}  # it needs files


@pytest.mark.parametrize("dialect", ["bvlc", "segnet", "enet", "ssd", "intel", "nvidia", "rfcn", "sphereface"])
def test_messages_are_those_of_the_dialects(dialect: str) -> None:
    """A dialect's own fields of the same name are the same, so that neither plugin changes what a document means."""
    registry = default_registry(safe=True)
    alone, both = load_schema(dialect), registry.schema(dialect)
    ours = [fragment for fragment in registry.fragments if fragment.plugin in NAMES]
    assert load_schema(dialect, ours).clashes == ()
    for message in (each for fragment in ours for each in fragment.file().message_type):
        for field in message.field:
            compare(alone, both, message.name, field.name)


def compare(alone: Any, both: Any, message: str, name: str) -> None:
    merged = both.message(message).DESCRIPTOR.fields_by_name[name]
    if message in alone.message_names and name in alone.message(message).DESCRIPTOR.fields_by_name:
        own = alone.message(message).DESCRIPTOR.fields_by_name[name]
        assert (own.number, own.type, own.default_value) == (merged.number, merged.type, merged.default_value)


def test_numbers_are_a_forks_or_none() -> None:
    shared("corpus/fork_field_numbers.csv")
    taken = load_schema().message("LayerParameter").DESCRIPTOR.fields_by_number
    for folder in FOLDERS.values():
        assert folder.fragment is not None
        (layer,) = [each for each in folder.fragment.file().message_type if each.name == "LayerParameter"]
        numbered = {field.name: field.number for field in layer.field if field.number in range(1, 1 << 20)}
        assert not set(numbered.values()) & set(taken)
        assert (
            numbered.items()
            <= {
                "bn_param": 45,
                "dense_image_data_param": 46,
                "interp_param": 163,
                "shuffle_channel_param": 164,
                "relu6_param": 100000,
            }.items()
        )
