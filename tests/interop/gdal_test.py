"""The 2022 draft, Zarr v2 and NCZarr between Sherd and GDAL 3.6, which reads and writes the first two without shards."""

import json
import shutil
import subprocess

import numpy
import pytest
import sherd
from dependencies import missing

VALUES = numpy.arange(35).reshape(7, 5)
SOURCE = f"""<VRTDataset><Group name="/">
  <Dimension name="y" size="7"/><Dimension name="x" size="5"/>
  <Array name="a"><DataType>Int32</DataType><DimensionRef ref="y"/><DimensionRef ref="x"/>
    <InlineValues>{" ".join(map(str, VALUES.ravel()))}</InlineValues></Array>
</Group></VRTDataset>"""


@pytest.fixture
def gdal(tmp_path):
    """Runs one of GDAL's commands in a folder."""
    if shutil.which("gdalmdiminfo") is None:
        missing("gdal-bin")

    def run(*command):
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True).stdout

    return run


@pytest.mark.parametrize("options", [{"dtype": "<i4", "compressors": None}, {"dtype": "<f8", "compressors": "gzip:5"},
                                     {"dtype": "u1"}, {"dtype": ">i4"}, {"dtype": "<f4", "order": "F"},
                                     {"dtype": "<i2", "separator": "."}])
def test_gdal_reads_arrays_without_shards(options, gdal, tmp_path):
    array = sherd.draft2022.create_array(tmp_path / "s.zarr", name="g/a", shape=VALUES.shape, chunks=(2, 3), **options)
    array[...] = VALUES
    seen = json.loads(gdal("gdalmdiminfo", "-detailed", "-array", "/g/a", "s.zarr"))
    assert seen["values"] == VALUES.tolist() and seen["block_size"] == [2, 3]


@pytest.mark.parametrize("compressor", ["NONE", "GZIP", "BLOSC"])
def test_what_gdal_writes_is_read_edited_and_sound(compressor, gdal, tmp_path):
    (tmp_path / "source.vrt").write_text(SOURCE)
    gdal("gdalmdimtranslate", "-of", "ZARR", "-co", "FORMAT=ZARR_V3", "-co", f"ARRAY:COMPRESS={compressor}",
         "-co", "ARRAY:BLOCKSIZE=2,3", "source.vrt", "out.zarr")
    array = sherd.open(tmp_path / "out.zarr", path="a", mode="r+")
    assert array.format == "draft2022" and array.chunks == (2, 3)
    assert numpy.array_equal(array[...], VALUES)
    array[3, 2] = -1
    assert json.loads(gdal("gdalmdiminfo", "-detailed", "-array", "/a", "out.zarr"))["values"][3][2] == -1
    report = sherd.check(tmp_path / "out.zarr", data=True)
    assert not report["faults"] and report["checked"]["chunks"] == 8


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("compressor", ["NONE", "ZLIB", "GZIP", "BLOSC", "ZSTD", "LZ4", "LZMA"])
def test_what_gdal_writes_as_zarr_v2_is_read_edited_and_sound(compressor, order, gdal, tmp_path):
    (tmp_path / "source.vrt").write_text(SOURCE)
    gdal("gdalmdimtranslate", "-of", "ZARR", "-co", "FORMAT=ZARR_V2", "-co", f"ARRAY:COMPRESS={compressor}",
         "-co", "ARRAY:BLOCKSIZE=2,3", "-co", f"ARRAY:CHUNK_MEMORY_LAYOUT={order}", "source.vrt", "out.zarr")
    array = sherd.open(tmp_path / "out.zarr", path="a", mode="r+")
    assert array.format == "zarr2" and array.chunks == (2, 3)
    assert numpy.array_equal(array[...], VALUES)
    array[3, 2] = -1
    assert json.loads(gdal("gdalmdiminfo", "-detailed", "-array", "/a", "out.zarr"))["values"][3][2] == -1
    codes = [fault["code"] for fault in sherd.check(tmp_path / "out.zarr", data=True)["faults"]]
    assert codes == (["document_odd"] if compressor == "LZMA" else [])  # whose member `delta` numcodecs does not have


def test_gdal_reads_nczarr_by_both_of_its_drivers(gdal, tmp_path):
    # Its netcdf-c is 4.9.0, which ends where there are scalars or strings and knows no unlimited dimensions.
    with sherd.netcdf.create_dataset(tmp_path / "n.zarr") as dataset:
        dataset.create_dimension("y", 7)
        dataset.create_dimension("x", 5)
        dataset.create_variable("v", "int", ("y", "x"), attributes={"units": "K"}, chunks=(2, 3))[...] = VALUES
        dataset.create_variable("y", "double", "y")[...] = numpy.arange(7) / 2
        dataset.create_group("g").create_variable("w", "int", ("x", "y"))[...] = VALUES.T
    for source in ("n.zarr", f'NETCDF:"file://{tmp_path}/n.zarr#mode=nczarr,file"'):
        seen = json.loads(gdal("gdalmdiminfo", "-detailed", "-array", "/v", source))
        assert seen["values"] == VALUES.tolist() and seen["block_size"] == [2, 3] and seen["unit"] == "K"
        assert [(each["full_name"], each["size"]) for each in seen["dimensions"]] == [("/y", 7), ("/x", 5)]
        assert json.loads(gdal("gdalmdiminfo", "-detailed", "-array", "/y", source))["values"] == [0, 0.5, 1, 1.5, 2, 2.5, 3]
        assert json.loads(gdal("gdalmdiminfo", "-detailed", "-array", "/g/w", source))["values"] == VALUES.T.tolist()
