"""Caffe's binary files: weights, solver states, means and records; and writing files safely."""

from __future__ import annotations

from engine.files.atomic import atomic_write, atomic_writer
from engine.files.binaryproto import read_blob, write_blob
from engine.files.blobs import StoredBlob, array_to_datum, blob_from_proto, blob_to_proto, datum_to_array
from engine.files.hdf5_weights import check_hdf5_names
from engine.files.solver_state import read_solver_state, write_hdf5_solver_state, write_solver_state
from engine.files.stored import StoredLayer, StoredState
from engine.files.weights import read_stored_layers, read_weights
from engine.files.weights_net import WeightsNet, net_of_weights
from engine.files.weights_transfer import LoadReport, load_weights, write_hdf5_weights, write_weights

__all__ = [
    "LoadReport",
    "StoredBlob",
    "StoredLayer",
    "StoredState",
    "WeightsNet",
    "array_to_datum",
    "atomic_write",
    "atomic_writer",
    "blob_from_proto",
    "blob_to_proto",
    "check_hdf5_names",
    "datum_to_array",
    "load_weights",
    "net_of_weights",
    "read_blob",
    "read_solver_state",
    "read_stored_layers",
    "read_weights",
    "write_blob",
    "write_hdf5_solver_state",
    "write_hdf5_weights",
    "write_solver_state",
    "write_weights",
]
