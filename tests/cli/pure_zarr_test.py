"""Pure Zarr as xarray's own engine reads it, compared with xarray's reading of the netCDF file with the same contents."""

import subprocess

import netCDF4
import numpy as np
import pytest
import sherd as library
import xarray

pytestmark = pytest.mark.filterwarnings("ignore::zarr.errors.UnstableSpecificationWarning", "ignore:Consolidated metadata",
                                        "ignore:/.*pure Zarr has")

TEXT = """netcdf x { dimensions: x = 3 ; n = 2 ;
variables: string name(x) ; string kept(x) ; kept:_FillValue = "none" ; string word ;
char c(x, n) ; int64 id(x) ; int zero(x) ; ubyte u(x) ; short s(x) ; float f(x) ; int own(x) ; own:_FillValue = -9 ;
data: name = "a", "", "gr\303\266\303\237e" ; kept = "x", "none", "" ; word = "" ; c = "ab", "", "z" ;
id = 9007199254740993, 0, -9223372036854775806 ; zero = 0, 0, 0 ; u = 255, 0, 1 ; s = -32767, 0, 1 ; f = 1.5, 2, 3 ; own = 1, -9, 3 ; }"""


@pytest.fixture
def file(tmp_path):
    (tmp_path / "x.cdl").write_text(TEXT)
    subprocess.run(["ncgen", "-4", "-o", tmp_path / "x.nc", tmp_path / "x.cdl"], check=True)
    return tmp_path / "x.nc"


def plain(dataset):
    """The kinds of types, and the elements as text, since NaN is not equal to itself. In pure Zarr v2 a scalar has a dimension."""
    return {name: ("text" if variable.dtype.kind in "OTU" else variable.dtype.str, repr(variable.values.ravel().tolist()))
            for name, variable in dataset.variables.items()}


def opened(path, engine):
    with xarray.open_dataset(path, engine=engine) as dataset:
        return plain(dataset.load())


def test_pure_zarr_is_read_by_xarray_as_the_netcdf_file(sherd, tmp_path, file):
    sherd.ok("nccopy", file, "copy.zarr#mode=zarr")
    sherd.ok("ncgen", "-o", "made.zarr#mode=zarr", "x.cdl")
    for name in ("copy.zarr", "made.zarr"):
        for engine in ("zarr", "sherd"):
            assert opened(tmp_path / name, engine) == opened(file, "netcdf4"), (name, engine)


def test_pure_zarr_in_version_3_is_read_by_xarray_and_stored_again(sherd, tmp_path, file):
    names = ["name", "word", "id", "u", "s", "f", "own"]
    sherd.ok("nccopy", "--store-format", "zarr3", "-V", ",".join(names), file, "copy.zarr#mode=zarr")
    wanted = {name: each for name, each in opened(file, "netcdf4").items() if name in names}
    with xarray.open_dataset(tmp_path / "copy.zarr", engine="zarr") as dataset:
        assert plain(dataset.load()) == wanted
        assert not [name for variable in dataset.variables.values() for name in variable.attrs if "nczarr" in name]
        dataset.to_netcdf(tmp_path / "again.nc")
    assert opened(tmp_path / "again.nc", "netcdf4") == wanted


def test_elements_that_ncgen_does_not_write_stay_missing_in_pure_zarr(sherd, tmp_path):
    text = "netcdf x { dimensions: x = 3 ; variables: int part(x) ; int none(x) ; data: part = 1 ; }"
    sherd.ok("ncgen", "-o", "x.zarr#mode=zarr", input=text.encode())
    with xarray.open_dataset(tmp_path / "x.zarr", engine="zarr") as dataset:
        np.testing.assert_array_equal(dataset["part"], [1, np.nan, np.nan])
        np.testing.assert_array_equal(dataset["none"], [np.nan] * 3)


