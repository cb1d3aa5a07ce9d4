"""Neuroglancer's precomputed objects as arrays: what is read, what is written, and what is refused."""

import copy
import inspect
import pathlib
import pickle
import struct

import numpy as np
import pytest
import sherd
from sherd import neuroglancer as ng


FRAGMENTS = pathlib.Path(__file__).parents[1] / "data" / "precomputed"
ATTRIBUTES = [
    {"id": "radius", "data_type": "float32", "num_components": 1},
    {"id": "kind", "data_type": "uint16", "num_components": 2},
]
SKELETON = (
    struct.pack("<II6f2I", 2, 1, 1, 2, 3, 4, 5, 6, 0, 1) + struct.pack("<2f", 0.5, 1.5) + struct.pack("<4H", 1, 2, 3, 4)
)


def annotation_info(kind, properties=(), relationships=()):
    return {
        "@type": "neuroglancer_annotations_v1",
        "dimensions": {"x": [1e-9, "m"], "y": [1e-9, "m"]},
        "lower_bound": [0, 0],
        "upper_bound": [10, 10],
        "annotation_type": kind,
        "properties": list(properties),
        "relationships": [{"id": each, "key": each} for each in relationships],
        "by_id": {"key": "by_id"},
        "spatial": [],
    }


def test_a_skeleton_is_arrays():
    skeleton = ng.Skeleton.from_bytes(SKELETON, vertex_attributes=ATTRIBUTES)
    assert skeleton.vertices.dtype == np.float32 and skeleton.vertices.tolist() == [[1, 2, 3], [4, 5, 6]]
    assert skeleton.edges.dtype == np.uint32 and skeleton.edges.tolist() == [[0, 1]]
    assert skeleton.attributes["radius"].tolist() == [0.5, 1.5]
    assert skeleton.attributes["kind"].dtype == np.uint16 and skeleton.attributes["kind"].tolist() == [[1, 2], [3, 4]]
    assert skeleton.vertex_attributes == ATTRIBUTES
    assert skeleton.to_bytes() == SKELETON
    skeleton.vertices += 1
    assert struct.unpack_from("<6f", skeleton.to_bytes(ATTRIBUTES), 8) == (2, 3, 4, 5, 6, 7)
    for data in (bytearray(SKELETON), memoryview(SKELETON)):
        assert ng.Skeleton.from_bytes(data, ATTRIBUTES).to_bytes() == SKELETON


def test_an_empty_skeleton_needs_no_shapes():
    assert ng.Skeleton().to_bytes() == bytes(8)
    assert ng.Skeleton([], []).to_bytes() == bytes(8)
    assert ng.Skeleton.from_bytes(bytes(8)).vertices.shape == (0, 3)


def test_broken_bytes_are_corrupt_and_say_where():
    with pytest.raises(sherd.Corrupt, match="skeleton: 12 vertices need 144 bytes, 100 are left"):
        ng.Skeleton.from_bytes(struct.pack("<II", 12, 0) + bytes(100))
    with pytest.raises(sherd.Corrupt, match="edge 0 names vertex 1"):
        ng.Skeleton.from_bytes(struct.pack("<II3f2I", 1, 1, 0, 0, 0, 0, 1))
    with pytest.raises(TypeError):
        ng.Skeleton.from_bytes("text")


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"vertices": [[1, 2]]}, r"vertices.*\(n, 3\), not \(1, 2\)"),
        ({"edges": [[0, -1]]}, "edges.*of type uint32 only"),
        ({"edges": [[0, 2**32]]}, "edges.*of type uint32 only"),
        ({"edges": [[0, 0.5]]}, "edges.*of type uint32 only"),
        ({"edges": np.array([[0.0, 1.0]])}, "edges.*of type uint32 only"),
        ({"edges": np.array([[0, 2**40]])}, "edges.*of type uint32 only"),
        ({"edges": [[0, "1"]]}, "edges.*of type uint32 only"),
        ({"edges": [[0, 2]]}, "edge 0 names vertex 2"),
        ({"attributes": {"radius": [1.0]}}, "attribute"),
        ({"attributes": {"radius": [[[1.0]]]}}, "attributes"),
    ],
)
def test_arrays_that_do_not_fit_are_invalid(changes, says):
    parts = {"vertices": np.zeros((2, 3)), "edges": np.zeros((0, 2), int), "attributes": {}} | changes
    with pytest.raises(sherd.InvalidArgument, match=says):
        ng.Skeleton(**parts).to_bytes()


