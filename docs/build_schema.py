"""Compile resources/schema/caffe.proto into resources/schema/caffe.desc. Run it after every change of the former.

The result is a serialized FileDescriptorSet with source information, because the comments are the editor's tooltips.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

FOLDER = Path(__file__).resolve().parent.parent / "resources" / "schema"


def compile_schema(source: Path) -> bytes:
    """Return the serialized FileDescriptorSet of a .proto file."""
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "schema.desc"
        command = [sys.executable, "-m", "grpc_tools.protoc", f"--proto_path={source.parent}", "--include_source_info"]
        subprocess.run([*command, f"--descriptor_set_out={target}", source.name], check=True)
        return target.read_bytes()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="only say whether the compiled file is up to date")
    arguments = parser.parse_args()
    target = FOLDER / "caffe.desc"
    compiled = compile_schema(FOLDER / "caffe.proto")
    if arguments.check:
        if target.read_bytes() == compiled:
            return 0
        print(f"{target} is out of date: run python docs/build_schema.py", file=sys.stderr)
        return 1
    target.write_bytes(compiled)
    return 0


if __name__ == "__main__":
    sys.exit(main())
