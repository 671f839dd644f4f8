"""One input cut to the size of another."""

from __future__ import annotations

from collections.abc import Sequence

from engine.api import Blob, Layer

__all__ = ["CropLayer"]


class CropLayer(Layer):
    """Cuts the axes from ``axis`` on to the sizes of a reference (Caffe's ``CropLayer``).

    Bottoms: data, and a reference of which only the shape is read. The cut starts at ``offset``: one for all axes that
    are cut, or one for each; 0 where there is none, so it is no cut around the centre.
    """

    type = "Crop"

    _window: tuple[slice, ...]

    def reshape(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Find the window and check that it lies inside."""
        param = self.layer_param.crop_param
        data, reference = bottom
        axis = self.axis(param.axis, data)
        if reference.axes < data.axes:
            self.fail_shape(
                f"expected as many axes as bottom 0 has (shape {data.shape}), got shape {reference.shape}.", bottom=1
            )
        cut = data.axes - axis
        offsets = [int(offset) for offset in param.offset] or [0]
        if len(offsets) not in (1, cut):
            self.fail(
                f"expected no offset, one for all axes, or one for each of the {cut} axes from {axis} on, got "
                f"{len(offsets)}."
            )
        if len(offsets) == 1:
            offsets *= cut
        window = [slice(None)] * axis
        for place, offset in enumerate(offsets, axis):
            size, have = reference.shape[place], data.shape[place]
            if offset + size > have:
                self.fail_shape(
                    f"expected offset {offset} and size {size} (from '{reference.name}' of shape {reference.shape}) to "
                    f"fit into axis {place} of '{data.name}', got size {have} in shape {data.shape}.",
                    bottom=0,
                    next_step="Lower the offset, or give a smaller reference.",
                )
            window.append(slice(offset, offset + size))
        self._window = tuple(window)
        top[0].reshape(*data.shape[:axis], *reference.shape[axis : data.axes])

    def forward(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Copy the window."""
        top[0].data[...] = bottom[0].data[self._window]

    def backward(self, top: Sequence[Blob], propagate_down: Sequence[bool], bottom: Sequence[Blob]) -> None:
        """Copy the gradient into the window; all else, and the reference, has none."""
        for blob, wanted in zip(bottom, propagate_down, strict=True):
            if wanted:
                blob.diff[...] = 0
        if propagate_down[0]:
            bottom[0].diff[self._window] = top[0].diff
