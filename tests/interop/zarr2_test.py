"""Zarr v2 between Sherd and zarr-python 2.18.2, zarr-python 3 and tensorstore, both ways; and the samples that
zarr-python 2.18.2 has left in tests/data/zarr2."""

import io
import json
import pathlib
import subprocess
import zipfile

import numcodecs
import numpy
import pytest
import sherd
import tensorstore
import zarr
from dependencies import missing
from interop.samples import unpack

ROOT = pathlib.Path(__file__).resolve().parents[2]
PYTHON = ROOT / ".venv-draft2022/bin/python"
SAMPLES = zipfile.ZipFile(ROOT / "tests/data/zarr2/samples.zip")
CASES = json.loads(SAMPLES.read("manifest.json"))
VALUES = numpy.arange(35).reshape(7, 5)
DTYPES = ["bool", "int8", "uint8", *(order + kind for order in "<>" for kind in ("i2", "u4", "i8", "f2", "f4", "f8")),
          "<c8", ">c16", "<M8[ns]", ">m8[25s]", "<U3", ">U3", "S4", "V3"]
CODECS = {
    "blosc": {},
    "raw": {"compressors": None},
    "zlib": {"compressors": "zlib:1"},
    "gzip": {"compressors": "gzip:5"},
    "zstd": {"compressors": "zstd:3"},
    "bz2": {"compressors": "bz2"},
    "lz4": {"compressors": "lz4"},
    "lzma": {"compressors": "lzma"},
    "shuffle": {"compressors": ["shuffle", "zlib:1"]},
    "delta": {"filters": ["delta"], "compressors": "zstd:1"},
    "fletcher32": {"compressors": ["fletcher32"]},
    "crc32": {"compressors": ["crc32"]},
    "adler32": {"compressors": ["adler32"]},
    "bare names": {"codecs": ["bytes", "shuffle", "lz4"]},
}


