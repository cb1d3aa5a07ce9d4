"""A command that changes a zip archive is killed at each system call that changes something: the archive is the old one or the new
one, whole, and the next command succeeds and removes what was left. One whose archive cannot be finished prints no success."""

import json
import shutil
import zipfile

import pytest
from archives import zipped
from shardings import sharding

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


@pytest.mark.usefixtures("strace")
def test_a_command_whose_archive_is_not_finished_prints_nothing(tmp_path):
    values = "values.zip", "--sharding", json.dumps(sharding())
    for number, size in ((1, 1000), (2, 1000), (3, 1000), (1, 600)):  # which is appended, and the first value is dead
        (tmp_path / "value").write_bytes(b"v" * size)
        ok(run(COMMAND, "kv", "put", "values", number, *values[1:], "-i", "value", cwd=tmp_path))
    zipped(tmp_path / "values", tmp_path / "values.zip")
    (tmp_path / "long.json").write_text(json.dumps({"text": "t" * 100_000}))
    create = "create", "new.zip/a", "--shape", "4", "--dtype", "uint8", "--json"
    for line in (create, (*create, "--attributes", "@long.json"), ("kv", "compact", *values), ("kv", "compact", *values, "--json")):
        failed = strace(["renameat:error=ENOSPC"], tmp_path / "log", COMMAND, *line, cwd=tmp_path)
        assert failed.returncode == 7 and failed.stdout == "" and "No space left" in failed.stderr, (line, failed)
    assert not (tmp_path / "new.zip").exists()
    assert "in 1 shard" in ok(run(COMMAND, "kv", "compact", *values, cwd=tmp_path)).stdout
