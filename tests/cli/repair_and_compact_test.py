"""check --repair and compact: what they print, their exit codes, and what other programs then read."""

import json
import os
import pathlib
import shutil

import numpy
import pytest
import zarr

TORN = pathlib.Path(__file__).resolve().parents[1] / "data/torn"
VALUES = numpy.arange(64 * 64, dtype=numpy.uint16).reshape(64, 64)


@pytest.fixture
def shard(sherd):
    """That of an array "a", written by zarr-python."""
    array = zarr.create_array(sherd.folder / "a", shape=(64, 64), dtype="u2", chunks=(16, 16), shards=(64, 64))
    array[:] = VALUES
    return sherd.folder / "a/c/0/0"


def test_a_torn_tail_is_cut_and_the_old_object_kept(sherd, shard):
    whole = shard.read_bytes()
    shard.write_bytes(whole + whole[:1000])
    assert sherd("check", "a").code == 1
    ran = sherd.ok("check", "a", "--repair", "--json")
    report = ran.json
    assert report["ok"] and report["faults"] == []
    (done,) = report["repaired"]
    assert done == {"action": "tail_cut", "key": "c/0/0", "backup": "c/0/0.sherd-backup",
                    "message": f"removed 1000 bytes after its last sound index, which ends at byte {len(whole)}"}
    assert shard.read_bytes() == whole
    assert (zarr.open_array(sherd.folder / "a")[:] == VALUES).all()
    assert shard.with_name("0.sherd-backup").read_bytes() == whole + whole[:1000]
    (fault,) = sherd.ok("check", "a", "--json").json["faults"]
    assert (fault["severity"], fault["code"], fault["key"]) == ("warning", "backup", "c/0/0.sherd-backup")


def test_a_torn_head_is_restored_from_the_second_index(sherd):
    sharding = zarr.codecs.ShardingCodec(chunk_shape=(16, 16), index_location="start")
    array = zarr.create_array(sherd.folder / "a", shape=(64, 64), dtype="u2", chunks=(64, 64), serializer=sharding, filters=None,
                              compressors=None)
    array[:] = VALUES
    shard = sherd.folder / "a/c/0/0"
    whole = shard.read_bytes() + shard.read_bytes()[:260]
    shard.write_bytes(whole[:100] + bytes(60) + whole[160:])
    assert sherd("check", "a").code == 1
    (done,) = sherd.ok("check", "a", "--repair", "--data", "--json").json["repaired"]
    assert (done["action"], done["backup"]) == ("index_restored", "c/0/0.sherd-backup")
    assert shard.read_bytes() == whole
    assert (zarr.open_array(sherd.folder / "a")[:] == VALUES).all()


def test_repairs_are_listed_for_people_too(sherd, shard):
    whole = shard.read_bytes()
    shard.write_bytes(whole + b"torn")
    lines = sherd.ok("check", "a", "--repair", "--no-backup").text.splitlines()
    assert lines[0].split() == ["REPAIRED", "KEY", "BACKUP", "MESSAGE"]
    assert lines[1].split()[:3] == ["tail_cut", "c/0/0", "-"]
    assert lines[-1].startswith("ok, 1 repair: 1 document, 1 shard, 16 chunks; ")
    assert sorted(os.listdir(shard.parent)) == ["0"]


def test_faults_that_remain_after_a_repair_are_exit_code_1(sherd, shard):
    bytes_ = bytearray(shard.read_bytes())
    bytes_[10] ^= 1
    shard.write_bytes(bytes_)
    assert sherd("check", "a", "--repair").code == 0, "only decoding finds it"
    ran = sherd("check", "a", "--repair", "--data", "--json")
    assert ran.code == 1 and ran.json["repaired"] == []
    assert [each["code"] for each in ran.json["faults"]] == ["chunk_decode", "not_repaired"]
    assert shard.read_bytes() == bytes(bytes_)
    ran = sherd.ok("check", "a", "--repair", "--data", "--drop-broken", "--json")
    (done,) = ran.json["repaired"]
    assert done["action"] == "slots_emptied" and done["message"].startswith("emptied 1 slot: ")
    values = zarr.open_array(sherd.folder / "a")[:]
    assert (values == VALUES).sum() >= 64 * 64 - 16 * 16 and ((values == VALUES) | (values == 0)).all()


@pytest.mark.parametrize("option", ["--drop-broken", "--no-backup"])
def test_options_of_a_repair_need_it(sherd, shard, option):
    ran = sherd("check", "a", option)
    assert ran.code == 2 and f"{option} can only be used with --repair" in ran.stderr


