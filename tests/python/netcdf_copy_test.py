"""sherd.netcdf.copy(), and netCDF files opened as datasets."""

import json
import os
import pathlib

import h5py
import numpy as np
import pytest
import sherd
import xarray
from dependencies import missing


@pytest.fixture
def file(tmp_path):
    import netCDF4
    with netCDF4.Dataset(tmp_path / "x.nc", "w") as made:
        made.title = "a title"
        made.createDimension("t", None)
        made.createDimension("x", 4)
        made.createVariable("v", "i2", ("t", "x"), zlib=True, complevel=2)[:] = np.arange(12).reshape(3, 4)
        made.createGroup("g").createVariable("w", "f8", ())[...] = 0.5
    try:
        sherd.netcdf.open_dataset(tmp_path / "x.nc")
    except sherd.Unsupported as error:
        assert "SHERD_NETCDF=OFF" in str(error)
        missing("libnetcdf-dev")
    return tmp_path / "x.nc"


def test_a_file_is_a_dataset(file):
    dataset = sherd.netcdf.open_dataset(file)
    assert (dataset.format, dataset.kind, dataset.attributes) == ("netcdf", "netCDF-4", {"title": "a title"})
    assert dataset.dimensions["t"].unlimited and dataset["v"].shape == (3, 4) and dataset["v"].array is None
    np.testing.assert_array_equal(dataset["v"][1:, ::2], [[4, 6], [8, 10]])
    assert dataset["g/w"][()] == 0.5
    with pytest.raises(sherd.InvalidArgument, match="path"):
        sherd.netcdf.open_dataset(file, path="g")


def test_a_copy_of_arrays_warns_of_documents_of_netcdf_c_that_it_lacks(tmp_path):
    source = pathlib.Path(__file__).resolve().parents[1] / "data/nczarr/netcdf-c/oldformat-2021"
    with pytest.warns(UserWarning, match=r"documents of NCZarr, such as .nczgroup, .* sherd.netcdf.copy"):
        report = sherd.copy(source, tmp_path / "x.zarr")
    assert len(report["warnings"]) == 1
    assert sherd.copy(tmp_path / "x.zarr", tmp_path / "y.zarr")["warnings"] == []


@pytest.mark.parametrize("format", ["zarr2", "zarr3"])
def test_a_copy_reports_what_it_has(file, tmp_path, format):
    report = sherd.netcdf.copy(file, tmp_path / "x.zarr", format=format)
    assert report == {"kind": "nczarr", "groups": 1, "variables": 2, "bytes": 32, "warnings": []}
    dataset = sherd.netcdf.open_dataset(tmp_path / "x.zarr")
    assert dataset.format == format and dataset.kind == "netCDF-4"
    np.testing.assert_array_equal(dataset["v"][...], np.arange(12).reshape(3, 4))
    assert sherd.netcdf.copy(str(tmp_path / "x.zarr"), os.fspath(tmp_path / "y.nc"))["kind"] == "netCDF-4"
    assert sherd.netcdf.open_dataset(tmp_path / "y.nc").dump().replace("netcdf y", "netcdf x") == sherd.netcdf.open_dataset(file).dump()


def zarray(folder):
    return json.loads((folder / "v/.zarray").read_text())


def test_chunks_and_filters_are_chosen(file, tmp_path):
    copies = [({"chunks": {"t": 2, "x": None}}, [2, 4], "zlib"), ({"chunks": {"v": (1, 2)}, "filters": []}, [1, 2], None),
              ({"chunks": ()}, [3, 4], "zlib"), ({"filters": [(2,), (307, 5)]}, [1, 4], "bz2"), ({"filters": {"v": [(1, 9)]}}, [1, 4], "zlib"),
              ({"deflate": 0}, [1, 4], None)]
    for i, (options, chunks, compressor) in enumerate(copies):
        sherd.netcdf.copy(file, tmp_path / f"{i}.zarr", **options)
        document = zarray(tmp_path / f"{i}.zarr")
        assert document["chunks"][1:] == chunks[1:] and (document["chunks"] == chunks or chunks[0] == 1)
        assert (document["compressor"] or {"id": None})["id"] == compressor
        np.testing.assert_array_equal(sherd.netcdf.open_dataset(tmp_path / f"{i}.zarr")["v"][...], np.arange(12).reshape(3, 4))
    sherd.netcdf.copy(file, tmp_path / "fixed.zarr", fixed_dimensions=True)
    assert not sherd.netcdf.open_dataset(tmp_path / "fixed.zarr").dimensions["t"].unlimited


