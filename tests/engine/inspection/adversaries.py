"""Layers that do what no layer should."""

from __future__ import annotations

from engine.errors import LayerError, PluginError
from engine.inspection import PluginLost
from engine.plugins import PluginLoadError

GOOD = """
import caffe
import numpy as np

class L(caffe.Layer):
    def setup(self, bottom, top):
        self.scratch = np.zeros(3)
    def reshape(self, bottom, top):
        top[0].reshape(*bottom[0].shape)
    def forward(self, bottom, top):
        top[0].data[...] = 2 * bottom[0].data
    def backward(self, top, propagate_down, bottom):
        bottom[0].diff[...] = 2 * top[0].diff
"""


def at(stage: str, *lines: str) -> str:
    """The good layer with its ``stage``, ``import`` or a method, doing this instead."""
    if stage == "import":
        return GOOD + "\n".join(lines) + "\n"
    arguments = "self, top, propagate_down, bottom" if stage == "backward" else "self, bottom, top"
    body = "\n".join(f"        {line}" for line in lines)
    return f"{GOOD}\nclass L(L):\n    def {stage}({arguments}):\n{body}\n"


# name: (module, the error, what its text says)
ADVERSARIES: dict[str, tuple[str, type[LayerError], str]] = {
    "raises_at_import": (
        at("import", "raise ValueError('x1')"),
        PluginLoadError,
        r"ValueError at .*raises_at_import\.py",
    ),
    "raises_in_setup": (at("setup", "raise ValueError('x2')"), PluginError, r"in setup: ValueError: x2"),
    "raises_in_reshape": (at("reshape", "raise ValueError('x3')"), PluginError, r"in reshape: ValueError: x3"),
    "bad_syntax": ("class L(:\n", PluginLoadError, r"is not valid Python: .*bad_syntax\.py:1"),
    "old_python": ("import caffe\nprint 'hello'\n", PluginLoadError, r"Python 2 code: line 2: print statement"),
    "lacks_import": ("import no_such_thing\n", PluginLoadError, r"its own import of 'no_such_thing' failed"),
    "exits_at_import": (at("import", "raise SystemExit(3)"), PluginLoadError, r"ended the program \(SystemExit 3\)"),
    "exits_in_setup": (at("setup", "exit(3)"), PluginError, r"in setup: SystemExit: 3"),
    "leaves": (at("setup", "import os; os._exit(7)"), PluginLost, r"in setup: .*\(exit status 7\) while it was set up"),
    "crashes": (
        at("reshape", "import os, signal; os.kill(os.getpid(), signal.SIGSEGV)"),
        PluginLost,
        r"signal 11\) while it was reshaped",
    ),
    "hangs_at_import": (
        at("import", "while True: pass"),
        PluginLost,
        r"while it was imported.*hangs_at_import\.py:\d+",
    ),
    "hangs_in_reshape": (
        at("reshape", "import time", "time.sleep(100)"),
        PluginLost,
        r"while it was reshaped.*hangs_in_reshape\.py:\d+",
    ),
    "eats": (at("setup", "self.x = []", "while True: self.x.append(np.empty(1 << 21))"), PluginError, r"[Mm]emory"),
    "garbles": (
        at(
            "setup",
            "import os",
            "for n in range(3, 40):",
            "    try: os.write(n, b'junk\\n')",
            "    except OSError: pass",
        ),
        PluginLost,
        "wrote into|ended|no answer",
    ),
}
HARMLESS = {
    "forks": at("setup", "import os, time", "if os.fork() == 0: time.sleep(60)"),
    "forks_and_answers": at("reshape", "import os", "os.fork()", "top[0].reshape(*bottom[0].shape)"),
    "prints": at("setup", "import os", "print('x' * 100000)", "os.write(1, b'{}\\n' * 1000)"),
    "reads": at("setup", "import sys", "assert sys.stdin.read() == ''"),
    "raises_in_forward": at("forward", "raise ValueError('x4')"),
    "raises_in_backward": at("backward", "raise ValueError('x5')"),
}
PATCHES = {
    "patches_numpy": at("import", "np.zeros = lambda *a: 7", "np.linalg.norm = lambda *a: 0"),
    "patches_builtins": at("setup", "import builtins", "builtins.len = lambda x: 7"),
    "patches_blobs": at("setup", "import engine.blob", "engine.blob.Blob = None"),
}


def layer(module: str) -> str:
    setting = f'python_param {{ module: "{module}" layer: "L" }}'
    return f'layer {{ name: "{module}" type: "Python" bottom: "x" top: "{module}" {setting} }}\n'
