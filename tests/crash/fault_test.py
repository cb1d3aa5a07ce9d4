"""The disk is full, or a call fails, in the middle of a write: the error is `io`, zarr-python reads the old version,
only the format's own files exist, and once there is free space the same write succeeds.

tests/faults makes every call of every operation fail, with simulated system calls in one process. Here the real program meets
real failures in two of them."""

import contextlib
import os
import shutil
import subprocess

import numpy as np
import pytest

from crash.operations import (CHANGES, OPERATIONS, WRITER, check_old_or_new, do_again, files, is_clean, points, prepare, ok, run, see,
                         writer)
from crash.operations import strace as inject

# exit_group cannot fail; if what is in the way cannot be removed, it stays.
FALLIBLE = [call for call in CHANGES if call not in ("exit_group", "unlinkat")]
READING = ("openat", "pread64", "newfstatat", "fcntl", "getdents64")
# The text of an error whose call has changed something nevertheless.
PUBLISHED = ("the new version is written, but may be lost in a power failure",
             "the change is stored, but consolidated metadata could not be renewed")


@contextlib.contextmanager
def small_disk(folder, size):
    folder.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size},mode=755", "sherd-test", folder], check=True,
                   stdin=subprocess.DEVNULL)
    try:
        yield folder
    finally:
        subprocess.run(["umount", folder], check=True, stdin=subprocess.DEVNULL)


def same(a, b):
    return a.value == b.value and np.array_equal(a.elements, b.elements)


@pytest.mark.parametrize("operation", ["shard", "part", "two", "all", "attributes", "grow", "append"])
def test_a_full_disk_leaves_what_was_there(operation, root, tmp_path):
    with small_disk(tmp_path / "disk", "256k") as disk:
        folder = disk / "store"
        prepare(folder)
        before, there = see(folder), files(folder)
        free = os.statvfs(disk)
        filler = disk / "filler"
        filler.write_bytes(bytes(free.f_bavail * free.f_frsize))
        failed = writer(folder, operation, 2)
        assert failed.returncode == 1, "there was space after all"
        assert failed.stderr.startswith("io: ") and "No space left on device" in failed.stderr
        assert same(see(folder), before)
        assert files(folder) == there
        filler.unlink()
        do_again(folder, operation, before, 3)


def test_a_disk_that_fills_up_in_the_middle_of_a_shard(root, tmp_path):
    """The first of its bytes are written, the rest do not fit."""
    for space in (4096, 8192, 12288):
        with small_disk(tmp_path / f"disk{space}", "1m") as disk:
            folder = disk / "store"
            ok(writer(folder, "create-crowd"))
            before, there = see(folder), files(folder)
            free = os.statvfs(disk)
            (disk / "filler").write_bytes(bytes(free.f_bavail * free.f_frsize - space))
            failed = writer(folder, "noise")
            assert failed.returncode == 1 and failed.stderr.startswith("io: "), failed.stderr
            assert same(see(folder), before)
            assert files(folder) == there
            (disk / "filler").unlink()
            ok(writer(folder, "noise"))
            assert is_clean(folder)


@pytest.mark.parametrize("operation", ["shard", "part", "two", "all", "append"])
def test_a_limit_on_the_size_of_files_is_like_a_full_disk(operation, tmp_path):
    """Needs no privilege: a process that ignores SIGXFSZ and may not write a file of one byte or more."""
    folder = tmp_path / "store"
    prepare(folder)
    before, there = see(folder), files(folder)
    limited = run("/usr/bin/python3", "-c", """
import os, resource, signal, sys
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (64, 64))
os.execv(sys.argv[1], sys.argv[1:])
""", WRITER, folder, operation, 2)
    assert limited.returncode == 1 and limited.stderr.startswith("io: "), limited.stderr
    assert same(see(folder), before)
    assert files(folder) == there
    do_again(folder, operation, before, 3)


def check_failed(operation, folder, before, there, done, blind):
    """How an operation may end if one of its calls has failed. A blind writer, which can no longer inspect files, does
    not know which side file is its own, and leaves it."""
    seen = see(folder)
    check_old_or_new(operation, before, seen, 2)
    assert blind or is_clean(folder), files(folder)
    if done.returncode == 0:  # it did without the call, or had it again
        assert np.array_equal(seen.elements, OPERATIONS[operation].change(before.elements, 2))
        return
    assert done.returncode == 1, "it crashed"
    assert done.stderr.startswith("io: ")
    if operation == "part" and not any(text in done.stderr for text in PUBLISHED):
        assert same(seen, before)
        assert blind or files(folder) == there


@pytest.mark.parametrize(("operation", "how"), [("part", "once"), ("two", "from then on")])
def test_any_call_that_fails_is_an_error_that_leaves_what_was_there(operation, how, strace, tmp_path, record_property):
    clean, folder, log = tmp_path / "clean", tmp_path / "store", tmp_path / "log"
    prepare(clean)
    before, there = see(clean), files(clean)
    shutil.copytree(clean, folder)
    faults = [(point, code) for point in points(folder, log, operation, 2, calls=READING) for code in ("EIO", "ENOSPC")
              if point.call in FALLIBLE or (point.call in READING and code == "EIO")]
    for point, code in faults:
        shutil.rmtree(folder)
        shutil.copytree(clean, folder)
        rule = f"{point.call}:error={code}:when={point.number}" + ("+" if how == "from then on" else "")
        done = inject([rule], log, WRITER, folder, operation, 2, calls=READING)
        try:
            check_failed(operation, folder, before, there, done, rule.startswith("newfstatat") and rule.endswith("+"))
            do_again(folder, operation, see(folder), 3)
        except AssertionError as error:
            raise AssertionError(f"{rule}: {done.stderr}") from error
    record_property("points", len(faults))
    print(f"{len(faults)} points")
