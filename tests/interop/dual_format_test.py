"""Dual-format arrays: zarr-python and both drivers of tensorstore read the same elements, after creation and after updates
through either name. Writes by programs that know only one of the two names are detected.
"""

import json
import os
import pathlib

import numpy as np
import pytest
import sherd
import tensorstore
import zarr

SHAPE = (32, 48, 64)  # z, y, x
FAST = {"durable": False}
BOTH = FAST | {"layout": "zarr+neuroglancer"}
GZIP = {"name": "gzip", "configuration": {"level": 5}}


def transpose(rank):
    return {"name": "transpose", "configuration": {"order": list(range(rank))[::-1]}}


CASES = {
    "gzip": {},
    "raw": {"compressors": None},
    "raw with a checksum": {"compressors": ["crc32c"]},
    "gzip with a checksum": {"compressors": [GZIP, "crc32c"]},
    "clipped along z": {"compressors": None, "shape": (29, 48, 64)},
    "clipped along z, with a checksum": {"compressors": ["crc32c"], "shape": (29, 48, 64)},
    "x, y, z": {"filters": [transpose(3)], "shape": (64, 48, 32), "chunks": (16, 8, 8), "shards": (32, 16, 16)},
    "channels": {"shape": (3, 32, 48, 64), "chunks": (3, 8, 8, 16), "shards": (3, 16, 16, 32)},
    "one shard": {"shards": SHAPE},
    "labels": {"dtype": "uint64", "volume": {"type": "segmentation", "resolution": [8, 8.5, 40], "voxel_offset": [-3, 7, 0]}},
    "floats": {"dtype": "float32"},
    "every chunk stored": {"fill_value": 7, "config": BOTH | {"write_empty_chunks": True}},
}


def noise(shape, dtype, seed=1):
    return np.random.default_rng(seed).integers(0, 9, shape).astype(dtype)


def through(volume, array):
    """The voxels x, y, z, channel in the order of the array's dimensions."""
    return volume.transpose() if array.ndim == 4 else volume[..., 0] if array.shape == volume.shape[:3] else volume[..., 0].T


def volume_of(folder, **spec):
    spec = {"driver": "neuroglancer_precomputed", "kvstore": {"driver": "file", "path": f"{folder}/"}} | spec
    return tensorstore.open(spec, open=True).result()


def zarr3_of(folder):
    return tensorstore.open({"driver": "zarr3", "kvstore": {"driver": "file", "path": f"{folder}/"}}).result()


def assert_read_by_all(folder, expected):
    np.testing.assert_array_equal(zarr.open_array(folder, mode="r")[...], expected)
    np.testing.assert_array_equal(zarr3_of(folder).read().result(), expected)
    np.testing.assert_array_equal(through(volume_of(folder).read().result(), expected), expected)
    np.testing.assert_array_equal(sherd.open_array(folder)[...], expected)
    np.testing.assert_array_equal(through(sherd.open_array(folder, format="precomputed")[...], expected), expected)
    assert sherd.check(folder, data=True)["faults"] == []


def shards_of(folder):
    """By inode, the names of every file that is a shard."""
    names = {}
    for path in pathlib.Path(folder).rglob("*"):
        if path.is_file() and path.name not in ("zarr.json", "info"):
            names.setdefault(path.stat().st_ino, []).append(path)
    return names


@pytest.fixture(params=CASES)
def made(request, tmp_path):
    """(folder, elements)"""
    options = {"shape": SHAPE, "dtype": "uint16", "chunks": (8, 8, 16), "shards": (16, 16, 32), "config": BOTH}
    options |= CASES[request.param]
    folder = tmp_path / "a.zarr"
    array = sherd.create_array(folder, **options)
    data = noise(array.shape, array.dtype)
    array[...] = data
    return folder, data


def test_one_file_is_read_as_both(made):
    folder, data = made

    assert_read_by_all(folder, data)
    assert all(len(names) == 2 for names in shards_of(folder).values())


