"""Two blobs into a file."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from engine.api import Blob, Layer

__all__ = ["HDF5OutputLayer"]


class HDF5OutputLayer(Layer):
    """Writes its bottoms to the data sets ``data`` and ``label`` of an HDF5 file (Caffe's ``HDF5OutputLayer``).

    The first pass makes the file anew; every further pass adds its rows at the end, where Caffe ends with an error.
    Both data sets have four axes, those that a bottom has not being of size 1. The file is whole after every pass.
    """

    type = "HDF5Output"
    _output: Any = None

    def setup(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """See that the file can be written."""
        if not self.context.shapes_only:
            self._output = self.context.open_output(self.layer_param)

    def reshape(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Check that there are as many rows of both."""
        if not bottom[0].shape or not bottom[1].shape or bottom[0].shape[0] != bottom[1].shape[0]:
            self.fail_shape(
                f"expected as many rows in both bottoms, got shapes {bottom[0].shape} and {bottom[1].shape}.", bottom=1
            )

    def forward(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Write the rows."""
        if self._output is not None:
            self._output.write(*(blob.on_host.read_data() for blob in bottom))

    def backward(self, top: Sequence[Blob], propagate_down: Sequence[bool], bottom: Sequence[Blob]) -> None:
        """Write zeros: nothing comes back from a file."""
        for blob, wanted in zip(bottom, propagate_down, strict=True):
            if wanted:
                blob.diff[...] = 0

    def get_state(self) -> dict[str, Any]:
        """Return the number of rows written."""
        return {"rows": self._output.rows} if self._output is not None else {}

    def set_state(self, state: dict[str, Any]) -> None:
        """Go on behind that many rows of the file."""
        if self._output is not None and "rows" in state:
            self._output.go_to(int(state["rows"]))
