"""What create_array makes of its arguments."""

import functools

import numpy as np
import pytest
import sherd
from dependencies import missing


def make(**options):
    options.setdefault("shape", (8, 8))
    options.setdefault("dtype", "uint8")
    return sherd.create_array(sherd.MemoryStore(), **options)


def names(array):
    return [codec["name"] for codec in array.codecs]


class Codec:
    def __init__(self, **members):
        self.members = members

    def to_dict(self):
        return self.members


def test_codecs_are_strings_mappings_or_objects_with_to_dict():
    for codec in ("gzip:5", {"name": "gzip", "configuration": {"level": 5}}, Codec(name="gzip", configuration={"level": 5})):
        for compressors in (codec, [codec], (codec,)):
            assert make(compressors=compressors).codecs[-1] == {"name": "gzip", "configuration": {"level": 5}}
    with pytest.raises(sherd.InvalidArgument):
        make(compressors=[5])


def test_codecs_of_numcodecs_are_accepted_in_both_versions():
    try:
        import numcodecs
    except ImportError:
        missing("numcodecs")
    values = np.arange(64, dtype="int32").reshape(8, 8)
    for compressor in (numcodecs.Zlib(3), {"id": "zlib", "level": 3}):
        for number in (2, 3):
            store = sherd.MemoryStore()
            array = sherd.create_array(store, data=values, chunks=(4, 4), zarr_format=number,
                                       filters=[numcodecs.Delta("<i4")], compressors=compressor)
            assert names(array) == ["numcodecs.delta", "bytes", "numcodecs.zlib"]
            assert array.codecs[-1]["configuration"] == {"level": 3}
            assert (sherd.open_array(store)[...] == values).all()
    with pytest.raises(sherd.Unsupported, match="pickle"):
        make(compressors=numcodecs.Pickle())


def test_codec_members_that_zarr_python_omits_depend_on_the_type():
    try:
        import zarr
    except ImportError:
        missing("zarr-python")
    left_open = zarr.codecs.BloscCodec(cname="lz4", clevel=7)
    chosen = make(dtype="int32", compressors=left_open).codecs[-1]["configuration"]
    assert (chosen["typesize"], chosen["shuffle"], chosen["cname"], chosen["clevel"]) == (4, "shuffle", "lz4", 7)
    given = zarr.codecs.BloscCodec(typesize=2, shuffle="bitshuffle")
    chosen = make(dtype="int32", compressors=given).codecs[-1]["configuration"]
    assert (chosen["typesize"], chosen["shuffle"]) == (2, "bitshuffle")


def test_auto_values_are_chosen():
    assert names(make()) == ["bytes", "zstd"]
    assert names(make(compressors=None)) == names(make(compressors=[])) == ["bytes"]
    assert names(make(filters=[{"name": "transpose", "configuration": {"order": [1, 0]}}])) == ["transpose", "bytes", "zstd"]
    assert names(make(dtype="string")) == ["vlen-utf8", "zstd"]
    big = make(dtype="uint16", serializer={"name": "bytes", "configuration": {"endian": "big"}}, compressors=())
    assert big.codecs == [{"name": "bytes", "configuration": {"endian": "big"}}]


def test_codecs_is_the_whole_chain():
    chain = [{"name": "bytes"}, {"name": "crc32c"}]
    assert names(make(codecs=chain)) == ["bytes", "crc32c"]
    with pytest.raises(sherd.InvalidArgument, match="cannot be combined with filters"):
        make(codecs=chain, compressors=None)
    with pytest.raises(sherd.InvalidArgument):
        make(codecs=chain, shards=(8, 8))


def test_shards_have_an_index_of_any_location_and_codecs():
    array = make(chunks=(2, 2), shards=(4, 4), index_location="start", index_codecs=["bytes"])
    configuration = array.codecs[0]["configuration"]
    assert configuration["index_location"] == "start"
    assert [codec["name"] for codec in configuration["index_codecs"]] == ["bytes"]
    with pytest.raises(sherd.InvalidArgument) as error:
        make(chunks=(2, 2), shards=(4, 4), index_location="middle")
    assert error.value.member == "index_location"
    with pytest.raises(sherd.InvalidArgument) as error:
        make(chunks=(3, 3), shards=(4, 4))
    assert error.value.member == "shards[0]"


