"""ncgen into netCDF files: what ncdump prints of them is what it prints of the file that netcdf-c's ncgen makes."""

import subprocess

import netCDF4
import numpy as np
import pytest
from nczarr import cdl
from netcdf_datasets import DATASETS


def dumped(path, *options):
    return subprocess.run(["ncdump", *options, path], check=True, capture_output=True).stdout.decode()


@pytest.mark.parametrize("name", ["every_type", "fills", "unlimited", "groups", "names"])
def test_a_name_of_a_file_makes_a_netcdf_4_file(sherd, tmp_path, name):
    text = cdl(DATASETS[name])
    (tmp_path / "x.cdl").write_text(text)
    subprocess.run(["ncgen", "-4", "-o", tmp_path / "peer.nc", tmp_path / "x.cdl"], check=True)
    assert sherd.ok("ncgen", "-o", "x.nc", "x.cdl").stderr == ""
    assert dumped(tmp_path / "x.nc", "-n", "x") == dumped(tmp_path / "peer.nc", "-n", "x")


TEXT = """netcdf x { dimensions: t = unlimited ; y = 4 ; variables: int v(t, y) ; v:_ChunkSizes = 1, 2 ; v:_DeflateLevel = 4 ; v:_Shuffle = "true" ;
v:_Fletcher32 = "true" ; short big(y) ; big:_Endianness = "big" ; int none(y) ; data: v = 1, 2, 3, 4, 5, 6, 7, 8 ; big = 1, 2, 3, 4 ; }"""


def test_special_attributes_are_those_of_the_file(sherd, tmp_path):
    sherd.ok("ncgen", "-o", "x.nc", input=TEXT.encode())
    with netCDF4.Dataset(tmp_path / "x.nc") as dataset:
        assert dataset["v"].chunking() == [1, 2] and dataset["v"][:].tolist() == [[1, 2, 3, 4], [5, 6, 7, 8]]
        filters = dataset["v"].filters()
        assert (filters["zlib"], filters["complevel"], filters["shuffle"], filters["fletcher32"]) == (True, 4, True, True)
        assert dataset["big"].endian() == "big" and dataset["none"][:].mask.all() and dataset.dimensions["t"].isunlimited()


@pytest.mark.parametrize("options, model", [
    ([], "NETCDF4"), (["-3"], "NETCDF3_CLASSIC"), (["-6"], "NETCDF3_64BIT_OFFSET"), (["-k", "cdf5"], "NETCDF3_64BIT_DATA"),
    (["-k", "nc7"], "NETCDF4_CLASSIC")], ids=str)
@pytest.mark.parametrize("suffix", ["nc", "nc4", "cdf"])
def test_the_kind_of_file_is_chosen_as_with_netcdf_c(sherd, tmp_path, options, model, suffix):
    text = "netcdf x { dimensions: t = unlimited ; variables: int v(t) ; int none(t) ; data: v = 1, 2 ; }"
    sherd.ok("ncgen", *options, "-o", f"x.{suffix}", input=text.encode())
    with netCDF4.Dataset(tmp_path / f"x.{suffix}") as dataset:
        assert dataset.data_model == model and dataset["v"][:].tolist() == [1, 2] and dataset["none"][:].mask.all()


def test_a_variable_without_data_costs_nothing(sherd, tmp_path):
    text = b"netcdf x { dimensions: t = 1000000 ; y = 1000 ; x = 1000 ; variables: float v(t, y, x) ; int z ; data: z = 1 ; }"
    sherd.ok("ncgen", "-o", "x.nc", input=text)
    with netCDF4.Dataset(tmp_path / "x.nc") as dataset:
        assert dataset["v"].shape == (1000000, 1000, 1000) and dataset["v"][7, 8, 9] is np.ma.masked and dataset["z"][...] == 1
    assert (tmp_path / "x.nc").stat().st_size < 100000


