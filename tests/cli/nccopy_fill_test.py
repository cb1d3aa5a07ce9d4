"""Missing elements of xarray's stores stay missing in copies: in Zarr v2 xarray stores no attribute `_FillValue`."""

import netCDF4
import numpy as np
import pytest
import xarray
import zarr

import sherd as library

EXPECTED = [1.5, np.nan, 3.0]


@pytest.fixture
def stored(tmp_path):
    data = {"packed": ("x", EXPECTED), "plain": ("x", EXPECTED), "whole": ("x", np.array([0, 1, 2], "int32"))}
    encoding = {"packed": {"dtype": "int16", "scale_factor": 0.5, "_FillValue": -9999}}
    xarray.Dataset(data).to_zarr(tmp_path / "src", zarr_format=2, encoding=encoding)
    return tmp_path / "src"


def test_ncdump_shows_the_fill_value_that_xarray_stores_in_the_array(sherd, stored):
    text = sherd.ok("ncdump", stored).text
    assert "packed:_FillValue = -9999s ;" in text and "packed = 3, _, 6 ;" in text
    assert "plain:_FillValue = NaN ;" in text
    assert "whole:_FillValue" not in text and "whole = 0, 1, 2 ;" in text


@pytest.mark.parametrize("options", [[], ["--store-format", "zarr3"], ["#mode=zarr"]])
def test_nccopy_keeps_what_is_missing_in_a_store_of_xarray(sherd, stored, tmp_path, options):
    fragment = options[0] if options and options[0].startswith("#") else ""
    sherd.ok("nccopy", *([] if fragment else options), stored, f"{tmp_path / 'copy'}{fragment}")
    for engine in ("sherd", "zarr"):
        with xarray.open_dataset(tmp_path / "copy", engine=engine) as copied:
            np.testing.assert_array_equal(copied["packed"], EXPECTED)
            np.testing.assert_array_equal(copied["plain"], EXPECTED)
            assert copied["whole"].dtype == "int32" and list(copied["whole"].values) == [0, 1, 2]


def test_nccopy_into_a_netcdf_file_keeps_what_is_missing(sherd, stored, tmp_path):
    sherd.ok("nccopy", "-F", "none", stored, tmp_path / "copy.nc")
    with netCDF4.Dataset(tmp_path / "copy.nc") as copied:
        assert copied["packed"].getncattr("_FillValue") == -9999
        np.testing.assert_array_equal(copied["packed"][:].filled(np.nan), EXPECTED)


DEFAULTS = {kind: netCDF4.default_fillvals[kind] for kind in ("i1", "u1", "i2", "u2", "i4", "u4", "f4", "f8")}


@pytest.mark.parametrize("destination", [["x.nc"], ["x.zarr"], ["--store-format", "zarr3", "x.zarr"], ["x.zarr#mode=zarr"],
                                         ["--store-format", "zarr3", "x.zarr#mode=zarr"]], ids=" ".join)
def test_a_fill_value_that_is_the_default_of_netcdf_is_kept(sherd, tmp_path, destination):
    encoding = {kind: {"dtype": kind, "scale_factor": 0.5, "_FillValue": np.dtype(kind).type(fill)} for kind, fill in DEFAULTS.items()}
    xarray.Dataset({kind: ("x", EXPECTED) for kind in DEFAULTS}).to_zarr(tmp_path / "src", zarr_format=2, encoding=encoding)
    sherd.ok("nccopy", "-F", "none", *destination[:-1], tmp_path / "src", tmp_path / destination[-1])
    copied = tmp_path / destination[-1].partition("#")[0]
    for engine in ("netcdf4",) if copied.suffix == ".nc" else ("sherd", "zarr"):
        with xarray.open_dataset(copied, engine=engine) as found:
            for kind in DEFAULTS:
                np.testing.assert_array_equal(found[kind], EXPECTED, err_msg=f"{kind} by {engine}")


@pytest.mark.parametrize(("destination", "engine"), [("x.nc", "netcdf4"), ("x.zarr", "sherd"), ("x.zarr#mode=zarr", "sherd"), ("x.zarr#mode=zarr", "zarr")])
def test_texts_that_are_missing_for_xarray_are_missing_in_copies(sherd, tmp_path, destination, engine):
    texts = np.array(["u", "none", "", "größe"], object)
    source = xarray.Dataset({"any": ("x", texts), "empty": ("x", texts), "fixed": ("x", texts.astype("U")), "all": ("x", texts)})
    encoding = {"any": {"_FillValue": "none"}, "empty": {"_FillValue": ""}, "fixed": {"_FillValue": "none"}}
    source.to_zarr(tmp_path / "src", zarr_format=2, encoding=encoding)
    sherd.ok("nccopy", "-F", "none", tmp_path / "src", destination)
    missing = {"any": {"none"}, "empty": {""}, "fixed": {"none"}, "all": set()}
    for path, by in ((tmp_path / "src", "zarr"), (tmp_path / destination.partition("#")[0], engine)):
        with xarray.open_dataset(path, engine=by) as found:
            for name, absent in missing.items():
                assert found[name].values.tolist() == [pytest.approx(np.nan, nan_ok=True) if t in absent else t for t in texts], (by, name)


