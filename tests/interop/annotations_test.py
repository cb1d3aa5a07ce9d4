"""Annotations in Neuroglancer's own Python reader and writer, and in cloud-volume: properties of several sizes, in any order."""

import itertools
import json
import os
import pathlib
import subprocess
import warnings

import numpy as np
import pytest
import sherd
from sherd import neuroglancer as ng

from dependencies import missing

COMMAND = os.path.abspath(os.environ.get("SHERD_BIN", pathlib.Path(__file__).parents[2] / "build/release/bin/sherd"))
# In an order in which no two neighbours have the same size, and uint32 is not the first of its size.
TYPES = ["uint8", "uint16", "float32", "rgba", "uint32", "int8", "int16", "rgb", "int32"]
ROW = [200, 60000, 0.25, (1, 2, 3, 4), 2**32 - 1, -100, -30000, (5, 6, 7), -(2**31)]
GEOMETRY = {
    "point": [1.5, 2, 3], "line": [[1.5, 2, 3], [4, 5, 6]], "axis_aligned_bounding_box": [[1.5, 2, 3], [4, 5, 6]],
    "ellipsoid": [[1.5, 2, 3], [4, 5, 6]], "polyline": [[1.5, 2, 3], [4, 5, 6], [7, 8, 9]],
}  # fmt: skip


@pytest.fixture
def reader():
    try:
        from neuroglancer.read_precomputed_annotations import AnnotationReader
    except ImportError:
        missing("neuroglancer")
    return lambda folder: AnnotationReader(f"file://{folder}")


def coordinates_of(annotation):
    names = ("point", "point_a", "point_b", "center", "radii", "points")
    return np.concatenate([np.ravel(getattr(annotation, name)) for name in names if hasattr(annotation, name)]).tolist()


def as_lists(properties):
    return [np.asarray(each).tolist() for each in properties]


def by_command(folder, kind):
    text = {"point": {"point": GEOMETRY[kind]}, "ellipsoid": dict(zip(["center", "radii"], GEOMETRY[kind]))}
    row = text.get(kind, {"points": GEOMETRY[kind]}) | {"id": 7, "cell": 5} | {f"p_{name}": value for name, value in zip(TYPES, ROW)}
    options = [option for name in TYPES for option in ("--property", f"p_{name}:{name}")]
    subprocess.run(
        [COMMAND, "annotations", "build", folder, "--type", {"axis_aligned_bounding_box": "box"}.get(kind, kind), "--resolution", "8,8,8",
         "--format", "json", "--relationship", "cell", *options], input=json.dumps(row).encode(), check=True)  # fmt: skip


def by_columns(folder, kind):
    properties = {f"p_{name}": np.array([value], "u1" if name.startswith("rgb") else name) for name, value in zip(TYPES, ROW)}
    ng.write_annotations(folder, [GEOMETRY[kind]], kind=kind, dimensions=(8, 8, 8), ids=[7], properties=properties, relationships={"cell": [5]})


def one_by_one(folder, kind):
    info = ng.AnnotationInfo.from_json({
        "@type": "neuroglancer_annotations_v1", "dimensions": {name: [8e-9, "m"] for name in "xyz"}, "lower_bound": [0, 0, 0],
        "upper_bound": [10, 10, 10], "annotation_type": kind,
        # The order of an info document is the caller's, and Neuroglancer's Python reader needs uint32 first.
        "properties": [{"id": f"p_{name}", "type": name} for name in sorted(TYPES, key="uint32".__ne__)], "relationships": [{"id": "cell", "key": "cell"}],
        "by_id": {"key": "by_id"},
        "spatial": [{"key": "spatial0", "grid_shape": [1, 1, 1], "chunk_size": [10, 10, 10], "limit": 10}],
    })  # fmt: skip
    marks = ng.Collection.create(folder, info)
    properties = {f"p_{name}": np.array([value], "u1" if name.startswith("rgb") else name) for name, value in zip(TYPES, ROW)}
    geometry = np.array(GEOMETRY[kind], "f4")
    marks.write(7, ng.Annotation(geometry, properties, {"cell": [5]}))
    if kind == "polyline":
        listed = ng.Annotations(np.array([7], "u8"), geometry, properties, np.array([len(geometry)], "u4"))
    else:
        listed = ng.Annotations(np.array([7], "u8"), geometry[None], properties)
    marks.write_cell(0, (0, 0, 0), listed)
    marks.write_related("cell", 5, listed)


