"""Looking at what must not run in the editor's process: plugin code and data sources.

A subprocess, ``python -m engine.inspection``, answers one question at a time under limits of time and memory;
:class:`InspectionClient` starts it when first needed and again after it was killed. A layer that crashes, hangs, prints
or eats memory costs an error message and nothing else.
"""

from __future__ import annotations

from engine.inspection.client import InspectionClient
from engine.inspection.messages import LayerListing, LayerShapes, ListedLayer, ModuleFailure, PluginLost

__all__ = ["InspectionClient", "LayerListing", "LayerShapes", "ListedLayer", "ModuleFailure", "PluginLost"]
