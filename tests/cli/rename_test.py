"""rename: a node at another path of its hierarchy."""

import os
import pathlib
import tempfile
import threading

import numpy
import pytest
import zarr
from dependencies import missing

import sherd as library


@pytest.fixture
def study(sherd, tmp_path):
    sherd.ok("create", "s.zarr/raw/a", "--shape", "4,6", "--dtype", "uint8", "--chunks", "2,3", "--shards", "4,6")
    sherd.ok("write", "s.zarr/raw/a", "--value", "7")
    sherd.ok("create", "s.zarr/raw/b", "--shape", "4", "--dtype", "uint8")
    return tmp_path / "s.zarr"


def test_a_node_has_its_elements_at_the_new_path(sherd, study):
    assert sherd.ok("rename", "s.zarr/raw/a", "c").stderr == "renamed s.zarr/raw/a to s.zarr/raw/c\n"
    assert sherd("info", "s.zarr/raw/a").code == 3
    assert (zarr.open(study / "raw/c")[:] == 7).all()
    sherd.ok("rename", "s.zarr/raw/c", "/final/best/a")
    assert sorted(path for path, _ in zarr.open(study).members(max_depth=None)) == ["final", "final/best", "final/best/a", "raw", "raw/b"]
    assert sherd.ok("check", "s.zarr", "--data").text


def test_a_new_path_may_be_written_as_mv_has_it(sherd, study):
    assert sherd.ok("rename", "s.zarr/raw/a", "s.zarr/final/c").stderr == "renamed s.zarr/raw/a to s.zarr/final/c\n"
    assert sherd.ok("rename", study / "raw/b", study / "raw/d", "--json").json == {"before": f"{study}/raw/b", "url": f"{study}/raw/d"}
    assert sorted(path for path, _ in zarr.open(study).members(max_depth=None)) == ["final", "final/c", "raw", "raw/d"]


def test_a_group_takes_its_members_along_and_consolidated_metadata_follow(sherd, study):
    sherd.ok("consolidate", "s.zarr")
    sherd.ok("rename", "s.zarr/raw", "old", "--quiet")
    listed = zarr.open_consolidated(study)
    assert sorted(path for path, _ in listed.members(max_depth=None)) == ["old", "old/a", "old/b"]
    assert (listed["old/a"][:] == 7).all()


@pytest.mark.parametrize("url, new, code, message", [
    ("s.zarr/raw/a", "b", 6, "exists here already"), ("s.zarr/raw/zz", "b", 3, "directory does not exist: s.zarr/raw/zz; tried"),
    ("s.zarr/raw", "/raw/x", 2, "inside it"), ("s.zarr", "t.zarr", 2, "with mv"), ("s.zarr/raw/a", "b/c", 6, "has no members"),
    ("s.zarr/raw/a", "../c", 2, "'..'"), ("s.zarr/raw/a", "file:///tmp/c", 2, "not a URL"),
    ("s.zarr/raw/a", "__c", 2, "__c"),
])
def test_a_wrong_name_is_refused_and_changes_nothing(sherd, study, url, new, code, message):
    before = sorted(path for path in study.rglob("*"))
    ran = sherd("rename", url, new)
    assert ran.code == code and message in ran.stderr, ran.stderr
    assert sorted(path for path in study.rglob("*")) == before


def test_a_scale_of_a_volume_is_refused(sherd, tmp_path):
    sherd.ok("create", "em", "--store-format", "precomputed", "--shape", "4,4,4", "--dtype", "uint8", "--resolution", "8,8,40")
    ran = sherd("rename", "em/8_8_40", "x")
    assert ran.code == 5 and "scales of a volume cannot be moved" in ran.stderr


def test_other_files_at_the_new_path_are_a_conflict(sherd, study):
    (study / "notes").mkdir()
    (study / "notes/readme.txt").write_text("text")
    assert sherd("rename", "s.zarr/raw/a", "/notes").code == 6
    assert (study / "notes/readme.txt").read_text() == "text"


def test_python_moves_members_of_a_group(study):
    group = library.open_group(study, mode="r+")
    group.move("raw/a", "x/y")
    group["raw"].move("b", "/z")
    assert [path for path, _ in group.members(None)] == ["raw", "x", "x/y", "z"] and numpy.all(group["x/y"][...] == 7)
    with pytest.raises(KeyError):
        group.move("zz", "a")
    with pytest.raises(library.Conflict):
        group.move("z", "x/y")


