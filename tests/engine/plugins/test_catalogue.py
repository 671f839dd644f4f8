"""Which plugins there are and what they offer, found without running any of their code."""

from __future__ import annotations

import importlib.metadata
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest

from engine import prototxt
from engine.errors import NetcanvasError, UnknownLayerTypeError
from engine.files import read_weights, write_weights
from engine.layer import Phase
from engine.net import Net
from engine.plugins import ManifestError, PluginLoadError, PluginProject, find_plugins
from engine.plugins.manifest import read_manifest
from engine.plugins.roots import OUR_PACKAGES
from engine.registry import LayerInfo, LayerRegistry, default_registry
from engine.schema import load_schema, to_message
from tests.engine.plugins.helpers import write
from tests.engine.plugins.timing_plugin import BOMB, MANIFEST, TIMES, plugin

NET = """
    layer { name: "x" type: "Input" top: "x" input_param { shape { dim: 2 } } }
    layer { name: "t" type: "Times" bottom: "x" top: "y" times_param { factor: 3 note: "n" } }
    layer { name: "i" type: "InnerProduct" bottom: "y" top: "z" inner_product_param { num_output: 1 axis: 0 } }
"""


@pytest.fixture(autouse=True)
def own_home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    home = tmp_path_factory.mktemp("home")
    monkeypatch.setattr("engine.plugins.folders.user_plugins_path", lambda: home)
    monkeypatch.setattr("engine.plugins.project.user_plugins_path", lambda: home)
    return home


