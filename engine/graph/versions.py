"""Layer types of older formats, and the names that nodes get.

The two tables of types are facts of Caffe's format: the enum of ``V1LayerParameter`` and the strings of
``V0LayerParameter``, with what its upgrade code makes of them.
"""

from __future__ import annotations

__all__ = ["LAYER_FIELDS", "base_name", "current_type", "v1_type"]

#: Top-level fields that hold a layer.
LAYER_FIELDS = ("layer", "layers")

_V1 = {
    "ABSVAL": "AbsVal",
    "ACCURACY": "Accuracy",
    "ARGMAX": "ArgMax",
    "BNLL": "BNLL",
    "CONCAT": "Concat",
    "CONTRASTIVE_LOSS": "ContrastiveLoss",
    "CONVOLUTION": "Convolution",
    "DATA": "Data",
    "DECONVOLUTION": "Deconvolution",
    "DROPOUT": "Dropout",
    "DUMMY_DATA": "DummyData",
    "ELTWISE": "Eltwise",
    "EUCLIDEAN_LOSS": "EuclideanLoss",
    "EXP": "Exp",
    "FLATTEN": "Flatten",
    "HDF5_DATA": "HDF5Data",
    "HDF5_OUTPUT": "HDF5Output",
    "HINGE_LOSS": "HingeLoss",
    "IM2COL": "Im2col",
    "IMAGE_DATA": "ImageData",
    "INFOGAIN_LOSS": "InfogainLoss",
    "INNER_PRODUCT": "InnerProduct",
    "LRN": "LRN",
    "MEMORY_DATA": "MemoryData",
    "MULTINOMIAL_LOGISTIC_LOSS": "MultinomialLogisticLoss",
    "MVN": "MVN",
    "POOLING": "Pooling",
    "POWER": "Power",
    "RELU": "ReLU",
    "SIGMOID": "Sigmoid",
    "SIGMOID_CROSS_ENTROPY_LOSS": "SigmoidCrossEntropyLoss",
    "SILENCE": "Silence",
    "SLICE": "Slice",
    "SOFTMAX": "Softmax",
    "SOFTMAX_LOSS": "SoftmaxWithLoss",
    "SPLIT": "Split",
    "TANH": "TanH",
    "THRESHOLD": "Threshold",
    "WINDOW_DATA": "WindowData",
}
_V0 = {
    "accuracy": "Accuracy",
    "bnll": "BNLL",
    "concat": "Concat",
    "conv": "Convolution",
    "data": "Data",
    "dropout": "Dropout",
    "euclidean_loss": "EuclideanLoss",
    "flatten": "Flatten",
    "hdf5_data": "HDF5Data",
    "hdf5_output": "HDF5Output",
    "im2col": "Im2col",
    "images": "ImageData",
    "infogain_loss": "InfogainLoss",
    "innerproduct": "InnerProduct",
    "lrn": "LRN",
    "multinomial_logistic_loss": "MultinomialLogisticLoss",
    "pool": "Pooling",
    "relu": "ReLU",
    "sigmoid": "Sigmoid",
    "softmax": "Softmax",
    "softmax_loss": "SoftmaxWithLoss",
    "split": "Split",
    "tanh": "TanH",
    "window_data": "WindowData",
}
_V1_WORDS = {today: word for word, today in _V1.items()}
# What people call their layers; a name that ends in nothing is tried without a number first.
_BASES = {
    "Accuracy": "accuracy",
    "BatchNorm": "bn",
    "Convolution": "conv",
    "Data": "data",
    "Deconvolution": "deconv",
    "Dropout": "drop",
    "HDF5Data": "data",
    "ImageData": "data",
    "InnerProduct": "ip",
    "Input": "data",
    "LRN": "norm",
    "Pooling": "pool",
    "Softmax": "prob",
    "SoftmaxWithLoss": "loss",
}
_SINGLE = frozenset({"accuracy", "data", "label", "loss", "prob"})


def current_type(written: str, version: int) -> str:
    """Return today's name of a layer type as an old file writes it; the written one where none is known."""
    if version == 1:
        return _V1.get(written, written)
    if version == 0:
        return _V0.get(written, written)
    return written


def v1_type(type_name: str) -> str | None:
    """Return the enum word that the old ``layers`` format has for a type, if it has one."""
    return _V1_WORDS.get(type_name)


def base_name(type_name: str) -> tuple[str, bool]:
    """Return what layers of a type are usually called, and whether the first of them carries no number."""
    base = _BASES.get(type_name) or ("loss" if type_name.endswith("Loss") else type_name.lower())
    cleaned = "".join(char if char.isalnum() or char == "_" else "_" for char in base) or "layer"
    return cleaned, cleaned in _SINGLE
