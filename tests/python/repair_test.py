"""sherd.repair and sherd.compact: their reports, and what they accept."""

import numpy
import pytest

import sherd

VALUES = numpy.arange(64 * 64, dtype="u2").reshape(64, 64)


@pytest.fixture
def torn(tmp_path):
    """An array whose shard ends in the middle of an append, and that shard."""
    sherd.create_array(tmp_path / "a", data=VALUES, chunks=(16, 16), shards=(64, 64), compressors=None)
    shard = tmp_path / "a/c/0/0"
    shard.write_bytes(shard.read_bytes() + bytes(100))
    return tmp_path / "a", shard


def test_a_report_has_what_was_repaired_and_what_remains(torn):
    path, shard = torn
    before = shard.read_bytes()
    assert sherd.check(path)["repaired"] == [] and not sherd.check(path)["ok"]
    report = sherd.repair(path)
    assert report["ok"] and report["faults"] == [] and report["checked"]["shards"] == 1
    assert report["repaired"] == [{"action": "tail_cut", "key": "c/0/0", "backup": "c/0/0.sherd-backup",
                                   "message": f"removed 100 bytes after its last sound index, which ends at byte {len(before) - 100}"}]
    assert shard.with_name("0.sherd-backup").read_bytes() == before
    assert (sherd.open_array(path)[:] == VALUES).all()
    assert sherd.repair(path)["repaired"] == []


def test_a_backup_is_left_out_on_request(torn):
    path, shard = torn
    assert sherd.repair(path, backup=False)["repaired"][0]["backup"] is None
    assert [each.name for each in shard.parent.iterdir()] == ["0"]


def test_broken_chunks_are_dropped_on_request_only(torn):
    path, shard = torn
    shard.write_bytes(shard.read_bytes()[:3000])
    report = sherd.repair(path)
    assert not report["ok"] and [each["code"] for each in report["faults"]] == ["index_checksum", "not_repaired"]
    assert sherd.repair(path, drop_broken=True)["repaired"][0]["action"] == "object_erased"
    assert (sherd.open_array(path)[:] == 0).all() and not shard.exists()


def test_backups_are_left_out_of_copies_and_erased_with_their_node(torn, tmp_path):
    path, shard = torn
    sherd.repair(path)
    assert sherd.copy(path, tmp_path / "b")["warnings"] == []
    assert sorted(each.name for each in (tmp_path / "b/c/0").iterdir()) == ["0"]
    sherd.create_array(path, shape=4, dtype="u1", overwrite=True)
    assert not shard.parent.exists()


def test_a_store_in_memory_is_repaired_and_compacted():
    store = sherd.MemoryStore()
    array = sherd.create_array(store, data=VALUES, chunks=(16, 16), shards=(64, 64))
    array[:] = VALUES * 7
    array[:16, :16] = VALUES[:16, :16] % 3
    assert sherd.repair(store)["ok"]
    dead = sherd.check(store)["space"]["dead"]
    report = sherd.compact(store)
    assert report == ({"reclaimed": dead, "shards": 1} if dead else {"reclaimed": 0, "shards": 0})
    assert sherd.check(store)["space"]["dead"] == 0


def test_compact_reports_bytes_and_shards(torn):
    path, shard = torn
    sherd.repair(path, backup=False)
    whole = shard.read_bytes()
    shard.write_bytes(whole[:-260] + bytes(1000) + whole[-260:])
    assert sherd.compact(path) == {"reclaimed": 1000, "shards": 1}
    assert shard.read_bytes() == whole
    assert sherd.compact(path) == {"reclaimed": 0, "shards": 0}


def test_arguments_are_checked(torn):
    path, _ = torn
    for arguments in [{"drop_broken": 1}, {"backup": None}, {"data": "yes"}]:
        with pytest.raises((TypeError, sherd.InvalidArgument)):
            sherd.repair(path, **arguments)
    with pytest.raises(sherd.NotFound):
        sherd.compact(path / "nothing")
