"""Codecs that zarrs has and the metadata of zarr-python do not, between Sherd and zarrs: zarr-python, whose codec pipeline
zarrs is, is told their names only. zarrs 0.2.3 reads some of them wrongly in chunks at the array's end (packbits of some
bits), or not at all (reshape), so its writes are compared byte by byte."""

import dataclasses

import numpy
import pytest
import sherd
import zarr
from zarr import registry
from zarr.abc.codec import ArrayArrayCodec, ArrayBytesCodec

pytestmark = pytest.mark.filterwarnings("ignore")  # zarr-python's, of codecs that are in no specification

PIPELINE = {"codec_pipeline.path": "zarrs.ZarrsCodecPipeline", "codec_pipeline.strict": True}
LITTLE = {"name": "bytes", "configuration": {"endian": "little"}}


def name_only(base):
    """Of a codec whose metadata zarr-python keeps, and which it can neither encode nor decode."""

    @dataclasses.dataclass(frozen=True)
    class Named(base):
        metadata: dict = dataclasses.field(default_factory=dict)
        is_fixed_size = False

        @classmethod
        def from_dict(cls, data):
            return cls(data)

        def to_dict(self):
            return self.metadata

        def compute_encoded_size(self, input_byte_length, chunk_spec):
            raise NotImplementedError

        async def _decode_single(self, *arguments):
            raise NotImplementedError

        _encode_single = _decode_single

    named = registry.Registry()
    named.register(Named)
    return named


@pytest.fixture(autouse=True)
def names(monkeypatch):
    """For these tests only: that zarr-python does not know the names is part of the matrix."""
    known = getattr(registry, "__codec_registries")
    for name, base in (("packbits", ArrayBytesCodec), ("reshape", ArrayArrayCodec), ("zarrs.squeeze", ArrayArrayCodec)):
        monkeypatch.setitem(known, name, name_only(base))


def codec(name, **configuration):
    return {"name": name, "configuration": configuration}


def written_by_both(tmp_path, data, codecs, chunks):
    """The objects of an array as each writes it."""
    stores = []
    for name in ("ours", "theirs"):
        path = tmp_path / name
        array = sherd.create_array(path, shape=data.shape, dtype=data.dtype, chunks=chunks, codecs=codecs)
        if name == "ours":
            array[...] = data
        else:
            with zarr.config.set(PIPELINE):
                zarr.open_array(path, mode="r+")[...] = data
        stores.append({str(file.relative_to(path)): file.read_bytes() for file in path.rglob("*") if file.is_file()})
    return stores


def numbers_of_bits(dtype, first, last):
    """Numbers whose other bits say nothing."""
    values = numpy.random.default_rng(first).integers(0, 1 << (last - first + 1), (7, 10)) << first
    if dtype.startswith("i"):
        values = numpy.where(values >> last & 1, values - (1 << (last + 1)), values)
    return values.astype(dtype)


@pytest.mark.parametrize("padding", ["none", "first_byte", "last_byte"])
def test_packed_bits_are_those_of_zarrs(tmp_path, padding):
    booleans = numpy.random.default_rng(1).integers(0, 2, (7, 10)).astype(bool)
    cases = [(booleans, codec("packbits", padding_encoding=padding))]
    for dtype in ("int8", "uint8", "int16", "uint16", "int32", "uint64"):
        for first, last in ((0, 2), (0, 6), (3, 7), (1, 5)):
            packed = codec("packbits", first_bit=first, last_bit=last, padding_encoding=padding)
            cases.append((numbers_of_bits(dtype, first, last), packed))
    for number, (data, packed) in enumerate(cases):
        ours, theirs = written_by_both(tmp_path / str(number), data, [packed], (3, 4))
        assert ours == theirs, (data.dtype, packed)
        assert (sherd.open_array(tmp_path / str(number) / "theirs")[...] == data).all()


def test_packed_booleans_are_read_by_zarrs(tmp_path):
    data = numpy.random.default_rng(2).integers(0, 2, (7, 10)).astype(bool)
    sherd.create_array(tmp_path, data=data, chunks=(3, 4), codecs=[codec("packbits", padding_encoding="last_byte")])
    with zarr.config.set(PIPELINE):
        assert (zarr.open_array(tmp_path, mode="r")[...] == data).all()


@pytest.mark.parametrize("shape", [[-1], [[0, 1]], [3, 4]])
def test_reshaped_chunks_are_those_of_zarrs(tmp_path, shape):
    data = numpy.arange(70, dtype="int16").reshape(7, 10)
    ours, theirs = written_by_both(tmp_path, data, [codec("reshape", shape=shape), LITTLE], (3, 4))
    assert ours == theirs
    assert (sherd.open_array(tmp_path / "theirs")[...] == data).all()


def test_squeezed_chunks_are_those_of_zarrs(tmp_path):
    data = numpy.arange(70, dtype="int16").reshape(7, 1, 10)
    ours, theirs = written_by_both(tmp_path, data, [codec("zarrs.squeeze"), LITTLE], (3, 1, 4))
    assert ours == theirs
    with zarr.config.set(PIPELINE):
        assert (zarr.open_array(tmp_path / "ours", mode="r")[...] == data).all()


@pytest.mark.parametrize("dtype", ["int16", "uint32", "int64", "float32", "float64"])
def test_numbers_of_pcodec_are_read_both_ways(tmp_path, dtype):
    data = (numpy.arange(70).reshape(7, 10) * 3 % 50).astype(dtype)
    for array_of in (sherd.create_array, zarr.create_array):
        path = tmp_path / array_of.__module__
        with zarr.config.set(PIPELINE):
            from zarr.codecs.numcodecs import PCodec

            array = array_of(path, shape=data.shape, dtype=dtype, chunks=(3, 4), serializer=PCodec(level=8), compressors=None)
            array[...] = data
            assert zarr.open_array(path, mode="r")[...].tobytes() == data.tobytes()
        assert sherd.open_array(path)[...].tobytes() == data.tobytes()


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_zarrs_swaps_parts_of_big_endian_complex_numbers_in_part_reads(tmp_path, dtype):
    data = numpy.array([1 + 2j, -3.5 + 0.25j, 7j], dtype)
    for array_of in (sherd.create_array, zarr.create_array):
        path = tmp_path / array_of.__module__
        codecs = {"codecs": [codec("bytes", endian="big")]} if array_of is sherd.create_array else {
            "serializer": zarr.codecs.BytesCodec(endian="big"), "compressors": None}
        with zarr.config.set(PIPELINE):
            array = array_of(path, shape=data.shape, dtype=dtype, chunks=data.shape, **codecs)
            array[...] = data
            theirs = zarr.open_array(path, mode="r")
            assert (theirs[...] == data).all()
            assert (theirs[:2] == data.imag[:2] + 1j * data.real[:2]).all()
        assert (path / "c/0").read_bytes() == data.astype(data.dtype.newbyteorder(">")).tobytes()
        assert (zarr.open_array(path, mode="r")[:2] == data[:2]).all()
        assert (sherd.open_array(path)[:2] == data[:2]).all()
