"""Types of few bits, complex and optional types between Sherd and its peers: both ways with tensorstore for those that
it has; for the others the bytes that zarr-extensions describes, written out here (data-types/NAME/README.md and
codecs/packbits/README.md of https://github.com/zarr-developers/zarr-extensions), and what zarrs keeps among its tests."""

import json

import ml_dtypes
import numpy
import pytest
import sherd
import tensorstore
import zarr

INTEGERS = ["int2", "int4", "uint2", "uint4"]
FLOATS = ["float4_e2m1fn", "float6_e2m3fn", "float6_e3m2fn", "float8_e3m4", "float8_e4m3", "float8_e4m3b11fnuz", "float8_e4m3fn",
          "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz", "float8_e8m0fnu"]
TENSORSTORE = ["int2", "int4", "float4_e2m1fn", "float8_e3m4", "float8_e4m3b11fnuz", "float8_e4m3fn", "float8_e4m3fnuz",
               "float8_e5m2", "float8_e5m2fnuz", "float8_e8m0fnu"]


def bits(name):
    return ml_dtypes.iinfo(name).bits if name in INTEGERS else ml_dtypes.finfo(getattr(ml_dtypes, name)).bits


def every_pattern(name):
    """All elements of the type, as they are in memory."""
    dtype = numpy.dtype(getattr(ml_dtypes, name))
    patterns = numpy.arange(2 ** bits(name), dtype="u1").view(dtype)
    return patterns.astype("i1").view(dtype) if name in INTEGERS else patterns


def elements(array):
    """Equal for equal arrays: the bytes; the values of integers, because ml_dtypes has two forms of each."""
    return array.astype("i1").tobytes() if "int" in array.dtype.name else array.tobytes()


def fill_values(name):
    """As in metadata, and as an element."""
    dtype = getattr(ml_dtypes, name)
    if name in INTEGERS:
        return [(0, dtype(0)), (ml_dtypes.iinfo(name).min, dtype(ml_dtypes.iinfo(name).min))]
    if name == "float8_e8m0fnu":  # tensorstore 0.1.86 takes the number 1.0 for the pattern 0x3f, which is 2^-64
        return [("NaN", dtype("nan"))]
    values = [(1.0, dtype(1)), (float(ml_dtypes.finfo(dtype).max), ml_dtypes.finfo(dtype).max)]
    if numpy.isnan(every_pattern(name)).any():
        values.append(("NaN", dtype("nan")))
    if numpy.isinf(every_pattern(name)).any():
        values.append(("-Infinity", dtype("-inf")))
    return values


def spec(path, **members):
    return {"driver": "zarr3", "kvstore": {"driver": "file", "path": f"{path}/"}, "context": {"file_io_sync": False}, **members}


@pytest.mark.parametrize("shards", [None, (64,)], ids=["plain", "sharded"])
@pytest.mark.parametrize("name", TENSORSTORE)
def test_tensorstore_reads_what_sherd_writes(tmp_path, name, shards):
    data = every_pattern(name)
    for number, (json_value, element) in enumerate(fill_values(name)):
        path = tmp_path / str(number)
        array = sherd.create_array(path, shape=(len(data) + 40,), dtype=name, chunks=(16,), shards=shards, fill_value=json_value)
        array[: len(data)] = data
        read = tensorstore.open(spec(path), open=True).result().read().result()
        assert read.dtype == data.dtype
        assert elements(read[: len(data)]) == elements(data)
        assert elements(read[len(data) :]) == elements(numpy.full(40, element, data.dtype))


def spec2(path, **members):
    return {**spec(path, **members), "driver": "zarr"}


@pytest.mark.parametrize("name", ["bfloat16", *TENSORSTORE])
def test_zarr_v2_has_the_types_that_tensorstore_names(tmp_path, name):
    data = every_pattern(name) if name in TENSORSTORE else numpy.arange(256).astype(name)
    rows = {"shape": [len(data) + 40], "chunks": [16]}
    sherd.create_array(tmp_path / "sherd", **rows, dtype=name, format="zarr2")[: len(data)] = data
    read = tensorstore.open(spec2(tmp_path / "sherd"), open=True).result().read().result()
    assert read.dtype == data.dtype
    assert elements(read[: len(data)]) == elements(data)
    if name != "float8_e8m0fnu":  # tensorstore 0.1.86 takes the number 0 for the pattern 0
        assert not read[len(data) :].any()
    metadata = {**rows, "dtype": name, "fill_value": None, "compressor": None}
    written = tensorstore.open(spec2(tmp_path / "tensorstore", metadata=metadata), create=True).result()
    written[: len(data)].write(data).result()
    array = sherd.open_array(tmp_path / "tensorstore")
    assert array.format == "zarr2" and array.dtype == data.dtype
    assert elements(array[: len(data)]) == elements(data)


