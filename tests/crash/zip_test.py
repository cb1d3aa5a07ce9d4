"""A command that changes a zip archive is killed at each system call that changes something: the archive is the old one or the new
one, whole, and the next command succeeds and removes what was left."""

import shutil
import zipfile

import pytest

from crash.operations import CHANGES, COMMAND, files, ok, run, strace

WRITE = ("write", "a.zip", "--select", ":", "--value", "2", "--threads", "1")


def content(folder):
    with zipfile.ZipFile(folder / "a.zip") as archive:
        assert archive.testzip() is None
        return {name: archive.read(name) for name in archive.namelist()}


@pytest.mark.usefixtures("strace")
def test_a_command_killed_at_any_call_leaves_the_old_or_the_new_archive(tmp_path, record_property):
    clean, folder, log = tmp_path / "clean", tmp_path / "store", tmp_path / "log"
    clean.mkdir()
    ok(run(COMMAND, "create", "a.zip", "--shape", "40", "--dtype", "uint8", "--chunks", "10", cwd=clean))
    ok(run(COMMAND, "write", "a.zip", "--select", ":", "--value", "1", cwd=clean))
    shutil.copytree(clean, folder)
    ok(run(COMMAND, *WRITE, cwd=folder))
    old, new, kills = content(clean), content(folder), 0
    assert old != new
    for call in CHANGES:
        for number in range(1, 200):
            shutil.rmtree(folder)
            shutil.copytree(clean, folder)
            ended = strace([f"?{call}:signal=KILL:when={number}"], log, COMMAND, *WRITE, cwd=folder)
            assert ended.returncode in (0, -9), ended.stderr
            if ended.returncode == 0:
                break
            kills += 1
            assert content(folder) in (old, new), (call, number)
            ok(run(COMMAND, *WRITE, cwd=folder))
            assert content(folder) == new and files(folder) == {"a.zip"}
    assert kills >= 5
    record_property("points", kills)
