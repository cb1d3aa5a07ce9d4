"""OME-NGFF 0.1 to 0.3: read as what they are, and copies to Zarr v3 pass the validators of 0.5 and are read by ome-zarr."""

import json

import numpy
import pytest
import zarr

import sherd as library

VALUES = numpy.random.default_rng(8).integers(1, 200, (1, 2, 3, 33, 41)).astype(numpy.uint16)
CHANNELS = [{"color": "FF0000", "label": "DAPI", "window": {"start": 0, "end": 99}}, {"label": "GFP"}]


def make_image(path, version, values=VALUES, axes=None, levels=3, **attributes):
    """As ome-zarr-py 0.2 and bioformats2raw 0.3 wrote images."""
    image = {"version": version, "name": "cells", "datasets": [{"path": str(i)} for i in range(levels)]}
    if axes:
        image["axes"] = list(axes)
    group = zarr.create_group(path, attributes={"multiscales": [image], **attributes}, zarr_format=2)
    for i in range(levels):
        group.create_array(str(i), data=values[..., :: 2**i, :: 2**i], chunk_key_encoding={
            "name": "v2", "separator": "." if version == "0.1" else "/"})


def axes_of(version):
    return "tczyx" if version == "0.3" else None


@pytest.mark.parametrize("version", ["0.1", "0.2", "0.3"])
def test_an_image_before_0_4_becomes_one_of_0_5(sherd, peer, tmp_path, version):
    make_image(tmp_path / "i", version, axes=axes_of(version), omero={"version": version, "channels": CHANNELS})
    zarr.create_group(tmp_path / "i/labels", attributes={"labels": ["a"]}, zarr_format=2)
    label = {"version": version, "colors": [{"label-value": 1, "rgba": [1, 2, 3, 4]}], "source": {"image": "../../"}}
    make_image(tmp_path / "i/labels/a", version, (VALUES[:, :1] > 99).astype("u1"), axes_of(version), **{"image-label": label})
    checked = sherd.ok("check", "i", "--json").json["faults"]
    assert {fault["severity"] for fault in checked} == {"warning"}
    assert [fault["key"] for fault in checked] == [".zattrs", "labels/a/.zattrs"]
    image = sherd.ok("info", "i", "--json").json["image"]
    assert image["version"] == version and [axis["name"] for axis in image["axes"]] == list("tczyx")

    sherd.ok("copy", "i", "o", "--to", "zarr3")
    assert sherd.ok("check", "o", "--json").json["faults"] == []
    assert peer("validate", tmp_path / "o")["faults"] == []
    read = peer("read", tmp_path / "o")
    assert read["axes"] == list("tczyx") and read["levels"] == [list(level["shape"]) for level in image["levels"]]
    assert read["sum"] == VALUES[..., ::4, ::4].sum()
    ome = json.loads((tmp_path / "o/zarr.json").read_text())["attributes"]["ome"]
    steps = [each["coordinateTransformations"] for each in ome["multiscales"][0]["datasets"]]
    expected = peer("transformations", read["levels"])
    for own, other in zip(steps, expected, strict=True):
        assert [step["type"] for step in own] == [step["type"] for step in other]
        numpy.testing.assert_allclose(own[0]["scale"], other[0]["scale"])
        numpy.testing.assert_allclose(own[1]["translation"], other[1]["translation"])
    assert [channel["label"] for channel in ome["omero"]["channels"]] == ["DAPI", "GFP"]
    sherd.ok("copy", "o", "back", "--to", "zarr2")
    [back] = json.loads((tmp_path / "back/.zattrs").read_text())["multiscales"]
    assert back["version"] == "0.4" and [each["coordinateTransformations"] for each in back["datasets"]] == steps


@pytest.mark.parametrize("by", ["command", "python"])
@pytest.mark.parametrize("version", ["0.1", "0.3"])
@pytest.mark.parametrize(("length", "found"), [(41, [1, 2]), (70, [1, 2]), (20, [1, 2]), (63, []), (64, []), (65, []), (192, [])])
def test_levels_of_which_a_resize_leaves_no_whole_factor_are_warned_of(sherd, tmp_path, version, length, found, by):
    """There are no scales, so lengths of 32 and 16 contradict only what no whole factor makes of them."""
    make_image(tmp_path / "i", version, numpy.zeros((1, 1, 1, 4, 64), "u1"), axes_of(version))
    library.open_array(tmp_path / "i/0", mode="r+").resize((1, 1, 1, 4, length))
    faults = sherd.ok("check", "i", "--json").json["faults"] if by == "command" else library.check(tmp_path / "i")["faults"]
    levels = [fault for fault in faults if fault["code"] == "level_shape"]
    assert [fault["message"].split("'")[1] for fault in levels] == [f"multiscales[0].datasets[{i}]" for i in found]
    assert all(fault["severity"] == "warning" and f"of the {length} of the finest level" in fault["message"] for fault in levels)


