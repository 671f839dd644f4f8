"""What is known of a layer type, for checks and for the editor: its group, its ports, where it came from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["LayerInfo"]


@dataclass(frozen=True, slots=True)
class LayerInfo:
    """Facts about a layer type.

    Attributes
    ----------
    type : str
        As written in prototxt.
    category : str
        Group in the palette.
    summary : str
        One sentence.
    bottoms, tops : tuple of str
        Names of the ports. Trailing ones may end in ``?`` (optional), the last in ``*`` (any number) or ``+`` (one or
        more).
    in_place_ok : bool
        Whether a top may have its bottom's name.
    param_field : str
        The layer's field of LayerParameter, such as ``convolution_param``; empty where it has none.
    builtin : bool
        Shipped with the product: a fault inside it is ours, not a plugin's.
    paired : bool
        As many tops as bottoms.
    plugin : str
        Name of the plugin that has it; empty for the product's own.
    needs_trust : bool
        Its code came with the net, so it runs only once the user trusts the net's folder.
    icon : str
        Path of a picture for the palette; empty for the category's own.
    doc : str
        What there is to know beyond the summary; may be empty.
    """

    type: str
    category: str = "Other"
    summary: str = ""
    bottoms: tuple[str, ...] = ("bottom",)
    tops: tuple[str, ...] = ("top",)
    in_place_ok: bool = False
    param_field: str = ""
    builtin: bool = False
    paired: bool = False
    plugin: str = ""
    needs_trust: bool = False
    icon: str = ""
    doc: str = ""

    @property
    def min_bottoms(self) -> int:
        """Least number of bottoms."""
        return _least(self.bottoms)

    @property
    def max_bottoms(self) -> int | None:
        """Greatest number of bottoms; ``None`` for no limit."""
        return _greatest(self.bottoms)

    @property
    def min_tops(self) -> int:
        """Least number of tops."""
        return _least(self.tops)

    @property
    def max_tops(self) -> int | None:
        """Greatest number of tops; ``None`` for no limit."""
        return _greatest(self.tops)

    def bottom_name(self, index: int) -> str:
        """Return the name of a bottom port, without its mark."""
        return _port_name(self.bottoms, index, "bottom")

    def top_name(self, index: int) -> str:
        """Return the name of a top port, without its mark."""
        return _port_name(self.tops, index, "top")


def _least(ports: Sequence[str]) -> int:
    return sum(not port.endswith(("?", "*")) for port in ports)


def _greatest(ports: Sequence[str]) -> int | None:
    return None if ports and ports[-1].endswith(("*", "+")) else len(ports)


def _port_name(ports: Sequence[str], index: int, fallback: str) -> str:
    if index < len(ports):
        name = ports[index].rstrip("?*+")
        return f"{name} {index}" if name in ports[:index] else name
    if ports and ports[-1].endswith(("*", "+")):
        return f"{ports[-1].rstrip('*+')} {index}"
    return f"{fallback} {index}"
