"""netCDF and HDF5 files that libnetcdf itself misreads or cannot finish, in Python."""

import os
import subprocess
import sys

import h5py
import netCDF4
import numpy
import pytest
import sherd


def test_a_number_of_records_that_is_left_open_follows_from_the_length(tmp_path):
    with netCDF4.Dataset(tmp_path / "x.nc", "w", format="NETCDF3_CLASSIC") as file:
        file.createDimension("t", None)
        file.createVariable("v", "i4", ("t",))[:] = [1, 2, 3]
    stored = (tmp_path / "x.nc").read_bytes()
    (tmp_path / "x.nc").write_bytes(stored[:4] + b"\xff" * 4 + stored[8:])
    variable = sherd.netcdf.open_dataset(tmp_path / "x.nc")["v"]
    assert variable.shape == (3,) and numpy.array_equal(variable[:], [1, 2, 3])


def test_nuls_at_the_end_of_a_stored_text_are_not_read(tmp_path):
    import zarr
    group = zarr.open_group(tmp_path / "x.zarr", mode="w", zarr_format=2)
    array = group.create_array("t", shape=(3,), dtype="i4")
    array.attrs.update({"_ARRAY_DIMENSIONS": ["t"], "calendar": "standard\0", "inner": "a\0b"})
    group.attrs["title"] = "x\0\0"
    dataset = sherd.netcdf.open_dataset(tmp_path / "x.zarr")
    assert dataset.attributes["title"] == "x"
    assert dataset["t"].attributes["calendar"] == "standard" and dataset["t"].attributes["inner"] == "a\0b"


def test_texts_of_fixed_length_are_read_beside_h5py(tmp_path):
    texts = numpy.array([b"text %d" % i for i in range(1000)], "S20")
    with h5py.File(tmp_path / "x.h5", "w") as file:
        file["v"], file["empty"] = texts, numpy.array([b"ab", b"c", b""])
    with h5py.File(tmp_path / "x.h5") as file:
        dataset = sherd.netcdf.open_dataset(tmp_path / "x.h5")
        assert dataset.warnings == []
        assert dataset["v"][10:990:7].tolist() == [text.decode() for text in file["v"][10:990:7]]
        assert dataset["empty"][:].tolist() == ["ab", "c", ""]
        assert file["v"][999] == b"text 999"


def test_texts_of_a_file_that_has_been_replaced_are_not_those_of_another(tmp_path):
    for name, text in (("x.h5", b"first"), ("y.h5", b"other")):
        with h5py.File(tmp_path / name, "w") as file:
            file["v"] = numpy.array([text])
    dataset = sherd.netcdf.open_dataset(tmp_path / "x.h5")
    os.replace(tmp_path / "y.h5", tmp_path / "x.h5")
    with pytest.raises(sherd.Conflict, match="replaced"):
        dataset["v"][:]


def test_texts_are_read_after_a_change_of_the_working_directory(tmp_path, monkeypatch):
    with h5py.File(tmp_path / "x.h5", "w") as file:
        file["v"] = numpy.array([b"first"])
    monkeypatch.chdir(tmp_path)
    variable = sherd.netcdf.open_dataset("x.h5")["v"]
    monkeypatch.chdir("/")
    assert variable[:].tolist() == ["first"]
    (tmp_path / "x.h5").unlink()
    with pytest.raises(sherd.Conflict, match="removed"):
        variable[:]


def test_a_file_that_lacks_a_variable_has_it_in_unread(tmp_path):
    with h5py.File(tmp_path / "x.h5", "w") as file:
        file["ok"], file["lost"], file["boolean"] = numpy.arange(3.0), numpy.arange(3.0), numpy.array([True])
        file["lost"].attrs["table"] = numpy.eye(2)
    dataset = sherd.netcdf.open_dataset(tmp_path / "x.h5")
    assert list(dataset.unread) == ["/lost"] and "'table'" in dataset.unread["/lost"]
    with pytest.raises(sherd.Unsupported, match="/lost"):
        sherd.netcdf.copy(tmp_path / "x.h5", tmp_path / "x.zarr")
    sherd.netcdf.copy(tmp_path / "x.h5", tmp_path / "x.zarr", variables=["ok"])
    sherd.netcdf.copy(tmp_path / "x.h5", tmp_path / "x.zarr", skip_damaged=True, overwrite=True)
    assert sherd.netcdf.open_dataset(tmp_path / "x.zarr")["ok"][:].tolist() == [0, 1, 2]


INTERRUPTED = """
import signal, sherd
signal.signal(signal.SIGALRM, signal.default_int_handler)
signal.setitimer(signal.ITIMER_REAL, 0.05)
try:
    sherd.netcdf.open_dataset("x.h5")
except BaseException as error:  # without a context: the look did not end by itself
    print(type(error).__name__, error.__context__)
print(sherd.netcdf.open_dataset("y.h5")["ok"][...].tolist())
"""


