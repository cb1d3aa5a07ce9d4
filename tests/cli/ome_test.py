"""OME-NGFF: `check` agrees with ome-zarr-models, and what `copy` and `import` write passes both and is read by ome-zarr."""

import copy
import json

import numpy
import pytest
import tifffile
import zarr

VALUES = numpy.random.default_rng(3).integers(0, 200, (2, 6, 16, 20)).astype(numpy.uint16)


def axes(names="zyx"):
    kinds = {"t": "time", "c": "channel"}
    return [{"name": name, "type": kinds.get(name, "space")} for name in names]


def dataset(path, scale, translation=None):
    steps = [{"type": "scale", "scale": scale}]
    if translation:
        steps.append({"type": "translation", "translation": translation})
    return {"path": path, "coordinateTransformations": steps}


def make_image(path, version=3, names="zyx", ome=None, dtype="uint16", levels=2):
    """A good image; the arrays are as the axes are."""
    ome = ome or {"multiscales": [{"axes": axes(names), "datasets": [
        dataset(str(i), [2.0**i] * len(names), [0.5 * i] * len(names)) for i in range(levels)]}]}
    if version == 3:
        attributes = {"ome": {"version": "0.5", **ome}}
    else:
        attributes = copy.deepcopy(ome)
        for image in attributes["multiscales"]:
            image["version"] = "0.4"
    group = zarr.create_group(path, attributes=attributes, zarr_format=version)
    for i in range(levels):
        shape = tuple(max(1, 8 >> i) for _ in names)
        group.create_array(str(i), shape=shape, dtype=dtype, chunks=shape, dimension_names=list(names) if version == 3 else None)
    return group


def edit(path, change):
    """Changes OME-NGFF's members of a group."""
    document = path / "zarr.json"
    if document.exists():
        json_ = json.loads(document.read_text())
        change(json_["attributes"].setdefault("ome", {"version": "0.5"}))
    else:
        document = path / ".zattrs"
        json_ = json.loads(document.read_text()) if document.exists() else {}
        change(json_)
    document.write_text(json.dumps(json_))


def first(ome):
    return ome["multiscales"][0]


def set_axes(names):
    return lambda ome: first(ome).update(axes=axes(names))


def steps(*list_):
    return lambda ome: first(ome)["datasets"][0].update(coordinateTransformations=list(list_))


SCALE = {"type": "scale", "scale": [1, 1, 1]}
MOVE = {"type": "translation", "translation": [1, 1, 1]}
OMERO = {"channels": [{"color": "00FF00", "window": {"min": 0, "max": 9, "start": 0, "end": 9}}]}
LABEL = {"colors": [{"label-value": 1, "rgba": [1, 2, 3, 4]}], "properties": [{"label-value": 1}], "source": {"image": "../../"}}

