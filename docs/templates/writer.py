"""A small writer of prototxt for the templates: layers as they are read best, short messages on one line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

WIDTH = 100


class Word(str):
    """A value without quotes, such as the name of an enum."""


MAX, AVE, SUM, LMDB = Word("MAX"), Word("AVE"), Word("SUM"), Word("LMDB")
TRAIN, TEST = Word("TRAIN"), Word("TEST")
#: Rules of layers: what only trains, only tests, compares with labels, or stands for the input of a trained net.
IN_TRAINING = {"phase": TRAIN, "not_stage": "deploy"}
IN_TESTS = {"phase": TEST, "not_stage": "deploy"}
WITH_LABELS = {"not_stage": "deploy"}
DEPLOYED = {"stage": "deploy"}

Fields = Mapping[str, Any]


def _inline(name: str, value: Any) -> str:
    if isinstance(value, Mapping):
        return f"{name} {{ {' '.join(_inline(*pair) for pair in _pairs(value))} }}" if value else f"{name} {{ }}"
    if isinstance(value, Word):
        return f"{name}: {value}"
    if isinstance(value, str):
        return f'{name}: "{value}"'
    return f"{name}: {str(value).lower() if isinstance(value, bool) else value}"


def _pairs(fields: Fields) -> list[tuple[str, Any]]:
    return [(name, each) for name, value in fields.items() for each in (value if isinstance(value, list) else [value])]


def _lines(name: str, value: Any, indent: str) -> list[str]:
    line = f"{indent}{_inline(name, value)}"
    if len(line) <= WIDTH or not isinstance(value, Mapping):
        return [line]
    inner = [line for pair in _pairs(value) for line in _lines(*pair, f"{indent}  ")]
    return [f"{indent}{name} {{", *inner, f"{indent}}}"]


class Net:
    """Collects layers and comments.

    Parameters
    ----------
    name : str
    about : sequence of str
        Lines of the comment at the top.
    """

    def __init__(self, name: str, about: Sequence[str]) -> None:
        self._lines = [*(f"# {line}" for line in about), f'name: "{name}"']

    def section(self, text: str) -> None:
        """Begin a part of the net with a comment."""
        self._lines += ["", f"# --- {text} ---", ""]

    def layer(
        self, name: str, kind: str, bottoms: Sequence[str] | str, tops: Sequence[str] | str, **fields: Any
    ) -> str:
        """Add a layer; return its first top."""
        bottoms = [bottoms] if isinstance(bottoms, str) else list(bottoms)
        tops = [tops] if isinstance(tops, str) else list(tops)
        self._lines += ["layer {", f'  name: "{name}"', f'  type: "{kind}"']
        self._lines += [f'  bottom: "{each}"' for each in bottoms] + [f'  top: "{each}"' for each in tops]
        for pair in _pairs(fields):
            self._lines += _lines(*pair, "  ")
        self._lines.append("}")
        return tops[0] if tops else ""

    def text(self) -> str:
        return "\n".join(self._lines) + "\n"

    # What most nets have

    def images(self, size: int, batch: int, *, test_batch: int = 50, scale: float | None = None) -> None:
        """Add sources of colour images for training and tests, and the input of the deployed net."""
        self.section(
            "Data: two databases of labelled images, written by `netcanvas convert_imageset`; name yours in 'source'."
        )
        mean: Fields = (
            {"mean_value": [104, 117, 123]} if scale is None else {"mean_value": [104, 117, 123], "scale": scale}
        )
        for rule, source, count, mirror in (
            (IN_TRAINING, "train_lmdb", batch, True),
            (IN_TESTS, "val_lmdb", test_batch, False),
        ):
            self.layer(
                "data",
                "Data",
                [],
                ["data", "label"],
                include=rule,
                transform_param={"mirror": mirror, "crop_size": size, **mean},
                data_param={"source": source, "backend": LMDB, "batch_size": count},
            )
        self.input("data", [1, 3, size, size])

    def input(self, top: str, dims: Sequence[int]) -> None:
        """Add an input of the deployed net."""
        self.layer(top, "Input", [], top, include=DEPLOYED, input_param={"shape": {"dim": list(dims)}})

    def conv(self, name: str, bottom: str, outputs: int, kernel: int, *, relu: bool = True, **more: Any) -> str:
        """Add a convolution, with a ReLU in place unless told otherwise."""
        params = more.pop("param", None)
        fields: dict[str, Any] = {"param": params} if params else {}
        more.setdefault("weight_filler", {"type": "msra"})
        top = self.layer(
            name,
            "Convolution",
            bottom,
            name,
            **fields,
            convolution_param={"num_output": outputs, "kernel_size": kernel, **more},
        )
        if relu:
            self.relu(name)
        return top

    def relu(self, blob: str) -> None:
        self.layer(f"{blob}_relu", "ReLU", blob, blob)

    def norm(self, blob: str, *, relu: bool = True) -> str:
        """Add batch normalization with the scale and the shift that Caffe keeps in a layer of its own."""
        self.layer(f"{blob}_bn", "BatchNorm", blob, blob)
        self.layer(f"{blob}_scale", "Scale", blob, blob, scale_param={"bias_term": True})
        if relu:
            self.relu(blob)
        return blob

    def pool(self, name: str, bottom: str, kernel: int, stride: int, how: Word = MAX, **more: Any) -> str:
        return self.layer(
            name, "Pooling", bottom, name, pooling_param={"pool": how, "kernel_size": kernel, "stride": stride, **more}
        )

    def dense(self, name: str, bottom: str, outputs: int, filler: Fields | None = None, **fields: Any) -> str:
        return self.layer(
            name,
            "InnerProduct",
            bottom,
            name,
            **fields,
            inner_product_param={"num_output": outputs, "weight_filler": filler or {"type": "xavier"}},
        )

    def dropout(self, blob: str, ratio: float) -> None:
        self.layer(f"{blob}_drop", "Dropout", blob, blob, dropout_param={"dropout_ratio": ratio})

    def verdict(self, scores: str, *, top5: bool = True) -> None:
        """Add loss and accuracy for training and tests, and probabilities for the deployed net."""
        self.section(
            "Verdict: the loss trains, the accuracies tell how good it is, the deployed net gives probabilities."
        )
        self.layer("loss", "SoftmaxWithLoss", [scores, "label"], "loss", include=WITH_LABELS)
        self.layer("accuracy", "Accuracy", [scores, "label"], "accuracy", include=IN_TESTS)
        if top5:
            self.layer(
                "accuracy_top5",
                "Accuracy",
                [scores, "label"],
                "accuracy_top5",
                include=IN_TESTS,
                accuracy_param={"top_k": 5},
            )
        self.layer("prob", "Softmax", scores, "prob", include=DEPLOYED)
