"""Nodes that are replaced while other programs read them."""

import fcntl
import os
import stat
import subprocess

import pytest
import zarr

CDL = "netcdf x {{ dimensions: n = 6 ; variables: int v(n) ; data: v = {0}, {0}, {0}, {0}, {0}, {0} ; }}"
TIMES = 12


def made(sherd, tmp_path, name, value, *options):
    (tmp_path / "x.cdl").write_text(CDL.format(value))
    sherd.ok(*options, "ncgen", "-o", name, "x.cdl")


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_readers_find_a_dataset_at_every_moment_while_it_is_replaced(sherd, tmp_path, zarr_format):
    options = ("--store-format", f"zarr{zarr_format}")
    for name, value in {"one": 1, "two": 2, "x": 1}.items():
        made(sherd, tmp_path, name, value, *options)
    os.chmod(tmp_path / "x", 0o2750)
    command = f"{sherd.binary} --store-format zarr{zarr_format} nccopy --no-durable --overwrite"
    script = f"for i in $(seq {TIMES}); do {command} two x && {command} one x || exit; done"
    reads, seen = 0, set()
    with subprocess.Popen(["sh", "-c", script], cwd=tmp_path) as loop:
        while loop.poll() is None or reads == 0:
            values = zarr.open_group(tmp_path / "x", mode="r", use_consolidated=False)["v"][:]
            assert values.tolist() in ([1] * 6, [2] * 6)
            seen.add(int(values[0]))
            reads += 1
    assert loop.returncode == 0 and seen == {1, 2}, (reads, seen)
    assert stat.S_IMODE((tmp_path / "x").stat().st_mode) == 0o2750
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []
    assert not list((tmp_path / "x").glob(".*sherd*"))


def test_a_link_to_a_dataset_stays_a_link_when_it_is_replaced(sherd, tmp_path):
    (tmp_path / "disk").mkdir()
    made(sherd, tmp_path, "disk/x", 1)
    made(sherd, tmp_path, "two", 2)
    (tmp_path / "latest").symlink_to("disk/x")
    sherd.ok("nccopy", "--overwrite", "two", "latest")
    assert (tmp_path / "latest").is_symlink()
    assert "v = 2, 2" in sherd.ok("ncdump", "disk/x").text


def test_a_copy_replaces_a_member_and_its_group_lists_it(sherd, tmp_path):
    for name, value in {"g/a": 1, "g/b": 1, "new": 2}.items():
        sherd.ok("create", name, "--shape", "4", "--dtype", "uint8", "--chunks", "2")
        sherd.ok("write", name, "--select", ":", "--value", str(value))
        if name == "g/a":
            sherd.ok("create", "g", "--group")
    sherd.ok("consolidate", "g")
    sherd.ok("copy", "--overwrite", "new", "g/a")
    group = zarr.open_consolidated(tmp_path / "g")
    assert group["a"][:].tolist() == [2] * 4
    assert not list((tmp_path / "g").glob(".*sherd*"))
    sherd.ok("check", "g")


@pytest.mark.parametrize("is_alive", [False, True])
def test_a_root_is_exchanged_unless_another_process_makes_a_member(sherd, tmp_path, is_alive):
    made(sherd, tmp_path, "x", 1)
    made(sherd, tmp_path, "new", 2)
    name = ".sherd-new-12345678"  # of a copy to a member, which could be resumed
    (tmp_path / "x" / name / "node").mkdir(parents=True)
    (tmp_path / "x" / name / ".sherd-copy.json").write_text("{}")
    before = (tmp_path / "x").stat().st_ino
    with open(tmp_path / f"x/.{name}.sherd-lock", "w") as side_file:
        if is_alive:
            fcntl.lockf(side_file, fcntl.LOCK_EX)
        sherd.ok("nccopy", "--overwrite", "new", "x")
    assert ((tmp_path / "x").stat().st_ino == before) == is_alive
    assert (tmp_path / "x" / name).exists() == is_alive
    assert "v = 2, 2" in sherd.ok("ncdump", "x").text
