"""create, info, tree and ls: what is made and how it is shown."""

import json

import pytest

FULL = ["--shape", "10,20", "--dtype", "float32", "--chunks", "2,5", "--shards", "10,10", "--codec", "gzip:6",
        "--codec", '{"name": "crc32c"}', "--fill-value", "NaN", "--index-location", "start",
        "--attributes", '{"a": [1, 2]}', "--dimension-names", "y,x"]


def test_create_takes_every_option_of_an_array(sherd, tmp_path):
    sherd.ok("create", "a.zarr", *FULL)
    document = json.loads((tmp_path / "a.zarr/zarr.json").read_text())
    sharding = document["codecs"][0]["configuration"]
    assert document["shape"] == [10, 20] and document["data_type"] == "float32"
    assert document["chunk_grid"]["configuration"]["chunk_shape"] == [10, 10]
    assert sharding["chunk_shape"] == [2, 5] and sharding["index_location"] == "start"
    assert [codec["name"] for codec in sharding["codecs"]] == ["bytes", "gzip", "crc32c"]
    assert document["fill_value"] == "NaN"
    assert document["attributes"] == {"a": [1, 2]} and document["dimension_names"] == ["y", "x"]


def test_info_reports_the_fields_that_programs_rely_on(sherd, tmp_path):
    sherd.ok("create", "a.zarr", *FULL)
    sherd.ok("write", "a.zarr", "--select", "0,0", "--value", "1")
    info = sherd.ok("info", "a.zarr", "--json").json
    stored = (tmp_path / "a.zarr/c/0/0").stat().st_size
    codecs = info.pop("codecs")
    assert info == {
        "url": f"file://{tmp_path}/a.zarr", "format": "zarr3", "node_type": "array", "shape": [10, 20],
        "dtype": "float32", "chunks": [2, 5], "shards": [10, 10], "fill_value": "NaN", "dimension_names": ["y", "x"],
        "attributes": {"a": [1, 2]}, "stored": {"objects": 1, "bytes": stored}}
    assert codecs == json.loads((tmp_path / "a.zarr/zarr.json").read_text())["codecs"]
    assert "stored" not in sherd.ok("info", "a.zarr", "--json", "--no-stored").json


def test_info_for_people_speaks_of_sizes_counts_and_codecs(sherd):
    sherd.ok("create", "a.zarr", "--shape", "2048,1024", "--dtype", "uint8", "--chunks", "64,64", "--shards", "1024,1024",
             "--codec", "zstd:3", "--dimension-names", "y,x", "--attributes", '{"unit": "nm"}')
    rows = {line[:12].strip(): line[12:].split("  ") for line in sherd.ok("info", "a.zarr").text.splitlines()}
    parts = {label: [part.strip() for part in cells if part.strip()] for label, cells in rows.items()}
    assert parts["shape"] == ["(2048, 1024)", "2 MiB"]
    assert parts["shards"] == ["(1024, 1024)", "2 shards of 1 MiB"]
    assert parts["chunks"] == ["(64, 64)", "512 chunks of 4 KiB"]
    assert parts["codecs"] == ["bytes, zstd (level 3, checksum false)"]
    assert parts["index"] == ["at the end: bytes (endian little), crc32c"]
    assert parts["dimensions"] == ["y, x"]
    assert parts["attributes"] == ["unit", '"nm"']
    assert parts["stored"] == ["0 objects, 0 B"]


def test_info_tells_how_much_smaller_what_is_stored_is(sherd, tmp_path):
    sherd.ok("create", "a", "--shape", "1000", "--dtype", "uint8", "--codec", "bytes")
    sherd.ok("write", "a", "--value", "1")
    assert "1 object, 1000 B" in sherd.ok("info", "a").text
    assert "ratio 1.00" in sherd.ok("info", "a").text


def test_an_array_far_too_large_to_enumerate_is_shown_at_once(sherd):
    sherd.ok("create", "huge", "--shape", "25000,18000,6000", "--dtype", "uint8", "--chunks", "64,64,64",
             "--shards", "2048,2048,2048")
    sherd.ok("write", "huge", "--select", "-1,-1,-1", "--value", "9")
    assert sherd.ok("read", "huge", "--select", "24999,17999,5999", "--json").json == 9
    for command in [["info"], ["check"], ["check", "--data"]]:
        ran = sherd.ok(*command, "huge", "--json", "--stats")
        assert json.loads(ran.stderr)["peak_rss"] < 64 * 2**20
    assert sherd.ok("info", "huge", "--json").json["stored"]["objects"] == 1


@pytest.mark.parametrize("dtype, shown", [
    ("string", "string"), ("r24", "r24"),
    ('{"name": "numpy.datetime64", "configuration": {"unit": "s", "scale_factor": 10}}', "numpy.datetime64[10s]"),
])
def test_types_of_every_kind_can_be_made_and_shown(sherd, dtype, shown):
    sherd.ok("create", "a", "--shape", "3", "--dtype", dtype)
    assert f"\ndtype       {shown}\n" in sherd.ok("info", "a").text


def test_a_rank_0_array_has_an_empty_shape(sherd):
    sherd.ok("create", "a", "--shape", "", "--dtype", "int8", "--fill-value", "5")
    assert sherd.ok("info", "a", "--json").json["shape"] == []
    assert sherd.ok("read", "a", "--json").json == 5