# What is changed of a good image, and whether it is good then.
IMAGES = {
    "as it is": (lambda ome: None, True),
    "with a name and a type": (lambda ome: first(ome).update(name="cells", type="gaussian", metadata={"a": 1}), True),
    "axes in another order of space": (set_axes("zyx"), True),
    "channel after space": (set_axes("zxc"), False),
    "time not first": (set_axes("yxt"), False),
    "one axis of space": (set_axes("tcx"), False),
    "two axes of a name": (set_axes("zyy"), False),
    "fewer axes than dimensions": (set_axes("yx"), False),
    "axes are missing": (lambda ome: first(ome).pop("axes"), False),
    "an axis without a name": (lambda ome: first(ome)["axes"][0].pop("name"), False),
    "two axes of other types": (lambda ome: [axis.update(type="q") for axis in first(ome)["axes"][:2]], False),
    "an axis without a type": (lambda ome: first(ome)["axes"][0].pop("type"), True),
    "a unit": (lambda ome: first(ome)["axes"][0].update(unit="micrometer"), True),
    "no datasets": (lambda ome: first(ome).update(datasets=[]), False),
    "no multiscales": (lambda ome: ome.update(multiscales=[]), None),
    "no transformations": (steps(), False),
    "a scale alone": (steps(SCALE), True),
    "two scales": (steps(SCALE, SCALE), False),
    "a translation alone": (steps(MOVE), False),
    "a translation before the scale": (steps(MOVE, SCALE), False),
    "an identity": (steps({"type": "identity"}), False),
    "a rotation": (steps(SCALE, {"type": "rotation"}), False),
    "a scale of two numbers": (steps({"type": "scale", "scale": [1, 1]}), False),
    "a scale of text": (steps({"type": "scale", "scale": "1"}), False),
    "levels from coarse to fine": (lambda ome: first(ome)["datasets"].reverse(), False),
    "a level of another scale on one axis": (lambda ome: first(ome)["datasets"][1].update(dataset("1", [.5, 2, 2])), False),
    "an absent array": (lambda ome: first(ome)["datasets"][1].update(path="9"), False),
    "a path that is not text": (lambda ome: first(ome)["datasets"][1].update(path=1), False),
    "a scale of all levels": (lambda ome: first(ome).update(coordinateTransformations=[SCALE]), True),
    "a translation of all levels": (lambda ome: first(ome).update(coordinateTransformations=[MOVE]), False),
    "channels": (lambda ome: ome.update(omero=OMERO), True),
    "a channel without a window": (lambda ome: ome.update(omero={"channels": [{"color": "00FF00"}]}), "0.5"),
    "a channel of a colour by name": (
        lambda ome: ome.update(omero={"channels": [{**OMERO["channels"][0], "color": "green"}]}), "0.5"),
    "colours of labels": (lambda ome: ome.update({"image-label": LABEL}), True),
    "a colour of three numbers": (lambda ome: ome.update({"image-label": {"colors": [{"label-value": 1, "rgba": [1, 2, 3]}]}}), False),
    "a colour without a label": (lambda ome: ome.update({"image-label": {"colors": [{"rgba": [1, 2, 3, 4]}]}}), False),
    "two colours of a label": (lambda ome: ome.update({"image-label": {"colors": LABEL["colors"] * 2}}), False),
    "properties of another label": (lambda ome: ome.update({"image-label": {**LABEL, "properties": [{"label-value": 2}]}}), False),
    "labels of another version": (lambda ome: ome.update({"image-label": {"version": "0.9"}}), False),
}


def agreed(sherd, peer, path, good):
    """Whether the check and the models find the same."""
    faults = peer("validate", path)["faults"]
    ran = sherd("check", path, "--json")
    found = [fault for fault in ran.json["faults"] if fault["severity"] == "error"]
    assert (not faults) == good, faults
    assert (ran.code == 0) == good and (not found) == good, (found, faults)
    return found


@pytest.mark.parametrize("version", [3, 2])
@pytest.mark.parametrize("name", IMAGES)
def test_check_agrees_with_the_models_about_images(sherd, peer, tmp_path, name, version):
    change, good = IMAGES[name]
    if good is None:
        good = version == 2  # where this is not taken for OME-NGFF's metadata
        if good:
            return
    if isinstance(good, str):
        good = version == 3
    make_image(tmp_path / "i", version)
    edit(tmp_path / "i", change)
    agreed(sherd, peer, tmp_path / "i", good)


@pytest.mark.parametrize("names", ["yx", "cyx", "tcyx", "tczyx", "czyx", "tzyx"])
def test_check_agrees_with_the_models_about_axes(sherd, peer, tmp_path, names):
    make_image(tmp_path / "i", names=names)
    agreed(sherd, peer, tmp_path / "i", True)


@pytest.mark.parametrize("dimensions", [None, ["z", "y", "q"], ["x", "y", "z"]])
def test_dimensions_of_other_names_than_the_axes_are_a_fault(sherd, peer, tmp_path, dimensions):
    group = make_image(tmp_path / "i")
    group.create_array("0", shape=(8, 8, 8), dtype="uint16", dimension_names=dimensions, overwrite=True)
    (fault,) = agreed(sherd, peer, tmp_path / "i", False)
    assert fault["code"] == "ome_node" and "'0'" in fault["message"] and "z, y, x" in fault["message"]


def test_a_group_in_place_of_an_array_is_a_fault(sherd, peer, tmp_path):
    make_image(tmp_path / "i").create_group("0", overwrite=True)
    agreed(sherd, peer, tmp_path / "i", False)


