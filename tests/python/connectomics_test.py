"""Annotations from columns, links of volumes, voxel coordinates, and objects as files."""

import json

import numpy as np
import pytest
import sherd
from sherd import neuroglancer as ng

RNG = np.random.default_rng(7)


@pytest.fixture
def volume(tmp_path):
    scales = [{"size": [20, 10, 5], "resolution": [8, 8, 40], "voxel_offset": [100, -4, 0], "chunk_size": [8, 8, 8]},
              {"size": [10, 5, 5], "resolution": [16, 16, 40], "voxel_offset": [50, -2, 0], "chunk_size": [8, 8, 8]}]  # fmt: skip
    array = ng.create_precomputed(tmp_path / "em", type="image", dtype="uint16", scales=scales)
    array[...] = np.arange(1000).reshape(20, 10, 5, 1)
    return array


def test_the_tree_of_a_volume_has_its_collections_after_its_scales(volume, tmp_path):
    ng.Collection.create(tmp_path / "em" / "skeletons", ng.SkeletonInfo.from_json({"@type": "neuroglancer_skeletons"}))
    ng.write_annotations(tmp_path / "em" / "marks", [[1, 2, 3]], kind="point", dimensions=(8, 8, 40))
    assert str(sherd.open(tmp_path / "em").tree()).splitlines() == [
        "/", "├── 16_16_40 (10, 5, 5, 1) uint16", "├── 8_8_40 (20, 10, 5, 1) uint16", "├── marks annotations",
        "└── skeletons skeletons"]


def test_a_copy_warns_of_collections_and_labels_that_it_does_not_have(volume, tmp_path):
    ng.write_annotations(tmp_path / "em" / "marks", [[1, 2, 3]], kind="point", dimensions=(8, 8, 40))
    ng.Collection.create(tmp_path / "em" / "skeletons", ng.SkeletonInfo.from_json({"@type": "neuroglancer_skeletons"}))
    ng.link(tmp_path / "em", skeletons="skeletons")
    missing = f"file://{tmp_path}/em/marks is not part of this copy; copy it by itself"
    for source, target in ((tmp_path / "em", tmp_path / "copied"), (sherd.Store(tmp_path / "em"), sherd.MemoryStore())):
        with pytest.warns(UserWarning, match="em/marks is not part of this copy; copy it by itself") as warned:
            report = sherd.copy(source, target)
        assert report["warnings"] == [missing] and [str(each.message) for each in warned] == [missing]
        assert warned[0].filename == __file__
    sherd.copy(tmp_path / "em/marks", tmp_path / "copied/marks")
    image = sherd.create_group(tmp_path / "i.zarr")
    image.create_array("0", data=np.zeros((4, 4), "u1"), dimension_names=("y", "x"))
    sherd.copy(tmp_path / "i.zarr/0", tmp_path / "j.zarr", pyramid="mean")
    sherd.copy(tmp_path / "i.zarr/0", tmp_path / "j.zarr/labels/cells", pyramid="mode")
    with pytest.warns(UserWarning, match="labels are not part of this copy: cells; copy them from file:.*/j.zarr/labels"):
        sherd.copy(tmp_path / "j.zarr", tmp_path / "k.zarr", pyramid="mean")


def levels_of(built, cells):
    """The level of every annotation."""
    found = {}
    for level, spatial in enumerate(built.info.spatial):
        for cell in np.ndindex(*spatial["grid_shape"]):
            listed = built.read_cell(level, cell)
            for id in () if listed is None else listed.ids.tolist():
                found.setdefault(id, set()).add(level)
                cells.append((id, level, cell))
    return found


def test_annotations_are_written_with_all_indices(tmp_path):
    points = RNG.random((500, 3), "f4") * [1000, 1000, 200]
    ids = RNG.permutation(10**6)[:500]
    partner = [[int(i) % 5, 77] if i % 2 else [] for i in range(500)]
    with pytest.warns(UserWarning, match="'sure' is of type bool"):
        report = ng.write_annotations(
            tmp_path / "a", points, kind="point", dimensions=(8, 8, 40), ids=ids, limit=40,
            properties={"score": RNG.random(500), "count": np.arange(500), "type": ["a", "b"] * 250, "sure": np.arange(500) % 2 == 0,
                        "colour": {"values": np.full((500, 3), 9, "u1"), "description": "as drawn"}},
            relationships={"segment": ids % 10, "partner": partner})  # fmt: skip
    built = ng.Collection(tmp_path / "a")
    assert report == {"annotations": 500, "levels": len(built.info.spatial), "cells": report["cells"], "related": 16}
    types = {each["id"]: each["type"] for each in built.info.properties}
    assert types == {"score": "float32", "count": "int32", "type": "uint8", "sure": "bool", "colour": "rgb"}
    cells = []
    found = levels_of(built, cells)
    assert sorted(found) == sorted(ids) and all(len(levels) == 1 for levels in found.values()) and len(cells) == 500
    for id, level, cell in cells[::50]:
        row = np.flatnonzero(ids == id)[0]
        size = np.array(built.info.spatial[level]["chunk_size"])
        low = np.array(built.info.to_json()["lower_bound"]) + np.array(cell) * size
        assert (points[row] >= low - 1e-3).all() and (points[row] <= low + size + 1e-3).all()
        one = built.read(id)
        np.testing.assert_array_equal(np.ravel(one.geometry), points[row].astype("f4"))
        assert one.properties["count"] == [row] and one.properties["type"] == [row % 2]
        assert one.related["segment"].tolist() == [id % 10] and one.related["partner"].tolist() == partner[row]
    np.testing.assert_array_equal(np.sort(built.read_related("segment", 3).ids), np.sort(ids[ids % 10 == 3]))
    assert sherd.check(tmp_path / "a", data=True)["ok"]


