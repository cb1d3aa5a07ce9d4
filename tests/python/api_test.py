"""The package as a user meets it: arrays, groups, attributes, stores, settings."""

import json
import os
import pathlib
import re
import subprocess
import sys
import warnings

import numpy as np
import pytest
import sherd


@pytest.fixture
def volume(tmp_path):
    return sherd.create_array(
        tmp_path / "a.zarr",
        shape=(60, 40),
        dtype="uint16",
        chunks=(10, 8),
        shards=(30, 40),
        fill_value=7,
        dimension_names=("y", None),
        attributes={"unit": "mm"},
    )


def test_an_array_describes_itself(volume, tmp_path):
    assert volume.shape == (60, 40)
    assert volume.dtype == np.dtype("uint16")
    assert (volume.ndim, volume.size, len(volume)) == (2, 2400, 60)
    assert (volume.chunks, volume.shards) == ((10, 8), (30, 40))
    assert [codec["name"] for codec in volume.codecs] == ["sharding_indexed"]
    assert volume.fill_value == 7 and volume.fill_value.dtype == np.uint16
    assert volume.dimension_names == ("y", None)
    assert dict(volume.attrs) == {"unit": "mm"}
    assert volume.metadata["data_type"] == "uint16"
    assert not volume.read_only
    assert volume.path == ""
    assert volume.url == f"file://{tmp_path}/a.zarr"
    assert volume.format == "zarr3"
    assert "a.zarr" in repr(volume) and "(60, 40)" in repr(volume)


def test_info_is_a_dict_that_prints_as_a_table(volume):
    assert volume.info["shape"] == (60, 40)
    assert volume.info["shards"] == (30, 40)
    lines = repr(volume.info).splitlines()
    assert len(lines) == len(volume.info)
    assert lines[3].split() == ["shape", "(60,", "40)"]


@pytest.mark.parametrize("dtype", ["<i4", "|S3", [["x", "<i2"], ["y", "<f8"]]], ids=str)
def test_info_of_an_array_of_zarr_v2_has_the_type_of_its_document(dtype):
    native = dtype if isinstance(dtype, str) else [tuple(field) for field in dtype]
    array = sherd.create_array(sherd.MemoryStore(), shape=(4,), dtype=native, format="zarr2")
    assert array.info["dtype"] == dtype
    assert array.info["fill_value"] == array.metadata[".zarray"]["fill_value"]
    assert str(dtype) in repr(array.info)


def test_what_was_never_written_is_the_fill_value(volume):
    assert np.array_equal(volume[...], np.full((60, 40), 7, "uint16"))
    assert volume.nchunks_initialized == 0
    volume[0, 0] = 1
    assert volume.nchunks_initialized == 1


def test_an_array_is_resized_and_appended_to(volume):
    volume[...] = 1
    volume.resize((20, 40))
    assert volume.shape == (20, 40)
    volume.resize((40, 40))
    assert np.array_equal(volume[...], np.repeat([1, 7], 20)[:, None] * np.ones((1, 40), int))
    assert volume.append(np.full((5, 40), 9)) == (45, 40)
    assert volume.append(np.full((45, 2), 8), axis=-1) == (45, 42)
    assert np.all(volume[40:45, :40] == 9) and np.all(volume[:, 40:] == 8)
    other = sherd.open_array(volume.url, mode="r+")
    assert volume.append(np.full((2, 42), 3)) == (47, 42)
    assert other.append(np.full((1, 42), 4)) == (48, 42)
    with pytest.raises(IndexError):
        volume.append(np.zeros((1, 1)), axis=2)
    with pytest.raises(sherd.InvalidArgument):
        volume.append(np.zeros((5, 41)))


def test_a_one_dimensional_array_is_resized_by_an_int():
    array = sherd.create_array(sherd.MemoryStore(), shape=5, dtype="int8", chunks=2)
    array.resize(9)
    assert array.shape == (9,) and array.chunks == (2,)


def test_numpy_functions_accept_an_array(volume):
    volume[...] = np.arange(2400).reshape(60, 40)
    assert np.array_equal(np.asarray(volume), volume[...])
    assert np.asarray(volume, dtype="float32").dtype == np.float32
    assert volume[...].mean() == np.mean(volume)
    with pytest.raises(ValueError):
        np.array(volume, copy=False)


