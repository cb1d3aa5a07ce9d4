"""Element types between NumPy and the engine."""

import sys

import ml_dtypes
import numpy as np
import pytest
import sherd

STRUCT = np.dtype([("a", "u1"), ("b", [("c", "f8"), ("d", "U2")]), ("t", "M8[us]")])

NUMPY = ["bool", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "c8", "c16", "V3", "U5", "M8[ns]", "M8[25m]",
         "m8[D]", "M8", ml_dtypes.bfloat16, STRUCT]


def values(dtype, shape):
    """Elements with any bits that mean something in the type."""
    rng = np.random.default_rng(0)
    dtype = np.dtype(dtype)
    if dtype.kind == "b":
        return rng.integers(0, 2, shape).astype(bool)
    if dtype.kind == "U":
        return rng.choice(["", "a", "é", "日本", "𝄞x"], shape).astype(dtype)
    if dtype.names:
        array = np.zeros(shape, dtype)
        for name in dtype.names:
            array[name] = values(dtype[name], shape)
        return array
    return rng.integers(0, 256, (*shape, dtype.itemsize), dtype="u1").view(dtype)[..., 0]


@pytest.mark.parametrize("dtype", NUMPY, ids=str)
@pytest.mark.parametrize("shards", [None, (6, 4)])
def test_elements_come_back_bit_for_bit(dtype, shards):
    data = values(dtype, (9, 7))
    array = sherd.create_array(sherd.MemoryStore(), shape=data.shape, dtype=dtype, chunks=(3, 2), shards=shards)
    assert array.dtype == data.dtype
    array[...] = data
    for read in (array[...], array.read(out=np.empty_like(data)), np.asarray(array)):
        assert read.dtype == data.dtype and read.tobytes() == data.tobytes()
    assert array[4, 3].tobytes() == data[4, 3].tobytes()
    assert type(array[4, 3]) is type(data[4, 3])


@pytest.mark.parametrize(
    ("given", "name"),
    [("uint16", "uint16"), (np.uint16, "uint16"), (">u2", "uint16"), (int, "int64"), (float, "float64"), (bool, "bool"), (str, "string"),
     (bytes, "bytes"), ("string", "string"), ("bytes", "bytes"), (np.dtypes.StringDType(), "string"), ("r24", "r24"), ("V3", "r24"),
     ("bfloat16", "bfloat16"), ({"name": "uint16"}, "uint16"),
     ({"names": ["x"], "formats": ["u1"]}, {"name": "struct", "configuration": {"fields": [{"name": "x", "data_type": "uint8"}]}})],
    ids=str,
)
def test_a_type_has_many_names(given, name):
    assert sherd.create_array(sherd.MemoryStore(), shape=(1,), dtype=given).metadata["data_type"] == name


def test_types_with_a_configuration_are_written_as_registered():
    def stored(dtype):
        return sherd.create_array(sherd.MemoryStore(), shape=(1,), dtype=dtype).metadata["data_type"]

    assert stored("M8[10us]") == {"name": "numpy.datetime64", "configuration": {"unit": "us", "scale_factor": 10}}
    assert stored("U5") == {"name": "fixed_length_utf32", "configuration": {"length_bytes": 20}}
    assert stored([("x", "u1")])["name"] == "struct"


@pytest.mark.parametrize(
    ("dtype", "error"),
    [("S5", sherd.Unsupported), (object, sherd.InvalidArgument), ("nonsense", sherd.InvalidArgument), ("int4", sherd.Unsupported), ("(2,)u1", sherd.Unsupported),
     (np.longdouble, sherd.Unsupported), ({"name": "int4"}, sherd.Unsupported), ("V0", sherd.Unsupported)],
    ids=str,
)
def test_unsupported_types_are_refused(dtype, error):
    with pytest.raises(error):
        sherd.create_array(sherd.MemoryStore(), shape=(1,), dtype=dtype)


