"""create_array(data=…) of texts that h5py, dask and xarray read when they are indexed."""

import dask.array
import h5py
import numpy as np
import pytest
import sherd
import xarray

TEXTS = np.array(["ab", "", "größe", "d" * 300] * 5, object).reshape(4, 5)


@pytest.fixture
def file(tmp_path):
    with h5py.File(tmp_path / "c.h5", "w") as new:
        new.create_dataset("chunked", data=TEXTS, dtype=h5py.string_dtype(), chunks=(2, 3))
        new.create_dataset("contiguous", data=TEXTS, dtype=h5py.string_dtype())
        new.create_dataset("ascii", data=[b"x", b"yy"], dtype=h5py.string_dtype("ascii"))
        new.create_dataset("latin1", data=[b"x", b"\xe9"], dtype=h5py.string_dtype("ascii"))
        new.create_dataset("fixed", data=np.array([b"ab", b"c", b""], "S2"))
        new.create_dataset("scalar", data="größe")
        new.create_dataset("none", data=h5py.Empty("f"))
        lists = new.create_dataset("lists", (2,), dtype=h5py.vlen_dtype(np.int32))
        lists[0], lists[1] = [1, 2], [3]
    with h5py.File(tmp_path / "c.h5") as opened:
        yield opened


def stored(data, **options):
    return sherd.create_array(sherd.MemoryStore(), data=data, **options)


@pytest.mark.parametrize("zarr_format", [2, 3])
@pytest.mark.parametrize("name", ["chunked", "contiguous", "ascii", "fixed", "scalar"])
def test_texts_of_h5py_are_stored_as_h5py_shows_them(file, name, zarr_format):
    data = file[name]
    expected = data[()] if name == "fixed" else data.asstr()[()]
    found = stored(data, zarr_format=zarr_format)
    assert found.shape == data.shape and np.array_equal(found[()], expected)
    assert np.array_equal(sherd.from_array(sherd.MemoryStore(), data=data, zarr_format=zarr_format)[()], expected)
    assert np.array_equal(stored(data, dtype=found.dtype if name == "fixed" else "string")[()], expected)


def test_texts_of_h5py_are_stored_as_bytes_if_asked_for(file):
    assert stored(file["latin1"], dtype="bytes")[:].tolist() == [b"x", b"\xe9"]
    with pytest.raises(sherd.InvalidArgument, match=r"not UTF-8 \(b'\\xe9'\); use dtype=\"bytes\""):
        stored(file["latin1"])


def test_other_objects_of_h5py_are_refused_by_name(file):
    with pytest.raises(sherd.InvalidArgument, match='data of objects needs dtype="string" or dtype="bytes"'):
        stored(file["lists"])
    with pytest.raises(sherd.InvalidArgument, match="empty dataspace of HDF5"):
        stored(file["none"])


@pytest.mark.parametrize("make", [
    lambda: dask.array.from_array(TEXTS, chunks=(2, 3)),
    lambda: dask.array.from_array(TEXTS.astype(np.dtypes.StringDType()), chunks=(2, 3)),
    lambda: xarray.DataArray(TEXTS, dims=("y", "x")),
    lambda: xarray.DataArray(TEXTS, dims=("y", "x")).chunk(x=2),
    lambda: xarray.Variable(("y", "x"), TEXTS),
])
def test_texts_of_dask_and_xarray_are_stored(make):
    for options in ({}, {"shards": (4, 4), "chunks": (2, 2)}, {"zarr_format": 2}):
        assert np.array_equal(stored(make(), **options)[:], TEXTS)


def test_a_file_opened_by_dask_or_xarray_is_stored(file, tmp_path):
    assert np.array_equal(stored(dask.array.from_array(file["chunked"], chunks=(2, 2)))[:], TEXTS)
    xarray.Dataset({"t": (("y", "x"), TEXTS)}).to_netcdf(tmp_path / "x.nc", engine="netcdf4")
    for options in ({}, {"chunks": {}}):
        with xarray.open_dataset(tmp_path / "x.nc", engine="netcdf4", **options) as opened:
            assert np.array_equal(stored(opened["t"])[:], TEXTS)


def test_bytes_of_dask_are_stored_and_what_is_neither_is_refused():
    data = np.array([b"a", b"\xff"], object)
    assert stored(dask.array.from_array(data, chunks=1))[:].tolist() == data.tolist()
    with pytest.raises(sherd.InvalidArgument, match="the elements of a string array are str, not NoneType"):
        stored(dask.array.from_array(np.array(["a", None], object), chunks=1))
