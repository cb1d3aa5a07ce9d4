"""Files of netCDF-4 that libnetcdf itself reads wrongly in boxes: the dump and the copy have what ncdump prints."""

import resource
import signal
import subprocess

import netCDF4
import numpy
import pytest
import xarray


def dumped(*command, cwd):
    return subprocess.run(command, cwd=cwd, check=True, capture_output=True, text=True).stdout


def make_shorter_than_unlimited(path):
    with netCDF4.Dataset(path, "w") as file:
        for name, length in (("t", None), ("u", None), ("x", 2)):
            file.createDimension(name, length)
        file.createVariable("v", "i4", ("x", "u"), fill_value=-1)[:, 0:1] = [[1], [2]]
        file.createVariable("e", "i4", ("t", "u"), fill_value=-1)[0:2, 0:2] = [[1, 2], [3, 4]]
        texts = file.createVariable("s", str, ("x", "u"))
        texts[0, 0], texts[1, 0] = "a", "b"
        file.createVariable("longest", "i4", ("t", "u"))[0:3, 0:3] = 7


def make_named_like_a_dimension(path):
    with netCDF4.Dataset(path, "w") as file:
        for name, length in (("station", 5), ("time", 3), ("lat", 2), ("t", None)):
            file.createDimension(name, length)
        file.createVariable("station", "f4", ("time",), zlib=True)[:] = [1, 2, 3]
        file.createVariable("lat", "f4", ("t", "lat"))[0:2] = [[1, 2], [3, 4]]
        file.createVariable("t", "f4", ("lat",), chunksizes=(2,))[:] = [5, 6]
        file.createVariable("time", "f4", ("time",), zlib=True)[:] = [7, 8, 9]


@pytest.mark.parametrize("make", [make_shorter_than_unlimited, make_named_like_a_dimension])
@pytest.mark.parametrize("store_format", ["zarr2", "zarr3"])
def test_a_file_is_dumped_and_copied_with_the_elements_that_ncdump_prints(sherd, tmp_path, make, store_format):
    make(tmp_path / "x.nc")
    expected = dumped("ncdump", "x.nc", cwd=tmp_path)
    assert sherd.ok("ncdump", "x.nc").text == expected
    sherd.ok("nccopy", "--store-format", store_format, "x.nc", "x.zarr")
    assert sherd.ok("ncdump", "x.zarr").text == expected


def test_netcdf_c_4_9_0_reads_a_copy_without_compression(sherd, tmp_path):
    with netCDF4.Dataset(tmp_path / "x.nc", "w") as file:
        file.createDimension("x", 4)
        file.createVariable("v", "i4", ("x",), zlib=True, shuffle=True)[:] = [1, 2, 3, 4]
    sherd.ok("nccopy", "-d", "0", "x.nc", "x.zarr")
    assert " v = 1, 2, 3, 4 ;" in dumped("ncdump", f"file://{tmp_path}/x.zarr#mode=nczarr,file", cwd=tmp_path)


KINDS = {"NETCDF3_CLASSIC": 4, "NETCDF3_64BIT_OFFSET": 4, "NETCDF3_64BIT_DATA": 8}


def make_records(path, kind, variables):
    with netCDF4.Dataset(path, "w", format=kind) as file:
        file.createDimension("t", None)
        file.createDimension("x", 3)
        file.createVariable("fixed", "f8", ("x",))[:] = [1, 2, 3]
        for name, dtype, dimensions in variables:
            variable = file.createVariable(name, dtype, dimensions)
            for record in range(5):
                variable[record] = record


def leave_open(path, width):
    """Stores the number of records as programs do that write to a pipe."""
    stored = path.read_bytes()
    path.write_bytes(stored[:4] + b"\xff" * width + stored[4 + width:])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("variables", [
    [],
    [("one", "i2", ("t", "x"))],  # a single variable, whose records have no padding
    [("a", "i2", ("t",)), ("b", "i1", ("t", "x")), ("c", "f8", ("t",))],
], ids=["none", "one", "three"])
def test_a_number_of_records_that_is_left_open_follows_from_the_length(sherd, tmp_path, kind, variables):
    make_records(tmp_path / "x.nc", kind, variables)
    expected = dumped("ncdump", "x.nc", cwd=tmp_path)
    leave_open(tmp_path / "x.nc", KINDS[kind])
    assert sherd.ok("ncdump", "x.nc").text == expected
    sherd.ok("nccopy", "x.nc", "x.zarr")
    assert sherd.ok("ncdump", "x.zarr").text == expected


