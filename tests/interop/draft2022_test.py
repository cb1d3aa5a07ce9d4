"""The 2022 draft between Sherd and its only full writer, zarr-python 2.18.2, both ways; and the samples that this
release and Debian's 2.13.6 (without shards) have left in tests/data/draft2022."""

import io
import json
import pathlib
import subprocess
import zipfile

import numpy
import pytest
import sherd
from dependencies import missing
from interop.samples import unpack

ROOT = pathlib.Path(__file__).resolve().parents[2]
PYTHON = ROOT / ".venv-draft2022/bin/python"
SAMPLES = zipfile.ZipFile(ROOT / "tests/data/draft2022/samples.zip")
MANIFESTS = {part: json.loads(SAMPLES.read(f"{part}/manifest.json")) for part in ("plain", "sharded")}
CASES = [f"{part}/{name}" for part, manifest in MANIFESTS.items() for name, case in manifest["cases"].items()
         if "expected" in case and f"{part}/{case['expected']}" in SAMPLES.namelist()]
VALUES = numpy.arange(35, dtype="<i4").reshape(7, 5)


@pytest.fixture
def zarr2():
    if not PYTHON.is_file():
        missing("zarr-python 2.18.2 in .venv-draft2022")

    def run(*arguments, **keywords):
        done = subprocess.run([PYTHON, ROOT / "tests/interop/draft2022_peer.py", *arguments], input=json.dumps(keywords),
                              capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


@pytest.fixture
def read_by_zarr2(zarr2, tmp_path):
    def read(store, path=""):
        zarr2("read", store, path, tmp_path / "out.npy")
        return numpy.load(tmp_path / "out.npy", allow_pickle=True)

    return read


def documents(store):
    return {str(path.relative_to(store)): json.loads(path.read_text()) for path in store.rglob("*.json")}


def assert_equal(found, expected):
    """Elements are equal, whatever their byte order."""
    expected = numpy.asarray(expected)
    assert found.shape == expected.shape
    assert found.tobytes() == expected.astype(expected.dtype.newbyteorder("=")).tobytes()


def test_there_are_samples_of_both_kinds():
    assert sum(case.startswith("plain/") for case in CASES) >= 40
    assert sum(case.startswith("sharded/") for case in CASES) >= 10


@pytest.mark.parametrize("case", CASES)
def test_a_sample_reads_as_its_writer_reads_it(case, tmp_path):
    part, name = case.split("/")
    about = MANIFESTS[part]["cases"][name]
    store = unpack(SAMPLES, case, tmp_path)
    expected = numpy.load(io.BytesIO(SAMPLES.read(f"{part}/{about['expected']}")))
    array = sherd.open_array(sherd.open(store, format="draft2022").url, path=about["path"] or "")
    assert array.format == "draft2022"
    assert_equal(array[...], expected)
    assert_equal(sherd.open_array(store / (about["path"] or "."))[...], expected)
    faults = sherd.check(store, data=True)["faults"]
    assert [fault["code"] for fault in faults] == (["document_odd"] if name == "s_short" else [])


@pytest.mark.parametrize("case", CASES)
def test_a_sample_is_edited_without_a_change_to_anything_else(case, tmp_path):
    part, name = case.split("/")
    store = unpack(SAMPLES, case, tmp_path)
    before = documents(store)
    array = sherd.open_array(store, path=MANIFESTS[part]["cases"][name]["path"] or "", mode="r+")
    array.attrs["new"] = {"é": 1}
    del array.attrs["new"]
    assert documents(store) == before


@pytest.mark.parametrize("case", CASES)
def test_a_sample_is_copied_to_zarr_v3_and_back(case, tmp_path):
    store = unpack(SAMPLES, case, tmp_path)
    expected = sherd.open_array(store, path=MANIFESTS[case.split("/")[0]]["cases"][case.split("/")[1]]["path"] or "")
    sherd.copy(store, tmp_path / "new.zarr", to="zarr3")
    sherd.copy(tmp_path / "new.zarr", tmp_path / "old.zarr", to="draft2022")
    for name in ("new.zarr", "old.zarr"):
        array = sherd.open_array(tmp_path / name, path=expected.path)
        assert array.format == ("zarr3" if name == "new.zarr" else "draft2022")
        assert_equal(array[...], expected[...])


def test_the_samples_hierarchies_are_listed(tmp_path):
    root = sherd.open_group(unpack(SAMPLES, "plain/hierarchy", tmp_path))
    assert root.attrs["title"] == "root"
    assert root.keys() == ["foo"] and root["foo"].keys() == ["bar", "baz"]
    assert root["foo/bar"].attrs["spam"] == "ham"
    assert root["foo/baz/qux"].attrs["units"] == "m"
    assert (root["foo"]["baz"]["qux"][...] == VALUES).all()
    assert sherd.open_group(unpack(SAMPLES, "plain/consolidated", tmp_path)).keys() == ["consolidated", "g"]
    with pytest.raises(sherd.Unsupported, match="spec/codec/"):
        sherd.open(unpack(SAMPLES, "plain/comp_zstd", tmp_path), path="foo/baz")


BLOSC = {"id": "blosc", "cname": "zstd", "clevel": 3, "shuffle": 2}
# keywords of zarr.create
WRITTEN = {
    "defaults": {"chunks": [3, 2]},
    "sharded": {"chunks": [2, 2], "chunks_per_shard": [[2, 2]], "fill_value": -1},
    "uncompressed": {"chunks": [2, 2], "chunks_per_shard": [[2, 2]], "compressor": None},
    "stacked": {"chunks": [1, 1], "chunks_per_shard": [[2, 2], [2, 1]]},
    "three stacked": {"chunks": [1, 1], "chunks_per_shard": [[2, 2], [1, 2], [2, 1]], "compressor": BLOSC},
    "short": {"chunks": [2, 2], "chunks_per_shard": [[2]]},
    "order F": {"chunks": [3, 2], "order": "F", "chunks_per_shard": [[2, 3]]},
    "big-endian": {"chunks": [3, 2], "dtype": ">i4", "chunks_per_shard": [[2, 3]]},
    "dots": {"chunks": [2, 2], "dimension_separator": ".", "chunks_per_shard": [[2, 2]]},
    "no fill value": {"chunks": [3, 2], "fill_value": None},
    "empty chunks": {"chunks": [2, 2], "chunks_per_shard": [[2, 2]], "write_empty_chunks": False},
    "gzip": {"chunks": [3, 2], "compressor": {"id": "gzip", "level": 1}},
    "lz4": {"chunks": [3, 2], "compressor": {"id": "lz4"}},
    "lzma": {"chunks": [3, 2], "compressor": {"id": "lzma"}},
    "filters": {"chunks": [3, 2], "filters": [{"id": "delta", "dtype": "<i4"}, {"id": "shuffle", "elementsize": 4}]},
    "delta in order F": {"chunks": [3, 2], "order": "F", "filters": [{"id": "delta", "dtype": "<i4"}]},
}


@pytest.mark.parametrize("name", WRITTEN)
def test_sherd_reads_what_zarr_python_writes_and_both_edit_it(name, zarr2, read_by_zarr2, tmp_path):
    numpy.save(tmp_path / "in.npy", VALUES)
    zarr2("write", tmp_path / "s", "c1/abc", tmp_path / "in.npy", **WRITTEN[name])
    array = sherd.open_array(tmp_path / "s", path="c1/abc", mode="r+")
    assert (array[...] == VALUES).all()
    array[1:4, 3] = -VALUES[1:4, 3]
    array[6, 4] = 99
    array.attrs["unit"] = "m"
    array.append(VALUES[:2])
    expected = numpy.concatenate([VALUES, VALUES[:2]])
    expected[1:4, 3] *= -1
    expected[6, 4] = 99
    assert (array[...] == expected).all()
    assert (read_by_zarr2(tmp_path / "s", "c1/abc") == expected).all()
    assert [fault["code"] for fault in sherd.check(tmp_path / "s", data=True)["faults"]] == (
        ["document_odd"] if name == "short" else [])


DTYPES = ["bool", "i1", "u1", "<i2", ">i2", "<u4", "<i8", ">u8", "<f2", ">f4", "<f8", "<c8", ">c16", "<M8[ns]", "<m8[us]",
          "<U3", ">U3", "<i2,<f8", ">i2,|V3,>f8"]


def elements_of(dtype):
    dtype = numpy.dtype(dtype)
    raw = numpy.random.default_rng(3).integers(1, 100, 11 * dtype.itemsize, dtype=numpy.uint8).tobytes()
    if dtype.kind == "b":
        return numpy.arange(11) % 3 == 0
    if dtype.kind in "Uc":
        return numpy.array(["a", "bcd", "é", "", "ü"] * 2 + ["x"], dtype) if dtype.kind == "U" else \
            (numpy.arange(11) * (1 + 2j)).astype(dtype)
    return numpy.frombuffer(raw, dtype)


@pytest.mark.parametrize("dtype", [*DTYPES, "|S5"])
def test_sherd_reads_every_type_of_zarr_python(dtype, zarr2, tmp_path):
    data = numpy.array([b"a", b"bcd", b""] * 4, dtype) if dtype == "|S5" else elements_of(dtype)
    numpy.save(tmp_path / "in.npy", data)
    zarr2("write", tmp_path / "s", "", tmp_path / "in.npy", chunks=[2], chunks_per_shard=[[3]])
    assert_equal(sherd.open_array(tmp_path / "s")[...], data)


@pytest.mark.parametrize("dtype", [*DTYPES, "|V3"])
def test_zarr_python_reads_every_type_of_sherd(dtype, read_by_zarr2, tmp_path):
    data = elements_of(dtype)
    native = data.astype(data.dtype.newbyteorder("="))
    array = sherd.draft2022.create_array(tmp_path / "s", dtype=dtype, shape=data.shape, chunks=(2,), chunks_per_shard=(3,))
    array[...] = native
    found = read_by_zarr2(tmp_path / "s")
    assert found.dtype == numpy.dtype(dtype)
    assert found.tobytes() == data.tobytes()


MADE = {
    "defaults": {},
    "chunks": {"chunks": (2, 2)},
    "sharded": {"chunks": (2, 2), "chunks_per_shard": (2, 2), "fill_value": -1},
    "stacked": {"chunks": (1, 1), "chunks_per_shard": [(2, 2), (2, 1)]},
    "three stacked": {"chunks": (1, 1), "chunks_per_shard": [(2, 2), (1, 2), (2, 1)], "compressors": None},
    "order F": {"chunks": (3, 2), "order": "F", "chunks_per_shard": (2, 3)},
    "big-endian": {"chunks": (3, 2), "dtype": ">i4", "chunks_per_shard": (2, 3)},
    "dots": {"chunks": (2, 2), "separator": ".", "chunks_per_shard": (2, 2)},
    "uncompressed": {"chunks": (2, 2), "chunks_per_shard": (4, 4), "compressors": None},
    "gzip": {"compressors": "gzip:1"},
    "blosc": {"chunks": (2, 2), "compressors": "blosc:zlib:9"},
    "lzma": {"compressors": "lzma"},
    "bz2": {"compressors": "bz2"},
    "zlib": {"compressors": "zlib"},
    "lz4": {"compressors": "lz4"},
    "filters": {"compressors": [{"name": "numcodecs.shuffle", "configuration": {"elementsize": 4}}, "gzip:1"]},
}


@pytest.mark.parametrize("name", MADE)
def test_zarr_python_reads_what_sherd_writes_and_both_edit_it(name, zarr2, read_by_zarr2, tmp_path):
    array = sherd.draft2022.create_array(tmp_path / "s", name="g/a", data=VALUES, **MADE[name])
    assert (array[...] == VALUES).all()
    assert (read_by_zarr2(tmp_path / "s", "g/a") == VALUES).all()
    assert json.loads(zarr2("tree", tmp_path / "s")) == {"g": {"a": [7, 5]}}


@pytest.mark.parametrize("location", ["start", "end"])
def test_zarr_python_reads_a_copy_of_what_zarr_v3_has_by_default(location, read_by_zarr2, tmp_path):
    """Shards with a checksum of their index, zstd, and names of dimensions."""
    sherd.create_array(tmp_path / "v3", name="g/a", data=VALUES, chunks=(2, 2), shards=(4, 4), index_location=location,
                       dimension_names=["y", "x"])
    report = sherd.copy(tmp_path / "v3", tmp_path / "draft", to="draft2022")
    assert report["chunks_encoded"] == 0 and report["chunks_moved"] > 0
    assert (read_by_zarr2(tmp_path / "draft", "g/a") == VALUES).all()


@pytest.mark.parametrize("levels", [[[2, 2]], [[2, 1], [1, 2]]])
def test_shards_move_to_zarr_v3_and_back_without_decoding_a_chunk(levels, zarr2, read_by_zarr2, tmp_path):
    numpy.save(tmp_path / "in.npy", VALUES.astype(">i4"))
    zarr2("write", tmp_path / "s", "c1/abc", tmp_path / "in.npy", chunks=[2, 2], chunks_per_shard=levels, order="F",
          fill_value=None)
    document = json.loads((tmp_path / "s/meta/root/c1/abc.array.json").read_text())
    assert document["fill_value"] is None and document["chunk_memory_layout"] == "F" and document["data_type"] == ">i4"
    with sherd.record() as log:
        sherd.copy(tmp_path / "s", tmp_path / "v3", to="zarr3")
        sherd.copy(tmp_path / "v3", tmp_path / "back", to="draft2022")
    assert log.stats["chunks_decoded"] == log.stats["chunks_encoded"] == 0
    assert sherd.open_array(tmp_path / "v3", path="c1/abc").format == "zarr3"
    assert (sherd.open_array(tmp_path / "v3", path="c1/abc")[...] == VALUES).all()
    assert (read_by_zarr2(tmp_path / "back", "c1/abc") == VALUES).all()
    chunks = pathlib.Path("data/root/c1/abc")
    stored = sorted(path.relative_to(tmp_path / "s") for path in (tmp_path / "s" / chunks).rglob("c*/*"))
    assert stored == sorted(path.relative_to(tmp_path / "back") for path in (tmp_path / "back" / chunks).rglob("c*/*"))
    assert all((tmp_path / "s" / name).read_bytes() == (tmp_path / "back" / name).read_bytes() for name in stored)


def test_scalars_are_read_and_written_under_the_key_of_each(zarr2, read_by_zarr2, tmp_path):
    numpy.save(tmp_path / "in.npy", numpy.array(2.5))
    for name, levels in (("plain", []), ("sharded", [[]])):
        zarr2("write", tmp_path / name, "", tmp_path / "in.npy", chunks_per_shard=levels)
        assert sherd.open_array(tmp_path / name)[...] == 2.5
        mine = tmp_path / f"my {name}"
        sherd.draft2022.create_array(mine, data=numpy.array(1.5), chunks=(), chunks_per_shard=() if levels else None)
        assert (mine / "data/root/c0").is_file()
        assert read_by_zarr2(mine) == 1.5
        own = tmp_path / f"seed {name}"
        sherd.draft2022.create_array(own, data=numpy.array(0.5), chunks=(), uri="seed",
                                     chunks_per_shard=() if levels else None)
        assert (own / "data/root/c").is_file()
        assert sherd.open_array(own)[...] == 0.5


def test_the_uri_of_the_draft_itself_is_written_on_request(tmp_path):
    for uri, address in (("zarr-python", "spec/storage_transformers/"), ("seed", "spec/extensions/storage_transformers/")):
        array = sherd.draft2022.create_array(tmp_path / uri, data=VALUES, chunks=(2, 2), chunks_per_shard=(2, 2), uri=uri)
        assert address in array.metadata["storage_transformers"][0]["extension"]
        assert (sherd.open_array(tmp_path / uri)[...] == VALUES).all()
    with pytest.raises(sherd.InvalidArgument, match="seed"):
        sherd.draft2022.create_array(tmp_path / "x", data=VALUES, uri="mine")
    for wrong in ((2,), (2, 0), (2, 2, 2), [(2, 2), (2,)]):
        with pytest.raises(sherd.InvalidArgument, match="chunks_per_shard"):
            sherd.draft2022.create_array(tmp_path / "x", data=VALUES, chunks=(2, 2), chunks_per_shard=wrong)
    with pytest.raises(sherd.InvalidArgument, match="chunks"):
        sherd.draft2022.create_array(tmp_path / "x", data=VALUES, chunks_per_shard=(2, 2))


def test_strings_of_any_length_are_exchanged(zarr2, read_by_zarr2, tmp_path):
    texts = numpy.array(["a", "", "żółw", "x" * 1000, "🐢"], dtype=object)
    numpy.save(tmp_path / "in.npy", texts, allow_pickle=True)
    zarr2("write", tmp_path / "s", "", tmp_path / "in.npy", chunks=[2], object_codec={"id": "vlen-utf8"})
    array = sherd.open_array(tmp_path / "s", mode="r+")
    assert list(array[...]) == list(texts)
    array[1] = "new"
    assert list(read_by_zarr2(tmp_path / "s")) == ["a", "new", *texts[2:]]
    mine = sherd.draft2022.create_array(tmp_path / "m", shape=(5,), dtype="string", chunks=(2,))
    mine[...] = texts
    assert list(read_by_zarr2(tmp_path / "m")) == list(texts)


@pytest.mark.parametrize("value", [-0.0, float("nan"), float("inf"), -float("inf"), 0.1, 2**-1074])
def test_fill_values_are_exchanged(value, zarr2, read_by_zarr2, tmp_path):
    sherd.draft2022.create_array(tmp_path / "s", shape=(3,), dtype="<f8", chunks=(2,), fill_value=value)
    numpy.testing.assert_array_equal(read_by_zarr2(tmp_path / "s"), numpy.full(3, value))
    numpy.save(tmp_path / "in.npy", numpy.full(3, value))
    zarr2("write", tmp_path / "z", "", tmp_path / "in.npy", chunks=[2], write_empty_chunks=False,
          fill_value=repr(value) if value == value and abs(value) != float("inf") else str(value))
    numpy.testing.assert_array_equal(sherd.open_array(tmp_path / "z")[...], numpy.full(3, value))


def test_threads_that_share_a_shard_lose_nothing(read_by_zarr2, tmp_path):
    from concurrent.futures import ThreadPoolExecutor

    array = sherd.draft2022.create_array(tmp_path / "s", shape=(64,), dtype="<i4", chunks=(4,), chunks_per_shard=(16,))

    def write(i):
        array[4 * i : 4 * i + 4] = i + 1

    with ThreadPoolExecutor(16) as pool:
        list(pool.map(write, range(16)))
    assert (read_by_zarr2(tmp_path / "s") == numpy.repeat(numpy.arange(16) + 1, 4)).all()
