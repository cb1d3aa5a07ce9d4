"""Collections of Neuroglancer's objects from Python: each kind in and out, what is wrong, and what pickles."""

import pickle

import numpy as np
import pytest
import sherd
from sherd import neuroglancer as ng

from shardings import sharding

SHARDING = sharding("murmurhash3_x86_128", (0, 1, 1), "gzip", "gzip")


def skeleton_info(sharding):
    attributes = [{"id": "radius", "data_type": "float32", "num_components": 1}]
    return ng.SkeletonInfo.from_json(
        {"@type": "neuroglancer_skeletons", "vertex_attributes": attributes, "sharding": sharding}
    )


def mesh_info(sharding):
    return ng.MultiscaleMeshInfo.from_json({
        "@type": "neuroglancer_multilod_draco", "vertex_quantization_bits": 16, "lod_scale_multiplier": 1,
        "sharding": sharding,
    })  # fmt: skip


def annotation_info(sharding):
    return ng.AnnotationInfo.from_json({
        "@type": "neuroglancer_annotations_v1", "dimensions": {"x": [1e-9, "m"], "y": [1e-9, "m"]},
        "lower_bound": [0, 0], "upper_bound": [10, 10], "annotation_type": "line",
        "properties": [{"id": "score", "type": "float32"}],
        "relationships": [{"id": "cells", "key": "cells", "sharding": sharding}],
        "by_id": {"key": "by_id", "sharding": sharding},
        "spatial": [{"key": "s", "grid_shape": [2, 1], "chunk_size": [5, 10], "limit": 9, "sharding": sharding}],
    })  # fmt: skip


def skeleton(count=5):
    edges = np.stack([np.arange(count - 1), np.arange(1, count)], axis=1)
    return ng.Skeleton(np.ones((count, 3)), edges, {"radius": np.arange(count, dtype="f4")})


def mesh(count=5):
    level = ng.MeshLevel(1.0, positions=[[0, 0, 0], [1, 0, 0]], sizes=[count, 3])
    return ng.MultiscaleMesh(ng.MultiscaleMeshManifest([8, 8, 8], levels=[level]), b"a" * count + b"bbb")


@pytest.mark.parametrize("sharding", [None, SHARDING], ids=["unsharded", "sharded"])
def test_each_kind_is_written_and_read(tmp_path, sharding):
    skeletons = ng.Collection.create(tmp_path / "skeletons", skeleton_info(sharding))
    skeletons.write(2**64 - 1, skeleton())
    assert skeletons.read(2**64 - 1).to_bytes() == skeleton().to_bytes()
    assert skeletons.read(1) is None
    assert skeletons.list() == [2**64 - 1]
    assert skeletons.delete(2**64 - 1) and not skeletons.delete(2**64 - 1)

    meshes = ng.Collection.create(tmp_path / "meshes", mesh_info(sharding))
    meshes.write(7, mesh())
    assert bytes(meshes.read(7).fragments) == b"aaaaabbb"
    assert meshes.read(7).fragment(0, 1) == b"bbb"

    marks = ng.Collection.create(tmp_path / "marks", annotation_info(sharding))
    one = ng.Annotation(np.array([[1, 2], [3, 4]]), {"score": [0.5]}, {"cells": [7, 8]})
    many = ng.Annotations([5, 6], np.arange(8).reshape(2, 2, 2), {"score": np.array([1, 2], "f4")})
    marks.write(5, one)
    marks.write_related("cells", 7, many)
    marks.write_cell(0, (1, 0), many)
    assert marks.read(5).to_bytes(marks.info) == one.to_bytes(marks.info)
    for found in (marks.read_related("cells", 7), marks.read_cell(0, (1, 0))):
        assert found.to_bytes(marks.info) == many.to_bytes(marks.info)
    assert marks.read_related("cells", 8) is None and marks.read_cell(0, (0, 0)) is None
    for name in ("skeletons", "marks"):
        assert sherd.check(tmp_path / name, data=True)["faults"] == []


def test_legacy_meshes_are_parts_by_name():
    store = sherd.MemoryStore()
    info = ng.LegacyMeshInfo.from_json({"@type": "neuroglancer_legacy_mesh"})
    meshes = ng.Collection.create(store, info, path="mesh")
    one = ng.Mesh(np.zeros((3, 3)), [[0, 1, 2]])
    meshes.write(3, one)
    meshes.write(4, {"left": one, "right": one})
    assert list(meshes.read(3)) == ["3:0:0"]
    assert list(meshes.read(4)) == ["left", "right"]
    assert meshes.read(4)["right"].to_bytes() == one.to_bytes()


def test_segment_properties_are_the_info(tmp_path):
    properties = ng.SegmentProperties([1, 2], [ng.SegmentProperty("name", "label", ["a", "b"])])
    ng.Collection.create(tmp_path / "p", properties)
    assert ng.Collection(tmp_path / "p").info.to_json() == properties.to_json()


def test_errors_name_key_id_and_member(tmp_path):
    skeletons = ng.Collection.create(tmp_path / "s", skeleton_info(None))
    with pytest.raises(sherd.InvalidArgument, match="of type Skeleton, not MultiscaleMesh"):
        skeletons.write(1, mesh())
    with pytest.raises(sherd.InvalidArgument, match="does not contain annotations"):
        skeletons.read_cell(0, (0, 0))
    with pytest.raises(sherd.InvalidArgument, match="for reading only"):
        ng.Collection(tmp_path / "s").write(1, skeleton())
    with pytest.raises(sherd.Conflict):
        ng.Collection.create(tmp_path / "s", skeleton_info(None))
    with pytest.raises(sherd.NotFound):
        ng.Collection(tmp_path / "nothing")
    (tmp_path / "s" / "9").write_bytes(b"short")
    with pytest.raises(sherd.Corrupt, match="skeleton 9") as told:
        skeletons.read(9)
    assert told.value.key == "9"
    assert [each["key"] for each in sherd.check(tmp_path / "s", data=True)["faults"]] == ["9"]


def test_handles_can_be_pickled(tmp_path):
    skeletons = ng.Collection.create(tmp_path / "s", skeleton_info(SHARDING))
    skeletons.write(1, skeleton())
    again = pickle.loads(pickle.dumps(skeletons))
    again.write(2, skeleton())
    assert sorted(skeletons.list()) == [1, 2]
    with pytest.raises(sherd.InvalidArgument, match="memory"):
        pickle.dumps(ng.Collection.create(sherd.MemoryStore(), skeleton_info(None)))


def test_fragments_are_built_and_put_before_their_manifests(tmp_path):
    meshes = ng.Collection.create(tmp_path, mesh_info(SHARDING))
    items = [(number, mesh(number).manifest.to_bytes(), mesh(number).fragments) for number in range(1, 40)]
    ng.build(tmp_path, SHARDING, items)
    for number in range(1, 40):
        assert meshes.read(number).fragments == mesh(number).fragments
    for store in (ng.ShardedStore(tmp_path, mode="r+"), ng.ShardedStore(tmp_path, SHARDING, mode="r+")):
        store.put(5, mesh(55).manifest.to_bytes(), mesh(55).fragments)
        with pytest.raises(sherd.InvalidArgument, match="58 belong to it"):
            store.put(5, mesh(55).manifest.to_bytes())
        store.compact()
        assert store.get_preceding(6) == mesh(6).fragments
        assert meshes.read(5).fragments == mesh(55).fragments
