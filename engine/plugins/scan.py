"""Which layers a plugin folder offers, read from its text: no code of it runs."""

from __future__ import annotations

import ast
import itertools
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

__all__ = ["PLUGINS", "FoundLayer", "modules_of", "scan_file", "scan_folder", "walk_sources"]

_CLASS_LINE = re.compile(r"^class\s+(\w+)\s*\(([^)]*\bLayer)\s*\)\s*:", re.MULTILINE)
_NOT_PLUGINS = re.compile(r"^(?:\.|_(?!_init__)|test_|conftest|setup$)")
_BIGGEST_FILE = 1 << 20
_DEEPEST = 3
_MOST_FILES = 2000
_MOST_FOLDERS = 500
#: Name of a folder that holds plugin folders, and modules too.
PLUGINS = "plugins"


@dataclass(frozen=True, slots=True)
class FoundLayer:
    """A class or function that looks like a Python layer.

    Attributes
    ----------
    module, name : str
        What a net writes in ``python_param``.
    file : Path
        Where it is.
    line : int
        1-based line of the class statement.
    summary : str
        First line of its documentation; empty without one.
    parses : bool
        Whether the file is valid Python 3.
    bottoms, tops : tuple of str or None
        Names of the ports, where the class has them as ``bottoms = ("features", "boxes")`` or the like.
    """

    module: str
    name: str
    file: Path
    line: int
    summary: str
    parses: bool
    bottoms: tuple[str, ...] | None = None
    tops: tuple[str, ...] | None = None


def walk_sources(folder: Path, endings: tuple[str, ...] = (".py",)) -> Iterator[Path]:
    """Yield the files below a folder that may belong to a plugin: not too deep, not too many, nothing hidden.

    A folder in it that is a plugin folder by itself is left out: one with a ``plugin.toml``, and, where ``folder`` is a
    place for plugin folders, called ``plugins``, one that is no package.
    """
    count = 0
    for place, children, names in itertools.islice(os.walk(folder), _MOST_FOLDERS):
        here = Path(place)
        depth = len(here.relative_to(folder).parts)
        children[:] = sorted(name for name in children if not _NOT_PLUGINS.match(name) and name != "__pycache__")
        if depth >= _DEEPEST - 1:
            children.clear()
        elif depth == 0:
            children[:] = [name for name in children if _belongs(here / name, folder.name == PLUGINS)]
        for name in sorted(names):
            if name.endswith(endings):
                count += 1
                if count > _MOST_FILES:
                    return
                yield here / name


def _belongs(child: Path, in_plugins: bool) -> bool:
    return not (child / "plugin.toml").is_file() and (not in_plugins or (child / "__init__.py").is_file())


def modules_of(folder: Path) -> Iterator[tuple[str, Path]]:
    """Yield the dotted names and files of the modules below a folder, sorted by name."""
    found: list[tuple[str, Path]] = []
    for path in walk_sources(folder):
        parts = path.relative_to(folder).with_suffix("").parts
        if len(parts) > _DEEPEST or any(_NOT_PLUGINS.match(part) for part in parts):
            continue
        names = parts[:-1] if parts[-1] == "__init__" else parts
        if names:
            found.append((".".join(names), path))
    yield from sorted(found)


def scan_folder(folder: Path) -> list[FoundLayer]:
    """Return the layers that the Python files below a folder define.

    A class counts when one of its bases is written ``caffe.Layer``, ``Layer`` or is a class that counts; a function
    when its first parameters are called ``inputs`` and ``outputs``, but for those that are gradients.

    Parameters
    ----------
    folder : Path
        A plugin folder.
    """
    return [layer for module, path in modules_of(folder) for layer in scan_file(module, path)]


def scan_file(module: str, path: Path) -> list[FoundLayer]:
    """Return the layers that one Python file defines, as :func:`scan_folder` does; none of a file that is not there.

    Parameters
    ----------
    module : str
        What a net calls it.
    """
    try:
        data = path.read_bytes() if path.stat().st_size <= _BIGGEST_FILE else b""
    except OSError:
        return []
    return list(_layers(module, path, data)) if b"Layer" in data or b"outputs" in data else []


def _layers(module: str, path: Path, data: bytes) -> Iterator[FoundLayer]:
    try:
        tree = ast.parse(data)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        text = data.decode("utf-8", "replace")
        for match in _CLASS_LINE.finditer(text):
            yield FoundLayer(module, match.group(1), path, text.count("\n", 0, match.start()) + 1, "", False)
        return
    known = {"Layer"}
    for node in tree.body:
        is_class = isinstance(node, ast.ClassDef) and any(_base_name(base) in known for base in node.bases)
        if isinstance(node, ast.ClassDef | ast.FunctionDef) and (is_class or _is_operator(node)):
            known.add(node.name)
            summary = (ast.get_docstring(node) or "").strip().partition("\n")[0]
            ports = (_names(node, "bottoms"), _names(node, "tops"))
            yield FoundLayer(module, node.name, path, node.lineno, summary, True, *ports)


def _names(node: ast.ClassDef | ast.FunctionDef, attribute: str) -> tuple[str, ...] | None:
    """Return the texts that a class statement binds to an attribute, or None where it binds no list of texts."""
    for each in node.body if isinstance(node, ast.ClassDef) else ():
        match each:
            case (
                ast.Assign(targets=[ast.Name(id=name)], value=ast.Tuple(elts=items) | ast.List(elts=items))
                | ast.AnnAssign(target=ast.Name(id=name), value=ast.Tuple(elts=items) | ast.List(elts=items))
            ) if name == attribute:
                texts = [item.value for item in items if isinstance(item, ast.Constant)]
                names = tuple(text for text in texts if isinstance(text, str) and text)
                return names if names and len(names) == len(items) else None
            case _:
                continue
    return None


def _is_operator(node: ast.stmt) -> bool:
    if not isinstance(node, ast.FunctionDef) or node.name.startswith(("_", "grad_")):
        return False
    is_gradient = any("gradient_of" in ast.unparse(decorator) for decorator in node.decorator_list)
    return [each.arg for each in node.args.args[:2]] == ["inputs", "outputs"] and not is_gradient


def _base_name(base: ast.expr) -> str:
    if isinstance(base, ast.Attribute):
        return base.attr
    return base.id if isinstance(base, ast.Name) else ""
