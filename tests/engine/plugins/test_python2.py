"""Python 2 plugins: named line by line, converted when asked, and taken back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from engine.errors import NetcanvasError
from engine.plugins import PluginProject, apply_conversion, find_python2, plan_conversion
from engine.plugins.failures import PluginLoadError
from tests.engine.plugins.helpers import write

OLD = '''# a plugin of 2015
import caffe
import cPickle
import numpy as np


class L(caffe.Layer):
    """print 'in a string', `not code`"""

    def setup(self, bottom, top):
        try:
            self.big = 10L + 010
        except ValueError, error:
            raise ValueError, "bad"
        for i in xrange(3): print i
        if {}.has_key(3) or 1 <> 1: print "%d" % i, self.big

    def reshape(self, bottom, top):
        top[0].reshape(bottom[0].num / 1, bottom[0].count / float(bottom[0].num))

    def forward(self, bottom, top):
        top[0].data[...] = bottom[0].data / 2.0
'''


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ("print x", "print statement"),
        ("if a: print", "print statement"),
        ("print >>sys.stderr, x", "print statement"),
        ("print 'a' % (b)", "print statement"),
        ("except ValueError, e:", "except with a comma"),
        ("except (A, B), e:", "except with a comma"),
        ("raise ValueError, 'x'", "raise with a comma"),
        ("exec 'x = 1'", "exec statement"),
        ("x = `y`", "backquotes"),
        ("if a <> b: pass", "<>"),
        ("os.chmod(p, 0755)", "octal number"),
        ("x = 10L", "long number"),
        ("d.has_key(x)", "has_key"),
        ("for k, v in d.iteritems(): pass", "dictionary iterator"),
        ("f = lambda (a, b): a", "tuple parameter"),
        ("def f(self, (a, b), c):", "tuple parameter"),
        ("for i in xrange(3): pass", "xrange"),
        ("isinstance(x, basestring)", "basestring"),
        ("x = ur'a'", "ur'...' string"),
        ("import cPickle as pickle", "module cPickle"),
        ("from StringIO import StringIO", "module StringIO"),
        ("import os, urllib2", "module urllib2"),
    ],
)
def test_each_kind_is_named_with_its_line(line: str, what: str) -> None:
    found = find_python2(f"x = 1\n{line}\n")
    assert [(each.line, each.what) for each in found][:1] == [(2, what)]
    assert found[0].today in str(found[0])


@pytest.mark.parametrize(
    "line",
    [
        "print(x)",
        "print('a %d' % 3)",
        "print(x, file=f)",
        "pprint x_y if 0 else 1",
        "self.print = 3",
        "except (A, B) as e:",
        "except ValueError:",
        "raise ValueError('a, b')",
        "x = 0o755 + 0 + 00 + 1e-05 + 0.05 + 0x1F",
        "# print x, `y`, 10L",
        "s = 'print x' + \"except A, e:\" + '''\nprint x\n'''",
        "s = 'it\\'s' ; t = 'print x'",
        "f = lambda a, b: (a, b)",
        "def f(self, a=(1, 2)):",
        "my_xrange(3); self.long = 3",
        "import pickle, urllib.request",
    ],
)
def test_what_is_python_3_is_left_alone(line: str) -> None:
    assert find_python2(line) == ()


def test_our_own_code_has_none() -> None:
    folder = Path(__file__).resolve().parents[3] / "engine"
    assert {path.name: find_python2(path) for path in folder.rglob("*.py") if find_python2(path)} == {}


def test_the_error_of_a_layer_names_line_and_cure(tmp_path: Path) -> None:
    write(tmp_path, old=OLD)
    with pytest.raises(PluginLoadError) as caught:
        PluginProject(base_dirs=[tmp_path]).load_class("old", "L", layer="p")
    error = caught.value
    assert (error.kind, error.file) == ("syntax", str(tmp_path / "old.py"))
    assert "This is Python 2 code: line 1" in error.next_step and "more places" in error.next_step
    assert "shown first" in error.next_step


class TestConversion:
    pytest.importorskip("fissix", reason="the extra 'python2' is not installed")

    def test_it_is_shown_then_written_then_taken_back(self, tmp_path: Path) -> None:
        write(tmp_path, old=OLD, new="import caffe\nX = 3 / 2\n")
        before = (tmp_path / "old.py").read_bytes()
        plan = plan_conversion([tmp_path])
        assert [each.path.name for each in plan.files] == ["old.py"] and not plan.failures
        assert (
            "-        for i in xrange(3): print i" in plan.diff and "+        for i in range(3): print(i)" in plan.diff
        )
        assert (tmp_path / "old.py").read_bytes() == before
        applied = apply_conversion(plan)
        assert PluginProject(base_dirs=[tmp_path]).load_class("old", "L").__name__ == "L"
        assert (tmp_path / "old.py.python2").read_bytes() == before
        applied.undo()
        assert (tmp_path / "old.py").read_bytes() == before
        assert sorted(path.name for path in tmp_path.iterdir() if path.is_file()) == ["new.py", "old.py"]

    def test_divisions_still_round(self, tmp_path: Path) -> None:
        write(tmp_path, old=OLD)
        (file,) = plan_conversion([tmp_path / "old.py"]).files
        assert (
            "top[0].reshape(_python2_divide(bottom[0].num, 1), bottom[0].count / float(bottom[0].num))"
            in file.after.decode()
        )
        write(tmp_path, future="from __future__ import division\nprint 3 / n\nn /= 2\n")
        (future,) = plan_conversion([tmp_path / "future.py"]).files
        assert b"print(3 / n)" in future.after and future.divisions == ()

    def test_divisions_in_place_are_for_a_person_to_look_at(self, tmp_path: Path) -> None:
        write(tmp_path, old="print 'a'\nn = 3\nn /= 2\nn /= 2.0\n")
        (file,) = plan_conversion([tmp_path / "old.py"]).files
        assert [file.after.decode().splitlines()[number - 1] for number in file.divisions] == ["n /= 2"]

    @pytest.mark.parametrize("first", ["", "print 'a'\n"])
    def test_tabs_that_only_python_2_reads(self, tmp_path: Path, first: str) -> None:
        source = "def f():\n    if True:\n\tx = '''a\n\tb'''\n    return x\n"
        (tmp_path / "m.py").write_text(first + source)
        (file,) = plan_conversion([tmp_path / "m.py"]).files
        assert not file.error
        names: dict[str, Any] = {}
        exec(compile(file.after, "m.py", "exec"), names)
        assert names["f"]() == "a\n\tb"
        if not first:
            assert str(file.findings[0]) == "line 3: tabs and spaces mixed; write spaces alone"

    @pytest.mark.parametrize(
        ("data", "converted"),
        [
            (b"print 'a'\r\nx = 1\r\n", b"print('a')\r\nx = 1\r\n"),
            (b"print 'a'", b"print('a')\n"),
            (b"# coding: latin-1\nprint '\xe9'\n", b"# coding: latin-1\nprint('\xe9')\n"),
            (b"print 'a'\r\nx = 1\ny = 2\n", b"print('a')\r\nx = 1\ny = 2\n"),
            (b"\tif 1:\n", None),
        ],
    )
    def test_line_ends_and_encodings_stay(self, tmp_path: Path, data: bytes, converted: bytes | None) -> None:
        path = tmp_path / "m.py"
        path.write_bytes(data)
        files = plan_conversion([path]).files
        assert [each.after for each in files] == ([] if converted is None else [converted])

    def test_what_cannot_be_converted_says_so_and_the_others_are(self, tmp_path: Path) -> None:
        write(tmp_path, broken="print 'a'\ndef f(:\n", old="print 'a'\n")
        plan = plan_conversion([tmp_path])
        assert [each.path.name for each in plan.failures] == ["broken.py"] and plan.failures[0].error
        apply_conversion(plan)
        assert (tmp_path / "old.py").read_text() == "print('a')\n"
        assert (tmp_path / "broken.py").read_text().startswith("print 'a'")

    @pytest.mark.parametrize(
        ("text", "error"),
        [
            ("x = 1\nprint 'a'\ndef f(:\n", "line 3: Python 2 does not read it either"),
            ("# coding: klingon\nprint 'a'\n", "what comes out is not Python 3 yet: unknown encoding: klingon"),
            ("print 'a'\nnonlocal x\n", ""),
        ],
    )
    def test_why_it_cannot_be_converted(self, tmp_path: Path, text: str, error: str) -> None:
        write(tmp_path, old=text)
        (failed,) = plan_conversion([tmp_path]).files
        assert failed.error == error
        assert (failed.after == failed.before) == bool(error)

    def test_the_difference_marks_an_end_without_a_line_end(self, tmp_path: Path) -> None:
        write(tmp_path, old="print 'a'")
        assert "-print 'a'\n\\ No newline at end of file\n+print('a')\n" in plan_conversion([tmp_path]).diff

    def test_an_edit_in_between_is_never_lost(self, tmp_path: Path) -> None:
        write(tmp_path, a="print 'a'\n", b="print 'b'\n")
        plan = plan_conversion([tmp_path])
        (tmp_path / "b.py").write_text("print 'edited'\n")
        with pytest.raises(NetcanvasError, match=r"b\.py' was edited since"):
            apply_conversion(plan)
        assert (tmp_path / "a.py").read_text() == "print 'a'\n"
        applied = apply_conversion(plan_conversion([tmp_path]))
        (tmp_path / "b.py").write_text("edited = True\n")
        with pytest.raises(NetcanvasError, match="edited after its conversion"):
            applied.undo()
        assert (tmp_path / "a.py").read_text() == "print('a')\n"

    def test_backups_are_never_overwritten(self, tmp_path: Path) -> None:
        write(tmp_path, a="print 'a'\n")
        (tmp_path / "a.py.python2").write_text("older")
        apply_conversion(plan_conversion([tmp_path]))
        assert (tmp_path / "a.py.python2").read_text() == "older"
        assert (tmp_path / "a.py.python2-2").read_text() == "print 'a'\n"