def test_no_file_is_replaced_and_a_failure_leaves_none(sherd, tmp_path):
    (tmp_path / "x.nc").write_text("a file of another program")
    ran = sherd("ncgen", "-o", "x.nc", input=TEXT.encode())
    assert ran.code == 6 and "'x.nc': exists already" in ran.stderr
    assert (tmp_path / "x.nc").read_text() == "a file of another program"
    ran = sherd("ncgen", "-3", "-o", "y.nc", input=b"netcdf y { variables: int64 v ; }")
    assert ran.code == 2 and "line 1, column" in ran.stderr
    assert sherd("ncgen", "--store-format", "zarr3", "--shards", "auto", "-o", "y.nc", input=TEXT.encode()).code == 2
    assert [p.name for p in tmp_path.iterdir()] == ["x.nc"]


def test_a_fragment_makes_a_dataset_of_any_name(sherd, tmp_path):
    sherd.ok("ncgen", "-o", "x.nc#mode=nczarr,file", input=TEXT.replace('v:_Fletcher32 = "true" ;', "").encode())
    assert (tmp_path / "x.nc/.zgroup").is_file()


FILLS = {
    "numbers": "dimensions: t = UNLIMITED ; variables: int x(t) ; data: x = _, _, _ ;",
    "zeros": "dimensions: t = UNLIMITED ; y = 2 ; variables: byte b(t, y) ; double d(t) ; data: b = 0, 0, 0, 0 ;",
    "own": "dimensions: t = UNLIMITED ; variables: float x(t) ; x:_FillValue = 7.f ; data: x = 7, 7 ;",
    "characters": r'dimensions: t = UNLIMITED ; variables: char c(t) ; data: c = "\000\000\000" ;',
    "empty characters": 'dimensions: m = 2 ; n = 3 ; variables: char c(n), d(m, n) ; c:_NoFill = "true" ; d:_NoFill = "true" ; data: c = "" ; d = "", "" ;',
    "without fill values": 'dimensions: t = UNLIMITED ; y = 4 ; variables: int x(t), y(y) ; x:_NoFill = "true" ; y:_NoFill = "true" ; data: x = _, _ ; y = _, _, _, _ ;',
    "shorter": 'dimensions: t = UNLIMITED ; variables: int x(t), y(t), z(t) ; x:_NoFill = "true" ; data: x = 1 ; y = _, _, _ ;',
}
IN_NETCDF_4 = {
    "texts": 'dimensions: t = UNLIMITED ; variables: string s(t) ; data: s = "", "", "" ;',
    "own texts": 'dimensions: t = UNLIMITED ; variables: string s(t) ; string s:_FillValue = "-" ; data: s = "-", _, "-" ;',
    "two unlimited": "dimensions: t = UNLIMITED ; u = UNLIMITED ; variables: int x(t, u) ; data: x = {_, _}, {_, _, _} ;",
    "in a group": "dimensions: t = UNLIMITED ; variables: int x(t) ; group: g { variables: int x(t) ; data: x = _, _, _, _ ; }",
    "scalars": 'variables: int x ; char c ; string s ; data: x = _ ; c = "" ; s = "" ;',
}
CASES = [(kind, name) for kind, names in {"-3": FILLS, "-4": FILLS | IN_NETCDF_4}.items() for name in names]


@pytest.mark.parametrize("kind, name", CASES)
def test_elements_that_equal_the_fill_value_are_data(sherd, tmp_path, kind, name):
    (tmp_path / "x.cdl").write_text(f"netcdf x {{ {(FILLS | IN_NETCDF_4)[name]} }}")
    subprocess.run(["ncgen", kind, "-o", tmp_path / "peer.nc", tmp_path / "x.cdl"], check=True)
    sherd.ok("ncgen", kind, "-o", "x.nc", "x.cdl")
    assert dumped(tmp_path / "x.nc", "-n", "x") == dumped(tmp_path / "peer.nc", "-n", "x")
