"""A command that finds its destination locked by another writer, and files beyond the shell's limit."""

import fcntl
import os
import signal
import subprocess
import time

import numcodecs.zstd
import numpy
import pytest
from interrupts import heed_interrupts
from open_files import has_lock_open

LONG = ["--from", "raw", "--shape", f"{2**42}", "--dtype", "uint8"]
SHORT = ["--from", "raw", "--shape", "8", "--dtype", "uint8"]


@pytest.fixture
def stopped_writer(sherd, start):
    """Stopped in the middle of an import to a.zarr, whose lock it holds."""
    with open(sherd.folder / "zeros.bin", "wb") as file:
        file.truncate(2**42)
    (sherd.folder / "short.bin").write_bytes(b"12345678")
    process = start("import", "zeros.bin", "a.zarr", *LONG, "--progress=always")
    process.stderr.readline()
    process.send_signal(signal.SIGSTOP)
    return process


def wait_until_locked_out(process):
    while not has_lock_open(process.pid):
        assert process.poll() is None, process.stderr.read()
        time.sleep(0.01)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_ends_waiting_for_another_writer(sherd, stopped_writer, start, number):
    waiting = start("import", "short.bin", "a.zarr", *SHORT)
    wait_until_locked_out(waiting)
    waiting.send_signal(number)
    # The stopped writer holds its lock until the test ends, so nothing but the signal can end the wait.
    assert waiting.wait() == 128 + number
    assert stopped_writer.poll() is None and has_lock_open(stopped_writer.pid)
    assert waiting.stderr.read().endswith(b"sherd: interrupted\n")  # on a busy machine the wait is announced before


@pytest.mark.parametrize("command", [["attrs", "b.zarr", "unit=1"], ["resize", "b.zarr", "4"], ["rm", "b.zarr"]])
def test_an_interrupt_ends_waiting_for_a_document(sherd, start, command):
    sherd.ok("create", "b.zarr", "--shape", "8", "--dtype", "uint8")
    with open(sherd.folder / "b.zarr/.zarr.json.sherd-lock", "w") as lock:
        fcntl.lockf(lock, fcntl.LOCK_EX)
        waiting = start(*command, "--json")
        wait_until_locked_out(waiting)
        waiting.send_signal(signal.SIGINT)
        assert waiting.wait() == 130  # while the lock is held
        assert b'"error":{"code":"interrupted","message":"interrupted"' in waiting.stderr.read()
    assert sherd.ok("info", "b.zarr", "--json").json["shape"] == [8]


def test_waiting_for_another_writer_is_announced_and_ends_with_it(sherd, stopped_writer, start):
    waiting = start("import", "short.bin", "a.zarr", *SHORT)
    announced = waiting.stderr.readline().decode()
    assert announced == f"sherd: waiting for another writer, which holds the lock of 'a.zarr'\n"
    stopped_writer.kill()
    assert waiting.wait(60) == 0, waiting.stderr.read()
    assert sherd.ok("read", "a.zarr", "--format", "raw").stdout == b"12345678"


def test_waiting_for_another_writer_has_a_limit(sherd, stopped_writer):
    ran = sherd("import", "short.bin", "a.zarr", *SHORT, "--lock-timeout", "0.1")
    assert ran.code == 8
    assert ran.stderr.startswith("sherd: another writer holds the lock of 'a.zarr'")
    assert "--lock-timeout" in ran.stderr


def test_an_interrupted_copy_without_output_does_not_mention_resume(sherd, stopped_writer, start):
    sherd.ok("import", "short.bin", "b.zarr", *SHORT)
    ran = sherd("copy", "b.zarr", "a.zarr", "--lock-timeout", "0.1")
    assert ran.code == 8 and "--lock-timeout" in ran.stderr and "--resume" not in ran.stderr
    waiting = start("copy", "b.zarr", "a.zarr")
    wait_until_locked_out(waiting)
    waiting.send_signal(signal.SIGINT)
    assert waiting.wait(60) == 130
    assert waiting.stderr.read().endswith(b"sherd: interrupted\n")  # on a busy machine the wait is announced before


