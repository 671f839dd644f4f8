"""Which fields of ``LayerParameter`` hold the settings of a layer type.

Nearly always the field is called like the type: ``InnerProduct`` keeps its settings in ``inner_product_param``. The
few types that share another's field, or use several, are listed here, those of the dialects among them.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from engine.schema.info import MessageInfo

__all__ = ["is_caffe_type", "param_field_for", "param_fields_for"]

_SPECIAL: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "AnnotatedData": ("annotated_data_param", "data_param", "transform_param"),
        "Data": ("data_param", "transform_param"),
        "Deconvolution": ("convolution_param",),
        "DetectNetTransformation": (
            "detectnet_groundtruth_param",
            "detectnet_augmentation_param",
            "transform_param",
        ),
        "Im2col": ("convolution_param",),
        "ImageData": ("image_data_param", "transform_param"),
        "InfogainLoss": ("infogain_loss_param", "loss_param"),
        "LSTM": ("recurrent_param",),
        "MemoryData": ("memory_data_param", "transform_param"),
        "Normalize": ("norm_param",),
        "RNN": ("recurrent_param",),
        "SigmoidCrossEntropyLoss": ("loss_param",),
        "SmoothL1LossOHEM": ("smooth_l1_loss_param", "loss_param"),
        "SoftmaxWithLoss": ("softmax_param", "loss_param"),
        "SoftmaxWithLossOHEM": ("softmax_param", "loss_param"),
        "VideoData": ("video_data_param", "data_param", "transform_param"),
        "WindowData": ("window_data_param", "transform_param"),
    }
)
_NOT_A_TYPE = frozenset({"transform_param", "loss_param"})
# The layer types that BVLC Caffe registers.
_CAFFE_TYPE_NAMES = """
AbsVal Accuracy ArgMax BNLL BatchNorm BatchReindex Bias Clip Concat ContrastiveLoss Convolution Crop Data
Deconvolution Dropout DummyData ELU Eltwise Embed EuclideanLoss Exp Filter Flatten HDF5Data HDF5Output HingeLoss
Im2col ImageData InfogainLoss InnerProduct Input LRN LSTM LSTMUnit Log MVN MemoryData MultinomialLogisticLoss
PReLU Parameter Pooling Power Python RNN ReLU Reduction Reshape SPP Scale Sigmoid SigmoidCrossEntropyLoss Silence
Slice Softmax SoftmaxWithLoss Split Swish TanH Threshold Tile WindowData
"""
_CAFFE_TYPES = frozenset(_CAFFE_TYPE_NAMES.split())


def is_caffe_type(layer_type: str) -> bool:
    """Return whether BVLC Caffe has a layer type, so that its name is no slip, whether or not it is offered here."""
    return layer_type in _CAFFE_TYPES


def param_fields_for(layer: MessageInfo, layer_type: str) -> tuple[str, ...]:
    """Return the fields that hold settings of a layer type, the main one first.

    Parameters
    ----------
    layer : MessageInfo
        Description of ``LayerParameter``.
    layer_type : str
        Type as a net spells it, such as ``"SoftmaxWithLoss"``.

    Returns
    -------
    tuple of str
        Empty for a type without settings and for one that the schema does not know.
    """
    special = _SPECIAL.get(layer_type)
    if special is not None:
        return tuple(name for name in special if layer.field(name) is not None)
    wanted = layer_type.lower()
    for field in layer.fields:
        if field.name.endswith("_param") and field.name not in _NOT_A_TYPE:
            stem = field.name.removesuffix("_param").replace("_", "")
            if stem == wanted:
                return (field.name,)
    return ()


def param_field_for(layer: MessageInfo, layer_type: str) -> str | None:
    """Return the main field that holds settings of a layer type, or None; see :func:`param_fields_for`."""
    return next(iter(param_fields_for(layer, layer_type)), None)
