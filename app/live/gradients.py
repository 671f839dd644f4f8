"""Checking the gradient of a node's layer, in an inspection process of its own."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from app.jobs import Jobs
from engine.errors import NetcanvasError
from engine.paths import search_folders

if TYPE_CHECKING:
    from app.document import Document
    from engine.graph import NodeId
    from engine.inspection import InspectionClient
    from engine.layer_specs import LayerSpec
    from engine.testing.reports import GradientReport

__all__ = ["GradientChecks"]

_SECONDS = 60.0
_PATIENCE = 0.5
_LABEL = re.compile(r"label|class|target|truth|(^|_)gt(_|$)", re.IGNORECASE)
_MANY = 20_000
_FEW = 4
Shape = tuple[int, ...]
Tell = Callable[[str, str], object]


class GradientChecks(QObject):
    """Runs one check at a time for a document; a new one takes the place of one that waits.

    Parameters
    ----------
    document : Document
        Whose nodes are checked.
    spec_of : callable
        Returns the layer of a node as the shape service takes it.
    """

    def __init__(self, document: Document, spec_of: Callable[[NodeId], LayerSpec]) -> None:
        super().__init__(document)
        self._document = document
        self._spec_of = spec_of
        self._jobs = Jobs(self)
        self._client: InspectionClient | None = None

    @property
    def busy(self) -> bool:
        """Whether a check is running."""
        return self._jobs.busy

    def offers(self, node_id: NodeId) -> bool:
        """Whether the node's layer is somebody's own code, whose gradient is worth a check."""
        info = self._document.registry.info(self._document.graph.node(node_id).type)
        return info is not None and not info.builtin

    def obstacle(self, node_id: NodeId) -> str:
        """Return why the gradient cannot be checked now, in a sentence, or an empty text."""
        live = self._document.live
        shapes = live.shapes.get(node_id)
        if shapes is None or not shapes.bottoms or None in shapes.bottoms:
            return "The shapes of its bottoms are not known."
        if shapes.state == "unknown" and (shapes.error is not None or not live.trusted):
            return f"The layer cannot be run: {shapes.reason}"
        return ""

    def check(self, node_id: NodeId, tell: Tell) -> None:
        """Check a node's gradient and tell the outcome.

        Parameters
        ----------
        node_id : NodeId
            A node that :meth:`offers` and that nothing stands in the way of.
        tell : callable
            Given a text and its kind: ``info``, ``warning`` or ``error``.
        """
        document, live = self._document, self._document.live
        node, spec = document.graph.node(node_id), self._spec_of(node_id)
        bottoms = _fewer([shape for shape in live.shapes[node_id].bottoms if shape is not None])
        labels = [index for index, name in enumerate(node.bottoms) if index and _LABEL.search(name)]
        base_dirs = search_folders(document.path.parent if document.path else None)
        schema, plugin_folders, trusted = live.schema, document.plugin_paths, live.trusted
        is_trained = "TRAIN" in node.phases

        def work() -> GradientReport:
            from engine.inspection import InspectionClient
            from engine.layer import Phase

            with InspectionClient(time_limit=_SECONDS) as client:
                self._client = client
                return client.check_gradients(
                    spec.message(schema),
                    Phase.TRAIN if is_trained else Phase.TEST,
                    bottoms,
                    labels=labels,
                    base_dirs=base_dirs,
                    plugin_folders=plugin_folders,
                    trusted=trusted,
                )

        def failed(error: Exception) -> None:
            if not isinstance(error, NetcanvasError):
                raise error
            tell(f"The gradient of {node.title} could not be checked. {error}", "error")

        self._jobs.submit("gradient", work, lambda report: tell(*_told(report)), failed)

    def close(self) -> None:
        """Stop a check that is running; its outcome is dropped."""
        client = self._client
        if client is not None and self._jobs.busy:
            client.close()
        self._jobs.close(_PATIENCE)


def _fewer(shapes: list[Shape]) -> list[Shape]:
    """Return the shapes with a smaller batch, where all have one and there are many values."""
    batches = {shape[:1] for shape in shapes}
    if len(batches) != 1 or () in batches or max(map(_count, shapes)) <= _MANY:
        return shapes
    return [(min(shape[0], _FEW), *shape[1:]) for shape in shapes]


def _count(shape: Sequence[int]) -> int:
    count = 1
    for dim in shape:
        count *= dim
    return count


def _told(report: GradientReport) -> tuple[str, str]:
    """Return what to say of a report, and of which kind that is."""
    if not report.passed:
        return "\n".join([report.summary, *(str(each) for each in report.findings if each.failed)]), "error"
    if report.warnings:
        return "\n".join([report.summary, *(f"But {warning}" for warning in report.warnings)]), "warning"
    return report.summary, "info"