def test_an_interrupted_copy_and_what_opens_it_mention_resume(sherd):
    (sherd.folder / "noise.bin").write_bytes(os.urandom(2**20))
    sherd.ok("import", "noise.bin", "b.zarr", "--from", "raw", "--shape", f"{2**20}", "--dtype", "uint8")
    ran = subprocess.run(["bash", "-c", 'ulimit -f 64; exec "$0" "$@"', sherd.binary, "copy", "b.zarr", "a.zarr"],
                         cwd=sherd.folder, capture_output=True, text=True, preexec_fn=heed_interrupts)
    assert ran.returncode == 7 and "the same command with --resume" in ran.stderr, ran.stderr
    for command in (["info"], ["tree"], ["check"], ["read", "--format", "raw"]):
        ran = sherd(command[0], "a.zarr", *command[1:])
        assert ran.code == 3 and "unfinished" in ran.stderr and "--resume" in ran.stderr, ran.stderr
    sherd.ok("copy", "b.zarr", "a.zarr", "--resume")


def test_without_locks_a_write_does_not_wait(sherd, stopped_writer):
    sherd.ok("import", "short.bin", "a.zarr", *SHORT, "--lock", "none")
    assert sherd.ok("read", "a.zarr", "--format", "raw").stdout == b"12345678"
    ran = sherd("create", "b.zarr", "--group", "--lock", "never")
    assert ran.code == 2 and "--lock" in ran.stderr


@pytest.mark.parametrize("seconds", ["-1", "soon", "nan", "1s"])
def test_a_lock_timeout_is_a_number_of_seconds(sherd, seconds):
    ran = sherd("create", "a.zarr", "--group", "--lock-timeout", seconds)
    assert ran.code == 2 and "--lock-timeout" in ran.stderr


def test_an_interrupt_ends_the_encoding_of_a_large_chunk(sherd, start):
    """The command has used less processor time than half of the chunk takes to encode."""
    noise = numpy.random.default_rng(1).integers(0, 4, 2**26, dtype="uint8").tobytes()
    (sherd.folder / "noise.bin").write_bytes(noise)
    begin = time.process_time()
    numcodecs.zstd.compress(noise[: 2**21], 22)
    part = time.process_time() - begin
    process = start("import", "noise.bin", "a.zarr", "--from", "raw", "--shape", f"{2**26}", "--dtype", "uint8",
                    "--chunks", f"{2**26}", "--codec", "zstd:22")
    scratch = sherd.folder / "a.zarr"
    while not (scratch.exists() and any(scratch.rglob("*.sherd-lock"))):
        assert process.poll() is None, process.stderr.read()
        time.sleep(0.01)
    time.sleep(0.5)  # by then the chunk is being encoded; an earlier signal would end the import, too
    process.send_signal(signal.SIGINT)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 130 and process.stderr.read() == b"sherd: interrupted\n"
    assert usage.ru_utime < 2**26 / 2**21 / 2 * part
    assert sherd("info", "a.zarr").code == 3


def test_a_file_beyond_the_shells_limit_is_an_error_that_leaves_nothing(sherd):
    (sherd.folder / "noise.bin").write_bytes(os.urandom(2**20))
    before = sorted(sherd.folder.rglob("*"))
    ran = subprocess.run(["bash", "-c", 'ulimit -f 64; exec "$0" "$@"', sherd.binary, "import", "noise.bin", "a.zarr",
                          "--from", "raw", "--shape", f"{2**20}", "--dtype", "uint8"],
                         cwd=sherd.folder, capture_output=True, text=True, preexec_fn=heed_interrupts)
    assert ran.returncode == 7, ran.stderr
    assert "'c/0'" in ran.stderr and "File too large" in ran.stderr and ".sherd-new" not in ran.stderr
    assert sorted(sherd.folder.rglob("*")) == before
