"""A writer is killed at each of its calls. Whatever it was about to do, zarr-python finds the old or the new value
in every stored object, leftovers mislead no reader, and the next writer succeeds and removes them.

tests/faults ends every operation at every call, with simulated system calls in one process. Here real processes are killed in
some of them, and in what takes several threads."""

import shutil

import pytest

from crash.operations import (WRITER, check_ignores_leftovers, check_old_or_new, do_again, points, prepare, see, strace,
                         writer)

pytestmark = pytest.mark.usefixtures("strace")
CASES = [("create", "end", False), ("part", "end", False), ("two", "start", False), ("two", "end", True)]


@pytest.mark.parametrize(("operation", "index_location", "appends"), CASES)
def test_a_writer_killed_at_any_call_leaves_old_or_new(operation, index_location, appends, on_disk, record_property, monkeypatch):
    clean, folder, log = on_disk / "clean", on_disk / "store", on_disk / "log"
    if appends:
        monkeypatch.setenv("CRASH_APPENDS", "1")
    if operation == "create":
        clean.mkdir()
    else:
        prepare(clean, index_location)
    before = see(clean)
    shutil.copytree(clean, folder)
    all_points = points(folder, log, operation, 2)
    assert any(point.call == "fdatasync" for point in all_points) == appends
    for point in all_points:
        shutil.rmtree(folder)
        shutil.copytree(clean, folder)
        killed = strace([f"{point.call}:signal=KILL:when={point.number}"], log, WRITER, folder, operation, 2)
        assert killed.returncode == -9, (point, killed.stderr)
        seen = see(folder)
        check_old_or_new(operation, before, seen, 2)
        check_ignores_leftovers(folder)
        do_again(folder, operation, seen, 3)
    record_property("points", len(all_points))
    print(f"{len(all_points)} points")


def test_a_writer_of_many_threads_killed_at_any_call_leaves_old_or_new(tmp_path, record_property):
    clean, folder, log = tmp_path / "clean", tmp_path / "store", tmp_path / "log"
    prepare(clean)
    before, kills = see(clean), 0
    for call in ("openat", "pwrite64", "fsync", "utimensat", "renameat"):
        for number in range(1, 100):
            shutil.rmtree(folder, ignore_errors=True)
            shutil.copytree(clean, folder)
            # The how-manieth call of any one thread.
            rule = f"{call}:signal=KILL:when={number}"
            ended = strace([rule], log, WRITER, folder, "all", 2, follow=True, env={"CRASH_THREADS": "4"})
            assert ended.returncode in (0, -9), ended.stderr
            seen = see(folder)
            check_old_or_new("all", before, seen, 2)
            if ended.returncode == 0:
                break
            kills += 1
            check_ignores_leftovers(folder)
            do_again(folder, "all", seen, 3)
    assert kills >= 10
    record_property("points", kills)
    print(f"{kills} points")


def test_leftovers_of_a_copys_and_a_checks_source_are_ignored(tmp_path):
    """A side file next to an object is not copied, counted or reported."""
    from crash.operations import COMMAND, files, is_clean, ok, run

    folder, log = tmp_path / "store", tmp_path / "log"
    prepare(folder)
    assert strace(["renameat:signal=KILL:when=1"], log, WRITER, folder, "shard", 2).returncode == -9
    assert not is_clean(folder)
    left = files(folder)
    ok(run(COMMAND, "check", folder, "--data"))
    ok(run(COMMAND, "copy", folder, tmp_path / "copy"))
    assert is_clean(tmp_path / "copy")
    assert files(tmp_path / "copy") == {name for name in left if ".sherd-lock" not in name}
    assert files(folder) == left
    ok(writer(folder, "shard", 3))
    assert is_clean(folder)
