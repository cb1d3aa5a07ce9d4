"""Copies and lists of objects as they are."""

import datetime
import filecmp

import pytest
from archives import zipped


@pytest.fixture
def store(sherd, tmp_path):
    sherd.ok("create", "a.zarr/x", "--shape", "100", "--dtype", "uint8", "--chunks", "10")
    sherd.ok("write", "a.zarr/x", "--select", ":", "-i", "-", input=bytes(range(1, 101)))
    (tmp_path / "a.zarr/readme.txt").write_text("text")
    return sherd


def files(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def test_a_raw_copy_has_every_object_as_it_is(store, tmp_path):
    ran = store.ok("copy", "--raw", "a.zarr", "b.zarr", "--json")
    names = files(tmp_path / "a.zarr")
    assert files(tmp_path / "b.zarr") == names and "readme.txt" in names
    assert filecmp.cmpfiles(tmp_path / "a.zarr", tmp_path / "b.zarr", names, shallow=False)[0] == names
    assert ran.json == {"objects": len(names), "bytes": sum((tmp_path / "a.zarr" / each).stat().st_size for each in names), "objects_skipped": 0}


def test_a_raw_copy_unpacks_an_archive(store, tmp_path):
    zipped(tmp_path / "a.zarr", tmp_path / "a.zip")
    assert "objects" in store.ok("copy", "--raw", "a.zip", "b.zarr").stderr
    assert files(tmp_path / "b.zarr") == files(tmp_path / "a.zarr")


def test_a_raw_copy_is_resumed_or_replaced_only_on_request(store, tmp_path):
    store.ok("copy", "--raw", "a.zarr", "b.zarr")
    (tmp_path / "b.zarr/readme.txt").write_text("TEXT")
    (tmp_path / "b.zarr/x/c/0").unlink()
    ran = store("copy", "--raw", "a.zarr", "b.zarr")
    assert ran.code == 6 and "contains objects" in ran.stderr and "b.zarr" in ran.stderr, ran.stderr
    assert store.ok("copy", "--raw", "a.zarr", "b.zarr", "--resume", "--json").json["objects"] == 2
    assert (tmp_path / "b.zarr/readme.txt").read_text() == "text"
    (tmp_path / "b.zarr/more.txt").write_text("more")
    ran = store.ok("copy", "--raw", "a.zarr", "b.zarr", "--overwrite", "--json")
    assert ran.json["objects_skipped"] == 0 and (tmp_path / "b.zarr/more.txt").exists()


def test_a_raw_copy_does_not_mix_arrays(store, tmp_path):
    store.ok("create", "b.zarr/x", "--shape", "9,9", "--dtype", "uint8", "--chunks", "9,9")
    store.ok("write", "b.zarr/x", "--select", ":", "-i", "-", input=bytes(range(81)))
    names = files(tmp_path / "b.zarr")
    ran = store("copy", "--raw", "a.zarr", "b.zarr", "--overwrite")
    assert ran.code == 6 and "'x/c/0/0', which the source does not have; erase" in ran.stderr, ran.stderr
    assert files(tmp_path / "b.zarr") == names


def test_a_raw_copy_changes_nothing_of_the_objects(store, tmp_path):
    for option in (["--chunks", "5"], ["--to", "zarr2"], ["--select", "1:2"], ["--pyramid", "mean"]):
        ran = store("copy", "--raw", "a.zarr", "b.zarr", *option)
        assert ran.code == 2 and "--raw copies objects as they are" in ran.stderr, ran.stderr
    ran = store("copy", "--raw", "a.zarr", "a.zarr/b")
    assert ran.code == 2 and "one lies inside the other" in ran.stderr, ran.stderr
    assert not (tmp_path / "b.zarr").exists() and not (tmp_path / "a.zarr/b").exists()


def test_a_raw_list_has_every_key(store, tmp_path):
    names = files(tmp_path / "a.zarr")
    assert store.ok("ls", "--raw", "a.zarr").text.split() == names
    stored = (tmp_path / "a.zarr/x/c/0").stat()
    modified = datetime.datetime.fromtimestamp(int(stored.st_mtime), datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    assert store.ok("ls", "--raw", "-l", "a.zarr/x").text.splitlines()[0].split() == [str(stored.st_size), modified, "c/0"]
    listed = store.ok("ls", "--raw", "a.zarr", "--json").json
    assert [each["key"] for each in listed] == names
    chunk = next(each for each in listed if each["key"] == "x/c/0")
    assert (chunk["size"], chunk["modified"]) == (stored.st_size, modified) and len({each["generation"] for each in listed}) == len(names)
    zipped(tmp_path / "a.zarr", tmp_path / "a.zip")
    assert store.ok("ls", "--raw", "a.zip").text.split() == names


def test_progress_of_a_raw_copy_ends_at_the_total(store):
    ran = store.ok("copy", "--raw", "a.zarr", "b.zarr", "--progress=always")
    assert "100%" in ran.stderr, ran.stderr


def test_a_raw_copy_of_nothing_is_an_error(sherd, tmp_path):
    (tmp_path / "empty").mkdir()
    for name, says in (("none", "directory does not exist: none; tried\n"), ("none.zip", "zip archive does not exist: none.zip; tried\n"),
                       ("empty", "no objects at empty\n")):
        for to in ("b", "b.zip"):
            ran = sherd("copy", "--raw", name, to)
            assert ran.code == 3 and says in ran.stderr and not (tmp_path / to).exists(), ran.stderr
