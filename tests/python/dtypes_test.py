"""Element types between NumPy and the engine."""

import sys

import ml_dtypes
import numpy as np
import pytest
import sherd

FEW_BITS = ["int2", "int4", "uint2", "uint4", "float4_e2m1fn", "float6_e2m3fn", "float6_e3m2fn", "float8_e3m4", "float8_e4m3",
            "float8_e4m3b11fnuz", "float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz", "float8_e8m0fnu"]
PARTS = ["float4_e2m1fn", "float6_e3m2fn", "float8_e4m3", "float8_e5m2", "float8_e8m0fnu"]
STRUCT = np.dtype([("a", "u1"), ("b", [("c", "f8"), ("d", "U2")]), ("t", "M8[us]")])

NUMPY = ["bool", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "c8", "c16", "V3", "U5", "M8[ns]", "M8[25m]",
         "m8[D]", "M8", ml_dtypes.bfloat16, STRUCT, ml_dtypes.complex32, ml_dtypes.bcomplex32,
         *(getattr(ml_dtypes, name) for name in FEW_BITS), np.dtype([("a", ml_dtypes.int4), ("b", ml_dtypes.float8_e5m2)])]


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
    raw = rng.integers(0, 256, (*shape, dtype.itemsize), dtype="u1")
    if dtype.name in FEW_BITS:
        bits = ml_dtypes.iinfo(dtype).bits if "int" in dtype.name else ml_dtypes.finfo(dtype).bits
        raw &= (1 << bits) - 1
    if dtype.name in ("int2", "int4"):  # the engine's integers have their sign in all bits; ml_dtypes reads both forms
        raw = raw.view(dtype).astype("i1").view("u1")
    return raw.view(dtype)[..., 0]


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
     ("bfloat16", "bfloat16"), ("int4", "int4"), (ml_dtypes.int4, "int4"), (ml_dtypes.complex32, "complex_float16"),
     ("complex_float32", "complex64"), (ml_dtypes.float8_e8m0fnu, "float8_e8m0fnu"), ({"name": "uint16"}, "uint16"),
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
    assert stored("S5") == stored(np.array([b"abcde"]).dtype) == {"name": "null_terminated_bytes", "configuration": {"length_bytes": 5}}
    assert stored([("x", "u1")])["name"] == "struct"


@pytest.mark.parametrize(
    ("dtype", "error"),
    [("S", sherd.InvalidArgument), (object, sherd.InvalidArgument), ("nonsense", sherd.InvalidArgument), ("int3", sherd.InvalidArgument), ("(2,)u1", sherd.Unsupported),
     (np.longdouble, sherd.Unsupported), (ml_dtypes.int1, sherd.Unsupported), ({"name": "int3"}, sherd.InvalidArgument),
     ({"name": "optional", "configuration": {"name": "string"}}, sherd.Unsupported), ("V0", sherd.Unsupported)],
    ids=str,
)
def test_unsupported_types_are_refused(dtype, error):
    with pytest.raises(error):
        sherd.create_array(sherd.MemoryStore(), shape=(1,), dtype=dtype)


@pytest.mark.parametrize("part", PARTS)
def test_complex_numbers_that_ml_dtypes_has_not_are_structs_of_two(part):
    data = np.zeros(6, [("real", getattr(ml_dtypes, part)), ("imag", getattr(ml_dtypes, part))])
    data["real"] = values(data.dtype["real"], (6,))
    data["imag"] = values(data.dtype["imag"], (6,))
    array = sherd.create_array(sherd.MemoryStore(), shape=6, dtype="complex_" + part, fill_value=[2, 0.5])
    assert array.dtype == data.dtype
    assert array[0].tolist() == (2, 0.5)
    array[...] = data
    assert array[...].tobytes() == data.tobytes()


