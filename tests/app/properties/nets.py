"""Nets that the tests of the panel edit."""

from __future__ import annotations

from engine.registry import default_registry

NET = """name: "Small"
layer {
  name: "data"  # the input
  type: "Input"
  top: "data"
  input_param { shape { dim: 1 dim: 3 dim: 8 dim: 8 } }
}
layer {
  name: "conv1"
  type: "Convolution"
  bottom: "data"
  top: "conv1"
  param { lr_mult: 1 }
  convolution_param {
    num_output: 20  # filters
    kernel_size: 5
    weight_filler { type: 'xavier' }
  }
}
layer {
  name: "pool1"
  type: "Pooling"
  bottom: "conv1"
  top: "pool1"
  pooling_param { pool: MAX kernel_size: 2 stride: 2 }
}
layer { name: "drop" type: "Dropout" bottom: "pool1" top: "pool1" dropout_param { dropout_ratio: 5e-1 } }
layer { name: "conv2" type: "Convolution" bottom: "pool1" convolution_param { num_output: 50 kernel_size: 5 } }
layer {
  name: "db"
  type: "Data"
  top: "d"
  include { phase: TRAIN }
  mystery_field: 3
  data_param { source: "some_lmdb" batch_size: 64 backend: LMDB }
}
"""
#: A tenth of a second is seen, a twentieth is not.
LONGEST = 0.05
TYPES = sorted(
    {info.type for info in default_registry().infos()}
    | {"Concat", "Eltwise", "LRN", "BatchNorm", "Deconvolution", "Recurrent", "LSTM", "NoSuchType", ""}
)
