"""nccopy: the checksum fletcher32 of a variable is kept, or a warning says that it is not."""

import json
import subprocess

import numpy as np
import pytest

DATA = np.arange(2000, dtype="f4").reshape(40, 50)


@pytest.fixture
def file(tmp_path):
    """A netCDF-4 file with a checksum: of v alone, and of w with deflate."""
    import netCDF4
    with netCDF4.Dataset(tmp_path / "x.nc", "w") as dataset:
        dataset.createDimension("y", 40)
        dataset.createDimension("x", 50)
        for name, filters in {"v": {}, "w": {"zlib": True, "shuffle": True}}.items():
            dataset.createVariable(name, "f4", ("y", "x"), fletcher32=True, chunksizes=(10, 20), **filters)[:] = DATA
    return tmp_path / "x.nc"


def special(path):
    text = subprocess.run(["ncdump", "-hs", path], check=True, capture_output=True, text=True).stdout
    return [line.strip() for line in text.splitlines() if any(each in line for each in ("_Fletcher32", "_Deflate", "_Shuffle"))]


def codecs(array):
    return [each["name"].removeprefix("numcodecs.") for each in json.loads((array / "zarr.json").read_text())["codecs"]]


@pytest.mark.parametrize("options", [["-d", "0"], ["-d", "1"], ["-d", "5", "-s"]], ids="".join)
def test_a_file_has_the_filters_of_netcdf_c_if_a_level_is_asked_for(sherd, tmp_path, file, options):
    ran = sherd("nccopy", *options, file, "ours.nc")
    assert ran.code == 0 and "warning" not in ran.stderr
    assert 'v:_Fletcher32 = "true" ;' in special(tmp_path / "ours.nc")
    if "-s" not in options:  # netcdf-c fails for w, which is shuffled already
        subprocess.run(["nccopy", *options, file, tmp_path / "theirs.nc"], check=True)
        assert special(tmp_path / "ours.nc") == special(tmp_path / "theirs.nc")


def test_zarr_python_reads_the_checksum_of_compressed_chunks_in_zarr_v3(sherd, tmp_path, file):
    import zarr
    for number, options in enumerate(([], ["-d", "0"], ["-d", "4"])):
        ran = sherd("--store-format", "zarr3", "nccopy", *options, file, f"{number}.zarr")
        assert ran.code == 0 and "warning" not in ran.stderr
    assert codecs(tmp_path / "0.zarr/v") == ["bytes", "fletcher32"]
    assert codecs(tmp_path / "0.zarr/w") == ["bytes", "shuffle", "zlib", "fletcher32"]
    assert codecs(tmp_path / "1.zarr/w") == ["bytes", "fletcher32"]
    assert codecs(tmp_path / "2.zarr/v") == codecs(tmp_path / "2.zarr/w") == ["bytes", "zlib", "fletcher32"]
    for number in range(3):
        for name in "vw":
            assert (zarr.open_array(tmp_path / f"{number}.zarr/{name}")[:] == DATA).all()
    sherd.ok("nccopy", "0.zarr", "back.nc")
    assert special(tmp_path / "back.nc") == special(file)


def test_a_warning_says_that_zarr_v2_has_no_checksum_of_compressed_chunks(sherd, tmp_path, file):
    ran = sherd("nccopy", "-d", "1", file, "x.zarr")
    assert ran.code == 0
    for name in "vw":
        assert f"warning: /{name}: the copy has no checksum (fletcher32)" in ran.stderr
    ran = sherd("nccopy", "-d", "0", file, "y.zarr")
    assert ran.code == 0 and "warning" not in ran.stderr
    assert json.loads((tmp_path / "y.zarr/w/.zarray").read_text())["filters"] == [{"id": "fletcher32"}]
    ran = sherd("nccopy", file, "z.zarr")
    assert ran.code != 0 and "/w: the checksum fletcher32" in ran.stderr and "--store-format zarr3" in ran.stderr


def test_ncgen_writes_the_checksum_of_compressed_chunks_in_zarr_v3_only(sherd, tmp_path):
    text = 'netcdf x { dimensions: x = 4 ; variables: int v(x) ; v:_DeflateLevel = 1 ; v:_Fletcher32 = "true" ; ' \
           'int w(x) ; w:_Filter = "307,9" ; w:_Fletcher32 = "true" ; data: v = 1, 2, 3, 4 ; w = 4, 3, 2, 1 ; }'
    (tmp_path / "x.cdl").write_text(text)
    sherd.ok("--store-format", "zarr3", "ncgen", "-o", "x.zarr", "x.cdl")
    assert codecs(tmp_path / "x.zarr/v") == ["bytes", "zlib", "fletcher32"] and codecs(tmp_path / "x.zarr/w") == ["bytes", "bz2", "fletcher32"]
    import zarr
    assert list(zarr.open_array(tmp_path / "x.zarr/v")[:]) == [1, 2, 3, 4] and list(zarr.open_array(tmp_path / "x.zarr/w")[:]) == [4, 3, 2, 1]
    again = sherd.ok("ncdump", "-s", "x.zarr").text
    sherd.ok("--store-format", "zarr3", "ncgen", "-o", "y.zarr", input=again.encode())
    assert sherd.ok("ncdump", "-s", "-n", "x", "y.zarr").text == again
    ran = sherd("ncgen", "-o", "z.zarr", "x.cdl")
    assert ran.code != 0 and ran.stderr.startswith("sherd: 'x.cdl': line 1, column 47: 'v' has _Fletcher32 and compression, which readers of Zarr v2")


@pytest.mark.parametrize("codec", ["zstd", "bz2", "blosc"])
def test_codecs_that_classic_files_cannot_have_are_a_warning(sherd, tmp_path, codec):
    sherd.ok("create", "x.zarr/v", "--shape", "4", "--dtype", "int16", "--codec", codec)
    assert "warning: /v: the copy has no filters" in sherd.ok("nccopy", "-3", "x.zarr", f"{codec}.nc").stderr
