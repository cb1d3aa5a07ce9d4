"""The operations of operations.hpp, what must be stored before and after each, and how strace kills it or makes it fail.

Arrays are read with zarr-python onto a canvas: the elements surrounded by zeros, so that arrays of different shapes can
be compared block by block.
"""

import collections
import dataclasses
import os
import pathlib
import re
import subprocess
from collections.abc import Callable

import numpy as np
import zarr
import zarr.errors

ROOT = pathlib.Path(__file__).resolve().parents[2]
COMMAND = pathlib.Path(os.environ.get("SHERD_BIN", ROOT / "build/release/bin/sherd")).absolute()
WRITER = COMMAND.parents[1] / "tests/crash_writer"
HANGS = 300  # seconds after which something is stuck for good; no test expects to be quick

SHARD = 16
CANVAS = (80, 64)
KEYS = re.compile(r"zarr\.json|a/zarr\.json|a/c/\d+/\d+")

# Every call by which a writer changes what is stored or makes it last. Between two of them the disk stays as it is.
CHANGES = """open openat creat mkdir mkdirat write pwrite64 pwritev copy_file_range sendfile fallocate truncate ftruncate
             fsync fdatasync sync_file_range fchmod fchmodat fchownat utimensat rename renameat renameat2 link linkat symlinkat
             unlink unlinkat rmdir exit_group""".split()


def put(region):
    def change(array, v):
        array = array.copy()
        array[region] = v
        return array

    return change


def resized(array, shape):
    result = np.zeros(shape, array.dtype)
    kept = tuple(slice(0, min(a, b)) for a, b in zip(array.shape, shape, strict=True))
    result[kept] = array[kept]
    return result


@dataclasses.dataclass(frozen=True)
class Operation:
    change: Callable | None  # (elements, value) -> elements; None: it makes the array
    tidied_by: tuple = ()  # the operations that write the objects again which it no longer writes when repeated


OPERATIONS = {
    "create": Operation(None),
    "shard": Operation(put(np.s_[16:32, 16:32])),
    "part": Operation(put(np.s_[17:26, 18:23])),
    "two": Operation(put(np.s_[15:17, 3:11])),
    "all": Operation(put(np.s_[:, :])),
    "attributes": Operation(lambda array, v: array),
    "grow": Operation(lambda array, v: resized(array, (60 + v, 50))),
    "append": Operation(lambda array, v: np.concatenate([array, np.full((5, 40), v, array.dtype)]), tidied_by=("all",)),
}
WHOLE = np.ones((44, 40), np.uint16)


def run(*arguments, **options):
    return subprocess.run([*map(str, arguments)], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=HANGS,
                          **options)


def writer(*arguments, **options):
    return run(WRITER, *arguments, **options)


def ok(done):
    assert done.returncode == 0, done.stderr
    return done


def prepare(folder, index_location="end"):
    ok(writer(folder, "prepare", index_location))


def strace(rules, log, *command, calls=(), follow=False, **options):
    inject = [word for rule in rules for word in ("-e", f"inject={rule}")]
    return run("strace", *(["-f"] if follow else []), "-o", log, "-e", "trace=" + ",".join("?" + call for call in [*CHANGES, *calls, "getppid"]), *inject,
               *command, **options)


def can_inject():
    return run("strace", "-o", os.devnull, "-e", "inject=getpid:signal=KILL", "sh", "-c", "exit 0").returncode in (0, -9)


@dataclasses.dataclass(frozen=True)
class Point:
    call: str
    number: int  # the how-manieth such call of the process it is


def points(folder, log, operation, value, calls=()):
    """Does the operation, and gives every call that it made on the way and that changes something, in order; `calls` too."""
    ok(strace([], log, WRITER, folder, operation, value, calls=calls))
    counts, result, begun = collections.Counter(), [], False
    for line in pathlib.Path(log).read_text().splitlines():
        call = line.partition("(")[0]
        begun = begun or call == "getppid"
        counts[call] += 1
        if begun and call in {*CHANGES, *calls} and not (call == "openat" and "O_CREAT" not in line and call not in calls):
            result.append(Point(call, counts[call]))
    assert begun and len(result) > 3, result
    return result


@dataclasses.dataclass(frozen=True)
class Seen:
    """What zarr-python finds: the elements (None where there is no array) and the attribute that is edited."""

    elements: np.ndarray | None
    value: int | None = None

    @property
    def canvas(self):
        return resized(self.elements, CANVAS)


def see(folder):
    try:
        array = zarr.open_array(folder, path="a", mode="r", zarr_format=3)
    except FileNotFoundError:
        return Seen(None)
    return Seen(array[:, :], array.attrs.get("value"))


def files(folder):
    return {str(path.relative_to(folder)) for path in pathlib.Path(folder).rglob("*") if not path.is_dir()}


def is_clean(folder):
    """Whether there is nothing but what the format speaks of."""
    return all(KEYS.fullmatch(name) for name in files(folder))


def check_ignores_leftovers(folder):
    lines = ok(writer(folder, "look")).stdout.splitlines()
    assert all(KEYS.fullmatch(line) for line in lines), lines


def blocks(canvas):
    rows, columns = canvas.shape
    return canvas.reshape(rows // SHARD, SHARD, columns // SHARD, SHARD).swapaxes(1, 2)


def check_old_or_new(operation, before, seen, value):
    """Every stored object is as it was or as it should become, and so is the document."""
    if OPERATIONS[operation].change is None:
        if seen.elements is None:
            return
        before = Seen(np.zeros_like(WHOLE))
        after = WHOLE
    else:
        after = OPERATIONS[operation].change(before.elements, value)
    assert seen.elements is not None, "the array has vanished"
    assert seen.elements.shape in (before.elements.shape, after.shape)
    assert seen.value in ((before.value, value) if operation == "attributes" else (before.value,))
    old, new = seen.canvas == before.canvas, seen.canvas == resized(after, CANVAS)
    assert (blocks(old).all((2, 3)) | blocks(new).all((2, 3))).all(), seen.elements


def do_again(folder, operation, seen, value):
    """The next writer succeeds, whatever it found, and tidies up."""
    ok(writer(folder, operation, value))
    now = see(folder)
    change = OPERATIONS[operation].change
    np.testing.assert_array_equal(now.elements, WHOLE if change is None else change(seen.elements, value))
    assert now.value == (value if operation == "attributes" else None)
    for other in OPERATIONS[operation].tidied_by:
        ok(writer(folder, other, value))
    assert is_clean(folder), files(folder)