@pytest.mark.parametrize("peer", ["zarr-python", "zarrs"])
@pytest.mark.parametrize(("location", "action", "left"), [("start", "slots_emptied", 30 * 64), ("end", "object_erased", 0)])
def test_shards_that_killed_peers_left_torn_are_read_by_zarr_python_again(sherd, peer, location, action, left):
    shutil.copytree(TORN / f"{peer}-{location}", sherd.folder / "a")
    with pytest.raises(Exception):  # noqa: B017  (zarr-python's own errors)
        zarr.open_array(sherd.folder / "a")[:]
    assert sherd("check", "a", "--repair").code == 1
    (done,) = sherd.ok("check", "a", "--repair", "--drop-broken", "--data", "--json").json["repaired"]
    assert done["action"] == action
    values = zarr.open_array(sherd.folder / "a")[:]
    assert ((values == VALUES) | (values == 0)).all()
    assert (values == VALUES).sum() == max(left, 1), "element 0 is 0"


def test_files_of_killed_writers_are_removed_and_named(sherd, shard):
    for name in ["a/.zarr.json.sherd-lock", "a/c/0/.0.sherd-lock"]:
        (sherd.folder / name).touch()
    report = sherd.ok("check", "a", "--repair", "--json").json
    assert sorted((each["action"], each["key"]) for each in report["repaired"]) == [
        ("side_file_removed", ".zarr.json.sherd-lock"), ("side_file_removed", "c/0/.0.sherd-lock")]
    assert sherd.ok("check", "a", "--repair", "--json").json["repaired"] == []


def test_a_repair_goes_through_a_group_and_an_archive(sherd):
    group = zarr.open_group(sherd.folder / "g", mode="w")
    for name in ["x", "y"]:
        group.create_array(name, shape=(64, 64), dtype="u2", chunks=(16, 16), shards=(64, 64))[:] = VALUES
        path = sherd.folder / "g" / name / "c/0/0"
        path.write_bytes(path.read_bytes() + b"torn")
    sherd.ok("copy", "--raw", "g", "g.zip")
    for url in ["g", "g.zip"]:
        assert sherd("check", url).code == 1
        report = sherd.ok("check", url, "--repair", "--no-backup", "--json").json
        assert sorted(each["key"] for each in report["repaired"]) == ["x/c/0/0", "y/c/0/0"]
        assert sherd.ok("check", url, "--data", "--json").json["faults"] == []
        assert sherd.ok("read", f"{url}/x" if url == "g" else "g.zip|zip:x/", "--format", "raw").stdout == VALUES.tobytes()


def test_compact_reclaims_dead_bytes(sherd, shard):
    whole = shard.read_bytes()
    index = 16 * 16 + 4
    shard.write_bytes(whole[:-index] + bytes(3000) + whole[-index:])
    ran = sherd.ok("compact", "a", "--json", "--stats")
    assert ran.json == {"reclaimed": 3000, "shards": 1}
    assert json.loads(ran.stderr)["updates"] == {"rewrite: compacted": 1}
    assert shard.read_bytes() == whole
    before = shard.stat()
    assert sherd.ok("compact", "a").text == "reclaimed 0 B in 0 shards\n"
    assert (shard.stat().st_ino, shard.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns), "it was not touched"
    assert (zarr.open_array(sherd.folder / "a")[:] == VALUES).all()


def test_memory_of_compact_does_not_grow_with_the_shard(sherd):
    size, chunk, erased = 64 << 20, 64 << 10, 1 << 20
    array = zarr.create_array(sherd.folder / "a", shape=(size,), dtype="u1", chunks=(chunk,), shards=(size,), compressors=None)
    values = numpy.random.default_rng(1).integers(1, 256, size, numpy.uint8)
    array[:] = values
    sherd.ok("write", "a", "--value", "0", "--select", f"0:{erased}", "--update", "rewrite", "--max-unused", "1")
    values[:erased] = 0
    ran = sherd.ok("compact", "a", "--json", "--stats")
    assert ran.json["shards"] == 1 and ran.json["reclaimed"] >= erased
    stats = json.loads(ran.stderr)
    assert stats["chunks_moved"] == (size - erased) // chunk, "every other chunk, as the first ones are dead"
    assert stats["peak_rss"] < (sherd.folder / "a/c/0").stat().st_size / 2
    numpy.testing.assert_array_equal(array[:], values)


def test_compact_names_what_it_refuses(sherd, shard):
    assert sherd("compact", "nothing").code == 3
    shard.write_bytes(shard.read_bytes()[:-1])
    ran = sherd("compact", "a")
    assert ran.code == 4 and "c/0/0" in ran.stderr
    assert sherd("compact", "http://127.0.0.1:9/a.zarr").code in (2, 8)


def test_compact_of_an_archive_rewrites_it(sherd, shard):
    whole = shard.read_bytes()
    shard.write_bytes(whole[:-260] + bytes(3000) + whole[-260:])
    sherd.ok("copy", "--raw", "a", "a.zip")
    size = (sherd.folder / "a.zip").stat().st_size
    assert sherd.ok("compact", "a.zip", "--json").json == {"reclaimed": 3000, "shards": 1}
    assert (sherd.folder / "a.zip").stat().st_size <= size - 3000
    assert sherd.ok("read", "a.zip", "--format", "raw").stdout == VALUES.tobytes()
