"""A data layer: makes its batches itself, so that the example needs no files."""

import json

import caffe
import numpy as np


class LineDataLayer(caffe.Layer):
    """Random points ``x`` and, channel by channel, ``factor * x`` with a little noise.

    Parameter text (``param_str``), JSON: ``{"factors": [2.0, -1.0], "batch_size": 16}``. Tops: points and targets, of
    shape (batch size, number of factors). The numbers come from numpy's global generator, which ``random_seed`` in
    the solver seeds.
    """

    def setup(self, bottom, top):
        """Read the settings; called once."""
        if len(bottom) != 0 or len(top) != 2:
            raise ValueError(f"expected no bottoms and two tops, got {len(bottom)} and {len(top)}")
        settings = json.loads(self.param_str)
        self.factors = np.array(settings["factors"], np.float32)
        self.batch_size = int(settings["batch_size"])

    def reshape(self, bottom, top):
        """Shape both tops."""
        for blob in top:
            blob.reshape(self.batch_size, len(self.factors))

    def forward(self, bottom, top):
        """Make the next batch."""
        points = np.random.standard_normal(top[0].data.shape)
        top[0].data[...] = points
        top[1].data[...] = points * self.factors + 0.01 * np.random.standard_normal(points.shape)

    def backward(self, top, propagate_down, bottom):
        """Nothing is below this layer."""
