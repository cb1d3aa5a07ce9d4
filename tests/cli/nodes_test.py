"""create, info, tree and ls: what is made and how it is shown."""

import json

import numpy
import pytest
import zarr

FULL = ["--shape", "10,20", "--dtype", "float32", "--chunks", "2,5", "--shards", "10,10", "--codec", "gzip:6",
        "--codec", '{"name": "crc32c"}', "--fill-value", "NaN", "--index-location", "start",
        "--attributes", '{"a": [1, 2]}', "--dimension-names", "y,x"]


def test_create_accepts_every_option_of_an_array(sherd, tmp_path):
    sherd.ok("create", "a.zarr", *FULL)
    document = json.loads((tmp_path / "a.zarr/zarr.json").read_text())
    sharding = document["codecs"][0]["configuration"]
    assert document["shape"] == [10, 20] and document["data_type"] == "float32"
    assert document["chunk_grid"]["configuration"]["chunk_shape"] == [10, 10]
    assert sharding["chunk_shape"] == [2, 5] and sharding["index_location"] == "start"
    assert [codec["name"] for codec in sharding["codecs"]] == ["bytes", "gzip", "crc32c"]
    assert document["fill_value"] == "NaN"
    assert document["attributes"] == {"a": [1, 2]} and document["dimension_names"] == ["y", "x"]


def test_codecs_in_the_words_of_numcodecs_are_accepted(sherd, tmp_path):
    sherd.ok("create", "a.zarr", "--store-format", "zarr2", "--shape", "10", "--dtype", "uint16",
             "--codec", '[{"id": "shuffle", "elementsize": 2}, {"id": "zlib", "level": 3}]')
    document = json.loads((tmp_path / "a.zarr/.zarray").read_text())
    assert document["filters"] == [{"id": "shuffle", "elementsize": 2}] and document["compressor"] == {"id": "zlib", "level": 3}
    sherd.ok("create", "b.zarr", "--shape", "10", "--dtype", "uint16", "--codec", '{"id": "zlib", "level": 3}')
    codecs = json.loads((tmp_path / "b.zarr/zarr.json").read_text())["codecs"]
    assert codecs[1:] == [{"name": "numcodecs.zlib", "configuration": {"level": 3}}]


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


def test_info_as_text_has_sizes_counts_and_codecs(sherd):
    sherd.ok("create", "a.zarr", "--shape", "2048,1024", "--dtype", "uint8", "--chunks", "64,64", "--shards", "1024,1024",
             "--codec", "zstd:3", "--dimension-names", "y,x", "--attributes", '{"unit": "nm"}')
    rows = {line[:12].strip(): line[12:].split("  ") for line in sherd.ok("info", "a.zarr").text.splitlines()}
    parts = {label: [part.strip() for part in cells if part.strip()] for label, cells in rows.items()}
    assert parts["shape"] == ["(2048, 1024)", "2 MiB"]
    assert parts["shards"] == ["(1024, 1024)", "2 shards of 1 MiB"]
    assert parts["chunks"] == ["(64, 64)", "512 chunks of 4 KiB"]
    assert parts["codecs"] == ["bytes, zstd (level 3, checksum true)"]
    assert parts["index"] == ["at the end: bytes (endian little), crc32c"]
    assert parts["dimensions"] == ["y, x"]
    assert parts["attributes"] == ["unit", '"nm"']
    assert parts["stored"] == ["0 objects, 0 B"]


def test_chunks_may_have_different_lengths(sherd, tmp_path):
    sherd.ok("create", "a", "--shape", "10,5", "--dtype", "uint8", "--chunks", "[3,3,4],[5]")
    grid = json.loads((tmp_path / "a/zarr.json").read_text())["chunk_grid"]
    assert grid == {"name": "rectilinear", "configuration": {"kind": "inline", "chunk_shapes": [[3, 3, 4], [5]]}}
    sherd.ok("write", "a", "--value", "7")
    assert sorted(path.name for path in (tmp_path / "a/c").iterdir()) == ["0", "1", "2"]
    assert sherd.ok("info", "a", "--json").json["chunks"] == [[3, 3, 4], [5]]
    assert sherd.ok("info", "a", "--json").json["shards"] is None
    (row,) = [line for line in sherd.ok("info", "a").text.splitlines() if line.startswith("chunks")]
    assert row.split() == ["chunks", "[3×2,", "4],", "[5]", "3", "chunks"]
    assert "rectilinear" in sherd.ok("ls", "-l", "a").text


