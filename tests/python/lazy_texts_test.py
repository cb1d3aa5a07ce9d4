"""create_array(data=…), and assignments, of texts that h5py, dask and xarray read when they are indexed."""

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
    with pytest.raises(sherd.InvalidArgument, match=r"not UTF-8 \(b'\\xe9'\); an array of dtype=\"bytes\""):
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


def test_what_h5py_has_read_is_stored(file):
    assert np.array_equal(stored(file["chunked"][:])[:], TEXTS)
    assert np.array_equal(stored(file["chunked"], dtype="U300")[:], TEXTS)


@pytest.mark.parametrize("dtype", ["string", "U300"])
@pytest.mark.parametrize("make", [
    lambda data: data,
    lambda data: data[:],
    lambda data: data.asstr(),
    lambda data: dask.array.from_array(data, chunks=(2, 3)),
    lambda data: xarray.DataArray(dask.array.from_array(data, chunks=(2, 3))),
    lambda data: xarray.DataArray(data[:]).chunk(2),
], ids=["dataset", "read", "asstr", "dask", "xarray", "chunked"])
def test_texts_of_h5py_are_assigned(file, make, dtype):
    array = sherd.create_array(sherd.MemoryStore(), shape=(4, 5), dtype=dtype, chunks=(2, 2), shards=(4, 4))
    data = make(file["chunked"])
    array[...] = data
    assert np.array_equal(array[:], TEXTS)
    array[...] = ""
    array[1:3, ::2] = data[1:3, ::2]
    array.oindex[[0, 3], 1:3] = data[::3, 1:3]
    array.vindex[[0, 3], [4, 4]] = data[::3, 4]
    array.blocks[0, 1] = data[:, 4:]
    expected = np.full((4, 5), "", object)
    expected[1:3, ::2], expected[::3, 1:3], expected[:, 4] = TEXTS[1:3, ::2], TEXTS[::3, 1:3], TEXTS[:, 4]
    assert np.array_equal(array[:], expected)
    array.append(data)
    assert np.array_equal(array[4:], TEXTS)


def test_assigned_texts_of_h5py_may_be_bytes_and_are_checked(file):
    array = sherd.create_array(sherd.MemoryStore(), shape=(2,), dtype="bytes")
    array[...] = file["latin1"]
    assert array[:].tolist() == [b"x", b"\xe9"]
    array = sherd.create_array(sherd.MemoryStore(), shape=(2,), dtype="string")
    with pytest.raises(sherd.InvalidArgument, match=r"not UTF-8 \(b'\\xe9'\)"):
        array[...] = file["latin1"]
    with pytest.raises(sherd.InvalidArgument, match="are str, not bytes"):
        array[...] = [b"x", b"y"]


def test_attributes_of_h5py_that_are_texts_are_stored(file, tmp_path):
    with h5py.File(tmp_path / "a.h5", "w") as new:
        new.attrs.update(text="größe", texts=["a", "ö"], n=np.int16(3))
        new.attrs.create("ascii", "abc", dtype=h5py.string_dtype("ascii"))
        new.attrs.create("fixed", "größe".encode(), dtype=h5py.string_dtype("utf-8", 9))
        given = dict(new.attrs)
    with pytest.raises(sherd.InvalidArgument, match=r"attributes\.fixed: JSON has no value of type bytes; convert it to text"):
        stored(file["fixed"], attributes=given)
    given["fixed"] = given["fixed"].decode()
    array = stored(file["fixed"], attributes=given)
    assert array.attrs.asdict() == {"text": "größe", "texts": ["a", "ö"], "n": 3, "ascii": "abc", "fixed": "größe"}
