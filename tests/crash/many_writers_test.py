"""64 writers, 8 threads in each of 8 processes, write the 64 inner chunks of one shard, each its own and each counting
up, while zarr-python reads the whole shard and Sherd reads single chunks: no reader sees a chunk of two values or one that
goes back to an older value, and in the end every last value is there."""

import subprocess

import numpy as np
import pytest
import zarr

from crash.operations import HANGS, WRITER, is_clean, ok, see, writer

ROUNDS = 40
CACHES = {"index": 0, "shard": 1, "chunks": 2}


def chunks(elements):
    return elements.reshape(8, 16, 8, 16).swapaxes(1, 2).reshape(64, 256)


def test_no_write_is_lost_and_no_read_is_mixed(tmp_path, record_property):
    folder = tmp_path / "store"
    ok(writer(folder, "create-crowd"))
    readers = {cache: subprocess.Popen([WRITER, folder, "read-crowd", str(number)], stdin=subprocess.PIPE,
                                       stdout=subprocess.PIPE, text=True) for cache, number in CACHES.items()}
    writers = subprocess.Popen([WRITER, folder, "write-crowd", str(ROUNDS)], stdin=subprocess.DEVNULL)
    try:
        array = zarr.open_array(folder, path="a", mode="r", zarr_format=3)
        reads, newest = 0, np.zeros(64, np.uint16)
        while writers.poll() is None:
            seen = chunks(array[:, :])
            assert (seen == seen[:, :1]).all(), "torn"
            assert (seen[:, 0] >= newest).all(), "a chunk went back"
            newest = seen[:, 0]
            reads += 1
        assert writers.wait(HANGS) == 0
        for cache, reader in readers.items():
            out, _ = reader.communicate(timeout=HANGS)
            assert reader.returncode == 0, cache
            count, torn, backwards = map(int, out.split())
            print(f"{cache} cache: {count} reads of a chunk")
            assert count > 0 and (torn, backwards) == (0, 0), cache
    finally:
        for process in [writers, *readers.values()]:
            process.kill()
            process.wait()
    print(f"{64 * ROUNDS} writes; zarr-python read the shard {reads} times")
    record_property("reads", reads)
    assert reads > 0
    assert (chunks(see(folder).elements) == 1 + ROUNDS).all(), "lost"
    assert is_clean(folder)


@pytest.mark.parametrize("location", ["start", "end"])
def test_zarr_python_finds_untouched_chunks_where_they_were(location, tmp_path):
    """It opens a shard once for the index and again for the data; an update between the two moves no other chunk."""
    folder = tmp_path / "store"
    ok(writer(folder, "prepare", location))
    shard = folder / "a/c/1/1"
    before = shard.read_bytes()
    ok(writer(folder, "part", 2))
    after = shard.read_bytes()
    old, new = (index_of(data, location) for data in (before, after))
    kept = [slot for slot in range(4) if np.array_equal(old[slot], new[slot])]
    assert kept == [1, 3], (old, new)  # the box lies in the left half
    for slot in kept:
        offset, length = map(int, old[slot])
        assert before[offset:offset + length] == after[offset:offset + length]


def index_of(shard, location):
    size = 16 * 4
    return np.frombuffer(shard[:size] if location == "start" else shard[-size - 4:-4], "<u8").reshape(4, 2)
