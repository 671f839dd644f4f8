"""Nets: layers and blobs of one phase, built from a NetParameter."""

from engine.net.filtering import NetState, filter_net, rule_meets
from engine.net.net import Net
from engine.net.nodes import NetNode
from engine.net.observing import DebugInfo, NetObserver
from engine.net.params import LearnableParam
from engine.net.prepare import inputs_to_layers
from engine.net.ranges import UnknownLayerError
from engine.net.rebuilding import Rebuilt, rebuild_net
from engine.net.splits import insert_splits

__all__ = [
    "DebugInfo",
    "LearnableParam",
    "Net",
    "NetNode",
    "NetObserver",
    "NetState",
    "Rebuilt",
    "UnknownLayerError",
    "filter_net",
    "inputs_to_layers",
    "insert_splits",
    "rebuild_net",
    "rule_meets",
]