@pytest.mark.parametrize("kind", GEOMETRY)
@pytest.mark.parametrize("build", [by_command, by_columns, one_by_one])
def test_neuroglancer_reads_annotations_with_properties_of_every_type(reader, tmp_path, build, kind):
    build(tmp_path / "a", kind)
    info = json.loads((tmp_path / "a/info").read_text())
    order = [TYPES.index(each["id"].removeprefix("p_")) for each in info["properties"]]
    sizes = [np.dtype("u1" if TYPES[i].startswith("rgb") else TYPES[i]).itemsize for i in order]
    assert sizes == sorted(sizes, reverse=True)
    peer = reader(tmp_path / "a")
    expected = [np.asarray(ROW[i]).tolist() for i in order]
    cell = peer.spatial[0][0, 0, 0] if kind != "polyline" else [peer.by_id[7]]  # 2.41.2 cannot read lists of polylines
    related = peer.relationships["cell"][5] if kind != "polyline" else [peer.by_id[7]]
    for annotation in (peer.by_id[7], *cell, *related):
        assert as_lists(annotation.props) == expected
        assert coordinates_of(annotation) == np.ravel(GEOMETRY[kind]).tolist()
    assert as_lists(peer.by_id[7].segments) == [[5]]
    # Sherd reads the same values by name.
    assert {name: np.ravel(values).tolist() for name, values in ng.Collection(tmp_path / "a").read(7).properties.items()} == {
        f"p_{name}": np.ravel(value).tolist() for name, value in zip(TYPES, ROW)}


def build_point(folder, types, by):
    """One point with properties p0, p1, ... that are 1, 2, ...; returns the warnings of the build."""
    properties = {f"p{i}": np.array([i + 1]) for i in range(len(types))}
    if by == "python":
        properties = {name: {"values": values, "type": kind} for (name, values), kind in zip(properties.items(), types)}
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            ng.write_annotations(folder, [[1, 2, 3]], kind="point", dimensions=(8, 8, 8), ids=[7], properties=properties)
        assert all(each.filename == __file__ for each in caught)
        return [str(each.message) for each in caught]
    text = f"id,x,y,z,{','.join(properties)}\n7,1,2,3,{','.join(str(i + 1) for i in range(len(types)))}\n"
    options = [option for name, kind in zip(properties, types) for option in ("--property", f"{name}:{kind}")]
    ran = subprocess.run([COMMAND, "annotations", "build", folder, "--type", "point", "--resolution", "8,8,8", *options],
                         input=text.encode(), capture_output=True, check=True)  # fmt: skip
    return [line.removeprefix("warning: ") for line in ran.stderr.decode().splitlines() if line.startswith("warning: ")]


BUILDS = pytest.mark.parametrize("by", ["command", "python"])


def values_by_name(peer):
    return dict(zip([each.id for each in peer.properties], as_lists(peer.by_id[7].props)))


@BUILDS
@pytest.mark.parametrize("types", [
    *itertools.permutations(["uint32", "float32", "int32", "uint8"]),
    *set(itertools.permutations(["uint32", "uint32", "float32", "int32"])), ["uint32"] * 3 + ["float32"] * 4 + ["int16"],
])  # fmt: skip
def test_uint32_is_placed_where_the_reader_of_neuroglancer_expects_it(reader, cloudvolume, tmp_path, types, by):
    assert build_point(tmp_path, types, by) == []
    expected = {f"p{i}": i + 1 for i in range(len(types))}
    peer = reader(tmp_path)
    assert values_by_name(peer) == expected and as_lists(peer.spatial[0][0, 0, 0][0].props) == as_lists(peer.by_id[7].props)
    found = cloudvolume.from_cloudpath(f"file://{tmp_path}").get_by_id(7)
    assert {name: values.item() for name, values in found.properties.items()} == expected
    assert {name: values.item() for name, values in ng.Collection(tmp_path).read(7).properties.items()} == expected


@BUILDS
@pytest.mark.parametrize(("types", "named", "wrong"), [
    (["uint32"] * 2, "p1", None), (["uint32"] * 3, "p1", None), (["uint32", "float32", "uint32", "int16"], "p2", ["p2", "p3"]),
    (["uint32", "int8", "uint32", "float32"], "p2", ["p2", "p1"]),
])  # fmt: skip
def test_a_build_warns_of_uint32_that_neuroglancer_misreads(reader, cloudvolume, tmp_path, types, named, wrong, by):
    [warning] = build_point(tmp_path, types, by)
    assert warning == (f"property '{named}' is of type uint32, for which Neuroglancer's Python reader up to 2.41.2 returns wrong numbers or an "
                       "error here; use int32 or float32")  # fmt: skip
    expected = {f"p{i}": i + 1 for i in range(len(types))}
    if wrong is None:
        with pytest.raises(ValueError, match="buffer is smaller than requested size"):
            reader(tmp_path).by_id[7]
    else:
        assert [name for name, value in values_by_name(reader(tmp_path)).items() if value != expected[name]] == wrong
    found = cloudvolume.from_cloudpath(f"file://{tmp_path}").get_by_id(7)
    assert {name: values.item() for name, values in found.properties.items()} == expected
    assert {name: values.item() for name, values in ng.Collection(tmp_path).read(7).properties.items()} == expected


