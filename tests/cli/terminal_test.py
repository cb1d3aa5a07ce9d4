"""The command on a terminal, in a pipe that closes, and interrupted."""

import array
import fcntl
import json
import os
import pathlib
import pty
import re
import select
import signal
import subprocess
import termios
import time

import pytest
from interrupts import heed_interrupts
from open_files import open_files
from shardings import sharding


@pytest.fixture
def huge(sherd):
    """Three terabytes that are not stored."""
    sherd.ok("create", "huge", "--shape", "25000,18000,6000", "--dtype", "uint8", "--chunks", "64,64,64",
             "--shards", "2048,2048,2048")
    return "huge"


def on_terminal(sherd, *arguments, until=None, env=None, stdin=None):
    """
    What a terminal shows of the command. Ctrl-C is sent once `until` is true of the process's id and the text that was
    shown. Standard input may be a file instead.
    """
    pid, terminal = pty.fork()
    if pid == 0:
        if stdin is not None:
            os.dup2(os.open(stdin, os.O_RDONLY), 0)
        heed_interrupts()
        os.chdir(sherd.folder)
        os.execve(sherd.binary, ["sherd", *arguments], sherd.environment | {"TERM": "xterm"} | (env or {}))
    shown, deadline = b"", time.monotonic() + 60
    while time.monotonic() < deadline:
        if select.select([terminal], [], [], 0.1)[0]:
            try:
                shown += os.read(terminal, 65536)
            except OSError:
                break
        if until is not None and until(pid, shown):
            os.write(terminal, b"\x03")
            until = None
    else:
        os.kill(pid, signal.SIGKILL)
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    os.close(terminal)
    return code, shown.decode()


def test_a_small_read_on_a_terminal_is_json_and_a_large_one_is_refused(sherd, huge):
    assert on_terminal(sherd, "read", huge, "--select", "0,0,:3") == (0, "[0, 0, 0]\r\n")
    code, shown = on_terminal(sherd, "read", huge)
    assert code == 2 and "--select" in shown


def test_colours_are_for_terminals_without_no_color(sherd):
    sherd.ok("create", "g", "--group")
    assert on_terminal(sherd, "tree", "g") == (0, "\x1b[1;34mg\x1b[0m\r\n")
    assert on_terminal(sherd, "tree", "g", env={"NO_COLOR": "1"}) == (0, "g\r\n")
    assert on_terminal(sherd, "tree", "g", env={"TERM": "dumb"}) == (0, "g\r\n")
    assert sherd.ok("tree", "g").stdout == b"g\n"


def test_progress_shows_bytes_rate_and_time_left_until_ctrl_c(sherd, huge, tmp_path):
    before = sorted(tmp_path.iterdir())
    code, shown = on_terminal(sherd, "read", huge, "-o", "out.npy", until=lambda _, shown: b" left" in shown)
    assert code == 130
    assert "\rread  [>" in shown and " of 2.46 TiB  " in shown and "B/s  " in shown
    assert shown.endswith("\r\x1b[Ksherd: interrupted\r\n")
    assert sorted(tmp_path.iterdir()) == before


def writes_below(pid, folder):
    """Whether a process has a file without a name open there, which it will name at the end."""
    return any(file.startswith(str(folder)) and file.endswith("(deleted)") for file in open_files(pid))


@pytest.mark.parametrize("quieting", ["--quiet", "--progress=never"])
def test_progress_is_hidden_on_request(sherd, huge, tmp_path, quieting):
    begun = []

    def is_due(pid, _):
        if not begun and writes_below(pid, tmp_path):
            begun.append(time.monotonic())
        return begun and time.monotonic() > begun[0] + 0.5  # by now there would be progress

    code, shown = on_terminal(sherd, "read", huge, "-o", "out.npy", quieting, until=is_due)
    assert code == 130 and shown.removeprefix("^C") == "sherd: interrupted\r\n"


def test_progress_without_a_terminal_is_lines_on_request(sherd, huge, start):
    process = start("read", huge, "-o", "out.npy", "--progress=always", stdout=subprocess.DEVNULL)
    line = process.stderr.readline().decode()
    process.send_signal(signal.SIGINT)
    assert process.wait(60) == 130
    assert line.startswith("read  ") and " of 2.46 TiB  " in line and "\x1b" not in line


def zeros(sherd, size):
    with open(sherd.folder / "zeros.bin", "wb") as file:
        file.truncate(size)
    return ["zeros.bin", "--from", "raw", "--dtype", "uint8", "--write-empty-chunks", "--no-durable"]


def test_always_shows_the_progress_of_the_shortest_call_too(sherd):
    size = ["--shape", "65536"]
    ran = sherd.ok("import", *zeros(sherd, 2**16), "a.zarr", *size, "--progress=always")
    assert re.search(r"^import  100%  64 KiB of 64 KiB  \S+ [KMG]iB/s$", ran.stderr, re.MULTILINE), ran.stderr
    code, shown = on_terminal(sherd, "check", "a.zarr", "--progress=always", "--json")
    assert code == 0 and re.search(r"check  [0-9.]+ K?i?B  \S+ [KMG]?i?B/s\r\n", shown), shown
    ran = sherd("import", "zeros.bin", "a.zarr", "--from", "raw", "--dtype", "uint8", *size, "--progress=always")
    assert ran.code == 6 and ran.stderr.count("\n") == 1, ran.stderr


