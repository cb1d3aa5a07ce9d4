"""Groups, attributes, dimension names and consolidated metadata, between Sherd and zarr-python; and the arrays that
create_array's own keywords make, read by the peers that can."""

import importlib
import json
import shutil

import numpy
import pytest
import sherd

pytestmark = pytest.mark.filterwarnings("ignore:Consolidated metadata is currently not part")
NESTED = {"null": None, "yes": True, "n": 2**53 + 1}
ATTRIBUTES = {"title": "żółw 🐢", "scale": [0.5, 1e-300, -0.0], "nested": NESTED, "": []}
VALUES = numpy.arange(7 * 9, dtype="<i4").reshape(7, 9)


@pytest.fixture
def zarr(peer):
    return importlib.import_module(peer.module)


with_zarr = pytest.mark.parametrize("peer", ["zarr-python"], indirect=True)


def make(library, path):
    """A hierarchy by either library; both have the same names for these things."""
    root = library.create_group(path, attributes=ATTRIBUTES)
    inner = root.create_group("a").create_group("b")
    inner.attrs["depth"] = 2
    keywords = {"chunks": (2, 3), "shards": (4, 6), "dimension_names": ("y", None), "attributes": {"unit": "µm"}}
    array = inner.create_array("numbers", shape=VALUES.shape, dtype="int32", fill_value=-1, **keywords)
    array[:5] = VALUES[:5]
    root.create_array("Größe", shape=(), dtype="float64", fill_value=2.5)
    return root


def assert_same(library, path):
    root = library.open_group(path, mode="r")
    assert dict(root.attrs) == ATTRIBUTES
    assert sorted(root.keys()) == ["Größe", "a"]
    assert "a/b/numbers" in root
    assert root["a/b"].attrs["depth"] == 2
    array = root["a/b/numbers"]
    assert (array.shape, array.chunks, array.shards) == ((7, 9), (2, 3), (4, 6))
    assert dict(array.attrs) == {"unit": "µm"}
    names = array.metadata["dimension_names"] if library is sherd else array.metadata.dimension_names
    assert list(names) == ["y", None]
    assert (array[:5] == VALUES[:5]).all()
    assert (array[5:] == -1).all()
    assert root["Größe"][...] == 2.5


@with_zarr
def test_zarr_python_opens_a_hierarchy_of_sherd(zarr, tmp_path):
    make(sherd, tmp_path / "h")
    assert_same(sherd, tmp_path / "h")
    assert_same(zarr, tmp_path / "h")


@with_zarr
def test_sherd_opens_a_hierarchy_of_zarr_python(zarr, tmp_path):
    make(zarr, tmp_path / "h")
    assert_same(zarr, tmp_path / "h")
    assert_same(sherd, tmp_path / "h")


@with_zarr
def test_zarr_python_reads_what_sherd_consolidates(zarr, tmp_path):
    make(sherd, tmp_path / "h")
    sherd.consolidate_metadata(tmp_path / "h")
    root = zarr.open_consolidated(tmp_path / "h")
    assert sorted(name for name, _ in root.members(max_depth=None)) == ["Größe", "a", "a/b", "a/b/numbers"]
    assert root["a/b"].attrs["depth"] == 2
    assert_same(zarr, tmp_path / "h")


@with_zarr
def test_zarr_python_needs_to_know_every_type_of_consolidated_metadata(zarr, tmp_path):
    sherd.create_group(tmp_path / "h")
    sherd.create_array(tmp_path / "h/known", data=numpy.arange(4))
    sherd.create_array(tmp_path / "h/unknown", shape=4, dtype="int4")
    assert zarr.open_group(tmp_path / "h", mode="r")["known"][3] == 3
    sherd.consolidate_metadata(tmp_path / "h")
    with pytest.raises(ValueError, match="int4"):
        zarr.open_group(tmp_path / "h", mode="r")
    assert zarr.open_group(tmp_path / "h", mode="r", use_consolidated=False)["known"][3] == 3
    assert sherd.open_group(tmp_path / "h")["unknown"].shape == (4,)


@pytest.mark.parametrize("format", ["zarr2", "zarr3"])
@with_zarr
def test_zarr_python_finds_members_of_a_consolidated_group_after_an_edit(zarr, tmp_path, format):
    path = tmp_path / "h"
    sherd.create_group(path, format=format)
    for name in ("a/x", "b/y"):
        sherd.create_array(path, name=name, data=numpy.arange(3))
    sherd.consolidate_metadata(path)
    sherd.create_array(path, name="a/z", data=numpy.arange(3))
    assert sorted(zarr.open_group(path, mode="r")["a"].keys()) == ["x", "z"]
    numpy.testing.assert_array_equal(zarr.open_group(path, mode="r")["a/x"][:], [0, 1, 2])


@pytest.mark.parametrize("format", ["zarr2", "zarr3"])
@with_zarr
def test_check_accepts_what_zarr_python_consolidates_of_nodes_of_sherd(zarr, tmp_path, format):
    path = tmp_path / "h"
    sherd.create_group(path, format=format)
    sherd.create_group(path / "g")
    sherd.create_array(path, name="a", data=numpy.arange(3))
    zarr.consolidate_metadata(path, zarr_format=int(format[-1]))
    assert sherd.check(path)["faults"] == []


