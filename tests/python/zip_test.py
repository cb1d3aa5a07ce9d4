"""Zip archives in Python, and copies of objects as they are."""

import pathlib
import pickle
import struct
import zipfile

import numpy as np
import pytest
import xarray

import sherd


@pytest.fixture
def archive(tmp_path):
    group = sherd.create_group(tmp_path / "a.zarr")
    group.create_array("inner", data=np.arange(24, dtype="u2").reshape(4, 6), chunks=(2, 3), shards=(4, 3))
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as to:
        for path in sorted((tmp_path / "a.zarr").rglob("*")):
            if path.is_file():
                to.write(path, path.relative_to(tmp_path / "a.zarr"))
    return tmp_path / "a.zip"


def test_an_archive_opens_by_its_path_and_by_urls(archive):
    for name in (archive, str(archive), f"file://{archive}|zip:", f"zip::file://{archive}"):
        group = sherd.open(name)
        assert list(group.keys()) == ["inner"]
        assert (group["inner"][:] == np.arange(24).reshape(4, 6)).all()
    array = sherd.open_array(f"{archive}|zip:inner")
    assert array[1, 2] == 8 and array.store.url.endswith("a.zip|zip:inner")


def test_a_handle_of_an_archive_is_pickled(archive):
    array = pickle.loads(pickle.dumps(sherd.open(archive)["inner"]))
    assert array[3, 5] == 23


def test_handles_are_context_managers(archive, tmp_path):
    with sherd.open(archive) as group, group["inner"] as array:
        assert array[0, 1] == 1
    with sherd.create_array(tmp_path / "b.zarr", shape=4, dtype="u1") as array:
        array[:] = 7
    array.close()
    assert sherd.open(tmp_path / "b.zarr")[2] == 7
    with sherd.Store(tmp_path / "b.zarr") as store:
        assert "zarr.json" in store.keys()


def test_a_name_may_say_the_format(tmp_path):
    sherd.create_array(f"{tmp_path}/a|zarr2:", shape=4, dtype="u1")
    assert (tmp_path / "a/.zarray").exists()
    assert sherd.open(f"zarr2://{tmp_path}/a").shape == (4,)
    with pytest.raises(sherd.NotFound, match="its format is zarr2"):
        sherd.open(f"{tmp_path}/a|zarr3:")
    with pytest.raises(sherd.InvalidArgument, match="says the format zarr2, and zarr3 was asked for"):
        sherd.open(f"{tmp_path}/a|zarr2:", zarr_format=3)
    sherd.copy(f"{tmp_path}/a", f"{tmp_path}/b|zarr3:")
    assert (tmp_path / "b/zarr.json").exists()


def test_xarray_reads_a_dataset_in_an_archive(tmp_path):
    xarray.Dataset({"v": ("y", np.arange(5.0))}).to_zarr(tmp_path / "d.zarr", consolidated=True, zarr_format=2)
    with zipfile.ZipFile(tmp_path / "d.zip", "w") as to:
        for path in sorted((tmp_path / "d.zarr").rglob("*")):
            if path.is_file():
                to.write(path, path.relative_to(tmp_path / "d.zarr"))
    for name in (tmp_path / "d.zip", f"{tmp_path}/d.zip#mode=zarr,zip"):
        with xarray.open_dataset(name, engine="sherd") as dataset:
            assert dataset.v.values.tolist() == [0, 1, 2, 3, 4]


def test_a_raw_copy_has_every_object_as_it_is(archive, tmp_path):
    (tmp_path / "a.zarr/readme.txt").write_text("text")
    report = sherd.copy(tmp_path / "a.zarr", tmp_path / "b", raw=True)
    assert report["objects"] == sum(path.is_file() for path in (tmp_path / "a.zarr").rglob("*")) and report["objects_skipped"] == 0
    assert (tmp_path / "b/readme.txt").read_text() == "text"
    assert sherd.copy(tmp_path / "a.zarr", tmp_path / "b", raw=True, resume=True)["objects"] == 0
    with pytest.raises(sherd.Conflict, match="contains objects"):
        sherd.copy(archive, tmp_path / "b", raw=True)
    with pytest.raises(sherd.InvalidArgument, match="only be combined with resume and overwrite"):
        sherd.copy(archive, tmp_path / "c", raw=True, chunks=(2, 2))
    sherd.copy(archive, pathlib.Path(tmp_path / "c"), raw=True)
    assert sherd.open(tmp_path / "c")["inner"][1, 2] == 8


def add_sparse_shard(archive, size):
    """Appends the shard `c/0` of two chunks of a byte each, the first and the last before its index, to an archive of one member."""
    with zipfile.ZipFile(archive) as before:
        (first,) = before.infolist()
        start = before.start_dir
    sizes = struct.pack("<HHQQ", 1, 16, size, size)
    with open(archive, "r+b") as file:
        file.seek(start)
        record = file.read(46 + len(first.filename))
        file.seek(start)
        file.truncate()
        file.write(struct.pack("<4s5H3I2H", b"PK\3\4", 45, 0, 0, 0, 33, 0, 2**32 - 1, 2**32 - 1, 3, 20) + b"c/0" + sizes)
        data = file.tell()
        file.write(b"\3")
        file.seek(data + size - 33)
        file.write(b"\7" + struct.pack("<4Q", 0, 1, size - 33, 1))
        end = file.tell()
        record += struct.pack("<4s6H3I5H2I", b"PK\1\2", 45, 45, 0, 0, 0, 33, 0, 2**32 - 1, 2**32 - 1, 3, 20, 0, 0, 0, 0, start) + b"c/0" + sizes
        file.write(record)
        file.write(struct.pack("<4sQ2H2I4Q", b"PK\6\6", 44, 45, 45, 0, 0, 2, 2, len(record), end))
        file.write(struct.pack("<4sIQI", b"PK\6\7", 0, end + len(record), 1))
        file.write(struct.pack("<4s4H2IH", b"PK\5\6", 0, 0, 2, 2, len(record), 2**32 - 1, 0))


def test_a_member_of_5_gib_is_read_where_it_is(tmp_path):
    sherd.create_array(tmp_path / "a.zarr", shape=2, dtype="u1", chunks=1, shards=2, compressors=None, index_codecs=["bytes"])
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as to:
        to.write(tmp_path / "a.zarr/zarr.json", "zarr.json")
    add_sparse_shard(tmp_path / "a.zip", 5 * 2**30)
    assert (tmp_path / "a.zip").stat().st_blocks * 512 < 2**20, "the file is sparse"
    assert [each.file_size for each in zipfile.ZipFile(tmp_path / "a.zip").infolist()][1:] == [5 * 2**30]
    with sherd.record() as log:
        assert sherd.open(tmp_path / "a.zip")[:].tolist() == [3, 7]
    assert log.stats["bytes_read"] < 2**20
    assert sherd.Store(tmp_path / "a.zip").size("c/0") == 5 * 2**30


def test_an_archive_of_100000_members_is_read(tmp_path):
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as to:
        for number in range(100_000):
            to.writestr(f"x/{number}", str(number))
    store = sherd.Store(tmp_path / "a.zip")
    assert len(store.keys()) == 100_000 and len(store.list_dir("x/")) == 100_000
    assert all(store.get(f"x/{number}") == str(number).encode() for number in range(0, 100_000, 997))