def test_an_update_through_either_name_is_visible_under_both(made):
    folder, data = made
    array = sherd.open_array(folder, mode="r+", config=FAST)
    volume = sherd.open_array(folder, mode="r+", format="precomputed", config=FAST)

    part = tuple(slice(length // 5, length // 2 + 1) for length in array.shape)
    array[part] = data[part] = noise(data[part].shape, data.dtype, 2)
    assert_read_by_all(folder, data)

    voxels = np.ascontiguousarray(volume[...])
    part = (slice(3, 41, 3), slice(5, 30), slice(None, None, -2))
    voxels[part] = noise(voxels[part].shape, data.dtype, 3)
    volume[part] = voxels[part]
    assert_read_by_all(folder, through(voxels, data))
    assert all(len(names) == 2 for names in shards_of(folder).values())


@pytest.fixture
def plain(tmp_path):
    folder = tmp_path / "a.zarr"
    data = noise(SHAPE, "uint16")
    sherd.create_array(folder, data=data, chunks=(8, 8, 16), shards=(16, 16, 32), config=BOTH)
    return folder, data


@pytest.mark.parametrize("knows", ["zarr", "volume"])
def test_a_write_to_one_name_only_is_detected_and_not_overwritten(plain, knows):
    folder, data = plain
    if knows == "zarr":
        zarr.open_array(folder, mode="r+")[0, 0, 0] = 500
    else:
        volume_of(folder)[0, 0, 0, 0].write(500).result()

    report = sherd.check(folder)
    assert not report["ok"]
    assert [(fault["code"], fault["key"]) for fault in report["faults"]] == [("counterpart_differs", "c/0/0/0")]
    for format in ("zarr3", "precomputed"):
        array = sherd.open_array(folder, mode="r+", format=format, config=FAST)
        with pytest.raises(sherd.Conflict, match="no longer the same file"):
            array[:2, :2, :2] = 1
    sherd.open_array(folder, mode="r+", config=FAST)[20, 20, 40] = data[20, 20, 40] = 600  # another shard

    if knows == "volume":
        return  # what tensorstore wrote has no index of Zarr's: the volume can be copied, see below
    os.unlink(folder / "1_1_1/0.shard")
    data[0, 0, 0] = 500
    sherd.open_array(folder, mode="r+", config=FAST)[1, 1, 1] = data[1, 1, 1] = 501
    assert_read_by_all(folder, data)


def test_a_volume_that_another_program_has_changed_can_be_copied(plain, tmp_path):
    folder, data = plain
    volume_of(folder)[0, 0, 0, 0].write(500).result()
    data[0, 0, 0] = 500

    sherd.copy(folder / "1_1_1", tmp_path / "b.zarr", to="zarr3", config=BOTH)

    np.testing.assert_array_equal(zarr.open_array(tmp_path / "b.zarr", mode="r")[...], data)
    np.testing.assert_array_equal(volume_of(tmp_path / "b.zarr").read().result()[..., 0].T, data)
    assert sherd.check(tmp_path / "b.zarr", data=True)["faults"] == []


def test_an_array_in_a_hierarchy_has_its_volume_next_to_it(tmp_path):
    group = zarr.create_group(tmp_path / "g.zarr")
    group.create_array("other", shape=(4,), dtype="uint8")
    data = noise(SHAPE, "uint8")
    sherd.create_array(tmp_path / "g.zarr", name="em", data=data, chunks=(8, 8, 16), shards=(16, 16, 32), config=BOTH)

    assert_read_by_all(tmp_path / "g.zarr/em", data)
    assert sorted(zarr.open_group(tmp_path / "g.zarr", mode="r").array_keys()) == ["em", "other"]
    assert json.loads((tmp_path / "g.zarr/em/zarr.json").read_text())["attributes"] == {"sherd_layout": "zarr+neuroglancer"}
    assert sherd.check(tmp_path / "g.zarr")["faults"] == []
