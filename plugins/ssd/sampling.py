"""Patches of images that are sampled at random, so that objects are seen at many sizes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from boxes import areas, overlaps

from engine.api import Layer

__all__ = ["check_samplers", "sample_patches"]


def check_samplers(layer: Layer, samplers: Sequence[Any]) -> None:
    """Refuse patches of no size, or larger than their image."""
    for each in samplers:
        sampler = each.sampler
        if not 0 < sampler.min_scale <= sampler.max_scale <= 1:
            layer.fail(
                f"expected 0 < min_scale <= max_scale <= 1, got {sampler.min_scale:g} and {sampler.max_scale:g}.",
                next_step="Correct the sampler in annotated_data_param.",
            )
        if not 0 < sampler.min_aspect_ratio <= sampler.max_aspect_ratio < np.inf:
            layer.fail(
                "expected 0 < min_aspect_ratio <= max_aspect_ratio, got "
                f"{sampler.min_aspect_ratio:g} and {sampler.max_aspect_ratio:g}.",
                next_step="Correct the sampler in annotated_data_param.",
            )


def sample_patches(objects: Any, samplers: Sequence[Any], rng: np.random.Generator) -> Any:
    """Sample patches (SSD's ``GenerateBatchSamples``; Liu et al. 2016, section 2.2, data augmentation).

    Parameters
    ----------
    objects : ndarray of float32, shape (G, 4)
        Boxes of the objects of an image.
    samplers : sequence of BatchSampler
        Those that do not use the original image sample nothing.
    rng : Generator

    Returns
    -------
    ndarray of float32, shape (S, 4)
        All patches that fulfil their constraint.
    """
    found = [np.zeros((0, 4), np.float32)]
    for sampler in samplers:
        if sampler.use_original_image:
            patches = _draw(sampler.sampler, int(sampler.max_trials), rng)
            patches = patches[_fulfilled(patches, objects, sampler.sample_constraint)]
            found.append(patches[: sampler.max_sample] if sampler.HasField("max_sample") else patches)
    return np.concatenate(found)


def _draw(sampler: Any, count: int, rng: np.random.Generator) -> Any:
    """Draw patches, shape (count, 4): their sizes, their forms, their places."""
    scale = rng.uniform(sampler.min_scale, sampler.max_scale, count)
    ratio = rng.uniform(sampler.min_aspect_ratio, sampler.max_aspect_ratio, count)
    ratio = np.minimum(np.maximum(ratio, scale**2), 1 / scale**2)
    sides = np.stack((scale * np.sqrt(ratio), scale / np.sqrt(ratio)), axis=1)
    start = rng.uniform(0, 1, (count, 2)) * np.maximum(1 - sides, 0)
    return np.concatenate((start, start + sides), axis=1).astype(np.float32)


def _fulfilled(patches: Any, objects: Any, constraint: Any) -> Any:
    """Return for which patches some object has what is asked of both; of several constraints the first decides."""
    for kind in ("jaccard_overlap", "sample_coverage", "object_coverage"):
        least, most = f"min_{kind}", f"max_{kind}"
        if constraint.HasField(least) or constraint.HasField(most):
            values = _measure(kind, patches, objects)
            fits = np.ones(values.shape, bool)
            if constraint.HasField(least):
                fits &= values >= getattr(constraint, least)
            if constraint.HasField(most):
                fits &= values <= getattr(constraint, most)
            return fits.any(axis=1)
    return np.ones(len(patches), bool)


def _measure(kind: str, patches: Any, objects: Any) -> Any:
    """Return intersection over union, or the part covered of each patch, or of each object: (patches, objects)."""
    if kind == "jaccard_overlap":
        return overlaps(patches, objects)
    start = np.maximum(patches[:, np.newaxis, :2], objects[:, :2])
    end = np.minimum(patches[:, np.newaxis, 2:], objects[:, 2:])
    shared = np.where((end > start).all(axis=-1), (end - start).prod(axis=-1), 0)
    whole = areas(patches)[:, np.newaxis] if kind == "sample_coverage" else areas(objects)
    whole = np.broadcast_to(whole, shared.shape)
    return np.divide(shared, whole, out=np.zeros_like(shared), where=shared > 0)