def test_data_that_a_copy_leaves_out_stay_missing_in_pure_zarr(sherd, tmp_path, file):
    sherd.ok("nccopy", "-v", "s", file, "x.zarr#mode=zarr")
    with xarray.open_dataset(tmp_path / "x.zarr", engine="zarr") as dataset:
        assert dataset["s"].values.tolist() == [-32767, 0, 1] and np.isnan(dataset["id"]).all()


def test_texts_of_pure_zarr_are_read_by_xarray_from_python(tmp_path):
    with library.netcdf.create_dataset(tmp_path / "x.zarr", mode="zarr") as new:
        new.create_dimension("x", 3)
        new.create_variable("s", str, "x", attributes={"long_name": "größe"})[:] = ["a", "", "größe" * 100]
        new.create_variable("f", str, "x", fill_value="none")[:2] = ["", "b"]
        new.create_variable("never", str, "x", chunks=(2,))
        new.create_variable("i", "int64", "x", fill_value=False)[:] = [0, 0, 2**53 + 1]
        new.create_variable("zeros", "int64", "x", fill_value=False)[:] = 0
    for engine in ("zarr", "sherd"):
        with xarray.open_dataset(tmp_path / "x.zarr", engine=engine) as dataset:
            assert dataset["s"].values.tolist() == ["a", "", "größe" * 100] and dataset["s"].attrs == {"long_name": "größe"}
            assert dataset["f"].values.tolist()[:2] == ["", "b"] and dataset["never"].values.tolist() == ["", "", ""]
            assert dataset["i"].dtype == "int64" and dataset["i"].values.tolist() == [0, 0, 2**53 + 1]
    # Without a fill value zarr-python 2 returns what was in memory for a chunk that is not stored.
    assert library.open_array(tmp_path / "x.zarr/zeros").nchunks_initialized == 1
    with library.netcdf.edit_dataset(tmp_path / "x.zarr") as old:
        old["s"][1] = "b"
    with xarray.open_dataset(tmp_path / "x.zarr", engine="zarr") as dataset:
        assert dataset["s"].values.tolist() == ["a", "b", "größe" * 100]


@pytest.mark.parametrize("version", [2, 3])
def test_filters_of_strings_are_stored(tmp_path, version):
    with library.netcdf.create_dataset(tmp_path / "x.zarr", mode="zarr", zarr_format=version) as new:
        new.create_dimension("x", 1000)
        new.create_variable("s", str, "x", deflate_level=9, chunks=(1000,))[:] = ["a text"] * 1000
    assert sum(p.stat().st_size for p in (tmp_path / "x.zarr/s").rglob("*") if p.is_file() and p.name[0] not in ".z") < 1000
    with xarray.open_dataset(tmp_path / "x.zarr", engine="zarr") as dataset:
        assert dataset["s"].values.tolist() == ["a text"] * 1000


def test_netcdf_c_reads_pure_zarr_without_strings(sherd, tmp_path, file):
    sherd.ok("nccopy", "-V", "c,id,zero,u,s,f,own", file, "x.zarr#mode=zarr")
    with netCDF4.Dataset(f"file://{tmp_path}/x.zarr#mode=zarr,file") as dataset:
        dataset.set_auto_mask(False)
        assert dataset["id"][:].tolist() == [9007199254740993, 0, -9223372036854775806]
        assert dataset["zero"][:].tolist() == [0, 0, 0] and dataset["s"][:].tolist() == [-32767, 0, 1]


def test_strings_of_pure_zarr_are_copied_to_every_form(sherd, tmp_path, file):
    sherd.ok("nccopy", "-V", "name,kept,word", file, "pure.zarr#mode=zarr")
    shown = sherd.ok("ncdump", "-n", "x", "pure.zarr").text
    for form, copy in (("zarr2", "a.zarr"), ("zarr2", "b.nc"), ("zarr3", "c.zarr"), ("zarr3", "d.zarr#mode=zarr"), ("zarr2", "e.zarr#mode=zarr")):
        sherd.ok("nccopy", "--store-format", form, "pure.zarr", copy)
        assert sherd.ok("ncdump", "-n", "x", copy.partition("#")[0]).text == shown