@pytest.mark.parametrize("version", ["0.4", None, "0.3", "0.5-dev", "space"])
def test_the_version_of_an_image_is_that_of_its_format(sherd, peer, tmp_path, version):
    make_image(tmp_path / "i")
    edit(tmp_path / "i", lambda ome: ome.pop("version") if version is None else ome.update(version=version))
    (fault,) = agreed(sherd, peer, tmp_path / "i", False)
    assert fault["code"] == "ome_metadata" and "attributes.ome.version" in fault["message"]


@pytest.mark.parametrize(("attributes", "member"), [
    ({"multiscales": {}}, "multiscales"), ({"multiscales": []}, "multiscales"), ({"multiscales": {"datasets": []}}, "multiscales"),
    ({"image-label": []}, "image-label"), ({"plate": {"version": "0.4"}}, "plate"), ({"well": {"version": "0.4"}}, "well"),
    ({"multiscales": {"layout": []}, "plate": "96 wells", "labels": {}}, None),
])
def test_attributes_that_only_have_names_of_0_4_are_a_warning(sherd, tmp_path, attributes, member):
    group = zarr.create_group(tmp_path / "g", attributes=attributes, zarr_format=2)
    group.create_group("labels", attributes={"labels": {}})
    faults = sherd.ok("check", "g", "--json").json["faults"]
    assert [(fault["key"], fault["code"], fault["severity"]) for fault in faults] == (
        [(".zattrs", "ome_metadata", "warning")] if member else []) + [("labels/.zattrs", "ome_metadata", "warning")]
    assert all("so is not OME-NGFF's" in fault["message"] for fault in faults)
    assert member is None or f"'{member}'" in faults[0]["message"]


def test_channels_without_an_image_are_a_fault(sherd, tmp_path):
    make_image(tmp_path / "i")
    edit(tmp_path / "i", lambda ome: (ome.pop("multiscales"), ome.update(omero=OMERO)))
    ran = sherd("check", "i", "--json")
    (fault,) = ran.json["faults"]
    assert ran.code == 1
    assert fault["code"] == "ome_metadata" and "attributes.ome.multiscales" in fault["message"]


def test_metadata_of_0_4_in_zarr_3_are_a_fault(sherd, tmp_path):
    group = make_image(tmp_path / "i")
    image = group.attrs["ome"]["multiscales"]
    group.attrs.clear()
    group.attrs["multiscales"] = [{"version": "0.4", **image[0]}]
    ran = sherd("check", "i", "--json")
    assert ran.code == 1 and "0.5" in ran.json["faults"][0]["message"]


def make_labels(tmp_path, listed=("a",), levels=2, dtype="int32"):
    make_image(tmp_path / "i")
    labels = zarr.create_group(tmp_path / "i/labels", attributes={"ome": {"version": "0.5", "labels": list(listed)}})
    make_image(tmp_path / "i/labels/a", dtype=dtype, levels=levels)
    return labels


@pytest.mark.parametrize(("options", "good"), [
    ({}, True), ({"listed": []}, True), ({"listed": ["a", "b"]}, False), ({"levels": 1}, False), ({"dtype": "float32"}, False),
    ({"dtype": "bool"}, False), ({"dtype": "uint64"}, True)])
def test_check_agrees_with_the_models_about_labels(sherd, peer, tmp_path, options, good):
    make_labels(tmp_path, **options)
    agreed(sherd, peer, tmp_path / "i", good)


def test_a_group_of_labels_without_a_list_is_a_fault(sherd, peer, tmp_path):
    make_image(tmp_path / "i").create_group("labels")
    agreed(sherd, peer, tmp_path / "i", False)


PLATE = {"rows": [{"name": "A"}, {"name": "B"}], "columns": [{"name": "1"}], "acquisitions": [{"id": 0, "name": "x"}],
         "wells": [{"path": "A/1", "rowIndex": 0, "columnIndex": 0}, {"path": "B/1", "rowIndex": 1, "columnIndex": 0}],
         "field_count": 1, "name": "plate", "version": "0.5"}


def make_plate(path, version=3):
    document = {"plate": {**copy.deepcopy(PLATE), "version": "0.5" if version == 3 else "0.4"}}
    well = {"well": {"images": [{"path": "0", "acquisition": 0}]}}
    wrap = (lambda members: {"ome": {"version": "0.5", **members}}) if version == 3 else (lambda members: members)
    group = zarr.create_group(path, attributes=wrap(document), zarr_format=version)
    row = group.create_group("A")
    row.create_group("1", attributes=wrap(well))
    make_image(path / "A/1/0", version)