@pytest.mark.parametrize("kind", ["line", "axis_aligned_bounding_box", "ellipsoid", "polyline"])
def test_each_kind_is_written(tmp_path, kind):
    shape = (4, 3) if kind == "polyline" else (2, 3)
    geometry = [RNG.random(shape, "f4") for _ in range(30)]
    given = geometry if kind == "polyline" else np.array(geometry)
    ng.write_annotations(tmp_path / "a", given, kind=kind, dimensions={"x": (1e-9, "m"), "y": (1e-9, "m"), "t": (1, "s")}, sharding=None)
    built = ng.Collection(tmp_path / "a")
    assert sorted(built.list()) == list(range(30)) and built.info.annotation_type == kind
    np.testing.assert_array_equal(np.reshape(built.read(7).geometry, shape), geometry[7])


@pytest.mark.parametrize(("given", "says"), [
    ({"geometry": np.zeros((2, 2))}, r"shape \(n, 3\)"),
    ({"ids": [1, 1]}, "annotations 0 and 1 have the same id, 1"),
    ({"properties": {"a": [1, 2, 3]}}, "'a'|a"),
    ({"properties": {"a": np.array([1, 2**40])}}, "no property holds these values of int64"),
    ({"relationships": {"a": [[1]]}}, "an element for each of 2 annotations"),
    ({"lower_bound": [0, 0, 0]}, "both bounds or none"),
    ({"dimensions": {"x": 8}}, "a scale and a unit"),
    ({"kind": "sphere"}, "'sphere' is not point"),
    ({"limit": 0}, "limit"),
])  # fmt: skip
def test_wrong_columns_are_invalid_and_nothing_is_written(tmp_path, given, says):
    arguments = {"geometry": np.ones((2, 3)), "kind": "point", "dimensions": (8, 8, 40)} | given
    with pytest.raises(sherd.InvalidArgument, match=says):
        ng.write_annotations(tmp_path / "a", arguments.pop("geometry"), **arguments)
    assert not (tmp_path / "a").exists()


def test_a_volume_is_linked(tmp_path, volume):
    ng.Collection.create(tmp_path / "em/bones", ng.SkeletonInfo.from_json({"@type": "neuroglancer_skeletons"}))
    assert ng.link(tmp_path / "em", skeletons="bones") == {"skeletons": "bones"} == ng.links(tmp_path / "em")
    assert json.loads((tmp_path / "em/info").read_text())["skeletons"] == "bones"
    with pytest.raises(sherd.InvalidArgument, match="holds skeletons, not meshes"):
        ng.link(tmp_path / "em", mesh="bones")
    with pytest.raises(sherd.NotFound, match="there are no segment properties"):
        ng.link(tmp_path / "em", segment_properties="names")
    assert ng.link(tmp_path / "em", skeletons=None) == {}


def test_voxels_are_found_by_their_coordinates(volume):
    assert volume.voxel_offset == (100, -4, 0, 0)
    np.testing.assert_array_equal(volume.at_offset[102:108, -4:0, 2], volume[2:8, 0:4, 2])
    np.testing.assert_array_equal(volume.at_offset[:, -1, ..., 0], volume[:, 3, :, 0])
    np.testing.assert_array_equal(volume.at_offset[104::3], volume[4::3])
    writable = sherd.open_array(volume.store.url if hasattr(volume.store, "url") else volume.url.rpartition("/")[0], mode="r+")
    writable.at_offset[119, 5, 4] = 7
    assert writable[19, 9, 4, 0] == 7


