"""Weights files: Caffe's own byte for byte, and what happens when they do not fit."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.errors import FileFormatError, WeightsError
from engine.files import load_weights, read_stored_layers, read_weights, write_weights
from engine.schema import load_schema
from tests.engine.files.fakes import FakeLayer, FakeNet, blob, fake_net, net_from_message
from tests.support import shared, shared_files

SCHEMA = load_schema()
CAFFES = [
    *shared_files("golden/solvers/*.caffemodel"),
    *(path for path in shared_files("corpus/weights/*.caffemodel") if "INVALID" not in path.name),
]


@pytest.mark.parametrize("path", CAFFES, ids=lambda path: path.name)
def test_files_written_by_caffe_come_back_byte_for_byte(path, tmp_path):
    message = read_weights(path)
    assert message.SerializeToString() == path.read_bytes()
    written = tmp_path / "again.caffemodel"
    write_weights(net_from_message(message), written)
    assert written.read_bytes() == path.read_bytes()


@pytest.mark.parametrize("path", CAFFES, ids=lambda path: path.name)
def test_walking_gives_what_the_official_reader_gives(path):
    message = read_weights(path)
    walked = read_stored_layers(path)
    assert [(layer.name, layer.type) for layer in walked] == [(layer.name, layer.type) for layer in message.layer]
    for layer, expected in zip(walked, message.layer, strict=True):
        for stored, proto in zip(layer.blobs, expected.blobs, strict=True):
            assert stored.shape == tuple(proto.shape.dim)
            np.testing.assert_array_equal(stored.data.reshape(-1), np.array(proto.data, np.float32))


@pytest.mark.parametrize("as_message", [False, True])
def test_round_trip(tmp_path, as_message):
    path = tmp_path / "w.caffemodel"
    write_weights(fake_net(start=5), path)
    net = fake_net()
    report = load_weights(net, read_weights(path) if as_message else path, strict=True)
    assert (report.loaded, report.missing, report.unused) == (("conv", "ip"), (), ())
    assert report.complete
    for layer, expected in zip(net.layers, fake_net(start=5).layers, strict=True):
        for ours, theirs in zip(layer.blobs, expected.blobs, strict=True):
            np.testing.assert_array_equal(ours.data, theirs.data)


def test_what_is_stored(tmp_path):
    path = tmp_path / "w.caffemodel"
    net = fake_net()
    settings = SCHEMA.message("LayerParameter")(name="conv", type="Convolution", bottom=["a"], top=["b"])
    settings.convolution_param.num_output = 2
    settings.include.add(phase=0)
    settings.blobs.add(data=[9])
    net.layers[0].layer_param = settings
    net.layers[0].phase = 0
    write_weights(net, path, diffs=True)
    message = read_weights(path)
    assert message.name == "net"
    assert [(layer.name, layer.type, len(layer.blobs)) for layer in message.layer] == [
        ("conv", "Convolution", 2),
        ("relu", "ReLU", 0),
        ("ip", "InnerProduct", 2),
    ]
    conv = message.layer[0]
    assert (list(conv.bottom), conv.convolution_param.num_output, conv.include[0].phase) == (["a"], 2, 0)
    assert conv.HasField("phase")
    assert list(conv.blobs[1].diff) == [0, -1]
    assert len(settings.blobs) == 1, "the layer's own settings stay as they are"
    assert message.SerializeToString() == path.read_bytes(), "fields are in the order that Caffe writes"


def old_layers(version):
    net = SCHEMA.message("NetParameter")(name="old")
    for name, shape in (("conv", (2, 1, 3, 3)), ("ip", (1, 1, 3, 4))):
        layer = net.layers.add()
        target = layer.layer if version == "V0" else layer
        target.name = name
        for dims in (shape, (1, 1, 1, shape[0] if name == "conv" else 3)):
            count = int(np.prod(dims))
            axes = dict(zip(("num", "channels", "height", "width"), dims, strict=True))
            target.blobs.add(data=np.full(count, 7.0), **axes)
    return net


@pytest.mark.parametrize("version", ["V0", "V1"])
@pytest.mark.parametrize("as_message", [False, True])
def test_older_formats(tmp_path, version, as_message):
    path = tmp_path / "old.caffemodel"
    message = old_layers(version)
    path.write_bytes(message.SerializeToString())
    net = fake_net()
    report = load_weights(net, message if as_message else path, strict=True)
    assert report.loaded == ("conv", "ip")
    assert all((blob.data == 7).all() for layer in net.layers for blob in layer.blobs)


def saved(tmp_path, **options):
    path = tmp_path / "w.caffemodel"
    write_weights(fake_net(start=100, **options), path)
    return path


def test_renamed_layer_is_reported_and_others_are_loaded(tmp_path):
    net = fake_net(rename="ip_new")
    report = load_weights(net, saved(tmp_path))
    assert (report.loaded, report.missing, report.unused) == (("conv",), ("ip_new",), ("ip",))
    assert "'ip_new'" in str(report)
    assert net.layers[0].blobs[0].data.flat[0] == 100
    assert net.layers[2].blobs[0].data.flat[0] == 0


def test_strict_refuses_a_renamed_layer_and_names_it(tmp_path):
    net = fake_net(rename="ip_new")
    with pytest.raises(WeightsError, match=r"Not in the file: 'ip_new'\. Not in the net: 'ip'"):
        load_weights(net, saved(tmp_path), strict=True)
    assert net.layers[0].blobs[0].data.flat[0] == 0


def test_no_layer_matches(tmp_path):
    net = FakeNet([FakeLayer("other", "InnerProduct", [blob(2, 2)])])
    with pytest.raises(WeightsError, match=r"match no layer of the net.*'other'.*'conv', 'ip'"):
        load_weights(net, saved(tmp_path))


def test_other_shape_names_layer_blob_and_both_shapes_and_changes_nothing(tmp_path):
    net = fake_net(ip=(5, 4))
    with pytest.raises(WeightsError) as caught:
        load_weights(net, saved(tmp_path))
    text = str(caught.value)
    assert "Layer 'ip' (InnerProduct), blob 0: the net's shape is (5, 4), the file's is (3, 4)." in text
    assert "blob 1: the net's shape is (5,), the file's is (3,)." in text
    assert "Rename" in text
    assert net.layers[0].blobs[0].data.flat[0] == 0, "other layers are unharmed"


def test_same_number_of_values_in_another_shape_is_refused(tmp_path):
    with pytest.raises(WeightsError, match=r"\(4, 3\), the file's is \(3, 4\)"):
        load_weights(fake_net(ip=(4, 3)), saved(tmp_path))


@pytest.mark.parametrize(("in_net", "in_file"), [(True, False), (False, True)])
def test_other_number_of_blobs(tmp_path, in_net, in_file):
    with pytest.raises(
        WeightsError, match=f"has {1 + in_net} blobs in the net and {1 + in_file} in the file.*bias_term"
    ):
        load_weights(fake_net(bias=in_net), saved(tmp_path, bias=in_file))


def test_net_without_weights_takes_any_file(tmp_path):
    report = load_weights(FakeNet([FakeLayer("relu", "ReLU", [])]), saved(tmp_path))
    assert (report.loaded, report.missing, report.unused) == ((), (), ("conv", "ip"))


@pytest.mark.parametrize("read", [read_weights, read_stored_layers])
@pytest.mark.parametrize("cut", [1, 20])
def test_truncated_file_is_refused(tmp_path, read, cut):
    """B23."""
    path = saved(tmp_path)
    path.write_bytes(path.read_bytes()[:-cut])
    with pytest.raises(FileFormatError, match=r"w\.caffemodel' is no weights file.*too early"):
        read(path)


@pytest.mark.parametrize("read", [read_weights, read_stored_layers])
@pytest.mark.parametrize(
    ("content", "looks_like"),
    [
        (b"layer { name: 'a' }\n", "a net in prototxt"),
        (b"<!DOCTYPE html><html></html>", "an HTML page"),
        (b"", "an empty file"),
        (SCHEMA.message("SolverState")(iter=3, learned_net="x").SerializeToString(), "a solver state"),
    ],
)
def test_wrong_kinds_of_file(tmp_path, read, content, looks_like):
    path = tmp_path / "w.caffemodel"
    path.write_bytes(content)
    with pytest.raises(FileFormatError, match=f"looks like {looks_like}"):
        read(path)


def test_html_page_saved_as_weights():
    with pytest.raises(FileFormatError, match=r"looks like an HTML page.*raw"):
        read_weights(shared("corpus/weights/INVALID_html_page_saved_as_sr.caffemodel"))


def test_missing_file(tmp_path):
    with pytest.raises(FileFormatError, match=r"none\.caffemodel' cannot be read"):
        load_weights(fake_net(), tmp_path / "none.caffemodel")


def test_failed_write_leaves_the_old_file(tmp_path):
    path = saved(tmp_path)
    before = path.read_bytes()
    net = fake_net()
    net.layers[2].blobs = [object()]
    with pytest.raises(AttributeError):
        write_weights(net, path)
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["w.caffemodel"]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=300)
@given(st.data())
def test_damaged_bytes_are_read_or_refused_but_never_crash(tmp_path, data):
    message = old_layers("V1")
    message.layer.add(name="ip", type="InnerProduct").blobs.add(data=[1, 2], shape={"dim": [2, 1]})
    content = bytearray(message.SerializeToString())
    for _ in range(data.draw(st.integers(1, 4))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    path = tmp_path / "w.caffemodel"
    path.write_bytes(content)
    try:
        layers = read_stored_layers(path)
    except FileFormatError:
        return
    assert all(stored.data.size == np.prod(stored.shape) for layer in layers for stored in layer.blobs)
