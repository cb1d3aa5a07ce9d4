"""Zip archives that Python writes: when they are finished, by whom, and what others see until then."""

import pickle
import subprocess
import sys
import zipfile

import numpy as np
import pytest
import sherd
import xarray


def names(archive):
    with zipfile.ZipFile(archive) as opened:
        assert opened.testzip() is None
        return sorted(opened.namelist())


def python(code, folder):
    return subprocess.run([sys.executable, "-c", "import os, sherd\n" + code], cwd=folder, capture_output=True, text=True)


def test_an_archive_is_there_at_the_end_of_with(tmp_path):
    with sherd.create_array(tmp_path / "a.zip", shape=(4, 4), chunks=(2, 4), dtype="u1") as array:
        array[:] = 3
        assert not (tmp_path / "a.zip").exists() and array[1, 1] == 3
    assert names(tmp_path / "a.zip") == ["c/0/0", "c/1/0", "zarr.json"]
    array[0, 0] = 4
    assert sherd.open(tmp_path / "a.zip")[0, 0] == 4, "handles of a process share the archive"
    assert python("print(sherd.open('a.zip')[0, 0])", tmp_path).stdout == "3\n"
    array.close()
    assert python("print(sherd.open('a.zip')[0, 0])", tmp_path).stdout == "4\n"
    assert [path.name for path in tmp_path.iterdir()] == ["a.zip"]


def test_an_archive_without_close_is_finished_when_python_ends(tmp_path):
    ran = python("group = sherd.create_group('a.zip')\ngroup.create_array('x', data=[1, 2, 3])\ngroup.attrs['k'] = 1\ndel group", tmp_path)
    assert ran.returncode == 0, ran.stderr
    group = sherd.open(tmp_path / "a.zip")
    assert group["x"][:].tolist() == [1, 2, 3] and group.attrs["k"] == 1


def test_a_process_that_is_killed_leaves_the_old_archive(tmp_path):
    with sherd.create_array(tmp_path / "a.zip", data=np.zeros(1000, "u1")):
        pass
    before = (tmp_path / "a.zip").read_bytes()
    ran = python("array = sherd.open('a.zip', mode='r+')\narray[:] = 1\nos.kill(os.getpid(), 9)", tmp_path)
    assert ran.returncode == -9
    assert (tmp_path / "a.zip").read_bytes() == before
    with sherd.open(tmp_path / "a.zip", mode="r+") as array:
        array[0] = 2
    assert [path.name for path in tmp_path.iterdir()] == ["a.zip"], "the next writer removes what it left"


def test_another_writing_process_gets_a_conflict_naming_the_archive(tmp_path):
    array = sherd.create_array(tmp_path / "a.zip", data=np.zeros(4, "u1"))
    array.close()
    array[0] = 1
    ran = python("try: sherd.open('a.zip', mode='r+')[1] = 2\nexcept sherd.Conflict as error: print(error)", tmp_path)
    assert "another writer has the zip archive" in ran.stdout and "a.zip" in ran.stdout, ran.stderr
    array.close()
    ran = python("with sherd.open('a.zip', mode='r+') as array: array[1] = 2", tmp_path)
    assert ran.returncode == 0, ran.stderr
    array[2] = 3
    array.close()
    assert python("print(sherd.open('a.zip')[:].tolist())", tmp_path).stdout == "[1, 2, 3, 0]\n"


def test_a_child_of_fork_neither_finishes_nor_damages_its_parents_archive(tmp_path):
    ran = python("""
array = sherd.create_array('a.zip', data=[1, 2, 3])
child = os.fork()
if child == 0:
    array.close()
    raise SystemExit(3 if os.path.exists('a.zip') else 0)
assert os.waitpid(child, 0)[1] == 0
array[0] = 9
""", tmp_path)
    assert ran.returncode == 0, ran.stderr
    assert sherd.open(tmp_path / "a.zip")[:].tolist() == [9, 2, 3] and names(tmp_path / "a.zip") == ["c/0", "zarr.json"]


def test_a_pickled_handle_shows_what_is_finished(tmp_path):
    array = sherd.create_array(tmp_path / "a.zip", data=[1, 2, 3])
    array.close()
    array[0] = 9
    (tmp_path / "array").write_bytes(pickle.dumps(array))
    show = "import pickle\nprint(pickle.load(open('array', 'rb'))[0])"
    assert python(show, tmp_path).stdout == "1\n"
    array.close()
    assert python(show, tmp_path).stdout == "9\n"


