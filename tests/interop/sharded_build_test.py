"""Shards that Sherd built, read by cloud-volume and tensorstore: every value compared, over hashes, encodings and bits."""

import importlib.util
import itertools
import random

import numpy as np
import pytest
from sherd import neuroglancer as ng

from dependencies import missing
from shardings import sharding

HASHES = ["identity", "murmurhash3_x86_128"]
ENCODINGS = ["raw", "gzip"]
BITS = [(0, 0, 0), (0, 3, 0), (0, 0, 3), (2, 2, 5), (58, 4, 2), (0, 10, 1), (63, 0, 64), (0, 5, 59)]
CELLS = [*itertools.product(HASHES, ENCODINGS, ENCODINGS, BITS)]


def some_values(bits):
    """More shards than this would only be more files."""
    chance = random.Random(3)
    count = 20 if bits[2] > 10 else 700
    values = {chance.getrandbits(64) >> chance.choice([0, 30, 56]): chance.randbytes(chance.randrange(1, 90)) for _ in range(count)}
    return values | {0: b"the first", 2**64 - 1: b"the last"}


def need(module):
    if importlib.util.find_spec(module) is None:
        missing(module)


@pytest.fixture(scope="module")
def cloudvolume():
    need("cloudvolume")
    import cloudvolume.datasource.precomputed.sharding

    return cloudvolume


@pytest.fixture(scope="module")
def tensorstore():
    need("tensorstore")
    import tensorstore

    return tensorstore


class NoCache:
    """What cloud-volume's reader asks of its cache."""

    enabled = False

    def __init__(self, folder):
        self.folder = folder

    def download_as(self, requests, progress=None):
        answers = {}
        for request in requests:
            path = self.folder / request["path"].removeprefix(f"{self.folder}/")
            content = path.read_bytes()[request["start"] : request["end"]] if path.exists() else b""
            answers[request["path"], request["start"], request["end"]] = content
        return answers


def cloud_volume_reads(cloudvolume, folder, parameters, ids):
    module = cloudvolume.datasource.precomputed.sharding
    reader = module.ShardReader(f"file://{folder}", NoCache(folder), module.ShardingSpecification.from_dict(parameters))
    return reader.get_data(ids)


def tensorstore_reads(tensorstore, folder, parameters, ids):
    store = tensorstore.KvStore.open(
        {
            "driver": "neuroglancer_uint64_sharded",
            "metadata": parameters,
            "base": {"driver": "file", "path": f"{folder}/"},
        }
    ).result()
    reads = {each: store.read(each.to_bytes(8, "big")) for each in ids}
    return {each: read.result().value if read.result().state == "value" else None for each, read in reads.items()}


@pytest.mark.parametrize(("hash", "index", "data", "bits"), CELLS)
def test_cloud_volume_and_tensorstore_read_every_built_value(cloudvolume, tensorstore, tmp_path, hash, index, data, bits):
    parameters = sharding(hash, bits, index, data)
    values = some_values(bits)
    items = list(values.items())
    random.Random(1).shuffle(items)
    ng.build(tmp_path, parameters, items, config={"durable": False})
    absent = sorted({1, 2, 3, 2**63} - values.keys())
    found = tensorstore_reads(tensorstore, tmp_path, parameters, [*values, *absent])
    assert found == values | dict.fromkeys(absent)
    assert cloud_volume_reads(cloudvolume, tmp_path, parameters, list(values)) == values


def test_a_shift_by_all_bits_leaves_one_minishard(tensorstore, tmp_path):
    """cloud-volume takes preshift_bits up to 63."""
    parameters = sharding("murmurhash3_x86_128", (64, 3, 2))
    values = some_values((64, 3, 2))
    ng.build(tmp_path, parameters, values.items())
    assert len(list(tmp_path.iterdir())) == 1
    assert tensorstore_reads(tensorstore, tmp_path, parameters, values) == values


def test_shards_of_several_sections_are_read(cloudvolume, tensorstore, tmp_path):
    parameters = sharding("murmurhash3_x86_128", (0, 9, 0), "gzip")
    values = {each * 0x9E3779B97F4A7C15 % 2**64: each.to_bytes(3, "little") for each in range(40000)}
    ng.build(tmp_path, parameters, values.items(), memory="8MiB")
    assert cloud_volume_reads(cloudvolume, tmp_path, parameters, list(values)) == values
    some = list(values)[::97]
    assert tensorstore_reads(tensorstore, tmp_path, parameters, some) == {each: values[each] for each in some}


# ---- parameters ----

VOLUMES = [
    ((512, 512, 512), (64, 64, 64), "uint8", "raw"),
    ((2000, 1700, 1300), (64, 64, 64), "uint64", "compressed_segmentation"),
    ((25000, 18000, 6000), (128, 128, 16), "uint8", "jpeg"),
    ((7000, 50, 3000), (64, 32, 64), "uint16", "raw"),
]


@pytest.mark.parametrize(("shape", "chunk", "dtype", "encoding"), VOLUMES)
def test_tensorstore_chooses_the_same_bits_for_a_shard_of_the_same_shape(tensorstore, shape, chunk, dtype, encoding):
    chosen = ng.choose_sharding(shape, chunk, dtype, encoding=encoding)
    scale = {"size": shape, "resolution": [8, 8, 8], "encoding": encoding}
    if encoding == "compressed_segmentation":
        scale["compressed_segmentation_block_size"] = [8, 8, 8]
    spec = {
        "driver": "neuroglancer_precomputed",
        "multiscale_metadata": {
            "type": "segmentation" if dtype == "uint64" else "image", "data_type": dtype, "num_channels": 1,
        },
    }
    one = {"kvstore": {"driver": "memory", "path": "one/"}, "scale_metadata": scale | {"chunk_size": chunk, "sharding": chosen}}
    shard_shape = tensorstore.open(spec | one, create=True).result().chunk_layout.write_chunk.shape
    layout = tensorstore.ChunkLayout(
        read_chunk=tensorstore.ChunkLayout.Grid(shape=[*chunk, 1]),
        write_chunk=tensorstore.ChunkLayout.Grid(shape_soft_constraint=shard_shape),
    )
    other = {"kvstore": {"driver": "memory", "path": "other/"}, "scale_metadata": scale}
    theirs = tensorstore.open(spec | other, create=True, chunk_layout=layout).result()
    assert theirs.spec().to_json()["scale_metadata"]["sharding"] == chosen


@pytest.mark.parametrize(("shape", "chunk", "dtype", "encoding"), VOLUMES)
def test_cloud_volume_covers_as_many_bits(cloudvolume, shape, chunk, dtype, encoding):
    chosen = ng.choose_sharding(shape, chunk, dtype, encoding=encoding)
    theirs = cloudvolume.datasource.precomputed.sharding.compute_shard_params_for_image(shape, chunk, encoding, dtype)
    bits = ("preshift_bits", "minishard_bits", "shard_bits")
    assert sum(chosen[each] for each in bits) == sum(getattr(theirs, each) for each in bits)
    specification = cloudvolume.datasource.precomputed.sharding.ShardingSpecification.from_dict(chosen)
    assert np.prod(specification.image_shard_shape(shape, chunk) / np.array(chunk)) == 2 ** (
        chosen["preshift_bits"] + chosen["minishard_bits"]
    )