@pytest.mark.parametrize("arguments, code", [
    (["--shape", "4"], 2), (["--dtype", "uint8"], 2), (["--shape", "4,x", "--dtype", "uint8"], 2),
    (["--shape", "-4", "--dtype", "uint8"], 2), (["--shape", "4", "--dtype", "uint8", "--fill-value", "300"], 2),
    (["--shape", "4", "--dtype", "uint8", "--chunks", "0"], 2),
    (["--shape", "4", "--dtype", "uint8", "--chunks", "2", "--shards", "3"], 2),
    (["--shape", "4", "--dtype", "uint8", "--codec", "rot13"], 5), (["--shape", "4", "--dtype", "uint7"], 5),
    (["--shape", "4", "--dtype", "uint8", "--attributes", "[1"], 2),
    (["--shape", "4", "--dtype", "uint8", "--attributes", "[1]"], 2),
    (["--shape", "4", "--dtype", "uint8", "--attributes", "@none.json"], 3),
    (["--shape", "4", "--dtype", "uint8", "--dimension-names", "y,x"], 2),
    (["--group", "--dtype", "uint8"], 2), (["--group", "--chunks", "4"], 2),
])
def test_what_cannot_be_made_is_refused_and_leaves_nothing(sherd, tmp_path, arguments, code):
    assert sherd("create", "a", *arguments).code == code
    assert not (tmp_path / "a/zarr.json").exists()


def test_create_replaces_only_where_it_is_told_to(sherd):
    sherd.ok("create", "a", "--shape", "4", "--dtype", "uint8")
    assert sherd("create", "a", "--shape", "5", "--dtype", "uint8").code == 6
    sherd.ok("create", "a", "--shape", "5", "--dtype", "uint8", "--overwrite")
    assert sherd.ok("info", "a", "--json").json["shape"] == [5]


def test_shards_are_chosen_where_the_user_leaves_it_open(sherd):
    made = sherd.ok("create", "a", "--shape", "1000,1000,1000", "--dtype", "uint16", "--shards", "auto", "--json").json
    assert all(shard % chunk == 0 and shard > chunk for shard, chunk in zip(made["shards"], made["chunks"]))
    assert sherd.ok("create", "b", "--shape", "100", "--dtype", "uint8", "--json").json["shards"] is None


@pytest.fixture
def study(sherd, tmp_path):
    (tmp_path / "about.json").write_text('{"title": "a study"}')
    sherd.ok("create", "study", "--group", "--attributes", "@about.json")
    sherd.ok("create", "study/images", "--group")
    sherd.ok("create", "study/images/left", "--shape", "8,8", "--dtype", "uint8", "--chunks", "4,4", "--shards", "8,8")
    sherd.ok("create", "study/names", "--shape", "3", "--dtype", "string")
    sherd.ok("write", "study/images/left", "--value", "1")
    return "study"


def test_a_group_is_shown_with_what_all_its_arrays_store(sherd, study):
    info = sherd.ok("info", study, "--json").json
    assert (info["node_type"], info["attributes"]) == ("group", {"title": "a study"})
    assert info["stored"] == sherd.ok("info", "study/images/left", "--json").json["stored"]
    assert info["stored"]["objects"] == 1


def test_tree_draws_names_with_shapes_and_types(sherd, study):
    assert sherd.ok("tree", study).text == (
        "study\n"
        "├── images\n"
        "│   └── left  (8, 8) uint8\n"
        "└── names  (3,) string\n")


def test_tree_for_programs_nests_names_types_and_children(sherd, study):
    leaf = {"name": "left", "node_type": "array", "children": []}
    assert sherd.ok("tree", study, "--json").json == {"name": "study", "node_type": "group", "children": [
        {"name": "images", "node_type": "group", "children": [leaf]},
        {"name": "names", "node_type": "array", "children": []}]}


def test_one_array_that_cannot_be_read_does_not_hide_the_tree(sherd, study, tmp_path):
    document = tmp_path / "study/images/left/zarr.json"
    document.write_text(document.read_text().replace('"zstd"', '"rot13"'))
    ran = sherd("tree", study)
    assert ran.code == 5
    assert "└── names  (3,) string" in ran.text
    assert "left  ! " in ran.text and "rot13" in ran.text


def test_ls_gives_one_name_a_line(sherd, study):
    assert sherd.ok("ls", study).text == "images\nnames\n"
    assert sherd.ok("ls", study, "--json").json == [{"name": "images", "node_type": "group"},
                                                    {"name": "names", "node_type": "array"}]
    assert sherd.ok("ls", "study/images/left").text == "left\n"


def test_ls_in_long_form_gives_types_and_shapes(sherd, study):
    lines = [line.split() for line in sherd.ok("ls", "-l", "study/images").text.splitlines()]
    assert lines[0] == ["TYPE", "DTYPE", "SHAPE", "CHUNKS", "SHARDS", "NAME"]
    assert " ".join(lines[1]) == "array uint8 (8, 8) (4, 4) (8, 8) left"
    assert sherd.ok("ls", "-l", "study/images", "--json").json[0]["shape"] == [8, 8]
