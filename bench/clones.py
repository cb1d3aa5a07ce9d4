"""Rewrites of one shard on XFS, where a rewritten file begins as a clone of the old one: whether later ones take longer."""

import contextlib
import os
import pathlib
import random
import shutil
import statistics
import subprocess
import time

import numpy
import report
import sherd
import tensorstore

TITLE = "rewrites of one chunk on XFS"
UPDATES, AT_ONCE = 100, 10
SIZE = 4 << 30  # bytes of the file system, a sparse file


def possible():
    return os.geteuid() == 0 and shutil.which("mkfs.xfs") is not None


@contextlib.contextmanager
def xfs(folder):
    """A new file system, mounted in the folder."""
    image, mounted = folder / "xfs.img", folder / "xfs"
    mounted.mkdir()
    with open(image, "wb") as file:
        file.truncate(SIZE)
    subprocess.run(["mkfs.xfs", "-q", "-m", "reflink=1", str(image)], check=True)
    subprocess.run(["mount", "-o", "loop", str(image), str(mounted)], check=True)
    try:
        yield mounted
    finally:
        subprocess.run(["umount", str(mounted)], check=True)
        image.unlink()


def seconds_of(array, elements, chunk):
    """Of each of UPDATES changes of another chunk."""
    chunks = random.Random(1).sample(range(elements.shape[0] // chunk[0]), UPDATES)
    for number, at in enumerate(chunks):
        values = numpy.full(chunk, number, "u2")
        start = time.perf_counter()
        array[at * chunk[0]:(at + 1) * chunk[0]] = values
        yield time.perf_counter() - start


def measure(folder, shape, chunk, open_other):
    """Seconds of the first and the last updates, of Sherd and of tensorstore, whose changes of the same array follow."""
    elements = numpy.random.default_rng(1).integers(0, 60000, shape, dtype="u2")
    with xfs(pathlib.Path(folder)) as mounted:
        array = sherd.create_array(mounted / "a", shape=shape, dtype="u2", chunks=chunk, shards=shape, compressors=None,
                                   config={"update": "rewrite"})
        array[...] = elements
        own = list(seconds_of(array, elements, chunk))
        other = list(seconds_of(tensorstore.open(open_other(mounted / "a"), open=True).result(), elements, chunk))
    return {"first": own[:AT_ONCE], "last": own[-AT_ONCE:], "tensorstore": other}


def table(measured):
    first, last, other = (statistics.median(measured[name]) * 1e3 for name in ("first", "last", "tensorstore"))
    yield f"| | first {AT_ONCE} | {UPDATES - AT_ONCE + 1}th to {UPDATES}th | tensorstore | last / first | tensorstore / Sherd |"
    yield "|---|--:|--:|--:|--:|--:|"
    values = " | ".join(report.number(each) for each in (first, last, other))
    yield f"| {TITLE} | {values} | {last / first:.2f} | {other / last:.2f} |"
