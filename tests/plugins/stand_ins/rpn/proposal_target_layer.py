"""Stands in for Faster R-CNN's layer: labels and targets for the proposed regions, drawn at random."""

import re

import caffe
import numpy as np


class ProposalTargetLayer(caffe.Layer):
    def setup(self, bottom, top):
        self.classes = int(re.search(r"'num_classes': *(\d+)", self.param_str).group(1))

    def reshape(self, bottom, top):
        self.shape_all(bottom[0].shape[0], top)

    def shape_all(self, count, top):
        top[0].reshape(count, 5)
        top[1].reshape(count)
        for blob in top[2:5]:
            blob.reshape(count, 4 * self.classes)
        for blob in top[5:]:
            blob.reshape(count, 16)

    def forward(self, bottom, top):
        self.shape_all(bottom[0].shape[0], top)
        top[0].data[...] = bottom[0].data
        top[1].data[...] = np.random.randint(0, self.classes, top[1].data.shape)
        for blob in top[2:5]:
            blob.data[...] = np.random.uniform(0, 1, blob.data.shape)
        for blob in top[5:]:
            blob.data[...] = np.random.randint(-1, 5, blob.data.shape)

    def backward(self, top, propagate_down, bottom):
        pass
