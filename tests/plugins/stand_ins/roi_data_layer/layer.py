"""Stands in for Fast and Faster R-CNN's data layer: one small made-up image."""

import re

import caffe
import numpy as np

IMAGE = (128, 160)
BOXES = np.array([[10, 10, 90, 80, 3], [40, 30, 150, 120, 7], [5, 60, 60, 120, 1]], np.float32)


class RoIDataLayer(caffe.Layer):
    def setup(self, bottom, top):
        self.classes = int(re.search(r"'num_classes': *(\d+)", self.param_str).group(1))
        regions = np.insert(BOXES[:, :4], 0, 0, axis=1)
        many = (len(BOXES), 4 * self.classes)
        data = np.random.standard_normal((1, 3, *IMAGE))
        ends = {3: [np.array([[*IMAGE, 1.0]]), BOXES], 6: [regions, BOXES[:, 4], *np.ones((3, *many))]}
        self.values = [data, *ends[len(top)]]

    def reshape(self, bottom, top):
        for blob, values in zip(top, self.values, strict=True):
            blob.reshape(*values.shape)

    def forward(self, bottom, top):
        for blob, values in zip(top, self.values, strict=True):
            blob.data[...] = values

    def backward(self, top, propagate_down, bottom):
        pass
