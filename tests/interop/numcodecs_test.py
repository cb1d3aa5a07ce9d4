"""Codecs of numcodecs in Zarr v3 that no cell of the matrix has, between Sherd and zarr-python: every type that the codec
has in numcodecs, several configurations, sharded and not."""

import warnings

import numpy
import pytest
import sherd
import zarr
from zarr.codecs import numcodecs

pytestmark = pytest.mark.filterwarnings("ignore")  # zarr-python's, of codecs that are in no specification

SHAPE, CHUNKS, SHARDS = (7, 10), (3, 4), (6, 8)
INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
FLOATS = ["float16", "float32", "float64"]
ANY = ["bool", *INTEGERS, *FLOATS, "complex64", "complex128", "datetime64[ns]"]


def text(dtype):
    return numpy.dtype(dtype).str


def with_types(codec, *configurations, **names):
    """Configurations that name the array's type."""
    def make(dtype):
        return [codec(**each, **{member: text(dtype) for member in names["members"]}) for each in configurations]
    return make


with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    CASES = {
        "astype": (INTEGERS[1:4] + FLOATS,
                   with_types(numcodecs.AsType, {"encode_dtype": "<f8"}, {"encode_dtype": "<i8"}, members=["decode_dtype"])),
        "bitround": (FLOATS, lambda dtype: [numcodecs.BitRound(keepbits=bits) for bits in (1, 5, 10)]),
        "crc32c": (ANY, lambda dtype: [numcodecs.CRC32C(), numcodecs.CRC32C(location="start")]),
        "jenkins_lookup3": (ANY, lambda dtype: [numcodecs.JenkinsLookup3(), numcodecs.JenkinsLookup3(initval=7)]),
        "packbits": (["bool"], lambda dtype: [numcodecs.PackBits()]),
        "quantize": (FLOATS[1:], with_types(numcodecs.Quantize, {"digits": 0}, {"digits": 2}, {"digits": -1}, members=["dtype"])),
        "zfpy": (["int32", "int64", "float32", "float64"],
                 lambda dtype: [numcodecs.ZFPY(mode=4, tolerance=0.01), numcodecs.ZFPY(mode=2, rate=16),
                                numcodecs.ZFPY(mode=3, precision=20)]),
    }


ROUNDED = {"pcodec": (numcodecs.PCodec, FLOATS), "zfpy": (lambda: numcodecs.ZFPY(mode=4, tolerance=-1), FLOATS[1:])}


def elements(dtype):
    rng = numpy.random.default_rng(5)
    if dtype == "bool":
        return rng.integers(0, 2, SHAPE).astype(dtype)
    if dtype.startswith("complex"):
        return (rng.normal(size=SHAPE) + 1j * rng.normal(size=SHAPE)).astype(dtype)
    return (rng.integers(-100, 100, SHAPE) if dtype in INTEGERS or "[" in dtype else rng.normal(0, 9, SHAPE)).astype(dtype)


def arguments(codec):
    """Where create_array takes a codec of this kind."""
    if isinstance(codec, numcodecs._NumcodecsArrayArrayCodec):
        return {"filters": [codec], "compressors": None}
    if isinstance(codec, numcodecs._NumcodecsArrayBytesCodec):
        return {"serializer": codec, "compressors": None}
    return {"compressors": [codec]}


@pytest.mark.parametrize("name", CASES)
def test_zarr_python_and_sherd_read_and_write_the_same_elements(tmp_path, name):
    types, make = CASES[name]
    cases = [(dtype, codec, shards) for dtype in types for codec in make(dtype) for shards in (None, SHARDS)]
    for number, (dtype, codec, shards) in enumerate(cases):
        data, read = elements(dtype), []
        for package, path in ((sherd, tmp_path / f"{number} ours"), (zarr, tmp_path / f"{number} theirs")):
            array = package.create_array(path, shape=SHAPE, dtype=dtype, chunks=CHUNKS, shards=shards, **arguments(codec))
            array[...] = data
            read += [sherd.open_array(path)[...], zarr.open_array(path, mode="r")[...]]
        assert len({each.tobytes() for each in read}) == 1, (dtype, codec, shards)


@pytest.mark.parametrize("name", ROUNDED)
def test_floats_of_bitround_are_read_through_codecs_of_numbers(tmp_path, name):
    make, types = ROUNDED[name]
    for number, (dtype, bits) in enumerate((dtype, bits) for dtype in types for bits in (4, 10)):
        read = []
        for package, path in ((sherd, tmp_path / f"{number} ours"), (zarr, tmp_path / f"{number} theirs")):
            array = package.create_array(path, shape=SHAPE, dtype=dtype, chunks=CHUNKS, filters=[numcodecs.BitRound(keepbits=bits)],
                                         serializer=make(), compressors=None)
            array[...] = elements(dtype)
            read += [sherd.open_array(path)[...], zarr.open_array(path, mode="r")[...]]
        assert len({each.tobytes() for each in read}) == 1, (dtype, bits)