PLATES = {
    "as it is": (lambda plate: None, True),  # the well B/1 was not acquired
    "a well in no row": (lambda plate: plate["wells"][0].update(path="C/1"), False),
    "a path of three parts": (lambda plate: plate["wells"][0].update(path="A/1/0"), False),
    "a row of another character": (lambda plate: plate["rows"][0].update(name="A-"), False),
    "a row twice": (lambda plate: plate["rows"].append({"name": "A"}), False),
    "no columns": (lambda plate: plate.pop("columns"), False),
    "no wells": (lambda plate: plate.pop("wells"), None),
    "a well without an index": (lambda plate: plate["wells"][0].pop("rowIndex"), False),
    "a negative acquisition": (lambda plate: plate["acquisitions"].append({"id": -1}), False),
    "another acquisition": (lambda plate: plate["acquisitions"][0].update(id=1), False),
    "no acquisitions": (lambda plate: plate.pop("acquisitions"), True),
    "no fields": (lambda plate: plate.update(field_count=0), False),
}


@pytest.mark.parametrize("version", [3, 2])
@pytest.mark.parametrize("name", PLATES)
def test_check_agrees_with_the_models_about_plates(sherd, peer, tmp_path, name, version):
    change, good = PLATES[name]
    if good is None:
        if version == 2:
            return  # not taken for OME-NGFF's metadata
        good = False
    make_plate(tmp_path / "p", version)
    edit(tmp_path / "p", lambda ome: change(ome["plate"]))
    agreed(sherd, peer, tmp_path / "p", good)


@pytest.mark.parametrize(("images", "good"), [
    ([{"path": "0"}], True), ([{"path": "0"}, {"path": "1"}], True), ([{"path": "0/1"}], False), ([{"path": "0"}] * 2, False),
    ([{"path": "0", "acquisition": "x"}], False), (7, False)])
def test_check_agrees_with_the_models_about_wells(sherd, peer, tmp_path, images, good):
    make_plate(tmp_path / "p")
    edit(tmp_path / "p/A/1", lambda ome: ome["well"].update(images=images))
    agreed(sherd, peer, tmp_path / "p", good)


@pytest.mark.parametrize(("layout", "good"), [(3, True), (2, False)])
def test_check_agrees_with_the_models_about_series(sherd, peer, tmp_path, layout, good):
    zarr.create_group(tmp_path / "s", attributes={"ome": {"version": "0.5", "bioformats2raw.layout": layout}})
    make_image(tmp_path / "s/0")
    agreed(sherd, peer, tmp_path / "s", good)


def ome_of(path):
    return json.loads((path / "zarr.json").read_text())["attributes"]["ome"]


def make_array(path, names, values=VALUES):
    array = zarr.create_array(path, shape=values.shape, dtype=values.dtype, chunks=(2,) * values.ndim, dimension_names=list(names),
                              attributes={"spacing": [float(i + 1) for i in range(values.ndim)], "units": ["um"] * values.ndim})
    array[...] = values
    return array


@pytest.mark.parametrize("options", [[], ["--shards", "2,4,8,8"], ["--chunks", "1,3,8,10"], ["--to", "zarr2"]])
@pytest.mark.parametrize("names", ["zyxc", "zcyx", "yxcz"])
def test_a_copy_has_channels_before_space(sherd, peer, tmp_path, names, options):
    make_array(tmp_path / "a", names)
    sherd.ok("copy", "a", "i", "--pyramid", "mean:1", *options)
    space = "".join(name for name in names if name != "c")
    expected = VALUES.transpose([names.index(name) for name in "c" + space])
    array = zarr.open_array(tmp_path / "i/0", mode="r")
    numpy.testing.assert_array_equal(array[...], expected)
    assert array.attrs["spacing"] == [float(names.index(name) + 1) for name in "c" + space]
    agreed(sherd, peer, tmp_path / "i", True)
    read = peer("read", tmp_path / "i")
    assert read["axes"] == list("c" + space) and read["levels"][0] == list(expected.shape)


