"""attrs, resize, consolidate and rm: changes of what a node's documents say, and of whether it exists."""

import json

import pytest
import zarr


@pytest.fixture
def array(sherd):
    sherd.ok("create", "s.zarr/a", "--shape", "4,6", "--dtype", "uint8", "--chunks", "2,3", "--attributes",
             '{"unit": "nm", "scale": 1.50}')
    return "s.zarr/a"


def test_attributes_are_printed_as_json_with_the_text_of_their_numbers(sherd, array):
    assert sherd.ok("attrs", array).text == '{"unit":"nm","scale":1.50}\n'
    assert sherd.ok("attrs", array, "unit").text == '"nm"\n'
    assert sherd.ok("attrs", array, "scale", "unit").text == '1.50\n"nm"\n'
    assert sherd.ok("attrs", array, "scale", "unit", "--json").json == {"scale": 1.5, "unit": "nm"}


def test_attributes_are_set_and_removed_by_one_command(sherd, tmp_path, array):
    sherd.ok("attrs", array, "unit=um", 'offset=[1, 2]', "note=a=b", "--remove", "scale")
    assert sherd.ok("attrs", array).json == {"unit": "um", "offset": [1, 2], "note": "a=b"}
    assert dict(zarr.open(tmp_path / array).attrs) == {"unit": "um", "offset": [1, 2], "note": "a=b"}


def test_all_attributes_are_replaced_by_those_of_a_file(sherd, tmp_path, array):
    (tmp_path / "all.json").write_text('{"x": null}')
    sherd.ok("attrs", array, "--replace", "@all.json")
    assert sherd.ok("attrs", array).json == {"x": None}


def test_groups_have_attributes_too(sherd, array):
    sherd.ok("attrs", "s.zarr", "title=a study")
    assert sherd.ok("attrs", "s.zarr", "title").text == '"a study"\n'


@pytest.mark.parametrize("words, code, message", [
    (["absent"], 3, "has no attribute 'absent'"), (["--remove", "absent"], 3, "has no attribute 'absent'"),
    (["unit=1", "scale"], 2, "'scale' names an attribute to print"), (["=1"], 2, "'=1' has no name before '='"),
    (["unit=1", "unit=2"], 2, "'unit' is set twice"), (["--replace", "{}", "unit=1"], 2, "--replace cannot be combined"),
    (["--replace", "{"], 2, "--replace"), (["--replace", "[1]"], 2, "--replace: must be an object"), (["--replace", "3"], 2, "--replace: must be an object, not 3"),
    (["--replace", '{"a": "\\ud800"}'], 2, "--replace: not JSON"), ([b"a=\xff"], 2, "NAME: is not valid UTF-8"),
])
def test_wrong_changes_of_attributes_are_refused_and_change_nothing(sherd, tmp_path, array, words, code, message):
    before = (tmp_path / array / "zarr.json").read_bytes()
    ran = sherd("attrs", array, *words)
    assert ran.code == code and message in ran.stderr
    assert (tmp_path / array / "zarr.json").read_bytes() == before


@pytest.mark.parametrize("attributes, message", [
    ("[1]", "must be an object"), ("3", "must be an object"), ('{"a": NaN}', "a: not JSON: JSON, line 1, column 7 (byte 6): NaN is not JSON"),
    ('{"b": {"c": [[1], [2, -Infinity]]}}', "b.c[1][1]: not JSON"),
    ('{"a": 1, "a": 2}', 'the key "a" appears twice'), ('{"a": "\\ud800"}', "an unpaired surrogate"), (b'{"a": "\xff"}', "not valid UTF-8"),
])
@pytest.mark.parametrize("kind", [["--group"], ["--shape", "3", "--dtype", "uint8"]], ids=["group", "array"])
def test_attributes_of_a_wrong_type_are_refused_by_the_name_of_the_option(sherd, tmp_path, attributes, message, kind):
    ran = sherd("create", "x.zarr", *kind, "--attributes", attributes)
    assert ran.code == 2 and ran.stderr.startswith("sherd: --attributes: ") and message in ran.stderr
    assert not (tmp_path / "x.zarr").exists()


def test_an_array_is_resized_and_what_is_cut_off_is_erased(sherd, tmp_path, array):
    sherd.ok("write", array, "--value", "7")
    assert sherd.ok("resize", array, "3,2").stderr.strip().endswith("resized from (4, 6) to (3, 2)")
    assert sherd.ok("resize", array, "4,6", "--json").json == {"before": [3, 2], "shape": [4, 6]}
    assert zarr.open(tmp_path / array)[:].tolist() == [[7, 7, 0, 0, 0, 0]] * 3 + [[0] * 6]


