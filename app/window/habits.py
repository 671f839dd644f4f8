"""Which layers a user adds, remembered between starts: the search lists them by that."""

from __future__ import annotations

import json
from collections.abc import Mapping

from app.window.settings import WindowSettings

__all__ = ["LayerHabits"]

_MUCH = 64
_ALONE, _AFTER = 0.5, 1.0
_ARROW = ">"


class LayerHabits:
    """Counts types of layers, and what they are added after; old habits fade as new ones come.

    Parameters
    ----------
    settings : WindowSettings
        Where the counts are kept.
    """

    def __init__(self, settings: WindowSettings) -> None:
        self._settings = settings
        self._counts = _read(settings.layer_uses)

    def added(self, kind: str, after: str = "") -> None:
        """Remember that a layer was added, and the type of the one that it reads."""
        for key in (kind, f"{after}{_ARROW}{kind}") if after else (kind,):
            self._counts[key] = self._counts.get(key, 0.0) + 1.0
        if max(self._counts.values()) > _MUCH:
            self._counts = {key: count / 2 for key, count in self._counts.items() if count >= 1.0}
        self._settings.layer_uses = json.dumps(self._counts)

    def weights(self, used: Mapping[str, float], after: str = "") -> dict[str, float]:
        """Add to the weights of types, by their use in a net, what was added before in any.

        Parameters
        ----------
        used : mapping of str to float
            See :func:`app.canvas.edits.suiting.usage`.
        after : str
            Type of the layer that the new one will read.
        """
        weights = dict(used)
        for key, count in self._counts.items():
            before, arrow, kind = key.rpartition(_ARROW)
            if not arrow or before == after:
                weights[kind] = weights.get(kind, 0.0) + count * (_AFTER if arrow else _ALONE)
        return weights


def _read(stored: str) -> dict[str, float]:
    """Read what was kept; what is damaged is forgotten."""
    try:
        found = json.loads(stored)
        return {str(key): float(count) for key, count in found.items()}
    except (ValueError, TypeError, AttributeError):
        return {}
