"""What Caffe's solver state has no field for: random streams, data positions and the extras' memory.

``<state>.extras.json`` lies beside every solver state, so that an interrupted run and an uninterrupted one end in the
same bits.
"""

from __future__ import annotations

import copy
import json
import logging
import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from engine.errors import LayerError
from engine.files import atomic_write

if TYPE_CHECKING:
    from engine.net import Net
    from engine.net.nodes import NetNode

__all__ = ["capture", "companion_path", "restore", "write"]

_log = logging.getLogger(__name__)
_VERSION = 1


def companion_path(state: Path) -> Path:
    """Return the file that lies beside a solver state."""
    return state.with_name(state.name + ".extras.json")


def capture(net: Net, test_nets: Sequence[Net]) -> dict[str, Any] | None:
    """Return random streams and data positions as they are now, or None if a plugin fails to give its own.

    Later passes do not change the result.
    """
    try:
        found: dict[str, Any] = {"net": net.get_state(), "test_nets": [each.get_state() for each in test_nets]}
    except LayerError as error:
        _log.warning("%s", error)
        return None
    if any(layer.host_arrays for layer in net.layers):
        found["global_generators"] = _global_generators()
    return copy.deepcopy(found)


def write(state: Path, iteration: int, captured: Mapping[str, Any] | None, nets: Sequence[Net]) -> None:
    """Write what was captured beside a solver state.

    Parameters
    ----------
    state : Path
    iteration : int
        Updates done, by which the two files know that they belong together.
    captured : mapping or None
        From :func:`capture`, with more of one's own.
    nets : sequence of Net
        The training net and the test nets, for messages.

    Raises
    ------
    OSError
        If the file cannot be written.
    """
    path = companion_path(state)
    try:
        for net, saved in zip(nets, (captured["net"], *captured["test_nets"]) if captured else (), strict=False):
            for node in net.nodes:
                _check_encodable(node, saved.get(node.name))
    except LayerError as error:  # a plugin's own state is not worth the loss of a snapshot
        _log.warning("%s", error)
        captured = None
    if captured is None:
        path.unlink(missing_ok=True)
        _log.warning("Training that goes on from '%s' will not be exactly the same.", state)
        return
    content = {"version": _VERSION, "iteration": iteration, **captured}
    atomic_write(path, json.dumps(content, separators=(",", ":")).encode())


def _check_encodable(node: NetNode, state: Any) -> None:
    try:
        json.dumps(state)
    except (TypeError, ValueError) as error:
        raise LayerError(
            node.name,
            node.type,
            f"expected numbers, texts, lists and dicts, got {state['own']!r} ({error}).",
            method="get_state",
            next_step="Return an array as array.tolist().",
        ) from error


def restore(state: Path, iteration: int, net: Net, test_nets: Sequence[Net]) -> dict[str, Any] | None:
    """Take random streams and data positions back and return all that was written, or None where they start anew."""
    path = companion_path(state)
    try:
        saved: dict[str, Any] = json.loads(path.read_bytes())
    except FileNotFoundError:
        _log.info("Data restarts at the first record: '%s' does not exist.", path)
        return None
    except ValueError:
        _log.warning("Data restarts at the first record: '%s' is damaged.", path)
        return None
    if saved.get("version") != _VERSION or saved.get("iteration") != iteration:
        _log.warning("Data restarts at the first record: '%s' belongs to another snapshot or version.", path)
        return None
    if "global_generators" in saved:
        _set_global_generators(saved["global_generators"])
    net.set_state(saved["net"])
    for test_net, one in zip(test_nets, saved["test_nets"], strict=False):
        test_net.set_state(one)
    _log.info("Data positions and random streams restored from '%s'.", path)
    return saved


def _global_generators() -> dict[str, Any]:
    """Return the state of the generators that Python layers draw from behind our back, JSON-able."""
    state = np.random.get_state(legacy=False)
    assert isinstance(state, dict)
    inner = {key: value.tolist() if isinstance(value, np.ndarray) else value for key, value in state["state"].items()}
    return {"numpy": {**state, "state": inner}, "python": random.getstate()}


def _set_global_generators(saved: dict[str, Any]) -> None:
    state = saved["numpy"]
    inner = {**state["state"], "key": np.array(state["state"]["key"], dtype=np.uint32)}
    np.random.set_state({**state, "state": inner})
    version, words, gauss = saved["python"]
    random.setstate((version, tuple(words), gauss))