@pytest.mark.parametrize("key", [np.s_[99:101], np.s_[100:121], np.s_[120], np.s_[99], np.s_[::-1], np.s_[:, -5], np.s_[1.5], np.s_[True]])
def test_voxels_outside_are_index_errors(volume, key):
    with pytest.raises(IndexError):
        volume.at_offset[key]


def test_an_array_of_a_volume_keeps_its_coordinates(tmp_path, volume):
    sherd.copy(tmp_path / "em" / "8_8_40", tmp_path / "a.zarr", to="zarr3")
    array = sherd.open_array(tmp_path / "a.zarr")
    np.testing.assert_array_equal(array.at_offset[0:2, -4:0, 102], array[0:2, 0:4, 2])
    sherd.create_array(tmp_path / "b.zarr", shape=(4,), dtype="u1")
    assert sherd.open_array(tmp_path / "b.zarr").voxel_offset == (0,)


def test_a_scale_is_opened_by_its_resolution(tmp_path, volume):
    assert sherd.open_array(tmp_path / "em", resolution=(16, 16, 40)).shape == (10, 5, 5, 1)
    with pytest.raises(sherd.NotFound, match="has no scale of 8,8,41 nm; it has 8,8,40 or 16,16,40"):
        sherd.open_array(tmp_path / "em", resolution=(8, 8, 41))
    with pytest.raises(sherd.InvalidArgument):
        sherd.open_array(tmp_path / "em", resolution=(8, 8))
    with pytest.raises(sherd.InvalidArgument):
        sherd.open_array(tmp_path / "em", scale=1, resolution=(8, 8, 40))


def test_a_copy_has_the_chosen_position_and_reports_dangling_links(tmp_path, volume):
    info = json.loads((tmp_path / "em/info").read_text()) | {"mesh": "nowhere"}
    (tmp_path / "em/info").write_text(json.dumps(info))
    report = sherd.copy(tmp_path / "em", tmp_path / "two", resolution=(4, 4, 40), voxel_offset=(0, 2, 0), dangling="drop")
    assert report["dangling_dropped"] == {"mesh": "nowhere"} and report["dangling_kept"] == {}
    copied = json.loads((tmp_path / "two/info").read_text())
    assert "mesh" not in copied
    assert [(each["resolution"], each["voxel_offset"]) for each in copied["scales"]] == [([4, 4, 40], [0, 2, 0]), ([8, 8, 40], [0, 1, 0])]
    with pytest.raises(sherd.InvalidArgument, match="resolution"):
        sherd.copy(tmp_path / "em", tmp_path / "three", resolution=(4, -4, 40))


def test_the_root_of_an_swc_file_may_have_the_parent_0():
    assert ng.Skeleton.from_swc("1 1 0 0 0 1 0\n2 3 1 0 0 1 1\n3 1 5 0 0 1 0\n").edges.tolist() == [[1, 0]]
    assert ng.Skeleton.from_swc("0 1 0 0 0 1 -1\n1 3 1 0 0 1 0\n").edges.tolist() == [[1, 0]]


def test_skeletons_and_meshes_are_files_of_other_programs(tmp_path):
    skeleton = ng.Skeleton([[1, 2, 3], [4, 5, 6]], [[0, 1]], {"radius": np.array([1, 2], "f4")})
    again = ng.Skeleton.from_swc(skeleton.to_swc())
    np.testing.assert_array_equal(again.vertices, skeleton.vertices)
    np.testing.assert_array_equal(again.attributes["radius"], [1, 2])
    with pytest.warns(UserWarning, match="1 edges close a cycle"):
        ng.Skeleton(np.eye(3, dtype="f4"), [[0, 1], [1, 2], [2, 0]]).to_swc()
    mesh = ng.Mesh(np.eye(3, dtype="f4"), [[0, 1, 2]])
    for copy in ng.Mesh.from_ply(mesh.to_ply()), ng.Mesh.from_obj(mesh.to_obj()):
        np.testing.assert_array_equal(copy.vertices, mesh.vertices)
        np.testing.assert_array_equal(copy.triangles, mesh.triangles)
    with pytest.raises(sherd.Corrupt, match="line 1: a face has 1 vertices"):
        ng.Mesh.from_obj("f 1")
    (tmp_path / "7.ply").write_bytes(mesh.to_ply())
    assert ng.import_object(tmp_path / "7.ply", tmp_path / "m") == {
        "id": 7, "vertices": 3, "triangles": 1, "lower_bound": (0, 0, 0), "upper_bound": (1, 1, 1), "created": True}  # fmt: skip
    assert ng.export_object(tmp_path / "m", 7, tmp_path / "7.obj")["created"] is False
    assert (tmp_path / "7.obj").read_text() == mesh.to_obj()
    with pytest.raises(sherd.Conflict):
        ng.import_object(tmp_path / "7.obj", tmp_path / "m")