def test_read_fills_a_given_array(volume):
    volume[...] = np.arange(2400).reshape(60, 40)
    out = np.zeros((5, 40), "uint16")
    assert volume.read(np.s_[2:7], out=out) is out
    assert np.array_equal(out, volume[2:7])
    raw = bytearray(5 * 40 * 2)
    volume.read(np.s_[2:7], out=raw)
    assert bytes(raw) == volume[2:7].tobytes()
    assert np.array_equal(volume.read(), volume[...])


def test_attributes_are_a_mapping_whose_update_is_one_write(volume, tmp_path):
    with sherd.record() as log:
        volume.attrs.update({"a": 1, "b": [1, 2.5, None, {"c": "d"}]}, e=True)
    assert [request["op"] for request in log.requests].count("put") == 1
    again = sherd.open(tmp_path / "a.zarr")
    assert dict(again.attrs) == {"unit": "mm", "a": 1, "b": [1, 2.5, None, {"c": "d"}], "e": True}
    del volume.attrs["a"]
    volume.attrs["nothing"] = None
    assert volume.attrs.asdict() == {"unit": "mm", "b": [1, 2.5, None, {"c": "d"}], "e": True, "nothing": None}
    assert volume.attrs.pop("b")[0] == 1 and "b" not in volume.attrs
    with pytest.raises(KeyError):
        del volume.attrs["a"]
    with pytest.raises(sherd.InvalidArgument):
        volume.attrs["nan"] = float("nan")
    with pytest.raises(sherd.InvalidArgument):
        volume.attrs["object"] = object()
    volume.attrs.put({"only": np.int64(2**62)})
    assert dict(volume.attrs) == {"only": 2**62}
    volume.attrs.clear()
    assert len(volume.attrs) == 0


@pytest.mark.parametrize("kind", ["array", "group"])
def test_an_edit_of_attributes_keeps_changes_of_another_handle(tmp_path, kind):
    node = tmp_path / "node"
    if kind == "array":
        sherd.create_array(node, shape=4, dtype="uint8")
    else:
        sherd.create_group(node)
    one, other = (sherd.open(node, mode="r+") for _ in range(2))
    other.attrs.update(x=1, y=2)
    one.attrs["nothing"] = None
    assert dict(sherd.open(node).attrs) == {"x": 1, "y": 2, "nothing": None}
    other.attrs["z"] = 3
    del one.attrs["z"]  # which this handle has never seen
    with pytest.raises(KeyError):
        del other.attrs["z"]  # which it has
    with pytest.raises(KeyError):
        del other.attrs[5]
    assert dict(sherd.open(node).attrs) == {"x": 1, "y": 2, "nothing": None} == other.attrs.asdict()


def test_setting_an_attribute_to_none_keeps_changes_of_another_handle(tmp_path):
    sherd.create_group(tmp_path / "g.zarr", attributes={"old": 1})
    first, second = (sherd.open(tmp_path / "g.zarr", mode="r+") for _ in range(2))
    second.attrs["theirs"] = 1.5
    first.attrs.update(ours=None, more=[None])
    assert sherd.open(tmp_path / "g.zarr").attrs.asdict() == {"old": 1, "theirs": 1.5, "ours": None, "more": [None]}
    del second.attrs["old"]
    assert sherd.open(tmp_path / "g.zarr").attrs.asdict() == {"theirs": 1.5, "ours": None, "more": [None]}


def test_attributes_keep_integers_of_any_size_and_numpy_values(volume):
    volume.attrs.update(big=10**30, array=np.arange(3), real=np.float32(0.5), flag=np.bool_(True))
    assert volume.attrs.asdict() == {"unit": "mm", "big": 10**30, "array": [0, 1, 2], "real": 0.5, "flag": True}


def test_groups_hold_arrays_and_groups(tmp_path):
    root = sherd.create_group(tmp_path / "g.zarr", attributes={"version": 1})
    root.create_group("b/c")
    array = root.create_array("b/x", shape=(4,), dtype="int32", chunks=(2,))
    root.create_array("a", data=np.arange(3))
    assert root.keys() == ["a", "b"] and list(root) == ["a", "b"] and len(root) == 2
    assert [name for name, _ in root.arrays()] == ["a"]
    assert [name for name, _ in root.groups()] == ["b"]
    assert [(name, type(node)) for name, node in root.members()] == [("a", sherd.Array), ("b", sherd.Group)]
    assert "b/x" in root and "b/y" not in root and "" not in root and 5 not in root
    for nobodys in ("..", "a/../b", "a\0", "x" * 300, "\udc80", "zarr.json"):
        assert nobodys not in root
    array[...] = 5
    assert np.array_equal(root["b/x"][...], [5, 5, 5, 5])
    assert root["b"]["x"].path == "b/x"
    assert dict(root.attrs) == {"version": 1}
    assert str(root.tree()).splitlines() == ["/", "├── a (3,) int64", "└── b", "    ├── c", "    └── x (4,) int32"]
    del root["b"]
    assert "b" not in root and root.keys() == ["a"]
    for path in ("b", "a/b"):
        with pytest.raises(KeyError):
            root[path]
        with pytest.raises(KeyError):
            del root[path]