def test_filters_that_hdf5_lacks_are_named(file, tmp_path):
    with pytest.raises(sherd.Unsupported, match=r"/v: HDF5 has no plugin for the filter blosc \(32001\), 40000; .*HDF5_PLUGIN_PATH") as caught:
        sherd.netcdf.copy(file, tmp_path / "y.nc", filters=[(32001, 0, 0, 0, 0, 5, 1, 1), (40000, 1)])
    assert caught.value.key == str(tmp_path / "y.nc") and not (tmp_path / "y.nc").exists()
    with h5py.File(tmp_path / "x.h5", "w") as made:
        made.create_dataset("v", data=np.arange(3), compression="lzf")
    with pytest.raises(sherd.Unsupported, match=r"HDF5 has no plugin for the filter lzf \(32000\); .*HDF5_PLUGIN_PATH"):
        sherd.netcdf.open_dataset(tmp_path / "x.h5")["v"][...]


def test_shards_are_chosen(file, tmp_path):
    for i, (shards, expected) in enumerate([({"x": None}, (1, 4)), ({"v": (3, 4)}, (3, 4)), ("auto", (3, 4)), ({"t": 2, "x": 1}, (2, 4))]):
        sherd.netcdf.copy(file, tmp_path / f"{i}.zarr", format="zarr3", shards=shards)
        array = sherd.open_array(tmp_path / f"{i}.zarr/v")
        assert array.shards == expected and array[...].tolist() == np.arange(12).reshape(3, 4).tolist()
    with pytest.raises(sherd.InvalidArgument, match="only datasets in Zarr v3"):
        sherd.netcdf.copy(file, tmp_path / "x.zarr", shards="auto")
    with pytest.raises(sherd.NotFound, match="no dimension 'nope'"):
        sherd.netcdf.copy(file, tmp_path / "x.zarr", format="zarr3", shards={"nope": 3})


def test_variables_and_groups_are_chosen(file, tmp_path):
    def copied(**options):
        sherd.netcdf.copy(file, tmp_path / "x.zarr", overwrite=True, **options)
        return sherd.netcdf.open_dataset(tmp_path / "x.zarr")
    assert list(copied(variables="v").variables) == ["v"] and not copied(variables=["v"])["g"].variables
    only = copied(groups="g")
    assert not only.variables and only["g/w"][()] == 0.5 and only.dimensions["t"].length == 0
    assert copied(data_variables=["w"])["v"].shape == (0, 4) and copied(data_groups=["/"])["g/w"][()] > 1e36


def test_what_is_wrong_is_refused_by_name(file, tmp_path):
    for options, error in (({"kind": "hdf6"}, sherd.InvalidArgument), ({"chunks": {"t": 0}}, sherd.InvalidArgument), ({"chunks": {"v": (1,)}}, sherd.InvalidArgument),
                           ({"chunks": {"q": 1}}, sherd.NotFound), ({"deflate": 10}, sherd.InvalidArgument), ({"filters": [()]}, sherd.InvalidArgument),
                           ({"filters": [(32013,)]}, sherd.Unsupported), ({"variables": "q"}, sherd.NotFound), ({"data_groups": ["q"]}, sherd.NotFound), ({"groups": []}, sherd.InvalidArgument), ({"chunks": 3}, TypeError), ({"overwrite": 1}, TypeError),
                           ({"format": "n5"}, sherd.InvalidArgument), ({"kind": "classic"}, sherd.InvalidArgument)):
        with pytest.raises(error):
            sherd.netcdf.copy(file, tmp_path / "x.zarr", **options)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["x.nc"]


def test_an_existing_copy_is_replaced_only_on_request(file, tmp_path):
    sherd.netcdf.copy(file, tmp_path / "x.zarr")
    with pytest.raises(sherd.Conflict):
        sherd.netcdf.copy(file, tmp_path / "x.zarr")
    sherd.netcdf.copy(file, tmp_path / "x.zarr", overwrite=True, deflate=5)
    assert zarray(tmp_path / "x.zarr")["compressor"]["level"] == 5


@pytest.mark.parametrize(("destination", "engine"), [
    ("y.nc", "netcdf4"), ("x.zarr", "sherd"), ("x.zarr#mode=zarr", "zarr"), ("x.zarr#mode=zarr", "sherd")])
@pytest.mark.usefixtures("file")
def test_missing_numbers_and_texts_of_xarray_are_those_of_the_copy(tmp_path, destination, engine):
    names = np.array(["a", "", "größe"], object)
    source = xarray.Dataset({"t2m": ("x", [1.5, np.nan, 3.0]), "id": ("x", [2**53 + 1, 0, 1])}, {"name": ("x", names)})
    source.to_zarr(tmp_path / "src", zarr_format=2, encoding={"t2m": {"dtype": "int16", "scale_factor": 0.5, "_FillValue": -32767}})
    sherd.netcdf.copy(tmp_path / "src", f"{tmp_path}/{destination}", filters="none")
    with xarray.open_dataset(tmp_path / destination.partition("#")[0], engine=engine) as copied:
        np.testing.assert_array_equal(copied["t2m"], source["t2m"])
        assert copied["id"].dtype == "int64" and copied["id"].values.tolist() == source["id"].values.tolist()
        assert copied["name"].values.tolist() == ["a", "", "größe"]
