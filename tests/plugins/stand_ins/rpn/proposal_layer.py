"""Stands in for Faster R-CNN's layer: the product's own, with the settings that a net gives it as text."""

import re

import caffe
import numpy as np
from proposal import make_anchors, move_boxes, suppress


class ProposalLayer(caffe.Layer):
    def setup(self, bottom, top):
        self.stride = int(re.search(r"'feat_stride': *(\d+)", self.param_str).group(1))
        scales = re.search(r"\[(.*)\]", self.param_str)
        numbers = [float(each) for each in scales.group(1).split(",")] if scales else [8.0, 16.0, 32.0]
        self.anchors = make_anchors(16, [0.5, 1, 2], numbers)

    def reshape(self, bottom, top):
        top[0].reshape(1, 5)

    def forward(self, bottom, top):
        count = len(self.anchors)
        scores = bottom[0].data[0, count:].transpose(1, 2, 0)
        height, width, _ = scores.shape
        y, x = np.meshgrid(np.arange(height) * self.stride, np.arange(width) * self.stride, indexing="ij")
        anchors = (np.stack((x, y, x, y), axis=-1)[:, :, None] + self.anchors).reshape(-1, 4)
        offsets = bottom[1].data.reshape(count, 4, height, width).transpose(2, 3, 0, 1).reshape(-1, 4)
        edge = bottom[2].data[0, [1, 0, 1, 0]] - 1
        boxes = np.clip(move_boxes(anchors.astype(np.float32), offsets), 0, edge)
        boxes = boxes[np.argsort(-scores.ravel(), kind="stable")]
        kept = suppress(boxes, 0.7, 12)
        top[0].reshape(len(kept), 5)
        top[0].data[...] = np.insert(boxes[kept], 0, 0, axis=1)

    def backward(self, top, propagate_down, bottom):
        pass
