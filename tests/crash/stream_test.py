"""A stream of frames is killed at its calls. zarr-python finds the frames of whole flushes, and the next stream continues.

tests/faults ends a stream at every call, with simulated system calls; here real processes are killed."""

import shutil

import numpy as np
import pytest
import zarr

from crash.operations import COMMAND, ok, run, strace

FRAMES = np.arange(1, 1 + 14 * 24, dtype="u2").reshape(14, 4, 6)
EVERY = 3


def read(folder):
    return zarr.open_array(folder, mode="r")[:]


@pytest.mark.usefixtures("strace")
@pytest.mark.parametrize("call", ["openat", "pwrite64", "fsync", "renameat"])
def test_a_killed_stream_is_continued_from_a_whole_flush(tmp_path, call):
    clean, folder, log = tmp_path / "clean.zarr", tmp_path / "m.zarr", tmp_path / "log"
    ok(run(COMMAND, "create", clean, "--shape", "0,4,6", "--dtype", "uint16", "--chunks", "2,4,6", "--shards", "8,4,6"))
    (tmp_path / "frames").write_bytes(FRAMES.tobytes())
    lengths = set()
    for number in range(1, 200):
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(clean, folder)
        # The how-manieth call of any one thread.
        ended = strace([f"{call}:signal=KILL:when={number}"], log, COMMAND, "append", folder, "-i", tmp_path / "frames",
                       "--flush-every", EVERY, follow=True)
        assert ended.returncode in (0, -9), ended.stderr
        seen = read(folder)
        np.testing.assert_array_equal(seen, FRAMES[:len(seen)])
        if ended.returncode == 0:
            assert len(seen) == len(FRAMES)
            break
        assert len(seen) % EVERY == 0 or len(seen) == len(FRAMES)
        lengths.add(len(seen))
        (tmp_path / "rest").write_bytes(FRAMES[len(seen):].tobytes())
        ok(run(COMMAND, "append", folder, "-i", tmp_path / "rest"))
        np.testing.assert_array_equal(read(folder), FRAMES)
    assert lengths >= {0, EVERY, 2 * EVERY}
