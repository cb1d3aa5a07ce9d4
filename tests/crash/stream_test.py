"""A stream of frames is killed at its calls. zarr-python finds the frames of whole flushes, and the next stream continues.

tests/faults ends a stream at every call, with simulated system calls; here real processes are killed, on the disk, where shards are
appended to unless too much of them would be dead."""

import collections
import shutil
import sys

import numpy as np
import pytest
import zarr

from crash.operations import CHANGES, COMMAND, WRITER, ok, run, strace, writer

FRAMES = np.arange(1, 1 + 14 * 24, dtype="u2").reshape(14, 4, 6)
EVERY = 3


def read(folder):
    return zarr.open_array(folder, mode="r")[:]


@pytest.mark.usefixtures("strace")
@pytest.mark.parametrize(("call", "threads", "unused"), [
    ("openat", 1, 0.5), ("pwrite64", 1, 0.5), ("pwrite64", 2, 0.5), ("fsync", 1, 0.5), ("renameat", 1, 0.5),
    ("pwrite64", 1, 1), ("pwrite64", 2, 1), ("fdatasync", 1, 1)])
def test_a_killed_stream_is_continued_from_a_whole_flush(on_disk, call, threads, unused):
    clean, folder, log = on_disk / "clean.zarr", on_disk / "m.zarr", on_disk / "log"
    ok(run(COMMAND, "create", clean, "--shape", "0,4,6", "--dtype", "uint16", "--chunks", "2,4,6", "--shards", "8,4,6"))
    (on_disk / "frames").write_bytes(FRAMES.tobytes())
    lengths = set()
    for number in range(1, 200):
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(clean, folder)
        # The how-manieth call of any one thread.
        ended = strace([f"{call}:signal=KILL:when={number}"], log, COMMAND, "append", folder, "-i", on_disk / "frames",
                       "--flush-every", EVERY, "--threads", threads, "--max-unused", unused, follow=True)
        assert ended.returncode in (0, -9), ended.stderr
        seen = read(folder)
        np.testing.assert_array_equal(seen, FRAMES[:len(seen)])
        if ended.returncode == 0:
            assert len(seen) == len(FRAMES)
            break
        assert len(seen) % EVERY == 0 or len(seen) == len(FRAMES)
        lengths.add(len(seen))
        (on_disk / "rest").write_bytes(FRAMES[len(seen):].tobytes())
        ok(run(COMMAND, "append", folder, "-i", on_disk / "rest", "--max-unused", unused))
        np.testing.assert_array_equal(read(folder), FRAMES)
    # Of two threads that write in turn, each is killed at every call of its own. The first flush makes a shard, and appends to none.
    first = EVERY if call == "fdatasync" else 0
    assert lengths >= ({first, EVERY, 2 * EVERY} if threads == 1 else {0, EVERY}) and len(lengths) > 2


ROWS, BEFORE = 5, 12  # of a flush, and before the stream


def rows_in(folder):
    """How many there are, after checking that each holds its number."""
    rows = zarr.open_array(folder, path="a", mode="r")[:]
    assert (rows == np.arange(len(rows))[:, None]).all(), rows
    return len(rows)


def calls_of_threads(log):
    """How often a thread other than the first makes each call that changes something."""
    counts = collections.Counter()
    lines = [line.split(maxsplit=1) for line in log.read_text().splitlines()]
    for thread, line in lines:
        call = line.partition("(")[0]
        if thread != lines[0][0] and call in CHANGES and call not in ("openat", "exit_group"):
            counts[thread, call] += 1
    return {call: max(count for (_, each), count in counts.items() if each == call) for _, call in counts}


@pytest.mark.usefixtures("strace")
@pytest.mark.parametrize("technique", [1, 2, 3, 4])
def test_no_acknowledged_slice_is_lost_by_a_kill_at_any_call(on_disk, technique):
    """A file that a call of openat makes is there when the thread is killed at its next call."""
    clean, folder, log = on_disk / "clean", on_disk / "store", on_disk / "log"
    ok(writer(clean, "stream-prepare", technique))
    shutil.copytree(clean, folder)
    ok(strace([], log, WRITER, folder, "stream", technique, follow=True))
    counts, seen = calls_of_threads(log), set()
    for call, number in [(call, number + 1) for call, count in counts.items() for number in range(count)]:
        shutil.rmtree(folder)
        shutil.copytree(clean, folder)
        killed = strace([f"{call}:signal=KILL:when={number}"], log, WRITER, folder, "stream", technique, follow=True)
        assert killed.returncode == -9, (call, number, killed.stderr)
        length = rows_in(folder)
        assert length >= int(([BEFORE] + killed.stdout.split())[-1]), (call, number)
        assert (length - BEFORE) % ROWS == 0
        ok(writer(folder, "stream", technique))
        assert rows_in(folder) == length + 2 * ROWS
        seen.add(length)
    assert seen == {BEFORE, BEFORE + ROWS, BEFORE + 2 * ROWS}
    print(f"{sum(counts.values())} points: {counts}")


GROUP = """
import sys, numpy as np, sherd
stream = sherd.open_group(sys.argv[1], mode="r+", config={"max_unused": 1}).appender(
    {"heat": 0, "level": 1, "time": 0}, auto_flush=False, threads=1)
for i in range(stream.stats["length"], 8):
    stream.append({"heat": np.full((4, 6), i + 1), "level": [i + 1] * 3, "time": i + 1})
    if i % 4 == 3:
        stream.flush()
stream.close()
"""


def lengths_in(folder):
    """Those of each array, coordinate last, after checking that every slice is there."""
    group = zarr.open_group(folder, mode="r")
    lengths = []
    for name, axis in (("heat", 0), ("level", 1), ("time", 0)):
        slices = np.moveaxis(group[name][:], axis, 0)
        assert all((each == i + 1).all() for i, each in enumerate(slices))
        lengths.append(len(slices))
    return tuple(lengths)


@pytest.mark.usefixtures("strace")
@pytest.mark.parametrize("call", ["fsync", "fdatasync", "renameat"])
def test_a_killed_stream_of_a_group_is_continued_as_it_was_shown(on_disk, call):
    clean, folder, log = on_disk / "clean.zarr", on_disk / "g.zarr", on_disk / "log"
    group = zarr.create_group(clean)
    for name, shape, chunks, names in (("heat", (0, 4, 6), (1, 4, 6), ["time", "y", "x"]), ("level", (3, 0), (3, 2), ["z", "time"]),
                                       ("time", (0,), (8,), ["time"])):
        shards = (8, 4, 6) if name == "heat" else None
        group.create_array(name, shape=shape, chunks=chunks, shards=shards, dtype="u2", dimension_names=names)
    seen = set()
    for number in range(1, 200):
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(clean, folder)
        ended = strace([f"{call}:signal=KILL:when={number}"], log, sys.executable, "-c", GROUP, folder, follow=True)
        assert ended.returncode in (0, -9), ended.stderr
        lengths = lengths_in(folder)
        assert min(lengths) == lengths[2] and not {each % 4 for each in lengths} - {0}
        seen.add(lengths)
        ok(run(sys.executable, "-c", GROUP, folder))
        assert lengths_in(folder) == (8, 8, 8)
        if ended.returncode == 0:
            break
    assert call != "renameat" or seen >= {(4, 0, 0), (4, 4, 0), (8, 8, 4)}