def test_shards_are_chosen_by_size():
    array = make(shape=(4096, 4096), dtype="float32", shards="auto")
    assert all(shard % chunk == 0 for shard, chunk in zip(array.shards, array.chunks, strict=True))


def test_chunk_keys_have_three_spellings():
    for encoding, key in [
        ({"name": "v2", "separator": "/"}, "0/1"),
        ({"name": "v2"}, "0.1"),
        ("v2", "0.1"),
        ({"name": "default", "separator": "."}, "c.0.1"),
        ({"name": "default", "configuration": {"separator": "/"}}, "c/0/1"),
        (Codec(name="default", separator="."), "c.0.1"),
    ]:
        store = sherd.MemoryStore()
        sherd.create_array(store, shape=(4, 4), dtype="u1", chunks=(2, 2), chunk_key_encoding=encoding)[0, 2] = 1
        assert store.keys() == sorted([key, "zarr.json"]), encoding


def test_a_chunk_grid_may_be_given_as_in_metadata():
    grid = {"name": "rectilinear", "configuration": {"kind": "inline", "chunk_shapes": [[3, 5], [8]]}}
    array = make(chunks=grid)
    array[...] = np.arange(64).reshape(8, 8)
    assert np.array_equal(array[...], np.arange(64).reshape(8, 8))
    assert array.nchunks_initialized == 2


def test_chunks_may_have_different_lengths():
    data = np.arange(50).reshape(10, 5)
    for chunks in ([[3, 3, 4], [5]], ((3, 3, 4), 5), [np.array([3, 3, 4]), [5]], [[[3, 2], 4], [5]]):
        array = make(shape=(10, 5), dtype="int64", chunks=chunks)
        assert array.chunks == ((3, 3, 4), (5,)) and array.shards is None
        array[...] = data
        assert np.array_equal(array[2:8], data[2:8]) and array.nchunks_initialized == 3
        assert "rectilinear" in repr(array) and array.info["chunks"] == array.chunks
        again = make(shape=array.shape, dtype=array.dtype, chunks=array.chunks)
        assert again.chunks == array.chunks


def test_lengths_of_chunks_add_up_to_the_shape():
    array = make(shape=(10, 5), chunks=[[3, 3, 9, 7], 2])
    assert array.chunks == ((3, 3, 4), (2, 2, 1))
    array.resize((4, 0))
    assert array.chunks == ((3, 1), ())


def test_shards_may_have_different_lengths():
    data = np.arange(60).reshape(10, 6)
    array = make(shape=(10, 6), dtype="int64", chunks=(2, 3), shards=[[2, 4, 4], [6]])
    assert array.chunks == (2, 3) and array.shards == ((2, 4, 4), (6,))
    array[...] = data
    assert np.array_equal(array[...], data) and array.nchunks_initialized == 10
    assert make(shape=array.shape, chunks=array.chunks, shards=array.shards).shards == array.shards


def test_lengths_that_make_no_grid_are_refused(tmp_path):
    for options, member in [
        ({"chunks": [[4, 4], [8]], "shards": (8, 8)}, "chunks"),
        ({"chunks": [[4, 3], [8]]}, "chunks[0]"),
        ({"chunks": [[4, 4]]}, "chunks"),
        ({"chunks": [[4, 0, 4], [8]]}, "chunks[0][1]"),
        ({"shards": [[4, 4], [8]]}, "shards"),
    ]:
        with pytest.raises(sherd.InvalidArgument) as error:
            sherd.create_array(tmp_path / "a", shape=(8, 8), dtype="u1", **options)
        assert error.value.member == member
    with pytest.raises(sherd.InvalidArgument, match="does not divide"):
        make(chunks=(3, 8), shards=[[4, 4], [8]])
    assert not (tmp_path / "a").exists()
    with pytest.raises(sherd.InvalidArgument, match="one shape"):
        sherd.copy(tmp_path / "a", tmp_path / "b", chunks=[[4, 4], [8]])


