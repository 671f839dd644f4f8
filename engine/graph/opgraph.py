"""The graph's public class."""

from __future__ import annotations

from collections.abc import Iterator

from engine.graph.setting_aside import SettingAsideVerbs
from engine.prototxt import Progress, parse

__all__ = ["OpGraph"]


class OpGraph(SettingAsideVerbs):
    """A prototxt document as a graph of layers.

    Nodes are layers in document order, edges are blobs on their way; see :class:`Node` and :class:`Edge`. The text is
    the truth: every verb edits it, and nodes and edges follow. Verbs belong inside ``with graph.change("..."):``,
    which makes them one undoable :class:`Change`; a verb outside is a change of its own. ``check_*`` methods raise
    :class:`engine.errors.CheckError` with the reason where a verb would refuse.

    Examples
    --------
    >>> graph = OpGraph.parse(b'layer { name: "a" type: "ReLU" bottom: "x" top: "y" }')
    >>> with graph.change("Rename") as change:
    ...     graph.rename_node(graph.nodes()[0].id, "b")
    >>> graph.text
    'layer { name: "b" type: "ReLU" bottom: "x" top: "y" }'
    >>> _ = change.undo()
    >>> graph.nodes()[0].name
    'a'
    """

    @classmethod
    def parse(cls, data: bytes | str, *, progress: Progress | None = None) -> OpGraph:
        """Read a document; broken text opens as far as it goes, and :attr:`problems` says what is wrong.

        Parameters
        ----------
        data : bytes or str
            The file.
        progress : callable, optional
            As for :func:`engine.prototxt.parse`.
        """
        return cls(parse(data, progress=progress))

    def taken_apart(self) -> Iterator[None]:
        """Take a graph that nobody needs any more apart, a layer at each step.

        Its memory is then free as soon as nothing refers to it, without a search for circles of references.
        """
        if self._drawn is not None:
            vars(self._drawn).clear()  # networkx keeps views in it that refer to it
            self._drawn = None
        yield from self._tree.taken_apart()
