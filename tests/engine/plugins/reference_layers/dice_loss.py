import caffe
import numpy as np


class DiceLoss(caffe.Layer):
    def setup(self, bottom, top):
        pass

    def reshape(self, bottom, top):
        self.truth = np.zeros_like(bottom[0].data[0][0])
        top[0].reshape(1)

    def forward(self, bottom, top):
        self.truth[...] = bottom[1].data[0][0]
        predicted = bottom[0].data[0][1]
        self.union = predicted.sum() + self.truth.sum()
        self.common = 2 * (predicted * self.truth).sum()
        top[0].data[...] = self.common / (self.union + 1e-5)

    def backward(self, top, propagate_down, bottom):
        assert list(propagate_down) == [True, False]
        slope = 2 * (self.truth * self.union - self.common) / (self.union**2 + 1e-4)
        bottom[0].diff[0, 0, ...] = slope
        bottom[0].diff[0, 1, ...] = -slope


class Scale(caffe.Layer):
    """Stands in for the built-in layer of that name."""

    def setup(self, bottom, top):
        self.blobs.add_blob(2)
        self.blobs[0].data[...] = 1

    def reshape(self, bottom, top):
        top[0].reshape(*bottom[0].shape)

    def forward(self, bottom, top):
        top[0].data[...] = bottom[0].data * self.blobs[0].data.reshape(1, 2, 1, 1)

    def backward(self, top, propagate_down, bottom):
        self.blobs[0].diff[...] += (top[0].diff * bottom[0].data).sum(axis=(0, 2, 3))
        bottom[0].diff[...] = top[0].diff * self.blobs[0].data.reshape(1, 2, 1, 1)
