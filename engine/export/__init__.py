"""Nets as files of other kinds.

A kind is one entry of :data:`KINDS`: its name, the endings of its files, and the function that writes them. All get
the net as today's Caffe has it.
"""

from __future__ import annotations

from engine.export.kinds import KINDS, ExportKind, export_net, guess_kind

__all__ = ["KINDS", "ExportKind", "export_net", "guess_kind"]
