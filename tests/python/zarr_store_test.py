"""sherd.zarr_store: zarr-python on the objects of a sherd.Store. Compared with zarr-python's own MemoryStore."""

import asyncio
import pickle

import dask.array as da
import numpy as np
import pytest
import sherd
import zarr
from zarr.abc.store import OffsetByteRequest, RangeByteRequest, SuffixByteRequest
from zarr.core.buffer import default_buffer_prototype

DATA = np.arange(60, dtype="i4").reshape(6, 10)
PROTOTYPE = default_buffer_prototype()


def buffer(value):
    return PROTOTYPE.buffer.from_bytes(value)


def test_zarr_python_and_sherd_open_the_same_arrays_in_memory():
    store = sherd.MemoryStore()
    ours = sherd.create_array(store, name="g/a", data=DATA, chunks=(2, 5), shards=(4, 10))
    group = zarr.open_group(sherd.zarr_store(store), mode="r+")
    assert np.array_equal(group["g/a"][...], DATA) and np.array_equal(group["g/a"][3, 4:6], DATA[3, 4:6])
    group["g/a"][0, :5] = 9
    assert ours[0, 2] == 9 and ours[1, 2] == 12
    group.create_array("b", data=DATA, chunks=(3, 10), shards=(6, 10))
    assert np.array_equal(sherd.open(store)["b"][...], DATA)
    del group["g"]
    assert sherd.open(store).keys() == ["b"]


async def collected(names):
    return sorted([name async for name in names])


async def do_all(store):
    """What comes of every operation of zarr.abc.store.Store."""
    for key in ("zarr.json", "a/zarr.json", "a/c/0", "a/c/1", "abx"):
        await store.set(key, buffer(key.encode()))
    await store.set("a/c/1", buffer(b"0123456789"))
    await store.set_if_not_exists("a/c/1", buffer(b"other"))
    await store.set_if_not_exists("empty", buffer(b""))
    await store.delete("abx")
    await store.delete("not there")
    ranges = [None, RangeByteRequest(2, 5), RangeByteRequest(8, 20), OffsetByteRequest(7), OffsetByteRequest(0), SuffixByteRequest(3),
              SuffixByteRequest(30)]  # fmt: skip
    values = [await store.get("a/c/1", PROTOTYPE, each) for each in ranges]
    values += await store.get_partial_values(PROTOTYPE, [("a/c/1", each) for each in ranges] + [("zz", None), ("empty", None)])
    values += [await store.get(key, PROTOTYPE, SuffixByteRequest(4)) for key in ("zz", "empty")]
    return {
        "values": [None if value is None else value.to_bytes() for value in values],
        "exists": [await store.exists(key) for key in ("a/c/1", "a/c", "zz", "abx")],
        "sizes": [await store.getsize("a/c/1"), await store.getsize_prefix("a/")],
        "lists": [await collected(store.list()), *[await collected(store.list_prefix(p)) for p in ("", "a/", "a", "a/c/", "zz")]],
        "directories": [await collected(store.list_dir(p)) for p in ("", "a", "a/", "a/c", "zz")],
        "empty": [await store.is_empty(p) for p in ("", "a", "zz")],
        "deleted": (await store.delete_dir("a/c"), await collected(store.list())),
        "cleared": (await store.clear(), await collected(store.list())),
    }


def test_every_operation_does_what_the_store_of_zarr_python_does(tmp_path):
    wanted = asyncio.run(do_all(zarr.storage.MemoryStore()))
    for store in (sherd.MemoryStore(), sherd.Store(tmp_path)):
        assert asyncio.run(do_all(sherd.zarr_store(store))) == wanted
    with pytest.raises(FileNotFoundError):
        asyncio.run(sherd.zarr_store(sherd.MemoryStore()).getsize("zz"))
    with pytest.raises(TypeError, match="Buffer"):
        asyncio.run(sherd.zarr_store(sherd.MemoryStore()).set("a", b"bytes"))


def test_dask_reads_and_writes_through_it():
    store = sherd.MemoryStore()
    sherd.save(store, DATA, path="a")
    lazy = da.from_zarr(sherd.zarr_store(store), component="a")
    assert np.array_equal(lazy.compute(), DATA)
    da.to_zarr(lazy + 1, zarr.open_array(sherd.zarr_store(store), path="a", mode="r+"))
    assert np.array_equal(sherd.open(store)["a"][...], DATA + 1)


def test_a_read_only_store_is_not_written_to(tmp_path):
    store = sherd.Store(tmp_path)
    sherd.save(store, DATA)
    for made in (sherd.zarr_store(store, read_only=True), sherd.zarr_store(store).with_read_only(True)):
        with pytest.raises(ValueError, match="read-only"):
            asyncio.run(made.set("x", buffer(b"1")))
        assert np.array_equal(zarr.open_array(made)[...], DATA)
    assert zarr.open_array(sherd.zarr_store(store), mode="r").store.read_only


def test_stores_are_compared_and_pickled_by_their_urls(tmp_path):
    store = sherd.zarr_store(sherd.Store(tmp_path))
    assert pickle.loads(pickle.dumps(store)) == store == sherd.zarr_store(sherd.Store(tmp_path))
    assert store != sherd.zarr_store(sherd.Store(tmp_path), read_only=True) and "sherd" in repr(store)
    memory = sherd.MemoryStore()
    assert sherd.zarr_store(memory) == sherd.zarr_store(memory) != sherd.zarr_store(sherd.MemoryStore())


def test_a_store_returns_ranges_and_names(tmp_path):
    for store in (sherd.MemoryStore(), sherd.Store(tmp_path)):
        store.set("a/b", b"0123456789")
        assert store.get("a/b", 3) == b"3456789" and store.get("a/b", 3, 2) == b"34" and store.get("a/b", -2) == b"89"
        assert store.get("a/b", -20, 3) == b"012" and store.get("a/b", 20) == b"" == store.get("a/b", 0, 0) and store.get("zz", 1) is None
        assert (store.size("a/b"), store.size("zz")) == (10, None)
        assert (store.list_dir(), store.list_dir("a/"), store.list_dir("zz/")) == (["a/"], ["b"], [])
        with pytest.raises(TypeError, match="Store"):
            sherd.zarr_store(str(tmp_path))
