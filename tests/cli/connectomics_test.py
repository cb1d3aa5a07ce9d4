"""What a connectomics user does to a volume: position, links, annotations, skeletons and meshes."""

import json

import numpy
import pytest

NEW = ["--store-format", "precomputed", "--shape", "40,30,20", "--dtype", "uint8", "--resolution", "8,8,40", "--chunks", "16,16,16"]
SWC = "1 1 1 2 3 0.5 -1\n2 3 4 5 6 0.25 1\n"
OBJ = "v 0 0 0\nv 10 0 0\nv 0 10 0\nf 1 2 3\n"
TABLE = "id,x,y,z,score,kind,segment,comment\n7,1,2,3,0.5,axon,17 18,hello\n9,30,20,10,0.25,soma,,\"a, b\"\n"


def info_of(folder):
    return json.loads((folder / "info").read_text())


def volume(sherd, tmp_path):
    sherd.ok("create", "em", *NEW)
    data = numpy.random.default_rng(7).integers(0, 9, (40, 30, 20, 1), dtype="u1")
    numpy.save(tmp_path / "in.npy", data)
    sherd.ok("write", "em", "-i", "in.npy")
    return data


def values(sherd, *of):
    return numpy.array(json.loads(sherd.ok("read", *of, "--format", "json").stdout))


def test_a_copy_has_the_chosen_resolution_and_offset_in_every_scale(sherd, tmp_path):
    data = volume(sherd, tmp_path)
    sherd.ok("copy", "em", "two", "--pyramid", "mean:1", "--resolution", "4,4,30", "--voxel-offset", "100,-20,7")
    fine, coarse = info_of(tmp_path / "two")["scales"]
    assert (fine["key"], fine["resolution"], fine["voxel_offset"]) == ("4_4_30", [4, 4, 30], [100, -20, 7])
    assert (coarse["resolution"], coarse["voxel_offset"]) == ([8, 8, 30], [50, -10, 7])
    assert (values(sherd, "two") == data).all()

    sherd.ok("copy", "two", "three", "--resolution", "5,5,50", "--voxel-offset", "6,8,-9")
    fine, coarse = info_of(tmp_path / "three")["scales"]
    assert (fine["key"], fine["resolution"], fine["voxel_offset"]) == ("5_5_50", [5, 5, 50], [6, 8, -9])
    assert (coarse["resolution"], coarse["voxel_offset"]) == ([10, 10, 50], [3, 4, -9])
    assert (values(sherd, "three") == data).all() and (values(sherd, "three", "--scale", "1") == values(sherd, "two", "--scale", "1")).all()


def test_a_chosen_position_becomes_that_of_an_ome_ngff_image(sherd, tmp_path):
    volume(sherd, tmp_path)
    sherd.ok("copy", "em", "em.zarr", "--to", "zarr3", "--resolution", "4,5,30", "--voxel-offset", "100,-20,7")
    (image,) = json.loads((tmp_path / "em.zarr/zarr.json").read_text())["attributes"]["ome"]["multiscales"]
    assert [axis["unit"] for axis in image["axes"]] == ["nanometer"] * 3
    assert image["datasets"][0]["coordinateTransformations"] == [
        {"type": "scale", "scale": [30, 5, 4]}, {"type": "translation", "translation": [210, -100, 400]}]


def test_a_resolution_replaces_spacing_and_units_of_an_array(sherd, tmp_path):
    sherd.ok("create", "a.zarr", "--shape", "8,8,8", "--dtype", "uint8", "--dimension-names", "z,y,x", "--attributes",
             '{"spacing": [2, 1, 1], "units": ["um", "um", "um"]}')
    sherd.ok("copy", "a.zarr", "em", "--to", "precomputed", "--resolution", "4,4,40")
    assert info_of(tmp_path / "em")["scales"][0]["resolution"] == [4, 4, 40]


