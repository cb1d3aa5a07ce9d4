"""zarr-python reads what we write, and we read what it writes."""

import numpy as np
import pytest
import sherd
import zarr

ARRAYS = {
    "bool": np.arange(35).reshape(7, 5) % 3 == 0,
    "i2": np.arange(35, dtype="i2").reshape(7, 5) - 9,
    "u8": np.arange(35, dtype="u8").reshape(7, 5) + 2**63,
    "f2": np.linspace(-1, 1, 35, dtype="f2").reshape(7, 5),
    "c16": (np.arange(35) * (1 + 2j)).reshape(7, 5),
    "M8": np.arange(35).reshape(7, 5).astype("M8[ns]"),
    "U": np.array([f"é{i}" for i in range(35)]).reshape(7, 5),
    "string": np.array([f"é{i}" * (i % 3) for i in range(35)], object).reshape(7, 5),
}


@pytest.mark.parametrize("shards", [None, (6, 4)], ids=["plain", "sharded"])
@pytest.mark.parametrize("name", ARRAYS)
def test_zarr_python_reads_what_we_write(tmp_path, name, shards):
    data = ARRAYS[name]
    sherd.create_array(tmp_path / "a", data=data, chunks=(3, 2), shards=shards, attributes={"a": [1]}, dimension_names=("y", "x"))
    found = zarr.open_array(tmp_path / "a", mode="r")
    assert np.array_equal(found[...], data)
    assert dict(found.attrs) == {"a": [1]} and found.metadata.dimension_names == ("y", "x")
    assert found.chunks == (3, 2) and found.shards == shards


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("shards", [None, (6, 4)], ids=["plain", "sharded"])
@pytest.mark.parametrize("name", ARRAYS)
def test_we_read_what_zarr_python_writes(tmp_path, name, shards):
    data = ARRAYS[name]
    if data.dtype == object:
        other = zarr.create_array(tmp_path / "a", shape=data.shape, dtype=str, chunks=(3, 2), shards=shards, attributes={"a": [1]})
        other[...] = data.astype(np.dtypes.StringDType())
    else:
        zarr.create_array(tmp_path / "a", data=data, chunks=(3, 2), shards=shards, attributes={"a": [1]})
    found = sherd.open(tmp_path / "a", mode="r+")
    assert found.chunks == (3, 2) and found.shards == shards and dict(found.attrs) == {"a": [1]}
    assert np.array_equal(found[...], data) and np.array_equal(found[::-2, 1], data[::-2, 1])
    found[2:5, 1:3] = data[0, 0]
    changed = data.copy()
    changed[2:5, 1:3] = data[0, 0]
    assert np.array_equal(zarr.open_array(tmp_path / "a", mode="r")[...], changed)


def test_codecs_of_zarr_python_are_codecs(tmp_path):
    data = np.arange(35, dtype="f4").reshape(7, 5)
    codecs = zarr.codecs
    sherd.create_array(
        tmp_path,
        data=data,
        chunks=(3, 5),
        filters=[codecs.TransposeCodec(order=(1, 0))],
        serializer=codecs.BytesCodec(endian="big"),
        compressors=[codecs.BloscCodec(cname="zstd", clevel=5, shuffle="shuffle", typesize=4), codecs.Crc32cCodec()],
    )
    found = zarr.open_array(tmp_path, mode="r")
    assert np.array_equal(found[...], data)
    assert [type(codec).__name__ for codec in found.metadata.codecs] == ["TransposeCodec", "BytesCodec", "BloscCodec", "Crc32cCodec"]


@pytest.mark.filterwarnings("ignore:Consolidated metadata")
def test_groups_go_both_ways(tmp_path):
    root = sherd.create_group(tmp_path, attributes={"a": 1})
    root.create_array("x/y", data=np.arange(4))
    sherd.consolidate_metadata(tmp_path)
    theirs = zarr.open_group(tmp_path, mode="r+")
    assert dict(theirs.attrs) == {"a": 1} and theirs["x/y"][...].tolist() == [0, 1, 2, 3]
    theirs.create_array("z", data=np.arange(3))
    zarr.consolidate_metadata(theirs.store)
    assert sherd.open(tmp_path).keys() == ["x", "z"] and sherd.open(tmp_path, path="z")[...].tolist() == [0, 1, 2]
