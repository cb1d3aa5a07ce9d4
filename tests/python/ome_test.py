"""Images by OME-NGFF from Python: what zarr-python writes is found, and files become images."""

import concurrent.futures
import json

import numpy
import pytest
import sherd
import tifffile
import zarr

VALUES = numpy.random.default_rng(4).integers(0, 200, (2, 6, 16, 20)).astype(numpy.uint16)


def make_image(path, label=False, scale=1.0):
    levels = [{"path": f"s{i}", "coordinateTransformations": [
        {"type": "scale", "scale": [1, 2, scale * 2**i, scale * 2**i]},
        {"type": "translation", "translation": [0, 5, scale * (2**i - 1) / 2, scale * (2**i - 1) / 2]}]} for i in (0, 1)]
    axes = [{"name": "c", "type": "channel"}] + [{"name": name, "type": "space", "unit": "micrometer"} for name in "zyx"]
    ome = {"version": "0.5", "multiscales": [{"name": "cells", "axes": axes, "datasets": levels}],
           "omero": {"channels": [{"label": "DAPI", "color": "0000FF"}, {"label": "GFP"}]}}
    if label:
        ome["image-label"] = {}
    group = zarr.create_group(path, attributes={"ome": ome})
    for i in (0, 1):
        group.create_array(f"s{i}", data=VALUES[:, :, ::2**i, ::2**i], dimension_names=list("czyx"))


def test_an_image_has_axes_levels_and_channels(tmp_path):
    make_image(tmp_path / "i", scale=.25)
    image = sherd.ome.open(tmp_path / "i")
    assert [(axis.name, axis.type, axis.unit) for axis in image.axes][:2] == [("c", "channel", None), ("z", "space", "micrometer")]
    assert (image.name, image.version, image.is_label) == ("cells", "0.5", False)
    assert [level.path for level in image.levels] == ["s0", "s1"]
    assert image.levels[1].scale == (1, 2, .5, .5) and image.levels[1].translation == (0, 5, .125, .125)
    assert image.levels[1].shape == (2, 6, 8, 10)
    numpy.testing.assert_array_equal(image.levels[1].array[...], VALUES[:, :, ::2, ::2])
    assert [channel["label"] for channel in image.channels] == ["DAPI", "GFP"] and len(image.labels) == 0


def test_metadata_follow_moved_and_erased_members(tmp_path):
    make_image(tmp_path / "i")
    zarr.create_group(tmp_path / "i/labels", attributes={"ome": {"version": "0.5", "labels": ["a", "b"]}})
    for name in "ab":
        make_image(tmp_path / "i/labels" / name, label=True)
    group = sherd.open_group(tmp_path / "i", mode="r+")
    labels = group["labels"]
    labels.move("a", "cells")
    assert labels.attrs["ome"]["labels"] == ["cells", "b"]
    del group["labels/b"]
    group.move("s1", "half")
    assert [level["path"] for level in group.attrs["ome"]["multiscales"][0]["datasets"]] == ["s0", "half"]
    assert zarr.open_group(tmp_path / "i/labels").attrs["ome"]["labels"] == ["cells"]
    image = sherd.ome.open(tmp_path / "i")
    assert list(image.labels) == ["cells"] and [level.path for level in image.levels] == ["s0", "half"]


def test_labels_that_move_to_another_image_are_listed_there(tmp_path):
    zarr.create_group(tmp_path / "g")
    for name in ("one", "two"):
        make_image(tmp_path / "g" / name)
    zarr.create_group(tmp_path / "g/one/labels", attributes={"ome": {"version": "0.5", "labels": ["a"]}})
    make_image(tmp_path / "g/one/labels/a", label=True)
    make_image(tmp_path / "g/one/labels/plain")
    group = sherd.open_group(tmp_path / "g", mode="r+")
    group.move("one/labels/a", "two/labels/cells")
    group.move("one/labels/plain", "two/labels/plain")
    assert zarr.open_group(tmp_path / "g/one/labels").attrs["ome"]["labels"] == []
    assert zarr.open_group(tmp_path / "g/two/labels").attrs["ome"] == {"version": "0.5", "labels": ["cells"]}
    assert list(sherd.ome.open(tmp_path / "g/two").labels) == ["cells"]
    del group["two/labels/cells"]
    assert zarr.open_group(tmp_path / "g/two/labels").attrs["ome"]["labels"] == []


def test_labels_that_are_made_at_the_same_time_are_all_listed(tmp_path):
    make_image(tmp_path / "i")
    numpy.save(tmp_path / "labels.npy", numpy.zeros((2, 8, 8), "u2"))
    sherd.create_array(tmp_path / "plain", data=numpy.zeros((2, 8, 8), "u2"), dimension_names=("z", "y", "x"))

    def make(number):
        target = tmp_path / f"i/labels/n{number}"
        if number % 2:
            sherd.import_(tmp_path / "labels.npy", target, axes="zyx")
        else:
            sherd.copy(tmp_path / "plain", target)

    for base in (0, 8):
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            list(pool.map(make, range(base, base + 8)))
        assert sorted(sherd.ome.open(tmp_path / "i").labels) == sorted(f"n{number}" for number in range(base + 8))