class TestManifest:
    def test_everything_is_read_and_nothing_is_run(self, tmp_path: Path) -> None:
        plugin(tmp_path / "plugins" / "p", inside__times=BOMB)
        catalogue = find_plugins(base_dirs=[tmp_path])
        (folder,) = [each for each in catalogue.folders if each.name == "timing"]
        assert (folder.origin, folder.manifest.version, folder.error, folder.needs_trust) == (
            "project",
            "1.2",
            None,
            True,
        )
        registry = LayerRegistry()
        catalogue.register(registry)
        info = registry.info("Times")
        assert info is not None
        assert (info.category, info.bottoms, info.tops, info.plugin) == ("Arithmetic", ("x",), ("y",), "timing")
        assert (info.param_field, info.icon) == ("times_param", str(folder.path / "times.svg"))
        extra = catalogue.python_layer("more", "Extra")
        assert extra is not None and extra.param_str is not None
        assert (extra.info.summary, extra.info.tops, extra.line) == ("An extra.", ("out", "more?"), 3)
        assert catalogue.plugin_with_type("Times") is catalogue.plugin_with_field("times_param") is folder

    def test_a_folder_without_one_offers_its_layers(self, tmp_path: Path) -> None:
        write(tmp_path / "plugins" / "old", layers='import caffe\nclass L(caffe.Layer):\n    """Does."""\n')
        found = find_plugins(base_dirs=[tmp_path]).python_layer("layers", "L")
        assert found is not None and (found.info.plugin, found.info.summary) == ("old", "Does.")

    @pytest.mark.parametrize("with_init", [True, False])
    def test_each_layer_is_offered_once_by_the_name_that_a_net_writes(self, tmp_path: Path, with_init: bool) -> None:
        write(tmp_path / "plugins" / "rpn", layers="import caffe\nclass L(caffe.Layer): pass\n")
        if with_init:
            write(tmp_path / "plugins", rpn____init__="")
        own = [each for each in find_plugins(base_dirs=[tmp_path]).python_layers if each.name == "L"]
        assert [each.module for each in own] == ["rpn.layers" if with_init else "layers"]

    @pytest.mark.parametrize(
        ("manifest", "fault"),
        [
            ("[plugin", "is not TOML"),
            ("[plugin]\nname = 3", "plugin.name: expected text, got 3"),
            ("[plugin]\nnmae = 'x'", "plugin.nmae: expected one of .* got 'nmae'"),
            ("[plugin]\nschema = '../../etc/passwd'", "inside the plugin folder"),
            ("[plugin]\nrequires = [1]", "a list of texts"),
            ("[types.X]\nclass = 'X'", "types.X.module: expected the module"),
            ("[types.X]\nmodule = 'x'\nin_place = 'yes'", "true or false"),
            ("[layers.X]\nsummary = 'x'", "module and class"),
            ("[layers.'m.X'.param_str.p]\ntype = 'complex'", "expected type to be one of"),
            ("[layers.'m.X'.param_str.p]\ntype = 'int'\ndefault = 'x'", "default of 'p': expected a whole number"),
            ("[layers.'m.X'.param_str.p]\ntype = 'string'\nmin = 3", "expected min to be a number, of a parameter"),
            ("[other]\nx = 1", "expected one of layers, plugin, types, got 'other'"),
        ],
    )
    def test_faults_name_file_and_key(self, tmp_path: Path, manifest: str, fault: str) -> None:
        (tmp_path / "plugin.toml").write_text(manifest, "utf-8")
        with pytest.raises(ManifestError, match=fault) as caught:
            read_manifest(tmp_path)
        assert str(tmp_path / "plugin.toml") in str(caught.value)

    def test_what_is_required_and_missing_is_told(self, tmp_path: Path) -> None:
        manifest = '[plugin]\nrequires = ["numpy>=2.0", "numpy>=99", "no-such-package", "gone; python_version < \'3\'"]'
        plugin(tmp_path / "plugins" / "p", manifest)
        (fault,) = find_plugins(base_dirs=[tmp_path]).faults
        assert f"version >=99 of 'numpy', and {np.__version__} is installed" in fault.error.message
        assert "'no-such-package', and none is installed" in fault.error.message
        assert "-m pip install 'numpy>=99' no-such-package" in fault.error.next_step

    def test_values_are_held_against_the_schema_without_running_anything(self, tmp_path: Path) -> None:
        plugin(tmp_path / "plugins" / "p")
        found = find_plugins(base_dirs=[tmp_path]).python_layer("more", "Extra")
        assert found is not None and found.param_str is not None
        assert found.param_str.faults({"size": 4}) == ()
        assert found.param_str.faults({"size": 0}) == ("'size': expected 1 or more, got 0.",)
        assert found.param_str.faults({"size": True}) == ("'size': expected a whole number, got True.",)
        assert found.param_str.faults({"sise": 4}) == ("The layer has no parameter 'sise'. Did you mean 'size'?",)