@pytest.fixture
def old_zarr(tmp_path):
    if not PYTHON.is_file():
        missing("zarr-python 2.18.2 in .venv-draft2022")

    def run(*arguments):
        done = subprocess.run([PYTHON, ROOT / "tests/interop/zarr2_peer.py", *arguments], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


@pytest.fixture
def read_by(old_zarr, tmp_path):
    def zarr_2(store):
        old_zarr("read", store, "", tmp_path / "out.npy")
        return numpy.load(tmp_path / "out.npy", allow_pickle=True)

    def zarr_3(store):
        return zarr.open_array(store, mode="r", zarr_format=2)[...]

    def by_tensorstore(store):
        spec = {"driver": "zarr", "kvstore": {"driver": "file", "path": str(store)}}
        return numpy.asarray(tensorstore.open(spec, open=True).result().read().result())

    return {"zarr-python 2": zarr_2, "zarr-python 3": zarr_3, "tensorstore": by_tensorstore}


def files(store):
    return {str(path.relative_to(store)): path.read_bytes() for path in store.rglob("*") if path.is_file()}


def documents(store):
    return {name: json.loads(text) for name, text in files(store).items() if pathlib.Path(name).name.startswith(".z")}


def assert_equal(found, expected):
    """Elements are equal, whatever their byte order."""
    expected = numpy.asarray(expected)
    found = numpy.asarray(found)
    assert found.shape == expected.shape
    native = lambda array: array.astype(array.dtype.newbyteorder("=")).tobytes()
    assert native(found) == native(expected)


def assert_sample(array, about):
    if "elements" in about:
        elements = [each if isinstance(each, str) else bytes(each).hex() for each in array[...].tolist()]
        assert elements == [each or "" if isinstance(each, str) else "" for each in about["elements"]]
    else:
        assert_equal(array[...], numpy.load(io.BytesIO(SAMPLES.read(about["folder"] + ".npy"))))


def test_there_are_samples_of_every_writer():
    assert len(CASES) > 80


@pytest.mark.parametrize("case", CASES)
def test_a_sample_reads_as_its_writer_reads_it(case, tmp_path):
    store = unpack(SAMPLES, CASES[case]["folder"], tmp_path)
    array = sherd.open_array(store)
    assert array.format == "zarr2"
    assert array.attrs["name"] == case
    assert_sample(array, CASES[case])
    faults = sherd.check(store, data=True)["faults"]
    assert [fault["code"] for fault in faults] == (["document_odd"] if case == "shape empty" else [])


@pytest.mark.parametrize("case", CASES)
def test_a_sample_is_edited_without_a_change_to_anything_else(case, tmp_path):
    store = unpack(SAMPLES, CASES[case]["folder"], tmp_path)
    before, texts = documents(store), files(store)
    array = sherd.open_array(store, mode="r+")
    array.attrs["new"] = {"é": 1}
    assert (store / ".zarray").read_bytes() == texts[".zarray"]
    del array.attrs["new"]
    assert documents(store) == before
    assert "1.5" in (store / ".zattrs").read_text()


@pytest.mark.parametrize("case", CASES)
def test_a_sample_is_copied_to_zarr_v3_and_back(case, tmp_path):
    store = unpack(SAMPLES, CASES[case]["folder"], tmp_path)
    up = sherd.copy(store, tmp_path / "new.zarr", to="zarr3")
    down = sherd.copy(tmp_path / "new.zarr", tmp_path / "old.zarr", to="zarr2")
    assert up["chunks_encoded"] == down["chunks_encoded"] == 0
    for name in ("new.zarr", "old.zarr"):
        array = sherd.open_array(tmp_path / name)
        assert array.format == ("zarr3" if name == "new.zarr" else "zarr2")
        assert_sample(array, CASES[case])
    chunks = lambda folder: {key: data for key, data in files(folder).items() if not key.startswith(".z")}
    assert chunks(tmp_path / "old.zarr") == chunks(store)


def test_the_samples_hierarchy_is_listed_and_stays_consolidated(tmp_path, old_zarr):
    store = unpack(SAMPLES, "tree", tmp_path)
    root = sherd.open_group(store, mode="r+")
    assert root.attrs["title"] == "root"
    assert sorted(root.keys()) == ["b", "g"]
    array = root["g/a"]
    assert array.dimension_names == ("y", "x") or list(array.dimension_names) == ["y", "x"]
    array.attrs["unit"] = "m"
    root["g"].attrs["title"] = "g"
    root.attrs["more"] = 1
    told = json.loads(old_zarr("tree", store))
    assert told["title"] == "root" and told["more"] == 1 and told["g"]["title"] == "g"
    assert told["g"]["a"] == {"shape": [7, 5], "_ARRAY_DIMENSIONS": ["y", "x"], "unit": "m"}
    assert zarr.open_consolidated(store)["g/a"].attrs["unit"] == "m"
    assert sherd.check(store, data=True)["faults"] == []


def made(store, dtype="<i4", **options):
    values = VALUES.astype(dtype)
    array = sherd.create_array(store, shape=values.shape, dtype=values.dtype, chunks=(3, 2), format="zarr2", **options)
    array[:] = values
    return values


@pytest.mark.parametrize("dtype", DTYPES)
def test_peers_read_every_type(dtype, tmp_path, read_by):
    store = tmp_path / "a"
    values = made(store, dtype)
    unknown = {"zarr-python 3": ["m8[25"], "tensorstore": ["M8", "m8", "U", "S", "V"]}  # of S it makes elements of no bytes
    for name, read in read_by.items():
        if not any(each in dtype for each in unknown.get(name, [])):
            assert_equal(read(store), values)


@pytest.mark.parametrize("codec", CODECS)
def test_peers_read_every_codec(codec, tmp_path, read_by):
    store = tmp_path / "a"
    values = made(store, **CODECS[codec])
    has_filters = json.loads((store / ".zarray").read_text())["filters"] is not None
    for name, read in read_by.items():
        if name != "tensorstore" or not (has_filters or codec in ("lz4", "lzma")):
            assert_equal(read(store), values)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("separator", [".", "/"])
def test_peers_read_every_layout(order, separator, tmp_path, read_by):
    store = tmp_path / "a"
    codecs = ["bytes"] if order == "C" else [{"name": "transpose", "configuration": {"order": [1, 0]}}, "bytes"]
    encoding = {"name": "v2", "configuration": {"separator": separator}}
    values = made(store, codecs=codecs, chunk_key_encoding=encoding, fill_value=7, attributes={"é": 1.5})
    for read in read_by.values():
        assert_equal(read(store), values)


@pytest.mark.parametrize("name", ["zarr-python 3", "tensorstore"])
@pytest.mark.parametrize("dtype", ["|b1", "<i2", ">f8", "<c16"])
def test_what_peers_write_is_read(name, dtype, tmp_path):
    store, values = tmp_path / "a", VALUES.astype(dtype)
    if name == "tensorstore":
        spec = {"driver": "zarr", "kvstore": {"driver": "file", "path": str(store)},
                "metadata": {"shape": [7, 5], "chunks": [3, 2], "dtype": dtype, "order": "F",
                             "compressor": {"id": "blosc", "cname": "zstd", "clevel": 3, "shuffle": -1}}}
        tensorstore.open(spec, create=True).result().write(values).result()
    else:
        array = zarr.create_array(store, shape=values.shape, dtype=dtype, chunks=(3, 2), zarr_format=2, order="F",
                                  fill_value=0, attributes={"a": 1})
        array[...] = values
    array = sherd.open_array(store, mode="r+")
    assert_equal(array[...], values)
    array[0, 0] = values[6, 4]
    values[0, 0] = values[6, 4]
    assert_equal(sherd.open_array(store)[...], values)
    assert sherd.check(store, data=True)["faults"] == []


@pytest.mark.parametrize("dtype", ["<M8[s]", "<m8[10ns]"])
def test_times_by_zfpy_are_those_of_numcodecs(tmp_path, dtype):
    data = (numpy.arange(64) ** 2).reshape(8, 8).astype(dtype)
    zfpy = {"id": "zfpy", "mode": 4, "tolerance": -1, "rate": -1, "precision": -1}
    array = sherd.create_array(tmp_path / "a", shape=(8, 8), chunks=(8, 8), dtype=dtype, compressors=zfpy, format="zarr2")
    array[...] = data
    chunk = (tmp_path / "a/0/0").read_bytes()
    assert numpy.asarray(numcodecs.get_codec(dict(zfpy)).decode(chunk)).tobytes() == data.tobytes()
    (tmp_path / "a/0/0").write_bytes(numcodecs.get_codec(dict(zfpy)).encode(data[::-1].copy()))
    assert (sherd.open(tmp_path / "a")[...] == data[::-1]).all()


@pytest.mark.parametrize("codec", [{"id": "zfpy", "mode": 4, "tolerance": 1e-6}, {"id": "pcodec", "level": 8}], ids=lambda codec: codec["id"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_codecs_of_arrays_may_be_filters_before_a_compressor(tmp_path, codec, order):
    numcodecs.get_codec(dict(codec))
    values = VALUES.astype("f4")
    if (order, codec["id"]) != ("F", "zfpy"):  # zarr-python reads it, and does not write it
        theirs = zarr.create_array(tmp_path / "theirs", shape=values.shape, chunks=(3, 2), dtype="f4", order=order, zarr_format=2,
                                   filters=[numcodecs.get_codec(dict(codec))], compressors=numcodecs.Zstd(1))
        theirs[...] = values
        read = sherd.open(tmp_path / "theirs")[...]
        assert numpy.array_equal(read, theirs[...]) and numpy.allclose(read, values)
    ours = sherd.create_array(tmp_path / "ours", data=values, chunks=(3, 2), order=order, format="zarr2", codecs=[codec, "zstd:1"])
    document = ours.metadata[".zarray"]
    assert ([each["id"] for each in document["filters"]], document["compressor"]["id"]) == ([codec["id"]], "zstd")
    assert numpy.array_equal(zarr.open_array(tmp_path / "ours", mode="r")[...], ours[...])
    assert numpy.allclose(ours[...], values)


WRITTEN = [
    ({"id": "astype", "encode_dtype": "<i2"}, "i4"), ({"id": "delta"}, "i4"), ({"id": "quantize", "digits": 2}, "f8"),
    ({"id": "fixedscaleoffset", "scale": 2, "offset": 1}, "f8"), ({"id": "categorize", "labels": ["a", ""]}, str),
    ({"id": "categorize", "labels": ["a", ""]}, "U7"), ({"id": "vlen-array"}, "bytes"), ({"id": "json2"}, str),
    ({"id": "shuffle"}, "i4"), ({"id": "lzma"}, "i4"), ({"id": "bitround", "keepbits": 3}, "f4"), ({"id": "packbits"}, "bool"),
]


@pytest.mark.parametrize(("codec", "dtype"), WRITTEN, ids=str)
def test_numcodecs_makes_every_codec_that_is_written(tmp_path, codec, dtype):
    array = sherd.create_array(tmp_path / "a", shape=(4,), chunks=(2,), dtype=dtype, format="zarr2", codecs=[codec])
    document = array.metadata[".zarray"]
    for each in [*(document["filters"] or []), *([document["compressor"]] if document["compressor"] else [])]:
        numcodecs.get_codec(dict(each))
    if codec["id"] not in ("vlen-array", "json2", "categorize"):  # zarr-python has no type for their objects
        zarr.open_array(tmp_path / "a", mode="r")[...]


def test_the_type_written_for_a_filter_is_that_of_its_input(tmp_path):
    codecs = [{"id": "astype", "encode_dtype": "<f4"}, {"id": "quantize", "digits": 2}]
    array = sherd.create_array(tmp_path / "a", data=VALUES.astype("i4"), format="zarr2", codecs=codecs)
    assert [each.get("dtype", each.get("decode_dtype")) for each in array.metadata[".zarray"]["filters"]] == ["<i4", "<f4"]
    assert_equal(zarr.open_array(tmp_path / "a", mode="r")[...].astype("i4"), VALUES.astype("i4"))


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", ["<i4", ">i4", ">U3", [("a", ">i2"), ("b", ">f8")]], ids=str)
def test_new_arrays_have_the_orders_that_zarr_python_stores(tmp_path, dtype, order):
    members = []
    for module, name in ((sherd, "ours"), (zarr, "theirs")):
        array = module.create_array(str(tmp_path / name), shape=(4, 6), chunks=(2, 3), dtype=numpy.dtype(dtype), order=order, zarr_format=2)
        document = json.loads((tmp_path / name / ".zarray").read_text())
        members.append((document["dtype"], document["order"], array.order))
    assert members[0] == members[1]
    data = numpy.zeros((4, 6), dtype)
    ours = sherd.create_array(tmp_path / "data", data=data, order=order, format="zarr2")
    assert ours.metadata[".zarray"]["dtype"] == json.loads(json.dumps(members[0][0]))
    assert_equal(zarr.open_array(tmp_path / "data", mode="r")[...], ours[...])


def test_a_codec_that_says_the_byte_order_goes_before_the_type(tmp_path):
    array = sherd.create_array(tmp_path / "a", shape=4, dtype=">i4", serializer="bytes:little", format="zarr2")
    assert array.metadata[".zarray"]["dtype"] == "<i4"
    with pytest.raises(sherd.Unsupported, match="dtype: 'numcodecs.pcodec' has no big-endian numbers"):
        sherd.create_array(tmp_path / "b", shape=4, dtype=">f4", codecs=[{"id": "pcodec"}], format="zarr2")


@pytest.mark.parametrize("dtype, fill", [("<i4", "0"), (">i8", "-9223372036854775808"), ("|u1", "255"), ("<f4", "1.5"), ("<f8", "1e300"),
                                         ("<f4", "NaN"), ("<f4", "nan"), ("<f8", "-inf")])
def test_a_fill_value_as_a_number_in_a_text_is_read_as_by_zarr_python(tmp_path, dtype, fill):
    document = {"shape": [3], "chunks": [2], "dtype": dtype, "fill_value": fill, "order": "C", "filters": None, "compressor": None, "zarr_format": 2}
    (tmp_path / ".zarray").write_text(json.dumps(document))
    numpy.testing.assert_array_equal(sherd.open_array(tmp_path)[:], zarr.open_array(tmp_path, mode="r")[:])


@pytest.mark.parametrize("dtype, fill", [("<i4", "1.5"), ("|u1", "256"), ("<f4", "abc"), ("<i4", ""), ("<M8[s]", "0")])
def test_a_text_that_is_not_a_number_is_refused_as_by_zarr_python(tmp_path, dtype, fill):
    document = {"shape": [3], "chunks": [2], "dtype": dtype, "fill_value": fill, "order": "C", "filters": None, "compressor": None, "zarr_format": 2}
    (tmp_path / ".zarray").write_text(json.dumps(document))
    with pytest.raises((TypeError, OverflowError)):
        zarr.open_array(tmp_path, mode="r")
    with pytest.raises(sherd.Corrupt, match="fill_value"):
        sherd.open_array(tmp_path)
