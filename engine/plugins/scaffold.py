"""A new plugin folder from a few answers: a layer that runs as it is, its schema, and its tests."""

from __future__ import annotations

import keyword
import math
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine.errors import NetcanvasError
from engine.layer import Layer
from engine.plugins.param_schema import ParamField
from engine.plugins.roots import RESERVED_NAMES

__all__ = ["NewLayer", "module_name", "scaffold_fault", "scaffold_files", "write_scaffold"]

_NAME = re.compile(r"[A-Za-z_]\w*")
_MOST_PORTS = 8
#: What a layer has beside methods and needs as it is.
_TAKEN = frozenset({"blobs", "layer_param", "param_str", "phase"})


@dataclass(frozen=True, slots=True)
class NewLayer:
    """The answers.

    Attributes
    ----------
    name : str
        Name of the class.
    module : str
        Name of its module, and of the folder.
    bottoms, tops : int
        Numbers of inputs and outputs; a layer without inputs makes data.
    has_params : bool
        Whether it learns: one factor, to begin with.
    has_backward : bool
        Whether it hands gradients on.
    fields : sequence of ParamField
        What its ``param_str`` may hold, with defaults.
    """

    name: str
    module: str
    bottoms: int = 1
    tops: int = 1
    has_params: bool = False
    has_backward: bool = True
    fields: Sequence[ParamField] = ()


