"""The map: the whole net in a corner, with a frame around what is in view; dragging pans."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QMouseEvent, QPainter, QPaintEvent, QPen, QPixmap, QTransform, QWheelEvent

from app.canvas.overlay import CornerWidget
from app.qt import Debounce, guard

if TYPE_CHECKING:
    from app.canvas.navigation import NavigationView

__all__ = ["Minimap"]

_WIDTH, _HEIGHT = 220, 150
_SHARE = 0.26  # of the view's width and height that the map may take
_ROOMY = 800.0  # pixels of the view's width from which on it may; it takes half of that where there is hardly room
_LEAST_HEIGHT = 48
_MARGIN = 8.0
_BIG = 1000  # layers
_PAUSE_MS = 120
_SHADE = 0.10


class Minimap(CornerWidget):
    """Shows the lists of boxes and lines of which the far view is painted, from a picture of them.

    The picture is made anew only when the net looks different, that of a big net a moment later; while the view pans,
    only the frame moves.
    """

    def __init__(self, view: NavigationView) -> None:
        super().__init__(view, Qt.Corner.BottomRightCorner)
        self.setObjectName("canvas.minimap")
        self.setAccessibleName("Map of the net")
        self.show_key("")
        self.setCursor(Qt.CursorShape.SizeAllCursor)
        self.resize(_WIDTH, _HEIGHT)
        self._view = view
        self._is_chosen = False
        self._is_offered = False
        self._picture: QPixmap | None = None
        self._painted: tuple[object, ...] = ()
        self._measured = -1
        self._transform = QTransform()
        self._anew = Debounce(self._forget, _PAUSE_MS, self)
        self._again = Debounce(self.offer, _PAUSE_MS, self)
        view.canvas.content_changed.connect(self._changed)
        view.canvas.overview_changed.connect(self._changed)
        view.horizontalScrollBar().valueChanged.connect(self._moved)
        view.verticalScrollBar().valueChanged.connect(self._moved)
        view.scale_changed.connect(self._moved)

    def sizeHint(self) -> QSize:
        return QSize(_WIDTH, _HEIGHT)

    def place(self) -> None:
        """Go to the corner, in a size that leaves room for the net."""
        area = self._view.rect()
        part = _SHARE * (0.5 + 0.5 * min(1.0, area.width() / _ROOMY))
        share = min(1.0, part * area.width() / _WIDTH, 1.5 * part * area.height() / _HEIGHT)
        size = QSize(round(_WIDTH * share), round(_HEIGHT * share)).expandedTo(QSize(0, _LEAST_HEIGHT))
        if size != self.size():
            self.resize(size)
            self._measured, self._picture = -1, None
        super().place()

    def show_key(self, key: str) -> None:
        """Say in the tooltip which key hides the map."""
        self.setToolTip("Drag to move what is in view" + (f" ({key} hides the map)" if key else ""))

    def toggle(self) -> None:
        """Show or hide the map; from then on it does not come or go by itself."""
        self._is_chosen = True
        self.setVisible(not self.isVisible())
        self.place()

    def offer(self) -> None:
        """Show the map while the net is not all in view, until somebody says whether it shall be there."""
        self._is_offered = True
        if not self._is_chosen and not self.underMouse():
            self.setVisible(not self._view.shows_all)
            self.place()

    def stop(self) -> None:
        """Do nothing more by itself: the net goes away."""
        self._is_offered = False
        self._anew.cancel()
        self._again.cancel()

    @guard
    def _changed(self) -> None:
        if self.isVisible():
            self.update()

    @guard
    def _moved(self, _value: float = 0.0) -> None:
        if self._is_offered and not self._is_chosen:
            self._again.trigger()
        if self.isVisible():
            self.update()

    def transform(self) -> QTransform:
        """Return what leads from the scene into the map."""
        version = self._view.canvas.overview.version
        if version != self._measured:
            self._measured, self._transform = version, self._fitting()
        return self._transform

    def _fitting(self) -> QTransform:
        content = self._view.canvas.content_rect()
        if content.isNull():
            content = QRectF(0.0, 0.0, 1.0, 1.0)
        room = QRectF(self.rect()).adjusted(_MARGIN, _MARGIN, -_MARGIN, -_MARGIN)
        scale = min(room.width() / content.width(), room.height() / content.height())
        center = room.center()
        found = QTransform.fromTranslate(center.x(), center.y())
        found.scale(scale, scale)
        return found.translate(-content.center().x(), -content.center().y())

    @guard
    def paintEvent(self, event: QPaintEvent) -> None:
        scene = self._view.canvas
        theme = scene.style_set.theme
        ratio = self.devicePixelRatioF()
        picture = self._picture if self._painted[1:2] == (ratio,) else None
        if picture is not None and len(scene.nodes) >= _BIG:
            if self._painted != (scene.overview.version, ratio, theme):
                self._anew.trigger()  # an edit and the map after it are not to be one long wait
        else:
            scene.overview.prepare(at_once=False)  # of a big net what was there before is painted until it is ready
            state = (scene.overview.painted, ratio, theme)
            if picture is None or self._painted != state:
                picture = self._paint_net(ratio)
                self._picture, self._painted = picture, state
        painter = QPainter(self)
        painter.drawPixmap(0, 0, picture)
        transform = self.transform() if self._painted[0] == scene.overview.version else self._transform
        seen = transform.mapRect(self._view.visible_rect())
        seen = seen.intersected(QRectF(self.rect()).adjusted(1.0, 1.0, -1.0, -1.0))
        accent = theme.color("accent")
        shade = QColor(accent)
        shade.setAlphaF(_SHADE)
        painter.setPen(QPen(accent, 1.5))
        painter.setBrush(shade)
        painter.drawRect(seen)
        painter.end()

    def _forget(self) -> None:
        self._picture = None
        self.update()

    def _paint_net(self, ratio: float) -> QPixmap:
        scene = self._view.canvas
        theme = scene.style_set.theme
        picture = QPixmap(self.size() * ratio)
        picture.setDevicePixelRatio(ratio)
        picture.fill(theme.color("surface"))
        painter = QPainter(picture)
        painter.setTransform(self.transform())
        scene.overview.paint(painter)
        painter.resetTransform()
        painter.setPen(QPen(theme.color("border"), 1.0))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRect(self.rect().adjusted(0, 0, -1, -1))
        painter.end()
        return picture

    # Panning

    def _center_on(self, position: QPointF) -> None:
        inverse, possible = self.transform().inverted()
        if possible:
            self._view.follows_size = False
            self._view.centerOn(inverse.map(position))
            self._view.told_panned()

    @guard
    def mousePressEvent(self, event: QMouseEvent) -> None:
        event.accept()
        if event.button() == Qt.MouseButton.LeftButton:
            self._center_on(event.position())

    @guard
    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        event.accept()
        if event.buttons() & Qt.MouseButton.LeftButton:
            self._center_on(event.position())

    @guard
    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        event.accept()

    @guard
    def wheelEvent(self, event: QWheelEvent) -> None:
        event.accept()
        self._view.zoom_by(1.0015 ** event.angleDelta().y())