@pytest.mark.parametrize(("options", "says"), [
    (["--resolution", "4,4"], "--resolution: '4,4' is not 3 numbers"),
    (["--resolution", "4,4,0"], "--resolution: '4,4,0' must contain only positive numbers"),
    (["--voxel-offset", "1.5,0,0"], "--voxel-offset: '1.5,0,0' is not three whole numbers"),
    (["--voxel-offset", "101,0,0"], "--voxel-offset: 101 along x is not at the edge of a voxel of scale 1"),
])
def test_a_position_that_a_volume_cannot_have_is_a_usage_error(sherd, tmp_path, options, says):
    volume(sherd, tmp_path)
    sherd.ok("copy", "em", "two", "--pyramid", "mean:1")
    ran = sherd("copy", "two", "three", *options)
    assert ran.code == 2 and says in ran.stderr, ran.stderr
    assert not (tmp_path / "three").exists()


def test_a_position_is_of_images_only(sherd, tmp_path):
    sherd.ok("create", "a.zarr", "--shape", "8,8", "--dtype", "uint8")
    ran = sherd("copy", "a.zarr", "b.zarr", "--resolution", "4,4,4")
    assert ran.code == 2 and "--resolution: can only be used with a pyramid, or with a volume" in ran.stderr


def test_a_volume_is_linked_to_its_collections_and_unlinked(sherd, tmp_path):
    volume(sherd, tmp_path)
    (tmp_path / "7.swc").write_text(SWC)
    (tmp_path / "7.obj").write_text(OBJ)
    sherd.ok("import", "7.swc", "em/skeletons")
    sherd.ok("import", "7.obj", "meshes")
    assert json.loads(sherd.ok("link", "em", "--json").stdout) == {"mesh": None, "skeletons": None, "segment_properties": None}
    ran = sherd.ok("link", "em", "--mesh", "../meshes", "--skeletons", "skeletons")
    assert ran.stdout.decode() == "mesh\t../meshes\nskeletons\tskeletons\n"
    assert info_of(tmp_path / "em")["mesh"] == "../meshes"
    sherd.ok("link", "em", "--unlink", "mesh")
    assert "mesh" not in info_of(tmp_path / "em")
    before = (tmp_path / "em/info").read_bytes()
    for options, code, says in (["--mesh", "skeletons"], 2, "holds skeletons, not meshes"), (["--mesh", "x"], 3, "sherd: --mesh: there are no meshes"):
        ran = sherd("link", "em", *options)
        assert ran.code == code and says in ran.stderr, ran.stderr
    assert (tmp_path / "em/info").read_bytes() == before


def test_dangling_links_of_a_copy_are_reported_and_dropped_on_request(sherd, tmp_path):
    volume(sherd, tmp_path)
    (tmp_path / "7.swc").write_text(SWC)
    (tmp_path / "7.obj").write_text(OBJ)
    sherd.ok("import", "7.swc", "em/skeletons")
    sherd.ok("import", "7.obj", "meshes")
    sherd.ok("link", "em", "--mesh", "../meshes", "--skeletons", "skeletons")
    (tmp_path / "there").mkdir()
    ran = sherd.ok("copy", "em", "there/kept")
    assert "the member 'mesh' is kept, but '../meshes' is not part of the copy" in ran.stderr and "skeletons'" not in ran.stderr
    assert info_of(tmp_path / "there/kept")["mesh"] == "../meshes"
    report = json.loads(sherd.ok("copy", "em", "there/dropped", "--dangling", "drop", "--json").stdout)
    assert (report["dangling_kept"], report["dangling_dropped"]) == ({}, {"mesh": "../meshes"})
    info = info_of(tmp_path / "there/dropped")
    assert "mesh" not in info and info["skeletons"] == "skeletons" and (tmp_path / "there/dropped/skeletons/7").exists()


def test_a_copy_says_which_collections_it_does_not_have(sherd, tmp_path):
    volume(sherd, tmp_path)
    (tmp_path / "7.swc").write_text(SWC)
    sherd.ok("import", "7.swc", "em/skeletons")
    sherd.ok("import", "7.swc", "em/spare")
    sherd.ok("link", "em", "--skeletons", "skeletons")
    notes = sherd.ok("copy", "em", "copied").stderr
    assert "em/spare is not part of this copy; copy it by itself" in notes and "em/skeletons" not in notes
    assert not (tmp_path / "copied/spare").exists()
    sherd.ok("copy", "em/spare", "copied/spare")
    assert (tmp_path / "copied/spare/7").exists()