@pytest.mark.parametrize("kind", ["nc4", "nczarr"])
def test_texts_of_xarray_are_copied_to_files_and_datasets(sherd, tmp_path, kind):
    names = np.array(["a", "", "größe"], object)
    source = xarray.Dataset({"v": ("x", [1, 2, 3])}, {"name": ("x", names), "fixed": ("x", names.astype("U")), "one": ((), names[2])})
    source.to_zarr(tmp_path / "src", zarr_format=2)
    sherd.ok("nccopy", "-F", "none", "-k", kind, tmp_path / "src", tmp_path / "copy")
    with netCDF4.Dataset(tmp_path / "copy" if kind == "nc4" else f"file://{tmp_path}/copy#mode=nczarr,file") as copied:
        for name in ("name", "fixed"):
            assert copied[name].dtype is str and copied[name][:].tolist() == ["a", "", "größe"]
        assert copied["one"][...] == "größe" and copied["v"][:].tolist() == [1, 2, 3]


def test_a_fill_value_of_halves_is_kept(sherd, tmp_path):
    encoding = {"v": {"dtype": "float16", "_FillValue": np.float16(-1.5)}}
    xarray.Dataset({"v": ("x", EXPECTED)}).to_zarr(tmp_path / "src", zarr_format=2, encoding=encoding)
    sherd.ok("nccopy", "-F", "none", "src", "x.nc")
    with netCDF4.Dataset(tmp_path / "x.nc") as copied:
        assert copied["v"].getncattr("_FillValue") == -1.5
        np.testing.assert_array_equal(copied["v"][:].filled(np.nan), EXPECTED)


def test_a_fill_value_that_xarray_has_not_written_is_no_attribute(sherd, tmp_path):
    array = zarr.create_array(tmp_path / "a", shape=(3,), dtype="int32", fill_value=0, zarr_format=2)
    array[:] = [0, 1, 2]
    zarr.create_group(tmp_path, zarr_format=2)
    text = sherd.ok("ncdump", tmp_path).text
    assert "_FillValue" not in text and "a = 0, 1, 2 ;" in text


def stored_chunks(array):
    return library.open_array(array).nchunks_initialized


@pytest.mark.parametrize("shards", [None, (8,)])
def test_a_copy_in_zarr_v3_stores_no_chunk_that_the_source_does_not_store(sherd, tmp_path, shards):
    source = zarr.create_group(tmp_path / "src").create_array(
        "a", shape=(64,), chunks=(4,), shards=shards, dtype="int32", fill_value=0, dimension_names=("x",))
    source[8:10] = 7
    assert stored_chunks(tmp_path / "src" / "a") == 1
    sherd.ok("nccopy", "--store-format", "zarr3", tmp_path / "src", tmp_path / "copy")
    assert stored_chunks(tmp_path / "copy" / "a") == 1
    np.testing.assert_array_equal(zarr.open_array(tmp_path / "copy" / "a")[:], source[:])
    assert sherd.ok("ncdump", "-n", "x", tmp_path / "copy").text == sherd.ok("ncdump", "-n", "x", tmp_path / "src").text


def test_a_fill_value_of_nul_is_kept_both_ways_as_by_netcdf_c(sherd, tmp_path):
    with netCDF4.Dataset(tmp_path / "x.nc", "w") as file:
        file.createDimension("x", 2)
        file.createVariable("c", "S1", ("x",), fill_value=b"\0")[:] = [b"a", b"b"]
    for store_format in ("zarr2", "zarr3"):
        sherd.ok("nccopy", "--overwrite", "--store-format", store_format, tmp_path / "x.nc", tmp_path / "x.zarr")
        if store_format == "zarr2":
            assert '"_FillValue": ""' in (tmp_path / "x.zarr/c/.zattrs").read_text()
        sherd.ok("nccopy", "--overwrite", tmp_path / "x.zarr", tmp_path / "again.nc")
        with netCDF4.Dataset(tmp_path / "again.nc") as again:
            assert again["c"].getncattr("_FillValue") == b"\0"
