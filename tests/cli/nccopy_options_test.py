"""nccopy: options for filters and chunks mean what they mean to netcdf-c's nccopy."""

import json
import subprocess

import numpy as np
import pytest


@pytest.fixture
def file(tmp_path):
    """A netCDF-4 file with a deflated variable v(y, x)."""
    import netCDF4
    with netCDF4.Dataset(tmp_path / "x.nc", "w") as dataset:
        dataset.createDimension("y", 40)
        dataset.createDimension("x", 50)
        dataset.createVariable("v", "f4", ("y", "x"), zlib=True)[:] = np.arange(2000).reshape(40, 50)
    return tmp_path / "x.nc"


def chunks(variable):
    return json.loads((variable / ".zarray").read_text())["chunks"]


def test_a_classic_file_is_written_if_no_filters_are_asked_for(sherd, tmp_path, file):
    sherd.ok("nccopy", "-k", "nc3", "-F", "none", file, "y.nc")
    theirs = subprocess.run(["ncdump", "-v", "v", tmp_path / "y.nc"], check=True, capture_output=True, text=True).stdout
    assert "float v(y, x) ;" in theirs and "1996, 1997, \n    1998, 1999 ;" in theirs
    assert "no filters" in sherd("nccopy", "-k", "nc3", "-F", "*,1,2", file, "z.nc").stderr


def test_chunks_by_name_are_not_those_of_a_variable_with_other_dimensions(sherd, tmp_path, file):
    import netCDF4
    with netCDF4.Dataset(file, "a") as dataset:
        dataset.createGroup("g").createVariable("v", "f4", ("y",))[:] = 1
    sherd.ok("nccopy", "-c", "v:20,10", file, "x.zarr")
    assert chunks(tmp_path / "x.zarr/v") == [20, 10] and chunks(tmp_path / "x.zarr/g/v") == [40]
    ran = sherd("nccopy", "-c", "/g/v:20,10", file, "y.zarr")
    assert ran.code == 2 and "/g/v" in ran.stderr and "1 dimensions" in ran.stderr


def test_kinds_of_files_have_the_names_of_netcdf_c(sherd, tmp_path, file):
    for name in ("enhanced", "hdf5-nc3", "enhanced-nc3", "hdf5", "netCDF-4"):
        sherd.ok("nccopy", "-k", name, file, f"{name}.nc")
        subprocess.run(["nccopy", "-k", name, file, tmp_path / "theirs.nc"], check=True)
        ours, theirs = (subprocess.run(["ncdump", "-k", tmp_path / each], check=True, capture_output=True).stdout
                        for each in (f"{name}.nc", "theirs.nc"))
        assert ours == theirs


@pytest.mark.parametrize("filters, names", [
    ("32001,0,0,0,0,5,1,1", "the filter blosc (32001); "), ("32004,0", "the filter lz4 (32004); "), ("40000,1", "the filter 40000; "),
    ("2|32015,3|307,9|40000", "the filter zstd (32015), bzip2 (307), 40000; "),
])  # fmt: skip
def test_filters_without_a_plugin_are_named_when_a_file_is_written(sherd, tmp_path, file, filters, names):
    ran = sherd("nccopy", "-F", f"*,{filters}", file, "y.nc")
    assert ran.code == 5 and "/v" in ran.stderr and f"HDF5 has no plugin for {names}" in ran.stderr, ran.stderr
    assert "HDF5_PLUGIN_PATH" in ran.stderr and "-F none" in ran.stderr and not (tmp_path / "y.nc").exists()
    sherd.ok("nccopy", "-F", "none", file, "y.nc")
    if "zstd" in names or "blosc" in names:  # Zarr has the filter, and HDF5 does not
        sherd.ok("nccopy", "-F", f"*,{filters.removeprefix('2|').partition('|')[0]}", file, "x.zarr")
        assert "HDF5 has no plugin" in sherd("nccopy", "x.zarr", "z.nc").stderr
