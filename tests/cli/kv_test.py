"""kv: values by id, one at a time."""

import json

import pytest

from shardings import sharding

SHARDING = sharding("murmurhash3_x86_128", (1, 2, 1), "gzip", "gzip")


@pytest.fixture
def skeletons(sherd, tmp_path):
    folder = tmp_path / "skeletons"
    folder.mkdir()
    (folder / "info").write_text(json.dumps({"@type": "neuroglancer_skeletons", "sharding": SHARDING}))
    return folder


def test_values_are_put_got_listed_and_removed(sherd, skeletons, tmp_path):
    (tmp_path / "value").write_bytes(bytes(range(256)))
    sherd.ok("kv", "put", skeletons, 2**64 - 1, "-i", "value")
    sherd.ok("kv", "put", skeletons, 3, input=b"three")
    assert sherd.ok("kv", "get", skeletons, 2**64 - 1).stdout == bytes(range(256))
    sherd.ok("kv", "get", skeletons, 3, "-o", "three")
    assert (tmp_path / "three").read_bytes() == b"three"
    assert sorted(sherd.ok("kv", "ls", skeletons).text.split()) == ["18446744073709551615", "3"]
    listed = sherd.ok("kv", "ls", skeletons, "--json").json
    assert sorted(each["id"] for each in listed) == [3, 2**64 - 1] and all(each["bytes"] > 5 for each in listed)
    assert all(len(line.split()) == 2 for line in sherd.ok("kv", "ls", "-l", skeletons).text.splitlines())
    sherd.ok("kv", "rm", skeletons, 3)
    assert sherd.ok("kv", "ls", skeletons).text == "18446744073709551615\n"
    assert {path.name for path in skeletons.iterdir()} <= {"info", "0.shard", "1.shard"}


def test_the_sharding_option_replaces_an_info_document(sherd, tmp_path):
    (tmp_path / "sharding.json").write_text(json.dumps(SHARDING))
    sherd.ok("kv", "put", "ids", 7, "--sharding", "@sharding.json", input=b"seven")
    assert sherd.ok("kv", "get", "ids", 7, "--sharding", json.dumps(SHARDING)).stdout == b"seven"
    assert sherd("kv", "get", "ids", 7).code == 3, "nothing says how it is sharded"
    wrong = sherd("kv", "ls", "ids", "--sharding", json.dumps(SHARDING | {"minishard_bits": 33}), "--json")
    assert wrong.code == 2 and wrong.error["member"] == "sharding.minishard_bits"


def test_a_value_is_changed_as_the_options_say(sherd, tmp_path):
    where = "ids", "--sharding", json.dumps(sharding())

    def changed(action, *options, value=b""):
        ran = sherd.ok("kv", action, where[0], 7, *where[1:], *options, "--stats", input=value)
        return json.loads(ran.stderr)["updates"]

    for number in (7, 8):
        sherd.ok("kv", "put", where[0], number, *where[1:], input=b"a" * 100)
    assert changed("put", "--update", "in_place", value=b"b" * 100) == {"in_place": 1}
    assert changed("put", "--update", "rewrite", value=b"c" * 100) == {"rewrite: as configured": 1}
    assert changed("put", "--max-unused", "0", value=b"d" * 99) == {"rewrite: more than max_unused would be dead": 1}
    assert changed("put", "--max-unused", "100%", value=b"e" * 99) == {"append": 1}
    assert changed("rm", "--update", "rewrite") == {"rewrite: as configured": 1}
    assert sherd.ok("kv", "ls", *where).text == "8\n"


def test_compaction_reports_the_reclaimed_bytes(sherd, skeletons):
    for value in (b"x" * 100, b"y" * 50):
        for number in range(8):
            sherd.ok("kv", "put", skeletons, number, input=value)
    before = sum(path.stat().st_size for path in skeletons.glob("*.shard"))
    report = sherd.ok("kv", "compact", skeletons, "--json").json
    assert report["reclaimed"] == before - sum(path.stat().st_size for path in skeletons.glob("*.shard"))
    assert sherd.ok("kv", "compact", skeletons).text == "reclaimed 0 B in 0 shards\n"
    assert sherd.ok("kv", "get", skeletons, 5).stdout == b"y" * 50


@pytest.mark.parametrize("words, code", [
    (["get", "skeletons", "5"], 3), (["rm", "skeletons", "5"], 3), (["get", "skeletons"], 2), (["ls", "skeletons", "5"], 2),
    (["get", "skeletons", "-5"], 2), (["get", "skeletons", "5x"], 2), (["get", "skeletons", str(2**64)], 2),
    (["take", "skeletons"], 2), (["get", "nowhere", "5"], 3)])
def test_failures_have_their_exit_codes(sherd, skeletons, words, code):
    ran = sherd("kv", *words)
    assert ran.code == code and ran.stderr.startswith("sherd: ") and ran.stdout == b""


def test_a_damaged_shard_is_named(sherd, skeletons):
    for name in ("0.shard", "1.shard"):
        (skeletons / name).write_bytes(b"")
    ran = sherd("kv", "get", skeletons, 5, "--json")
    assert ran.code == 4 and ran.error["code"] == "corrupt" and ran.error["key"].endswith(".shard")
