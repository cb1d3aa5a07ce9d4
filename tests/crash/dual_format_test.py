"""A shard of a dual-format array is changed, and the writer is killed or fails at each system call: readers of either name
find each shard in its old or its new version, and the next writer makes both names the same file again.
tests/faults does the same for more operations, with simulated system calls."""

import shutil

import numpy as np
import pytest

from crash.operations import CHANGES, WRITER, files, ok, points, run, strace, writer

pytestmark = pytest.mark.usefixtures("strace")
OPERATIONS = ("dual-format-volume",)


def halves(folder):
    """What a new process reads of the array and of the volume, as blocks that are shards."""
    lines = ok(writer(folder, "dual-format-look")).stdout.splitlines()
    return [np.array(line.split(), int).reshape(2, 8, 2, 8, 16).swapaxes(1, 2) for line in lines]


def assert_old_or_new(before, after, folder):
    for seen in halves(folder):
        old, new = seen == before, seen == after
        assert (old.all((2, 3, 4)) | new.all((2, 3, 4))).all()


def assert_one_again(folder, name, after, names):
    ok(writer(folder, name, 9000))
    for seen in halves(folder):
        np.testing.assert_array_equal(seen, after)
    assert files(folder) == names, "the next writer removes what was left over"
    links = [path.stat().st_nlink for path in folder.rglob("*") if path.is_file() and path.name not in ("zarr.json", "info")]
    assert set(links) == {2}


@pytest.fixture(params=OPERATIONS)
def operation(request, tmp_path):
    """(name, folder as prepared, folder to work in, elements before, elements after, files after)"""
    clean, folder = tmp_path / "clean", tmp_path / "store"
    ok(writer(clean, "dual-format-prepare"))
    before = halves(clean)[0]
    again(clean, folder)
    ok(writer(folder, request.param, 9000))
    after = halves(folder)[0]
    assert (before != after).any()
    names = files(folder)
    again(clean, folder)
    return request.param, clean, folder, before, after, names


def again(clean, folder):
    """As with `cp -a`: names of the same file stay names of the same file."""
    if folder.exists():
        shutil.rmtree(folder)
    ok(run("cp", "-a", clean, folder))


def test_a_writer_killed_at_any_call_leaves_old_or_new_under_each_name(operation, tmp_path):
    name, clean, folder, before, after, names = operation
    log = tmp_path / "log"
    all_points = points(folder, log, name, 9000)
    for point in all_points:
        again(clean, folder)
        killed = strace([f"{point.call}:signal=KILL:when={point.number}"], log, WRITER, folder, name, 9000)
        assert killed.returncode == -9, (point, killed.stderr)
        assert_old_or_new(before, after, folder)
        assert_one_again(folder, name, after, names)
    print(f"{len(all_points)} points")


def test_a_failing_call_is_an_error_and_leaves_old_or_new_under_each_name(operation, tmp_path):
    name, clean, folder, before, after, names = operation
    log = tmp_path / "log"
    for point in points(folder, log, name, 9000):
        if point.call not in CHANGES or point.call in ("exit_group", "unlinkat"):
            continue
        again(clean, folder)
        failed = strace([f"{point.call}:error=EIO:when={point.number}"], log, WRITER, folder, name, 9000)
        assert_old_or_new(before, after, folder)
        if failed.returncode != 0:
            assert failed.stderr.startswith(("io: ", "unsupported: ")), (point, failed.stderr)
        assert_one_again(folder, name, after, names)
