"""Two gibibytes get other chunks and shards in an eighth of a gibibyte, killed again and again on the way."""

import resource
import signal
import subprocess
import time

import numpy
import pytest

SHAPE = (1024, 1024, 1024)
OPTIONS = ["--chunks", "32,128,32", "--shards", "256,512,512", "--memory", "128MiB", "--threads", "2"]
LIMIT = 256 * 2**20


@pytest.fixture
def source(sherd):
    """2 GiB of uint16 that compress well."""
    sherd.ok("create", "source", "--shape", "1024,1024,1024", "--dtype", "uint16", "--chunks", "64,64,64", "--shards",
             "256,256,256", "--codec", "zstd:1")
    process = subprocess.Popen([sherd.binary, "write", "source", "-i", "-"], cwd=sherd.folder, stdin=subprocess.PIPE)
    y, x = numpy.ogrid[:1024, :1024]
    plane = (x // 5 + y * y // 32).astype("<u2")
    for z in range(SHAPE[0]):
        process.stdin.write((plane + numpy.uint16(z * z // 64)).tobytes())
    process.stdin.close()
    assert process.wait() == 0


def bounded():
    """Counts what a process takes for itself, so that one that took more would fail and not only be measured."""
    resource.setrlimit(resource.RLIMIT_DATA, (LIMIT, LIMIT))


def start(sherd, *options):
    return subprocess.Popen([sherd.binary, "copy", "source", "copy", *OPTIONS, *options, "--quiet"], cwd=sherd.folder,
                            preexec_fn=bounded)


def tree(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def finished(folder):
    return sum(1 for path in folder.rglob("c/*/*/*") if path.name[0] != ".")


def test_a_copy_killed_three_times_ends_with_the_bytes_of_one_that_was_not(sherd, source, tmp_path):
    for shards in (2, 6, 11):
        process = start(sherd, *(["--resume"] if shards > 2 else []))
        while finished(tmp_path / "copy") < shards:
            assert process.poll() is None, "it ended before it could be killed"
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
        assert process.wait() == -signal.SIGKILL
        assert sherd("info", "copy").code == 3, "what is not whole cannot be opened"
    assert start(sherd, "--resume").wait() == 0
    resumed = tree(tmp_path / "copy")
    sherd.ok("copy", "source", "copy", *OPTIONS, "--overwrite")
    assert len(resumed) == 1 + 16
    assert resumed == tree(tmp_path / "copy")
    sherd.ok("check", "copy", "--data")