def test_attributes_must_be_those_that_are_described():
    skeleton = ng.Skeleton(np.zeros((2, 3)), np.array([[0, 1]]), {"radius": [1, 2], "kind": [[1, 2], [3, 4]]})
    assert ng.Skeleton.from_bytes(skeleton.to_bytes(ATTRIBUTES), ATTRIBUTES).attributes["radius"].tolist() == [1, 2]
    with pytest.raises(sherd.InvalidArgument, match="1 are described"):
        skeleton.to_bytes(ATTRIBUTES[:1])
    with pytest.raises(sherd.InvalidArgument, match="attributes..other.*missing"):
        skeleton.to_bytes([ATTRIBUTES[0], {**ATTRIBUTES[1], "id": "other"}])


def test_info_documents_keep_what_is_not_known():
    document = {"@type": "neuroglancer_skeletons", "vertex_attributes": ATTRIBUTES, "mip": 3, "sharding": None}
    info = ng.SkeletonInfo.from_json(document)
    assert info.vertex_attributes == ATTRIBUTES and info.sharding is None
    assert info.transform.tolist() == np.eye(3, 4).tolist()
    assert info.to_json()["mip"] == 3 and "sharding" not in info.to_json()
    assert info == pickle.loads(pickle.dumps(info)) == copy.deepcopy(info)
    assert info != ng.SkeletonInfo.from_json({"@type": "neuroglancer_skeletons"}) and info != 1
    assert eval(repr(info), {"SkeletonInfo": ng.SkeletonInfo}) == info
    with pytest.raises(sherd.Unsupported, match="neuroglancer_legacy_mesh"):
        ng.SkeletonInfo.from_json({"@type": "neuroglancer_legacy_mesh"})
    with pytest.raises(sherd.InvalidArgument) as raised:
        ng.SkeletonInfo.from_json({"@type": "neuroglancer_skeletons", "vertex_attributes": [{"id": ""}]})
    assert raised.value.member == "vertex_attributes[0].id"
    mesh = ng.MultiscaleMeshInfo.from_json(
        {"@type": "neuroglancer_multilod_draco", "vertex_quantization_bits": 10, "lod_scale_multiplier": 1}
    )
    assert mesh.vertex_quantization_bits == 10 and mesh.lod_scale_multiplier == 1 and mesh.transform.shape == (3, 4)
    assert ng.LegacyMeshInfo.from_json({"@type": "neuroglancer_legacy_mesh", "mip": 1}).to_json()["mip"] == 1


def test_a_mesh_is_arrays():
    data = struct.pack("<I9f3I", 3, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 1, 2)
    mesh = ng.Mesh.from_bytes(data)
    assert mesh.vertices.shape == (3, 3) and mesh.triangles.tolist() == [[0, 1, 2]]
    assert mesh.to_bytes() == data
    with pytest.raises(sherd.Corrupt):
        ng.Mesh.from_bytes(data[:-1])


def manifest():
    level = ng.MeshLevel(1.0, [0, 0, 0], [[0, 0, 0], [1, 0, 0]], [100, 23])
    return ng.MultiscaleMeshManifest([64, 64, 64], [1, 2, 3], [level, ng.MeshLevel(2.0, [0, 0, 0], [[0, 0, 0]], [7])])


def test_a_manifest_says_where_its_fragments_are():
    made = manifest()
    read = ng.MultiscaleMeshManifest.from_bytes(made.to_bytes())
    assert read.grid_origin.tolist() == [1, 2, 3] and len(read.levels) == 2
    assert read.levels[0].positions.tolist() == [[0, 0, 0], [1, 0, 0]] and read.levels[0].sizes.tolist() == [100, 23]
    assert read.fragments_size == 130
    assert [read.fragment_range(0, 0), read.fragment_range(0, 1), read.fragment_range(1, 0)] == [(0, 100), (100, 23), (123, 7)]
    made.levels[0].positions.reverse()
    with pytest.raises(sherd.InvalidArgument, match="Z-curve"):
        made.to_bytes()