def test_a_broken_member_does_not_hide_others_and_causes_a_warning(tmp_path):
    root = sherd.create_group(tmp_path)
    root.create_array("a", shape=(1,), dtype="u1")
    root.create_group("g")
    damaged = root.create_array("new", shape=(1,), dtype="u1").metadata | {"codecs": [{"name": "wavpack"}]}
    (tmp_path / "new/zarr.json").write_text(json.dumps(damaged))
    (tmp_path / "torn").mkdir()
    (tmp_path / "torn/zarr.json").write_text("{")
    assert list(root) == root.keys() == ["a", "g", "new", "torn"] and len(root) == 4
    for members, names, broken in [(root.members, ["a", "g"], "new torn"), (root.arrays, ["a"], "new torn"), (root.groups, ["g"], "torn")]:
        with pytest.warns(sherd.BrokenMemberWarning) as warned:
            assert [name for name, _ in members()] == names
        assert [str(each.message).split("'")[1] for each in warned] == broken.split()
        assert all(each.filename == __file__ for each in warned)
    lines = str(root.tree()).splitlines()
    assert lines[:3] == ["/", "├── a (1,) uint8", "├── g"]
    assert lines[3].startswith("├── new ! 'new/zarr.json' codecs[0].name: the codec 'wavpack'") and lines[4].startswith("└── torn ! 'torn/zarr.json'")
    with pytest.raises(sherd.Corrupt):
        root["torn"]
    with pytest.raises(sherd.Unsupported):
        root["new"]
    with pytest.raises(sherd.Corrupt):
        sherd.consolidate_metadata(tmp_path)
    del root["torn"], root["new"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(root.members()) == 2


@pytest.mark.parametrize("name", ["a b", "a%20b", "a?b#c", "100%", "é日🗿", "a:b", "\\"])
def test_the_url_of_a_node_opens_it_again(tmp_path, name):
    store = sherd.Store(tmp_path / f"s {name}")
    array = sherd.create_array(store, name=f"g/{name}", data=np.arange(3))
    again = sherd.open(array.url)
    assert again.url == array.url and np.array_equal(again[...], array[...])
    group = sherd.open(store, path="g")
    assert sherd.open(group.url).keys() == [name]
    assert sherd.check(array)["ok"] and sherd.copy(group, tmp_path / "copy")["arrays"] == 1


def test_consolidated_metadata_saves_requests(tmp_path):
    root = sherd.create_group(tmp_path)
    for name in "abc":
        root.create_array(name, shape=(1,), dtype="u1")
    with sherd.record() as plain:
        sherd.open(tmp_path).keys()
    group = sherd.consolidate_metadata(tmp_path)
    assert isinstance(group, sherd.Group)
    with sherd.record() as consolidated:
        assert sherd.open(tmp_path).keys() == ["a", "b", "c"]
    assert len(consolidated.requests) == 2 < len(plain.requests)


def test_a_store_is_bytes_by_key(tmp_path):
    for store in (sherd.MemoryStore(), sherd.Store(tmp_path)):
        sherd.create_array(store, name="a/b", data=np.arange(4, dtype="u1"), chunks=(4,), compressors=None)
        assert store.keys() == ["a/b/c/0", "a/b/zarr.json", "a/zarr.json", "zarr.json"]
        assert store.get("a/b/c/0") == b"\0\1\2\3"
        store.set("a/b/c/0", b"\3\2\1\0")
        assert sherd.open(store, path="a/b")[0] == 3
        assert store.erase("a/b/c/0") and not store.erase("a/b/c/0")
        assert store.get("a/b/c/0") is None
        assert store.url in repr(store)


def test_the_array_keeps_its_store_alive():
    array = sherd.create_array(sherd.MemoryStore(), data=np.arange(5))
    indexer = array.oindex
    del array
    assert np.array_equal(indexer[[4, 0]], [4, 0])


def test_check_reports_what_is_wrong(tmp_path):
    array = sherd.create_array(tmp_path / "a", data=np.arange(100), chunks=(10,))
    report = sherd.check(array, data=True)
    assert report["ok"] and report["checked"]["chunks"] == 10
    (tmp_path / "a" / "c" / "3").write_bytes(b"damage")
    report = sherd.check(tmp_path / "a", data=True)
    assert not report["ok"]
    assert [fault["key"] for fault in report["faults"]] == ["c/3"]


def test_nodes_that_have_no_store_of_their_own_are_checked_by_their_url(tmp_path):
    draft = sherd.draft2022.create_array(tmp_path / "draft", name="g/a", data=np.arange(8), chunks=(2,))
    scale = {"size": [4, 4, 4], "resolution": [1, 1, 1], "chunk_sizes": [[4, 4, 4]], "key": "s"}
    sherd.neuroglancer.create_precomputed(tmp_path / "volume", type="image", dtype="uint8", scales=[scale])
    sherd.open_array(tmp_path / "volume" / "s", mode="r+")[...] = 1
    assert sherd.check(draft)["checked"]["chunks"] == 4
    assert sherd.check(tmp_path / "draft" / "g" / "a")["checked"]["chunks"] == 4
    assert sherd.check(tmp_path / "volume" / "s")["checked"]["chunks"] == 1


def test_copy_changes_the_layout(tmp_path):
    data = np.arange(400).reshape(20, 20)
    source = sherd.create_array(tmp_path / "a", data=data, chunks=(5, 5))
    report = sherd.copy(source, tmp_path / "b", chunks=(10, 10), shards=(20, 20), codecs=["gzip:1"])
    assert report["arrays"] == 1
    copied = sherd.open(tmp_path / "b")
    assert (copied.chunks, copied.shards) == ((10, 10), (20, 20))
    assert np.array_equal(copied[...], data)
    with pytest.raises(sherd.NotFound):
        sherd.copy(sherd.MemoryStore(), tmp_path / "c")


def test_a_store_in_memory_is_a_store_for_every_function():
    store, other = sherd.MemoryStore(), sherd.MemoryStore()
    sherd.create_array(store, name="g/a", data=np.arange(10), chunks=(4,))
    assert sherd.copy(store, other, chunks=(5,)) == {
        "arrays": 1, "groups": 2, "shards": 2, "shards_skipped": 0, "chunks_moved": 0, "chunks_encoded": 2,
        "dangling_kept": {}, "dangling_dropped": {}, "warnings": []}
    assert np.array_equal(sherd.open(other, path="g/a")[...], np.arange(10))
    assert sherd.check(other, data=True)["ok"]
    other.set("g/a/c/1", b"broken")
    assert not sherd.check(other, True, path="g/a")["ok"]
    with pytest.raises(sherd.InvalidArgument, match="pass its MemoryStore"):
        sherd.check(sherd.open(other))


def test_settings_of_a_handle_override_the_defaults(tmp_path):
    sherd.create_array(tmp_path, data=np.arange(12).reshape(3, 4))
    assert sherd.open(tmp_path)[...].flags.c_contiguous
    assert sherd.open(tmp_path, config={"order": "F"})[...].flags.f_contiguous
    sherd.config.order = "F"
    try:
        assert sherd.open(tmp_path)[...].flags.f_contiguous
        assert sherd.open(tmp_path, config={"order": "C"})[...].flags.c_contiguous
    finally:
        sherd.config.order = "C"


def test_settings_are_checked(tmp_path):
    with pytest.raises(sherd.InvalidArgument, match="the settings are threads"):
        sherd.create_group(tmp_path, config={"thread": 1})
    for name, value in [("threads", -1), ("threads", True), ("threads", "2"), ("cache", "all"), ("durable", 1), ("order", "A"),
                        ("max_unused", 2), ("gzip_level", 10), ("gzip_level", -1), ("limits", {"depth": 1}), ("limits", 3), ("memory_budget", 2**64)]:
        with pytest.raises(sherd.InvalidArgument) as error:
            sherd.config.set(cache_bytes=1, **{name: value})
        assert error.value.member == f"config.{name}"
    assert sherd.config.cache_bytes == 64 << 20, "all or none"
    with pytest.raises(AttributeError):
        sherd.config.thread = 1
    assert "threads = 0" in repr(sherd.config)


@pytest.mark.parametrize("setting", [{"layout": "hdf5"}])
def test_planned_settings_are_refused_by_name(tmp_path, setting):
    (name,) = setting
    with pytest.raises(sherd.Unsupported, match="not supported by this version") as error:
        sherd.create_group(tmp_path / "g", config=setting)
    assert name in str(error.value)
    with pytest.raises(sherd.Unsupported):
        sherd.config.set(**setting)
    assert not (tmp_path / "g").exists()


def test_planned_settings_are_attributes_that_raise(tmp_path):
    for name, now in [("update", "auto"), ("layout", "plain")]:
        assert getattr(sherd.config, name) == now
        setattr(sherd.config, name, now)
        sherd.create_group(tmp_path / name, config={name: now})
    with pytest.raises(sherd.Unsupported, match='"hdf5" is not supported by this version'):
        sherd.config.layout = "hdf5"


def test_slack_is_a_number_of_bytes_or_a_share():
    assert sherd.config.slack == 0
    try:
        for value in [4096, 0.25]:
            sherd.config.slack = value
            assert sherd.config.slack == value and type(sherd.config.slack) is type(value)
    finally:
        sherd.config.slack = 0
    for wrong in [-1, 1.5, "4KiB", None]:
        with pytest.raises((sherd.InvalidArgument, TypeError)):
            sherd.config.slack = wrong


def test_limits_are_changed_by_assigning_them():
    before = sherd.config.limits
    assert before["dimensions"] == 32 and dict(before) == before
    with pytest.raises(TypeError, match="sherd.config.limits = {'chunk_bytes': 5}"):
        before["chunk_bytes"] = 5
    try:
        sherd.config.limits = {"chunk_bytes": 5}
        assert sherd.config.limits["chunk_bytes"] == 5 and sherd.config.limits["dimensions"] == 32
        assert before["chunk_bytes"] == 2 << 30, "what was asked for before"
    finally:
        sherd.config.limits = before
    assert sherd.config.limits == before
    with pytest.raises(TypeError):
        del before["chunk_bytes"]


@pytest.mark.parametrize(("text", "limit"), [("4096", 4096), ("3MiB", 3 << 20), ("1.5 KiB", 1536), ("2G", 2 << 30), ("1kB", 1000)])
def test_the_environment_raises_limits_as_it_does_for_the_command(text, limit):
    program = "import sherd; print(sherd.config.limits['metadata_bytes'], sherd.config.limits['dimensions'])"
    ran = subprocess.run([sys.executable, "-c", program], env=os.environ | {"SHERD_LIMIT_METADATA_BYTES": text}, capture_output=True, text=True)
    assert ran.stdout.split() == [str(limit), "32"], ran.stderr


def test_a_limit_in_the_environment_must_be_a_size():
    ran = subprocess.run([sys.executable, "-c", "import sherd"], env=os.environ | {"SHERD_LIMIT_INDEX_BYTES": "much"}, capture_output=True, text=True)
    assert ran.returncode == 1 and "SHERD_LIMIT_INDEX_BYTES: 'much' is not a size" in ran.stderr


def test_a_limit_is_named_by_its_error(tmp_path):
    with pytest.raises(sherd.Unsupported, match="dimensions"):
        sherd.create_array(tmp_path, shape=(1, 1, 1), dtype="u1", config={"limits": {"dimensions": 2}})


def test_a_missing_chunk_can_be_an_error():
    store = sherd.MemoryStore()
    sherd.create_array(store, shape=(4,), dtype="u1", chunks=(2,))
    with pytest.raises(sherd.NotFound) as error:
        sherd.open(store, config={"missing_is_error": True})[3]
    assert error.value.key == "c/1"


def test_results_own_aligned_memory():
    array = sherd.create_array(sherd.MemoryStore(), shape=(3 << 20,), dtype="u2", chunks=(1 << 20,), fill_value=3)
    whole, part = array[:], array[:10]
    assert whole.ctypes.data % (2 << 20) == 0 and part.ctypes.data % 64 == 0
    assert whole.flags.writeable and whole.flags.aligned
    del array
    assert whole.sum() == 9 << 20


def mapping_flags(address):
    """What the kernel was asked for about the memory at an address."""
    inside = False
    for line in pathlib.Path("/proc/self/smaps").read_text().splitlines():
        if bounds := re.match(r"([0-9a-f]+)-([0-9a-f]+) ", line):
            inside = int(bounds[1], 16) <= address < int(bounds[2], 16)
        elif inside and line.startswith("VmFlags:"):
            return line.split()[1:]
    raise AssertionError("the mapping is missing")


def test_large_results_ask_for_huge_pages():
    array = sherd.create_array(sherd.MemoryStore(), shape=(32 << 20,), dtype="u2", chunks=(1 << 20,), fill_value=3)
    whole = array[:]
    assert "hg" in mapping_flags(whole.ctypes.data) and "hg" in mapping_flags(whole.ctypes.data + whole.nbytes - 1)
