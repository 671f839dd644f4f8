"""Telling what a file is from its content.

Binary files of Caffe carry no signature, so they are recognised by walking the tags of their top level, without
decoding what those hold.
"""

from __future__ import annotations

import enum
import mmap
import re

from engine.schema.wire import FIXED32, FIXED64, LENGTH, VARINT, WireError, iter_fields

__all__ = ["FileKind", "describe_kind", "sniff"]


class FileKind(enum.Enum):
    """What a file looks like; the value is how to name it to a person."""

    EMPTY = "an empty file"
    NET_TEXT = "a net in prototxt"
    SOLVER_TEXT = "a solver in prototxt"
    TEXT = "a text file"
    WEIGHTS = "a weights file (.caffemodel)"
    SOLVER_STATE = "a solver state (.solverstate)"
    BLOB = "a binary blob, such as a mean file (.binaryproto)"
    HDF5 = "an HDF5 file (.h5)"
    HTML = "an HTML page, probably saved in place of the file it links to"
    JSON = "a JSON file"
    LFS_POINTER = "a Git LFS pointer, which stands for a file that was not downloaded"
    ARCHIVE = "a compressed archive"
    IMAGE = "an image"
    PICKLE = "a Python pickle or a PyTorch file"
    NUMPY = "a NumPy file"
    BINARY = "a binary file of a kind that Netcanvas does not know"


_SIGNATURES: tuple[tuple[bytes, FileKind], ...] = (
    (b"\x89HDF\r\n\x1a\n", FileKind.HDF5),
    (b"version https://git-lfs", FileKind.LFS_POINTER),
    (b"PK\x03\x04", FileKind.ARCHIVE),
    (b"\x1f\x8b", FileKind.ARCHIVE),
    (b"BZh", FileKind.ARCHIVE),
    (b"\xfd7zXZ\x00", FileKind.ARCHIVE),
    (b"7z\xbc\xaf\x27\x1c", FileKind.ARCHIVE),
    (b"\x89PNG\r\n\x1a\n", FileKind.IMAGE),
    (b"\xff\xd8\xff", FileKind.IMAGE),
    (b"GIF8", FileKind.IMAGE),
    (b"\x93NUMPY", FileKind.NUMPY),
    (b"\x80\x02", FileKind.PICKLE),
    (b"\x80\x03", FileKind.PICKLE),
    (b"\x80\x04", FileKind.PICKLE),
    (b"\x80\x05", FileKind.PICKLE),
)
_NEXT_STEPS = {
    FileKind.NET_TEXT: "Open it as a net.",
    FileKind.SOLVER_TEXT: "Open the net that its 'net' field names, or train with it: netcanvas train --solver FILE.",
    FileKind.WEIGHTS: "Open the net's prototxt and give this file as weights: netcanvas train --weights FILE.",
    FileKind.SOLVER_STATE: "Open the net's prototxt and go on from this file: netcanvas train --snapshot FILE.",
    FileKind.BLOB: "Name it as 'mean_file' in a data layer's transform_param.",
    FileKind.HDF5: "Open the net's prototxt; weights and solver states in HDF5 are given to netcanvas train, with "
    "--weights and --snapshot, and data to an HDF5Data layer.",
    FileKind.HTML: "Download the file itself, on code hosts with the 'raw' link.",
    FileKind.LFS_POINTER: "Fetch the real file with 'git lfs pull'.",
    FileKind.ARCHIVE: "Unpack it first.",
    FileKind.EMPTY: "Check that it was downloaded or saved completely.",
}
# Where one kind is wanted and another came, there may be more to say.
_NEXT_STEPS_FOR = {
    (FileKind.SOLVER_TEXT, FileKind.NET_TEXT): "Give the solver file whose 'net' field names this net.",
    (FileKind.WEIGHTS, FileKind.NET_TEXT): "Weights are in a .caffemodel file, which training writes.",
    (FileKind.WEIGHTS, FileKind.SOLVER_TEXT): "Weights are in a .caffemodel file, which training writes.",
    (FileKind.BLOB, FileKind.HDF5): "Save the mean in a .binaryproto file.",
    (FileKind.WEIGHTS, FileKind.SOLVER_STATE): "Give the .caffemodel file that was written with it.",
    (FileKind.SOLVER_STATE, FileKind.NET_TEXT): "A state is in a .solverstate file, which training writes.",
    (FileKind.SOLVER_STATE, FileKind.SOLVER_TEXT): "A state is in a .solverstate file, which training writes.",
    (FileKind.SOLVER_STATE, FileKind.WEIGHTS): "Give the .solverstate file that was written with it, or begin anew "
    "from these weights: netcanvas train --weights FILE.",
}

