"""rename: a node at another path of its hierarchy."""

import numpy
import pytest
import zarr

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
    ("s.zarr/raw/a", "b", 6, "exists here already"), ("s.zarr/raw/zz", "b", 3, "no node exists here"),
    ("s.zarr/raw", "/raw/x", 2, "inside it"), ("s.zarr", "t.zarr", 2, "as by mv"), ("s.zarr/raw/a", "b/c", 6, "has no members"),
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
