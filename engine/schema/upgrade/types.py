"""Layer types of the older formats; facts of Caffe's format and of its upgrade code."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

__all__ = ["PADDING", "V0_TYPES", "V1_TYPES", "V1_WORDS", "type_of_word"]

#: The oldest format pads by a layer of its own, which today is a field of the layer that follows.
PADDING = "padding"

#: Words of the enum ``V1LayerParameter.LayerType`` with today's types.
V1_TYPES: Mapping[str, str] = MappingProxyType(
    {
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
)
#: Types as ``V0LayerParameter`` names them, with today's.
V0_TYPES: Mapping[str, str] = MappingProxyType(
    {
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
)
#: Today's types with the words that the enum has for them.
V1_WORDS: Mapping[str, str] = MappingProxyType({today: word for word, today in V1_TYPES.items()})
#: Words that the enum has in forks only, where plugins declare them, with today's types.
_FORK_TYPES: Mapping[str, str] = MappingProxyType({"BN": "BN", "UNPOOLING": "Unpooling"})


def type_of_word(word: str) -> str:
    """Return today's type for a word of the enum ``V1LayerParameter.LayerType``; empty for one that is not known."""
    return V1_TYPES.get(word) or _FORK_TYPES.get(word, "")
