"""Precomputed objects against cloud-volume, both ways: skeletons, meshes, manifests with their Draco fragments, and
annotations as far as cloud-volume reads them.

What it cannot (12.15.2): of annotations it writes none; it knows the types' names in capitals only; it reads points only, for anything of two vectors ends in a
TypeError; and it takes properties in the info's order, not by size, so that only infos in that order agree.
"""

import gzip
import json

import numpy as np
import pytest
from sherd import neuroglancer as ng

from segmentations import TRANSFORM, segmentation

pytestmark = pytest.mark.usefixtures("cloudvolume")
ATTRIBUTES = [
    {"id": "radius", "data_type": "float32", "num_components": 1},
    {"id": "vertex_types", "data_type": "uint8", "num_components": 1},
    {"id": "colour", "data_type": "uint16", "num_components": 3},
]


def random_skeleton(rng, count):
    edges = np.stack([np.arange(1, count), rng.integers(0, np.arange(1, count))], axis=1) if count > 1 else []
    attributes = {
        "radius": rng.random(count, "f4"),
        "vertex_types": rng.integers(0, 255, count).astype("u1"),
        "colour": rng.integers(0, 65535, (count, 3)).astype("u2"),
    }
    return ng.Skeleton(rng.random((count, 3), "f4") * 1000, edges, attributes)


@pytest.mark.parametrize("count", [1, 2, 500])
def test_cloud_volume_reads_our_skeletons_and_we_read_its(cloudvolume, count):
    ours = random_skeleton(np.random.default_rng(count), count)
    theirs = cloudvolume.Skeleton.from_precomputed(ours.to_bytes(), vertex_attributes=ATTRIBUTES)
    np.testing.assert_array_equal(theirs.vertices, ours.vertices)
    np.testing.assert_array_equal(theirs.edges, np.reshape(ours.edges, (-1, 2)))
    for name, values in ours.attributes.items():
        np.testing.assert_array_equal(getattr(theirs, name), values)
    again = ng.Skeleton.from_bytes(theirs.to_precomputed(), ATTRIBUTES)
    assert again.to_bytes() == ours.to_bytes()


def test_cloud_volume_reads_our_skeleton_directory(cloudvolume, tmp_path):
    info = {"@type": "neuroglancer_skeletons", "transform": TRANSFORM, "vertex_attributes": ATTRIBUTES}
    folder = tmp_path / "skeletons"
    folder.mkdir()
    (folder / "info").write_text(json.dumps(ng.SkeletonInfo.from_json(info).to_json()))
    ours = random_skeleton(np.random.default_rng(7), 20)
    (folder / "11").write_bytes(ours.to_bytes())
    peer = segmentation(cloudvolume, tmp_path, skeletons="skeletons").skeleton
    theirs = peer.get(11)
    np.testing.assert_array_equal(theirs.vertices, ours.vertices)
    np.testing.assert_array_equal(theirs.colour, ours.attributes["colour"])
    theirs.id = 12
    peer.upload([theirs])
    stored = next(each for each in folder.iterdir() if each.name.split(".")[0] == "12")
    data = gzip.decompress(stored.read_bytes()) if stored.suffix == ".gz" else stored.read_bytes()
    written = ng.SkeletonInfo.from_json(json.loads((folder / "info").read_text()))
    assert ng.Skeleton.from_bytes(data, written).to_bytes() == ours.to_bytes()


@pytest.mark.parametrize(("vertices", "triangles"), [(3, 1), (100, 300), (5, 0)])
def test_cloud_volume_reads_our_legacy_meshes_and_we_read_its(cloudvolume, vertices, triangles):
    rng = np.random.default_rng(triangles)
    ours = ng.Mesh(rng.random((vertices, 3), "f4"), rng.integers(0, vertices, (triangles, 3)).astype("u4"))
    theirs = cloudvolume.Mesh.from_precomputed(ours.to_bytes())
    np.testing.assert_array_equal(theirs.vertices, ours.vertices)
    np.testing.assert_array_equal(theirs.faces, ours.triangles)
    assert theirs.to_precomputed() == ours.to_bytes()
    again = ng.Mesh.from_bytes(theirs.to_precomputed())
    np.testing.assert_array_equal(again.triangles, ours.triangles)


def manifest():
    fine = ng.MeshLevel(1.0, [0, 0, 0], [[0, 0, 0], [1, 0, 0], [0, 0, 1]], [100, 0, 50])
    return ng.MultiscaleMeshManifest([16, 32, 64], [1, 2, 3], [fine, ng.MeshLevel(2.0, [0.5, 0.5, 0.5], [[0, 0, 0]], [70])])


def test_cloud_volume_reads_our_manifests_of_meshes(cloudvolume):
    from cloudvolume.datasource.precomputed.mesh.multilod import MultiLevelPrecomputedMeshManifest as Manifest

    ours = manifest()
    theirs = Manifest.from_binary(ours.to_bytes(), segment_id=1)
    np.testing.assert_array_equal(theirs.chunk_shape, ours.chunk_shape)
    np.testing.assert_array_equal(theirs.vertex_offsets, [level.vertex_offset for level in ours.levels])
    for level, positions, sizes in zip(ours.levels, theirs.fragment_positions, theirs.fragment_offsets):
        np.testing.assert_array_equal(positions, level.positions)
        np.testing.assert_array_equal(sizes, level.sizes)
    theirs.fragment_offsets = np.concatenate(theirs.fragment_offsets)  # as its to_binary() expects them
    assert theirs.to_binary() == ours.to_bytes()
    assert ng.MultiscaleMeshManifest.from_bytes(theirs.to_binary()).to_bytes() == ours.to_bytes()