# Field number -> wire types it may have at the top level of each kind of binary file.
_NET_TAGS = {1: {LENGTH}, 2: {LENGTH}, 3: {LENGTH}, 4: {VARINT, LENGTH}, 5: {VARINT}, 6: {LENGTH}, 7: {VARINT}}
_NET_TAGS |= {8: {LENGTH}, 100: {LENGTH}}
_STATE_TAGS = {1: {VARINT}, 2: {LENGTH}, 3: {LENGTH}, 4: {VARINT}}
_BLOB_TAGS = {1: {VARINT}, 2: {VARINT}, 3: {VARINT}, 4: {VARINT}, 5: {LENGTH, FIXED32}, 6: {LENGTH, FIXED32}}
_BLOB_TAGS |= {7: {LENGTH}, 8: {LENGTH, FIXED64}, 9: {LENGTH, FIXED64}}
_BINARY_KINDS = (
    (FileKind.WEIGHTS, _NET_TAGS),
    (FileKind.SOLVER_STATE, _STATE_TAGS),
    (FileKind.BLOB, _BLOB_TAGS),
)

_TOP_LEVEL_NAME = re.compile(rb"(?:^|[\s;,}>])([A-Za-z_]\w*)\s*[:{<]")
_COMMENT = re.compile(rb"#[^\n]*")
_SOLVER_NAMES = frozenset(
    b"net net_param train_net train_net_param test_net base_lr lr_policy max_iter test_iter test_interval snapshot "
    b"snapshot_prefix solver_mode solver_type stepsize stepvalue momentum weight_decay display".split()
)
_NET_NAMES = frozenset(b"layer layers input input_dim input_shape force_backward".split())
_HEAD = 65536
_TEXT_BYTES = bytes({*range(0x20, 0x100), *b"\t\n\v\f\r"})


def sniff(data: bytes | mmap.mmap) -> FileKind:
    """Return what the content of a file looks like.

    Parameters
    ----------
    data : bytes or mmap
        The whole file: binary files are walked to their end, so that a truncated one is not taken for whole.
    """
    head = bytes(data[:_HEAD])
    if not head.strip(b" \t\r\n\x00"):
        return FileKind.EMPTY
    for signature, kind in _SIGNATURES:
        if head.startswith(signature):
            return kind
    start = head.removeprefix(b"\xef\xbb\xbf").lstrip().lower()
    if start.startswith((b"<!doctype", b"<html", b"<?xml")):
        return FileKind.HTML
    if not head.translate(None, _TEXT_BYTES):
        return _sniff_text(head, start)
    return _sniff_binary(data) or FileKind.BINARY


def describe_kind(data: bytes | mmap.mmap, wanted: FileKind | None = None) -> tuple[str, str]:
    """Return what the content of a file looks like and the next step, as texts for an error; the second may be empty.

    The first completes the sentence "the file looks like ...".

    Parameters
    ----------
    data : bytes or mmap
        The whole file.
    wanted : FileKind, optional
        What it should have been.
    """
    kind = sniff(data)
    specific = _NEXT_STEPS_FOR.get((wanted, kind)) if wanted is not None else None
    return kind.value, specific or _NEXT_STEPS.get(kind, "Check the path.")


def _sniff_binary(data: bytes | mmap.mmap) -> FileKind | None:
    try:
        seen = {(number, wire_type) for number, wire_type, _ in iter_fields(memoryview(data))}
    except WireError:
        return None
    for kind, table in _BINARY_KINDS:
        if all(wire_type in table.get(number, ()) for number, wire_type in seen):
            return kind
    return None


def _sniff_text(head: bytes, start: bytes) -> FileKind:
    names = set(_TOP_LEVEL_NAME.findall(_COMMENT.sub(b"", head)))
    if names & _NET_NAMES:
        return FileKind.SOLVER_TEXT if names & {b"base_lr", b"lr_policy"} else FileKind.NET_TEXT
    if names & _SOLVER_NAMES:
        return FileKind.SOLVER_TEXT
    return FileKind.JSON if start.startswith((b"{", b"[")) else FileKind.TEXT
