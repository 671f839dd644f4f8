"""What a small Faster R-CNN needs beside the plugin's layers: images, and what anchors and regions should learn."""

import caffe
import numpy as np

SIZE, STRIDE = 64, 4
ANCHOR, SCALES, RATIOS = 4, (3, 5), (0.5, 1, 2)
REGIONS = 32


class BrightBoxesLayer(caffe.Layer):
    """One image ``(1, 3, 64, 64)`` of noise with rectangles, red (label 1) or green (2).

    Tops: the image, its size as a row (height, width, scale), and the rectangles as rows (x1, y1, x2, y2, label).
    """

    def setup(self, bottom, top):
        """Nothing is to be set."""

    def reshape(self, bottom, top):
        """Shape the tops; the number of rectangles changes with every image."""
        top[0].reshape(1, 3, SIZE, SIZE)
        top[1].reshape(1, 3)
        top[2].reshape(1, 5)

    def forward(self, bottom, top):
        """Draw the next image."""
        image = 0.2 * np.random.standard_normal((3, SIZE, SIZE))
        rows = []
        for _ in range(np.random.randint(1, 4)):
            label = np.random.randint(1, 3)
            width, height = np.random.randint(10, 26, 2)
            x, y = np.random.randint(SIZE - width), np.random.randint(SIZE - height)
            image[3 - label, y : y + height, x : x + width] += 1
            rows.append([x, y, x + width - 1, y + height - 1, label])
        top[0].data[0] = image
        top[1].data[...] = SIZE, SIZE, 1
        top[2].reshape(len(rows), 5)
        top[2].data[...] = rows

    def backward(self, top, propagate_down, bottom):
        """Nothing is below this layer."""


class AnchorTargetsLayer(caffe.Layer):
    """What the anchors should learn (Ren et al. 2015, section 3.1.2).

    Bottoms: scores of the anchors ``(1, 2 * A, H, W)``, of which only the size counts, and rectangles. Tops: labels
    ``(1, 1, A * H, W)``, 1 for an object, 0 for none, -1 to be left out; offsets ``(1, 4 * A, H, W)``; and weights of
    that shape.
    """

    def setup(self, bottom, top):
        """Make the anchors."""
        sides = np.array([[ANCHOR * s / r**0.5, ANCHOR * s * r**0.5] for r in RATIOS for s in SCALES])
        centre = (ANCHOR - 1) / 2
        self.anchors = np.concatenate((centre - (sides - 1) / 2, centre + (sides - 1) / 2), axis=1)

    def reshape(self, bottom, top):
        """Shape the tops like the scores."""
        height, width = bottom[0].shape[2:]
        count = len(self.anchors)
        top[0].reshape(1, 1, count * height, width)
        for blob in top[1:]:
            blob.reshape(1, 4 * count, height, width)

    def forward(self, bottom, top):
        """Compare the anchors with the rectangles."""
        height, width = bottom[0].shape[2:]
        y, x = np.meshgrid(np.arange(height) * STRIDE, np.arange(width) * STRIDE, indexing="ij")
        anchors = (np.stack((x, y, x, y), axis=-1)[:, :, None] + self.anchors).reshape(-1, 4)
        objects = bottom[1].data
        shared = overlaps(anchors, objects[:, :4])
        best = shared.max(axis=1)
        labels = np.full(len(anchors), -1)
        labels[best < 0.3] = 0
        labels[best >= 0.6] = 1
        labels[shared.argmax(axis=0)] = 1
        none = np.flatnonzero(labels == 0)
        surplus = len(none) - 3 * max((labels == 1).sum(), 8)
        if surplus > 0:
            labels[np.random.choice(none, surplus, replace=False)] = -1
        offsets = offsets_between(anchors, objects[shared.argmax(axis=1), :4])
        places = (height, width, len(self.anchors))
        top[0].data[...] = labels.reshape(places).transpose(2, 0, 1).reshape(top[0].data.shape)
        top[1].data[...] = offsets.reshape(*places, 4).transpose(2, 3, 0, 1).reshape(top[1].data.shape)
        weights = np.repeat(labels.reshape(places) == 1, 4, axis=2) / max((labels == 1).sum(), 1)
        top[2].data[...] = weights.transpose(2, 0, 1)

    def backward(self, top, propagate_down, bottom):
        """Nothing passes."""


class RegionTargetsLayer(caffe.Layer):
    """What the regions should learn.

    Bottoms: proposed regions and rectangles. Tops: a choice of the regions ``(32, 5)``, the rectangles among them,
    their labels ``(32)``, 0 for none, and their offsets and weights ``(32, 4)``.
    """

    def setup(self, bottom, top):
        """Nothing is to be set."""

    def reshape(self, bottom, top):
        """Shape the tops."""
        for blob, shape in zip(top, ((REGIONS, 5), (REGIONS,), (REGIONS, 4), (REGIONS, 4)), strict=True):
            blob.reshape(*shape)

    def forward(self, bottom, top):
        """Compare the regions with the rectangles."""
        objects = bottom[1].data
        regions = np.concatenate((bottom[0].data[:, 1:], objects[:, :4]))
        shared = overlaps(regions, objects[:, :4])
        best = shared.max(axis=1)
        # up to half of the regions are of objects; where there are too few regions, some come twice
        found = np.flatnonzero(best >= 0.5)
        found = np.random.permutation(found)[: REGIONS // 2]
        other = np.random.choice(np.flatnonzero(best < 0.5) if (best < 0.5).any() else found, REGIONS - len(found))
        chosen = np.concatenate((found, other))
        match = shared[chosen].argmax(axis=1)
        is_object = best[chosen] >= 0.5
        top[0].data[:, 0], top[0].data[:, 1:] = 0, regions[chosen]
        top[1].data[...] = np.where(is_object, objects[match, 4], 0)
        top[2].data[...] = offsets_between(regions[chosen], objects[match, :4])
        top[3].data[...] = is_object[:, None]

    def backward(self, top, propagate_down, bottom):
        """Nothing passes."""


def overlaps(first, second):
    """Return intersection over union of each box of one set with each of another; corners belong to a box."""
    start = np.maximum(first[:, None, :2], second[None, :, :2])
    end = np.minimum(first[:, None, 2:], second[None, :, 2:])
    shared = np.maximum(end - start + 1, 0).prod(axis=-1)
    sizes = [(boxes[:, 2:] - boxes[:, :2] + 1).prod(axis=-1) for boxes in (first, second)]
    return shared / (sizes[0][:, None] + sizes[1] - shared)


def offsets_between(boxes, wanted):
    """Return the offsets (x, y, log width, log height) that bring boxes to wanted ones."""
    sides, wanted_sides = (each[:, 2:] - each[:, :2] + 1 for each in (boxes, wanted))
    moved = (wanted[:, :2] + wanted_sides / 2 - boxes[:, :2] - sides / 2) / sides
    return np.concatenate((moved, np.log(wanted_sides / sides)), axis=1)
