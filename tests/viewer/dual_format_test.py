"""Neuroglancer reads dual-format arrays in both formats."""

import numpy
import pytest
import sherd
import zarr
from viewer.viewer import assert_has, assert_shows, gray_layer, label_layer, painted

SHAPE = (16, 32, 64)  # z, y, x
CHUNKS = (4, 8, 16)
SHARDS = (8, 16, 32)
PLANE = 5
MIDDLE = [SHAPE[2] / 2, SHAPE[1] / 2, PLANE + 0.5]
BOTH = {"layout": "zarr+neuroglancer", "durable": False}
COLORS = {0: "#000000", 1: "#ff0000", 2**32: "#00ff00", 2**63 + 5: "#ffff00", 2**64 - 1: "#40c080"}
METERS = {name: [1e-9, "m"] for name in "xyz"}

CASES = {
    "gzip": {},
    "raw": {"compressors": None},
    "gzip with a checksum": {"compressors": ["gzip:6", "crc32c"]},
    "clipped along z, with a checksum": {"compressors": ["crc32c"], "shape": (14, 32, 64)},
}


def as_array(neuroglancer, served, layer, data):
    """What the Zarr array is to it, and the picture."""
    view = neuroglancer.show(layer(f"zarr3://{served.url}/volume"), position=MIDDLE, voxels=True)
    assert (view.outcome, view.errors) == ("ready", [])
    assert_has(view.volumes[0], data)
    return view


def as_volume(neuroglancer, served, layer, data):
    """The viewer shows the volume, whose voxels are x, y, z, channel, like `data`."""
    view = neuroglancer.show(layer(f"precomputed://{served.url}/volume"), position=MIDDLE, dimensions=METERS, voxels=True)
    assert (view.outcome, view.errors) == ("ready", [])
    seen = view.volumes[0]
    assert (seen.missing, seen.failed) == ([], {})
    assert numpy.array_equal(seen.elements.reshape(data.shape[::-1]), data.T)
    return view


@pytest.mark.parametrize("case", CASES)
def test_both_names_show_the_same_voxels_after_updates_through_either(neuroglancer, served, tmp_path, case):
    def layer(source):
        return gray_layer(source, 0, 255)

    options = {"shape": SHAPE} | CASES[case]
    data = numpy.random.default_rng(3).integers(1, 255, options["shape"], "uint8")
    array = sherd.create_array(tmp_path / "volume", dtype="uint8", chunks=CHUNKS, shards=SHARDS, dimension_names="zyx",
                               config=BOTH, **options)
    array[...] = data
    for look in (as_array, as_volume):
        assert_shows(look(neuroglancer, served, layer, data), data[PLANE])

    array[3:9, 5:20, 10:50] = data[3:9, 5:20, 10:50] = 77
    assert_shows(as_volume(neuroglancer, served, layer, data), data[PLANE])
    volume = sherd.open_array(tmp_path / "volume", mode="r+", format="precomputed")
    volume[7:40, 2:9, 4:7, 0] = 33
    data[4:7, 2:9, 7:40] = 33
    for look in (as_array, as_volume):
        assert_shows(look(neuroglancer, served, layer, data), data[PLANE])
    assert numpy.array_equal(zarr.open_array(tmp_path / "volume", mode="r")[...], data)


def test_labels_of_64_bits_are_shown_under_both_names(neuroglancer, served, tmp_path):
    def layer(source):
        return label_layer(source, COLORS)

    data = numpy.random.default_rng(7).choice(numpy.array(list(COLORS), "uint64"), SHAPE)
    sherd.create_array(tmp_path / "volume", data=data, chunks=CHUNKS, shards=SHARDS, dimension_names="zyx",
                       volume={"type": "segmentation"}, config=BOTH)

    for look in (as_array, as_volume):
        assert_shows(look(neuroglancer, served, layer, data), painted(data[PLANE], COLORS))
