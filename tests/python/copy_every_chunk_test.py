"""Copies with write_empty_chunks store every chunk, also those that their source lacks, and move the others as they are."""

import math

import numpy as np
import pytest
import sherd

VALUES = np.zeros((10, 11, 13), "u1")
VALUES[:3, :3, :3] = 7
VALUES[9, 10, 12] = 5
EVERY = {"write_empty_chunks": True, "durable": False}


def chunks_of(array):
    return math.prod(-(-length // chunk) for length, chunk in zip(array.shape, array.chunks))


def arrays(node):
    return [node] if isinstance(node, sherd.Array) else [array for _, array in node.arrays()]


@pytest.mark.parametrize("source", [{}, {"shards": (8, 8, 8)}], ids=["unsharded", "sharded"])
@pytest.mark.parametrize("options, moved", [
    ({}, 2), ({"shards": (8, 8, 8)}, 2), ({"shards": ()}, 2), ({"codecs": "gzip"}, 0), ({"to": "draft2022"}, 2),
    ({"to": "precomputed"}, 0), ({"to": "precomputed", "sharding": "auto"}, 0), ({"to": "precomputed", "pyramid": "mean"}, 0),
    ({"pyramid": "mode"}, 2)], ids=str)
def test_a_copy_stores_every_chunk_on_request(tmp_path, source, options, moved):
    sherd.create_array(tmp_path / "a", data=VALUES, chunks=(4, 4, 4), dimension_names=["z", "y", "x"], **source)
    report = sherd.copy(tmp_path / "a", tmp_path / "b", config=EVERY, **options)
    assert report["chunks_moved"] == moved
    made = arrays(sherd.open(tmp_path / "b"))
    assert [array.nchunks_initialized for array in made] == [chunks_of(array) for array in made]
    finest = np.asarray(max(made, key=lambda array: array.size)[...])
    np.testing.assert_array_equal(finest[..., 0].T if finest.ndim == 4 else finest, VALUES)
    assert sherd.check(tmp_path / "b", data=True)["ok"]


def test_a_copy_of_a_volume_moves_its_chunks_and_stores_the_missing_ones(tmp_path):
    sherd.create_array(tmp_path / "a", data=VALUES, chunks=(4, 4, 4), dimension_names=["z", "y", "x"])
    sherd.copy(tmp_path / "a", tmp_path / "em", to="precomputed", encoding="jpeg", config={"durable": False})
    volume = sherd.open_array(tmp_path / "em")
    report = sherd.copy(tmp_path / "em", tmp_path / "all", config=EVERY)
    # What is stored is lossy, and is not encoded again.
    assert report["chunks_moved"] == volume.nchunks_initialized == 2
    np.testing.assert_array_equal(sherd.open_array(tmp_path / "all")[...], volume[...])
    assert sherd.open_array(tmp_path / "all").nchunks_initialized == 36


def test_texts_of_missing_chunks_are_stored_too(tmp_path):
    array = sherd.create_array(tmp_path / "a", shape=(7,), dtype="string", chunks=(2,), shards=(4,))
    array[2] = "x"
    sherd.copy(tmp_path / "a", tmp_path / "b", config=EVERY)
    copied = sherd.open_array(tmp_path / "b")
    assert list(copied[...]) == list(array[...]) and copied.nchunks_initialized == 4