def test_shards_may_have_different_lengths(sherd):
    sherd.ok("create", "a", "--shape", "100,6", "--dtype", "uint8", "--chunks", "10,3", "--shards", "[[10,2],80],6")
    sherd.ok("write", "a", "--value", "7")
    info = sherd.ok("info", "a", "--json").json
    assert info["chunks"] == [10, 3] and info["shards"] == [[10, 10, 80], [6]]
    assert info["stored"]["objects"] == 3
    assert "[10×2, 80], [6]" in sherd.ok("info", "a").text


@pytest.mark.parametrize("arguments, text", [
    (["--chunks", "[3,3],[5]"], "less than the array's 10"), (["--chunks", "[10]"], "1 entries"),
    (["--chunks", "[3,3,"], "--chunks"), (["--chunks", "[5,5],[5]", "--shards", "10,5"], "--chunks"),
    (["--shards", "[5,5],[5]"], "need --chunks"), (["--chunks", "3,5", "--shards", "[5,5],[5]"], "does not divide")])
def test_lengths_that_make_no_grid_are_usage_errors(sherd, tmp_path, arguments, text):
    ran = sherd("create", "a", "--shape", "10,5", "--dtype", "uint8", *arguments)
    assert ran.code == 2 and text in ran.stderr
    assert list(tmp_path.iterdir()) == []


def test_info_reports_the_compression_ratio(sherd, tmp_path):
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
    (["--shape", "4", "--dtype", "uint8", "--codec", "rot13"], 2), (["--shape", "4", "--dtype", "uint7"], 2),
    (["--shape", "4", "--dtype", "uint8", "--attributes", "[1"], 2),
    (["--shape", "4", "--dtype", "uint8", "--attributes", "[1]"], 2),
    (["--shape", "4", "--dtype", "uint8", "--attributes", "@none.json"], 3),
    (["--shape", "4", "--dtype", "uint8", "--dimension-names", "y,x"], 2),
    (["--group", "--dtype", "uint8"], 2), (["--group", "--chunks", "4"], 2),
])
def test_impossible_arrays_are_refused_and_leave_nothing(sherd, tmp_path, arguments, code):
    assert sherd("create", "a", *arguments).code == code
    assert not (tmp_path / "a/zarr.json").exists()


def test_options_of_an_index_need_shards(sherd, tmp_path):
    ran = sherd("create", "a", "--shape", "9", "--dtype", "uint8", "--index-location", "start")
    assert ran.code == 2 and "--index-location" in ran.stderr and "shards" in ran.stderr and not (tmp_path / "a").exists()


def test_create_replaces_only_on_request(sherd):
    sherd.ok("create", "a", "--shape", "4", "--dtype", "uint8")
    assert sherd("create", "a", "--shape", "5", "--dtype", "uint8").code == 6
    sherd.ok("create", "a", "--shape", "5", "--dtype", "uint8", "--overwrite")
    assert sherd.ok("info", "a", "--json").json["shape"] == [5]


def test_shards_are_chosen_automatically(sherd):
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


def test_tree_as_json_nests_names_types_and_children(sherd, study):
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


def test_broken_members_are_listed_and_are_an_error(sherd, study, tmp_path):
    broken = tmp_path / "study/images/broken"
    broken.mkdir()
    (broken / "zarr.json").write_text('{"zarr_format": 3}')
    tree = sherd("tree", "study")
    assert tree.code == 4 and "broken  ! 'images/broken/zarr.json' node_type: must be" in tree.text
    assert "left  (8, 8) uint8" in tree.text and "names  (3,) string" in tree.text
    (branch,) = [each for each in sherd("tree", "study/images", "--json").json["children"] if each["name"] == "broken"]
    assert branch["node_type"] == "unknown" and branch["error"]["code"] == "corrupt"
    ls = sherd("ls", "study/images", "--json")
    assert ls.code == 4 and {"name": "broken", "node_type": "unknown"} in ls.json and len(ls.json) > 1
    assert "unknown" in sherd("ls", "-l", "study/images").text
    info = sherd("info", "study")
    assert info.code == 4 and "stored" in info.text, "what can be counted is"
    for ran in tree, sherd("ls", "study/images"), info:
        assert "broken/zarr.json' node_type" in ran.stderr and "(in study" in ran.stderr, "the store is named, too"


