#!/usr/bin/env python3
"""Cuts the power of file systems while a shard on them is appended to, or while shards are made, each in a directory of its own:
nothing is torn, and nothing acknowledged is lost. By hand, as it mounts file systems:

    tests/manual/power_cuts.py [CUTS]     as root, with e2fsprogs and xfsprogs, and sherd for this Python; default: 60 of each

The cut is FS_IOC_SHUTDOWN without a flush of the log: what is not on the disk is lost."""

import fcntl
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import time

import numpy
import sherd

SHUTDOWN, NOLOGFLUSH = 0x8004587D, b"\x02\0\0\0"
SIDE, CHUNK = 256, 32
KINDS = {
    "ext4": ["mkfs.ext4", "-q", "-F"],
    "xfs": ["mkfs.xfs", "-q", "-f"],
}
WRITER = """
import itertools, sys, sherd
array = sherd.open_array(sys.argv[1], mode="r+", config={"update": sys.argv[2], "max_unused": 0.95, "threads": 1})
for value in itertools.count(int(sys.argv[3])):
    row = value * 32 % 256
    array[row:row + 32, 0:64] = value
    print(value, flush=True)
"""
MAKER = """
import itertools, sys, sherd
array = sherd.open_array(sys.argv[1], mode="r+", config={"threads": 1})
for value in itertools.count(int(sys.argv[2])):
    array[value] = value
    print(value, flush=True)
"""


def mount(image, folder):
    subprocess.run(["mount", "-o", "loop", image, folder], check=True)


def cut_while_writing(folder, *program):
    """The last value that was acknowledged before the cut. What is acknowledged after it was not: XFS says of a directory
    whose changes can no longer be written that they are."""
    writer = subprocess.Popen([sys.executable, "-c", *program], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    acknowledged = writer.stdout.readline()
    time.sleep(random.random() / 20)
    os.set_blocking(writer.stdout.fileno(), False)
    lines = (acknowledged + (writer.stdout.read() or b"")).split(b"\n")
    root = os.open(folder, os.O_RDONLY)
    fcntl.ioctl(root, SHUTDOWN, NOLOGFLUSH)
    os.close(root)
    writer.wait()
    writer.stdout.close()
    return int(lines[-2])


def values_of(folder):
    """One value for each pair of chunks that is written at a time; none of them is torn."""
    elements = sherd.open_array(folder / "a.zarr")[:, :64].reshape(SIDE // CHUNK, -1)
    assert (elements == elements[:, :1]).all(), "a chunk is torn"
    return elements[:, 0]


def make(kind, here):
    """The image of a new file system, and the folder where it is mounted."""
    image, folder = here / f"{kind}.img", here / kind
    folder.mkdir(exist_ok=True)
    image.unlink(missing_ok=True)
    with open(image, "wb") as file:
        file.truncate(512 << 20)
    subprocess.run([*KINDS[kind], image], check=True)
    mount(image, folder)
    return image, folder


def try_new_shards(kind, cuts, here):
    image, folder = make(kind, here)
    sherd.create_array(folder / "a.zarr", shape=(1_000_000, 16, 16), dtype="u4", chunks=(1, 16, 16), shards=(1, 16, 16))
    first, last = 1, []
    for _ in range(cuts):
        acknowledged = cut_while_writing(folder, MAKER, folder / "a.zarr", str(first))
        subprocess.run(["umount", folder], check=True)
        mount(image, folder)
        array = sherd.open_array(folder / "a.zarr")
        for value in range(first, acknowledged + 2):  # the last one may be stored without being acknowledged
            found = numpy.unique(array[value])
            assert found == [value] or (value > acknowledged and found == [0]), f"{value} was acknowledged, and is {found}"
        first = acknowledged + 2
        last.append(acknowledged)
    subprocess.run(["umount", folder], check=True)
    print(f"{kind}, new shards: {cuts} cuts, {last[-1]} shards, 0 acknowledged ones lost", flush=True)


def try_kind(kind, update, index_location, cuts, here):
    image, folder = make(kind, here)
    array = sherd.create_array(folder / "a.zarr", shape=(SIDE, SIDE), dtype="u4", chunks=(CHUNK, CHUNK), shards=(SIDE, SIDE),
                               compressors=None, index_location=index_location)
    array[:] = 0
    value, lost = 1, 0
    for _ in range(cuts):
        acknowledged = cut_while_writing(folder, WRITER, folder / "a.zarr", update, str(value))
        subprocess.run(["umount", folder], check=True)
        mount(image, folder)
        values = values_of(folder)
        for row in range(SIDE // CHUNK):
            last = max((v for v in range(max(1, acknowledged - 7), acknowledged + 1) if v % (SIDE // CHUNK) == row), default=0)
            lost += int(values[row]) < last
        value = int(numpy.max(values)) + 1
    assert sherd.check(folder / "a.zarr", data=True)["faults"] == []
    subprocess.run(["umount", folder], check=True)
    print(f"{kind}, {update}, index at the {index_location}: {cuts} cuts, {value - 1} updates, {lost} acknowledged ones lost")
    assert lost == 0


def main(cuts=60):
    with tempfile.TemporaryDirectory() as name:
        for kind in KINDS:
            try_new_shards(kind, int(cuts), pathlib.Path(name))
            for update, index_location in [("append", "end"), ("append", "start"), ("rewrite", "end")]:
                try_kind(kind, update, index_location, int(cuts), pathlib.Path(name))


if __name__ == "__main__":
    main(*sys.argv[1:])