def test_fill_values_of_few_bits_are_numbers_or_scalars_of_the_type():
    def stored(dtype, fill_value):
        array = sherd.create_array(sherd.MemoryStore(), shape=2, dtype=dtype, fill_value=fill_value)
        return array.metadata["fill_value"], array[0]

    assert stored("int4", -3) == (-3, ml_dtypes.int4(-3))
    assert stored("float8_e5m2", ml_dtypes.float8_e5m2(1.5)) == (1.5, 1.5)
    assert stored("float8_e5m2", np.float32(1.5)) == (1.5, 1.5)
    assert stored("float8_e4m3fn", float("nan"))[0] == "NaN"
    assert stored("float8_e4m3fn", "0xff")[0] == "0xff"
    assert stored("complex_float16", 1 - 2j) == ([1.0, -2.0], ml_dtypes.complex32(1 - 2j))
    with pytest.raises(sherd.InvalidArgument, match="8 does not fit int4"):
        stored("int4", 8)


OPTIONAL = {"name": "optional", "configuration": {"name": "int16", "configuration": {}}}


@pytest.mark.parametrize("shards", [None, (4, 6)])
def test_optional_elements_are_masked_arrays(shards):
    array = sherd.create_array(sherd.MemoryStore(), shape=(5, 7), dtype=OPTIONAL, chunks=(2, 3), shards=shards)
    assert array.metadata["data_type"] == {"name": "zarrs.optional", "configuration": {"name": "int16", "configuration": {}}}
    assert array.fill_value is None and array.metadata["fill_value"] is None
    assert array[...].mask.all() and array[0, 0] is np.ma.masked
    data = np.ma.MaskedArray(np.arange(35, dtype="i2").reshape(5, 7), mask=np.arange(35).reshape(5, 7) % 3 == 0)
    array[...] = data
    read = array[...]
    assert read.dtype == np.int16 and (read.mask == data.mask).all() and (read == data).all()
    assert array[0, 1] == 1 and array[0, 0] is np.ma.masked
    array[1] = 5
    array[2, :3] = None
    array[3, 0] = np.ma.masked
    array[4] = [1, 2, 3, 4, 5, 6, 7]
    read = array[...]
    assert (read[1] == 5).all() and read[2].mask.tolist() == [True] * 3 + [False, True, False, False]
    assert read[3].mask[0] and read[4].tolist() == [1, 2, 3, 4, 5, 6, 7]
    raw = np.zeros((5, 7), array.dtype)
    array.read(out=raw)
    assert (raw["present"] == ~read.mask).all() and (raw["value"][read.mask] == 0).all()
    assert array.vindex[[1, 2], [0, 0]].tolist() == [5, None]


STRUCTS = [[("a", "i4"), ("b", "f4")], [("a", "i4"), ("b", [("c", "f4"), ("d", "u1")])], [("value", "i4"), ("other", "f4")]]


def optional_struct(fields):
    def data_type(dtype):
        if not isinstance(dtype, list):
            return np.dtype(dtype).name
        return {"name": "struct", "configuration": {"fields": [{"name": name, "data_type": data_type(each)} for name, each in dtype]}}
    return {"name": "zarrs.optional", "configuration": data_type(fields)}


@pytest.mark.parametrize("fields", STRUCTS)
def test_optional_elements_may_be_structs(fields):
    array = sherd.create_array(sherd.MemoryStore(), shape=(3, 4), dtype=optional_struct(fields), chunks=(2, 3))
    values = np.zeros((3, 4), array.dtype["value"])
    first, second = values.dtype.names
    values[first] = np.arange(12).reshape(3, 4)
    missing = np.arange(12).reshape(3, 4) % 3 == 0
    data = np.ma.MaskedArray(values, mask=missing)
    data.mask[second][0, 1] = True  # one field alone does not make an element missing
    array[...] = data

    def is_as_written():
        read = array[...]
        is_missing = read.mask[first]
        assert (is_missing == missing).all() and (read.mask == data.mask)[missing].all()
        assert (read.data[~missing] == values[~missing]).all()

    is_as_written()
    array[...] = array[...]
    is_as_written()
    array[0, 1] = array[0, 1]
    array[0, 0] = None
    array[0, 3] = np.ma.masked
    is_as_written()
    array[1] = values[1]
    array[2, :2] = None
    assert not array[1].mask[first].any() and array[2].mask[first].tolist() == [True, True, False, False]