@pytest.mark.parametrize("sharded", [False, True], ids=["plain", "sharded"])
@pytest.mark.parametrize("name", TENSORSTORE)
def test_sherd_reads_what_tensorstore_writes(tmp_path, name, sharded):
    data = every_pattern(name)
    inner = [{"name": "bytes"}, {"name": "zstd", "configuration": {"level": 1}}]
    codecs = [{"name": "sharding_indexed", "configuration": {"chunk_shape": [16], "codecs": inner}}] if sharded else inner
    for number, (json_value, element) in enumerate([*fill_values(name), (None, None)]):
        path = tmp_path / str(number)
        metadata = {"shape": [len(data) + 64], "data_type": name, "codecs": codecs,
                    "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [64]}}}
        if element is not None:
            metadata["fill_value"] = json_value
        array = tensorstore.open(spec(path, metadata=metadata), create=True).result()
        array[: len(data)].write(data).result()
        expected = array.read().result()
        read = sherd.open(path)[...]
        assert read.dtype == data.dtype
        assert elements(read) == elements(expected)


@pytest.mark.parametrize("name", [*(name for name in INTEGERS + FLOATS if name not in TENSORSTORE), "complex_float16", "complex_float8_e5m2"])
def test_tensorstore_refuses_types_that_it_does_not_know(tmp_path, name):
    sherd.create_array(tmp_path / "a", shape=(4,), dtype=name)
    with pytest.raises(ValueError, match="data type is not one of the supported data types"):
        tensorstore.open(spec(tmp_path / "a"), open=True).result()


@pytest.mark.parametrize("name", ["int4", "float8_e5m2", "complex_float16"])
def test_zarr_python_refuses_types_of_few_bits(tmp_path, name):
    sherd.create_array(tmp_path / "a", shape=(4,), dtype=name)
    with pytest.raises(ValueError, match="No Zarr data type found that matches"):
        zarr.open_array(tmp_path / "a", mode="r")


@pytest.mark.parametrize("name", INTEGERS + FLOATS)
def test_stored_bytes_are_those_of_zarr_extensions(tmp_path, name):
    data = every_pattern(name)
    array = sherd.create_array(tmp_path / "a", shape=data.shape, dtype=name, chunks=data.shape, codecs=["bytes"])
    array[...] = data
    patterns = numpy.arange(len(data), dtype="u1")
    assert (numpy.frombuffer((tmp_path / "a/c/0").read_bytes(), "u1") & (len(data) - 1) == patterns).all()
    packed = sherd.create_array(tmp_path / "p", shape=data.shape, dtype=name, chunks=data.shape, codecs=["packbits"])
    packed[...] = data
    stream = numpy.unpackbits(patterns, bitorder="little").reshape(len(data), 8)[:, : bits(name)]
    assert (tmp_path / "p/c/0").read_bytes() == numpy.packbits(stream, bitorder="little").tobytes()
    assert packed[...].tobytes() == data.tobytes()
    # "The upper bits are ignored."
    (tmp_path / "a/c/0").write_bytes((patterns | (0xFF ^ (len(data) - 1))).astype("u1").tobytes())
    assert sherd.open(tmp_path / "a")[...].tobytes() == data.tobytes()
    assert sherd.open(tmp_path / "a")[1:3].tobytes() == data[1:3].tobytes()


# https://github.com/zarr-developers/zarr-extensions, data-types/complex_float16/README.md and its neighbours: the real
# part first, both as the float is stored.
@pytest.mark.parametrize("name", ["bfloat16", "float16", "float32", "float64", *FLOATS])
def test_complex_numbers_are_two_numbers_of_ml_dtypes(tmp_path, name):
    float_ = numpy.dtype(getattr(ml_dtypes, name, None) or name)
    real, imaginary = numpy.array([1, 2, 0.5], float_), numpy.array([4, 1, 2], float_)
    stored = numpy.stack([real, imaginary], axis=-1).tobytes()
    array = sherd.create_array(tmp_path / "a", shape=(5,), dtype=f"complex_{name}", chunks=(3,), fill_value=[2.0, 1.0], codecs=["bytes"])
    assert array.dtype.itemsize == 2 * float_.itemsize
    array[:3] = numpy.frombuffer(stored, array.dtype)
    assert (tmp_path / "a/c/0").read_bytes() == stored
    assert sherd.open(tmp_path / "a")[...].tobytes() == stored + 2 * numpy.array([2, 1], float_).tobytes()


def test_null_terminated_bytes_of_zarr_python_are_read(tmp_path):
    data = numpy.array([b"a", b"", b"abcd"], "S4")
    zarr.create_array(tmp_path / "a", shape=(4,), chunks=(2,), dtype="S4", fill_value=b"xy", compressors=None)[:3] = data
    assert json.loads((tmp_path / "a/zarr.json").read_text())["data_type"]["name"] == "null_terminated_bytes"
    array = sherd.open(tmp_path / "a")
    assert array.dtype == "S4"
    assert array[...].tolist() == [*data.tolist(), b"xy"]


@pytest.mark.parametrize("format", ["zarr2", "zarr3"])
def test_null_terminated_bytes_of_sherd_are_read_by_zarr_python(tmp_path, format):
    data = numpy.array([b"a", b"", b"abcd"], "S4")
    array = sherd.create_array(tmp_path / "a", shape=4, chunks=2, dtype="S4", fill_value=b"xy", format=format)
    array[:3] = data
    array[0] = b"ab"
    assert array[0] == b"ab" and array[3] == b"xy"
    read = zarr.open_array(tmp_path / "a", mode="r")
    assert read.dtype == "S4" and read.fill_value.rstrip(b"\0") == b"xy"
    assert read[...].tolist() == [b"ab", b"", b"abcd", b"xy"]
    sherd.copy(tmp_path / "a", tmp_path / "b", to="zarr2" if format == "zarr3" else "zarr3")
    copied = zarr.open_array(tmp_path / "b", mode="r")
    assert copied.dtype == "S4" and copied.fill_value.rstrip(b"\0") == b"xy"
    assert copied[...].tolist() == read[...].tolist()


# https://github.com/zarr-developers/zarr-extensions, codecs/reshape/README.md: "does not change the lexicographical order"; zarrs
# says the same of squeeze.
@pytest.mark.parametrize("codec", [{"name": "reshape", "configuration": {"shape": [[0, 1], [2]]}}, {"name": "zarrs.squeeze"}])
def test_reshaped_chunks_have_the_bytes_of_the_plain_ones(tmp_path, codec):
    data = numpy.arange(24, dtype="<u2").reshape(1, 4, 6)
    bytes_ = {"name": "bytes", "configuration": {"endian": "little"}}
    sherd.create_array(tmp_path / "a", shape=data.shape, dtype="uint16", chunks=(1, 2, 6), codecs=[codec, bytes_])[...] = data
    assert (tmp_path / "a/c/0/1/0").read_bytes() == data[0, 2:].tobytes()
    assert (sherd.open(tmp_path / "a")[...] == data).all()


def calculated(x, offset, scale, least, most):
    """(x - offset) * scale, each step rounded to the type; None where a step exceeds its range, Ellipsis where rounding
    decides whether it does."""
    result = x
    for step in (lambda: float(result) - offset, lambda: float(result) * scale):
        if not numpy.isfinite(float(result)):
            return result
        exact = step()
        if not least <= exact <= most:
            near = "int" not in x.dtype.name and (0 < exact < least or most < abs(exact) < 1.5 * most)
            return ... if near else None
        result = type(x)(exact)
    return result


@pytest.mark.parametrize("name", [*INTEGERS, *FLOATS])
def test_scale_offset_calculates_as_ml_dtypes_does(tmp_path, name):
    patterns = every_pattern(name)
    limits = ml_dtypes.iinfo(name) if name in INTEGERS else ml_dtypes.finfo(patterns.dtype.type)
    least = 2.0**-127 if name == "float8_e8m0fnu" else float(limits.min)
    offset, scale = (1, 1 if "int2" in name else 2) if name in INTEGERS else (0.5, 2.0)
    codecs = [{"name": "scale_offset", "configuration": {"offset": offset, "scale": scale}}, "bytes"]
    fill = 1.0 if name == "float8_e8m0fnu" else offset
    array = sherd.create_array(tmp_path / "a", shape=(1,), chunks=(1,), dtype=name, codecs=codecs, fill_value=fill,
                               config={"write_empty_chunks": True})
    for x in patterns:
        wanted = calculated(x, offset, scale, least, float(limits.max))
        if wanted is None:
            with pytest.raises(sherd.InvalidArgument, match="is not a value of"):
                array[0] = x
        elif wanted is not ...:
            array[0] = x
            stored = numpy.frombuffer((tmp_path / "a/c/0").read_bytes(), patterns.dtype)[0]
            assert float(stored) == float(wanted) or (numpy.isnan(float(stored)) and numpy.isnan(float(wanted))), x
