"""Chunks of the precomputed format, both ways, against cloud-volume's codecs and tensorstore's driver."""

import importlib.util
import json
import pathlib
import subprocess

import numpy
import pytest

from crash.operations import COMMAND
from dependencies import missing

CHUNK_CODEC = COMMAND.parents[1] / "tests/chunk_codec"
BLOCK = (8, 8, 8)
SHAPES = [(32, 32, 24), (33, 8, 17), (7, 9, 1)]


@pytest.fixture(autouse=True)
def program():
    if not CHUNK_CODEC.exists():
        missing(str(CHUNK_CODEC))


@pytest.fixture
def cloudvolume():
    if importlib.util.find_spec("cloudvolume") is None:
        missing("cloud-volume")
    import cloudvolume.chunks

    return cloudvolume.chunks


@pytest.fixture
def tensorstore():
    if importlib.util.find_spec("tensorstore") is None:
        missing("tensorstore")
    import tensorstore

    return tensorstore


def sherd(verb, name, configuration, dtype, shape, data):
    codecs = json.dumps([{"name": name, "configuration": configuration}])
    command = [CHUNK_CODEC, verb, codecs, dtype, ",".join(map(str, shape))]
    return subprocess.run(command, input=data, stdout=subprocess.PIPE, check=True).stdout


def stored(voxels, name):
    """Voxels (x, y, z, channel) in the order in which the codec has them."""
    return numpy.ascontiguousarray(voxels.T if name == "compressed_segmentation" else voxels.transpose(2, 1, 0, 3))


def natural(elements, name):
    return elements.T if name == "compressed_segmentation" else elements.transpose(2, 1, 0, 3)


def encoded(voxels, name, configuration):
    elements = stored(voxels, name)
    return sherd("encode", name, configuration, voxels.dtype.name, elements.shape, elements.tobytes())


def decoded(data, like, name, configuration):
    shape = stored(like, name).shape
    elements = sherd("decode", name, configuration, like.dtype.name, shape, data)
    return natural(numpy.frombuffer(elements, like.dtype).reshape(shape), name)


def segments(shape, labels, dtype):
    rng = numpy.random.default_rng(labels)
    points = rng.random((labels, 3)) * shape
    grid = numpy.stack(numpy.meshgrid(*map(numpy.arange, shape), indexing="ij"), -1).reshape(-1, 3)
    nearest = numpy.stack([((grid - point) ** 2).sum(-1) for point in points]).argmin(0)
    names = rng.integers(0, numpy.iinfo(dtype).max, labels, dtype=dtype, endpoint=True)
    return numpy.asfortranarray(names[nearest].reshape(*shape, 1))


def pixels(shape, channels, dtype):
    slope = sum(numpy.ogrid[tuple(slice(extent) for extent in shape)])
    return numpy.stack([slope * (channel + 1) // 3 for channel in range(channels)], -1).astype(dtype)


@pytest.mark.parametrize("dtype", ["uint32", "uint64"])
@pytest.mark.parametrize("labels", [1, 20, 500])
@pytest.mark.parametrize("shape", SHAPES)
def test_segmentation_agrees_with_cloud_volume(cloudvolume, shape, labels, dtype):
    voxels = segments(shape, labels, dtype)
    name, configuration = "compressed_segmentation", {"block_size": BLOCK}
    theirs = cloudvolume.encode_compressed_segmentation(voxels, BLOCK)
    ours = encoded(voxels, name, configuration)
    assert len(ours) <= len(theirs)
    assert numpy.array_equal(decoded(theirs, voxels, name, configuration), voxels)
    read = cloudvolume.decode_compressed_segmentation(ours, voxels.shape, dtype, BLOCK)
    assert numpy.array_equal(read, voxels)


SCALES = {
    "compressed_segmentation": ({"block_size": BLOCK}, {"compressed_segmentation_block_size": BLOCK}),
    "jpeg": ({"quality": 90}, {"jpeg_quality": 90}),
    "png": ({"level": 3}, {"png_level": 3}),
}
VOXELS = [
    ("compressed_segmentation", "uint32", 2),
    ("compressed_segmentation", "uint64", 1),
    ("compressed_segmentation", "uint64", 3),
    ("jpeg", "uint8", 1),
    ("jpeg", "uint8", 3),
    *[("png", dtype, channels) for dtype in ("uint8", "uint16") for channels in (1, 2, 3, 4)],
]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("name, dtype, channels", VOXELS)
def test_chunks_agree_with_tensorstore(tensorstore, tmp_path, shape, name, dtype, channels):
    if name == "compressed_segmentation":
        voxels = numpy.concatenate([segments(shape, 9 + channel, dtype) for channel in range(channels)], -1)
    else:
        voxels = pixels(shape, channels, dtype)
    configuration, scale = SCALES[name]
    spec = {
        "driver": "neuroglancer_precomputed",
        "kvstore": f"file://{tmp_path}/",
        "multiscale_metadata": {
            "type": "segmentation" if name == "compressed_segmentation" else "image",
            "data_type": dtype,
            "num_channels": channels,
        },
        "scale_metadata": {
            "key": "scale",
            "size": shape,
            "chunk_size": shape,
            "encoding": name,
            "resolution": [1, 1, 1],
            **scale,
        },
    }
    array = tensorstore.open(spec, create=True).result()
    array[...] = voxels
    (chunk,) = pathlib.Path(tmp_path, "scale").iterdir()
    theirs = array.read().result()
    assert numpy.array_equal(decoded(chunk.read_bytes(), voxels, name, configuration), theirs)
    chunk.write_bytes(encoded(voxels, name, configuration))
    read = tensorstore.open(spec, open=True).result().read().result()
    if name == "jpeg":
        assert abs(read.astype(int) - voxels.astype(int)).max() <= 12
        assert numpy.array_equal(decoded(chunk.read_bytes(), voxels, name, configuration), read)
    else:
        assert numpy.array_equal(read, voxels)


def test_jpeg_agrees_with_cloud_volume(cloudvolume):
    voxels = numpy.asfortranarray(pixels((33, 8, 17), 1, "uint8"))
    read = cloudvolume.decode_jpeg(encoded(voxels, "jpeg", {}), voxels.shape, "uint8")
    assert abs(read.astype(int) - voxels.astype(int)).max() <= 12
    read = decoded(cloudvolume.encode_jpeg(voxels), voxels, "jpeg", {})
    assert abs(read.astype(int) - voxels.astype(int)).max() <= 12
