"""Compatibility modules: ``import caffe`` for scripts and Python layers written for pycaffe.

Nothing changes until :func:`install` is called; our own processes call it before they load user code.
"""

from __future__ import annotations

from engine.compat.finder import install

__all__ = ["install"]
