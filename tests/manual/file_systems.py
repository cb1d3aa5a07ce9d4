"""Shards are appended to on the file systems where an append is seen as a whole, and rewritten on others, and --stats says why.
Changes of zip archives share blocks where the file system can. By hand, as it mounts file systems:

    pytest tests/manual/file_systems.py     as root, with e2fsprogs, xfsprogs and btrfs-progs, after script/build
"""

import json
import os
import pathlib
import shutil
import subprocess

import numpy
import pytest

SHERD = pathlib.Path(os.environ.get("SHERD_BIN", pathlib.Path(__file__).resolve().parents[2] / "build/release/bin/sherd"))
TORN = "readers may see a part of an append in this file system"
EXT4 = ["mkfs.ext4", "-q", "-F"]
MOUNTS = {  # how they are made and mounted, and what is done there
    "ext4": (EXT4, "loop", "append"),
    "ext4-data-journal": (EXT4, "loop,data=journal", f"rewrite: {TORN}"),
    "xfs": (["mkfs.xfs", "-q", "-f"], "loop", "append"),
    "btrfs": (["mkfs.btrfs", "-q", "-f"], "loop", f"rewrite: {TORN}"),
    "tmpfs": (None, "size=64m", f"rewrite: {TORN}"),
}


def sherd(*arguments):
    done = subprocess.run([SHERD, *map(str, arguments)], capture_output=True)
    assert done.returncode == 0, done.stderr.decode()
    return done


@pytest.fixture(params=MOUNTS)
def mounted(request, tmp_path):
    """A folder on the file system, and what an update does there."""
    make, options, expected = MOUNTS[request.param]
    if os.geteuid() != 0:
        pytest.skip("NOT TESTED: mounting a file system needs the right of root")
    if make and not shutil.which(make[0]):
        pytest.skip(f"NOT TESTED: {make[0]} is not installed")
    folder, source = tmp_path / "mounted", "tmpfs"
    folder.mkdir()
    if make:
        source = tmp_path / "image"
        with open(source, "wb") as file:
            file.truncate(512 << 20)
        subprocess.run([*make, source], check=True)
    kind = request.param.partition("-")[0]
    done = subprocess.run(["mount", "-t", kind, "-o", options, source, folder], capture_output=True, text=True)
    if done.returncode != 0:
        pytest.skip(f"NOT TESTED: {done.stderr.strip()}")
    yield folder, expected
    subprocess.run(["umount", folder], check=True)


@pytest.mark.parametrize("index_location", ["end", "start"])
def test_shards_are_appended_to_only_where_readers_see_whole_appends(mounted, index_location):
    folder, expected = mounted
    array, shard = folder / "a", folder / "a/c/0"
    sherd("create", array, "--shape", 64, "--dtype", "uint8", "--chunks", 8, "--shards", 64, "--codec", "bytes",
          "--index-location", index_location)
    sherd("write", array, "--value", 1)
    before = shard.stat().st_ino
    update = ["--update", "append"] if index_location == "start" else []  # which `auto` rewrites everywhere
    ran = sherd("write", array, "--value", 2, "--select", "0:8", "--max-unused", 0.99, "--stats", *update)
    assert json.loads(ran.stderr)["updates"] == {expected: 1}
    assert (shard.stat().st_ino == before) == (expected == "append")
    assert sherd("read", array).stdout.endswith(b"\2" * 8 + b"\1" * 56)
    sherd("check", "--data", array)


def used(folder):
    os.sync()
    status = os.statvfs(folder)
    return (status.f_blocks - status.f_bfree) * status.f_frsize


def test_a_change_of_an_archive_shares_the_blocks_of_what_it_keeps(mounted, request):
    """The attributes are the first members, so what is kept does not begin at a block."""
    if request.node.callspec.params["mounted"] not in ("xfs", "btrfs"):
        pytest.skip("it does not share blocks")
    folder, _ = mounted
    numpy.save(folder / "x.npy", numpy.random.default_rng(1).integers(0, 256, (8, 8 << 20), "u1"))
    sherd("import", folder / "x.npy", folder / "a.zip/x", "--chunks", f"1,{1 << 20}", "--shards", f"1,{8 << 20}", "--codec", "bytes")
    before = used(folder)
    with open(folder / "a.zip", "rb"):  # a reader of the old version keeps its blocks
        sherd("attrs", folder / "a.zip", "changed=1")
        sherd("attrs", folder / "a.zip/x", "changed=1")
        assert used(folder) - before < 4 << 20
    sherd("check", "--data", folder / "a.zip")