@with_zarr
def test_sherd_reads_what_zarr_python_consolidates(zarr, tmp_path):
    make(zarr, tmp_path / "h")
    zarr.consolidate_metadata(tmp_path / "h")
    assert_same(sherd, tmp_path / "h")
    sherd.open_group(tmp_path / "h", mode="r+").attrs["title"] = "changed"
    assert zarr.open_consolidated(tmp_path / "h").attrs["title"] == "changed"


@with_zarr
def test_zarr_python_sees_every_edit_through_consolidated_metadata(zarr, tmp_path):
    make(zarr, tmp_path / "h")
    zarr.consolidate_metadata(tmp_path / "h")
    seen = lambda: zarr.open_consolidated(tmp_path / "h")
    root = sherd.open_group(tmp_path / "h", mode="r+")
    root["a/b/numbers"].attrs["more"] = 1
    assert dict(seen()["a/b/numbers"].attrs) == dict(sherd.open_array(tmp_path / "h/a/b/numbers").attrs)
    array = sherd.open_array(tmp_path / "h/a/b/numbers", mode="r+")
    array.resize((50, *array.shape[1:]))
    assert seen()["a/b/numbers"].shape == array.shape
    root.create_array("a/new/y", data=numpy.arange(4))
    assert seen()["a/new/y"][...].tolist() == [0, 1, 2, 3]
    del root["a/b"]
    assert sorted(name for name, _ in seen().members(max_depth=None)) == ["Größe", "a", "a/new", "a/new/y"]
    assert sherd.check(tmp_path / "h")["faults"] == []


@with_zarr
def test_sherd_is_not_misled_by_what_zarr_python_leaves_behind(zarr, tmp_path):
    make(zarr, tmp_path / "h")
    root = zarr.consolidate_metadata(tmp_path / "h")
    root["a/b/numbers"].resize((50, *root["a/b/numbers"].shape[1:]))
    root.create_array("a/new", data=numpy.arange(4))
    shutil.rmtree(tmp_path / "h/Größe")
    mine = sherd.open_group(tmp_path / "h")
    assert mine["a/b/numbers"].shape[0] == 50
    assert mine.keys() == ["a"] and mine["a"].keys() == ["b", "new"]
    with pytest.raises(KeyError):
        mine["Größe"]
    assert [fault["code"] for fault in sherd.check(tmp_path / "h")["faults"]] == ["consolidated_stale"] * 3


@with_zarr
def test_each_edits_the_attributes_of_the_other_and_loses_nothing(zarr, tmp_path):
    make(zarr, tmp_path / "h")
    before = json.loads((tmp_path / "h/a/b/numbers/zarr.json").read_text())
    sherd.open_array(tmp_path / "h/a/b/numbers", mode="r+").attrs["more"] = 1
    after = json.loads((tmp_path / "h/a/b/numbers/zarr.json").read_text())
    assert after == {**before, "attributes": {"unit": "µm", "more": 1}}
    zarr.open_array(tmp_path / "h/a/b/numbers", mode="r+").attrs["less"] = 2
    assert dict(sherd.open_array(tmp_path / "h/a/b/numbers").attrs) == {"unit": "µm", "more": 1, "less": 2}


@with_zarr
def test_each_appends_to_the_array_of_the_other(zarr, tmp_path):
    for first, second in ((sherd, zarr), (zarr, sherd)):
        path = tmp_path / first.__name__
        first.create_array(path, shape=(3, 9), dtype="int32", chunks=(2, 3), shards=(4, 6))[...] = VALUES[:3]
        second.open_array(path, mode="r+").append(VALUES[3:])
        assert (first.open_array(path, mode="r")[...] == VALUES).all()
        assert (second.open_array(path, mode="r")[...] == VALUES).all()


KEYWORDS = {
    "defaults": {},
    "sharded": {"chunks": (2, 3), "shards": (4, 6)},
    "automatic shards": {"chunks": (2, 3), "shards": "auto"},
    "index at start": {"chunks": (2, 3), "shards": (4, 6), "index_location": "start"},
    "index without checksum": {"chunks": (2, 3), "shards": (4, 6), "index_codecs": ["bytes"]},
    "short names": {"compressors": ["blosc", "crc32c"]},
    "filters": {"filters": [{"name": "transpose", "configuration": {"order": [1, 0]}}], "compressors": ["gzip:6"]},
    "uncompressed": {"compressors": None},
    "numcodecs": {"compressors": ["lz4"]},
    "keys": {"chunk_key_encoding": {"name": "v2", "configuration": {"separator": "/"}}},
}


@pytest.mark.parametrize("keywords", KEYWORDS)
@with_zarr
def test_zarr_python_reads_what_the_keywords_of_create_array_make(zarr, keywords, tmp_path):
    sherd.create_array(tmp_path / "a", data=VALUES, **KEYWORDS[keywords])
    assert (zarr.open_array(tmp_path / "a", mode="r")[...] == VALUES).all()


@with_zarr
def test_codecs_of_zarr_python_are_accepted(zarr, tmp_path):
    compressors = [zarr.codecs.BloscCodec(cname="zstd", shuffle="bitshuffle", typesize=4), zarr.codecs.Crc32cCodec()]
    sherd.create_array(tmp_path / "a", data=VALUES, chunks=(4, 4), compressors=compressors)
    assert (zarr.open_array(tmp_path / "a", mode="r")[...] == VALUES).all()
    assert zarr.open_array(tmp_path / "a", mode="r").compressors == tuple(compressors)
