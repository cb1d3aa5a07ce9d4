"""2 GiB are copied to other chunks and shards, each larger than the memory that the copy may use, in a process limited to
256 MiB. It is killed three times in the middle of a shard; --resume completes what it leaves, and the bytes are those of
a copy that was not killed."""

import contextlib
import filecmp
import os
import pathlib
import shutil
import signal
import subprocess
import time

import pytest

from crash.operations import COMMAND, files, ok, run, writer

MEBIBYTES = 2048
LIMIT = 256 << 20
OPTIONS = ["--chunks", "64,64,64", "--shards", "512,512,512", "--codec", "zstd:1", "--memory", "128MiB", "--quiet"]


@contextlib.contextmanager
def memory_group():
    """A control group with this limit, of version 1 or 2; None if none can be created, for example without root."""
    for base, name in (("/sys/fs/cgroup/memory", "memory.limit_in_bytes"), ("/sys/fs/cgroup", "memory.max")):
        group = pathlib.Path(base) / f"sherd-test-{os.getpid()}"
        try:
            if not (pathlib.Path(base) / "cgroup.procs").exists():
                continue
            group.mkdir()
            if (group / name).exists():
                (group / name).write_text(str(LIMIT))
                yield group
                return
        except OSError:
            continue
        finally:
            with contextlib.suppress(OSError):
                group.rmdir()
    yield None


class Copy:
    """A running copy, within the limit."""

    def __init__(self, group, *arguments):
        join = None if group is None else lambda: (group / "cgroup.procs").write_text(str(os.getpid()))
        self.peak = 0
        self.process = subprocess.Popen([COMMAND, "copy", *map(str, arguments)], stdin=subprocess.DEVNULL, preexec_fn=join)

    def is_running(self):
        # What the system reports when it ends would include the memory of the process that started it.
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        for line in status.splitlines():
            if line.startswith("VmHWM:"):
                self.peak = int(line.split()[1]) << 10
        return self.process.poll() is None

    def wait(self):
        """Its exit status, and its peak memory."""
        while self.is_running():
            time.sleep(0.002)
        return self.process.returncode, self.peak


def objects(folder):
    return [folder / name for name in files(folder) if "/c/" in name and "sherd-lock" not in name]


def in_the_middle(folder, count):
    """Whether this many objects are complete and another has begun."""
    half = [folder / name for name in files(folder) if name.endswith(".sherd-lock") and "/c/" in name]
    with contextlib.suppress(FileNotFoundError):  # a moment later it is whole
        return len(objects(folder)) >= count and any(path.stat().st_size > 1 << 20 for path in half)
    return False


@pytest.fixture
def volume(disk_path):
    ok(writer(disk_path / "volume", "create-volume", MEBIBYTES))
    yield disk_path / "volume"
    for folder in disk_path.iterdir():
        shutil.rmtree(folder)


def test_a_copy_killed_three_times_is_resumed_to_the_same_bytes(volume, disk_path, record_property):
    whole, cut = disk_path / "whole", disk_path / "cut"
    with memory_group() as group:
        code, peak = Copy(group, volume, whole, *OPTIONS).wait()
        assert code == 0 and peak <= LIMIT, (code, peak)
        peaks = [peak]
        for count in (0, 2, 5):
            copy = Copy(group, volume, cut, *OPTIONS, *(["--resume"] if count else []))
            while not in_the_middle(cut, count):
                assert copy.is_running(), "it was through before it could be killed"
                time.sleep(0.002)
            copy.process.send_signal(signal.SIGKILL)
            code, peak = copy.wait()
            assert code == -signal.SIGKILL and peak <= LIMIT, (code, peak)
            peaks.append(peak)
            assert run(COMMAND, "info", cut / "a").returncode != 0, "half a copy can be taken for a whole one"
        (unfinished,) = cut.glob(".sherd-new-*/node")
        finished = {path.relative_to(unfinished): path.stat().st_ino for path in objects(cut)}
        assert len(finished) >= 5
        code, peak = Copy(group, volume, cut, *OPTIONS, "--resume").wait()
        assert code == 0 and peak <= LIMIT, (code, peak)
        peaks.append(peak)
    print(f"limited by {group or 'nothing, measured only'}; at most {max(peaks) >> 20} MiB")
    record_property("peak", max(peaks))
    assert {path: (cut / path).stat().st_ino for path in finished} == finished, "what was whole was made again"
    assert files(cut) == files(whole)
    _, different, missing = filecmp.cmpfiles(whole, cut, files(whole), shallow=False)
    assert (different, missing) == ([], [])
    assert len(objects(whole)) == 8
    ok(run(COMMAND, "check", cut, "--data"))
