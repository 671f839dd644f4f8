"""Parameters of a net: names, multipliers, sharing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from engine.blob import Blob
from engine.errors import LayerError, SurplusError
from engine.net.nodes import NetNode

__all__ = ["LearnableParam", "ParamTable", "surplus_params"]

PERMISSIVE = 1  # ParamSpec.DimCheckMode


@dataclass(frozen=True, slots=True)
class LearnableParam:
    """A parameter as the solver sees it; one that several layers share appears once, with its owner.

    Attributes
    ----------
    blob : Blob
        Values and gradient (host view).
    name : str
        Name given in ``param { name }``; ``layer[i]`` where there is none.
    layer : str
        Layer that owns it.
    index : int
        Its position among the layer's parameters.
    lr_mult, decay_mult : float
        Factors on the learning rate and on the weight decay.
    """

    blob: Blob
    name: str
    layer: str
    index: int
    lr_mult: float
    decay_mult: float


@dataclass(slots=True)
class _Owner:
    layer: str
    blob: Blob
    position: int
    lr_mult: float | None
    decay_mult: float | None


class ParamTable:
    """Collects the parameters of layers as a net is built."""

    def __init__(self) -> None:
        self.learnable: list[LearnableParam] = []
        self._owners: dict[str, _Owner] = {}

    def add_layer(self, node: NetNode) -> list[bool]:
        """Take up the parameters of a layer that was set up.

        Returns
        -------
        list of bool
            For each parameter, whether its gradient is wanted (``lr_mult`` is not 0).

        Raises
        ------
        engine.errors.LayerError
            If there are more ``param`` blocks than parameters, or a shared one does not fit its owner.
        """
        specs = node.layer_param.param
        blobs = node.blobs.on_host
        surplus = surplus_params(node.layer_param, len(blobs))
        if surplus is not None:
            raise surplus
        return [
            self._add(node, index, blob, specs[index] if index < len(specs) else None)
            for index, blob in enumerate(blobs)
        ]

    def _add(self, node: NetNode, index: int, blob: Blob, spec: Any) -> bool:
        lr_mult = spec.lr_mult if spec is not None and spec.HasField("lr_mult") else None
        decay_mult = spec.decay_mult if spec is not None and spec.HasField("decay_mult") else None
        name = spec.name if spec is not None else ""
        if name in self._owners:
            return self._share(node, index, blob, spec, self._owners[name], lr_mult, decay_mult)
        if name:
            self._owners[name] = _Owner(node.name, blob, len(self.learnable), lr_mult, decay_mult)
        self.learnable.append(
            LearnableParam(
                blob,
                name or f"{node.name}[{index}]",
                node.name,
                index,
                1.0 if lr_mult is None else lr_mult,
                1.0 if decay_mult is None else decay_mult,
            )
        )
        return lr_mult != 0

    def _share(
        self,
        node: NetNode,
        index: int,
        blob: Blob,
        spec: Any,
        owner: _Owner,
        lr_mult: float | None,
        decay_mult: float | None,
    ) -> bool:
        """Make a parameter one memory with its owner's (Caffe's ``Net::AppendParam``)."""
        permissive = spec.share_mode == PERMISSIVE
        fits = blob.count == owner.blob.count if permissive else blob.shape == owner.blob.shape
        if not fits:
            expected = f"{owner.blob.count} elements" if permissive else f"shape {owner.blob.shape}"
            raise LayerError(
                node.name,
                node.type,
                f"parameter {index} shares '{spec.name}' with layer '{owner.layer}': expected {expected}, got shape "
                f"{blob.shape}.",
                next_step="Give it a name of its own"
                + ("." if permissive or blob.count != owner.blob.count else ", or set share_mode: PERMISSIVE."),
            )
        blob.share_data(owner.blob)
        blob.share_diff(owner.blob)
        owner.lr_mult = self._agree(node, spec, owner, "lr_mult", owner.lr_mult, lr_mult)
        owner.decay_mult = self._agree(node, spec, owner, "decay_mult", owner.decay_mult, decay_mult)
        known = self.learnable[owner.position]
        self.learnable[owner.position] = LearnableParam(
            known.blob,
            known.name,
            known.layer,
            known.index,
            1.0 if owner.lr_mult is None else owner.lr_mult,
            1.0 if owner.decay_mult is None else owner.decay_mult,
        )
        return lr_mult != 0

    @staticmethod
    def _agree(
        node: NetNode, spec: Any, owner: _Owner, field: str, owned: float | None, given: float | None
    ) -> float | None:
        if owned is not None and given is not None and owned != given:
            raise LayerError(
                node.name,
                node.type,
                f"shared parameter '{spec.name}': {field} {given} differs from {owned} in layer '{owner.layer}'.",
                next_step="Write it in one of the two, or the same in both.",
            )
        return given if owned is None else owned


def surplus_params(layer_param: Any, count: int) -> SurplusError | None:
    """Return the error of a layer that has more ``param`` blocks than its ``count`` parameters; None for others."""
    have = len(layer_param.param)
    if have <= count:
        return None
    step = "Remove the others, or set bias_term." if count else "Remove them."
    return SurplusError(layer_param.name, layer_param.type, "param", count, have, "parameters", next_step=step)
