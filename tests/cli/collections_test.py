"""sherd info, check and kv of skeletons, meshes and annotations, as a user of the shell meets them."""

import json

import pytest

from shardings import sharding

SHARDING = sharding("murmurhash3_x86_128", (0, 1, 1), "gzip")
MESHES = {
    "@type": "neuroglancer_multilod_draco", "vertex_quantization_bits": 16, "lod_scale_multiplier": 1,
    "transform": [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0], "sharding": SHARDING,
}  # fmt: skip


def manifest(*sizes):
    """Of one level, its nodes side by side."""
    import struct

    count = len(sizes)
    words = struct.pack("<6f", 16, 16, 16, 0, 0, 0) + struct.pack("<If3fI", 1, 1.0, 0, 0, 0, count)
    return words + struct.pack(f"<{4 * count}I", *range(count), *[0] * (2 * count), *sizes)


@pytest.fixture
def meshes(tmp_path):
    folder = tmp_path / "meshes"
    folder.mkdir()
    (folder / "info").write_text(json.dumps(MESHES))
    return folder


def test_fragments_are_stored_before_manifests(sherd, meshes, tmp_path):
    lines = []
    for number in range(9):
        (tmp_path / f"{number}.manifest").write_bytes(manifest(number, 4))
        (tmp_path / f"{number}.fragments").write_bytes(b"a" * number + b"bbbb")
        lines.append({"id": number, "path": f"{number}.manifest", "preceding": f"{number}.fragments"})
    text = "\n".join(map(json.dumps, lines)).encode()
    sherd.ok("kv", "build", "meshes", "--sharding", json.dumps(SHARDING), input=text)
    assert sherd.ok("kv", "get", "meshes", 7, "--preceding").stdout == b"a" * 7 + b"bbbb"
    sherd.ok("kv", "put", "meshes", 7, "-i", "3.manifest", "--preceding", "3.fragments")
    refused = sherd("kv", "put", "meshes", 7, "-i", "3.manifest")
    assert refused.code == 2 and "7 belong to it" in refused.stderr
    sherd.ok("kv", "compact", "meshes")
    assert sherd.ok("kv", "get", "meshes", 7, "--preceding").stdout == b"aaabbbb"
    assert sherd.ok("kv", "get", "meshes", 8, "--preceding").stdout == b"a" * 8 + b"bbbb"
    report = sherd.ok("check", "meshes", "--json").json
    assert report["ok"] and report["checked"]["chunks"] == 9 and report["space"]["dead"] == 0
    wrong = sherd("kv", "build", "other", "--sharding", json.dumps(SHARDING),
                  input=b'{"id": 1, "path": "1.manifest", "preceding": 7}')
    assert wrong.code == 2 and "line 1: 'preceding'" in wrong.stderr


def test_info_describes_collections(sherd, meshes, tmp_path):
    sherd.ok("kv", "put", "meshes", 3, input=manifest())
    shown = sherd.ok("info", "meshes").text
    for words in ("multi-resolution meshes", "16 bits", "murmurhash3_x86_128", "1 object", "2 objects"):
        assert words in shown, shown
    told = sherd.ok("info", "--json", "meshes").json
    assert told["node_type"] == "collection" and told["kind"] == "multi-resolution meshes"
    assert told["indices"] == [{"name": None, "key": "", "sharding": SHARDING, "objects": 1, "complete": True}]
    assert told["stored"]["objects"] == 2

    marks = {
        "@type": "neuroglancer_annotations_v1", "dimensions": {"x": [8e-9, "m"]}, "lower_bound": [0], "upper_bound": [9],
        "annotation_type": "point", "properties": [{"id": "score", "type": "float32"}],
        "relationships": [{"id": "cells", "key": "cells"}], "by_id": {"key": "by_id"},
        "spatial": [{"key": "s0", "grid_shape": [3], "chunk_size": [3], "limit": 5}],
    }  # fmt: skip
    (tmp_path / "marks").mkdir()
    (tmp_path / "marks/info").write_text(json.dumps(marks))
    shown = sherd.ok("info", "marks").text
    for words in ("annotations", "point", "x 8 nm", "score float32", "relationships[0]", "'s0', cells 3 of 3"):
        assert words in shown, shown
    assert [each["name"] for each in sherd.ok("info", "--json", "marks").json["indices"]] == [
        "by_id", "relationships[0]", "spatial[0]"]


def test_info_counts_only_on_request(sherd, meshes):
    told = sherd.ok("info", "--json", "--no-stored", "meshes").json
    assert "stored" not in told and "objects" not in told["indices"][0]
    assert "0 objects" in sherd.ok("info", "meshes").text and "0 objects" not in sherd.ok("info", "--no-stored", "meshes").text


def test_a_damaged_info_is_corrupt(sherd, meshes):
    (meshes / "info").write_text(json.dumps(MESHES | {"vertex_quantization_bits": 7}))
    told = sherd("info", "--json", "meshes")
    assert told.code == 4 and told.error["member"] == "vertex_quantization_bits"
    checked = sherd("check", "--json", "meshes")
    assert checked.code == 1 and [each["code"] for each in checked.json["faults"]] == ["document_corrupt"]


def test_commands_for_arrays_say_that_these_are_objects(sherd, meshes):
    told = sherd("read", "meshes")
    assert told.code == 3 and "multi-resolution meshes" in told.stderr


