"""Images that need no files: grey noise with red or green rectangles in it."""

import caffe
import numpy as np

BATCH, SIZE = 8, 48
NOISE, OBJECTS = 0.2, 3


class ColouredBoxesLayer(caffe.Layer):
    """Images ``(8, 3, 48, 48)`` with one to three rectangles each, red (label 1) or green (2).

    The second top has them as AnnotatedData writes them: rows (item, label, instance, xmin, ymin, xmax, ymax,
    difficult), in parts of the image's width and height.
    """

    def setup(self, bottom, top):
        """Nothing is to be set."""

    def reshape(self, bottom, top):
        """Shape the tops; the number of labels changes with every batch."""
        top[0].reshape(BATCH, 3, SIZE, SIZE)
        top[1].reshape(1, 1, BATCH, 8)

    def forward(self, bottom, top):
        """Draw the next batch."""
        images = NOISE * np.random.standard_normal((BATCH, 3, SIZE, SIZE))
        rows = []
        for item in range(BATCH):
            for instance in range(np.random.randint(1, OBJECTS + 1)):
                label = np.random.randint(1, 3)
                width, height = np.random.randint(10, 25, 2)
                x, y = np.random.randint(SIZE - width), np.random.randint(SIZE - height)
                images[item, 3 - label, y : y + height, x : x + width] += 1
                rows.append([item, label, instance, x, y, x + width, y + height, 0])
        labels = np.array(rows, np.float32)
        labels[:, 3:7] /= SIZE
        top[0].data[...] = images
        top[1].reshape(1, 1, *labels.shape)
        top[1].data[...] = labels

    def backward(self, top, propagate_down, bottom):
        """Nothing is below this layer."""
