"""Compile the descriptions in resources/schema, BVLC's and its dialects'. Run it after every change of a .proto file.

Each result is a serialized FileDescriptorSet with source information, because the comments are the editor's tooltips.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

FOLDER = Path(__file__).resolve().parent.parent / "resources" / "schema"


def sources() -> list[Path]:
    """Return the .proto files to compile."""
    return [FOLDER / "caffe.proto", *sorted((FOLDER / "dialects").glob("*.proto"))]


def compile_schema(source: Path) -> bytes:
    """Return the serialized FileDescriptorSet of a .proto file."""
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "schema.desc"
        paths = [f"--proto_path={path}" for path in dict.fromkeys((source.parent, FOLDER, FOLDER / "dialects"))]
        command = [sys.executable, "-m", "grpc_tools.protoc", *paths, "--include_source_info"]
        subprocess.run([*command, f"--descriptor_set_out={target}", source.name], check=True)
        return target.read_bytes()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="only say whether the compiled files are up to date")
    arguments = parser.parse_args()
    stale = 0
    for source in sources():
        target = source.with_suffix(".desc")
        compiled = compile_schema(source)
        if target.is_file() and target.read_bytes() == compiled:
            continue
        if arguments.check:
            print(f"{target} is out of date: run python docs/build_schema.py", file=sys.stderr)
            stale = 1
        else:
            target.write_bytes(compiled)
    return stale


if __name__ == "__main__":
    sys.exit(main())