def test_a_live_writer_of_a_renamed_array_loses_nothing(sherd, study):
    sherd.ok("create", "s.zarr/raw/x", "--shape", "64", "--dtype", "uint8", "--chunks", "4")
    stored, begun, ended = [0] * 64, threading.Event(), threading.Event()

    def write():
        array, i = library.open_array(study / "raw/x", mode="r+"), 0
        while not ended.is_set() or i < 200:
            value = i % 250 + 1
            try:
                array[i % 64] = value
                stored[i % 64] = value
                i += 1
                begun.set()
            except library.Conflict:
                array = library.open_array(study / "a/b/x", mode="r+")

    writer = threading.Thread(target=write)
    writer.start()
    assert begun.wait(60)
    try:
        sherd.ok("rename", "s.zarr/raw/x", "/a/b/x")
    finally:
        ended.set()
        writer.join()
    assert list(library.open_array(study / "a/b/x")[...]) == stored and all(stored)
    assert not list(study.glob(".sherd-*"))


def test_a_linked_array_is_renamed_as_a_link(sherd, study, tmp_path):
    (study / "raw/a").rename(tmp_path / "disk")
    (study / "raw/a").symlink_to(tmp_path / "disk")
    sherd.ok("rename", "s.zarr/raw/a", "/new/a")
    assert (study / "new/a").readlink() == tmp_path / "disk" and (zarr.open(study / "new/a")[:] == 7).all()


def test_what_cannot_be_renamed_in_one_step_is_refused_and_stays(sherd, study, tmp_path):
    """The link is relative, and would lead elsewhere from the new path."""
    (study / "raw/a").rename(tmp_path / "disk")
    (study / "raw/a").symlink_to("../../disk")
    before = sorted(study.rglob("*"))
    ran = sherd("rename", "s.zarr/raw/a", "/a")
    assert ran.code == 5 and "this store cannot rename a node; copy it ('sherd copy'), then remove it ('sherd rm')" in ran.stderr, ran.stderr
    with pytest.raises(library.Unsupported):
        library.open_group(study, mode="r+").move("raw/a", "a")
    assert sorted(study.rglob("*")) == before
    sherd.ok("copy", "s.zarr/raw/a", "s.zarr/a")
    sherd.ok("rm", "s.zarr/raw/a")
    assert (zarr.open(study / "a")[:] == 7).all()


@pytest.fixture
def elsewhere(study):
    """A directory on another file system, to which the group `disk` of the study is a link."""
    device = study.stat().st_dev
    base = next((each for each in ("/dev/shm", "/var/tmp", "/tmp") if os.path.isdir(each) and os.stat(each).st_dev != device), None)
    if base is None:
        missing("a second file system, such as /dev/shm")
    with tempfile.TemporaryDirectory(dir=base) as folder:
        (study / "disk").symlink_to(folder)
        yield pathlib.Path(folder)


def test_a_rename_to_another_file_system_is_refused_without_a_trace(sherd, study, elsewhere):
    sherd.ok("create", "s.zarr/disk", "--group")
    sherd.ok("create", "s.zarr/disk/x", "--shape", "4", "--dtype", "uint8")
    sherd.ok("consolidate", "s.zarr")

    def everything():
        return {path: path.is_file() and path.read_bytes() for root in (study, elsewhere) for path in root.rglob("*")}

    before = everything()
    group = library.open_group(study, mode="r+")
    for path, new in (("raw/a", "disk/a"), ("raw/a", "disk/new/deep/a"), ("disk/x", "x"), ("disk/x", "new/x")):
        ran = sherd("rename", f"s.zarr/{path}", f"/{new}")
        assert ran.code == 5 and "copy it ('sherd copy'), then remove it ('sherd rm')" in ran.stderr, ran.stderr
        assert everything() == before
        with pytest.raises(library.Unsupported, match="sherd copy"):
            group.move(path, new)
        assert everything() == before
    sherd.ok("rename", "s.zarr/disk/x", "/disk/new/x")
    sherd.ok("copy", "s.zarr/raw/a", "s.zarr/disk/new/a")
    sherd.ok("rm", "s.zarr/raw/a")
    assert (zarr.open(study / "disk/new/a")[:] == 7).all() and (elsewhere / "new/x/zarr.json").exists()


def test_a_file_at_the_new_path_is_a_conflict_and_stays(sherd, study):
    (study / "raw/notes").write_text("mine")
    ran = sherd("rename", "s.zarr/raw/a", "/raw/notes")
    assert ran.code == 6 and "raw/notes" in ran.stderr, ran.stderr
    with pytest.raises(library.Conflict):
        library.open_group(study, mode="r+").move("raw/a", "raw/notes")
    assert (study / "raw/notes").read_text() == "mine" and (zarr.open(study / "raw/a")[:] == 7).all()
