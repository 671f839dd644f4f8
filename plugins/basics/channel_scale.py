"""A layer with a trainable blob: one factor for each channel."""

import json

import caffe


class ChannelScaleLayer(caffe.Layer):
    """Multiplies each channel (axis 1) by a learned factor, ``y[n, c, ...] = w[c] * x[n, c, ...]``.

    Parameter text (``param_str``), JSON: ``{"initial": 1.0}``, the factors to begin with. The factors are a parameter
    like any other: trained, saved, loaded by layer name, and governed by ``param { lr_mult: ... }`` in the net.
    """

    def setup(self, bottom, top):
        """Read the settings and add the parameter; called once."""
        if len(bottom[0].shape) < 2:
            raise ValueError(f"expected a bottom with channels on axis 1, got shape {tuple(bottom[0].shape)}")
        settings = json.loads(self.param_str) if self.param_str else {}
        self.blobs.add_blob(bottom[0].shape[1])
        self.blobs[0].data[...] = settings.get("initial", 1.0)

    def reshape(self, bottom, top):
        """Shape the top like the bottom."""
        top[0].reshape(*bottom[0].shape)

    def forward(self, bottom, top):
        """Multiply."""
        top[0].data[...] = bottom[0].data * self.factors(bottom[0])

    def backward(self, top, propagate_down, bottom):
        """Add to the gradient of the factors; write that of the bottom if it is wanted."""
        others = tuple(axis for axis in range(len(bottom[0].shape)) if axis != 1)
        self.blobs[0].diff[...] += (top[0].diff * bottom[0].data).sum(axis=others)
        if propagate_down[0]:
            bottom[0].diff[...] = top[0].diff * self.factors(bottom[0])

    def factors(self, bottom):
        """Return the factors shaped so that they spread over the other axes."""
        return self.blobs[0].data.reshape((1, -1) + (1,) * (len(bottom.shape) - 2))
