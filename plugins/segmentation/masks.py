"""The masks of max pooling."""

from engine.api import Array, Blob, Layer

__all__ = ["places"]


def places(layer: Layer, mask: Blob, top: Blob) -> Array:
    """Return for each value of a mask its index among all elements of a top.

    Parameters
    ----------
    layer : Layer
        Whose error it is when an index lies outside of the plane.
    mask : Blob
        Shape (N, C, H, W): index of a pixel in the plane (n, c) of the top.
    top : Blob
        Shape (N, C, height, width).

    Returns
    -------
    array of int, shape (N * C * H * W,)
    """
    xp = layer.xp
    images, channels, height, width = top.shape
    index = mask.data.reshape((images * channels, -1)).astype("int64")
    low, high = int(index.min()), int(index.max())
    if low < 0 or high >= height * width:
        layer.fail(
            f"expected indices from 0 to {height * width - 1} in its mask, as its top is {height} high and {width} "
            f"wide, got {low if low < 0 else high}.",
            bottom=1,
            next_step="Set the size of the top to that of the input of the Pooling layer that made the mask.",
        )
    index += xp.arange(images * channels)[:, None] * (height * width)
    return index.reshape(-1)
