"""ncgen onto what exists: a dataset is replaced as by netcdf-c's ncgen, anything else only with --overwrite."""

import xarray

import pytest
import zarr

TEXT = b"netcdf x { dimensions: y = 2 ; variables: int v(y) ; data: v = 1, 2 ; }"


def make(sherd, kind, path):
    """Something at `path` that is not a netCDF dataset."""
    shape = ["--shape", "8,8,8", "--dtype", "uint8", "--chunks", "4,4,4", "--dimension-names", "z,y,x"]
    if kind in ("array of zarr2", "array of zarr3"):
        sherd.ok("create", path, "--store-format", kind[-5:], *shape)
    elif kind.startswith("image"):
        sherd.ok("create", "source", *shape)
        sherd.ok("copy", "source", "image", "--pyramid", "mean", "--resolution", "4,4,4")
        sherd.ok("copy", "image", path, "--to", kind[-5:])
    else:
        zarr.open_group(sherd.folder / path, mode="w", zarr_format=int(kind[-1])).create_array("a", shape=(4,), dtype="u1")


NAMES = {"array": "an array", "image": "an OME-NGFF image", "group": "a Zarr group whose dimensions have no names"}


@pytest.mark.parametrize("version", ["zarr2", "zarr3"])
@pytest.mark.parametrize("kind", NAMES)
@pytest.mark.parametrize("own", ["zarr2", "zarr3"])
def test_what_is_not_a_dataset_is_replaced_only_with_an_option(sherd, kind, version, own):
    make(sherd, f"{kind} of {version}", "x")
    before = sherd.ok("info", "--json", "x").text
    ran = sherd("--store-format", own, "ncgen", "-o", "x", input=TEXT)
    assert ran.code == 6 and f"x is {NAMES[kind]}" in ran.stderr and "--overwrite" in ran.stderr
    assert sherd.ok("info", "--json", "x").text == before
    sherd.ok("--store-format", own, "ncgen", "--overwrite", "-o", "x", input=TEXT)
    assert "v = 1, 2 ;" in sherd.ok("ncdump", "x").text


def test_a_volume_is_never_replaced(sherd):
    sherd.ok("create", "source", "--shape", "8,8,8", "--dtype", "uint8", "--chunks", "4,4,4", "--dimension-names", "z,y,x")
    sherd.ok("copy", "source", "x", "--to", "precomputed", "--resolution", "4,4,4")
    for option in ([], ["--overwrite"]):
        ran = sherd("ncgen", *option, "-o", "x", input=TEXT)
        assert ran.code == 6 and "precomputed exists here" in ran.stderr
    assert sherd.ok("info", "--json", "x").json["format"] == "precomputed"


@pytest.mark.parametrize("mode", ["", "#mode=zarr", "#mode=nczarr,noxarray"])
@pytest.mark.parametrize("version", ["zarr2", "zarr3"])
def test_a_dataset_is_replaced_as_by_netcdf_c(sherd, version, mode):
    for first in (TEXT, b"netcdf x { }", b"netcdf x { dimensions: t = UNLIMITED ; variables: char c(t) ; string s ; group: g { variables: int w(t) ; } }"):
        sherd.ok("--store-format", version, "ncgen", "-o", "x" + mode, input=first)
    sherd.ok("ncgen", "-o", "x", input=TEXT)
    assert "v = 1, 2 ;" in sherd.ok("ncdump", "x").text


@pytest.mark.parametrize("version", [2, 3])
def test_a_dataset_of_xarray_is_replaced(sherd, tmp_path, version):
    xarray.Dataset({"a": ("y", [1, 2])}, {"y": [3, 4]}).to_zarr(tmp_path / "x", zarr_format=version, consolidated=False)
    sherd.ok("ncgen", "-o", "x", input=TEXT)
    assert "v = 1, 2 ;" in sherd.ok("ncdump", "x").text


def test_a_file_is_replaced_only_with_an_option(sherd, tmp_path):
    (tmp_path / "x.nc").write_text("a file of another program")
    ran = sherd("ncgen", "-o", "x.nc", input=TEXT)
    assert ran.code == 6 and "exists already; overwrite it with --overwrite" in ran.stderr
    assert (tmp_path / "x.nc").read_text() == "a file of another program"
    sherd.ok("ncgen", "--overwrite", "-o", "x.nc", input=TEXT)
    assert "v = 1, 2 ;" in sherd.ok("ncdump", "x.nc").text