def test_a_copy_of_a_sharded_array_has_channels_before_space(sherd, peer, tmp_path):
    array = zarr.create_array(tmp_path / "a", shape=VALUES.shape, dtype="uint16", chunks=(1, 3, 8, 5), shards=(2, 6, 16, 10),
                              dimension_names=list("zyxc"))
    array[...] = VALUES
    sherd.ok("copy", "a", "i", "--pyramid", "mean:1")
    made = zarr.open_array(tmp_path / "i/0", mode="r")
    numpy.testing.assert_array_equal(made[...], VALUES.transpose(3, 0, 1, 2))
    assert (made.chunks, made.shards) == ((5, 1, 3, 8), (10, 2, 6, 16))
    agreed(sherd, peer, tmp_path / "i", True)


def test_an_image_of_one_axis_of_space_is_refused(sherd, tmp_path):
    make_array(tmp_path / "a", "tx", VALUES[0, 0])
    ran = sherd("copy", "a", "i", "--pyramid", "mean")
    assert ran.code == 2 and "two or three of the axes" in ran.stderr and not (tmp_path / "i").exists()


def test_a_plane_becomes_a_volume_of_one_slice(sherd, tmp_path):
    make_array(tmp_path / "a", "yx", VALUES[0, 0])
    sherd.ok("copy", "a", "v", "--to", "precomputed", "--sharding", "none")
    (scale,) = json.loads((tmp_path / "v/info").read_text())["scales"]
    assert scale["size"] == [20, 16, 1] and scale["resolution"] == [2000, 1000, 2000]
    sherd.ok("copy", "v", "b", "--to", "zarr3")
    numpy.testing.assert_array_equal(zarr.open_array(tmp_path / "b" / scale["key"], mode="r")[0], VALUES[0, 0])


def test_an_image_of_0_4_copied_to_zarr_3_names_its_dimensions(sherd, peer, tmp_path):
    make_plate(tmp_path / "p", version=2)
    sherd.ok("copy", "p", "q", "--to", "zarr3")
    agreed(sherd, peer, tmp_path / "q", True)
    assert ome_of(tmp_path / "q")["plate"]["wells"] == PLATE["wells"] and ome_of(tmp_path / "q/A/1")["well"]
    sherd.ok("copy", "q", "r", "--to", "zarr2")
    agreed(sherd, peer, tmp_path / "r", True)


def test_labels_of_0_4_get_as_many_levels_as_their_image(sherd, peer, tmp_path):
    make_image(tmp_path / "i", 2, levels=3)
    zarr.create_group(tmp_path / "i/labels", attributes={"labels": ["a"]}, zarr_format=2)
    labels = make_image(tmp_path / "i/labels/a", 2, dtype="uint8", levels=1)
    labels.attrs["image-label"] = {"version": "0.4"}
    labels["0"][:] = numpy.broadcast_to(numpy.arange(8, dtype="u1"), (8, 8, 8))
    sherd.ok("copy", "i", "o", "--to", "zarr3", "--chunks", "4,4,4")
    assert sherd.ok("check", "o", "--data", "--json").json["faults"] == []
    assert peer("validate", tmp_path / "o/labels/a")["faults"] == []
    copied = zarr.open(tmp_path / "o/labels/a")
    assert copied["1"].shape == (4, 4, 4) and copied["0"].chunks == copied["1"].chunks == (4, 4, 4)
    assert list(copied["2"][0, 0]) == [0, 4]
    sherd.ok("copy", "i", "old", "--chunks", "4,4,4")  # a copy of the same version is as its source
    assert sorted(zarr.open(tmp_path / "old/labels/a")) == ["0"]


def test_names_and_channels_survive_a_copy_with_other_levels(sherd, peer, tmp_path):
    make_image(tmp_path / "i", names="czyx")
    edit(tmp_path / "i", lambda ome: (first(ome).update(name="cells"), ome.update(omero={"channels": [{"label": "DAPI"}] * 8})))
    sherd.ok("copy", "i", "j", "--pyramid", "mean:2")
    agreed(sherd, peer, tmp_path / "j", True)
    ome = ome_of(tmp_path / "j")
    assert first(ome)["name"] == "cells" and [channel["label"] for channel in ome["omero"]["channels"]] == ["DAPI"] * 8
    assert all(channel["window"]["max"] == 65535 for channel in ome["omero"]["channels"])


