"""``caffe.proto.caffe_pb2``: the message classes and enum values of Netcanvas's schema under their Caffe names.

Fields and messages that plugins of the working directory declare are there too. Messages that neither these nor BVLC's
Caffe have are those of the first fork that has them.
"""

from __future__ import annotations

from typing import Any

from google.protobuf.internal.enum_type_wrapper import EnumTypeWrapper

from engine.compat.caffe.missing import not_offered
from engine.compat.caffe.schemas import net_schema, net_schemas
from engine.layer import Phase as _Phase
from engine.schema import load_schema

TRAIN = _Phase.TRAIN
TEST = _Phase.TEST


def __getattr__(name: str) -> Any:
    if name == "Phase":
        return EnumTypeWrapper(net_schema().message("NetState").DESCRIPTOR.fields_by_name["phase"].enum_type)
    if name[:1].isupper():
        for schema in net_schemas():
            if name in schema.message_names:
                return schema.message(name)
    raise not_offered("caffe.proto.caffe_pb2", name, load_schema().message_names)


def __dir__() -> list[str]:
    return ["Phase", "TEST", "TRAIN", *net_schema().message_names]
