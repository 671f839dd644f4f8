"""Patches of images that are sampled at random, so that objects are seen at many sizes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from boxes import areas, overlaps

__all__ = ["sample_patches"]


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
    found = []
    for sampler in samplers:
        if not sampler.use_original_image:
            continue
        taken = 0
        for _ in range(sampler.max_trials):
            if sampler.HasField("max_sample") and taken >= sampler.max_sample:
                break
            patch = _sample(sampler.sampler, rng)
            if _fulfils(patch, objects, sampler.sample_constraint):
                taken += 1
                found.append(patch)
    return np.array(found, np.float32).reshape(-1, 4)


def _sample(sampler: Any, rng: np.random.Generator) -> Any:
    """Draw one patch: its size, its form, its place."""
    scale = rng.uniform(sampler.min_scale, sampler.max_scale)
    ratio = rng.uniform(sampler.min_aspect_ratio, sampler.max_aspect_ratio)
    ratio = min(max(ratio, scale**2), 1 / scale**2)
    width, height = scale * np.sqrt(ratio), scale / np.sqrt(ratio)
    left, upper = rng.uniform(0, max(1 - width, 0)), rng.uniform(0, max(1 - height, 0))
    return np.array([left, upper, left + width, upper + height], np.float32)


def _fulfils(patch: Any, objects: Any, constraint: Any) -> bool:
    """Whether some object has what is asked of it and the patch; of several constraints the first decides, as there."""
    for kind in ("jaccard_overlap", "sample_coverage", "object_coverage"):
        least, most = f"min_{kind}", f"max_{kind}"
        if constraint.HasField(least) or constraint.HasField(most):
            values = _measure(kind, patch, objects)
            fits = np.ones(len(objects), bool)
            if constraint.HasField(least):
                fits &= values >= getattr(constraint, least)
            if constraint.HasField(most):
                fits &= values <= getattr(constraint, most)
            return bool(fits.any())
    return True


def _measure(kind: str, patch: Any, objects: Any) -> Any:
    """Return intersection over union, or the part that is covered of the patch, or of each object."""
    if kind == "jaccard_overlap":
        return overlaps(patch[np.newaxis], objects)[0]
    start, end = np.maximum(patch[:2], objects[:, :2]), np.minimum(patch[2:], objects[:, 2:])
    shared = np.where((end > start).all(axis=1), (end - start).prod(axis=1), 0)
    whole = areas(patch) if kind == "sample_coverage" else areas(objects)
    return np.divide(shared, whole, out=np.zeros_like(shared), where=shared > 0)
