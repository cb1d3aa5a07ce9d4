"""Neuroglancer reads precomputed volumes: every voxel it decodes, and what it shows of them.

Each test runs for every writer in WRITERS: a function (folder, data, layout) that writes data, whose dimensions are x, y, z
and channel, as one scale of a volume. `layout` has members of the scale in the words of the `info` document.
"""

import json

import numpy
import pytest
import sherd
import tensorstore
from viewer.viewer import assert_has, assert_shows, gray_layer, label_layer, painted

from shardings import sharding

SHAPE = (37, 29, 11)  # x, y, z: no multiple of the chunks
CHUNKS = [10, 8, 4]
PLANE = 5
COLORS = {0: "#000000", 1: "#ff0000", 2**32: "#00ff00", 2**63 + 5: "#ffff00", 2**64 - 1: "#40c080"}
METERS = {name: [8e-9, "m"] for name in "xyz"}


LAYOUTS = {
    "unsharded": {},
    "identity, raw": {"sharding": sharding(bits=(1, 2, 3))},
    "identity, gzip": {"sharding": sharding("identity", (1, 2, 3), "gzip", "gzip")},
    "murmurhash, gzip": {"sharding": sharding("murmurhash3_x86_128", (1, 2, 3), "gzip", "gzip")},
    "one shard": {"sharding": sharding(data="gzip")},
}


def tensorstore_writes(folder, data, layout):
    volume = tensorstore.open(
        {
            "driver": "neuroglancer_precomputed",
            "kvstore": {"driver": "file", "path": f"{folder}/"},
            "context": {"file_io_sync": False},
            "multiscale_metadata": {
                "type": "segmentation" if data.dtype == "uint64" else "image",
                "data_type": str(data.dtype),
                "num_channels": data.shape[3],
            },
            "scale_metadata": {
                "size": data.shape[:3],
                "resolution": [8, 8, 8],
                "chunk_size": CHUNKS,
                "encoding": "raw",
                **layout,
            },
        },
        create=True,
    ).result()
    volume.write(data).result()


def sherd_writes(folder, data, layout):
    array = sherd.neuroglancer.create_precomputed(
        folder,
        type="segmentation" if data.dtype == "uint64" else "image",
        dtype=data.dtype,
        num_channels=data.shape[3],
        scales=[{"size": data.shape[:3], "resolution": [8, 8, 8], "chunk_size": CHUNKS, **layout}],
    )
    array[:] = data


WRITERS = {"tensorstore": tensorstore_writes, "sherd": sherd_writes}


@pytest.fixture(params=WRITERS)
def write(request, tmp_path):
    def write(data, **layout):
        WRITERS[request.param](tmp_path / "volume", data, layout)

    return write


def source(served):
    return f"precomputed://{served.url}/volume"


def middle(origin=(0, 0, 0)):
    return [origin[0] + SHAPE[0] / 2, origin[1] + SHAPE[1] / 2, origin[2] + PLANE + 0.5]


def noise(dtype, channels=1):
    return numpy.random.default_rng(7).integers(0, numpy.iinfo(dtype).max, (*SHAPE, channels), dtype, endpoint=True)


def labels():
    return numpy.random.default_rng(7).choice(numpy.array(list(COLORS), "uint64"), (*SHAPE, 1))


@pytest.mark.parametrize("layout", LAYOUTS)
def test_an_image_is_read_and_shown(neuroglancer, served, write, layout):
    data = noise("uint8")
    write(data, **LAYOUTS[layout])

    view = neuroglancer.show(gray_layer(source(served), 0, 255), position=middle(), dimensions=METERS, voxels=True)

    assert (view.outcome, view.errors) == ("ready", [])
    assert_has(view.volumes[0], data[..., 0])
    assert_shows(view, data[:, :, PLANE, 0].T)


@pytest.mark.parametrize("layout", ["unsharded", "identity, gzip"])
@pytest.mark.parametrize("encoding", ["raw", "compressed_segmentation"])
def test_labels_are_read_and_shown(neuroglancer, served, write, encoding, layout):
    data = labels()
    blocks = {"compressed_segmentation_block_size": [8, 8, 8]} if encoding == "compressed_segmentation" else {}
    write(data, encoding=encoding, **blocks, **LAYOUTS[layout])

    view = neuroglancer.show(label_layer(source(served), COLORS), position=middle(), dimensions=METERS, voxels=True)

    assert (view.outcome, view.errors) == ("ready", [])
    assert_has(view.volumes[0], data[..., 0])
    assert_shows(view, painted(data[:, :, PLANE, 0].T, COLORS))


def test_a_volume_is_shown_at_its_voxel_offset(neuroglancer, served, write):
    data = noise("uint16")
    write(data, voxel_offset=[-3, 7, 0], **LAYOUTS["identity, gzip"])

    view = neuroglancer.show(
        gray_layer(source(served), 0, 65535), position=middle((-3, 7, 0)), dimensions=METERS, voxels=True
    )

    assert (view.outcome, view.errors) == ("ready", [])
    assert view.volumes[0].origin == [-3, 7, 0]
    assert_has(view.volumes[0], data[..., 0])
    assert_shows(view, data[:, :, PLANE, 0].T / 257, origin=(-3, 7))


def test_all_channels_are_read_and_one_is_shown(neuroglancer, served, write):
    data = noise("uint8", channels=3)
    write(data, **LAYOUTS["identity, gzip"])

    view = neuroglancer.show(gray_layer(source(served), 0, 255), position=middle(), dimensions=METERS, voxels=True)

    assert (view.outcome, view.errors) == ("ready", [])
    assert view.volumes[0].names == ["x", "y", "z", "c^"]
    assert_has(view.volumes[0], data)
    assert_shows(view, data[:, :, PLANE, 0].T)


def test_a_shard_that_ends_too_early_is_reported(neuroglancer, served, write, tmp_path):
    write(noise("uint8"), **LAYOUTS["one shard"])
    (scale,) = json.loads((tmp_path / "volume/info").read_text())["scales"]
    shard = tmp_path / "volume" / scale["key"] / "0.shard"
    shard.write_bytes(shard.read_bytes()[:16])  # the index of the shard, and nothing of that to which it points

    view = neuroglancer.show(gray_layer(source(served), 0, 255), position=middle(), dimensions=METERS, voxels=True)

    assert view.outcome == "failed" and view.errors
    assert len(view.volumes[0].failed) == 4 * 4 * 3
