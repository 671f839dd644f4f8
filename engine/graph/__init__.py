"""The document as a graph: ``OpGraph.parse(data)``, undoable verbs, frozen records, events."""

from engine.graph.binding import UNWIRED
from engine.graph.change import Change
from engine.graph.network import load_network
from engine.graph.opgraph import OpGraph
from engine.graph.pasting import Pasting
from engine.graph.records import INPUTS, Edge, Events, Node, NodeId, Path, phase_words
from engine.graph.rewriting import Reading
from engine.graph.rules import PHASES, NetState, Rule, Rules, read_rule
from engine.graph.upgrading import is_old, upgraded_text, why_not_upgraded
from engine.graph.views import ALL, DEPLOY, GraphView, View

__all__ = [
    "ALL",
    "DEPLOY",
    "INPUTS",
    "PHASES",
    "UNWIRED",
    "Change",
    "Edge",
    "Events",
    "GraphView",
    "NetState",
    "Node",
    "NodeId",
    "OpGraph",
    "Pasting",
    "Path",
    "Reading",
    "Rule",
    "Rules",
    "View",
    "is_old",
    "load_network",
    "phase_words",
    "read_rule",
    "upgraded_text",
    "why_not_upgraded",
]
