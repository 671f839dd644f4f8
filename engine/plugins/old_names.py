"""Names that Python and libraries once had, with what stands in for them and what to write instead."""

from __future__ import annotations

import collections.abc
import functools
import importlib
import inspect
import itertools
import string
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType, ModuleType
from typing import Any

import numpy as np

__all__ = ["MODULES", "NAMES", "OLD_ATTRIBUTES", "Shim", "attributes_of"]


@dataclass(frozen=True, slots=True)
class Shim:
    """What stands in for a name that is gone, and what to write instead.

    Attributes
    ----------
    value : object
        The stand-in.
    instead : str
        What to write today.
    replaces : bool
        The name is a function that is still there, but can no longer be called with one argument.
    """

    value: Any
    instead: str
    replaces: bool = False


def _named(**shims: tuple[Any, str]) -> Mapping[str, Shim]:
    return MappingProxyType({name: Shim(*shim) for name, shim in shims.items()})


def _compare(left: Any, right: Any) -> int:
    return int(left > right) - int(left < right)


#: Built-in names of Python 2.
NAMES: Mapping[str, Shim] = _named(
    xrange=(range, "range"),
    unicode=(str, "str"),
    basestring=(str, "str"),
    long=(int, "int"),
    unichr=(chr, "chr"),
    raw_input=(input, "input"),
    reduce=(functools.reduce, "functools.reduce"),
    cmp=(_compare, "a comparison of its own"),
    intern=(sys.intern, "sys.intern"),
    reload=(importlib.reload, "importlib.reload"),
)

#: Modules that are gone: those of Python 2, and scipy's for images. The value is the module's name today.
MODULES: Mapping[str, Shim] = MappingProxyType(
    {
        name: Shim(now, instead or f"import {now}")
        for name, now, instead in (
            ("cPickle", "pickle", ""),
            ("StringIO", "engine.plugins.string_io", "import io"),
            ("cStringIO", "engine.plugins.string_io", "import io"),
            ("Queue", "queue", ""),
            ("ConfigParser", "configparser", ""),
            ("urllib2", "urllib.request", ""),
            ("urlparse", "urllib.parse", ""),
            ("copy_reg", "copyreg", ""),
            ("httplib", "http.client", ""),
            ("SocketServer", "socketserver", ""),
            ("__builtin__", "builtins", ""),
            ("exceptions", "builtins", "no import"),
            ("thread", "_thread", ""),
            ("scipy.misc", "engine.data.scipy_misc", "PIL.Image or imageio"),
        )
    }
)

_NUMPY = {
    "float": (float, "float"),
    "int": (int, "int"),
    "bool": (bool, "bool"),
    "object": (object, "object"),
    "str": (str, "str"),
    "complex": (complex, "complex"),
    "long": (int, "int"),
    "unicode": (str, "str"),
    "float_": (np.float64, "np.float64"),
    "complex_": (np.complex128, "np.complex128"),
    "string_": (np.bytes_, "np.bytes_"),
    "unicode_": (np.str_, "np.str_"),
    "Inf": (np.inf, "np.inf"),
    "Infinity": (np.inf, "np.inf"),
    "infty": (np.inf, "np.inf"),
    "PINF": (np.inf, "np.inf"),
    "NINF": (-np.inf, "-np.inf"),
    "NaN": (np.nan, "np.nan"),
    "NAN": (np.nan, "np.nan"),
    "product": (np.prod, "np.prod"),
    "cumproduct": (np.cumprod, "np.cumprod"),
    "sometrue": (np.any, "np.any"),
    "alltrue": (np.all, "np.all"),
    "rank": (np.ndim, "np.ndim"),
    "round_": (np.round, "np.round"),
    "row_stack": (np.vstack, "np.vstack"),
    "msort": (functools.partial(np.sort, axis=0), "np.sort(axis=0)"),
    "asscalar": (lambda array: array.item(), "array.item()"),
    "in1d": (lambda ar1, ar2, **options: np.isin(ar1, ar2, **options).ravel(), "np.isin"),
}
_ABSTRACT = ("Callable", "Iterable", "Iterator", "Mapping", "MutableMapping", "MutableSequence", "Sequence", "Set")
_ATTRIBUTES: Mapping[str, Mapping[str, Shim]] = MappingProxyType(
    {
        "numpy": MappingProxyType({name: Shim(*shim) for name, shim in _NUMPY.items()}),
        "itertools": _named(
            izip=(zip, "zip"),
            imap=(map, "map"),
            ifilter=(filter, "filter"),
            izip_longest=(itertools.zip_longest, "itertools.zip_longest"),
        ),
        "time": _named(clock=(time.perf_counter, "time.perf_counter")),
        "sys": _named(maxint=(sys.maxsize, "sys.maxsize")),
        "string": _named(
            letters=(string.ascii_letters, "string.ascii_letters"),
            lowercase=(string.ascii_lowercase, "string.ascii_lowercase"),
            uppercase=(string.ascii_uppercase, "string.ascii_uppercase"),
        ),
        "inspect": _named(getargspec=(lambda call: inspect.getfullargspec(call)[:4], "inspect.getfullargspec")),
        "collections": MappingProxyType(
            {name: Shim(getattr(collections.abc, name), f"collections.abc.{name}") for name in _ABSTRACT}
        ),
    }
)

#: Attributes, with a dot before them, whose use in a source may mean an old module.
OLD_ATTRIBUTES = frozenset(f".{name}" for shims in _ATTRIBUTES.values() for name in shims) | {".load"}


def attributes_of(name: str, module: ModuleType) -> Mapping[str, Shim]:
    """Return what a module no longer has, or no longer has as it was."""
    if name == "yaml":
        return {"load": Shim(functools.partial(_load_yaml, module), "yaml.safe_load", replaces=True)}
    return _ATTRIBUTES.get(name, {})


def _load_yaml(yaml: Any, stream: Any) -> Any:
    """Read YAML as ``yaml.load`` once did without a loader, but for objects of any class."""
    return yaml.load(stream, Loader=getattr(yaml, "FullLoader", yaml.SafeLoader))