def test_a_shard_that_is_cut_off_is_changed_as_the_options_say(sherd):
    sherd.ok("create", "a", "--shape", "64", "--dtype", "uint8", "--chunks", "8", "--shards", "64", "--codec", "bytes")
    sherd.ok("write", "a", "--value", "1")
    ran = sherd.ok("resize", "a", "60", "--update", "rewrite", "--quiet", "--stats")
    assert json.loads(ran.stderr)["updates"] == {"rewrite: as configured": 1}


@pytest.mark.parametrize("shape, message", [("3", "(3,) has 1 length; s.zarr/a has shape (4, 6)"), ("3,x", "SHAPE")])
def test_shapes_that_do_not_fit_are_usage_errors(sherd, array, shape, message):
    ran = sherd("resize", array, shape)
    assert ran.code == 2 and message in ran.stderr


def test_a_group_is_consolidated(sherd, tmp_path, array):
    sherd.ok("consolidate", "s.zarr")
    document = json.loads((tmp_path / "s.zarr/zarr.json").read_text())
    assert list(document["consolidated_metadata"]["metadata"]) == ["a"]
    sherd.ok("attrs", array, "unit=um")
    assert zarr.open_consolidated(tmp_path / "s.zarr")["a"].attrs["unit"] == "um"
    refused = sherd("consolidate", array)
    assert refused.code != 0 and "not a group" in refused.stderr


@pytest.fixture
def study(sherd):
    for name in ("a", "b/c"):
        sherd.ok("create", f"study.zarr/{name}", "--shape", "4,6", "--dtype", "uint8", "--chunks", "2,3")
        sherd.ok("write", f"study.zarr/{name}", "--value", "7")
    return "study.zarr"


def test_an_array_is_erased_with_its_chunks_and_its_consolidated_entry(sherd, tmp_path, study):
    sherd.ok("consolidate", study)
    assert sherd.ok("rm", f"{study}/a").stderr.strip() == f"erased {study}/a"
    assert not (tmp_path / study / "a").exists()
    assert sherd.ok("ls", study).text == "b\n"
    metadata = json.loads((tmp_path / study / "zarr.json").read_text())["consolidated_metadata"]["metadata"]
    assert sorted(metadata) == ["b", "b/c"]
    assert zarr.open(tmp_path / study)["b/c"][0, 0] == 7


def test_a_group_with_members_is_erased_only_if_that_is_asked_for(sherd, tmp_path, study):
    ran = sherd("rm", study)
    assert ran.code == 6 and "study.zarr is a group with 2 members; add --recursive" in ran.stderr
    assert sherd.ok("ls", study).text == "a\nb\n"
    sherd.ok("rm", "-r", f"{study}/b")
    sherd.ok("rm", "--recursive", study, "--quiet")
    assert not any((tmp_path / study).rglob("*"))


def test_nothing_is_erased_where_an_object_belongs_to_no_node(sherd, tmp_path, study):
    (tmp_path / study / "a/notes.txt").write_text("mine")
    before = sorted(tmp_path.rglob("*"))
    ran = sherd("rm", "-r", study)
    assert ran.code == 6 and "a/notes.txt" in ran.stderr
    assert sorted(tmp_path.rglob("*")) == before


def test_a_damaged_node_is_kept_and_a_missing_one_is_not_found(sherd, tmp_path, study):
    (tmp_path / study / "a/zarr.json").write_text("{")
    ran = sherd("rm", f"{study}/a")
    assert ran.code == 6 and "cannot be read" in ran.stderr
    sherd.ok("rm", f"{study}/b/c")
    ran = sherd("rm", f"{study}/b/c")
    assert ran.code == 3 and f"directory does not exist: {study}/b/c; tried" in ran.stderr


def test_a_scale_of_a_volume_is_erased_with_its_volume(sherd, tmp_path):
    sherd.ok("create", "em", "--store-format", "precomputed", "--shape", "8,8,8", "--dtype", "uint8", "--resolution", "8,8,40")
    (scale,) = sherd.ok("ls", "em").text.split()
    ran = sherd("rm", f"em/{scale}")
    assert ran.code == 5 and "described in the document of its group" in ran.stderr
    sherd.ok("rm", "-r", "em")
    assert not any((tmp_path / "em").rglob("*"))


@pytest.mark.parametrize("spelling, dtype", [("f4", "float32"), ("<u2", "uint16"), ("|b1", "bool"), ("i8", "int64")])
def test_types_may_be_spelled_as_in_numpy(sherd, tmp_path, spelling, dtype):
    sherd.ok("create", "a.zarr", "--shape", "4", "--dtype", spelling)
    assert json.loads((tmp_path / "a.zarr/zarr.json").read_text())["data_type"] == dtype
