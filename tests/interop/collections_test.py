"""Whole collections of objects against cloud-volume, both ways: what Sherd stores cloud-volume reads by id, sharded or
not, after changes too, and what cloud-volume stores Sherd reads, checks and changes.

cloud-volume (12.15.2) writes no annotations; what it cannot read of them is in objects_test.py.
"""

import json

import numpy as np
import pytest
import sherd
from sherd import neuroglancer as ng

from segmentations import TRANSFORM, segmentation
from shardings import sharding

pytestmark = pytest.mark.usefixtures("cloudvolume")
ATTRIBUTES = [{"id": "radius", "data_type": "float32", "num_components": 1}]


def hashed(encoding):
    return sharding("murmurhash3_x86_128", (1, 2, 1), "gzip", encoding)


def skeleton(seed):
    rng = np.random.default_rng(seed)
    count = seed % 50 + 2
    edges = np.stack([np.arange(1, count), rng.integers(0, np.arange(1, count))], axis=1)
    return ng.Skeleton(rng.random((count, 3), "f4") * 1000, edges, {"radius": rng.random(count, "f4")})


def same_skeleton(theirs, ours):
    np.testing.assert_array_equal(theirs.vertices, ours.vertices)
    np.testing.assert_array_equal(theirs.edges, ours.edges)
    np.testing.assert_array_equal(theirs.radius, ours.attributes["radius"])


def skeleton_info(how):
    return ng.SkeletonInfo.from_json({
        "@type": "neuroglancer_skeletons", "transform": TRANSFORM, "vertex_attributes": ATTRIBUTES, "sharding": how,
    })  # fmt: skip


@pytest.mark.parametrize("how", [None, hashed("raw"), hashed("gzip")], ids=["unsharded", "raw", "gzip"])
def test_cloud_volume_reads_our_skeletons_also_after_changes(cloudvolume, tmp_path, how):
    ours = ng.Collection.create(tmp_path / "skeletons", skeleton_info(how))
    for number in range(1, 30):
        ours.write(number, skeleton(number))
    ours.write(7, skeleton(77))
    ours.delete(8)
    peer = segmentation(cloudvolume, tmp_path, skeletons="skeletons").skeleton
    for number in range(1, 30):
        if number != 8:
            same_skeleton(peer.get(number), skeleton(77 if number == 7 else number))
    assert sherd.check(tmp_path, data=True)["faults"] == []


@pytest.mark.parametrize("encoding", ["raw", "gzip"])
def test_skeletons_in_shards_of_cloud_volume_are_read_and_changed(cloudvolume, tmp_path, encoding):
    from cloudvolume.datasource.precomputed.sharding import ShardingSpecification

    specification = ShardingSpecification.from_dict(hashed(encoding))
    binaries = {number: skeleton(number).to_bytes() for number in range(1, 30)}
    folder = tmp_path / "skeletons"
    folder.mkdir()
    (folder / "info").write_text(json.dumps(skeleton_info(hashed(encoding)).to_json()))
    for name, data in specification.synthesize_shards(binaries).items():
        (folder / name).write_bytes(data)
    collection = ng.Collection(folder, mode="r+")
    assert sorted(collection.list()) == list(range(1, 30))
    for number, data in binaries.items():
        assert collection.read(number).to_bytes() == data
    assert sherd.check(folder, data=True)["faults"] == []
    collection.write(3, skeleton(33))
    same_skeleton(segmentation(cloudvolume, tmp_path, skeletons="skeletons").skeleton.get(3), skeleton(33))


def test_skeletons_that_cloud_volume_has_compressed_are_read(cloudvolume, tmp_path):
    folder = tmp_path / "skeletons"
    folder.mkdir()
    (folder / "info").write_text(json.dumps(skeleton_info(None).to_json()))
    theirs = cloudvolume.Skeleton.from_precomputed(skeleton(5).to_bytes(), vertex_attributes=ATTRIBUTES)
    theirs.id = 5
    segmentation(cloudvolume, tmp_path, skeletons="skeletons").skeleton.upload([theirs])
    assert not (folder / "5").exists(), "cloud-volume compresses no longer; the test has lost its point"
    collection = ng.Collection(folder, mode="r+")
    assert collection.list() == [5]
    same_skeleton(theirs, collection.read(5))
    assert sherd.check(folder, data=True)["faults"] == []
    collection.write(5, skeleton(6))
    assert [each.name for each in folder.iterdir() if each.name != "info"] == ["5"]


def mesh(seed):
    rng = np.random.default_rng(seed)
    return ng.Mesh(rng.random((20, 3), "f4"), rng.integers(0, 20, (30, 3)).astype("u4"))


