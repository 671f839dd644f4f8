import caffe


class EuclideanLossLayer(caffe.Layer):
    def setup(self, bottom, top):
        if len(bottom) != 2:
            raise Exception("two bottoms")

    def reshape(self, bottom, top):
        top[0].reshape(1)

    def forward(self, bottom, top):
        self.gap = bottom[0].data - bottom[1].data
        top[0].data[...] = (self.gap**2).sum() / bottom[0].num / 2

    def backward(self, top, propagate_down, bottom):
        for index, sign in ((0, 1), (1, -1)):
            if propagate_down[index]:
                bottom[index].diff[...] = sign * self.gap / bottom[index].num
