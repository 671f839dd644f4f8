"""A loss layer: the squared distance between a prediction and a target."""

import caffe
import numpy as np


class EuclideanLossLayer(caffe.Layer):
    """Half the mean squared distance, ``sum((a - b) ** 2) / (2 * N)`` with ``N`` the first dimension.

    Bottoms: prediction and target, of one shape. Top: the loss, a scalar. Write ``loss_weight: 1`` in the net: only
    built-in losses have a weight of their own.
    """

    def setup(self, bottom, top):
        """Check the number of bottoms; called once."""
        if len(bottom) != 2:
            raise ValueError(f"expected two bottoms, a prediction and a target, got {len(bottom)}")

    def reshape(self, bottom, top):
        """Shape the top; called before every forward pass, as the batch may have another size."""
        if bottom[0].count != bottom[1].count:
            raise ValueError(f"prediction {tuple(bottom[0].shape)} and target {tuple(bottom[1].shape)} differ in size")
        top[0].reshape(1)

    def forward(self, bottom, top):
        """Write the loss; the difference is kept for the backward pass."""
        self.difference = bottom[0].data - bottom[1].data.reshape(bottom[0].shape)
        top[0].data[...] = np.sum(self.difference**2) / (2.0 * bottom[0].num)

    def backward(self, top, propagate_down, bottom):
        """Write the gradient of each bottom that wants one; ``top[0].diff`` holds the weight of the loss."""
        for index, sign in enumerate((1.0, -1.0)):
            if propagate_down[index]:
                gradient = sign * top[0].diff.flat[0] / bottom[0].num * self.difference
                bottom[index].diff[...] = gradient.reshape(bottom[index].shape)
