"""Formulas of losses and recurrent layers, as plain loops."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from engine.layer import Phase
from tests.nodes.references.reference import Reference, Values, integers, normal, positive

__all__ = ["LOSSES", "RECURRENT"]


def number(value: float) -> list[Values]:
    return [np.array(value)]


def softmax_loss(bottoms: Sequence[Values], _: object) -> list[Values]:
    scores, labels = bottoms
    return number(
        sum(
            math.log(sum(math.exp(score) for score in row)) - row[int(label)]
            for row, label in zip(scores, labels, strict=True)
        )
        / len(labels)
    )


def hinge(bottoms: Sequence[Values], _: object) -> list[Values]:
    total = 0.0
    for row, label in zip(*bottoms, strict=True):
        for place, score in enumerate(row):
            total += max(0, 1 - (1 if place == int(label) else -1) * score)
    return number(total / len(bottoms[0]))


def sigmoid_loss(bottoms: Sequence[Values], _: object) -> list[Values]:
    total = 0.0
    for score, target in zip(*(values.ravel().tolist() for values in bottoms), strict=True):
        chance = 1 / (1 + math.exp(-score))
        total -= target * math.log(chance) + (1 - target) * math.log(1 - chance)
    return number(total / len(bottoms[0]))


def infogain(bottoms: Sequence[Values], _: object) -> list[Values]:
    total = 0.0
    for row, label in zip(*bottoms[:2], strict=True):
        whole = sum(math.exp(score) for score in row)
        total -= sum(
            gain * math.log(math.exp(score) / whole) for gain, score in zip(bottoms[2][int(label)], row, strict=True)
        )
    return number(total / len(bottoms[0]))


def contrastive(bottoms: Sequence[Values], _: object) -> list[Values]:
    total = 0.0
    for first, second, like in zip(*bottoms, strict=True):
        distance = math.dist(first, second)
        total += distance**2 if like else max(2 - distance, 0) ** 2
    return number(total / 2 / len(bottoms[0]))


def accuracy(bottoms: Sequence[Values], _: object) -> list[Values]:
    hits = [
        sum(score >= row[int(label)] for score in row) <= 2 for row, label in zip(bottoms[0], bottoms[1], strict=True)
    ]
    return number(sum(hits) / len(hits))


LOSSES = [
    Reference('type: "SoftmaxWithLoss"', [normal(4, 3), integers(3, 4)], softmax_loss, "Bishop 2006, eq. 4.108"),
    Reference(
        'type: "EuclideanLoss"',
        [normal(4, 3), normal(4, 3)],
        lambda b, _: number(sum((x - y) ** 2 for x, y in zip(b[0].flat, b[1].flat, strict=True)) / 2 / 4),
        "Bishop 2006, eq. 5.11, divided by the batch size as in Caffe",
    ),
    Reference(
        'type: "HingeLoss"',
        [normal(4, 3), integers(3, 4)],
        hinge,
        "one against all, divided by the batch size: Caffe's HingeLossLayer",
    ),
    Reference(
        'type: "MultinomialLogisticLoss"',
        [positive(4, 3) / 2, integers(3, 4)],
        lambda b, _: number(-sum(math.log(row[int(label)]) for row, label in zip(*b, strict=True)) / 4),
        "Bishop 2006, eq. 4.108, of probabilities",
    ),
    Reference(
        'type: "SigmoidCrossEntropyLoss"',
        [normal(4, 3), positive(4, 3) / 2],
        sigmoid_loss,
        "Bishop 2006, eq. 4.90, divided by the batch size as in Caffe",
    ),
    Reference(
        'type: "InfogainLoss"',
        [normal(4, 3), integers(3, 4), normal(3, 3)],
        infogain,
        "Caffe's InfogainLossLayer: -sum over classes of H[label, k] log p[k]",
    ),
    Reference(
        'type: "ContrastiveLoss" contrastive_loss_param { margin: 2 }',
        [normal(4, 3), normal(4, 3), np.array([0, 1, 1, 0.0])],
        contrastive,
        "Hadsell, Chopra and LeCun 2006, eq. 4",
    ),
    Reference(
        'type: "Accuracy" accuracy_param { top_k: 2 }',
        [normal(8, 4), integers(4, 8)],
        accuracy,
        "a count; ties as Caffe's AccuracyLayer",
        phase=Phase.TEST,
    ),
]
FILL = 'weight_filler { type: "gaussian" std: 0.5 } bias_filler { type: "gaussian" std: 0.5 }'
MARKERS = np.array([[0, 0], [1, 1], [1, 0], [1, 1.0]])


def sigmoid(x: Values) -> Values:
    return 1 / (1 + np.exp(-x))


def cell_step(cell: Values, gates: Values, go_on: float) -> tuple[Values, Values]:
    """Return the next cell and hidden state from the four gates' inputs: Zaremba and Sutskever 2014, section 3."""
    i, f, o, g = np.split(gates, 4)
    following = go_on * sigmoid(f) * cell + sigmoid(i) * np.tanh(g)
    return following, sigmoid(o) * np.tanh(following)


def lstm(bottoms: Sequence[Values], params: Sequence[Values]) -> list[Values]:
    x, markers = bottoms
    into, bias, again = params
    y = np.zeros((*x.shape[:2], 3))
    for item in range(x.shape[1]):
        cell, hidden = np.zeros(3), np.zeros(3)
        for at, go_on in enumerate(markers[:, item]):
            cell, hidden = cell_step(cell, into @ x[at, item] + bias + again @ (go_on * hidden), go_on)
            y[at, item] = hidden
    return [y]


def rnn(bottoms: Sequence[Values], params: Sequence[Values]) -> list[Values]:
    x, markers = bottoms
    into, bias, again, out, out_bias = params
    y = np.zeros((*x.shape[:2], 3))
    for item in range(x.shape[1]):
        hidden = np.zeros(3)
        for at, go_on in enumerate(markers[:, item]):
            hidden = np.tanh(into @ x[at, item] + bias + again @ (go_on * hidden))
            y[at, item] = np.tanh(out @ hidden + out_bias)
    return [y]


def lstm_unit(bottoms: Sequence[Values], _: object) -> list[Values]:
    steps = [cell_step(*given) for given in zip(*(values[0] for values in bottoms), strict=True)]
    return [np.array([[values[top] for values in steps]]) for top in range(2)]


RECURRENT = [
    Reference(
        f'type: "LSTM" recurrent_param {{ num_output: 3 {FILL} }}',
        [normal(4, 2, 5), MARKERS],
        lstm,
        "Zaremba and Sutskever 2014, section 3; markers as in Donahue et al. 2015",
    ),
    Reference(
        f'type: "RNN" recurrent_param {{ num_output: 3 {FILL} }}',
        [normal(4, 2, 5), MARKERS],
        rnn,
        "Elman 1990, with an output layer: Caffe's RNNLayer",
    ),
    Reference(
        'type: "LSTMUnit"',
        [normal(1, 3, 2), normal(1, 3, 8), np.array([[1, 0, 1.0]])],
        lstm_unit,
        "Zaremba and Sutskever 2014, section 3",
        2,
    ),
]