def test_cloud_volume_reads_our_directory_of_multi_resolution_meshes(cloudvolume, tmp_path):
    if not ng.can_decode_draco():
        missing("libdraco-dev")
    import DracoPy

    rng = np.random.default_rng(3)
    quantized = [rng.permuted(np.arange(3 * 1024, dtype="u4") % 1024)[: 3 * 30].reshape(30, 3) for _ in range(2)]
    triangles = np.arange(30, dtype="u4").reshape(10, 3)
    fragments = [DracoPy.encode(vertices, faces=triangles, preserve_order=True) for vertices in quantized]
    level = ng.MeshLevel(1.0, [0, 0, 0], [[0, 0, 0], [1, 0, 0]], [len(each) for each in fragments])
    made = ng.MultiscaleMeshManifest([16, 32, 64], [1, 2, 3], [level])
    info = {
        "@type": "neuroglancer_multilod_draco", "vertex_quantization_bits": 10, "transform": TRANSFORM,
        "lod_scale_multiplier": 1, "mip": 0,
    }  # fmt: skip
    folder = tmp_path / "mesh"
    folder.mkdir()
    (folder / "info").write_text(json.dumps(ng.MultiscaleMeshInfo.from_json(info).to_json()))
    (folder / "5.index").write_bytes(made.to_bytes())
    (folder / "5").write_bytes(b"".join(fragments))
    theirs = segmentation(cloudvolume, tmp_path, mesh="mesh").mesh.get(5, lod=0)[5]
    ours = []
    for number, expected in enumerate(quantized):
        offset, length = made.fragment_range(0, number)
        decoded = ng.QuantizedMesh.from_draco(b"".join(fragments)[offset : offset + length])
        assert sorted(decoded.vertices.tolist()) == sorted(expected.tolist())
        ours.append(made.place(decoded, 0, number, 10).vertices)
    np.testing.assert_allclose(
        np.sort(np.asarray(theirs.vertices, "f4"), axis=0), np.sort(np.concatenate(ours), axis=0), rtol=1e-5
    )


def annotation_info():
    document = {
        "@type": "neuroglancer_annotations_v1",
        "dimensions": {"x": [1e-9, "m"], "y": [1e-9, "m"], "z": [1e-9, "m"]},
        "lower_bound": [0, 0, 0], "upper_bound": [100, 100, 100], "annotation_type": "point",
        "properties": [
            {"id": "colour", "type": "rgb"}, {"id": "score", "type": "float32"}, {"id": "small", "type": "uint16"},
            {"id": "big", "type": "int32"},
        ],
        "relationships": [{"id": "cells", "key": "cells"}],
        "by_id": {"key": "by_id"},
        "spatial": [{"key": "spatial0", "grid_shape": [1, 1, 1], "chunk_size": [100, 100, 100], "limit": 10}],
    }  # fmt: skip
    return ng.AnnotationInfo.from_json(document)


def test_cloud_volume_reads_our_annotations(cloudvolume, tmp_path):
    info = annotation_info()
    rng = np.random.default_rng(1)
    count = 9
    properties = {
        "score": rng.random(count, "f4"),
        "big": rng.integers(-(2**31), 2**31, count).astype("i4"),
        "small": rng.integers(0, 2**16, count).astype("u2"),
        "colour": rng.integers(0, 256, (count, 3)).astype("u1"),
    }
    points = ng.Annotations(np.arange(count, dtype="u8") + 2**40, rng.random((count, 3), "f4") * 100, properties)
    (tmp_path / "info").write_text(json.dumps(info.to_json()))
    for name in ("by_id", "cells", "spatial0"):
        (tmp_path / name).mkdir()
    (tmp_path / "spatial0" / "0_0_0").write_bytes(points.to_bytes(info))
    (tmp_path / "cells" / "77").write_bytes(points.to_bytes(info))
    one = ng.Annotation(points.geometry[0], {name: values[:1] for name, values in properties.items()}, {"cells": [77, 78]})
    (tmp_path / "by_id" / "5").write_bytes(one.to_bytes(info))

    peer = cloudvolume.from_cloudpath(f"file://{tmp_path}")
    for theirs in (peer.get_by_relationship("cells", 77), peer.get_all()):
        np.testing.assert_array_equal(theirs.ids, points.ids)
        np.testing.assert_array_equal(theirs.geometry, points.geometry)
        for name, values in properties.items():
            np.testing.assert_array_equal(theirs.properties[name], values)
    single = peer.get_by_id(5)
    np.testing.assert_array_equal(np.ravel(single.geometry), points.geometry[0])
    assert single.relationships["cells"].tolist() == [77, 78]
