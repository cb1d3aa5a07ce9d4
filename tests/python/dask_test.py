"""sherd.dask: arrays of dask from Sherd's arrays, and into them."""

import dask
import dask.array as da
import numpy as np
import pytest
import sherd
import sherd.dask
import zarr

DATA = np.arange(40 * 30, dtype="u2").reshape(40, 30)
pytestmark = pytest.mark.filterwarnings("error")


@pytest.fixture(autouse=True)
def one_thread():
    with dask.config.set(scheduler="synchronous"):
        yield


@pytest.fixture
def array(tmp_path):
    return sherd.create_array(tmp_path / "a.zarr", data=DATA, chunks=(5, 5), shards=(20, 10))


def written(log):
    """How often each object of chunks was written."""
    keys = [request["key"] for request in log.requests if request["op"] == "put" and "/c/" in f"/{request['key']}"]
    return sorted(keys)


def test_an_array_is_read_by_one_task_for_each_stored_object(array, tmp_path):
    lazy = sherd.dask.from_zarr(array)
    assert lazy.chunksize == (20, 10) and lazy.dtype == "u2" and np.array_equal(lazy.compute(), DATA)
    assert sherd.dask.from_zarr(sherd.zeros((8, 8), chunks=(3, 8))).chunks == ((3, 3, 2), (8,))
    assert sherd.dask.from_zarr(sherd.array(np.arange(10), chunks=[[4, 6]])).chunks == ((4, 6),)
    with sherd.record() as log:
        assert np.array_equal(lazy[3:20, 7].compute(), DATA[3:20, 7])
    assert {request["key"] for request in log.requests} == {"c/0/0"}
    assert np.array_equal(lazy[[1, 30]][:, [2, 25]].compute(), DATA[[1, 30]][:, [2, 25]])


def test_an_array_is_named_by_any_handle_path_or_component(array, tmp_path):
    group = sherd.create_group(tmp_path / "g.zarr")
    group["in/ner"] = DATA
    for found in (sherd.dask.from_zarr(tmp_path / "a.zarr"), sherd.dask.from_zarr(f"{tmp_path}/g.zarr", "in/ner"),
                  sherd.dask.from_zarr(group, component="in/ner"), sherd.dask.from_zarr(array.store)):
        assert np.array_equal(found.compute(), DATA)
    assert sherd.dask.from_zarr(array).name == sherd.dask.from_zarr(sherd.open(tmp_path / "a.zarr", mode="r+")).name
    assert sherd.dask.from_zarr(array, chunks=(40, 30)).npartitions == 1


def test_a_new_array_has_the_chunks_of_dask(tmp_path):
    lazy = da.from_array(DATA, chunks=(16, 30))
    assert sherd.dask.to_zarr(lazy, tmp_path / "b.zarr") is None
    made = zarr.open(tmp_path / "b.zarr")
    assert made.chunks == (16, 30) and np.array_equal(made[...], DATA)
    group = sherd.create_group(sherd.MemoryStore())
    sherd.dask.to_zarr(lazy, group, "x/y", chunks=(4, 6), shards=(20, 30), compressors="zstd:1")
    assert group["x/y"].shards == (20, 30) and np.array_equal(group["x/y"][...], DATA)
    sherd.dask.to_zarr(da.from_array(np.arange(10), chunks=((2, 5, 3),)), tmp_path / "c.zarr")
    assert zarr.open(tmp_path / "c.zarr").chunks == (5,)


@pytest.mark.parametrize("chunks", [(7, 4), (20, 10), (40, 30), (30, 15), (1, 30)])
def test_each_stored_object_is_written_once(array, chunks):
    writable = array
    with sherd.record() as log:
        sherd.dask.to_zarr(da.from_array(DATA + 1, chunks=chunks), writable)
    assert np.array_equal(writable[...], DATA + 1)
    assert written(log) == sorted(f"c/{i}/{j}" for i in range(2) for j in range(3))


def test_a_region_is_replaced(array):
    writable = array
    lazy = da.zeros((30, 10), dtype="u2", chunks=(9, 10))
    with sherd.record() as log:
        sherd.dask.to_zarr(lazy, writable, region=np.s_[5:35, 15:25])
    wanted = DATA.copy()
    wanted[5:35, 15:25] = 0
    assert np.array_equal(writable[...], wanted) and written(log) == ["c/0/1", "c/0/2", "c/1/1", "c/1/2"]
    sherd.dask.to_zarr(da.ones((20, 30), dtype="u2", chunks=7), writable, region=slice(None, None, 2))
    assert (writable[::2] == 1).all() and np.array_equal(writable[1::2], wanted[1::2])


def test_arguments_are_those_of_dask(array, tmp_path):
    lazy = da.from_array(DATA, chunks=20)
    later = sherd.dask.to_zarr(lazy, tmp_path / "b.zarr", compute=False)
    assert sherd.open(tmp_path / "b.zarr").nchunks_initialized == 0
    later.compute()
    assert np.array_equal(sherd.open(tmp_path / "b.zarr")[...], DATA)
    stored = sherd.dask.to_zarr(lazy, tmp_path / "b.zarr", mode="w", return_stored=True)
    assert np.array_equal(stored.compute(), DATA)
    with pytest.raises(sherd.Conflict):
        sherd.dask.to_zarr(lazy, tmp_path / "b.zarr")


def test_wrong_arguments_are_named(array, tmp_path):
    lazy = da.from_array(DATA, chunks=20)
    group = sherd.create_group(tmp_path / "g.zarr")
    for call, member in [
        (lambda: sherd.dask.from_zarr(group), "component"), (lambda: sherd.dask.from_zarr(array, "x"), "component"),
        (lambda: sherd.dask.from_zarr(array, config={"threads": 1}), "config"),
        (lambda: sherd.dask.to_zarr(lazy, tmp_path / "b", region=np.s_[:2]), "region"),
        (lambda: sherd.dask.to_zarr(lazy, array, region=np.s_[:2]), "region"),
        (lambda: sherd.dask.to_zarr(lazy, array, region=3), "region"), (lambda: sherd.dask.to_zarr(lazy, array, chunks=(2, 2)), "chunks"),
        (lambda: sherd.dask.to_zarr(lazy, tmp_path / "b", mode="r"), "mode"),
        (lambda: sherd.dask.to_zarr(lazy[lazy > 3], tmp_path / "b"), "arr"),
    ]:  # fmt: skip
        with pytest.raises(sherd.InvalidArgument) as caught:
            call()
        assert caught.value.member == member
    with pytest.raises(sherd.InvalidArgument, match="read"):
        sherd.dask.to_zarr(lazy, sherd.open_array(array.store))


def test_other_processes_read_and_write(array, tmp_path):
    with dask.config.set({"scheduler": "processes", "num_workers": 2, "multiprocessing.context": "spawn"}):
        sherd.dask.to_zarr(sherd.dask.from_zarr(array) + 1, tmp_path / "b.zarr")
    assert np.array_equal(sherd.open(tmp_path / "b.zarr")[...], DATA + 1)


def test_dask_itself_does_not_accept_handles(array):
    """Where this changes, sherd.dask is not needed any more."""
    with pytest.raises(TypeError, match="Unsupported type for store_like"):
        da.from_zarr(array)


def test_importing_sherd_does_not_import_dask():
    import subprocess
    import sys

    code = "import sherd, sys; print('dask' in sys.modules, 'zarr' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip() == "False False"