def test_a_node_is_created_in_the_enclosing_hierarchy(sherd, tmp_path):
    sherd.ok("create", "a.zarr/g/h/x", "--shape", "4", "--dtype", "int8")
    assert sherd.ok("tree", "a.zarr").text.split() == ["a.zarr", "└──", "g", "└──", "h", "└──", "x", "(4,)", "int8"]
    sherd.ok("create", "plain", "--group")
    sherd.ok("create", "plain/k/l", "--group")
    assert sherd.ok("ls", "plain").text == "k\n"
    sherd.ok("create", "alone/y", "--shape", "4", "--dtype", "int8")
    assert not (tmp_path / "alone/zarr.json").exists(), "a directory that is not a node stays none"


@pytest.mark.parametrize("name", ["plain/__x", "plain/g/__x", "new.zarr/__x", "plain/..."])
@pytest.mark.parametrize("what", [["--group"], ["--shape", "4", "--dtype", "int8"]])
def test_reserved_names_are_refused(sherd, tmp_path, name, what):
    sherd.ok("create", "plain", "--group")
    ran = sherd("create", name, *what)
    assert ran.code == 2 and "cannot be the name of a node" in ran.stderr
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["plain", "zarr.json"]


@pytest.mark.parametrize("name", ["a b", "a%20b", "a?b#c", "100%", "é日🗿", "a&b='c'", "C:"])
def test_the_url_that_info_prints_opens_the_node_again(sherd, name):
    sherd.ok("create", f"s.zarr/{name}", "--shape", "4", "--dtype", "int8", "--attributes", '{"it": "is"}')
    info = sherd.ok("info", f"s.zarr/{name}", "--json").json
    assert sherd.ok("info", info["url"], "--json").json == info


@pytest.mark.parametrize("command", ["info", "tree", "ls", "read", "check"])
def test_errors_about_a_root_name_the_store(sherd, tmp_path, command):
    (tmp_path / "some where").mkdir()
    (tmp_path / "some where/zarr.json").write_text('{"zarr_format": 3, "node_type": "array"}')
    ran = sherd(command, "some where")
    if command == "check":
        assert ran.code == 1
    else:
        assert ran.code == 4
        assert ran.stderr.startswith("sherd: 'zarr.json' shape: missing")
        assert ran.stderr.endswith(" (in some where)\n")
    ran = sherd(command, "nowhere", "--json")
    assert ran.error["code"] == "not_found" and f"{tmp_path}/nowhere" in ran.error["message"]


def test_ls_prints_one_name_per_line(sherd, study):
    assert sherd.ok("ls", study).text == "images\nnames\n"
    assert sherd.ok("ls", study, "--json").json == [{"name": "images", "node_type": "group"},
                                                    {"name": "names", "node_type": "array"}]
    assert sherd.ok("ls", "study/images/left").text == "left\n"


def test_ls_in_long_form_prints_types_and_shapes(sherd, study):
    lines = [line.split() for line in sherd.ok("ls", "-l", "study/images").text.splitlines()]
    assert lines[0] == ["TYPE", "DTYPE", "SHAPE", "CHUNKS", "SHARDS", "NAME"]
    assert " ".join(lines[1]) == "array uint8 (8, 8) (4, 4) (8, 8) left"
    first = sherd.ok("ls", "-l", "study/images", "--json").json[0]
    whole = sherd.ok("info", f"study/images/{first['name']}", "--json").json
    assert first["shape"] == [8, 8]
    assert all(first[member] == whole[member] for member in ("node_type", "shape", "dtype", "chunks", "shards"))


def codecs_of(folder):
    return json.loads((folder / "zarr.json").read_text())["codecs"]