@pytest.mark.parametrize("into", [["v", "--to", "precomputed"], ["p.zarr", "--codec", "gzip:9"]], ids=["volume", "image"])
def test_progress_of_an_import_has_one_total_for_all_levels(sherd, into):
    code, shown = on_terminal(sherd, "import", *zeros(sherd, 2**28), *into, "--shape", "64,2048,2048", "--axes", "z,y,x",
                              "--resolution", "8,8,8", "--pyramid", "mean", "--threads", "1", "--progress=always")
    assert code == 0
    drawn = re.findall(r"import  .*?([0-9]+)%  .*? of (\S+ [KMGT]?i?B)  ", shown)
    assert {total for _, total in drawn} == {"293 MiB"}
    assert drawn[-1][0] == "100"


def test_progress_of_a_check_has_no_total_as_that_is_not_known(sherd):
    sherd.ok("import", *zeros(sherd, 2**28), "a.zarr", "--shape", "64,2048,2048", "--chunks", "64,64,64", "--codec", "gzip:1")
    code, shown = on_terminal(sherd, "check", "a.zarr", "--data", "--threads", "1", "--progress=always")
    assert code == 0 and "ok: " in shown
    assert "check  " in shown and "%" not in shown and " of " not in shown


def test_progress_of_annotations_is_one_for_all_indexes(sherd, tmp_path):
    (tmp_path / "rows.csv").write_text("x,y,z,r\n" + "".join(f"{i % 997},{i % 991},{i % 983},{i % 97}\n" for i in range(300000)))
    code, shown = on_terminal(sherd, "annotations", "build", "a", "--type", "point", "--resolution", "8,8,8", "--relationship", "r",
                              "--threads", "1", "--progress=always", stdin=tmp_path / "rows.csv")
    assert code == 0 and "wrote 300000 annotations" in shown
    assert "annotations  " in shown and "%" not in shown and " of " not in shown
    done = [float(number) * {"K": 1, "M": 1024}[unit] for number, unit in re.findall(r"annotations  ([0-9.]+) ([KM])iB", shown)]
    assert done and done == sorted(done)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_read_ends_at_once(sherd, huge, number, start):
    process = start("read", huge, stdout=subprocess.PIPE)
    process.stdout.read(1)
    process.send_signal(number)  # standard output is full by now, since it is not read
    assert process.wait(60) == 128 + number


def test_an_interrupted_import_leaves_no_array(sherd, tmp_path, start):
    with open(tmp_path / "zeros.bin", "wb") as file:
        file.truncate(2**42)
    process = start("import", "zeros.bin", "a.zarr", "--from", "raw", "--shape", f"{2**42}", "--dtype", "uint8",
                    "--progress=always", "--json")
    process.stderr.readline()
    process.send_signal(signal.SIGINT)
    message = process.stderr.read().splitlines()[-1]
    assert process.wait(60) == 130
    assert json.loads(message)["error"]["code"] == "interrupted"
    assert sherd("info", "a.zarr").code == 3


def test_an_interrupt_ends_waiting_for_input(sherd, start):
    process = start("kv", "put", "ids", "7", "--sharding", json.dumps(sharding()), stdin=subprocess.PIPE)
    process.stdin.write(b"half of it")
    process.stdin.flush()
    state = pathlib.Path(f"/proc/{process.pid}/stat")
    waiting = array.array("i", [1])
    while waiting[0] > 0 or state.read_text().rpartition(")")[2].split()[0] != "S":
        time.sleep(0.01)
        fcntl.ioctl(process.stdin, termios.FIONREAD, waiting)
    process.send_signal(signal.SIGINT)
    assert process.wait(60) == 130
    assert process.stderr.read() == b"sherd: interrupted\n"
    assert not (sherd.folder / "ids").exists()


@pytest.mark.parametrize("arguments", [["--format", "raw"], ["--format", "npy"], ["--json"]])
def test_a_closed_pipe_ends_a_read_quietly_and_early(sherd, huge, arguments, start):
    process = start("read", huge, "--stats", *arguments, stdout=subprocess.PIPE)
    process.stdout.read(100)
    process.stdout.close()
    stats = json.loads(process.stderr.read())  # and nothing else
    assert process.wait(60) == 0
    assert stats["peak_rss"] < 128 * 2**20


def test_a_closed_pipe_is_quiet_for_reports_too(sherd, start):
    sherd.ok("create", "g", "--group")
    reading, writing = os.pipe()
    os.close(reading)
    for arguments in [["tree", "g"], ["info", "g"], ["--help"], ["completion", "bash"]]:
        process = start(*arguments, stdout=writing)
        assert (process.wait(60), process.stderr.read()) == (0, b"")
    os.close(writing)


def test_standard_output_that_is_closed_from_the_start_is_an_error(sherd):
    sherd.ok("create", "g", "--group")
    done = subprocess.run(["bash", "-c", f"'{sherd.binary}' info g >&-"], cwd=sherd.folder, capture_output=True)
    assert done.returncode == 7
