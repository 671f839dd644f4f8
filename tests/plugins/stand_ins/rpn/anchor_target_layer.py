"""Stands in for Faster R-CNN's layer: labels and targets for all anchors, drawn at random."""

import caffe
import numpy as np


class AnchorTargetLayer(caffe.Layer):
    def setup(self, bottom, top):
        pass

    def reshape(self, bottom, top):
        _, channels, height, width = bottom[0].shape
        top[0].reshape(1, 1, channels // 2 * height, width)
        for blob in top[1:]:
            blob.reshape(1, 2 * channels, height, width)

    def forward(self, bottom, top):
        top[0].data[...] = np.random.randint(-1, 2, top[0].data.shape)
        for blob in top[1:]:
            blob.data[...] = np.random.uniform(0, 1, blob.data.shape)

    def backward(self, top, propagate_down, bottom):
        pass
