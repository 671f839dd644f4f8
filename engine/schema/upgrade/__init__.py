"""From the formats that Caffe once had to today's, by the rules of Caffe's own upgrade code."""

from __future__ import annotations

from engine.schema.upgrade.nets import upgrade_inputs, upgrade_layer, upgrade_layers, upgrade_net, upgrade_solver
from engine.schema.upgrade.types import PADDING, V0_TYPES, V1_TYPES, V1_WORDS, type_of_word

__all__ = [
    "PADDING",
    "V0_TYPES",
    "V1_TYPES",
    "V1_WORDS",
    "type_of_word",
    "upgrade_inputs",
    "upgrade_layer",
    "upgrade_layers",
    "upgrade_net",
    "upgrade_solver",
]