def module_name(cls: str) -> str:
    """Return the usual module name for a class: ``MyLayer`` is in ``my_layer``."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", cls).lower()


def scaffold_fault(new: NewLayer, parent: Path) -> str:
    """Return why a layer cannot be made in a folder, in a sentence, or an empty text."""
    for word, what in ((new.name, "class"), (new.module, "module")):
        if not _NAME.fullmatch(word) or keyword.iskeyword(word):
            return f"'{word}' cannot name a {what}: letters, digits and '_', and no word of Python's own."
    if new.module in RESERVED_NAMES or new.module in sys.stdlib_module_names:
        return f"A module named '{new.module}' would stand before one of Python's or ours. Choose another name."
    if new.module.startswith(("_", "test_")) or new.module == "conftest":
        return f"'{new.module}' means something else to Python or to its tests. Choose another name."
    if not 0 <= new.bottoms <= _MOST_PORTS or not 1 <= new.tops <= _MOST_PORTS:
        return f"A layer here has up to {_MOST_PORTS} inputs, and 1 to {_MOST_PORTS} outputs."
    names = [field.name for field in new.fields]
    for name in names:
        if not name:
            return "A parameter has no name yet."
        if not _NAME.fullmatch(name) or keyword.iskeyword(name) or names.count(name) > 1:
            return f"'{name}' cannot name a parameter: each needs a name of its own that Python can spell."
        if name.startswith("_") or name in _TAKEN or callable(getattr(Layer, name, None)):
            return f"'{name}' cannot name a parameter: a layer has something else of that name."
    for field in new.fields:
        if field.default is not None and (fault := field.fault(field.default)):
            return f"The default of {fault}"
        if isinstance(field.default, float) and not math.isfinite(field.default):
            return f"The default of '{field.name}': expected a finite number, got {field.default}."
    if (parent / new.module).exists() or (parent / f"{new.module}.py").exists():
        return f"'{parent.name}/{new.module}' is there already. Choose another name."
    return ""


def write_scaffold(parent: Path, new: NewLayer) -> Path:
    """Write the folder and return it. Nothing that is there is overwritten.

    Parameters
    ----------
    parent : Path
        Where plugin folders are, such as ``plugins`` of a project; made when it is missing.
    new : NewLayer
        The answers.

    Raises
    ------
    NetcanvasError
        The answers do not fit, or such a folder is there.
    OSError
        When it cannot be written.
    """
    if fault := scaffold_fault(new, parent):
        raise NetcanvasError(fault)
    folder = parent / new.module
    folder.mkdir(parents=True)
    for name, text in scaffold_files(new).items():
        with open(folder / name, "x", encoding="utf-8", newline="\n") as file:
            file.write(text)
    return folder


def scaffold_files(new: NewLayer) -> dict[str, str]:
    """Return the files of the folder: name to text."""
    return {
        f"{new.module}.py": _code(new),
        "plugin.toml": _manifest(new),
        f"test_{new.module}.py": _tests(new),
    }


def _code(new: NewLayer) -> str:
    imports = (["import json", ""] if new.fields else []) + ["import caffe"]
    what = "Makes data." if not new.bottoms else "Passes its inputs on; say here what it computes."
    lines = [
        f'"""{new.name}, a Python layer."""',
        "",
        *imports,
        "",
        "",
        f"class {new.name}(caffe.Layer):",
        f'    """{what}"""',
        "",
        "    def setup(self, bottom, top):",
        '        """Check the ports and read the settings; called once."""',
        f"        if len(bottom) != {new.bottoms} or len(top) != {new.tops}:",
        f'            raise ValueError("expected {new.bottoms} bottoms and {new.tops} tops")',
        *_setup_lines(new),
        "",
        "    def reshape(self, bottom, top):",
        '        """Shape the tops; called before every forward pass, for the batch may have another size."""',
        *_each_top(new, "top[{top}].reshape(*bottom[{bottom}].shape)", "top[{top}].reshape(1)"),
        "",
        "    def forward(self, bottom, top):",
        '        """Compute the tops."""',
        *_each_top(
            new, f"top[{{top}}].data[...] = {_product(new, 'bottom[{bottom}].data')}", "top[{top}].data[...] = 0"
        ),
        "",
        "    def backward(self, top, propagate_down, bottom):",
        *_backward_lines(new),
        "",
    ]
    return "\n".join(lines)


def _product(new: NewLayer, values: str) -> str:
    return f"self.blobs[0].data[0] * {values}" if new.has_params else values


def _source(new: NewLayer, top: int) -> int:
    return min(top, new.bottoms - 1)


def _each_top(new: NewLayer, line: str, without: str) -> list[str]:
    used = line if new.bottoms else without
    return [f"        {used.format(top=top, bottom=_source(new, top))}" for top in range(new.tops)]


def _setup_lines(new: NewLayer) -> list[str]:
    lines = []
    if new.fields:
        lines.append("        settings = json.loads(self.param_str) if self.param_str else {}")
        for field in new.fields:
            got = f'settings["{field.name}"]' if field.required else f'settings.get("{field.name}", {field.default!r})'
            lines.append(f"        self.{field.name} = {got}")
    if new.has_params:
        lines += ["        self.blobs.add_blob(1)", "        self.blobs[0].data[...] = 1"]
    return lines


def _backward_lines(new: NewLayer) -> list[str]:
    if not new.bottoms:
        return ['        """Data has no gradient to hand on."""']
    if not new.has_backward:
        return [
            '        """Layers below learn nothing through this one."""',
            "        for index, wanted in enumerate(propagate_down):",
            "            if wanted:",
            "                bottom[index].diff[...] = 0",
        ]
    lines = ['        """Write the gradient of each bottom that wants one; add to that of a parameter."""']
    if new.has_params:
        parts = " + ".join(f"(top[{top}].diff * bottom[{_source(new, top)}].data).sum()" for top in range(new.tops))
        lines.append(f"        self.blobs[0].diff[...] += {parts}")
    for bottom in range(new.bottoms):
        parts = " + ".join(f"top[{top}].diff" for top in range(new.tops) if _source(new, top) == bottom)
        value = _product(new, f"({parts})" if " + " in parts else parts) if parts else "0"
        lines += [f"        if propagate_down[{bottom}]:", f"            bottom[{bottom}].diff[...] = {value}"]
    return lines


def _manifest(new: NewLayer) -> str:
    table = f'layers."{new.module}.{new.name}"'
    lines = [
        "# What this plugin says of itself; read before its code is trusted.",
        "",
        "[plugin]",
        f'name = "{new.module}"',
        'version = "0.1"',
        "",
        f"[{table}]",
        f'summary = "{"Makes data." if not new.bottoms else "Passes its inputs on."}"',
        f"bottoms = {_toml([f'bottom{index}' for index in range(new.bottoms)])}",
        f"tops = {_toml([f'top{index}' for index in range(new.tops)])}",
    ]
    for field in new.fields:
        lines += ["", f"[{table}.param_str.{field.name}]", f'type = "{field.kind}"']
        if field.default is not None and not field.required:
            lines.append(f"default = {_toml(field.default)}")
        if field.required:
            lines.append("required = true")
        lines.append('summary = ""')
    return "\n".join([*lines, ""])


def _toml(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        escaped = value.replace("\\", "\\\\").replace('"', '\\"')
        return '"' + "".join(char if char >= " " else f"\\u{ord(char):04x}" for char in escaped) + '"'
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_toml, value))}]"
    return repr(value)


def _tests(new: NewLayer) -> str:
    needed = {field.name: _example(field) for field in new.fields if field.required}
    settings = f"PARAM_STR = json.dumps({needed!r})" if needed else ""
    param = " param_str: ' + json.dumps(PARAM_STR) + '" if needed else ""
    text = f'\'type: "Python" python_param {{ module: "{new.module}" layer: "{new.name}"{param} }}\''
    shapes = ", ".join("rng.normal(size=(4, 3))" for _ in range(new.bottoms))
    lines = [
        f'"""Checks of {new.name}: run pytest in this folder."""',
        "",
        *(["import json", ""] if needed else []),
        "import numpy as np",
        "from engine.testing import LayerCase, check_layer",
        "",
        *([settings] if needed else []),
        f"LAYER = {text}",
        "",
        "",
        f"def test_{new.module}():",
        '    """Passes, batches of other sizes, memory full of junk'
        + (", and gradients." if _learns(new) else ".")
        + '"""',
        *(["    rng = np.random.default_rng(0)"] if new.bottoms else []),
        f"    case = LayerCase(LAYER, [{shapes}], tops={new.tops}, batched={bool(new.bottoms)})",
        f"    check_layer(case, gradients={_learns(new)})",
        "",
    ]
    if not new.bottoms:
        lines.remove("import numpy as np")
    return "\n".join(lines)


def _learns(new: NewLayer) -> bool:
    return bool(new.bottoms) and new.has_backward


def _example(field: ParamField) -> Any:
    if field.default is not None:
        return field.default
    return {"int": 1, "float": 1.0, "bool": True, "string": "x", "list": []}[field.kind]
