import caffe


class BatchPoolLayer(caffe.Layer):
    def setup(self, bottom, top):
        key, value = self.param_str_.split(":")
        self.method = {key.strip(): value.strip()}["PoolMethod"]

    def reshape(self, bottom, top):
        top[0].reshape(1, *bottom[0].shape[1:])

    def forward(self, bottom, top):
        assert self.method == "MAX"
        top[0].data[...] = bottom[0].data.max(axis=0, keepdims=True)

    def backward(self, top, propagate_down, bottom):
        chosen = bottom[0].data == top[0].data
        bottom[0].diff[...] = chosen * top[0].diff
