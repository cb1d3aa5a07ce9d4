"""ShardedStore from Python: values by id, its modes, what it costs, and its errors. What other programs make of its shards
is in tests/interop/ids_test.py."""

import concurrent.futures
import json
import pickle

import numpy as np
import pytest
import sherd
from sherd.neuroglancer import ShardedStore

from shardings import sharding

SHARDING = sharding("murmurhash3_x86_128", (0, 3, 1), "gzip", "gzip")
LAST = 2**64 - 1


@pytest.fixture
def store(tmp_path):
    return ShardedStore(tmp_path, SHARDING, mode="r+")


def test_values_are_put_got_listed_and_deleted(store):
    store.put(LAST, b"last")
    store.put_many({1: b"one", 2: bytearray(b"two")})
    store.put_many((np.uint64(each), memoryview(b"x" * each)) for each in range(3, 20))
    assert store.get(LAST) == b"last" and store.get(np.int64(2)) == b"two" and store.get(500) is None
    assert store.get_many([5, 500, 5]) == [b"x" * 5, None, b"x" * 5] and store.get_many(np.arange(1, 3)) == [b"one", b"two"]
    assert 1 in store and 500 not in store
    assert sorted(store.list()) == [*range(1, 20), LAST]
    assert store.delete(1) and not store.delete(1) and store.delete_many([2, 3, 500]) == 2
    assert sorted(store.list()) == [*range(4, 20), LAST]
    assert store.compact()["reclaimed"] > 0 and store.compact() == {"reclaimed": 0, "shards": 0}
    assert store.get(19) == b"x" * 19


def test_the_sharding_is_given_or_found(store, tmp_path):
    store.put(1, b"one")
    assert ShardedStore(sherd.Store(tmp_path), SHARDING).get(1) == b"one"
    with pytest.raises(sherd.NotFound, match="specify the sharding"):
        ShardedStore(tmp_path)
    (tmp_path / "info").write_text(json.dumps({"@type": "neuroglancer_skeletons", "sharding": SHARDING}))
    found = ShardedStore(str(tmp_path))
    assert found.get(1) == b"one" and found.sharding == SHARDING == store.sharding
    assert found.url == f"file://{tmp_path}" and str(tmp_path) in repr(found)


def test_a_read_only_store_refuses_writes(store, tmp_path):
    reader = ShardedStore(tmp_path, SHARDING)
    assert reader.read_only and not store.read_only
    for change in (lambda: reader.put(1, b""), lambda: reader.put_many({}), lambda: reader.delete(1), reader.compact):
        with pytest.raises(sherd.InvalidArgument, match="opened for reading only"):
            change()


def test_replacing_a_value_writes_little_and_reading_takes_three_requests(store, tmp_path):
    values = {each: np.random.default_rng(each).bytes(16 << 10) for each in range(512)}
    store.put_many(values)
    with sherd.record() as log:
        ShardedStore(tmp_path, SHARDING, mode="r+").put(7, b"new")
    assert log.stats["bytes_written"] < 20_000
    with sherd.record() as log:
        reader = ShardedStore(tmp_path, SHARDING)
        assert reader.get(7) == b"new"
    assert [each["op"] for each in log.requests] == ["get"] * 3
    with sherd.record() as log:
        assert reader.get(7) == b"new"
    assert len(log.requests) == 1


def test_settings_of_a_handle_apply_to_it_and_its_pickle(tmp_path):
    small = ShardedStore(tmp_path, SHARDING, mode="r+", config={"limits": {"chunk_bytes": 100}})
    with pytest.raises(sherd.Unsupported, match="chunk_bytes"):
        small.put(1, bytes(101))
    small.put(1, bytes(100))
    assert pickle.loads(pickle.dumps(small)).get(1) == bytes(100)
    with pytest.raises(sherd.Unsupported):
        pickle.loads(pickle.dumps(small)).put(1, bytes(101))
    with pytest.raises(sherd.InvalidArgument):
        pickle.dumps(ShardedStore(sherd.MemoryStore(), SHARDING))


@pytest.mark.parametrize("wrong", [-1, 2**64, "1", 1.0, None, True])
def test_invalid_ids_are_refused(store, wrong):
    for call in (store.get, store.delete, lambda each: store.put(each, b""), lambda each: store.get_many([each]),
                 lambda each: store.put_many([(each, b"")]), lambda each: each in store):
        with pytest.raises(sherd.InvalidArgument, match="an id must be an int"):
            call(wrong)


def test_invalid_values_and_modes_are_refused(store, tmp_path):
    for wrong in ("text", 5, None):
        with pytest.raises(TypeError):
            store.put(1, wrong)
    with pytest.raises(sherd.InvalidArgument, match="given twice"):
        store.put_many([(1, b"a"), (1, b"b")])
    with pytest.raises(sherd.InvalidArgument, match="an item is"):
        store.put_many([(1, b"a", b"b", b"c")])
    with pytest.raises(sherd.InvalidArgument, match="1 bytes before it, and 0 belong to it"):
        store.put_many([(1, b"a", b"b")])
    with pytest.raises(sherd.InvalidArgument, match="mode"):
        ShardedStore(tmp_path, SHARDING, mode="w")
    with pytest.raises(sherd.InvalidArgument) as error:
        ShardedStore(tmp_path, SHARDING | {"preshift_bits": 65})
    assert error.value.member == "sharding.preshift_bits"
    assert store.list() == []


def test_a_damaged_shard_names_itself(store, tmp_path):
    store.put_many({each: b"x" for each in range(20)})
    for name in ("0.shard", "1.shard"):
        (tmp_path / name).write_bytes(b"")
    with pytest.raises(sherd.Corrupt) as error:
        store.get(1)
    assert error.value.key in ("0.shard", "1.shard")


def test_threads_share_a_handle(store):
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda each: store.put(each, b"%d" % each), range(64)))
        assert list(pool.map(store.get, range(64))) == [b"%d" % each for each in range(64)]