def test_an_interrupt_ends_the_look_at_an_hdf5_file(tmp_path):
    with h5py.File(tmp_path / "x.h5", "w") as file, h5py.File(tmp_path / "y.h5", "w") as other:
        other["ok"] = numpy.arange(3)
        many = file.create_group("g0")
        for i in range(20_000):
            many[f"l{i}"] = h5py.SoftLink("/nowhere")
        for i in range(1, 51):
            file[f"g{i}"] = many
    ran = subprocess.run([sys.executable, "-c", INTERRUPTED], cwd=tmp_path, capture_output=True, text=True)
    assert (ran.stdout, ran.stderr) == ("KeyboardInterrupt None\n[0, 1, 2]\n", "")


OPEN_AT_THE_END = """
import ctypes, sys
import sherd

sherd.netcdf.open_dataset("x.nc")["v"][...]
path, = {line.split()[-1] for line in open("/proc/self/maps") if "/libhdf5" in line and "_hl" not in line}
hdf5 = ctypes.CDLL(path)
hdf5.H5Fcreate.restype = hdf5.H5Gcreate2.restype = ctypes.c_int64
hdf5.H5Fcreate.argtypes = [ctypes.c_char_p, ctypes.c_uint, ctypes.c_int64, ctypes.c_int64]
hdf5.H5Gcreate2.argtypes = [ctypes.c_int64, ctypes.c_char_p, *[ctypes.c_int64] * 3]
file = hdf5.H5Fcreate(b"y.h5", 2, 0, 0)
assert file > 0 and hdf5.H5Gcreate2(file, b"mine", 0, 0, 0) > 0
"""


def test_files_that_others_leave_open_in_the_same_libhdf5_are_whole(tmp_path):
    with netCDF4.Dataset(tmp_path / "x.nc", "w") as file:
        file.createVariable("v", "i4")[...] = 1
    ran = subprocess.run([sys.executable, "-c", OPEN_AT_THE_END], cwd=tmp_path, capture_output=True, text=True)
    assert (ran.returncode, ran.stderr) == (0, "")
    with h5py.File(tmp_path / "y.h5") as file:
        assert list(file) == ["mine"]


def test_what_is_left_out_of_a_file_is_a_warning_with_its_name(tmp_path):
    with h5py.File(tmp_path / "x.h5", "w") as file:
        file["ok"], file["boolean"], file["wide"] = numpy.arange(3.0), numpy.array([True]), numpy.zeros(2, numpy.longdouble)
        file["ok"].attrs["complex"], file["ok"].attrs["units"], file.attrs["table"] = 1j, "m", numpy.zeros((2, 2))
    dataset = sherd.netcdf.open_dataset(tmp_path / "x.h5")
    assert list(dataset.variables) == ["ok"] and dataset["ok"].attributes == {"units": "m"}
    assert sorted(warning.partition(" is left out: ")[0] for warning in dataset.warnings) == [
        "/: the attribute 'table'", "/boolean: the variable", "/ok: the attribute 'complex'", "/wide: the variable"]


def test_a_file_that_libnetcdf_would_not_survive_is_refused(tmp_path):
    with h5py.File(tmp_path / "x.h5", "w") as file:
        file["g/self"] = file.create_group("g")
    with pytest.raises(sherd.Unsupported, match="/g/self"):
        sherd.netcdf.open_dataset(tmp_path / "x.h5")


FULL = """
import resource, signal, sys
import sherd

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]), resource.RLIM_INFINITY))
try:
    sherd.netcdf.copy("x.zarr", "full.nc", kind="netCDF-4", overwrite=True)
except sherd.Error as error:
    print(error)
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
sherd.netcdf.copy("x.zarr", "whole.nc", kind="netCDF-4", overwrite=True)
"""


def test_after_a_file_that_cannot_be_written_the_next_one_is_written(tmp_path):
    values = numpy.random.default_rng(0).random(50_000)
    with sherd.netcdf.create_dataset(tmp_path / "x.zarr") as writer:
        writer.create_dimension("x", len(values))
        for name, level in (("v", None), ("w", 1)):
            writer.create_variable(name, "f8", ("x",), deflate_level=level)
            writer[name][:] = values
    for limit in (100, 5_000, 300_000, 600_000):
        ran = subprocess.run([sys.executable, "-c", FULL, str(limit)], cwd=tmp_path, capture_output=True, text=True)
        assert (ran.returncode, ran.stderr) == (0, ""), (limit, ran.stderr)
        assert "File too large" in ran.stdout and "full.nc" in ran.stdout
        assert sorted(path.name for path in tmp_path.iterdir()) == ["whole.nc", "x.zarr"]
        with netCDF4.Dataset(tmp_path / "whole.nc") as file:
            numpy.testing.assert_array_equal(file["w"][:], values)