@BUILDS
def test_a_build_warns_of_bool_which_other_readers_refuse(reader, cloudvolume, tmp_path, by):
    [warning] = build_point(tmp_path, ["bool", "float32"], by)
    assert warning == ("property 'p0' is of type bool, with which cloud-volume, Neuroglancer's Python reader and viewers of Neuroglancer up to "
                       "2.41.2 cannot open annotations; use uint8")  # fmt: skip
    with pytest.raises(KeyError, match="bool"):
        reader(tmp_path)
    with pytest.raises(KeyError, match="bool"):
        cloudvolume.from_cloudpath(f"file://{tmp_path}").get_by_id(7)
    assert {name: values.item() for name, values in ng.Collection(tmp_path).read(7).properties.items()} == {"p1": 2, "p0": 1}


def test_a_collection_created_from_an_info_keeps_its_order_and_warns(tmp_path):
    info = ng.AnnotationInfo.from_json({
        "@type": "neuroglancer_annotations_v1", "dimensions": {"x": [1, "m"]}, "lower_bound": [0], "upper_bound": [1],
        "annotation_type": "POINT", "properties": [{"id": "a", "type": "bool"}, {"id": "b", "type": "int32"}, {"id": "c", "type": "uint32"}],
    })  # fmt: skip
    with pytest.warns(UserWarning) as caught:
        ng.Collection.create(tmp_path, info)
    assert [str(each.message)[:35] for each in caught] == ["property 'c' is of type uint32, for", "property 'a' is of type bool, with "]
    assert [each["id"] for each in json.loads((tmp_path / "info").read_text())["properties"]] == ["b", "c", "a"]


def test_properties_of_one_size_keep_their_order(tmp_path):
    properties = [{"id": name, "type": kind} for name, kind in [("d", "int8"), ("b", "int16"), ("c", "uint8"), ("a", "uint16")]]
    info = ng.AnnotationInfo.from_json({
        "@type": "neuroglancer_annotations_v1", "dimensions": {"x": [1, "m"]}, "lower_bound": [0], "upper_bound": [1],
        "annotation_type": "POINT", "properties": properties,
    })  # fmt: skip
    assert [each["id"] for each in info.to_json()["properties"]] == ["b", "a", "d", "c"]
    assert info.annotation_type == "point" and info.to_json()["annotation_type"] == "POINT"


def test_cloud_volume_and_neuroglancer_read_the_same_properties(reader, cloudvolume, tmp_path):
    text = b"id,x,y,z,kind,score\n7,1,2,3,5,0.25\n"
    subprocess.run([COMMAND, "annotations", "build", tmp_path, "--type", "point", "--resolution", "8,8,8", "--property", "kind:uint8",
                    "--property", "score:float32"], input=text, check=True)
    peer = reader(tmp_path)
    names = [each.id for each in peer.properties]
    assert dict(zip(names, as_lists(peer.by_id[7].props))) == {"kind": 5, "score": 0.25}
    theirs = cloudvolume.from_cloudpath(f"file://{tmp_path}")
    for found in (theirs.get_by_id(7), theirs.get_all()):
        assert {name: values.item() for name, values in found.properties.items()} == {"kind": 5, "score": 0.25}


def test_annotations_that_neuroglancer_has_written_are_read(tmp_path):
    try:
        import neuroglancer
        from neuroglancer.write_annotations import AnnotationWriter
    except ImportError:
        missing("neuroglancer")
    space = neuroglancer.CoordinateSpace(names=["x", "y", "z"], scales=[8, 8, 8], units="nm")
    specs = [neuroglancer.AnnotationPropertySpec(id=name, type=kind) for name, kind in [("kind", "uint8"), ("score", "float32"), ("n", "int16")]]
    writer = AnnotationWriter(space, "point", relationships=["cell"], properties=specs)
    writer.add_point([1, 2, 3], id=7, kind=5, score=0.25, n=-3, cell=[9])
    writer.write(tmp_path / "a")
    marks = ng.Collection(tmp_path / "a")
    one = marks.read(7)
    assert {name: values.item() for name, values in one.properties.items()} == {"kind": 5, "score": 0.25, "n": -3}
    assert marks.read_related("cell", 9).ids.tolist() == [7] and one.related["cell"].tolist() == [9]
    assert sherd.check(tmp_path / "a", data=True)["ok"]
