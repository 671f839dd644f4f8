"""``caffe.proto.caffe_pb2``: the message classes and enum values of Netcanvas's schema under their Caffe names."""

from __future__ import annotations

from typing import Any

from engine.compat.caffe.missing import not_offered
from engine.layer import Phase
from engine.schema import load_schema

TRAIN = Phase.TRAIN
TEST = Phase.TEST


def __getattr__(name: str) -> Any:
    schema = load_schema()
    if name in schema.message_names:
        return schema.message(name)
    raise not_offered("caffe.proto.caffe_pb2", name, schema.message_names)


def __dir__() -> list[str]:
    return ["TEST", "TRAIN", *load_schema().message_names]
