"""Blobs: shapes, memory on first touch, sharing, and copies on host and device."""

from __future__ import annotations

import numpy as np
import pytest

from engine.api import Blob, BlobList
from engine.backends import get_backend

BACKENDS = ["numpy", "strict"]


@pytest.mark.parametrize("dims", [(2, 3), ((2, 3),), ([2, 3],), (np.array([2, 3]),)])
def test_reshape_takes_numbers_or_one_sequence(dims: tuple[object, ...]) -> None:
    blob = Blob()
    assert (blob.shape, blob.count, blob.data.shape) == ((), 1, ())
    blob.reshape(*dims)  # type: ignore[arg-type]
    assert (blob.shape, blob.count, blob.axes) == ((2, 3), 6, 2)


def test_legacy_dimensions() -> None:
    blob = Blob((2, 3))
    assert (blob.num, blob.channels, blob.height, blob.width) == (2, 3, 1, 1)
    with pytest.raises(ValueError, match="at most 4 axes"):
        _ = Blob((1, 1, 1, 1, 1)).num


def test_negative_dimension_is_refused() -> None:
    with pytest.raises(ValueError, match="'b'.*0 or more.*-1"):
        Blob(name="b").reshape(2, -1)


def test_a_shape_alone_costs_no_memory() -> None:
    blob = Blob((1_000_000, 1_000_000))
    blob.reshape(2_000_000, 1_000_000)
    assert blob.count == 2 * 10**12


def test_arrays_are_zero_filled_contiguous_float32_and_the_same_object() -> None:
    blob = Blob((2, 3))
    assert not blob.data.any()
    assert not blob.diff.any()
    assert blob.data.flags.c_contiguous
    assert blob.data.dtype == np.float32
    assert blob.data is blob.data


def test_memory_is_kept_when_a_blob_shrinks() -> None:
    blob = Blob((4, 3))
    first = blob.data
    blob.reshape(2, 3)
    assert np.shares_memory(blob.data, first)
    blob.reshape(4, 3)
    assert np.shares_memory(blob.data, first)
    blob.reshape(5, 3)
    assert not np.shares_memory(blob.data, first)


@pytest.mark.parametrize("backend", BACKENDS)
def test_no_old_value_shows_after_shrinking_and_growing(backend: str) -> None:
    blob = Blob((6,), backend=get_backend(backend))
    device = blob.on_device()
    device.data[...] = 7
    device.diff[...] = 7
    blob.reshape(2)
    blob.reshape(4)
    assert blob.data.tolist() == [7, 7, 0, 0]
    assert blob.diff.tolist() == [7, 7, 0, 0]


def test_growing_a_reader_of_shared_memory_leaves_the_owner_alone() -> None:
    owner, reader = Blob((6,)), Blob((2, 3))
    owner.data[...] = 1
    reader.share_data(owner)
    owner.reshape(2)
    owner.reshape(4)
    owner.data[...] = 5
    reader.reshape(2, 2)
    reader.share_data(owner)
    assert owner.data.tolist() == [5] * 4
    assert reader.data.tolist() == [[5, 5], [5, 5]]


@pytest.mark.parametrize("backend", BACKENDS)
def test_shared_blobs_are_one_memory(backend: str) -> None:
    one, other = (Blob(shape, backend=get_backend(backend)) for shape in ((2, 3), (6,)))
    other.on_device().share_data(one.on_device())
    one.on_device().data[...] = 3
    assert other.data.tolist() == [3] * 6
    other.data[...] = 4
    assert (one.data == 4).all()
    assert not one.diff.any()
    assert one.shares_data_with(other)


def test_sharing_wants_equal_counts() -> None:
    with pytest.raises(ValueError, match=r"'a' of shape \(2,\).*'b' of shape \(3,\)"):
        Blob((2,), name="a").share_data(Blob((3,), name="b"))


def test_device_and_host_copies_follow_each_other() -> None:
    blob = Blob((3,), backend=get_backend("strict"))
    blob.data[...] = [1, 2, 3]
    device = blob.on_device()
    device.data[...] *= 2
    assert blob.data.tolist() == [2, 4, 6]
    blob.data[0] = 9
    assert float(device.data.sum()) == 19


def test_a_stale_host_copy_is_junk_on_the_strict_device() -> None:
    blob = Blob((3,), backend=get_backend("strict"))
    held = blob.data
    blob.on_device().data[...] = 1
    assert np.isnan(held).all()
    assert (blob.data == 1).all()


def test_a_stale_device_copy_is_junk_on_the_strict_device() -> None:
    blob = Blob((3,), backend=get_backend("strict"))
    held = blob.on_device().data
    blob.data[...] = 1
    assert bool((held != held).all())


def test_reading_keeps_the_device_copy_valid() -> None:
    blob = Blob((3,), backend=get_backend("strict"))
    held = blob.on_device().data
    held[...] = 2
    assert blob.read_data().tolist() == [2, 2, 2]
    assert float(held.sum()) == 6


def test_device_view_has_the_blobs_shape() -> None:
    blob = Blob((2, 3), backend=get_backend("strict"), name="b")
    device = blob.on_device()
    device.reshape(4, 5)
    assert (blob.shape, device.shape, device.count, device.axes, device.num) == ((4, 5), (4, 5), 20, 2, 4)
    assert device.on_host is blob
    assert blob.on_host is blob
    assert Blob((1,)).on_device().on_host is not None


def test_blob_list_adds_named_blobs_as_the_layer_sees_them() -> None:
    backend = get_backend("strict")
    device, host = BlobList(backend, name="l"), BlobList(backend, device=False, name="l")
    for blobs in (device, host):
        blobs.add_blob(2, 3)
        blobs.add_blob((4,))
        assert [blob.shape for blob in blobs] == [(2, 3), (4,)]
        assert blobs[1].name == "l[1]"
        assert isinstance(blobs.on_host[0].data, np.ndarray)
    assert not isinstance(device[0].data, np.ndarray)
    assert isinstance(host[0].data, np.ndarray)
