"""What plugins add to the messages of a document."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine import prototxt
from engine.errors import SchemaError
from engine.schema import SchemaFragment, load_schema, read_fragment, to_message
from engine.schema.fragments import is_text_only, without_text_only

FOO = """
message LayerParameter {
  // Settings of a Foo layer.
  optional FooParameter foo_param = 300;
}
// Settings of a Foo layer.
message FooParameter {
  enum Mode { A = 0; B = 1; }
  // How. Unit: none at all
  optional Mode mode = 1 [default = B];
  // How much. Unit: pixels. Default: as the bottom.
  optional float much = 2;
  optional int32 secret;
  optional Inner inner = 4;
  message Inner { optional PoolingParameter.PoolMethod pool = 1; optional string hidden; }
}
"""


def fragment(tmp_path: Path, text: str, plugin: str = "foo", **fields: tuple[str, ...]) -> SchemaFragment:
    path = tmp_path / f"{plugin}.proto"
    path.write_text(text, "utf-8")
    return read_fragment(plugin, [path], tuple(fields.items()))


def test_a_field_of_a_plugin_is_read_described_and_private(tmp_path: Path) -> None:
    schema = load_schema(fragments=[fragment(tmp_path, FOO)])
    assert schema.clashes == ()
    assert schema.param_field_for("Foo") == "foo_param"
    text = 'foo_param { mode: A much: 3 secret: 4 inner { pool: AVE hidden: "x" } }'
    message = to_message(prototxt.parse(text).root, "LayerParameter", schema=schema, strict=True)
    assert (message.foo_param.much, message.foo_param.secret, message.foo_param.inner.pool) == (3, 4, 1)
    info = schema.describe("FooParameter")
    much = info.field("much")
    assert much is not None and (much.summary, much.unit, much.default_text) == ("How much.", "pixels", "as the bottom")
    mode = info.field("mode")
    assert mode is not None and mode.enum_values == ("A", "B") and mode.default == "B"
    assert "none at all" in mode.summary  # not of the form that is read; shown, not fatal
    assert load_schema().describe("LayerParameter").field("foo_param") is None


def test_text_only_fields_never_reach_a_binary_file(tmp_path: Path) -> None:
    schema = load_schema(fragments=[fragment(tmp_path, FOO)])
    text = 'name: "n" foo_param { much: 3 secret: 4 inner { pool: AVE hidden: "x" } }'
    message = to_message(prototxt.parse(text).root, "LayerParameter", schema=schema)
    secret = schema.describe("FooParameter").field("secret")
    assert secret is not None and is_text_only(secret.number)
    assert secret.text_only and "Not kept in weights files." in secret.doc
    kept = without_text_only(message)
    assert (kept.foo_param.much, kept.foo_param.HasField("secret")) == (3, False)
    assert kept.foo_param.inner.pool == 1 and not kept.foo_param.inner.HasField("hidden")
    assert message.foo_param.secret == 4  # the layer still has it
    plain = load_schema().message("LayerParameter")(name="n")
    assert without_text_only(plain) is plain


def test_private_numbers_follow_from_the_name_so_that_processes_agree(tmp_path: Path) -> None:
    one = load_schema(fragments=[fragment(tmp_path, FOO)])
    other = fragment(tmp_path, "message LayerParameter { optional int32 bar_param; }", "bar")
    two = load_schema(fragments=[other, fragment(tmp_path, FOO)])
    numbers = [schema.field_info("FooParameter", ["secret"]).number for schema in (one, two)]
    assert numbers[0] == numbers[1]


@pytest.mark.parametrize("dialect", ["rfcn", "intel", "bvlc"])
def test_what_a_dialect_has_already_is_no_clash(tmp_path: Path, dialect: str) -> None:
    text = """
        message LayerParameter { optional ROIPoolingParameter roi_pooling_param = 8266711; }
        message ROIPoolingParameter {
          optional uint32 pooled_h = 1 [default = 0];
          optional uint32 pooled_w = 2 [default = 0];
          optional float spatial_scale = 3 [default = 1];
        }
    """
    schema = load_schema(dialect, [fragment(tmp_path, text, "rcnn")])
    assert schema.clashes == ()
    assert schema.find_field("LayerParameter", ["roi_pooling_param", "pooled_h"]) is not None


def test_clashes_keep_what_was_there_and_are_told(tmp_path: Path) -> None:
    text = """
        message LayerParameter {
          optional int32 mine = 106; optional int32 name = 1; optional ReLUParameter.Engine e = 400;
        }
        message ReLUParameter { enum Engine { DEFAULT = 5; OTHER = 1; MORE = 7; } optional float negative_slope = 1; }
    """
    schema = load_schema(fragments=[fragment(tmp_path, text)])
    assert [each.removeprefix("Plugin 'foo': ").split(",")[0].split(" is ")[0] for each in schema.clashes] == [
        "field 'mine' of LayerParameter has the number 106 of another field",
        "field 'name' of LayerParameter",
        "word DEFAULT of enum Engine has another number already",
        "word OTHER of enum Engine has the number of another",
        "field 'negative_slope' of ReLUParameter",
    ]
    assert schema.field_info("LayerParameter", ["name"]).kind == "string"
    assert is_text_only(schema.field_info("LayerParameter", ["mine"]).number)
    assert schema.field_info("LayerParameter", ["e"]).enum_values == ("DEFAULT", "CAFFE", "CUDNN", "MORE")


def test_of_two_plugins_the_first_counts(tmp_path: Path) -> None:
    first = fragment(tmp_path, "message LayerParameter { optional int32 shared_param = 300; }", "a")
    second = fragment(tmp_path, "message LayerParameter { optional float shared_param = 300; }", "b")
    schema = load_schema(fragments=[first, second])
    assert schema.field_info("LayerParameter", ["shared_param"]).kind == "int32"
    assert len(schema.clashes) == 1 and "Plugin 'b'" in schema.clashes[0]


def test_an_undeclared_type_is_refused_when_the_fragment_is_read(tmp_path: Path) -> None:
    with pytest.raises(SchemaError, match="plugin 'foo': field 'x' of LayerParameter has type 'Nothing'"):
        fragment(tmp_path, "message LayerParameter { optional Nothing x = 300; }")


def test_several_files_are_one(tmp_path: Path) -> None:
    (tmp_path / "a.proto").write_text("message LayerParameter { optional B b_param = 300; }", "utf-8")
    (tmp_path / "b.proto").write_text("enum Unused { U = 0; }\n// The B.\nmessage B { optional int32 x = 1; }", "utf-8")
    schema = load_schema(fragments=[read_fragment("ab", [tmp_path / "a.proto", tmp_path / "b.proto"])])
    assert schema.describe("B").doc == "The B."


def test_fields_of_a_type_may_be_called_otherwise(tmp_path: Path) -> None:
    text = "message LayerParameter { optional int32 odd = 300; optional int32 other = 301; }"
    schema = load_schema(fragments=[fragment(tmp_path, text, Strange=("odd", "transform_param", "none"))])
    assert schema.param_fields_for("Strange") == ("odd", "transform_param")


def test_what_protobuf_itself_refuses_is_told_and_touches_no_other(tmp_path: Path) -> None:
    twice = "message LayerParameter { optional %s x_param = 300; } message %s { enum A { W = 0; } enum B { W = 0; } }"
    with pytest.raises(SchemaError, match="Plugin 'foo': .*duplicate symbol"):
        fragment(tmp_path, twice % ("M", "M"))
    good = fragment(tmp_path, FOO)
    # fine beside BVLC's, but a word of the dialect has the name already
    bad = fragment(tmp_path, "message LossParameter { enum Mine { PRE_FIXED = 0; } optional Mine mine = 77; }", "bad")
    schema = load_schema("rfcn", [bad, good])
    assert schema.fragments == (good,) and "Plugin 'bad'" in schema.clashes[-1]
    assert schema.find_field("LayerParameter", ["foo_param", "much"]) is not None
