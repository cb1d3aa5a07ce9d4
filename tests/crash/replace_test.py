"""A dataset is replaced by one in the same or the other version of Zarr, and the process is killed at each call that moves or
removes something: what is there is the old dataset or the new one, never a mixture or none, and the same command makes the new
one."""

import collections
import pathlib
import shutil

import pytest

from crash.operations import COMMAND, files, ok, run, strace

CALLS = ("rename", "renameat", "renameat2", "unlink", "unlinkat", "rmdir")
TEXT = """netcdf x {{ dimensions: n = 4 ; variables: int {0}(n) ; int both(n) ; data: {0} = {2} ; both = {2} ;
group: {1} {{ variables: int w(n) ; data: w = {2} ; }} }}"""
OLD, NEW = TEXT.format("a", "g", "1, 2, 3, 4"), TEXT.format("b", "h", "5, 6, 7, 8")


def make(folder, text, zarr_format):
    cdl = folder.with_suffix(".cdl")
    cdl.write_text(text)
    ok(run(COMMAND, "ncgen", "--store-format", f"zarr{zarr_format}", "-o", folder, cdl))


def dump(folder):
    return run(COMMAND, "ncdump", "-n", "x", folder)


@pytest.mark.usefixtures("strace")
@pytest.mark.parametrize("zarr_format", [2, 3])
@pytest.mark.parametrize("program", ["nccopy", "ncgen", "ncgen of the same version"])
def test_a_dataset_killed_while_another_replaces_it_is_old_or_new(tmp_path, program, zarr_format, record_property):
    old, new, folder, log = (tmp_path / name for name in ("old", "new", "x", "log"))
    make(old, OLD, zarr_format if program.endswith("same version") else 5 - zarr_format)
    make(new, NEW, zarr_format)
    copies = ("nccopy", "--overwrite", new, folder)
    command = (COMMAND, "--store-format", f"zarr{zarr_format}",
               *(copies if program == "nccopy" else ("ncgen", "-o", folder, new.with_suffix(".cdl"))))
    shutil.copytree(old, folder)
    ok(strace([], log, *command, follow=True))
    counts = collections.Counter(line.split()[1].partition("(")[0] for line in pathlib.Path(log).read_text().splitlines())
    before, after = ok(dump(old)).stdout, ok(dump(new)).stdout
    assert ok(dump(folder)).stdout == after
    made = files(folder)
    seen, kills = collections.Counter(), 0
    for call in CALLS:
        for number in range(1, counts[call] + 1):
            shutil.rmtree(folder)
            shutil.copytree(old, folder)
            killed = strace([f"{call}:signal=KILL:when={number}"], log, *command, follow=True)
            assert killed.returncode in (-9, 0), killed.stderr  # its threads share the work differently each time
            kills += killed.returncode == -9
            found = dump(folder)
            assert found.stdout in (before, after), (call, number, found)
            seen["old" if found.stdout == before else "new"] += 1
            ok(run(*command))
            assert ok(dump(folder)).stdout == after
            assert files(folder) == made
            ok(run(COMMAND, "check", folder))
    assert seen["old"] and seen["new"] and kills >= 20, (seen, kills)
    record_property("points", kills)
    print(f"{kills} points: {dict(seen)}")
