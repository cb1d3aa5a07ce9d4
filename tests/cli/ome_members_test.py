"""Members of OME-NGFF groups: labels join their image, and its metadata follow what is renamed and erased."""

import json

import numpy
import pytest

VALUES = numpy.arange(8 * 16 * 20, dtype="uint16").reshape(8, 16, 20)


def ome_of(path):
    """The metadata of a group in either version."""
    if (path / "zarr.json").exists():
        return json.loads((path / "zarr.json").read_text())["attributes"]["ome"]
    return json.loads((path / ".zattrs").read_text())


def levels_of(path):
    """The path and the scale of each resolution, and the units of space."""
    (image,) = ome_of(path)["multiscales"]
    scales = [(level["path"], level["coordinateTransformations"][0]["scale"]) for level in image["datasets"]]
    return scales, [axis.get("unit") for axis in image["axes"]]


@pytest.fixture(params=["zarr3", "zarr2"])
def image(sherd, tmp_path, request):
    """Three resolutions of 1 x 0.25 x 0.25 micrometres, with the labels a and b."""
    numpy.save(tmp_path / "i.npy", VALUES)
    numpy.save(tmp_path / "l.npy", VALUES // 100)
    sherd.ok("import", "i.npy", "i", "--axes", "z,y,x", "--spacing", "1,.25,.25", "--units", "um", "--pyramid", "mean:2",
             "--store-format", request.param)
    for name in "ab":
        sherd.ok("import", "l.npy", f"i/labels/{name}", "--axes", "z,y,x")
    return tmp_path / "i"


def test_labels_without_spacing_have_that_of_their_image(sherd, image, tmp_path):
    sherd.ok("import", "l.npy", "array", "--axes", "z,y,x")
    sherd.ok("copy", "array", "i/labels/copied")
    assert levels_of(image) == ([("0", [1, .25, .25]), ("1", [1, .5, .5]), ("2", [1, 1, 1])], ["micrometer"] * 3)
    for name in ("a", "copied"):
        assert levels_of(image / "labels" / name) == levels_of(image)
    sherd.ok("check", "i", "--data")


def test_labels_of_other_lengths_or_with_a_spacing_keep_what_they_have(sherd, image, tmp_path):
    sherd.ok("import", "l.npy", "i/labels/spaced", "--axes", "z,y,x", "--spacing", "2,2,2", "--units", "nm")
    numpy.save(tmp_path / "half.npy", VALUES[:, ::2, ::2])
    said = sherd.ok("import", "half.npy", "i/labels/half", "--axes", "z,y,x").stderr
    note = f"the labels have {VALUES.shape[1] // 2} elements along y, and the image {VALUES.shape[1]}: their spacing and position"
    assert note in said and "are not known" not in sherd.ok("import", "l.npy", "i/labels/same", "--axes", "z,y,x").stderr
    sherd.ok("import", "half.npy", "half.zarr", "--axes", "z,y,x")
    assert note in sherd.ok("copy", "half.zarr", "i/labels/copied").stderr
    assert "not known" not in sherd.ok("copy", "half.zarr", "i/labels/sized", "--resolution", "2,2,1").stderr
    assert levels_of(image / "labels/spaced")[0][0] == ("0", [2, 2, 2])
    assert levels_of(image / "labels/half")[0][0] == ("0", [1, 1, 1])
    sherd.ok("check", "i")


def test_an_import_without_a_pyramid_makes_labels_of_an_image(sherd, image):
    assert ome_of(image / "labels")["labels"] == ["a", "b"]
    assert "image-label" in ome_of(image / "labels/a")
    assert sherd.ok("info", "i", "--json").json["image"]["labels"] == ["a", "b"]


def test_an_import_to_labels_without_an_image_says_so(sherd, image):
    note = "x/labels/a is a plain array, not labels"
    assert note in sherd.ok("import", "l.npy", "x/labels/a", "--axes", "z,y,x").stderr
    assert "not labels" not in sherd.ok("import", "l.npy", "i/labels/c", "--axes", "z,y,x").stderr


def test_metadata_follow_renamed_labels_and_resolutions(sherd, image):
    sherd.ok("rename", "i/labels/a", "cells")
    sherd.ok("rename", "i/1", "i/half")
    assert ome_of(image / "labels")["labels"] == ["cells", "b"]
    assert [path for path, _ in levels_of(image)[0]] == ["0", "half", "2"]
    sherd.ok("check", "i", "--data")


def test_metadata_no_longer_list_what_is_erased_or_moved_away(sherd, image):
    assert "no longer list 2" in sherd.ok("rm", "i/2").stderr
    sherd.ok("rm", "-r", "i/labels/a")
    sherd.ok("rename", "i/labels/b", "/other")
    assert ome_of(image / "labels")["labels"] == [] and len(levels_of(image)[0]) == 2


def test_labels_that_move_to_another_image_are_listed_there(sherd, image, tmp_path):
    sherd.ok("copy", "i", "root.zarr/one")
    sherd.ok("copy", "i", "root.zarr/two", "--pyramid", "mean:2")  # without labels
    sherd.ok("rename", "root.zarr/one/labels/a", "/two/labels/cells")
    assert ome_of(tmp_path / "root.zarr/one/labels")["labels"] == ["b"]
    assert ome_of(tmp_path / "root.zarr/two/labels")["labels"] == ["cells"]
    sherd.ok("rename", "root.zarr/one/labels/b", "/two/labels/b")
    assert ome_of(tmp_path / "root.zarr/two/labels")["labels"] == ["cells", "b"]
    assert sherd.ok("info", "root.zarr/two", "--json").json["image"]["labels"] == ["cells", "b"]
    for name in ("one", "two"):
        sherd.ok("check", f"root.zarr/{name}", "--data")


def test_what_is_no_image_of_labels_is_not_listed_among_them(sherd, image, tmp_path):
    sherd.ok("copy", "i", "root.zarr/one")
    sherd.ok("copy", "i/0", "root.zarr/array")
    sherd.ok("rename", "root.zarr/array", "/one/labels/array")
    assert ome_of(tmp_path / "root.zarr/one/labels")["labels"] == ["a", "b"]


@pytest.fixture
def plate(sherd, tmp_path):
    """Two rows and two columns with the wells A/1 and B/2, of one image each."""
    plate = {"rows": [{"name": "A"}, {"name": "B"}], "columns": [{"name": "1"}, {"name": "2"}], "version": "0.5", "wells": [
        {"path": "A/1", "rowIndex": 0, "columnIndex": 0}, {"path": "B/2", "rowIndex": 1, "columnIndex": 1}]}
    numpy.save(tmp_path / "i.npy", VALUES)
    sherd.ok("create", "p.zarr", "--group", "--attributes", json.dumps({"ome": {"version": "0.5", "plate": plate}}))
    for well in ("A/1", "B/2"):
        images = {"ome": {"version": "0.5", "well": {"images": [{"path": "0"}]}}}
        sherd.ok("create", f"p.zarr/{well}", "--group", "--attributes", json.dumps(images))
        sherd.ok("import", "i.npy", f"p.zarr/{well}/0", "--axes", "z,y,x", "--pyramid", "mean:1")
    sherd.ok("check", "p.zarr")
    return tmp_path / "p.zarr"


def test_the_wells_of_a_plate_follow_what_is_renamed_and_erased(sherd, plate):
    sherd.ok("rename", "p.zarr/A/1", "2")
    assert ome_of(plate)["plate"]["wells"][0] == {"path": "A/2", "rowIndex": 0, "columnIndex": 1}
    sherd.ok("check", "p.zarr")
    sherd.ok("rm", "-r", "p.zarr/A")
    assert [well["path"] for well in ome_of(plate)["plate"]["wells"]] == ["B/2"]
    sherd.ok("check", "p.zarr")


def test_a_well_that_left_the_grid_of_its_plate_is_not_listed(sherd, plate):
    sherd.ok("rename", "p.zarr/A/1", "/other/1")
    assert [well["path"] for well in ome_of(plate)["plate"]["wells"]] == ["B/2"]


def test_the_last_resolution_stays_listed(sherd, image):
    for level in "210":
        sherd.ok("rm", f"i/{level}")
    assert [path for path, _ in levels_of(image)[0]] == ["0"]
    assert sherd("check", "i").code == 1


def test_metadata_of_other_programs_are_left_alone(sherd, tmp_path):
    sherd.ok("create", "g", "--group", "--store-format", "zarr2", "--attributes", '{"labels": ["a"], "multiscales": 3}')
    sherd.ok("create", "g/a", "--shape", "2", "--dtype", "uint8")
    before = (tmp_path / "g/.zattrs").read_bytes()
    sherd.ok("rename", "g/a", "b")
    sherd.ok("rm", "g/b")
    assert (tmp_path / "g/.zattrs").read_bytes() == before


def test_a_copy_says_which_labels_it_does_not_have(sherd, image):
    note = "labels are not part of this copy: a, b; copy them from "
    assert f"warning: {note}i/labels\n" in sherd.ok("copy", "i", "j", "--pyramid", "mean").stderr
    listed = sherd.ok("copy", "i", "j", "--pyramid", "mean", "--overwrite", "--json").json["warnings"]
    assert listed == [f"{note}file://{sherd.folder}/i/labels"]
    assert "labels" not in sherd.ok("copy", "i", "k").stderr


@pytest.mark.parametrize("count, colours", [(1, ["FFFFFF"]), (3, ["FF0000", "00FF00", "0000FF"])])
def test_several_channels_without_colours_have_different_ones(sherd, tmp_path, count, colours):
    numpy.save(tmp_path / "c.npy", VALUES[:count])
    channels = [{"label": str(i)} for i in range(count)]
    sherd.ok("import", "c.npy", "c", "--axes", "c,y,x", "--attributes", json.dumps({"channels": channels}), "--pyramid", "mean")
    assert [channel["color"] for channel in ome_of(tmp_path / "c")["omero"]["channels"]] == colours
