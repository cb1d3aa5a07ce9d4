"""numcodecs.pcodec between Sherd and zarr-python, and between Sherd and the package pcodec itself: types, configurations,
both formats, sharded and not."""

import numpy
import pytest
import sherd
import zarr
from pcodec import ChunkConfig, standalone
from zarr.codecs.numcodecs import PCodec

pytestmark = pytest.mark.filterwarnings("ignore")  # zarr-python's, of codecs that are in no specification

DTYPES = ["int16", "int32", "int64", "uint16", "uint32", "uint64", "float16", "float32", "float64"]
CONFIGURATIONS = [{}, {"level": 0}, {"level": 12}, {"mode_spec": "classic"}, {"delta_spec": "none"}, {"delta_spec": "try_lookback"},
                  {"delta_spec": "try_consecutive", "delta_encoding_order": 2}, {"equal_pages_up_to": 100}]
SHAPE, CHUNKS, SHARDS = (50, 60), (10, 30), (20, 60)


def elements(dtype):
    """A walk of multiples of 7, or tenths with special values among them, and the largest number."""
    rng = numpy.random.default_rng(3)
    values = numpy.cumsum(rng.integers(-3, 4, SHAPE), axis=1)
    if numpy.dtype(dtype).kind != "f":
        array = (values * 7).astype(dtype)
        array[::7, ::5] = numpy.iinfo(dtype).max
        return array
    array = (values / 10).astype(dtype)
    array[::7, ::5] = numpy.array([numpy.nan, numpy.inf, -0.0, numpy.finfo(dtype).max], dtype)[numpy.arange(12) % 4]
    return array


@pytest.mark.parametrize("dtype", DTYPES)
def test_zarr_python_reads_what_sherd_writes(tmp_path, dtype):
    data = elements(dtype)
    for number, configuration in enumerate(CONFIGURATIONS):
        for shards in (None, SHARDS):
            path = tmp_path / f"{number} {shards}"
            codec = {"name": "numcodecs.pcodec", "configuration": configuration}
            array = sherd.create_array(path, shape=SHAPE, dtype=dtype, chunks=CHUNKS, shards=shards, serializer=codec,
                                       compressors=None)
            array[...] = data
            assert zarr.open_array(path, mode="r")[...].tobytes() == data.tobytes(), (configuration, shards)


@pytest.mark.parametrize("dtype", DTYPES)
def test_sherd_reads_what_zarr_python_writes(tmp_path, dtype):
    data = elements(dtype)
    for number, configuration in enumerate(CONFIGURATIONS):
        for shards in (None, SHARDS):
            path = tmp_path / f"{number} {shards}"
            array = zarr.create_array(path, shape=SHAPE, dtype=dtype, chunks=CHUNKS, shards=shards, compressors=None,
                                      serializer=PCodec(**configuration))
            array[...] = data
            read = sherd.open_array(path)
            assert read[...].tobytes() == data.tobytes(), (configuration, shards)
            assert read[3:17, 20:41].tobytes() == data[3:17, 20:41].tobytes()


@pytest.mark.parametrize("order", "CF")
@pytest.mark.parametrize("dtype", ["int32", "float64"])
def test_arrays_of_zarr2_are_read_both_ways(tmp_path, dtype, order):
    data = elements(dtype)
    transpose = [{"name": "transpose", "configuration": {"order": [1, 0]}}] if order == "F" else []
    array = sherd.create_array(tmp_path / "ours", format="zarr2", shape=SHAPE, dtype=dtype, chunks=CHUNKS,
                               codecs=[*transpose, "numcodecs.pcodec"])
    array[...] = data
    assert zarr.open_array(tmp_path / "ours", mode="r")[...].tobytes() == data.tobytes()
    theirs = zarr.create_array(tmp_path / "theirs", zarr_format=2, shape=SHAPE, dtype=dtype, chunks=CHUNKS, order=order,
                               compressors={"id": "pcodec", "level": 8})
    theirs[...] = data
    assert sherd.open_array(tmp_path / "theirs")[...].tobytes() == data.tobytes()


@pytest.mark.parametrize("dtype", ["int64", "float32", "float64"])
def test_files_are_about_as_small_as_those_of_pcodec(tmp_path, dtype):
    rng = numpy.random.default_rng(1)
    count = 50000
    noise = rng.normal(0, 1000, count)
    sets = {"noise": noise, "walk": numpy.cumsum(noise), "rounded": numpy.round(noise / 10, 2), "line": numpy.arange(count) * 3.0}
    for name, values in sets.items():
        data = values.astype(dtype)
        path = tmp_path / name
        array = sherd.create_array(path, shape=(count,), dtype=dtype, chunks=(count,), codecs=["numcodecs.pcodec"])
        array[...] = data
        file = (path / "c/0").read_bytes()
        assert standalone.simple_decompress(file).tobytes() == data.tobytes()
        theirs = standalone.simple_compress(data, ChunkConfig())
        assert len(file) < 1.05 * len(theirs) + 512, name