class TestTypes:
    def test_a_type_runs_by_its_name_with_its_own_message(self, tmp_path: Path) -> None:
        plugin(tmp_path / "plugins" / "p")
        net = Net(NET, Phase.TRAIN, base_dirs=[tmp_path])
        net.blobs["x"].data[...] = 2
        net.forward()
        np.testing.assert_array_equal(net.blobs["y"].data, [6, 6])
        assert net.layers[1].layer_param.times_param.note == "n"

    def test_weights_hold_numbered_fields_and_no_others(self, tmp_path: Path) -> None:
        plugin(tmp_path / "plugins" / "p")
        net = Net(NET, Phase.TRAIN, base_dirs=[tmp_path])
        write_weights(net, tmp_path / "w.caffemodel")
        (data,) = [
            layer.SerializeToString()
            for layer in load_schema(fragments=default_registry([tmp_path]).fragments)
            .message("NetParameter")
            .FromString((tmp_path / "w.caffemodel").read_bytes())
            .layer
            if layer.name == "t"
        ]
        read = default_registry([tmp_path]).schema().message("LayerParameter").FromString(data)
        assert read.times_param.factor == 3 and not read.times_param.HasField("note")
        assert {layer.name for layer in read_weights(tmp_path / "w.caffemodel").layer} >= {"t", "i"}

    def test_a_fault_of_its_code_names_layer_and_type(self, tmp_path: Path) -> None:
        plugin(tmp_path / "plugins" / "p", inside__times="1 / 0\n")
        with pytest.raises(
            PluginLoadError, match=r"Layer 't' \(Times\): module 'inside.times' .*ZeroDivisionError"
        ) as caught:
            Net(NET, Phase.TRAIN, base_dirs=[tmp_path])
        assert (caught.value.layer_type, caught.value.line) == ("Times", 1)

    def test_two_projects_have_a_type_of_one_name(self, tmp_path: Path) -> None:
        for name, factor in (("one", 2), ("two", 5)):
            changed = TIMES.replace("= self.layer_param.times_param.factor", f"= {factor}")
            plugin(tmp_path / name / "plugins" / "p", inside__times=changed)
        outputs = []
        for name in ("one", "two", "one"):
            net = Net(NET, Phase.TRAIN, base_dirs=[tmp_path / name])
            net.blobs["x"].data[...] = 1
            net.forward()
            outputs.append(float(net.blobs["y"].data[0]))
        assert outputs == [2, 5, 2]

    @pytest.mark.parametrize("trusted", [True, False])
    def test_only_trusted_code_replaces_a_built_in_layer(self, tmp_path: Path, trusted: bool) -> None:
        plugin(tmp_path / "plugins" / "p", MANIFEST.replace("types.Times", "types.ReLU"))
        info = default_registry([tmp_path], trusted=trusted).info("ReLU")
        assert info is not None and info.builtin is not trusted

    def test_the_message_is_part_of_the_documents_dialect_too(self, tmp_path: Path) -> None:
        plugin(tmp_path / "plugins" / "p")
        schema = default_registry([tmp_path]).schema("ssd")
        text = "times_param { factor: 3 } permute_param { order: 1 }"
        assert (
            to_message(prototxt.parse(text).root, "LayerParameter", schema=schema, strict=True).times_param.factor == 3
        )


class TestFaultyFolders:
    @pytest.mark.parametrize("name", OUR_PACKAGES)
    @pytest.mark.parametrize("as_package", [True, False])
    def test_a_module_named_like_one_of_ours_is_refused(self, tmp_path: Path, name: str, as_package: bool) -> None:
        module = {f"{name}____init__" if as_package else name: "", "mod": TIMES}
        write(tmp_path / "plugins" / "bad", **module)
        write(tmp_path / "plugins" / "good", other="import caffe\nclass L(caffe.Layer): pass\n")
        catalogue = find_plugins(base_dirs=[tmp_path])
        (fault,) = catalogue.faults
        assert fault.plugin == "bad" and f"a module named '{name}'" in str(fault.error)
        assert catalogue.python_layer("mod", "Times") is None
        assert catalogue.python_layer("other", "L") is not None
        project = PluginProject(base_dirs=[tmp_path])
        with pytest.raises(PluginLoadError, match=f"'{tmp_path}/plugins/bad' is refused: it holds a module named"):
            project.load_class("mod", "Times")
        assert project.load_class("other", "L").__name__ == "L"

    def test_a_broken_schema_withholds_the_type_and_says_so(self, tmp_path: Path) -> None:
        plugin(tmp_path / "plugins" / "p", proto="message LayerParameter {\n optional Nothing x = 1;\n}")
        plugin(tmp_path / "plugins" / "q", MANIFEST.replace("Times", "Good").replace("timing", "fine"), TIMES_PROTO)
        registry = default_registry([tmp_path])
        assert "Good" in registry and "Times" not in registry
        assert "plugin 'timing'" in registry.withheld("Times") and "Nothing" in registry.withheld("Times")
        with pytest.raises(UnknownLayerTypeError, match="plugin 'timing' in .* would supply it") as caught:
            Net(NET.replace('times_param { factor: 3 note: "n" }', ""), Phase.TRAIN, base_dirs=[tmp_path])
        assert caught.value.layer == "t"

    def test_safe_mode_leaves_out_all_that_is_not_shipped(self, tmp_path: Path) -> None:
        plugin(tmp_path / "plugins" / "p")
        registry = default_registry([tmp_path], safe=True)
        assert "Times" not in registry and "safe mode" in registry.withheld("Times")
        assert registry.fragments == default_registry(safe=True).fragments
        assert {each.origin for each in find_plugins([tmp_path], [tmp_path], safe=True).folders} <= {"shipped"}