@pytest.mark.parametrize("by", ["sherd", "python"])
@pytest.mark.parametrize("levels", [1, 2, 4])
@pytest.mark.parametrize("version", ["0.1", "0.3"])
def test_labels_get_as_many_levels_as_their_image(sherd, peer, tmp_path, version, levels, by):
    make_image(tmp_path / "i", version, axes=axes_of(version))
    zarr.create_group(tmp_path / "i/labels", attributes={"labels": ["a"]}, zarr_format=2)
    labels = (VALUES[:, :1] > 99).astype("u1")
    make_image(tmp_path / "i/labels/a", version, labels, axes_of(version), levels, **{"image-label": {"version": version}})
    zarr.create_array(tmp_path / "i/labels/a/areas", data=numpy.arange(3), zarr_format=2)
    assert "of 'labels/a'" in str(sherd.ok("check", "i", "--json").json["faults"])
    if by == "sherd":
        warnings = sherd.ok("copy", "i", "o", "--to", "zarr3", "--json").json["warnings"]
    else:
        warnings = library.copy(tmp_path / "i", tmp_path / "o", to="zarr3")["warnings"]
    assert any(f"'labels/a' has {levels} " in warning and "made of the finest" in warning for warning in warnings)
    assert sherd.ok("check", "o", "--data", "--json").json["faults"] == []
    for image in ("o", "o/labels/a"):
        assert peer("validate", tmp_path / image)["faults"] == []
    copied = zarr.open(tmp_path / "o")
    assert [copied[f"labels/a/{i}"].shape[2:] for i in range(3)] == [copied[str(i)].shape[2:] for i in range(3)]
    assert (copied["labels/a/0"][:] == labels).all() and list(copied["labels/a/areas"][:]) == [0, 1, 2]
    assert sorted(copied["labels/a"]) == ["0", "1", "2", "areas"]


def test_a_resolution_of_labels_does_not_replace_another_array(sherd, tmp_path):
    make_image(tmp_path / "i", "0.1")
    zarr.create_group(tmp_path / "i/labels", attributes={"labels": ["a"]}, zarr_format=2)
    make_image(tmp_path / "i/labels/a", "0.1", (VALUES[:, :1] > 99).astype("u1"), levels=1, **{"image-label": {"version": "0.1"}})
    zarr.create_array(tmp_path / "i/labels/a/1", data=numpy.arange(3), zarr_format=2)
    ran = sherd("copy", "i", "o", "--to", "zarr3")
    assert ran.code == 5 and "'labels/a/1' is not a resolution of these labels" in ran.stderr
    assert not (tmp_path / "o").exists()


def test_an_image_of_0_3_becomes_a_volume_and_a_pyramid_of_0_4(sherd, peer, tmp_path):
    make_image(tmp_path / "i", "0.3", VALUES[0, 0], "zyx")
    sherd.ok("copy", "i", "v", "--to", "precomputed")
    scales = json.loads((tmp_path / "v/info").read_text())["scales"]
    assert [scale["size"] for scale in scales] == [[41, 33, 3], [21, 17, 3], [11, 9, 3]]
    numpy.testing.assert_allclose(scales[2]["resolution"], [41 / 11, 33 / 9, 1])
    sherd.ok("copy", "i", "p", "--pyramid", "mean", "--to", "zarr2")
    assert json.loads((tmp_path / "p/.zattrs").read_text())["multiscales"][0]["version"] == "0.4"
    assert peer("validate", tmp_path / "p")["faults"] == []


@pytest.mark.parametrize(("values", "axes", "member", "message"), [
    (VALUES[0], None, "multiscales[0]", "has 4"),
    (VALUES, "tcqyx", "multiscales[0].axes", "'q'"),
    (VALUES, "yx", "multiscales[0].datasets[0].path", "5 dimensions"),
    (VALUES[0, 0], "yxt", "multiscales[0].axes", "space"),
])
def test_what_cannot_become_0_5_is_refused_by_name(sherd, tmp_path, values, axes, member, message):
    make_image(tmp_path / "i", "0.3" if axes else "0.2", values, axes)
    ran = sherd("copy", "i", "o", "--to", "zarr3", "--json")
    assert ran.code in (4, 5) and (ran.error["key"], ran.error["member"]) == (".zattrs", member)
    assert message in ran.error["message"] and not (tmp_path / "o").exists()


def test_an_early_image_without_an_array_is_a_fault(sherd, tmp_path):
    make_image(tmp_path / "i", "0.3", axes="tczyx")
    (tmp_path / "i/1/.zarray").rename(tmp_path / "moved")
    ran = sherd("check", "i", "--json")
    faults = [fault for fault in ran.json["faults"] if fault["code"] == "ome_metadata" and fault["severity"] == "error"]
    assert ran.code == 1 and "multiscales[0].datasets[1].path" in faults[0]["message"]


def test_a_plate_of_0_1_gets_the_numbers_of_its_rows(sherd, peer, tmp_path):
    plate = {"version": "0.1", "name": "p", "rows": [{"name": "A"}, {"name": "B"}], "columns": [{"name": "1"}],
             "wells": [{"path": "B/1"}]}
    group = zarr.create_group(tmp_path / "p", attributes={"plate": plate}, zarr_format=2)
    group.create_group("B").create_group("1", attributes={"well": {"version": "0.1", "images": [{"path": "0"}]}})
    make_image(tmp_path / "p/B/1/0", "0.1")
    assert {fault["severity"] for fault in sherd.ok("check", "p", "--json").json["faults"]} == {"warning"}
    sherd.ok("copy", "p", "o", "--to", "zarr3")
    ome = json.loads((tmp_path / "o/zarr.json").read_text())["attributes"]["ome"]
    assert ome["plate"]["wells"] == [{"path": "B/1", "rowIndex": 1, "columnIndex": 0}]
    assert peer("validate", tmp_path / "o")["faults"] == []
    assert sherd.ok("check", "o", "--json").json["faults"] == []
