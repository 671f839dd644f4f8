"""The loss of predicted boxes and of their classes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from boxes import check_predictions, decode, encode, read_priors
from class_losses import LOGISTIC, NO_CLASS, class_gradients, class_losses
from labels import Objects, check_labels, read_labels
from matching import UNMATCHED, Mining, match

from engine.api import Blob, Layer

__all__ = ["MultiBoxLossLayer"]

_L2 = 0  # MultiBoxLossParameter.LocLossType
_PER_PREDICTION = 1  # MatchType
_NO_MINING, _HARD_EXAMPLE = 0, 2  # MiningType


@dataclass(slots=True)
class _Chosen:
    """What takes part in the loss.

    ``where``, ``coded`` and ``wanted`` are of the matched boxes: indices (image, prior box, box class), coded
    predictions and coded objects. ``items`` and ``classes`` are of all that learn a class: indices (image, prior box),
    and the class that each learns.
    """

    where: tuple[Any, Any, Any]
    coded: Any
    wanted: Any
    items: tuple[Any, Any]
    classes: Any

    @property
    def matched(self) -> int:
        return len(self.coded)


class MultiBoxLossLayer(Layer):
    """``(classes + loc_weight * boxes) / normalizer`` (SSD's ``MultiBoxLossLayer``; Liu et al. 2016, equation 1).

    Bottoms: coded boxes ``(N, P * box classes * 4)``, scores of the classes ``(N, P * num_classes)``, prior boxes
    ``(1, 2, P * 4)``, and labels as rows (item, label, instance, xmin, ymin, xmax, ymax, difficult). Top: the loss, a
    scalar.

    The loss of the boxes is that of the matched ones, smooth L1 or half the square, against coded objects. The loss of
    the classes is a cross-entropy, softmax or a sigmoid for each class, of the matched boxes and the chosen others;
    of all boxes without mining. With ``VALID`` the normalizer is the number of matched boxes, with ``FULL`` the number
    of all, with ``BATCH_SIZE`` that of the images, with ``NONE`` 1, and 1 at least. Losses whose ``propagate_down`` is
    false are left out.

    Where this departs from SSD's Caffe: a sigmoid without mining counts every image's own boxes (there, those after
    the first image go to the wrong places). With ``encode_variance_in_target`` the gradient of the boxes leaves the
    variances out, as it does there.
    """

    type = "MultiBoxLoss"
    host_arrays = True
    auto_top_blobs = True

    _chosen: _Chosen

    def setup(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Read ``multibox_loss_param`` and ``loss_param``."""
        param = self.param = self.layer_param.multibox_loss_param
        if not param.num_classes:
            self.fail("expected num_classes, got none.", next_step="Set it in multibox_loss_param.")
        self.classes, self.background = int(param.num_classes), int(param.background_label_id)
        self.box_classes = 1 if param.share_location else self.classes
        self.logistic = param.conf_loss_type == LOGISTIC
        self.mining = self._mining(param)
        self._check(param)
        self.normalization = _normalization(self.layer_param.loss_param)
        wanted = list(self.layer_param.propagate_down) or [True, True]
        self.counts_boxes, self.counts_classes = bool(wanted[0]), bool(wanted[1])

    def reshape(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Check the numbers of boxes against each other."""
        check_predictions(self, bottom, self.box_classes, self.classes)
        check_labels(self, bottom[3], 3)
        top[0].reshape()

    def forward(self, bottom: Sequence[Blob], top: Sequence[Blob]) -> None:
        """Match, choose, and compute the loss."""
        chosen = self._chosen = self._choose(bottom)
        loss = 0.0
        if self.counts_boxes:
            loss += float(self.param.loc_weight) * float(self._box_losses(chosen.coded - chosen.wanted).sum())
        if self.counts_classes:
            scores = self._scores(bottom)[chosen.items]
            loss += float(class_losses(scores, chosen.classes, logistic=self.logistic).sum())
        top[0].data[...] = loss / self._normalizer(bottom)

    def backward(self, top: Sequence[Blob], propagate_down: Sequence[bool], bottom: Sequence[Blob]) -> None:
        """The gradient of what took part; which boxes do is taken as given."""
        for index, what in ((2, "prior boxes"), (3, "labels")):
            if propagate_down[index]:
                self.fail(f"{what} have no gradient.", bottom=index, next_step="Set propagate_down: false for them.")
        chosen = self._chosen
        weight = top[0].diff.item() / self._normalizer(bottom)
        if propagate_down[0]:
            grad = bottom[0].diff
            grad[...] = 0
            difference = chosen.coded - chosen.wanted
            if self.param.loc_loss_type != _L2:
                difference = np.clip(difference, -1, 1)
            images, priors, kinds = chosen.where
            shaped = grad.reshape(grad.shape[0], -1, self.box_classes, 4)
            shaped[images, priors, kinds] = difference * (weight * self.param.loc_weight)
        if propagate_down[1]:
            grad = bottom[1].diff
            grad[...] = 0
            scores = self._scores(bottom)[chosen.items]
            slopes = class_gradients(scores, chosen.classes, logistic=self.logistic) * weight
            shaped = grad.reshape(grad.shape[0], -1, self.classes)
            shaped[chosen.items] = slopes

    def default_loss_weight(self, top_index: int) -> float:
        """Return 1 for the loss."""
        return 1.0 if top_index == 0 else 0.0

    def allow_force_backward(self, bottom_index: int) -> bool:
        """Prior boxes and labels have no gradient."""
        return bottom_index < 2

    # -- reading the message -------------------------------------------------------------------------------------

    @staticmethod
    def _mining(param: Any) -> Mining | None:
        if param.mining_type == _NO_MINING:
            return None
        return Mining(
            hard=param.mining_type == _HARD_EXAMPLE,
            ratio=float(param.neg_pos_ratio),
            overlap=float(param.neg_overlap),
            most=int(param.sample_size),
            threshold=float(param.nms_param.nms_threshold) if param.HasField("nms_param") else 0.0,
            top_k=int(param.nms_param.top_k),
        )

    def _check(self, param: Any) -> None:
        if param.HasField("do_neg_mining") and param.do_neg_mining != (self.mining is not None):
            self.fail("do_neg_mining and mining_type contradict each other.", next_step="Remove do_neg_mining.")
        if self.mining is not None and not param.share_location:
            self.fail("expected share_location with mining.", next_step="Set mining_type: NONE or share_location.")
        if not self.logistic and self.background >= self.classes:
            self.fail(f"expected a background_label_id below {self.classes}, got {self.background}.")
        if param.map_object_to_agnostic and self.classes != 2:
            self.fail(f"expected 2 classes with map_object_to_agnostic, got {self.classes}.")

    # -- choosing ------------------------------------------------------------------------------------------------

    def _scores(self, bottom: Sequence[Blob]) -> Any:
        return bottom[1].data.reshape(bottom[1].shape[0], -1, self.classes)

    def _choose(self, bottom: Sequence[Blob]) -> _Chosen:
        """Match all images and choose what takes part in the loss."""
        priors, variances = read_priors(bottom[2].data)
        coded = bottom[0].data.reshape(bottom[0].shape[0], len(priors), self.box_classes, 4)
        images = self._objects(bottom[3])
        scores = self._scores(bottom)
        matched: list[tuple[Any, ...]] = []
        negatives: list[tuple[Any, Any]] = []
        for image in range(len(coded)):
            if image not in images:
                continue
            objects = images[image]
            for kind, matches, best in self._matches(objects, coded[image], priors, variances):
                if self.mining is not None:
                    losses = self._mining_losses(
                        matches, objects, coded[image, :, kind], scores[image], priors, variances
                    )
                    where = priors
                    if self.mining.threshold > 0 and not self.param.use_prior_for_nms:
                        where = self._decode(coded[image, :, kind], priors, variances)
                    matches, others = self.mining.choose(matches, best, losses, where)
                    negatives.append((np.full(len(others), image), others))
                places = np.flatnonzero(matches > UNMATCHED)
                pairs = self._compared(objects, matches, coded[image, :, kind], priors, variances)
                classes = objects.labels[matches[places]]
                full = np.broadcast_to
                matched.append(
                    (full(image, places.shape), places, full(kind, places.shape), *pairs, full(classes, places.shape))
                )
        return self._collect(matched, negatives, coded)

    def _objects(self, labels: Blob) -> dict[int, Objects]:
        """Return the objects of each image, all of one class if that is asked for."""
        images = read_labels(self, labels, 3, self.background, difficult=self.param.use_difficult_gt)
        if self.param.map_object_to_agnostic:
            return {item: replace(each, labels=each.labels * 0 + self.background + 1) for item, each in images.items()}
        for each in images.values():
            wrong = each.labels[(each.labels < 0) | (each.labels >= self.classes)]
            if wrong.size:
                self.fail(
                    f"expected labels of objects below {self.classes}, got {wrong[0]}.",
                    bottom=3,
                    next_step="num_classes counts the background, too.",
                )
        return images

    def _collect(self, matched: list[tuple[Any, ...]], negatives: list[tuple[Any, Any]], coded: Any) -> _Chosen:
        """Put the images' parts together."""
        none = np.zeros(0, np.intp)
        blank = (none, none, none, np.zeros((0, 4), coded.dtype), np.zeros((0, 4), coded.dtype), none)
        images, places, kinds, predicted, wanted, classes = (
            np.concatenate(parts) for parts in zip(blank, *matched, strict=True)
        )
        if self.mining is None:
            # where a prior box stands for objects of several classes, the last one counts, as in Caffe
            learned = np.full(coded.shape[:2], NO_CLASS if self.logistic else self.background)
            learned[images, places] = classes
            every = np.divmod(np.arange(learned.size), learned.shape[1])
            return _Chosen((images, places, kinds), predicted, wanted, every, learned.ravel())
        other_images, others = (np.concatenate(parts) for parts in zip((none, none), *negatives, strict=True))
        items = (np.concatenate((images, other_images)), np.concatenate((places, others)))
        learned = np.concatenate((classes, np.full(len(others), self.background)))
        return _Chosen((images, places, kinds), predicted, wanted, items, learned)

    def _matches(self, objects: Objects, coded: Any, priors: Any, variances: Any) -> list[tuple[int, Any, Any]]:
        """Return box class, matches and largest overlaps for each box class of one image."""
        param = self.param
        options = {
            "each": param.match_type == _PER_PREDICTION,
            "threshold": float(param.overlap_threshold),
            "inside_only": param.ignore_cross_boundary_bbox,
        }
        kinds = [0] if param.share_location else [kind for kind in range(self.classes) if kind != self.background]
        if param.use_prior_for_matching:
            matches, best = match(objects.boxes, priors, **options)
            if param.share_location:
                return [(0, matches, best)]
            of_label = np.where(matches > UNMATCHED, objects.labels[np.maximum(matches, 0)], UNMATCHED)
            return [(k, np.where((matches > UNMATCHED) & (of_label != k), UNMATCHED, matches), best) for k in kinds]
        found = []
        for kind in kinds:
            mine = np.flatnonzero(param.share_location | (objects.labels == kind))
            boxes = self._decode(coded[:, kind], priors, variances)
            matches, best = match(objects.boxes[mine], boxes, **options)
            known = matches > UNMATCHED
            matches[known] = mine[matches[known]]
            found.append((kind, matches, best))
        return found

    def _decode(self, coded: Any, priors: Any, variances: Any) -> Any:
        code, in_target = self.param.code_type, self.param.encode_variance_in_target
        return decode(coded, priors, variances, code, in_target=in_target)

    def _compared(self, objects: Objects, matches: Any, coded: Any, priors: Any, variances: Any) -> tuple[Any, Any]:
        """Return predictions and coded objects of the matched boxes of one image, both (M, 4)."""
        param = self.param
        places = np.flatnonzero(matches > UNMATCHED)
        mine, spread = priors[places], variances[places]
        in_target = param.encode_variance_in_target
        wanted = encode(objects.boxes[matches[places]], mine, spread, param.code_type, in_target=in_target)
        predicted = coded[places]
        if param.bp_inside:
            boxes = mine if param.use_prior_for_matching else self._decode(predicted, mine, spread)
            predicted = np.where((boxes < 0) | (boxes > 1), wanted, predicted)
        return (predicted / spread, wanted / spread) if in_target else (predicted, wanted)

    def _mining_losses(
        self, matches: Any, objects: Objects, coded: Any, scores: Any, priors: Any, variances: Any
    ) -> Any:
        """Return the loss of each box of one image by which it is chosen."""
        known = matches > UNMATCHED
        labels = np.where(known, objects.labels[np.maximum(matches, 0)], self.background)
        losses = class_losses(scores, labels, logistic=self.logistic)
        if self.mining is not None and self.mining.hard:
            predicted, wanted = self._compared(objects, matches, coded, priors, variances)
            losses[known] += self._box_losses(predicted - wanted).sum(axis=1)
        return losses

    # -- losses --------------------------------------------------------------------------------------------------

    def _box_losses(self, difference: Any) -> Any:
        square = 0.5 * difference * difference
        if self.param.loc_loss_type == _L2:
            return square
        size = np.abs(difference)
        return np.where(size < 1, square, size - 0.5)

    def _normalizer(self, bottom: Sequence[Blob]) -> float:
        images = bottom[0].shape[0]
        modes = {"FULL": images * (bottom[2].count // 8), "VALID": self._chosen.matched, "BATCH_SIZE": images}
        return float(max(1, modes.get(self.normalization, 1)))


def _normalization(loss_param: Any) -> str:
    """Return the name of the normalization that a ``LossParameter`` asks for."""
    if not loss_param.HasField("normalization") and loss_param.HasField("normalize"):
        return "VALID" if loss_param.normalize else "BATCH_SIZE"
    names = loss_param.DESCRIPTOR.fields_by_name["normalization"].enum_type.values_by_number
    return str(names[loss_param.normalization].name)
