"""Hashed volumes (or with shards of too few bits to be boxes of chunks) are exchanged with tensorstore: each reads what the
other writes, also after partial updates."""

import importlib.util
import itertools

import numpy as np
import pytest
import sherd
from sherd.neuroglancer import create_precomputed

from dependencies import missing
from shardings import sharding

SIZE, CHUNK, OFFSET = (70, 50, 33), (16, 16, 8), (-3, 7, 0)
PARTS = [np.s_[0:70, 0:50, 0:33], np.s_[5:41, 16:32, 3:30], np.s_[64:70, 48:50, 32:33], np.s_[16:32, 0:16, 8:16]]


# A grid of 5x4x5 chunks has codes of 8 bits.
SHARDINGS = [sharding(hash, bits, encoding, encoding)
             for bits, hash in [((0, 2, 2), "murmurhash3_x86_128"), ((2, 0, 5), "murmurhash3_x86_128"),
                                ((1, 1, 2), "identity"), ((0, 0, 3), "identity")]
             for encoding in ("raw", "gzip")]
KINDS = [("raw", "uint16", 2), ("png", "uint8", 1), ("compressed_segmentation", "uint64", 1)]
CASES = [pytest.param(how, *kind, id="-".join([*map(str, list(how.values())[1:6]), kind[0]]))
         for how, kind in itertools.product(SHARDINGS, KINDS)]


@pytest.fixture(scope="module")
def ts():
    if importlib.util.find_spec("tensorstore") is None:
        missing("tensorstore")
    return importlib.import_module("tensorstore")


def voxels(dtype, channels, seed):
    rng = np.random.default_rng(seed)
    values = rng.integers(0, 200, (*SIZE, channels)).astype(dtype)
    values[:20, :20] = 0  # chunks that are not stored
    return values


def scale(how, encoding):
    made = {"size": list(SIZE), "resolution": [8, 8, 40], "key": "8_8_40", "voxel_offset": list(OFFSET),
            "encoding": encoding, "sharding": how}
    return made | ({"compressed_segmentation_block_size": [8, 8, 8]} if encoding == "compressed_segmentation" else {})


def theirs(ts, folder, **members):
    spec = {"driver": "neuroglancer_precomputed", "kvstore": f"file://{folder}/", "scale_index": 0, **members}
    return ts.open(spec).result()[ts.d[0, 1, 2].translate_to[0, 0, 0]]


def replaced(write, values, seed):
    new = voxels(values.dtype, values.shape[3], seed)
    for part in PARTS[1:]:
        write(part, new[part])
        values[part] = new[part]


@pytest.mark.parametrize("how, encoding, dtype, channels", CASES)
def test_tensorstore_reads_what_we_write_and_change(ts, how, encoding, dtype, channels, tmp_path):
    ours = create_precomputed(tmp_path, type="segmentation", dtype=dtype, num_channels=channels,
                              scales=[scale(how, encoding) | {"chunk_sizes": [list(CHUNK)]}])
    values = voxels(dtype, channels, 1)
    ours[:] = values
    assert np.array_equal(theirs(ts, tmp_path).read().result(), values)
    replaced(ours.__setitem__, values, 2)
    assert np.array_equal(theirs(ts, tmp_path).read().result(), values)
    assert sherd.check(tmp_path, data=True)["faults"] == []


@pytest.mark.parametrize("how, encoding, dtype, channels", CASES)
def test_what_tensorstore_writes_is_read_and_changed(ts, how, encoding, dtype, channels, tmp_path):
    values = voxels(dtype, channels, 1)
    theirs(ts, tmp_path, create=True, scale_metadata=scale(how, encoding) | {"chunk_size": list(CHUNK)},
           multiscale_metadata={"type": "segmentation", "data_type": dtype,
                                "num_channels": channels}).write(values).result()
    ours = sherd.open_array(tmp_path, mode="r+")
    for part in PARTS:
        assert np.array_equal(ours[part], values[part])
    replaced(ours.__setitem__, values, 2)
    peer = theirs(ts, tmp_path)
    assert np.array_equal(peer.read().result(), values)
    replaced(lambda part, new: peer[part].write(new).result(), values, 3)
    assert np.array_equal(ours[:], values), "it has replaced shards under our handle"
    assert sherd.check(tmp_path, data=True)["faults"] == []