def test_cloud_volume_reads_our_legacy_meshes(cloudvolume, tmp_path):
    ours = ng.Collection.create(tmp_path / "mesh", ng.LegacyMeshInfo.from_json({"@type": "neuroglancer_legacy_mesh"}))
    ours.write(3, mesh(1))
    ours.write(4, {"4:0:left": mesh(2), "4:0:right": mesh(3)})
    peer = segmentation(cloudvolume, tmp_path, mesh="mesh").mesh
    theirs = peer.get(3, remove_duplicate_vertices=False)
    np.testing.assert_array_equal(theirs.vertices, mesh(1).vertices)
    np.testing.assert_array_equal(theirs.faces, mesh(1).triangles)
    assert len(peer.get(4, remove_duplicate_vertices=False).vertices) == 40

    written = cloudvolume.Mesh(mesh(5).vertices, mesh(5).triangles, segid=9)
    peer.put(written)
    (part,) = ng.Collection(tmp_path / "mesh").read(9).values()
    np.testing.assert_array_equal(part.vertices, mesh(5).vertices)
    np.testing.assert_array_equal(part.triangles, mesh(5).triangles)
    assert sherd.check(tmp_path, data=True)["faults"] == []


def draco_mesh(seed):
    """One level of two fragments of 10 bits."""
    import DracoPy

    rng = np.random.default_rng(seed)
    triangles = np.arange(30, dtype="u4").reshape(10, 3)
    fragments = [
        DracoPy.encode(rng.integers(0, 1024, (30, 3)).astype("u4"), faces=triangles, preserve_order=True) for _ in range(2)
    ]
    level = ng.MeshLevel(1.0, [0, 0, 0], [[0, 0, 0], [1, 0, 0]], [len(each) for each in fragments])
    return ng.MultiscaleMesh(ng.MultiscaleMeshManifest([16, 32, 64], [1, 2, 3], [level]), b"".join(fragments))


def multiscale_info(how):
    return ng.MultiscaleMeshInfo.from_json({
        "@type": "neuroglancer_multilod_draco", "vertex_quantization_bits": 10, "transform": TRANSFORM,
        "lod_scale_multiplier": 1, "mip": 0, "sharding": how,
    })  # fmt: skip


def sorted_vertices(mesh):
    return np.sort(np.asarray(mesh.vertices, "f4"), axis=0)


def placed(made):
    parts = [
        made.manifest.place(ng.QuantizedMesh.from_draco(made.fragment(0, number)), 0, number, 10) for number in range(2)
    ]
    return np.sort(np.concatenate([part.vertices for part in parts]), axis=0)


@pytest.mark.parametrize("way", ["put", "built", "compacted", "copied", "unsharded"])
def test_cloud_volume_finds_the_fragments_of_our_multi_resolution_meshes(cloudvolume, tmp_path, way):
    if not ng.can_decode_draco():
        missing("libdraco-dev")
    how = None if way == "unsharded" else hashed("raw")
    meshes = {number: draco_mesh(number) for number in range(1, 12)}
    ours = ng.Collection.create(tmp_path / "mesh", multiscale_info(how))
    if way == "built":
        items = [(number, each.manifest.to_bytes(), each.fragments) for number, each in meshes.items()]
        ng.build(tmp_path / "mesh", how, items)
    else:
        for number, each in meshes.items():
            ours.write(number, each)
    if way == "compacted":
        ours.write(3, meshes.setdefault(3, draco_mesh(3)))
        assert ng.ShardedStore(tmp_path / "mesh", mode="r+").compact()["reclaimed"] > 0
    if way == "copied":
        sherd.copy(tmp_path / "mesh", tmp_path / "copied")
    name = "copied" if way == "copied" else "mesh"
    peer = segmentation(cloudvolume, tmp_path, mesh=name).mesh
    for number, each in meshes.items():
        np.testing.assert_allclose(sorted_vertices(peer.get(number, lod=0)[number]), placed(each), rtol=1e-5)
        assert ng.Collection(tmp_path / name).read(number).fragments == each.fragments
    assert sherd.check(tmp_path / name, data=True)["faults"] == []


def test_meshes_in_shards_of_cloud_volume_are_read_and_changed(cloudvolume, tmp_path):
    if not ng.can_decode_draco():
        missing("libdraco-dev")
    from cloudvolume.datasource.precomputed.sharding import ShardingSpecification

    meshes = {number: draco_mesh(number) for number in range(1, 12)}
    binaries = {number: each.fragments + each.manifest.to_bytes() for number, each in meshes.items()}
    offsets = {number: len(each.manifest.to_bytes()) for number, each in meshes.items()}
    folder = tmp_path / "mesh"
    folder.mkdir()
    (folder / "info").write_text(json.dumps(multiscale_info(hashed("raw")).to_json()))
    shards = ShardingSpecification.from_dict(hashed("raw")).synthesize_shards(binaries, data_offset=offsets)
    for name, data in shards.items():
        (folder / name).write_bytes(data)
    collection = ng.Collection(folder, mode="r+")
    for number, each in meshes.items():
        found = collection.read(number)
        assert found.fragments == each.fragments
        assert found.manifest.to_bytes() == each.manifest.to_bytes()
    assert sherd.check(folder, data=True)["faults"] == []
    collection.write(5, draco_mesh(55))
    ng.ShardedStore(folder, mode="r+").compact()
    peer = segmentation(cloudvolume, tmp_path, mesh="mesh").mesh
    np.testing.assert_allclose(sorted_vertices(peer.get(5, lod=0)[5]), placed(draco_mesh(55)), rtol=1e-5)
    np.testing.assert_allclose(sorted_vertices(peer.get(6, lod=0)[6]), placed(meshes[6]), rtol=1e-5)


