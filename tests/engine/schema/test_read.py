"""Reading whole files: places in errors, and plain words for files of the wrong kind."""

from __future__ import annotations

import pytest

from engine.errors import FileFormatError, PrototxtError, SchemaError
from engine.schema import FileKind, load_schema, read_net, read_solver, sniff

NET = 'name: "n"\nlayer { name: "relu" type: "ReLU" bottom: "a" top: "a" }\n'
SOLVER = 'net: "n.prototxt"\nbase_lr: 0.01\nlr_policy: "fixed"\n'


def weights():
    net = load_schema().message("NetParameter")(name="n")
    net.layer.add(name="ip", type="InnerProduct").blobs.add(data=[1, 2], shape={"dim": [2]})
    return net.SerializeToString()


def state():
    return load_schema().message("SolverState")(iter=20, learned_net="n.caffemodel").SerializeToString()


def mean():
    return load_schema().message("BlobProto")(num=1, channels=1, height=1, width=2, data=[1, 2]).SerializeToString()


@pytest.mark.parametrize(
    "source",
    [NET, NET.encode(), b"\xef\xbb\xbf" + NET.replace("\n", "\r\n").encode(), NET.replace("\n", " ").strip()],
    ids=["str", "bytes", "bom and crlf", "one line"],
)
def test_text_of_a_net(source):
    net = read_net(source)
    assert (net.name, net.layer[0].type) == ("n", "ReLU")


@pytest.mark.parametrize("as_text", [False, True])
def test_path_of_a_net(tmp_path, as_text):
    path = tmp_path / "n.prototxt"
    path.write_text(NET)
    assert read_net(str(path) if as_text else path).name == "n"


@pytest.mark.parametrize("text", ["", "# nothing yet\n", 'name: "n"'])
def test_small_texts_are_nets(text):
    assert len(read_net(text).layer) == 0


def test_solver():
    assert read_solver(SOLVER).base_lr == pytest.approx(0.01)


WRONG = [
    (read_net, weights(), "a weights file", "--weights"),
    (read_net, state(), "a solver state", "--snapshot"),
    (read_net, mean(), "a binary blob", "mean_file"),
    (read_net, SOLVER.encode(), "a solver in prototxt", "'net' field"),
    (read_net, b"<!DOCTYPE html><html><body>layer { }</body></html>", "an HTML page", "raw"),
    (read_net, b"", "an empty file", "saved completely"),
    (read_net, b"\x89HDF\r\n\x1a\n" + bytes(100), "an HDF5 file", "--weights and --snapshot"),
    (read_net, b"\x89PNG\r\n\x1a\n" + bytes(100), "an image", ""),
    (read_net, b"version https://git-lfs.github.com/spec/v1\noid sha256:1\n", "a Git LFS pointer", "git lfs pull"),
    (read_net, bytes(range(256)), "a binary file", ""),
    (read_net, b'{"layers": [1, 2]}', "a JSON file", ""),
    (read_solver, NET.encode(), "a net in prototxt", "whose 'net' field names this net"),
    (read_solver, weights(), "a weights file", "--weights"),
]


@pytest.mark.parametrize(("read", "data", "looks_like", "step"), WRONG, ids=[case[2] for case in WRONG])
def test_wrong_kinds_of_file_are_named(tmp_path, read, data, looks_like, step):
    """B3."""
    path = tmp_path / "n.prototxt"
    path.write_bytes(data)
    with pytest.raises(FileFormatError) as caught:
        read(path)
    assert f"{path}' looks like {looks_like}" in str(caught.value)
    assert step in caught.value.next_step


def test_missing_file(tmp_path):
    with pytest.raises(FileFormatError, match=r"none\.prototxt.*cannot be read: No such file"):
        read_net(tmp_path / "none.prototxt")


def test_errors_carry_file_line_and_column(tmp_path):
    path = tmp_path / "n.prototxt"
    path.write_text(NET + "layer {\n  bogus: 1\n}\n")
    with pytest.raises(SchemaError, match=f"^{path}:4:3: LayerParameter has no field 'bogus'"):
        read_net(path)
    assert len(read_net(path, strict=False).layer) == 2
    path.write_text(NET + 'layer {\n  name = "x"\n}\n')
    with pytest.raises(PrototxtError, match=f"^{path}:4:") as caught:
        read_net(path)
    assert not isinstance(caught.value, SchemaError)


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (weights(), FileKind.WEIGHTS),
        (weights()[:-1], FileKind.BINARY),
        (load_schema().message("NetParameter")(name="n").SerializeToString(), FileKind.WEIGHTS),
        (state(), FileKind.SOLVER_STATE),
        (load_schema().message("SolverState")(iter=20).SerializeToString(), FileKind.SOLVER_STATE),
        (mean(), FileKind.BLOB),
        (b"net_param { layer { } } base_lr: 1", FileKind.SOLVER_TEXT),
        (b"# base_lr: 1\nlayer { }", FileKind.NET_TEXT),
        (b"hello", FileKind.TEXT),
        (b" \n", FileKind.EMPTY),
    ],
)
def test_sniffing(data, kind):
    assert sniff(data) is kind