def test_only_whole_records_count_if_their_number_is_left_open(sherd, tmp_path):
    make_records(tmp_path / "x.nc", "NETCDF3_CLASSIC", [("a", "i2", ("t",)), ("b", "f8", ("t",))])
    leave_open(tmp_path / "x.nc", 4)
    stored = (tmp_path / "x.nc").read_bytes()
    for missing, records in ((1, 4), (12, 4), (13, 3), (12 * 4, 1), (12 * 5, 0)):
        (tmp_path / "x.nc").write_bytes(stored[:-missing])
        assert f"t = UNLIMITED ; // ({records} currently)" in sherd.ok("ncdump", "-h", "x.nc").text


NULS = r"""netcdf x { dimensions: t = 3; variables: double t(t); t:units = "days since 2000-01-01\000"; t:calendar = "standard\000\000";
    t:inner = "a\000b\000"; t:none = "\000\000"; :title = "x\000"; data: t = 0, 1, 2; }"""


@pytest.mark.parametrize("kind", ["nc3", "nc4"])
@pytest.mark.parametrize("store_format", ["zarr2", "zarr3"])
def test_nuls_at_the_end_of_a_text_are_cut_as_netcdf_c_does(sherd, tmp_path, kind, store_format):
    (tmp_path / "x.cdl").write_text(NULS)
    subprocess.run(["ncgen", "-k", kind, "-o", "x.nc", "x.cdl"], cwd=tmp_path, check=True)
    sherd.ok("nccopy", "--store-format", store_format, "x.nc", "x.zarr")
    attributes = sherd.ok("attrs", "x.zarr/t").json
    assert attributes["calendar"] == "standard" and attributes["none"] == "" and attributes["inner"] == "a\0b"
    with xarray.open_dataset(tmp_path / "x.zarr", engine="zarr") as opened:
        assert opened["t"].dt.day.values.tolist() == [1, 2, 3] and opened.attrs["title"] == "x"
    sherd.ok("nccopy", "x.zarr", "y.nc")
    assert sherd.ok("ncdump", "x.zarr").text == dumped("ncdump", "x.nc", cwd=tmp_path)
    assert dumped("ncdump", "-n", "x", "y.nc", cwd=tmp_path) == dumped("ncdump", "x.nc", cwd=tmp_path)


def test_nuls_at_the_end_of_strings_are_cut_as_well(sherd, tmp_path):
    text = r"""netcdf x { dimensions: t = 3; variables: double t(t); t:units = "days since 2000-01-01"; string t:calendar = "standard\000";
        string t:two = "a\000", "b\000\000"; data: t = 0, 1, 2; }"""
    (tmp_path / "x.cdl").write_text(text)
    sherd.ok("ncgen", "-o", "x.zarr", "x.cdl")
    attributes = sherd.ok("attrs", "x.zarr/t").json
    assert attributes["calendar"] == "standard" and attributes["two"] == ["a", "b"]
    with xarray.open_dataset(tmp_path / "x.zarr", engine="zarr") as opened:
        assert opened["t"].dt.day.values.tolist() == [1, 2, 3]


def limit_files(size):
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))


@pytest.mark.parametrize("kind", ["nc3", "nc4", "nc7"])
@pytest.mark.parametrize("deflate", [[], ["-d", "1"]], ids=["plain", "deflate"])
def test_a_file_that_cannot_be_written_is_one_line_and_leaves_nothing(sherd, tmp_path, kind, deflate):
    with netCDF4.Dataset(tmp_path / "x.nc", "w") as file:
        file.createDimension("x", 50_000)
        for name in ("v", "w"):
            file.createVariable(name, "f8", ("x",))[:] = numpy.random.default_rng(0).random(50_000)
    for size in (100, 5_000, 300_000, 600_000):  # at the first call, in the definitions, at an element, at the end
        ran = subprocess.run([sherd.binary, "nccopy", "-k", kind, *(deflate if kind != "nc3" else []), "x.nc", "y.nc"],
                             cwd=tmp_path, capture_output=True, text=True, preexec_fn=lambda: limit_files(size))
        assert ran.returncode == 7 and ran.stderr.count("\n") == 1, (size, ran.returncode, ran.stderr)
        assert "'y.nc'" in ran.stderr and "File too large" in ran.stderr
        assert [path.name for path in tmp_path.iterdir()] == ["x.nc"]