def test_a_list_of_labels_without_a_version_is_copied_to_0_4(tmp_path):
    """ome-zarr-py 0.18 writes it so."""
    make_image(tmp_path / "i")
    zarr.create_group(tmp_path / "i/labels", attributes={"ome": {"labels": ["a"]}})
    make_image(tmp_path / "i/labels/a", label=True)
    sherd.copy(tmp_path / "i", tmp_path / "old", to="zarr2")
    assert json.loads((tmp_path / "old/labels/.zattrs").read_text()) == {"labels": ["a"]}
    assert "labels/.zgroup" not in [fault["key"] for fault in sherd.check(tmp_path / "old")["faults"]]


def test_labels_are_images_of_their_own(tmp_path):
    make_image(tmp_path / "i")
    zarr.create_group(tmp_path / "i/labels", attributes={"ome": {"version": "0.5", "labels": ["nuclei"]}})
    make_image(tmp_path / "i/labels/nuclei", label=True)
    image = sherd.ome.open(tmp_path, path="i")
    assert list(image.labels) == ["nuclei"] and repr(image.labels) == "<Labels nuclei>" and image.labels["nuclei"].is_label
    numpy.testing.assert_array_equal(image.labels["nuclei"].levels[0].array[...], VALUES)
    with pytest.raises(KeyError):
        image.labels["cells"]


def test_a_level_whose_array_is_missing_is_found_when_it_is_read(tmp_path):
    make_image(tmp_path / "i")
    zarr.open_group(tmp_path / "i").__delitem__("s1")
    image = sherd.ome.open(tmp_path / "i")
    with pytest.raises(sherd.NotFound):
        image.levels[1].array


def test_what_is_not_an_image_is_refused(tmp_path):
    make_image(tmp_path / "i")
    for path in ("i/s0", "i/labels"):
        zarr.create_group(tmp_path / "i/labels", overwrite=True)
        with pytest.raises(sherd.InvalidArgument, match="not an OME-NGFF image"):
            sherd.ome.open(tmp_path / path)
    with pytest.raises(sherd.NotFound):
        sherd.ome.open(tmp_path / "other")


def test_a_file_is_imported_into_a_pyramid(tmp_path):
    tifffile.imwrite(tmp_path / "a.tif", VALUES, ome=True, metadata={"axes": "CZYX", "PhysicalSizeX": .25, "PhysicalSizeY": .25, "PhysicalSizeZ": 2})
    array = sherd.import_(tmp_path / "a.tif", tmp_path / "i", pyramid="mean:2", factors={"y": 2, "x": 4})
    numpy.testing.assert_array_equal(array[...], VALUES)
    image = sherd.ome.open(tmp_path / "i")
    assert [level.shape for level in image.levels] == [(2, 6, 16, 20), (2, 6, 8, 5), (2, 6, 4, 2)]
    assert sherd.check(tmp_path / "i")["ok"]
    with pytest.raises(sherd.InvalidArgument, match="pyramid"):
        sherd.import_(tmp_path / "a.tif", tmp_path / "j", factors=[1, 2, 2])


def test_an_attribute_ome_that_is_no_object_is_warned_of(tmp_path):
    zarr.create_group(tmp_path / "g", attributes={"ome": "0.5"})
    [fault] = sherd.check(tmp_path / "g")["faults"]
    assert (fault["severity"], fault["code"]) == ("warning", "ome_metadata") and "is not an object" in fault["message"]


def test_an_image_of_0_3_is_opened_and_copied(tmp_path):
    attributes = {"multiscales": [{"version": "0.3", "axes": list("czyx"), "datasets": [{"path": "0"}, {"path": "1"}]}]}
    group = zarr.create_group(tmp_path / "i", attributes=attributes, zarr_format=2)
    for i in (0, 1):
        group.create_array(str(i), data=VALUES[:, :, ::2**i, ::2**i])
    image = sherd.ome.open(tmp_path / "i")
    assert image.version == "0.3" and [axis.type for axis in image.axes] == ["channel", "space", "space", "space"]
    assert image.levels[1].scale == (1, 1, 2, 2) and image.levels[1].translation == (0, 0, .5, .5)
    sherd.copy(tmp_path / "i", tmp_path / "o", to="zarr3")
    assert sherd.ome.open(tmp_path / "o").version == "0.5" and sherd.check(tmp_path / "o")["faults"] == []
    group.attrs["multiscales"] = [attributes["multiscales"][0] | {"axes": list("zyx")}]
    with pytest.raises(sherd.Corrupt, match=r"'.zattrs' multiscales\[0\].datasets\[0\].path: .* 4 dimensions"):
        sherd.ome.open(tmp_path / "i")


def test_an_append_to_the_finest_level_alone_is_found_by_check(tmp_path):
    make_image(tmp_path / "i")
    array = sherd.open_array(tmp_path / "i/s0", mode="r+")
    array.append(VALUES[:, :, :, :8], axis=3)
    (fault,) = [fault for fault in sherd.check(tmp_path / "i")["faults"] if fault["code"] == "level_shape"]
    assert fault["severity"] == "warning" and "datasets[1]'" in fault["message"]