@pytest.mark.parametrize("format_", ["zarr3", "zarr2"])
def test_a_copy_becomes_labels_of_an_image(sherd, peer, tmp_path, format_):
    make_array(tmp_path / "a", "zyx", VALUES[0])
    sherd.ok("copy", "a", "i", "--pyramid", "mean:2", "--to", format_, "--factors", "1,2,2")
    make_array(tmp_path / "l", "zyx", VALUES[1])
    sherd.ok("copy", "l", "i/labels/cells")
    sherd.ok("copy", "l", "i/labels/nuclei", "--pyramid", "mode", "--ignore-zero")
    agreed(sherd, peer, tmp_path / "i", True)
    labels = zarr.open_group(tmp_path / "i/labels", mode="r").attrs.asdict()
    assert labels.get("ome", labels)["labels"] == ["cells", "nuclei"]
    cells = zarr.open_group(tmp_path / "i/labels/cells", mode="r").attrs.asdict()
    assert cells.get("ome", cells)["image-label"]["source"] == {"image": "../../"}
    shapes = [[zarr.open_array(tmp_path / f"{image}/{level}", mode="r").shape for level in range(3)] for image in ("i", "i/labels/cells")]
    assert shapes[0] == shapes[1] and shapes[0][2] == (6, 4, 5)
    assert sherd.ok("info", "i", "--json").json["image"]["labels"] == ["cells", "nuclei"]


def test_labels_that_do_not_fit_their_image_are_refused(sherd, tmp_path):
    make_array(tmp_path / "a", "zyx", VALUES[0])
    make_array(tmp_path / "f", "zyx", VALUES[0].astype("float32"))
    sherd.ok("copy", "a", "i", "--pyramid", "mean:2")
    for options, text in [(["a", "--pyramid", "mode:1"], "3 levels"), (["a", "--pyramid", "mean"], "must be mode"),
                          (["a", "--type", "image"], "segmentation"), (["f"], "integers")]:
        ran = sherd("copy", options[0], "i/labels/x", *options[1:])
        assert ran.code == 2 and text in ran.stderr, ran.stderr
    assert not (tmp_path / "i/labels/x").exists()


def make_hyperstack(path, kind):
    if kind == "imagej":
        tifffile.imwrite(path, VALUES[None].transpose(0, 2, 1, 3, 4), imagej=True, resolution=(4, 4),
                         metadata={"axes": "TZCYX", "spacing": 2, "unit": "um"})
    else:
        tifffile.imwrite(path, VALUES, ome=True, metadata={
            "axes": "CZYX", "PhysicalSizeX": .25, "PhysicalSizeXUnit": "µm", "PhysicalSizeY": .25, "PhysicalSizeYUnit": "µm",
            "PhysicalSizeZ": 2, "PhysicalSizeZUnit": "µm", "Channel": {"Name": ["DAPI", "GFP"]}})


@pytest.mark.parametrize("format_", ["zarr3", "zarr2"])
@pytest.mark.parametrize("kind", ["ome", "imagej"])
def test_a_hyperstack_is_imported_into_a_pyramid(sherd, peer, tmp_path, kind, format_):
    make_hyperstack(tmp_path / "a.tif", kind)
    sherd.ok("import", "a.tif", "i", "--pyramid", "mean:3", "--store-format", format_)
    agreed(sherd, peer, tmp_path / "i", True)
    numpy.testing.assert_array_equal(zarr.open_array(tmp_path / "i/0", mode="r")[...], VALUES)
    sherd.ok("import", "a.tif", "array", "--store-format", format_)
    sherd.ok("copy", "array", "copied", "--pyramid", "mean:3")
    for path in (tmp_path / "copied").rglob("*"):
        if path.is_file():
            assert path.read_bytes() == (tmp_path / "i" / path.relative_to(tmp_path / "copied")).read_bytes(), path
    read = peer("read", tmp_path / "i")
    assert read["axes"] == list("czyx") and read["levels"] == [[2, 6, 16, 20], [2, 6, 8, 10], [2, 6, 4, 5], [2, 6, 2, 3]]
    (image,) = [sherd.ok("info", "i", "--json").json["image"]]
    assert [level["scale"] for level in image["levels"]][:2] == [[1, 2, .25, .25], [1, 2, .5, .5]]
    lines = [line for line in sherd.ok("info", "i").text.splitlines() if "uint16" in line]
    assert lines[:2] == ["levels      0  (2, 6, 16, 20)  uint16  z 2 micrometer, y 0.25 micrometer, x 0.25 micrometer",
                         "            1  (2, 6, 8, 10)   uint16  z 2 micrometer, y 0.5 micrometer, x 0.5 micrometer"]
    sherd.ok("export", "i/0", "back.tif")
    numpy.testing.assert_array_equal(tifffile.imread(tmp_path / "back.tif"), VALUES)