def test_a_grid_of_more_chunks_than_can_be_listed_says_so():
    array = make(shape=(1 << 40,), chunks=[[[1, 1 << 40]]])
    with pytest.raises(sherd.Unsupported, match="chunk_grid"):
        array.chunks
    assert "rectilinear" in repr(array)


@pytest.mark.parametrize("codec", ["wavpack", "imagecodecs_jpeg2k"])
def test_planned_codecs_are_refused_by_name(codec):
    for given in (codec, {"name": codec}, Codec(name=codec)):
        for options in ({"filters": [given]}, {"compressors": given}, {"codecs": [{"name": "bytes", "configuration": {"endian": "little"}}, given]}):
            with pytest.raises(sherd.Unsupported, match=f"the codec '{codec}' is not supported by this version"):
                make(dtype="float32", **options)


def test_a_path_inside_a_hierarchy_joins_it(tmp_path):
    sherd.create_array(tmp_path / "a.zarr/g/x", shape=(4,), dtype="u1")
    sherd.create_group(tmp_path / "a.zarr/h/i")
    root = sherd.open(tmp_path / "a.zarr")
    assert root.keys() == ["g", "h"] and root["h"].keys() == ["i"] and root["g/x"].shape == (4,)
    for make_node in (sherd.create_group, lambda path: sherd.create_array(path, shape=(4,), dtype="u1")):
        with pytest.raises(sherd.InvalidArgument, match="reserves"):
            make_node(tmp_path / "a.zarr/__x")
        with pytest.raises(sherd.Conflict):
            make_node(tmp_path / "a.zarr/g/x/inside")
    sherd.create_group(sherd.Store(tmp_path / "a.zarr/own/root"))
    assert "own" not in sherd.open(tmp_path / "a.zarr"), "a Store is a hierarchy of its own"


def test_shape_and_dtype_are_those_of_the_data():
    data = np.arange(12, dtype=">i4").reshape(3, 4)
    array = sherd.create_array(sherd.MemoryStore(), data=data)
    assert array.dtype == np.int32 and np.array_equal(array[...], data)
    array = sherd.create_array(sherd.MemoryStore(), data=[1, 2, 3], dtype="float32")
    assert array[...].tolist() == [1.0, 2.0, 3.0] and array.dtype == np.float32
    array = sherd.create_array(sherd.MemoryStore(), data=np.array(["a", "bc"], object))
    assert array.metadata["data_type"] == "string" and array[...].tolist() == ["a", "bc"]
    array = sherd.create_array(sherd.MemoryStore(), data=np.array([b"a", b""], object))
    assert array.metadata["data_type"] == "bytes" and array[...].tolist() == [b"a", b""]
    for wrong in (np.array([1, "a"], object), np.array([], object)):
        with pytest.raises(sherd.InvalidArgument, match="dtype"):
            sherd.create_array(sherd.MemoryStore(), data=wrong)
    with pytest.raises(sherd.InvalidArgument) as error:
        sherd.create_array(sherd.MemoryStore(), data=data, shape=(4, 3))
    assert error.value.member == "shape"


def test_missing_arguments_are_named():
    for options in ({"shape": (1,)}, {"dtype": "u1"}):
        with pytest.raises(sherd.InvalidArgument) as error:
            sherd.create_array(sherd.MemoryStore(), **options)
        assert error.value.member in ("shape", "dtype") and error.value.member not in options
    with pytest.raises(TypeError):
        make(chunk=(1, 1))


@pytest.mark.parametrize("shape", [(-1, 2), (2**63,), (1.5,), "ab"])
def test_a_shape_is_lengths(shape):
    with pytest.raises((sherd.InvalidArgument, TypeError)):
        make(shape=shape)


def nan_with_payload():
    return np.array([0x7FC12345], "uint32").view("float32")[0]