TIMES_PROTO = "message LayerParameter { optional GoodParameter good_param; } message GoodParameter { }"


class TestPlaces:
    def test_the_users_own_folder_and_the_shipped_one_need_no_trust(self, own_home: Path) -> None:
        plugin(own_home / "mine", MANIFEST.replace("timing", "mine"))
        origins = {each.name: (each.origin, each.needs_trust) for each in find_plugins().folders}
        assert origins["mine"] == ("user", False) and origins["basics"] == ("shipped", False)
        assert "Times" in default_registry()
        assert PluginProject().find("more") is not None

    def test_a_folder_on_pythonpath(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("PYTHONPATH", str(plugin(tmp_path / "lib")))
        assert [each.origin for each in find_plugins().folders if each.name == "timing"] == ["path"]

    def test_an_installed_package_is_found_and_not_imported(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        plugin(tmp_path / "timinglib")
        write(tmp_path, timinglib____init__="")
        entry = importlib.metadata.EntryPoint("timing", "timinglib", "netcanvas.layers")
        monkeypatch.setattr("engine.plugins.folders.layer_entry_points", lambda: (entry,))
        monkeypatch.syspath_prepend(tmp_path)
        catalogue = find_plugins()
        (folder,) = [each for each in catalogue.folders if each.name == "timing"]
        assert (folder.origin, folder.package, folder.needs_trust) == ("installed", "timinglib", False)
        assert catalogue.python_layer("timinglib.more", "Extra") is not None
        assert "timinglib" not in sys.modules
        registry = LayerRegistry()
        catalogue.register(registry)
        for built_in in ("Input", "InnerProduct"):
            registry.register_factory(built_in, default_registry().create, LayerInfo(built_in, bottoms=("x*",)))
        net = Net(NET, Phase.TRAIN, registry=registry)
        assert type(net.layers[1]).__module__ == "timinglib.inside.times"

    def test_nobody_elses_plugins_in_a_public_ancestor(self, tmp_path: Path) -> None:
        public = tmp_path / "public"
        plugin(public / "plugins" / "evil")
        mine = public / "mine"
        mine.mkdir()
        public.chmod(0o777)
        names = [each.name for each in find_plugins(base_dirs=[mine, public]).folders]
        assert "timing" not in names
        assert PluginProject(base_dirs=[mine, public]).find("more") is None
        public.chmod(0o755)
        assert "timing" in [each.name for each in find_plugins(base_dirs=[mine, public]).folders]

    def test_an_edit_is_seen_at_the_next_look(self, tmp_path: Path) -> None:
        folder = plugin(tmp_path / "plugins" / "p")
        assert "Times" in default_registry([tmp_path])
        (folder / "plugin.toml").write_text(textwrap.dedent(MANIFEST).replace("types.Times", "types.Other"), "utf-8")
        registry = default_registry([tmp_path])
        assert "Times" not in registry and "Other" in registry

    def test_a_fault_of_ours_is_no_crash(self, tmp_path: Path) -> None:
        (tmp_path / "plugins" / "p").mkdir(parents=True)
        (tmp_path / "plugins" / "p" / "plugin.toml").write_bytes(b"\xff\xfe\x00")
        (fault,) = find_plugins(base_dirs=[tmp_path]).faults
        assert isinstance(fault.error, NetcanvasError) and "UTF-8" in str(fault.error)