def test_optional_structs_may_have_fields_that_are_arrays():
    point = [("0", "f4"), ("1", "f4")]
    array = sherd.create_array(sherd.MemoryStore(), shape=3, dtype=optional_struct([("a", "i4"), ("b", point)]))
    assert array.dtype["value"]["b"].shape == (2,)
    values = np.array([(1, (2, 3)), (4, (5, 6)), (7, (8, 9))], array.dtype["value"])
    array[...] = np.ma.MaskedArray(values, mask=[False, True, False])
    array[...] = array[...]
    read = array[...]
    assert read.mask["a"].tolist() == [False, True, False] and read.mask["b"][:, 1].tolist() == [False, True, False]
    assert read.data[0] == values[0] and read.data[2] == values[2]


def test_optional_elements_may_be_optional_twice():
    array = sherd.create_array(sherd.MemoryStore(), shape=3, dtype={"name": "zarrs.optional", "configuration": OPTIONAL},
                               fill_value=[None])
    assert array[...].tolist() == [(0, False)] * 3
    array[0] = None
    elements = np.zeros(1, array.dtype)
    elements["present"] = True
    elements["value"] = [(7, True)]
    array[1:2] = elements
    read = array[...]
    assert read.mask["present"].tolist() == [True, False, False]
    assert read.data["value"].tolist() == [0, 7, 0] and read.data["present"].tolist() == [False, True, False]


@pytest.mark.parametrize(("fill_value", "stored"), [(None, None), ([7], [7]), ([-1], [-1])])
def test_fill_values_of_optional_types_are_null_or_a_list_of_one(fill_value, stored):
    array = sherd.create_array(sherd.MemoryStore(), shape=2, dtype=OPTIONAL, fill_value=fill_value)
    assert array.metadata["fill_value"] == stored
    assert array[...].tolist() == [stored[0] if stored else None] * 2


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
    with pytest.raises(sherd.InvalidArgument, match=r"the text '\\ud800' has surrogates"):
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


def test_without_ml_dtypes_its_types_are_bytes_that_say_what_they_are(monkeypatch):
    for name, element in (("bfloat16", b"\x80\x3f"), ("int4", b"\xff"), ("float8_e5m2", b"\x3c"), ("complex_float8_e5m2", b"\x3c\x00")):
        store = sherd.MemoryStore()
        sherd.create_array(store, shape=(2,), dtype=name)
        with monkeypatch.context() as patch:
            patch.setitem(sys.modules, "ml_dtypes", None)
            array = sherd.open(store, mode="r+")
            assert array.dtype == f"V{len(element)}" and array.dtype.metadata == {"data_type": name}
            array[1] = np.frombuffer(element, array.dtype)[0]
            assert array[...].tobytes() == bytes(len(element)) + element
            assert sherd.create_array(sherd.MemoryStore(), shape=1, dtype=array.dtype).metadata["data_type"] == name


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


@pytest.mark.parametrize("format", ["zarr3", "zarr2"])
def test_fields_that_are_arrays_are_numpys_subarrays(format):
    dtype = np.dtype([("a", "<i2", (3,)), ("b", [("c", "u1", (2, 2))])])
    array = sherd.create_array(sherd.MemoryStore(), shape=(4,), chunks=(2,), dtype=dtype, format=format)
    values = np.zeros(4, dtype)
    values["a"] = np.arange(12).reshape(4, 3)
    values["b"]["c"][1] = 7
    array[...] = values
    assert array.dtype == dtype
    assert sherd.open_array(array.store)[...].tobytes() == values.tobytes()