@pytest.mark.parametrize("how", [None, hashed("gzip")], ids=["unsharded", "sharded"])
def test_cloud_volume_reads_our_annotations_by_every_index(cloudvolume, tmp_path, how):
    document = {
        "@type": "neuroglancer_annotations_v1",
        "dimensions": {"x": [1e-9, "m"], "y": [1e-9, "m"], "z": [1e-9, "m"]},
        "lower_bound": [0, 0, 0], "upper_bound": [100, 100, 100], "annotation_type": "point",
        "properties": [{"id": "kind", "type": "uint8"}, {"id": "score", "type": "float32"}],
        "relationships": [{"id": "cells", "key": "cells", "sharding": how}],
        "by_id": {"key": "by_id", "sharding": how},
        "spatial": [{"key": "spatial0", "grid_shape": [2, 1, 1], "chunk_size": [50, 100, 100], "limit": 10, "sharding": how}],
    }  # fmt: skip
    info = ng.AnnotationInfo.from_json(document)
    marks = ng.Collection.create(tmp_path, info)
    points = np.array([[10, 20, 30], [60, 20, 30]], "f4")
    everything = ng.Annotations(
        np.array([5, 6], "u8"), points, {"kind": np.array([3, 4], "u1"), "score": np.array([0.5, 1], "f4")}
    )
    for number in range(2):
        properties = {name: values[number : number + 1] for name, values in everything.properties.items()}
        marks.write(5 + number, ng.Annotation(points[number], properties, {"cells": [77]}))
        cell = ng.Annotations(everything.ids[number : number + 1], points[number : number + 1], properties)
        marks.write_cell(0, (number, 0, 0), cell)
    marks.write_related("cells", 77, everything)
    peer = cloudvolume.from_cloudpath(f"file://{tmp_path}")
    related = peer.get_by_relationship("cells", 77)
    np.testing.assert_array_equal(related.geometry, points)
    np.testing.assert_array_equal(np.sort(peer.get_all().ids), [5, 6])
    np.testing.assert_array_equal(np.ravel(peer.get_by_id(6).geometry), points[1])
    assert [related.properties[name].tolist() for name in ("kind", "score")] == [[3, 4], [0.5, 1]]
    assert [peer.get_by_id(6).properties[name].item() for name in ("kind", "score")] == [4, 1]
    assert sherd.check(tmp_path, data=True)["faults"] == []


def test_cloud_volume_reads_annotations_that_were_built_from_columns(cloudvolume, tmp_path):
    points = np.random.default_rng(7).random((300, 3), "f4") * 100
    properties = {"kind": (np.arange(300) % 200).astype("u1"), "score": np.arange(300, dtype="f4") / 8}
    report = ng.write_annotations(
        tmp_path, points, kind="point", dimensions=(1, 1, 1), properties=properties,
        relationships={"cells": np.arange(300) % 4}, limit=20,
    )  # fmt: skip
    assert report["levels"] > 2
    peer = cloudvolume.from_cloudpath(f"file://{tmp_path}")
    np.testing.assert_array_equal(np.sort(peer.get_by_relationship("cells", 3).ids), np.arange(3, 300, 4))
    one = peer.get_by_id(6)
    np.testing.assert_array_equal(np.ravel(one.geometry), points[6])
    assert [one.properties[name].item() for name in ("kind", "score")] == [6, 0.75]


def test_cloud_volume_reads_and_writes_the_same_swc(cloudvolume, tmp_path):
    ours = ng.Skeleton([[1, 2, 3], [4, 5, 6.5], [7, 8, 9]], [[1, 0], [2, 1]], {"radius": np.array([1, 2, 0.5], "f4")})
    theirs = cloudvolume.Skeleton.from_swc(ours.to_swc())
    np.testing.assert_array_equal(theirs.vertices, ours.vertices)
    np.testing.assert_array_equal(np.sort(theirs.edges, axis=1), [[0, 1], [1, 2]])
    np.testing.assert_array_equal(theirs.radius, [1, 2, 0.5])
    again = ng.Skeleton.from_swc(theirs.to_swc())
    np.testing.assert_array_equal(np.sort(again.edges, axis=1), [[0, 1], [1, 2]])
    np.testing.assert_allclose(again.vertices, ours.vertices)


def test_cloud_volume_writes_ply_and_obj_that_we_read(cloudvolume):
    vertices, faces = np.eye(3, dtype="f4") * 2.5, np.array([[0, 1, 2]], "u4")
    theirs = cloudvolume.Mesh(vertices, faces)
    for ours in ng.Mesh.from_ply(theirs.to_ply()), ng.Mesh.from_obj(theirs.to_obj()):
        np.testing.assert_array_equal(ours.vertices, vertices)
        np.testing.assert_array_equal(ours.triangles, faces)
    mesh = ng.Mesh(vertices, faces)
    np.testing.assert_array_equal(cloudvolume.Mesh.from_obj(mesh.to_obj()).faces, faces)