@pytest.mark.parametrize("name", ["int4", "uint4", "int2", "uint2", "float8_e4m3", "float8_e5m2", "float8_e4m3fnuz", "float6_e2m3fn", "float4_e2m1fn"])
def test_types_of_few_bits_are_refused_by_name(name):
    ml_dtypes = pytest.importorskip("ml_dtypes")
    for dtype in (name, {"name": name}, getattr(ml_dtypes, name), np.dtype(getattr(ml_dtypes, name))):
        with pytest.raises(sherd.Unsupported, match=f"data type '{name}' is not supported by this version"):
            sherd.create_array(sherd.MemoryStore(), shape=(1,), dtype=dtype)


@pytest.mark.parametrize("shards", [None, (4, 4)])
def test_strings_and_bytes_are_objects(shards):
    rng = np.random.default_rng(1)
    for dtype, choices in (("string", ["", "a", "日本語", "long " * 50]), ("bytes", [b"", b"\0", b"\xff" * 100])):
        data = np.array([choices[i] for i in rng.integers(0, len(choices), 35)], object).reshape(5, 7)
        array = sherd.create_array(sherd.MemoryStore(), shape=data.shape, dtype=dtype, chunks=(2, 2), shards=shards)
        array[...] = data
        assert array.dtype == object
        assert np.array_equal(array[...], data)
        assert np.array_equal(array[::-2, 3], data[::-2, 3])
        assert np.array_equal(array.vindex[[4, 0], [1, 1]], data[[4, 0], [1, 1]])
        assert array[1, 2] == data[1, 2] and type(array[1, 2]) is type(data[1, 2])
        out = np.empty((7, 5), object).T
        assert array.read(out=out) is out and np.array_equal(out, data)
        array[1] = choices[-1]
        assert array[1].tolist() == [choices[-1]] * 7
        with pytest.raises(sherd.InvalidArgument, match="int"):
            array[0, 0] = 5
        with pytest.raises(sherd.InvalidArgument):
            array[0] = None


def test_strings_come_from_every_numpy_type_of_text():
    array = sherd.create_array(sherd.MemoryStore(), shape=(2,), dtype="string")
    for data in (np.array(["a", "日本"]), np.array(["a", "日本"], np.dtypes.StringDType()), ["a", "日本"]):
        array[...] = ""
        array[...] = data
        assert array[...].tolist() == ["a", "日本"]
    with pytest.raises(UnicodeEncodeError):
        array[0] = "\ud800"


def test_references_of_strings_are_counted():
    text = "some text " * 3
    array = sherd.create_array(sherd.MemoryStore(), shape=(10,), dtype="string")
    before = sys.getrefcount(text)
    for _ in range(5):
        array[...] = text
        out = np.array([text] * 10, object)
        array.read(out=out)
    del out
    assert sys.getrefcount(text) == before


def test_without_ml_dtypes_bfloat16_is_unsupported(monkeypatch):
    store = sherd.MemoryStore()
    sherd.create_array(store, shape=(1,), dtype="bfloat16")
    monkeypatch.setitem(sys.modules, "ml_dtypes", None)
    array = sherd.open(store)
    assert array.shape == (1,)
    with pytest.raises(sherd.Unsupported, match="ml_dtypes"):
        array[...]


def test_values_are_converted_as_numpy_assigns_them():
    array = sherd.create_array(sherd.MemoryStore(), shape=(3,), dtype="int16")
    array[...] = [1.9, True, np.uint8(3)]
    assert array[...].tolist() == [1, 1, 3]
    with pytest.raises(OverflowError):
        array[0] = 40000
    struct = sherd.create_array(sherd.MemoryStore(), shape=(2,), dtype=[("a", "u1"), ("b", "f4")])
    aligned = np.zeros(2, np.dtype([("a", "u1"), ("b", "f4")], align=True))
    aligned["b"] = [1, 2]
    struct[...] = aligned
    assert struct[...]["b"].tolist() == [1, 2]
