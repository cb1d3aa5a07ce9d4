"""What other programs make of images that Sherd has copied from one format into another."""

import importlib.util

import numpy as np
import pytest
import sherd

from dependencies import missing

FAST = {"durable": False}
OFFSET = (-3, 7, 0)


def need(module):
    if importlib.util.find_spec(module) is None:
        missing(module)


@pytest.fixture(params=["unsharded", "sharded"])
def ome(request, tmp_path):
    """An OME-Zarr image (c, z, y, x) of two resolutions, and their elements; the second is not a mean of the first."""
    random = np.random.default_rng(5)
    elements = {"0": random.integers(0, 2**16, (2, 21, 30, 45), "u2"), "1": random.integers(0, 2**16, (2, 11, 15, 23), "u2")}
    axes = [{"name": "c", "type": "channel"}, *({"name": name, "type": "space", "unit": "micrometer"} for name in "zyx")]
    steps = {
        "0": [{"type": "scale", "scale": [1, 0.04, 0.008, 0.008]}, {"type": "translation", "translation": [0, 0, 0.056, -0.024]}],
        "1": [{"type": "scale", "scale": [1, 0.08, 0.016, 0.016]}, {"type": "translation", "translation": [0, 0.02, 0.052, -0.028]}],
    }
    datasets = [{"path": path, "coordinateTransformations": each} for path, each in steps.items()]
    group = sherd.create_group(tmp_path / "image.zarr", attributes={
        "ome": {"version": "0.5", "multiscales": [{"axes": axes, "datasets": datasets}]}})
    for path, data in elements.items():
        group.create_array(path, data=data, chunks=(2, 8, 8, 16), compressors="gzip:1", config=FAST,
                           shards=(2, 16, 16, 32) if request.param == "sharded" else None)
    return tmp_path / "image.zarr", elements


@pytest.mark.parametrize("scale", [0, 1])
def test_tensorstore_reads_the_volume_of_an_ome_zarr_image(ome, tmp_path, scale):
    need("tensorstore")
    import tensorstore

    source, elements = ome
    sherd.copy(source, tmp_path / "volume", to="precomputed", config=FAST)
    volume = tensorstore.open({"driver": "neuroglancer_precomputed", "scale_index": scale,
                               "kvstore": {"driver": "file", "path": f"{tmp_path}/volume/"}}).result()
    origin = [(-3, 7, 0, 0), (-2, 3, 0, 0)][scale]
    assert volume.domain.origin == origin
    assert tuple(unit.multiplier for unit in volume.dimension_units[:3]) == [(8, 8, 40), (16, 16, 80)][scale]
    np.testing.assert_array_equal(volume.read().result(), elements[str(scale)].transpose())


@pytest.mark.parametrize("scale", [0, 1])
def test_cloud_volume_reads_the_volume_of_an_ome_zarr_image(ome, tmp_path, scale):
    need("cloudvolume")
    from cloudvolume import CloudVolume

    source, elements = ome
    sherd.copy(source, tmp_path / "volume", to="precomputed", config=FAST)
    volume = CloudVolume(f"precomputed://file://{tmp_path}/volume", mip=scale, progress=False)
    assert tuple(volume.resolution) == [(8, 8, 40), (16, 16, 80)][scale]
    assert tuple(volume.voxel_offset) == [(-3, 7, 0), (-2, 3, 0)][scale]
    np.testing.assert_array_equal(np.asarray(volume[:]), elements[str(scale)].transpose())


@pytest.mark.parametrize("encoding", ["raw", "png", "compressed_segmentation"])
@pytest.mark.parametrize("sharding", [None, "auto"])
def test_zarr_python_reads_the_ome_zarr_image_of_a_volume(tmp_path, encoding, sharding):
    need("zarr")
    import zarr

    dtype = "uint32" if encoding == "compressed_segmentation" else "uint16"
    channels = 1 if encoding == "png" else 2
    volume = sherd.neuroglancer.create_precomputed(
        tmp_path / "volume", type="image", dtype=dtype, num_channels=channels, config=FAST,
        scales=[{"size": [45, 30, 21], "chunk_size": [16, 8, 8], "voxel_offset": OFFSET, "resolution": [8, 8, 40],
                 "encoding": encoding, "sharding": sharding}])
    data = np.random.default_rng(6).integers(0, 2**16, volume.shape).astype(dtype)
    volume[:] = data
    sherd.copy(tmp_path / "volume", tmp_path / "image.zarr", to="zarr3", pyramid="mean:1", factors=(2, 2, 2), config=FAST)
    group = zarr.open_group(tmp_path / "image.zarr", mode="r")
    (image,) = group.attrs["ome"]["multiscales"]
    names = ("z", "y", "x") if channels == 1 else ("c", "z", "y", "x")
    assert tuple(axis["name"] for axis in image["axes"]) == names
    assert [each["path"] for each in image["datasets"]] == ["0", "1"]
    fine = group["0"]
    assert fine.metadata.dimension_names == names
    np.testing.assert_array_equal(fine[:], data.transpose() if channels == 2 else data[..., 0].transpose())
    assert group["1"].shape[-3:] == (11, 15, 23)
    np.testing.assert_array_equal(group["1"][:], sherd.open(tmp_path / "image.zarr")["1"].read())
