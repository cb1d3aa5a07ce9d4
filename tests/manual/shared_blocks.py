#!/usr/bin/env python3
"""Changes zip archives on file systems that share blocks: what is kept of the old version takes no new space. By hand, as it
mounts file systems:

    tests/manual/shared_blocks.py     as root, with xfsprogs or btrfs-progs, and sherd for this Python"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import numpy
import sherd

KINDS = {"xfs": ["mkfs.xfs", "-q", "-f"], "btrfs": ["mkfs.btrfs", "-q", "-f"]}
MIB = 1 << 20


def used(folder):
    os.sync()
    status = os.statvfs(folder)
    return (status.f_blocks - status.f_bfree) * status.f_frsize


def space_of_a_change(folder):
    """How much space the old and the new version take together beyond the old one; the attributes are the first member."""
    noise = numpy.random.default_rng(1).integers(0, 256, (8, 8 * MIB), "u1")
    with sherd.open_group(folder / "a.zip", mode="w") as group:
        group.create_array("x", data=noise, chunks=(1, MIB), shards=(1, 8 * MIB), compressors=None)
    before = used(folder)
    with open(folder / "a.zip", "rb"):  # a reader of the old version keeps its blocks
        with sherd.open_group(folder / "a.zip", mode="r+") as group:
            group.attrs["changed"] = True
            group["x"].attrs["changed"] = True
        taken = used(folder) - before
    assert (sherd.open_array(folder / "a.zip/x")[:] == noise).all()
    return taken


def main():
    if os.geteuid() != 0:
        sys.exit("shared_blocks.py was not run: it mounts file systems, which takes root")
    kinds = [kind for kind, (make, *_) in KINDS.items() if shutil.which(make)]
    if not kinds:
        sys.exit("shared_blocks.py was not run: neither mkfs.xfs nor mkfs.btrfs is installed")
    with tempfile.TemporaryDirectory() as name:
        for kind in kinds:
            image, folder = pathlib.Path(name, f"{kind}.img"), pathlib.Path(name, kind)
            folder.mkdir()
            with open(image, "wb") as file:
                file.truncate(512 * MIB)
            subprocess.run([*KINDS[kind], image], check=True)
            subprocess.run(["mount", "-o", "loop", image, folder], check=True)
            try:
                taken = space_of_a_change(folder)
            finally:
                subprocess.run(["umount", folder], check=True)
            print(f"{kind}: an archive of 64 MiB was changed with {taken / MIB:.1f} MiB more")
            assert taken < 4 * MIB


if __name__ == "__main__":
    main()
