"""Every codec of a variable is shown by ncdump -s and read back by ncgen."""

import pytest

import sherd as library

CODECS = {"blosc": '_Filter = "32001,0,0,0,0,5,1,5"', "sized": "_Codecs", "lz4": r'_Codecs = "[{\"id\":\"lz4\",\"acceleration\":1}]"', "delta": "_Codecs",
          "scaled": "_Codecs", "crc": "_Codecs", "zstd": '_Filter = "32015,3"', "packed": '_Filter = "307,3"'}


def coded(path, zarr_format):
    """A dataset with variables of all kinds of codecs, as CODECS names them."""
    as_bytes = {"name": "bytes", "configuration": {"endian": "little"}}

    def codec(name, **configuration):
        return {"name": f"numcodecs.{name}", "configuration": configuration}

    chains = {"blosc": [as_bytes, codec("blosc", cname="zstd", clevel=5, shuffle=1, blocksize=0)],
              "sized": [as_bytes, codec("blosc", cname="zstd", clevel=5, shuffle=2, blocksize=64)],
              "lz4": [as_bytes, codec("lz4", acceleration=1)],
              "delta": [codec("delta", dtype="<i4", astype="<i4"), as_bytes, codec("zlib", level=4)],
              "scaled": [codec("fixedscaleoffset", dtype="<i4", astype="<i2", scale=1, offset=0), as_bytes],
              "crc": [as_bytes, codec("crc32")], "zstd": [as_bytes, codec("zstd", level=3)],
              "packed": [as_bytes, codec("shuffle", elementsize=4), codec("bz2", level=3)]}
    with library.netcdf.create_dataset(path, zarr_format=zarr_format) as dataset:
        dataset.create_dimension("x", 100)
        for name, chain in chains.items():
            dataset.create_variable(name, "int", "x", codecs=chain)[:] = range(100)


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_every_codec_is_a_special_attribute_and_comes_back_through_cdl(sherd, tmp_path, zarr_format):
    coded(tmp_path / "x.zarr", zarr_format)
    text = sherd.ok("ncdump", "-s", "-n", "x", "x.zarr").text
    for name, attribute in CODECS.items():
        assert f"\t\t{name}:{attribute}" in text
    assert 'packed:_Shuffle = "true"' in text and "delta:_DeflateLevel = 4 ;" in text
    ran = sherd.ok("ncgen", "--store-format", f"zarr{zarr_format}", "-o", "y.zarr", input=text.encode())
    assert ran.stderr == "" and sherd.ok("ncdump", "-s", "-n", "x", "y.zarr").text == text
    for name in CODECS:
        assert sherd.ok("info", "--json", f"y.zarr/{name}").json["codecs"] == sherd.ok("info", "--json", f"x.zarr/{name}").json["codecs"]