@pytest.mark.parametrize(
    ("dtype", "value", "stored"),
    [
        ("bool", True, True),
        ("bool", 1, True),
        ("bool", np.bool_(True), True),
        ("uint64", 2**64 - 1, 2**64 - 1),
        ("int8", -3.0, -3),
        ("int8", np.float64(4), 4),
        ("float32", -0.0, -0.0),
        ("float64", 1, 1),
        ("float32", np.nan, "NaN"),
        ("float16", -np.inf, "-Infinity"),
        ("float32", nan_with_payload(), "0x7fc12345"),
        ("float32", "0x7fc12345", "0x7fc12345"),
        ("float64", True, 1),
        ("complex64", 1 - 2j, [1.0, -2.0]),
        ("complex128", complex("nan+infj"), ["NaN", "Infinity"]),
        ("complex64", 3, [3, 0.0]),
        ("complex64", [1, "NaN"], [1, "NaN"]),
        ("r16", b"\1\2", [1, 2]),
        ("r16", np.void(b"\1\2"), [1, 2]),
        ("V2", [1, 2], [1, 2]),
        ("string", "é", "é"),
        ("string", np.str_("é"), "é"),
        ("bytes", b"\xff", [255]),
        ("U3", "abc", "abc"),
        ("M8[s]", np.datetime64("1970-01-02", "D"), 86400),
        ("M8[s]", np.datetime64("1970-01-02T00:00:00", "s"), 86400),
        ("M8[s]", "1970-01-02", 86400),
        ("M8[D]", np.datetime64("NaT"), "NaT"),
        ("m8[ms]", np.timedelta64(2, "s"), 2000),
        ("m8[ms]", 5, 5),
    ],
)
def test_a_fill_value_is_a_scalar(dtype, value, stored):
    array = make(dtype=dtype, fill_value=value)
    expected = make(dtype=dtype, fill_value=stored)
    assert array.metadata["fill_value"] == expected.metadata["fill_value"]
    assert np.asarray(array.fill_value).tobytes() == np.asarray(expected.fill_value).tobytes()
    again = make(dtype=dtype, fill_value=array.fill_value)
    assert again.metadata["fill_value"] == array.metadata["fill_value"], "what is read can be given again"
    assert repr(array[0, 0]) == repr(array.fill_value)


def test_a_struct_is_filled_by_a_tuple_a_dict_or_a_void():
    dtype = np.dtype([("x", "i2"), ("y", "f4")])
    for value in ((3, 0.5), {"x": 3, "y": 0.5}, np.array((3, 0.5), dtype)[()]):
        array = make(dtype=dtype, fill_value=value)
        assert array.metadata["fill_value"] == {"x": 3, "y": 0.5}
        assert array[0, 0].item() == (3, 0.5)


@pytest.mark.parametrize(
    ("dtype", "value"),
    [("uint8", 256), ("uint8", -1), ("uint8", 1.5), ("uint8", "x"), ("bool", 2), ("float32", 1j), ("r16", b"\1"), ("string", 5),
     ("uint8", np.zeros(2)), ("U1", "ab")],
)
def test_a_fill_value_that_does_not_fit_is_refused(dtype, value):
    with pytest.raises(sherd.InvalidArgument) as error:
        make(dtype=dtype, fill_value=value)
    assert "fill_value" in str(error.value)


@pytest.mark.parametrize("place", ["directory", "memory", "group"])
def test_an_array_appears_with_its_data_or_not_at_all(tmp_path, place):
    store = sherd.MemoryStore() if place == "memory" else tmp_path / "a.zarr"
    create = functools.partial(sherd.create_group(store).create_array, "a")
    if place != "group":
        create = functools.partial(sherd.create_array, store, name="a")
    bad = np.array(["one", 2, "three"], dtype=object)
    with pytest.raises(sherd.InvalidArgument, match="str, not int"):
        create(data=bad, dtype="string")
    group = sherd.open_group(store)
    assert list(group.keys()) == []
    create(data=np.arange(4), chunks=(2,), attributes={"is": "kept"})
    with pytest.raises(sherd.InvalidArgument, match="str, not int"):
        create(data=bad, dtype="string", overwrite=True)
    assert group["a"].attrs["is"] == "kept" and group["a"][...].tolist() == [0, 1, 2, 3]
    made = create(data=np.arange(3.0), overwrite=True)
    assert made[...].tolist() == [0, 1, 2] and group["a"].dtype == "float64"
    made[1] = 5
    assert group["a"][1] == 5
    if place == "directory":
        left = sorted(path.name for path in store.rglob("*") if path.name != "zarr.json")
        assert left == ["0", "a", "c"]
