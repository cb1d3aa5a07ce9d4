"""Nodes that are created below groups to which they may not belong."""

import json

import numpy
import pytest
import zarr

import sherd as library

EMPTY = {"zarr_format": 3, "node_type": "group", "attributes": {}}


@pytest.fixture
def stray(tmp_path):
    """A document that a viewer has left above a directory of data."""
    (tmp_path / "work/data").mkdir(parents=True)
    (tmp_path / "work/zarr.json").write_text(json.dumps(EMPTY))
    (tmp_path / "x.raw").write_bytes(bytes(range(64)))
    return tmp_path / "work"


RAW = ("--shape", "4,4,4", "--dtype", "uint8")


@pytest.mark.parametrize("format", ["precomputed", "zarr2", "zarr3"])
def test_an_empty_group_does_not_capture_what_is_below_other_directories(sherd, stray, format):
    sherd.ok("import", "x.raw", "work/data/v", "--to", format, *RAW,
             *(["--axes", "x,y,z", "--resolution", "1,1,1"] if format == "precomputed" else []))
    assert sorted(path.name for path in (stray / "data").iterdir()) == ["v"]
    assert sherd.ok("read", "work/data/v", "--format", "raw").stdout == bytes(range(64))


def test_a_group_contains_what_is_created_through_its_path(sherd, stray):
    sherd.ok("import", "x.raw", "work/images/left", *RAW)
    assert (stray / "images/zarr.json").exists()
    (stray / "data/notes.txt").write_text("")
    sherd.ok("import", "x.raw", "work/data/v", *RAW)  # the group is not empty any more
    assert (stray / "data/zarr.json").exists()
    assert numpy.array_equal(zarr.open_group(stray)["images/left"][:].ravel(), range(64))


def test_the_error_of_another_hierarchy_says_how_to_go_on(sherd, stray):
    ran = sherd("import", "x.raw", "work/v", "--to", "zarr2", *RAW)
    assert ran.code == 6 and "--standalone" in ran.stderr
    sherd.ok("import", "x.raw", "work/v", "--to", "zarr2", "--standalone", *RAW)
    assert zarr.open_array(stray / "v", mode="r").metadata.zarr_format == 2
    assert json.loads((stray / "zarr.json").read_text()) == EMPTY


@pytest.mark.parametrize("command", [
    ["create", "g/a", "--shape", "8", "--dtype", "uint8"], ["create", "g/a", "--group"], ["copy", "b.zarr", "g/a"],
    ["copy", "b.zarr", "g/a", "--to", "zarr2"], ["import", "x.raw", "g/a", *RAW], None,
], ids=["create", "group", "copy", "copy_zarr2", "import", "python"])
def test_a_standalone_node_in_place_of_a_member_is_not_listed(sherd, stray, tmp_path, command):
    sherd.ok("create", "g", "--group")
    for path in ("b.zarr", "g/a", "g/b"):
        sherd.ok("create", path, "--shape", "4", "--dtype", "uint8")
    sherd.ok("consolidate", "g")
    if command:
        sherd.ok(*command, "--overwrite", "--standalone")
    else:
        library.create_array(tmp_path / "g/a", shape=8, dtype="u1", overwrite=True, storage_options={"standalone": True})
    assert [path for path, _ in zarr.open_consolidated(tmp_path / "g").members()] == ["b"]
    assert {fault["severity"] for fault in sherd.ok("check", "g", "--json").json["faults"]} == {"warning"}


def test_errors_of_copy_and_ncgen_in_another_hierarchy_say_how_to_go_on(sherd, tmp_path):
    (tmp_path / "work").mkdir()
    (tmp_path / "work/zarr.json").write_text(json.dumps({**EMPTY, "attributes": {"a": 1}}))
    sherd.ok("create", "a.zarr", "--shape", "4", "--dtype", "uint8")
    (tmp_path / "x.cdl").write_text("netcdf x { dimensions: n = 1; variables: int v(n); data: v = 1; }")
    for command in (["copy", "a.zarr", "work/a", "--to", "zarr2"], ["ncgen", "-o", "work/x", "x.cdl"]):
        ran = sherd(*command)
        assert ran.code == 6 and "--standalone" in ran.stderr, ran.stderr
        sherd.ok(*command, "--standalone")


@pytest.fixture
def image(sherd, tmp_path):
    (tmp_path / "x.raw").write_bytes(bytes(range(64)))
    sherd.ok("import", "x.raw", "img.zarr", *RAW, "--axes", "z,y,x", "--spacing", "2,3,4", "--units", "nm", "--pyramid", "mean:2")


def test_a_standalone_copy_has_what_the_group_says_about_its_source(sherd, image, tmp_path):
    sherd.ok("copy", "--to", "zarr3", "img.zarr/0", "plain.zarr")
    sherd.ok("copy", "--to", "zarr3", "--standalone", "img.zarr/0", "out")
    attributes = [zarr.open_array(tmp_path / name, mode="r").attrs.asdict() for name in ("plain.zarr", "out")]
    assert attributes[0] == attributes[1] and attributes[1]["spacing"] == [2, 3, 4]


def test_only_commands_that_create_nodes_have_the_option(sherd, image, tmp_path):
    for command in (["rm", "img.zarr/1"], ["rename", "img.zarr/1", "b"], ["info", "img.zarr"]):
        ran = sherd(command[0], "--standalone", *command[1:])
        assert ran.code == 2 and "--standalone" in ran.stderr
    for command in ("rm", "img.zarr/1"), ("rename", "img.zarr/1", "b"):
        ran = sherd(*command, "--store-option", "standalone=true")
        assert ran.code == 2 and "storage_options.standalone" in ran.stderr
    assert (tmp_path / "img.zarr/1/zarr.json").exists()


def test_what_is_opened_by_itself_stays_listed_in_its_group(sherd, image, tmp_path):
    sherd.ok("consolidate", "img.zarr")
    sherd.ok("attrs", "img.zarr/1", "seen=true", "--store-option", "standalone=true")
    assert zarr.open_consolidated(tmp_path / "img.zarr")["1"].attrs["seen"]