def test_samples_of_a_picture_come_before_space_in_a_pyramid(sherd, peer, tmp_path):
    values = VALUES[0, :3].transpose(1, 2, 0).astype(numpy.uint8)
    tifffile.imwrite(tmp_path / "a.tif", values, photometric="rgb")
    sherd.ok("import", "a.tif", "i", "--pyramid", "mean:1", "--axes", "y,x,c")
    numpy.testing.assert_array_equal(zarr.open_array(tmp_path / "i/0", mode="r")[...], values.transpose(2, 0, 1))
    agreed(sherd, peer, tmp_path / "i", True)
    sherd.ok("picture", "i", "p.png")


def test_an_import_without_axes_or_over_something_leaves_no_pyramid(sherd, tmp_path):
    numpy.save(tmp_path / "a.npy", VALUES[0])
    ran = sherd("import", "a.npy", "i", "--pyramid", "mean")
    assert ran.code == 2 and "--axes" in ran.stderr and not (tmp_path / "i").exists()
    sherd.ok("import", "a.npy", "i", "--pyramid", "mean", "--axes", "z,y,x")
    assert sherd("import", "a.npy", "i", "--pyramid", "mean", "--axes", "z,y,x").code == 6
    sherd.ok("import", "a.npy", "i", "--pyramid", "mode:1", "--axes", "z,y,x", "--overwrite")
    assert "image-label" in ome_of(tmp_path / "i")


@pytest.mark.parametrize(("factors", "step"), [("3,1,1", (3, 1, 1)), ("4,3,1", (4, 3, 1)), ("x=5,z=2", (2, 1, 5))])
def test_factors_other_than_two_are_means_of_as_many(sherd, tmp_path, factors, step):
    make_array(tmp_path / "a", "zyx", VALUES[0].astype("float64"))
    sherd.ok("copy", "a", "i", "--pyramid", "mean:1", "--factors", factors)
    made = zarr.open_array(tmp_path / "i/1", mode="r")
    shape = tuple(-(-old // each) for old, each in zip((6, 16, 20), step))
    expected = [[[VALUES[0][z * step[0]:(z + 1) * step[0], y * step[1]:(y + 1) * step[1], x * step[2]:(x + 1) * step[2]].mean()
                  for x in range(shape[2])] for y in range(shape[1])] for z in range(shape[0])]
    assert made.shape == shape
    numpy.testing.assert_allclose(made[...], expected)


@pytest.mark.parametrize("dtype", ["float16", "complex64", "complex128"])
def test_a_pyramid_of_small_floats_and_complex_numbers_has_their_means(sherd, tmp_path, dtype):
    values = (VALUES[0] / 7).astype(dtype)
    make_array(tmp_path / "a", "zyx", values)
    sherd.ok("copy", "a", "i", "--pyramid", "mean:1", "--factors", "1,2,2")
    wide = values.astype(complex if "complex" in dtype else float)
    expected = wide.reshape(6, 8, 2, 10, 2).mean(axis=(2, 4)).astype(dtype)
    numpy.testing.assert_allclose(zarr.open_array(tmp_path / "i/1", mode="r")[...], expected, rtol=1e-6)


def test_too_large_and_zero_factors_are_usage_errors(sherd, tmp_path):
    make_array(tmp_path / "a", "zyx", VALUES[0])
    for factors, text in [("0,2,2", "factor of 0"), ("9,9,9", "512")]:
        ran = sherd("copy", "a", "i", "--pyramid", "mean", "--factors", factors)
        assert ran.code == 2 and text in ran.stderr
