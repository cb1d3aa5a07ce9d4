"""A value of a shard of ids is replaced, added or deleted, and the writer is killed or fails at each call: another
reader finds every value, old or new, and the next writer succeeds. tests/faults does the same for
more operations, with simulated system calls."""

import shutil

import pytest

from crash.operations import CHANGES, WRITER, files, ok, points, strace, writer

pytestmark = pytest.mark.usefixtures("strace")
OPERATIONS = {"put-many": "in place, two minishards", "rewrite": "rewritten"}


def values(folder):
    """What a new process reads, as {id: value}."""
    lines = ok(writer(folder, "ids-look")).stdout.splitlines()
    return dict(line.split(" ", 1) for line in lines)


def check_old_or_new(before, after, seen):
    for name in before.keys() | after.keys() | seen.keys():
        assert seen.get(name) in (before.get(name), after.get(name)), name


@pytest.fixture(params=OPERATIONS)
def operation(request, tmp_path):
    """(name, folder as prepared, folder to work in, values before, values after)"""
    clean, folder = tmp_path / "clean", tmp_path / "store"
    ok(writer(clean, "ids-prepare"))
    before = values(clean)
    shutil.copytree(clean, folder)
    ok(writer(folder, "ids-" + request.param, 2))
    after = values(folder)
    assert before != after and len(before) > 20
    shutil.rmtree(folder)
    shutil.copytree(clean, folder)
    return "ids-" + request.param, clean, folder, before, after


def test_a_writer_killed_at_any_call_leaves_old_or_new(operation, tmp_path):
    name, clean, folder, before, after = operation
    log = tmp_path / "log"
    all_points = points(folder, log, name, 2)
    for point in all_points:
        shutil.rmtree(folder)
        shutil.copytree(clean, folder)
        killed = strace([f"{point.call}:signal=KILL:when={point.number}"], log, WRITER, folder, name, 2)
        assert killed.returncode == -9, (point, killed.stderr)
        check_old_or_new(before, after, values(folder))
        ok(writer(folder, name, 2))
        assert values(folder) == after
        assert files(folder) == files(clean), "the next writer removes what was left over"
    print(f"{len(all_points)} points")


def test_a_failing_call_is_an_error_and_leaves_old_or_new(operation, tmp_path):
    name, clean, folder, before, after = operation
    log = tmp_path / "log"
    for point in points(folder, log, name, 2):
        if point.call not in CHANGES or point.call in ("exit_group", "unlinkat", "ftruncate"):
            continue
        shutil.rmtree(folder)
        shutil.copytree(clean, folder)
        failed = strace([f"{point.call}:error=EIO:when={point.number}"], log, WRITER, folder, name, 2)
        seen = values(folder)
        check_old_or_new(before, after, seen)
        if failed.returncode == 0:
            assert seen == after, point
            continue
        assert failed.stderr.startswith(("io: ", "unsupported: ")), (point, failed.stderr)
        if "the new version is written" not in failed.stderr:
            assert seen == before, (point, failed.stderr)
        assert files(folder) == files(clean)
        ok(writer(folder, name, 2))
        assert values(folder) == after
