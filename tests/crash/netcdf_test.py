"""A writer of a netCDF dataset is killed at each of its calls after `sync`: nothing that was synced is lost, and the
dataset can be opened and changed as if the writer had ended normally."""

import json
import pathlib
import shutil

import pytest

from crash.operations import COMMAND, WRITER, ok, points, run, strace

pytestmark = pytest.mark.usefixtures("strace")
ROOT = pathlib.Path(__file__).resolve().parents[2]
PEER = ROOT / "tests/interop/nczarr_peer.py"
NETCDF_C = ROOT / ".venv-netcdf4-1.7.5/bin/python"


def check_dataset(folder):
    ran = run(COMMAND, "ncdump", folder)
    unsynced = "the output lacks what cannot be read: /g/w: is listed by its group's metadata, but not stored\n"
    assert ran.returncode == 0 or (ran.returncode == 4 and ran.stderr.endswith(unsynced)), ran.stderr
    text = ran.stdout
    assert '\t\t:title = "first" ;' in text or '\t\t:title = "second" ;' in text
    assert "  1, 2, 3,\n  4, 5, 6" in text, text
    grown = "t = UNLIMITED ; // (3 currently)" in text
    assert grown or "t = UNLIMITED ; // (2 currently)" in text
    assert not grown or "  10, 11, 12 ;" in text or "  _, _, _ ;" in text
    assert "group: g" not in text or " w = 7, 8, 9 ;" in text or " w = _, _, _ ;" in text or "int w" not in text


def lengths_agree(folder):
    """Whether the array and its dimension are equally long, without which netcdf-c opens nothing."""
    note = json.loads((folder / ".zgroup").read_text())["_nczarr_group"]
    return json.loads((folder / "v/.zarray").read_text())["shape"][0] == note["dims"]["t"]


def test_a_disk_that_is_full_is_one_line_and_leaves_nothing(tmp_path):
    folder, log, cdl = tmp_path / "x.zarr", tmp_path / "log", tmp_path / "x.cdl"
    cdl.write_text("netcdf x { dimensions: t = 3; variables: int v(t); data: v = 1, 2, 3; }")
    ok(run(COMMAND, "ncgen", "-o", folder, cdl))
    log.touch()
    stored = sorted(tmp_path.iterdir())
    for call in (1, 2, 3, 4, 5):  # the superblock, the definitions, the elements
        ran = strace([f"pwrite64:error=ENOSPC:when={call}+"], log, COMMAND, "nccopy", "-k", "nc4", folder, tmp_path / "y.nc", calls=["pwrite64"], follow=True)
        assert ran.returncode == 7, ran.stderr
        assert ran.stderr.count("\n") == 1 and "No space left on device" in ran.stderr and "y.nc" in ran.stderr
        assert sorted(tmp_path.iterdir()) == stored


def test_a_writer_killed_after_sync_loses_nothing(tmp_path, record_property):
    folder, log = tmp_path / "x.zarr", tmp_path / "log"
    all_points = points(folder, log, "netcdf", 0)
    check_dataset(folder)
    kills = 0
    for number, point in enumerate(all_points):
        shutil.rmtree(folder, ignore_errors=True)
        killed = strace([f"{point.call}:signal=KILL:when={point.number}"], log, WRITER, folder, "netcdf", 0)
        assert killed.returncode in (-9, 0), (point, killed.stderr)  # its threads share the work differently each time
        kills += killed.returncode == -9
        check_dataset(folder)
        checked = ok(run(COMMAND, "check", folder)).stdout
        said = "whose recorded length is 2" in checked or ".zgroup has the dimension 't' of length 2" in checked
        assert lengths_agree(folder) == (not said), checked
        if number % 16 == 0 and lengths_agree(folder):  # netcdf-c takes half a second
            found = ok(run(NETCDF_C, PEER, "read", f"file://{folder}#mode=nczarr,file")).stdout
            assert json.loads(found)[0]["variables"]["v"]["values"][:6] == [1, 2, 3, 4, 5, 6]
    assert kills >= 10
    record_property("points", kills)
    print(f"{kills} points")
