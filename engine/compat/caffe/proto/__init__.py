"""``caffe.proto``: Caffe's message types."""