def test_a_scale_is_chosen_by_its_resolution(sherd, tmp_path):
    volume(sherd, tmp_path)
    sherd.ok("copy", "em", "two", "--pyramid", "mean:1")
    assert (values(sherd, "two", "--resolution", "16,16,40") == values(sherd, "two", "--scale", "1")).all()
    ran = sherd("read", "two", "--resolution", "8,8,41")
    assert ran.code == 3 and "has no scale of 8,8,41 nm; it has 8,8,40 or 16,16,40" in ran.stderr
    assert sherd("read", "two", "--resolution", "8,8,40", "--scale", "1").code == 2
    sherd.ok("export", "two", "two.npy", "--resolution", "16,16,40")
    assert numpy.load(tmp_path / "two.npy").size == 20 * 15 * 20


def test_a_skeleton_goes_from_swc_into_a_collection_and_back(sherd, tmp_path):
    (tmp_path / "17_axon.swc").write_text(SWC)
    ran = sherd.ok("import", "17_axon.swc", "bones")
    assert "as object 17 of bones: 2 vertices, 1 edge, 1000 to 4000, 2000 to 5000, 3000 to 6000 nm" in ran.stderr
    sherd.ok("export", "bones", "out.swc", "--id", "17")
    assert (tmp_path / "out.swc").read_text() == "# id type x y z radius parent\n" + SWC
    assert sherd.ok("export", "bones", "-", "--to", "swc", "--id", "17", "--units", "nm").stdout.startswith(
        b"# id type x y z radius parent\n1 1 1000 2000 3000 500 -1\n")
    assert sherd("import", "17_axon.swc", "bones").code == 6
    sherd.ok("import", "17_axon.swc", "bones", "--overwrite", "--units", "nm")
    sherd.ok("import", "-", "bones", "--from", "swc", "--id", "18", input=SWC.encode())
    assert sherd("export", "bones", "x.swc", "--id", "19").code == 3
    assert sherd("export", "bones", "x.swc").code == 2


def test_the_root_of_an_swc_file_may_have_the_parent_0(sherd, tmp_path):
    (tmp_path / "7.swc").write_text(SWC.replace(" -1\n", " 0\n"))
    assert "2 vertices, 1 edge" in sherd.ok("import", "7.swc", "bones").stderr
    sherd.ok("export", "bones", "out.swc", "--id", "7")
    assert (tmp_path / "out.swc").read_text().endswith(SWC)


def test_a_mesh_goes_from_obj_and_ply_into_a_collection_and_back(sherd, tmp_path):
    (tmp_path / "7.obj").write_text(OBJ)
    sherd.ok("import", "7.obj", "meshes")
    report = json.loads(sherd.ok("export", "meshes", "7.ply", "--id", "7", "--json").stdout)
    assert report == {"id": 7, "vertices": 3, "triangles": 1, "lower_bound": [0, 0, 0], "upper_bound": [10, 10, 0], "created": False}
    sherd.ok("import", "7.ply", "meshes", "--id", "8")
    sherd.ok("export", "meshes", "8.obj", "--id", "8")
    assert (tmp_path / "8.obj").read_text() == OBJ


@pytest.mark.parametrize(("name", "text", "says"), [
    ("7.swc", "1 1 0 0 0 1 2\n", "7.swc: line 1: the parent 2 is not a vertex"),
    ("7.obj", "v 0 0 0\nf 1 1 2\n", "7.obj: line 2: there is no vertex 2"),
    ("7.ply", "ply\n", "7.ply: the header does not end"),
    ("7.swc", "# empty\n", "7.swc: there are no vertices"),
])
def test_a_damaged_file_is_corrupt_and_makes_nothing(sherd, tmp_path, name, text, says):
    (tmp_path / name).write_text(text)
    ran = sherd("import", name, "objects")
    assert ran.code == 4 and says.partition(": ")[2] in ran.stderr and name in ran.stderr, ran.stderr
    assert not (tmp_path / "objects").exists()


@pytest.mark.parametrize("options", [["--shape", "1,2"], ["--chunks", "8"], ["--axes", "zyx"], ["--voxel-offset", "0,0,0"]])
def test_options_of_arrays_are_refused_for_objects(sherd, tmp_path, options):
    (tmp_path / "7.obj").write_text(OBJ)
    assert sherd("import", "7.obj", "meshes", *options).code == 2