def test_draco_fragments_are_decoded_and_placed():
    from dependencies import missing

    if not ng.can_decode_draco():
        missing("libdraco-dev")
    mesh = ng.QuantizedMesh.from_draco((FRAGMENTS / "quantized.drc").read_bytes())
    assert mesh.vertices.dtype == np.uint32 and mesh.vertices.shape == (98, 3) and mesh.triangles.shape == (192, 3)
    placed = manifest().place(mesh, 0, 1, 10)
    expected = np.array([1, 2, 3]) + 64 * (np.array([1, 0, 0]) + mesh.vertices / 1023)
    np.testing.assert_allclose(placed.vertices, expected, rtol=1e-6)
    with pytest.raises(sherd.Corrupt):
        ng.QuantizedMesh.from_draco(b"DRACO")


@pytest.mark.parametrize(("kind", "shape"), [("point", (2,)), ("line", (2, 2)), ("axis_aligned_bounding_box", (2, 2)), ("ellipsoid", (2, 2)), ("polyline", (3, 2))])
def test_annotations_have_the_shape_of_their_type(kind, shape):
    properties = [{"id": "c", "type": "rgb"}, {"id": "s", "type": "float32"}]
    info = ng.AnnotationInfo.from_json(annotation_info(kind, properties, ["cells", "none"]))
    assert (info.rank, info.annotation_type, info.relationships) == (2, kind, ["cells", "none"])
    geometry = np.arange(np.prod(shape), dtype="f4").reshape(shape)
    one = ng.Annotation(geometry, {"c": [[1, 2, 3]], "s": [0.5]}, {"cells": [7, 2**64 - 1]})
    data = one.to_bytes(info)
    count = struct.pack("<I", 3) if kind == "polyline" else b""
    values = geometry.tobytes() + struct.pack("<f4B", 0.5, 1, 2, 3, 0)
    assert data == count + values + struct.pack("<IQQI", 2, 7, 2**64 - 1, 0)
    read = ng.Annotation.from_bytes(data, info)
    assert read.geometry.tolist() == geometry.tolist()
    assert read.properties["c"].tolist() == [[1, 2, 3]] and read.related["cells"].tolist() == [7, 2**64 - 1]
    assert read.related["none"].size == 0

    points = [1, 2] if kind == "polyline" else ()
    several = geometry if kind == "polyline" else np.stack([geometry, geometry + 1])
    made = ng.Annotations([5, 6], several, {"c": [[1, 2, 3]] * 2, "s": [1, 2]}, points)
    again = ng.Annotations.from_bytes(made.to_bytes(info.to_json()), info)
    assert again.ids.dtype == np.uint64 and again.ids.tolist() == [5, 6]
    assert again.geometry.tolist() == several.tolist() and again.points.tolist() == list(points)
    with pytest.raises(sherd.InvalidArgument, match="geometry"):
        ng.Annotations([5, 6], several[..., :1], made.properties, points).to_bytes(info)
    with pytest.raises(sherd.InvalidArgument, match="no relationship"):
        ng.Annotation(geometry, one.properties, {"other": []}).to_bytes(info)


def test_segment_properties_have_values_of_their_types():
    document = {
        "@type": "neuroglancer_segment_properties",
        "made": "here",
        "inline": {
            "ids": ["1", str(2**64 - 1)],
            "properties": [
                {"id": "name", "type": "label", "values": ["a", ""]},
                {"id": "tags", "type": "tags", "tags": ["x", "y"], "values": [[0, 1], []], "extra": 1},
                {"id": "size", "type": "number", "data_type": "float32", "description": "µm", "values": [0.1, 2]},
            ],
        },
    }
    read = ng.SegmentProperties.from_json(document)
    assert read.ids.tolist() == [1, 2**64 - 1]
    assert read.properties[1].tags == ["x", "y"] and read.properties[1].other == {"extra": 1}
    assert read.properties[2].values.dtype == np.float32
    assert read.to_json() == document
    made = ng.SegmentProperties([3], [ng.SegmentProperty("n", "number", np.array([-5], "i1"))])
    assert made.to_json()["inline"]["properties"][0] == {"id": "n", "type": "number", "data_type": "int8", "values": [-5]}
    with pytest.raises(sherd.InvalidArgument) as raised:
        ng.SegmentProperties([3], [ng.SegmentProperty("n", "label", [])]).to_json()
    assert raised.value.member == "inline.properties[0].values"


@pytest.mark.parametrize("name", ng.__all__)
def test_everything_public_is_explained(name):
    value = getattr(ng, name)
    assert inspect.getdoc(value)
    for member, item in vars(value).items() if inspect.isclass(value) else ():
        if not member.startswith("_") and (callable(item) or isinstance(item, (property, classmethod))):
            assert inspect.getdoc(item), f"{name}.{member}"
