"""Neuroglancer reads the sharded arrays that Sherd writes: every voxel it decodes, and what it shows of them."""

import numpy
import pytest
import sherd
from viewer.viewer import assert_has, assert_shows, gray_layer, label_layer, painted

SHAPE = (11, 29, 37)  # z, y, x: no multiple of the chunks, nor they of the shards' other axes
CHUNKS = (4, 8, 10)
SHARDS = (8, 16, 20)
PLANE = 5
MIDDLE = [SHAPE[2] / 2, SHAPE[1] / 2, PLANE + 0.5]
COLORS = {0: "#000000", 1: "#ff0000", 2**32: "#00ff00", 2**32 + 1: "#0000ff", 2**63 + 5: "#ffff00", 2**64 - 1: "#40c080"}


def noise(dtype, shape=SHAPE):
    random = numpy.random.default_rng(7)
    if dtype == "float32":
        return random.uniform(-1, 1, shape).astype(dtype)
    return random.integers(0, numpy.iinfo(dtype).max, shape, dtype, endpoint=True)


def bounds(dtype):
    return (-1, 1) if dtype == "float32" else (0, numpy.iinfo(dtype).max)


def gray(elements):
    low, high = bounds(elements.dtype)
    return (elements.astype(float) - low) / (high - low) * 255


def write(folder, data, **options):
    options = {"chunks": CHUNKS, "shards": SHARDS, "dimension_names": "zyx"} | options
    sherd.create_array(folder / "volume", data=data, **options)


def source(served):
    return f"zarr3://{served.url}/volume"


def assert_read_by_ranges(served):
    """No shard was fetched whole, and some were fetched in part."""
    shards = [request for request in served.requests if request.method == "GET" and "/c/" in request.path]
    assert shards and all(request.status == 206 for request in shards)


@pytest.mark.parametrize("location", ["end", "start"])
@pytest.mark.parametrize(
    ("dtype", "compressor"),
    [
        ("uint8", "zstd:3"),
        ("uint8", None),
        ("uint16", "gzip:5"),
        ("uint32", "blosc"),
        ("float32", "zstd:1"),
        ("float32", None),
    ],
)
def test_a_sharded_image_is_read_and_shown(neuroglancer, served, tmp_path, dtype, compressor, location):
    data = noise(dtype)
    write(tmp_path, data, compressors=compressor, index_location=location)

    view = neuroglancer.show(gray_layer(source(served), *bounds(dtype)), position=MIDDLE, voxels=True)

    assert (view.outcome, view.errors) == ("ready", [])
    assert_has(view.volumes[0], data)
    assert_shows(view, gray(data[PLANE]))
    assert_read_by_ranges(served)


@pytest.mark.parametrize("location", ["end", "start"])
def test_sharded_labels_of_64_bits_are_read_and_shown(neuroglancer, served, tmp_path, location):
    data = numpy.random.default_rng(7).choice(numpy.array(list(COLORS), "uint64"), SHAPE)
    write(tmp_path, data, compressors="gzip:6", index_location=location)

    view = neuroglancer.show(label_layer(source(served), COLORS), position=MIDDLE, voxels=True)

    assert (view.outcome, view.errors) == ("ready", [])
    assert_has(view.volumes[0], data)
    assert_shows(view, painted(data[PLANE], COLORS))
    assert_read_by_ranges(served)


@pytest.mark.parametrize("channel", [0, 2])
def test_each_channel_of_four_dimensions_is_read_and_shown(neuroglancer, served, tmp_path, channel):
    data = noise("uint16", (3, *SHAPE))
    write(tmp_path, data, chunks=(1, *CHUNKS), shards=(2, *SHARDS), compressors="zstd:3", dimension_names="czyx")
    dimensions = {name: [1, ""] for name in "xyzc"}

    layer = gray_layer(source(served), *bounds("uint16"))
    view = neuroglancer.show(layer, position=[*MIDDLE, channel + 0.5], dimensions=dimensions, voxels=True)

    assert (view.outcome, view.errors) == ("ready", [])
    assert view.volumes[0].names == ["c", "z", "y", "x"]
    assert_has(view.volumes[0], data)
    assert_shows(view, gray(data[channel, PLANE]))


def test_chunks_that_were_never_written_are_the_fill_value(neuroglancer, served, tmp_path):
    data = numpy.full(SHAPE, 99, "uint8")
    array = sherd.create_array(tmp_path / "volume", shape=SHAPE, dtype="uint8", chunks=CHUNKS, shards=SHARDS, fill_value=99,
                               dimension_names="zyx")
    array[4:8, 8:16, 10:20] = data[4:8, 8:16, 10:20] = noise("uint8", (4, 8, 10))

    view = neuroglancer.show(gray_layer(source(served), 0, 255), position=MIDDLE, voxels=True)

    assert view.outcome == "ready"
    assert len(view.volumes[0].missing) == 3 * 4 * 4 - 1 and [1, 1, 1] not in view.volumes[0].missing
    assert_shows(view, gray(data[PLANE]))


def test_a_damaged_chunk_is_reported_and_the_others_are_read(neuroglancer, served, tmp_path):
    data = noise("uint8")
    write(tmp_path, data, compressors="zstd:3")
    with open(tmp_path / "volume/c/0/0/0", "r+b") as shard:
        shard.write(bytes(16))  # where the frame of the shard's first chunk begins

    view = neuroglancer.show(gray_layer(source(served), 0, 255), position=[*MIDDLE[:2], 0.5], voxels=True)

    assert view.outcome == "failed"
    assert any("Error retrieving chunk" in error for error in view.errors)
    assert list(view.volumes[0].failed) == ["0,0,0"]
    data[:4, :8, :10] = 0
    assert numpy.array_equal(view.volumes[0].elements, data)


def test_one_wrong_voxel_fails_the_test(neuroglancer, served, tmp_path):
    data = noise("uint8")
    write(tmp_path, data, compressors=None)
    with open(tmp_path / "volume/c/0/0/0", "r+b") as shard:
        shard.write(bytes([data[0, 0, 0] ^ 0x80]))  # without compression the first byte is the first voxel

    view = neuroglancer.show(gray_layer(source(served), 0, 255), position=[*MIDDLE[:2], 0.5], voxels=True)

    assert numpy.argwhere(view.volumes[0].elements != data).tolist() == [[0, 0, 0]]
    with pytest.raises(AssertionError, match="^1 of 1073 voxels"):
        assert_shows(view, gray(data[0]))


def test_a_server_that_lacks_the_array_is_reported(neuroglancer, served):
    view = neuroglancer.show(gray_layer(source(served), 0, 255), position=MIDDLE)

    assert view.outcome == "failed" and view.errors
