"""Write the model templates in resources/templates. Run it after every change in docs/templates.

What ships are the files; a test fails when they are not what this writes.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parent
sys.path.insert(0, str(ROOT))

from templates import branched, classic

FOLDER = ROOT.parent / "resources" / "templates"
TEMPLATES: Mapping[str, Callable[[], str]] = {
    "lenet": classic.lenet,
    "alexnet": classic.alexnet,
    "vgg16": classic.vgg16,
    "squeezenet": classic.squeezenet,
    "mobilenet": classic.mobilenet,
    "siamese": classic.siamese,
    "googlenet": branched.googlenet,
    "resnet18": branched.resnet18,
    "resnet50": branched.resnet50,
    "unet": branched.unet,
    "char_lstm": branched.char_lstm,
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="only say whether the files are up to date")
    arguments = parser.parse_args()
    stale = 0
    for name, write in TEMPLATES.items():
        target, data = FOLDER / f"{name}.prototxt", write().encode()
        if target.is_file() and target.read_bytes() == data:
            continue
        stale += 1
        if arguments.check:
            print(f"{target.name} is out of date. Run 'python docs/build_templates.py'.")
        else:
            target.write_bytes(data)
            print(target.name)
    return 1 if arguments.check and stale else 0


if __name__ == "__main__":
    raise SystemExit(main())