def test_a_collection_is_copied_as_it_is(sherd, meshes):
    sherd.ok("kv", "put", "meshes", 3, input=manifest())
    sherd.ok("copy", "meshes", "again")
    for path in meshes.iterdir():
        assert (meshes.parent / "again" / path.name).read_bytes() == path.read_bytes()
    assert sherd("copy", "meshes", "again").code == 6


def test_an_imported_object_is_stored_as_the_options_say(sherd, tmp_path):
    for number in (1, 2):
        (tmp_path / f"{number}.swc").write_text("1 1 0 0 0 1 -1\n2 3 1 0 0 1 1\n")
        sherd.ok("import", f"{number}.swc", "made")
    info = json.loads((tmp_path / "made/info").read_text())
    (tmp_path / "bones").mkdir()
    (tmp_path / "bones/info").write_text(json.dumps(info | {"sharding": sharding()}))
    for number in (1, 2):
        sherd.ok("import", f"{number}.swc", "bones")
    written = {}
    for update in ("in_place", "rewrite"):
        ran = sherd.ok("import", "2.swc", "bones", "--overwrite", "--update", update, "--quiet", "--stats")
        written[update] = json.loads(ran.stderr)["bytes_written"]
    assert written["in_place"] < written["rewrite"]


def test_check_names_the_object(sherd, meshes):
    sherd.ok("kv", "put", "meshes", 3, input=manifest())
    told = sherd("check", "meshes", "--data", "--json")
    assert told.json["faults"] == [] and told.code == 0
    info = json.loads((meshes / "info").read_text())
    (meshes / "info").write_text(json.dumps({"@type": "neuroglancer_skeletons", "sharding": info["sharding"]}))
    told = sherd("check", "meshes", "--data", "--json")
    assert told.code == 1
    assert [(each["code"], each["slot"]) for each in told.json["faults"]] == [("object_decode", 3)]


def test_info_lists_scales_and_says_why_shards_have_no_shape(sherd, tmp_path):
    new = ["--store-format", "precomputed", "--shape", "64,64,64", "--dtype", "uint8", "--resolution", "8,8,40",
           "--chunks", "32,32,32", "--voxel-offset", "-3,7,0"]
    sherd.ok("create", "em", *new, "--sharding", json.dumps(SHARDING))
    shown = sherd.ok("info", "em").text
    assert "8_8_40  64×64×64 at [-3,7,0], 8×8×40 nm, chunks 32×32×32, raw" in shown, shown
    (scale,) = sherd.ok("info", "--json", "em").json["scales"]
    assert scale == {"key": "8_8_40", "size": [64, 64, 64], "resolution": [8, 8, 40], "voxel_offset": [-3, 7, 0],
                     "chunk_size": [32, 32, 32], "encoding": "raw", "sharding": SHARDING}
    assert "ids are hashed" in sherd.ok("info", "em/8_8_40").text
    told = sherd.ok("info", "--json", "em/8_8_40").json
    assert told["shards"] is None and told["sharding"] == SHARDING
    few = SHARDING | {"hash": "identity", "minishard_bits": 1, "shard_bits": 1}
    sherd.ok("create", "few", *new, "--sharding", json.dumps(few))
    assert "more bits than the sharding" in sherd.ok("info", "few/8_8_40").text
    sherd.ok("create", "boxes", *new, "--sharding", json.dumps(few | {"shard_bits": 2}))
    assert sherd.ok("info", "--json", "boxes/8_8_40").json["shards"] is not None


def test_ls_prints_the_ids_of_objects(sherd, meshes):
    for number in (3, 17):
        sherd.ok("kv", "put", "meshes", number, input=manifest())
    assert sorted(sherd.ok("ls", "meshes").text.split()) == ["17", "3"]
    assert sorted(sherd.ok("ls", "meshes", "--json").json) == [3, 17]


def test_the_collections_of_a_volume_are_listed_after_its_scales(sherd, tmp_path):
    sherd.ok("create", "em", "--store-format", "precomputed", "--shape", "8,8,8", "--dtype", "uint8", "--resolution", "8,8,40", "--type", "segmentation")
    (tmp_path / "7.swc").write_text("1 1 0 0 0 1 -1\n2 3 1 0 0 1 1\n")
    sherd.ok("import", "7.swc", "em/skeletons")
    sherd.ok("annotations", "build", "em/marks", "--type", "point", "--resolution", "8,8,40", input=b"x,y,z\n1,2,3\n")
    (tmp_path / "em/notes").mkdir()
    (tmp_path / "em/notes/info").write_text("{}")
    assert sherd.ok("ls", "em").text.split() == ["8_8_40", "marks", "skeletons"]
    assert [[line.split()[0], line.split()[-1]] for line in sherd.ok("ls", "-l", "em").text.splitlines()[1:]] == [
        ["array", "8_8_40"], ["annotations", "marks"], ["skeletons", "skeletons"]]
    assert sherd.ok("ls", "em", "--json").json[1:] == [{"name": "marks", "node_type": "collection", "kind": "annotations"},
                                                       {"name": "skeletons", "node_type": "collection", "kind": "skeletons"}]
    assert sherd.ok("tree", "em").text.splitlines()[2:] == ["├── marks  annotations", "└── skeletons  skeletons"]
    assert sherd.ok("tree", "em", "--json").json["children"][1] == {"name": "marks", "node_type": "collection", "kind": "annotations", "children": []}


def test_a_collection_is_not_erased_as_a_node(sherd, meshes):
    ran = sherd("rm", "meshes")
    assert ran.code == 5 and "a collection of multi-resolution meshes" in ran.stderr and (meshes / "info").exists()