def test_arrays_in_archives_are_appended_to_resized_and_deleted(tmp_path):
    with sherd.create_group(tmp_path / "a.zip") as group:
        array = group.create_array("x", shape=(2, 4), chunks=(2, 4), dtype="u1")
        group.create_array("y", data=[1])
        array[:] = 1
        array.append(np.full((2, 4), 2, "u1"))
        array.resize((3, 4))
        del group["y"]
    assert sherd.open(tmp_path / "a.zip")["x"][:, 0].tolist() == [1, 1, 2]
    assert names(tmp_path / "a.zip") == ["x/c/0/0", "x/c/1/0", "x/zarr.json", "zarr.json"]


def test_what_was_written_before_an_exception_is_kept(tmp_path):
    with pytest.raises(KeyError), sherd.create_array(tmp_path / "a.zip", data=[1, 2, 3]) as array:
        array[0] = 5
        raise KeyError
    assert python("print(sherd.open('a.zip')[:].tolist())", tmp_path).stdout == "[5, 2, 3]\n"


def test_what_does_not_fit_on_the_disk_can_be_written_when_there_is_room(tmp_path):
    ran = python("""
import resource
def limit(size):
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))
array = sherd.create_array('a.zip', shape=(4, 65536), chunks=(1, 65536), dtype='u1', codecs=['bytes'])
limit(150_000)
written = []
for row in range(4):
    try:
        array[row] = row + 1
        written.append(row)
    except sherd.Io as error:
        assert 'a.zip' in str(error), error
assert written == [0, 1], written
array.close()
print(sherd.open('a.zip')[:, 0].tolist())
array[2] = 3
try:
    array.close()
    print('closed')
except sherd.Io as error:
    assert 'a.zip' in str(error), error
limit(resource.RLIM_INFINITY)
array[3] = 4
array.close()
""", tmp_path)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout == "[1, 2, 0, 0]\n"
    assert names(tmp_path / "a.zip") == [f"c/{row}/0" for row in range(4)] + ["zarr.json"]
    assert sherd.open(tmp_path / "a.zip")[:, 0].tolist() == [1, 2, 3, 4]
    assert [path.name for path in tmp_path.iterdir()] == ["a.zip"]


def test_collections_and_values_by_id_are_finished_by_close_and_by_with(tmp_path):
    sharding = sherd.neuroglancer.choose_sharding_for_values(100, 1000)
    info = sherd.neuroglancer.SkeletonInfo.from_json({"@type": "neuroglancer_skeletons", "sharding": sharding})
    skeleton = sherd.neuroglancer.Skeleton(np.zeros((2, 3), "f4"), np.array([[0, 1]]))
    with sherd.neuroglancer.Collection.create(tmp_path / "a.zip", info, path="skeletons") as skeletons:
        skeletons.write(5, skeleton)
    assert "skeletons/info" in names(tmp_path / "a.zip")
    skeletons.write(6, skeleton)
    skeletons.close()
    with sherd.neuroglancer.ShardedStore(f"{tmp_path}/a.zip/values", sharding, mode="r+") as values:
        values.put(7, b"seven")
    code = ("found = sherd.neuroglancer.Collection('a.zip', path='skeletons')\n"
            "assert [found.read(id).edges.tolist() for id in (5, 6)] == [[[0, 1]]] * 2\n"
            f"print(sherd.neuroglancer.ShardedStore('a.zip/values', {sharding!r}).get(7))")
    ran = python(code, tmp_path)
    assert ran.stdout == "b'seven'\n", ran.stderr
    with sherd.neuroglancer.ShardedStore(sherd.MemoryStore(), sharding, mode="r+") as values:
        values.put(1, b"one")
    assert values.get(1) == b"one"


def test_100000_chunks_are_written_in_bounded_memory(tmp_path):
    code = """
import resource
import numpy as np
def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
group = sherd.create_group('a.zip')
array = group.create_array('x', shape=100_000, chunks=1, dtype='u4')
array[:100] = np.arange(1, 101)
before = peak()
array[100:] = np.arange(101, 100_001)
group.close()
print((peak() - before) // 1024)
"""
    ran = python(code, tmp_path)
    assert ran.returncode == 0, ran.stderr
    assert int(ran.stdout) < 128, "MiB: about 500 bytes for each member, and the directory"
    with zipfile.ZipFile(tmp_path / "a.zip") as opened:
        assert len(opened.namelist()) == 100_002
    assert (sherd.open(tmp_path / "a.zip")["x"][:] == np.arange(1, 100_001)).all()


def test_xarray_reads_a_dataset_that_was_copied_into_an_archive(tmp_path):
    dataset = xarray.Dataset({"v": (("y", "x"), np.arange(12.0).reshape(3, 4))}, attrs={"title": "t"})
    dataset.to_zarr(tmp_path / "a.zarr", zarr_format=2)
    sherd.copy(tmp_path / "a.zarr", tmp_path / "a.zip", raw=True)
    with xarray.open_dataset(tmp_path / "a.zip", engine="sherd", chunks={"y": 3}) as opened:
        xarray.testing.assert_identical(opened.load(), dataset)
