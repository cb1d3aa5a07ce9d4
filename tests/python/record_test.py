"""What sherd.record() sees: the requests that a read needs, and no others.

Small objects may be read whole at once; LARGE forbids that, so that the requests are those of large ones.
"""

import numpy as np
import pytest
import sherd

LARGE = {"tail_read_bytes": 0, "coalesce_gap": 0}


@pytest.fixture
def path(tmp_path):
    array = sherd.create_array(tmp_path, shape=(64, 64), dtype="u2", chunks=(8, 8), shards=(32, 32), config={"chunk_order": "c"})
    array[...] = np.arange(4096).reshape(64, 64)
    return tmp_path


def test_an_inner_chunk_takes_two_requests_or_one_if_indexes_are_cached(path):
    array = sherd.open(path, config=LARGE)
    with sherd.record() as cold:
        array[1, 1]
    with sherd.record() as warm:
        array[9, 9]
    assert [(request["op"], request["key"]) for request in cold.requests] == [("get", "c/0/0")] * 2
    assert [set(request) for request in cold.requests] == [{"op", "key", "offset", "length"}] * 2
    assert len(warm.requests) == 1
    assert cold.stats["chunks_decoded"] == warm.stats["chunks_decoded"] == 1
    assert cold.stats["bytes_read"] == sum(request["length"] for request in cold.requests)


def test_neighbouring_chunks_are_one_request(path):
    array = sherd.open(path, config=LARGE)
    array[0, 0]
    with sherd.record() as log:
        array[0:8, 0:32]
    assert len(log.requests) == 1 and log.stats["chunks_decoded"] == 4


def test_a_whole_shard_is_one_request(path):
    with sherd.record() as log:
        sherd.open(path)[:32, :32]
    assert [request["key"] for request in log.requests] == ["zarr.json", "c/0/0"]
    assert log.stats["chunks_decoded"] == 16


def test_cached_chunks_cost_nothing(path):
    array = sherd.open(path, config={"cache": "chunks"})
    array[:8, :8]
    with sherd.record() as log:
        array[3, 3]
    assert log.requests == [] and log.stats["bytes_read"] == 0


def test_writing_whole_shards_reads_nothing(path):
    array = sherd.open(path, mode="r+")
    with sherd.record() as log:
        array[...] = 1
    assert {request["op"] for request in log.requests} == {"put"} and len(log.requests) == 4
    assert log.stats["chunks_encoded"] == 64 and log.stats["bytes_read"] == 0
    assert log.stats["bytes_written"] == sum(request["length"] for request in log.requests)


def test_updating_a_chunk_moves_the_others_unchanged(path):
    array = sherd.open(path, mode="r+")
    with sherd.record() as log:
        array[:8, :8] = 5
    assert (log.stats["chunks_encoded"], log.stats["chunks_decoded"], log.stats["chunks_moved"]) == (1, 0, 15)


def test_records_may_be_nested(path):
    array = sherd.open(path, config=LARGE)
    with sherd.record() as outer:
        array[0, 0]
        with sherd.record() as inner:
            array[0, 63]
    assert len(inner.requests) == 2 and len(outer.requests) == 4
    with sherd.record() as empty:
        pass
    assert empty.requests == [] and set(empty.stats.values()) == {0}


def test_a_record_ends_with_its_block_also_by_an_error(path):
    array = sherd.open(path, config=LARGE)
    with pytest.raises(IndexError), sherd.record() as log:
        array[0, 0]
        array[99]
    array[63, 63]
    assert len(log.requests) == 2
