"""Zip archives by other programs are read, and other programs read Sherd's: Info-ZIP, libzip, zarr-python 3 and 2.18, tensorstore, and
the layout of netcdf-c, whose entries lie below the archive's name."""

import pathlib
import shutil
import subprocess

import numpy as np
import pytest
import sherd
import tensorstore
import zarr
import zarr.storage
from dependencies import missing

ROOT = pathlib.Path(__file__).resolve().parents[2]
ELEMENTS = np.arange(2400, dtype="u2").reshape(40, 60)
LAYOUTS = [{"chunks": (10, 10)}, {"chunks": (10, 10), "shards": (20, 20)}]


def ran(*command, **options):
    if shutil.which(command[0]) is None:
        missing(command[0])
    done = subprocess.run([str(each) for each in command], capture_output=True, text=True, **options)
    assert done.returncode == 0, done.stdout + done.stderr
    return done


def zarr2(code, archive):
    """Runs code with zarr-python 2.18, in which `archive` is the path."""
    ran(ROOT / ".venv-draft2022/bin/python", "-c", f"import numpy as np, zarr\narchive = {str(archive)!r}\n{code}")


@pytest.mark.parametrize("layout", LAYOUTS)
def test_zarr_python_and_tensorstore_read_what_was_written(tmp_path, layout):
    with sherd.create_group(tmp_path / "a.zip") as group:
        group.create_array("x", data=ELEMENTS, **layout)
    store = zarr.storage.ZipStore(tmp_path / "a.zip", mode="r")
    assert (zarr.open_group(store, mode="r")["x"][:] == ELEMENTS).all()
    store.close()
    kvstore = {"driver": "zip", "base": f"file://{tmp_path}/a.zip", "path": "x/"}
    assert (tensorstore.open({"driver": "zarr3", "kvstore": kvstore}).result().read().result() == ELEMENTS).all()


@pytest.mark.parametrize("layout", LAYOUTS)
def test_what_zarr_python_wrote_is_read_and_changed(tmp_path, layout):
    with zarr.storage.ZipStore(tmp_path / "a.zip", mode="w") as store:
        zarr.create_group(store).create_array("x", data=ELEMENTS, **layout)
    assert (sherd.open(tmp_path / "a.zip")["x"][:] == ELEMENTS).all()
    with sherd.open(tmp_path / "a.zip", mode="r+") as group:
        group["x"][5:15, :3] = 7
    changed = ELEMENTS.copy()
    changed[5:15, :3] = 7
    with zarr.storage.ZipStore(tmp_path / "a.zip", mode="r") as store:
        assert (zarr.open_group(store, mode="r")["x"][:] == changed).all()


def test_zarr_python_2_reads_and_writes_the_same_archives(tmp_path):
    with sherd.create_group(tmp_path / "a.zip", zarr_format=2) as group:
        group.create_array("x", data=ELEMENTS, chunks=(10, 10))
    zarr2("x = zarr.open_group(zarr.ZipStore(archive, mode='r'), mode='r')['x']\n"
          "assert (x[:] == np.arange(2400).reshape(40, 60)).all()", tmp_path / "a.zip")
    zarr2("store = zarr.ZipStore(archive, mode='w')\n"
          "zarr.group(store).create_dataset('x', data=np.arange(2400, dtype='u2').reshape(40, 60), chunks=(10, 10))\n"
          "store.close()", tmp_path / "b.zip")
    assert (sherd.open(tmp_path / "b.zip")["x"][:] == ELEMENTS).all()


def test_a_tree_that_info_zip_packed_or_unpacked_opens(tmp_path):
    sherd.create_group(tmp_path / "a.zarr").create_array("x", data=ELEMENTS, chunks=(10, 10))
    ran("zip", "-qr", tmp_path / "root.zip", ".", cwd=tmp_path / "a.zarr")
    ran("zip", "-qr", tmp_path / "below.zip", "a.zarr", cwd=tmp_path)
    for name in ("root.zip", "below.zip"):
        assert (sherd.open(tmp_path / name)["x"][:] == ELEMENTS).all()
    sherd.copy(tmp_path / "a.zarr", tmp_path / "ours.zip", raw=True)
    ran("unzip", "-q", tmp_path / "ours.zip", "-d", tmp_path / "b.zarr")
    assert (sherd.open(tmp_path / "b.zarr")["x"][:] == ELEMENTS).all()


def test_libzip_finds_the_members_of_info_zip(tmp_path):
    sherd.create_group(tmp_path / "a.zarr").create_array("x", data=ELEMENTS, chunks=(10, 10))
    ran("zip", "-qrD", tmp_path / "theirs.zip", ".", cwd=tmp_path / "a.zarr")
    sherd.copy(tmp_path / "a.zarr", tmp_path / "ours.zip", raw=True)
    ran("zipcmp", "-t", tmp_path / "theirs.zip", tmp_path / "ours.zip")


@pytest.mark.parametrize("dataset", ["4.9.0/all_nczarr_file", "4.9.1/a491-nczarr_file", "4.10.1/a4101-nczarr_file"])
@pytest.mark.parametrize("is_below", [False, True])
def test_a_dataset_of_netcdf_c_is_read_at_the_root_and_below_a_name(tmp_path, dataset, is_below):
    tree = ROOT / "tests/data/nczarr" / dataset
    shutil.copytree(tree, tmp_path / "x.zip.d/x.zip")
    folder = tmp_path / "x.zip.d" / ("." if is_below else "x.zip")
    ran("zip", "-qr0", tmp_path / "x.zip", "x.zip" if is_below else ".", cwd=folder)
    from_tree, from_archive = sherd.netcdf.open_dataset(tree), sherd.netcdf.open_dataset(f"{tmp_path}/x.zip#mode=nczarr,zip")
    assert sorted(from_archive.variables) == sorted(from_tree.variables)
    for name, variable in from_tree.variables.items():
        np.testing.assert_array_equal(from_archive.variables[name][...], variable[...])


def test_an_archive_of_netcdf_c_is_read_and_changed(tmp_path):
    """One that netcdf-c 4.9.1 wrote with libzip (tests/data/zip/make_netcdf_c.sh)."""
    shutil.copy(ROOT / "tests/data/zip/netcdf_c.zip", tmp_path)
    name = f"{tmp_path}/netcdf_c.zip#mode=nczarr,zip"
    dataset = sherd.netcdf.open_dataset(name)
    assert dataset.attributes["title"] == "größe" and dataset["v"].attributes["units"] == "K"
    assert (dataset["v"][:] == np.arange(1, 16).reshape(3, 5)).all() and dataset["s"][...] == 2.5
    assert dataset["inner/w"][:].tolist() == [-1, 0, 1]
    before = ran("unzip", "-Z1", tmp_path / "netcdf_c.zip").stdout.splitlines()
    with sherd.netcdf.edit_dataset(name) as writer:
        writer["v"][0, :2] = 100
        writer.create_variable("n", "i4", "x")[:] = 3
    dataset = sherd.netcdf.open_dataset(name)
    assert dataset["v"][:].ravel()[:4].tolist() == [100, 100, 3, 4] and dataset["n"][:].tolist() == [3] * 5
    after = ran("unzip", "-Z1", tmp_path / "netcdf_c.zip").stdout.splitlines()
    assert sorted(set(after) - set(before)) == [f"netcdf_c/n/{each}" for each in (".zarray", ".zattrs", "0")], "it stays below the archive's name"
