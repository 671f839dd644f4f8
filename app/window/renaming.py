"""Renaming a blob: another thing than renaming its layer, and asked about where two phases share a name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtWidgets import QInputDialog, QMessageBox, QWidget

if TYPE_CHECKING:
    from app.document import Document
    from engine.graph import NodeId

__all__ = ["ask_blob_name", "rename_blob"]


def ask_blob_name(document: Document, node: NodeId, top: int, parent: QWidget) -> None:
    """Ask for the new name of a blob, and rename it.

    Raises
    ------
    engine.errors.CheckError
        If the name is another blob's.
    """
    old = document.graph.node(node).tops[top]
    name, given = QInputDialog.getText(parent, "Rename blob", f"New name of blob '{old}':", text=old)
    if given and name.strip() != old:
        rename_blob(document, node, top, name.strip(), parent)


def rename_blob(document: Document, node: NodeId, top: int, name: str, parent: QWidget) -> None:
    """Rename a blob with all its readers, as one command; ask whether a namesake of the other phase shall follow.

    Raises
    ------
    engine.errors.CheckError
        If the name is another blob's; nothing is asked then.
    """
    graph = document.graph
    graph.check_rename_blob(node, top, name)
    old = graph.node(node).tops[top]
    others = graph.namesakes(node, top)
    everywhere = False
    if others:
        titles = ", ".join(graph.node(other).title for other in others[:4]) + ("…" if len(others) > 4 else "")
        buttons = QMessageBox.StandardButton
        answer = QMessageBox.question(
            parent,
            "Rename blob",
            f"Another blob is called '{old}' too, of {titles}. Rename that as well?",
            buttons.Yes | buttons.No | buttons.Cancel,
            buttons.No,
        )
        if answer == buttons.Cancel:
            return
        everywhere = answer == buttons.Yes
    document.apply(
        f"Rename blob {old} to {name}", lambda target: target.rename_blob(node, top, name, everywhere=everywhere)
    )
