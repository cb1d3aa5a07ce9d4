"""zmap: the stored objects of a dataset as they are, and each request of a store as a line on standard error."""

import json

import pytest

CDL = b"netcdf x { dimensions: x = 4 ; variables: byte v(x) ; data: v = 1, 2, -1, 127 ; group: g { } }"


@pytest.fixture
def dataset(sherd):
    sherd.ok("ncgen", "-o", "x.zarr", input=CDL)
    return "x.zarr"


def test_every_object_is_a_line_with_number_key_size_and_contents(sherd, dataset):
    text = sherd.ok("zmap", dataset).text
    assert "/v/0 : (4) |0102ff7f|\n" in text and '/.zgroup : (' in text and '"_nczarr_superblock"' in text
    numbers = [int(line[1:line.index("]")]) for line in text.splitlines() if line.startswith("[")]
    assert numbers == sorted(numbers) and numbers[0] == 1
    # "/", its four children, g's two, and v's three, of which "/v" has no object.
    keys = sherd.ok("zmap", "-k", dataset).text.splitlines()
    assert [line.split()[1] for line in keys] == ["/.zattrs", "/.zgroup", "/.zmetadata", "/g/.zattrs", "/g/.zgroup",
                                                  "/v/.zarray", "/v/.zattrs", "/v/0"]
    assert [line.split()[0] for line in keys] == ["[1]", "[2]", "[3]", "[5]", "[6]", "[8]", "[9]", "[10]"]


def test_headers_leave_out_chunks_and_a_key_the_rest(sherd, dataset):
    text = sherd.ok("zmap", "-h", dataset, "/v").text
    assert "/v/.zarray" in text and "/v/0" not in text and "/g" not in text
    assert sherd.ok("zmap", dataset, "/v/0").text == "[2] /v/0 : (4) |0102ff7f|\n"


def test_objects_are_lines_of_json(sherd, dataset):
    lines = [json.loads(line) for line in sherd.ok("zmap", "--json", dataset).text.splitlines()]
    objects = {line["key"]: line for line in lines}
    assert objects["/v/0"] == {"key": "/v/0", "size": 4, "hex": "0102ff7f"}
    assert json.loads(objects["/.zgroup"]["text"])["zarr_format"] == 2
    assert json.loads(sherd.ok("zmap", "-k", "--json", dataset, "/v/0").text) == {"key": "/v/0", "size": 4}


def test_search_prints_the_names_below_a_key(sherd, dataset):
    assert sherd.ok("zmap", "--search", dataset).text.split() == [".zattrs", ".zgroup", ".zmetadata", "g", "v"]
    assert sherd.ok("zmap", "--search", "--json", dataset, "/v").json == [".zarray", ".zattrs", "0"]
    assert sherd.ok("zmap", "--search", dataset, "/none").text == ""


def test_what_does_not_exist_is_not_found(sherd, dataset):
    assert sherd("zmap", "none.zarr").code == 3
    missing = sherd("zmap", dataset, "/v/7")
    assert missing.code == 3 and "NC_ENOOBJECT" in missing.stderr
    assert sherd("zmap", dataset, "v").code == 2
    assert sherd("zmap", "x.zarr#mode=nczarr,zip").code == 2  # a directory


def test_control_characters_of_documents_do_not_reach_the_terminal(sherd, dataset, tmp_path):
    (tmp_path / dataset / ".zattrs").write_bytes(b'{"a": "\x1b[2J"}')
    text = sherd.ok("zmap", dataset, "/.zattrs").text
    assert "\x1b" not in text and "\\x1b[2J" in text


def test_requests_are_traced_by_the_option_and_by_the_environment(sherd, dataset):
    by_option = sherd.ok("ncdump", "-h", "--trace", dataset)
    by_environment = sherd.ok("ncdump", "-h", dataset, env={"NCTRACING": "9"})
    assert by_option.stdout == by_environment.stdout == sherd.ok("ncdump", "-h", dataset).stdout
    assert "trace: get /.zmetadata 0+" in by_option.stderr
    assert sorted(by_option.stderr.splitlines()) == sorted(by_environment.stderr.splitlines())
    assert "trace" not in sherd.ok("ncdump", dataset, env={"NCTRACING": "0"}).stderr
    assert sherd.ok("ncdump", dataset, env={"NCTRACING": "yes"}).stderr.count("warning: NCTRACING is not a number, so nothing is traced") == 1


def test_level_1_traces_what_changes_a_store(sherd, dataset):
    trace = sherd.ok("rm", f"{dataset}/v", env={"NCTRACING": "1"}).stderr.splitlines()
    assert any(line.startswith("trace: put /.zgroup") for line in trace)
    assert not any(line.startswith("trace: get") for line in trace)
