"""What a node shows, apart from how it is painted."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from app.layerpicture import LayerPicture

__all__ = ["ASIDE", "CHIP_HEIGHT", "DOCK_GAP", "GHOST", "NODE_WIDTH", "Face", "Port"]

NODE_WIDTH = 184.0
#: Opacity of what is not in the view of the document.
GHOST = 0.28
#: Opacity of what is bypassed.
ASIDE = 0.62
CHIP_HEIGHT = 26.0
DOCK_GAP = 6.0
NODE_RADIUS = 6.0
HEADER = 36.0
PORT_ROW = 20.0
PARAM_ROW = 16.0
PADDING = 5.0
_PORTS_TOP = HEADER + PADDING
_STEP = 2.0


@dataclass(frozen=True, slots=True)
class Port:
    """One end of wires on a node.

    Attributes
    ----------
    name : str
        Name that the layer gives the port.
    blob : str
        Blob that the text names there; ``"?"`` while nothing is connected.
    shape : str
        Shape to show, empty while unknown.
    """

    name: str
    blob: str
    shape: str = ""

    @property
    def label(self) -> str:
        """Text beside the port."""
        return self.name or self.blob


@dataclass(frozen=True, slots=True)
class Face:
    """All that is visible of one node.

    Attributes
    ----------
    params : tuple of (str, str)
        Key parameters as written, name and value.
    phase : str
        ``TRAIN`` or ``TEST`` where the node is only in that phase, else empty.
    chip : bool
        In-place layers are drawn as one line that docks under the node above.
    summary, reason : str
        What the layer does; why the shapes of its outputs are not known.
    severity : str
        ``error``, ``warning`` or empty; ``problems`` are the sentences.
    ghost : bool
        Not in the view of the document.
    bypassed, frozen : bool
        The layer is in no net, and what read it reads what it reads; its weights do not learn.
    code : str
        In a few words, that its code does not run: it waits for the user's trust, or is nowhere; else empty.
    picture : LayerPicture or None
        Its plugin's picture, in place of the category's icon.
    """

    title: str
    type: str
    category: str
    inputs: tuple[Port, ...] = ()
    outputs: tuple[Port, ...] = ()
    params: tuple[tuple[str, str], ...] = ()
    phase: str = ""
    chip: bool = False
    severity: str = ""
    problems: tuple[str, ...] = ()
    size_text: str = ""
    ghost: bool = False
    bypassed: bool = False
    frozen: bool = False
    code: str = ""
    picture: LayerPicture | None = None
    summary: str = ""
    reason: str = ""

    @property
    def state(self) -> str:
        """Words for how the layer was set aside, or that its code does not run; empty where neither is so."""
        aside = "bypassed" if self.bypassed else "frozen" if self.frozen else ""
        return aside or self.code

    def output_text(self, index: int) -> str:
        """What stands beside an output: its shape, and its name where the title does not tell it."""
        port = self.outputs[index]
        if not port.shape:
            return port.label
        named = len(self.outputs) == 1 and port.label == self.title
        return port.shape if named else f"{port.shape} \u00b7 {port.label}"

    @property
    def rows(self) -> int:
        """Rows of ports."""
        return max(len(self.inputs), len(self.outputs), 1)

    @property
    def height(self) -> float:
        """Height in pixels at 100 %; what comes to be known of the layer does not change it."""
        if self.chip:
            return CHIP_HEIGHT
        return _STEP * math.ceil((_PORTS_TOP + PORT_ROW * self.rows + PARAM_ROW * len(self.params) + PADDING) / _STEP)

    def input_y(self, index: int) -> float:
        """Height of an input below the node's top."""
        return CHIP_HEIGHT / 2 if self.chip else _PORTS_TOP + PORT_ROW * (index + 0.5)

    def output_y(self, index: int) -> float:
        """Height of an output below the node's top."""
        return CHIP_HEIGHT / 2 if self.chip else _PORTS_TOP + PORT_ROW * (index + 0.5)
