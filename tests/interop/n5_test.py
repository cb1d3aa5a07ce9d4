"""The codec n5_default against tensorstore's driver n5: one folder, N5's attributes.json and Zarr's zarr.json."""

import json

import numpy
import pytest
import sherd
import tensorstore

COMPRESSIONS = {
    "raw": ({"type": "raw"}, []),
    "gzip": ({"type": "gzip", "level": 5}, [{"name": "gzip", "configuration": {"level": 5}}]),
    "bzip2": ({"type": "bzip2", "blockSize": 9}, [{"name": "numcodecs.bz2", "configuration": {"level": 9}}]),
    "xz": ({"type": "xz", "preset": 6}, [{"name": "numcodecs.lzma", "configuration": {"format": 1, "preset": 6}}]),
    "zstd": ({"type": "zstd", "level": 3}, [{"name": "zstd", "configuration": {"level": 3, "checksum": False}}]),
    "blosc": ({"type": "blosc", "cname": "lz4", "clevel": 5, "shuffle": 1},
              [{"name": "blosc", "configuration": {"cname": "lz4", "clevel": 5, "shuffle": "shuffle", "typesize": 2, "blocksize": 0}}]),
}
SHAPE, BLOCK = (23, 17, 6), (8, 5, 4)


def zarr_document(dtype, compressor):
    codecs = [{"name": "transpose", "configuration": {"order": [2, 1, 0]}}, {"name": "bytes", "configuration": {"endian": "big"}}]
    return {
        "zarr_format": 3, "node_type": "array", "shape": SHAPE, "data_type": dtype, "fill_value": 0,
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": BLOCK}},
        "chunk_key_encoding": {"name": "v2", "configuration": {"separator": "/"}},
        "codecs": [{"name": "n5_default", "configuration": {"codecs": codecs + compressor}}],
    }


def n5_array(path, dtype, compression, **options):
    metadata = {"dimensions": SHAPE, "blockSize": BLOCK, "dataType": dtype, "compression": compression}
    spec = {"driver": "n5", "kvstore": {"driver": "file", "path": f"{path}/"}, "metadata": metadata, "context": {"file_io_sync": False}}
    return tensorstore.open(spec, **options).result()


def elements(dtype):
    return numpy.random.default_rng(1).integers(0, 200, SHAPE).astype(dtype)


@pytest.mark.parametrize("dtype", ["uint8", "int16", "uint64", "float32", "float64"])
@pytest.mark.parametrize("compression", COMPRESSIONS)
def test_sherd_reads_blocks_of_tensorstore(tmp_path, compression, dtype):
    n5, codecs = COMPRESSIONS[compression]
    data = elements(dtype)
    n5_array(tmp_path, dtype, n5, create=True)[...] = data
    (tmp_path / "zarr.json").write_text(json.dumps(zarr_document(dtype, codecs)))
    assert numpy.array_equal(sherd.open(tmp_path)[...], data)


@pytest.mark.parametrize("dtype", ["uint8", "int16", "uint64", "float32", "float64"])
@pytest.mark.parametrize("compression", COMPRESSIONS)
def test_tensorstore_reads_blocks_of_sherd(tmp_path, compression, dtype):
    n5, codecs = COMPRESSIONS[compression]
    data = elements(dtype)
    array = n5_array(tmp_path, dtype, n5, create=True)
    (tmp_path / "zarr.json").write_text(json.dumps(zarr_document(dtype, codecs)))
    sherd.open(tmp_path, mode="r+")[...] = data
    assert numpy.array_equal(array.read().result(), data)