def test_annotations_are_built_from_a_table(sherd, tmp_path):
    options = ["--type", "point", "--resolution", "8,8,40", "--property", "score:float32", "--property",
               '{"id": "kind", "type": "uint8", "enum_values": [0, 1], "enum_labels": ["axon", "soma"]}', "--relationship", "segment"]
    ran = sherd.ok("annotations", "build", "synapses", *options, input=TABLE.encode())
    assert "wrote 2 annotations into synapses: 1 spatial level with 1 cell, 2 related objects" in ran.stderr
    assert "'comment' is not used" in ran.stderr
    info = info_of(tmp_path / "synapses")
    assert info["dimensions"] == {"x": [8e-9, "m"], "y": [8e-9, "m"], "z": [4e-8, "m"]}
    assert (info["lower_bound"], info["upper_bound"]) == ([1, 2, 3], [30, 20, 10])
    sherd.ok("check", "synapses", "--data")
    assert sherd("annotations", "build", "synapses", *options, input=TABLE.encode()).code == 6
    report = sherd.ok("annotations", "build", "synapses", *options, "--overwrite", "--json", "--sharding", "none", input=TABLE.encode())
    assert json.loads(report.stdout) == {"annotations": 2, "levels": 1, "cells": 1, "related": 2}
    one = (tmp_path / "synapses/by_id/7").read_bytes()
    assert one == numpy.array([1, 2, 3, 0.5], "<f4").tobytes() + bytes(4) + numpy.array([2, 0], "<u4").tobytes()[:4] + numpy.array([17, 18], "<u8").tobytes()


@pytest.mark.parametrize(("kind", "row"), [
    ("line", {"points": [[1, 2, 3], [4, 5, 6]]}),
    ("box", {"points": [[1, 2, 3], [4, 5, 6]]}),
    ("ellipsoid", {"center": [1, 2, 3], "radii": [4, 5, 6]}),
    ("polyline", {"points": [[1, 2, 3], [4, 5, 6], [7, 8, 9]]}),
])
def test_annotations_of_each_type_are_built_from_lines_of_json(sherd, tmp_path, kind, row):
    rows = [row | {"id": "18446744073709551615", "color": "#ff8000", "near": 5}, row | {"color": [1, 2, 3], "near": [5, 6]}]
    text = "\n".join(map(json.dumps, rows))
    sherd.ok("annotations", "build", "a", "--type", kind, "--dimensions", '{"x": [1, "m"], "y": [1, "m"], "z": [1, "m"]}', "--format",
             "json", "--property", "color:rgb", "--relationship", "near", "--sharding", "none", input=text.encode())
    assert sorted(each.name for each in (tmp_path / "a/by_id").iterdir()) == ["1", "18446744073709551615"]
    assert sorted(each.name for each in (tmp_path / "a/rel_near").iterdir()) == ["5", "6"]


@pytest.mark.parametrize(("text", "says"), [
    ("x,y\n1,2\n", "line 1: there is no column 'z'"),
    ("x,y,z,score\n1,2,3,\n", "line 2: value 4: '' is not a number"),
    ("x,y,z,score\n1,2,3\n", "line 2: has 3 values, but there are 4 columns"),
    ("x,y,z,score\n1,2,1e99,0\n", "line 2: value 3: a coordinate must be a finite number"),
    ("id,x,y,z,score\n1,1,1,1,0\n1,2,2,2,0\n", "annotations 0 and 1 have the same id, 1"),
    ("id,x,y,z,score\n-1,1,1,1,0\n", "line 2: value 1: an id must be an integer"),
    ('x,y,z,score\n1,2,"3,0\n', "line 2: a quoted value must end on the line"),
])
def test_a_wrong_table_names_the_line_and_writes_nothing(sherd, tmp_path, text, says):
    ran = sherd("annotations", "build", "a", "--type", "point", "--resolution", "8,8,40", "--property", "score:float32", input=text.encode())
    assert ran.code == 2 and says in ran.stderr, ran.stderr
    assert not (tmp_path / "a").exists()
