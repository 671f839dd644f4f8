"""Trains the example and prints what its trainable layer learned: netcanvas run plugins/basics/train.py."""

from pathlib import Path

import caffe

solver = caffe.SGDSolver(str(Path(__file__).with_name("solver.prototxt")))
factors = solver.net.params["scale"][0].data  # a view: it follows the training
print("before:", factors)
solver.solve()
print("after: ", factors.round(2))