def test_codecs_may_be_given_as_one_list(sherd, tmp_path):
    shape = ["--shape", "10", "--dtype", "uint16"]
    listed = '["bytes:big", {"name": "gzip", "configuration": {"level": 6}}, "crc32c"]'
    sherd.ok("create", "list", *shape, "--codec", listed)
    sherd.ok("create", "each", *shape, "--codec", "bytes:big", "--codec", "gzip:6", "--codec", "crc32c")
    assert codecs_of(tmp_path / "list") == codecs_of(tmp_path / "each")
    sherd.ok("create", "both", *shape, "--codec", '["bytes:big", "gzip:6"]', "--codec", "crc32c")
    assert codecs_of(tmp_path / "both") == codecs_of(tmp_path / "each")
    ran = sherd("create", "nested", *shape, "--codec", "[[]]")
    assert ran.code == 2 and "codec" in ran.stderr


def with_bare_fill(folder, zarr_format, fill, dtype):
    """The document of an array with a fill value that Python prints although JSON lacks it."""
    zarr.create_array(folder, shape=(4,), chunks=(2,), dtype=dtype, zarr_format=zarr_format, attributes={"keep": 1})
    document = folder / {2: ".zarray", 3: "zarr.json"}[zarr_format]
    document.write_text(json.dumps(json.loads(document.read_text()) | {"fill_value": fill}))
    return document


@pytest.mark.parametrize("zarr_format", [2, 3])
@pytest.mark.parametrize(("fill", "quoted", "dtype"), [
    (numpy.nan, "NaN", "float32"), (-numpy.inf, "-Infinity", "float64"), ([numpy.nan, numpy.inf], ["NaN", "Infinity"], "complex64"),
])  # fmt: skip
def test_a_fill_value_without_quotes_is_read_and_quoted_when_written(sherd, tmp_path, zarr_format, fill, quoted, dtype):
    document = with_bare_fill(tmp_path / "g/a", zarr_format, fill, dtype)
    zarr.open_group(tmp_path / "g", mode="a", zarr_format=zarr_format)
    expected = zarr.open_array(tmp_path / "g/a")[:]

    def strict(text):
        return json.loads(text, parse_constant=lambda word: pytest.fail(f"{word} is not JSON"))

    assert strict(sherd.ok("info", "g/a", "--json").text)["fill_value"] == quoted
    assert "a" in sherd.ok("ls", "g").text
    strict(sherd.ok("attrs", "g/a").text)
    sherd.ok("export", "g/a", "a.npy")
    assert numpy.array_equal(numpy.load(tmp_path / "a.npy"), expected, equal_nan=True)
    found = sherd.ok("check", "g/a").text
    assert "'fill_value' has NaN or Infinity without quotes, which JSON lacks" in found and document.name in found
    sherd.ok("attrs", "g/a", "new=2")
    sherd.ok("resize", "g/a", "6")
    now = strict(document.read_text())
    assert now["fill_value"] == quoted and now["shape"] == [6]
    assert zarr.open_array(tmp_path / "g/a").attrs.asdict() == {"keep": 1, "new": 2}
    assert "without quotes" not in sherd.ok("check", "g/a").text
    sherd.ok("copy", "g", "copy")
    assert numpy.array_equal(zarr.open_array(tmp_path / "copy/a")[:4], expected, equal_nan=True)


def test_a_fill_value_without_quotes_must_be_a_number_of_the_type(sherd, tmp_path):
    for name, dtype in {"i": "int32", "s": "str", "r": "r16"}.items():
        document = with_bare_fill(tmp_path / name, 3, float("inf"), "int32" if dtype == "r16" else dtype)
        document.write_text(document.read_text().replace("int32", dtype))
        ran = sherd("info", name)
        assert ran.code == 4 and "fill_value" in ran.stderr and "zarr.json" in ran.stderr


def test_fill_values_without_quotes_in_consolidated_metadata_are_read(sherd, tmp_path):
    group = zarr.create_group(tmp_path / "g")
    group.create_array("a", shape=(4,), chunks=(2,), dtype="float32", fill_value=numpy.nan)
    group.attrs["scale"] = float("nan")
    zarr.consolidate_metadata(tmp_path / "g")
    document = tmp_path / "g/zarr.json"
    text = document.read_text()
    assert '"fill_value": "NaN"' in text
    document.write_text(text.replace('"fill_value": "NaN"', '"fill_value": NaN'))
    assert numpy.isnan(zarr.open_consolidated(tmp_path / "g")["a"][:]).all()
    assert "a" in sherd.ok("ls", "g").text
    assert sherd.ok("read", "g/a", "--format", "json").text.count("NaN") == 4
