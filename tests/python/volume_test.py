"""sherd.neuroglancer.create_precomputed: what is made of its arguments, and what is refused."""

import json

import numpy as np
import pytest
import sherd
from sherd import neuroglancer as ng

from shardings import sharding

SCALE = {"size": [70, 50, 33], "resolution": [8, 8, 40], "chunk_size": [8, 8, 8]}


def info_of(folder):
    return json.loads((folder / "info").read_text())


@pytest.mark.parametrize(("dtype", "channels", "encoding"), [("uint8", 1, "raw"), ("uint8", 3, "jpeg"),
                                                             ("uint64", 1, "compressed_segmentation")])
def test_sharding_is_chosen_by_the_rule(tmp_path, dtype, channels, encoding):
    array = ng.create_precomputed(tmp_path, type="image", dtype=dtype, num_channels=channels,
                                  scales=[{**SCALE, "sharding": "auto", "encoding": encoding}])
    (scale,) = info_of(tmp_path)["scales"]
    assert scale["sharding"] == ng.choose_sharding((70, 50, 33, channels), (8, 8, 8), dtype, encoding=encoding)
    array[:] = 7
    assert (sherd.open_array(tmp_path).read() // 2 == 3).all()


def test_scales_have_the_defaults_of_the_format(tmp_path):
    fine = {"size": np.array([70, 50, 33]), "resolution": [8, 8.5, 40]}
    array = ng.create_precomputed(tmp_path, type="segmentation", dtype=np.uint32, mesh="mesh", scales=[
        fine, {"size": [35, 25, 33], "resolution": [16, 17, 40], "encoding": "compressed_segmentation", "sharding": None}])
    info = info_of(tmp_path)
    assert (info["type"], info["data_type"], info["num_channels"], info["mesh"]) == ("segmentation", "uint32", 1, "mesh")
    first, second = info["scales"]
    assert (first["key"], first["chunk_sizes"], first["encoding"]) == ("8_8.5_40", [[64, 64, 64]], "raw")
    assert second["compressed_segmentation_block_size"] == [8, 8, 8] and "sharding" not in first | second
    assert array.shape == (70, 50, 33, 1) and array.dimension_names == ("x", "y", "z", "channel")
    assert str(sherd.open(tmp_path).tree()).splitlines() == [
        "/", f"├── {second['key']} (35, 25, 33, 1) uint32", f"└── {first['key']} (70, 50, 33, 1) uint32"]
    assert sherd.open_array(tmp_path, scale=1).shape == (35, 25, 33, 1)
    with pytest.raises(sherd.InvalidArgument, match="by its own name"):
        ng.create_precomputed(tmp_path / "w", type="image", dtype="uint8", scales=[SCALE], members={"mesh": "mesh"})
    for scale, error in ((2, sherd.NotFound), (-1, sherd.InvalidArgument), (0.5, TypeError)):
        with pytest.raises(error, match="scale"):
            sherd.open_array(tmp_path, scale=scale)
    assert dict(sherd.open(tmp_path).attrs) == {"type": "segmentation", "data_type": "uint32", "num_channels": 1,
                                                "mesh": "mesh"}


@pytest.mark.parametrize(("member", "value"), [
    ("size", [70, 50]), ("resolution", "888"), ("chunk_size", 8), ("voxel_offset", [0.5, 0, 0]), ("encoding", "gif"),
    ("sharding", "always"), ("chunk_sizes", [[8, 8, 8]]),
])
def test_a_scale_that_is_wrong_is_refused_by_its_member(tmp_path, member, value):
    with pytest.raises(sherd.Error) as raised:
        ng.create_precomputed(tmp_path / "v", type="image", dtype="uint8", scales=[{**SCALE, member: value}])
    assert raised.value.code in ("invalid_argument", "unsupported")
    assert raised.value.member.removeprefix("scales[0].").startswith(member.removesuffix("s") if "chunk" in member else member)
    assert not (tmp_path / "v").exists()


def test_info_describes_a_scale_and_its_sharding(tmp_path):
    hashed = sharding("murmurhash3_x86_128", (0, 1, 1))
    scales = [{"size": [8, 8, 8], "resolution": [8, 8, 8], "chunk_size": [4, 4, 4], "sharding": hashed}]
    array = sherd.neuroglancer.create_precomputed(tmp_path, type="image", dtype="uint16", scales=scales)
    assert array.info["dtype"] == "uint16" and array.info["fill_value"] == 0
    assert array.info["shards"] is None and array.info["sharding"] == hashed, "hashed ids: shards have no shape"
    assert "murmurhash3_x86_128" in repr(array.info)
