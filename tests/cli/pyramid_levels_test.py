"""Copies of one resolution of an OME-NGFF image: zarr-python writes the image and reads the copy, cloud-volume the volume."""

import json
import shutil

import cloudvolume
import numpy
import pytest
import zarr
from PIL import Image

VALUES = numpy.random.default_rng(5).integers(0, 4, (8, 12, 16)).astype(numpy.uint32)
COLOURS = [{"label-value": 1, "rgba": [255, 0, 10, 255]}, {"label-value": 2, "rgba": [0, 200, 0, 128]},
           {"label-value": 99, "rgba": [1, 2]}, {"label-value": 3}]


def make_image(path, labels=True, translation=(80, 16, 8)):
    """Levels 0 and 1 of z, y, x, in voxels of 40, 8 and 8 nm, with the translations that centres of elements have."""
    levels = [{"path": str(level), "coordinateTransformations": [
        {"type": "scale", "scale": [step * 2**level for step in (40, 8, 8)]},
        {"type": "translation", "translation": [at + level * step / 2 for at, step in zip(translation, (40, 8, 8))]}]}
        for level in (0, 1)]
    ome = {"version": "0.5", "multiscales": [{"axes": [{"name": axis, "type": "space", "unit": "nanometer"}
                                                      for axis in "zyx"], "datasets": levels}]}
    if labels:
        ome["image-label"] = {"version": "0.5", "colors": COLOURS}
    else:
        ome["omero"] = {"channels": [{"label": "EM", "color": "00FF00", "window": {"start": 0, "end": 3}}]}
    group = zarr.create_group(path, attributes={"ome": ome})
    for level in (0, 1):
        values = VALUES[::2**level, ::2**level, ::2**level]
        group.create_array(str(level), data=values, chunks=(4, 4, 4), dimension_names=["z", "y", "x"])


def volume(tmp_path, name="v"):
    return json.loads((tmp_path / name / "info").read_text())


@pytest.mark.parametrize("labels", [True, False])
@pytest.mark.parametrize("level", [0, 1])
def test_a_single_level_becomes_the_same_volume_as_in_a_pyramid(sherd, tmp_path, level, labels):
    make_image(tmp_path / "img", labels)
    sherd.ok("copy", "img", "whole", "--to", "precomputed")
    sherd.ok("copy", f"img/{level}", "v", "--to", "precomputed")
    (scale,), info = volume(tmp_path)["scales"], volume(tmp_path)
    assert info["type"] == ("segmentation" if labels else "image")
    assert scale == volume(tmp_path, "whole")["scales"][level]
    assert scale["resolution"] == [8 * 2**level, 8 * 2**level, 40 * 2**level]
    assert scale["voxel_offset"] == ([1, 2, 2] if level == 0 else [1, 1, 1])
    seen = cloudvolume.CloudVolume(f"file://{tmp_path}/v", progress=False, fill_missing=True)
    numpy.testing.assert_array_equal(seen[:][..., 0], VALUES[::2**level, ::2**level, ::2**level].T)


@pytest.mark.parametrize("level", [0, 1])
def test_a_copied_level_keeps_the_metadata_of_its_image(sherd, tmp_path, level):
    make_image(tmp_path / "img")
    sherd.ok("copy", f"img/{level}", "x.zarr")
    array = zarr.open_array(tmp_path / "x.zarr", mode="r")
    numpy.testing.assert_array_equal(array[...], VALUES[::2**level, ::2**level, ::2**level])
    assert array.metadata.dimension_names == ("z", "y", "x")
    assert array.attrs["spacing"] == [40 * 2**level, 8 * 2**level, 8 * 2**level] and array.attrs["units"] == ["nanometer"] * 3
    assert array.attrs["voxel_offset"] == ([2, 2, 1] if level == 0 else [1.25, 1.25, 0.75])
    assert array.attrs["image-label"] == {"version": "0.5", "colors": COLOURS}
    # The place of its elements and their kind are those of the level, also further on.
    for source, name in [(f"img/{level}", "a"), ("x.zarr", "b")]:
        sherd.ok("export", source, f"{name}.nii")
        sherd.ok("picture", source, f"{name}.png")
        sherd.ok("copy", source, f"{name}.levels", "--pyramid", "mode:1")
    assert (tmp_path / "a.nii").read_bytes() == (tmp_path / "b.nii").read_bytes()
    assert (tmp_path / "a.png").read_bytes() == (tmp_path / "b.png").read_bytes()
    ome = [json.loads((tmp_path / f"{name}.levels/zarr.json").read_text())["attributes"]["ome"] for name in "ab"]
    assert ome[0] == ome[1] and ome[0]["image-label"]["colors"] == COLOURS
    assert ome[0]["multiscales"][0]["datasets"][0]["coordinateTransformations"] == json.loads(
        (tmp_path / "img/zarr.json").read_text())["attributes"]["ome"]["multiscales"][0]["datasets"][level]["coordinateTransformations"]


def test_a_copied_level_keeps_the_channels_of_its_image(sherd, tmp_path):
    make_image(tmp_path / "img", labels=False)
    sherd.ok("copy", "img/0", "x.zarr")
    attributes = zarr.open_array(tmp_path / "x.zarr", mode="r").attrs
    assert attributes["channels"] == [{"label": "EM", "color": "00FF00", "window": {"start": 0, "end": 3}}]
    assert "image-label" not in attributes
    sherd.ok("picture", "x.zarr", "p.png")
    assert numpy.asarray(Image.open(tmp_path / "p.png"))[..., [0, 2]].max() == 0


def test_a_volume_of_labels_becomes_an_array_of_labels_and_a_volume_again(sherd, tmp_path):
    make_image(tmp_path / "img")
    sherd.ok("copy", "img/0", "v", "--to", "precomputed")
    key = volume(tmp_path)["scales"][0]["key"]
    sherd.ok("copy", f"v/{key}", "x.zarr", "--to", "zarr3")
    assert zarr.open_array(tmp_path / "x.zarr", mode="r").attrs["image-label"] == {}
    sherd.ok("copy", "x.zarr", "again", "--to", "precomputed")
    assert volume(tmp_path, "again") == volume(tmp_path)
    sherd.ok("copy", f"v/{key}", "image.zarr", "--to", "zarr3", "--type", "image")
    assert "image-label" not in zarr.open_array(tmp_path / "image.zarr", mode="r").attrs


def test_the_axes_of_a_level_can_be_renamed(sherd, tmp_path):
    make_image(tmp_path / "img")
    sherd.ok("copy", "img/0", "v", "--to", "precomputed", "--axes", "x,y,z")
    assert volume(tmp_path)["scales"][0]["resolution"] == [40, 8, 8]
    ran = sherd("copy", "img/0", "w", "--to", "precomputed", "--axes", "x,y")
    assert ran.code == 2 and "--axes" in ran.stderr and "3 axes" in ran.stderr


def test_an_array_next_to_the_levels_is_copied_unchanged(sherd, tmp_path):
    make_image(tmp_path / "img")
    zarr.open_group(tmp_path / "img").create_array("mask", data=VALUES)
    for source in ("img/mask", "img"):
        sherd.ok("copy", source, "copied")
        assert (tmp_path / "copied/zarr.json").read_bytes() == (tmp_path / source / "zarr.json").read_bytes()
        shutil.rmtree(tmp_path / "copied")


def test_a_level_of_an_image_beyond_understanding_is_copied_as_it_is(sherd, tmp_path):
    make_image(tmp_path / "img")
    document = json.loads((tmp_path / "img/zarr.json").read_text())
    document["attributes"]["ome"]["multiscales"][0]["axes"] = 7
    (tmp_path / "img/zarr.json").write_text(json.dumps(document))
    sherd.ok("copy", "img/0", "x.zarr")
    assert (tmp_path / "x.zarr/zarr.json").read_bytes() == (tmp_path / "img/0/zarr.json").read_bytes()
    ran = sherd("copy", "img/0", "v", "--to", "precomputed")
    assert ran.code == 4 and "multiscales[0].axes" in ran.stderr and not (tmp_path / "v").exists()


def test_labels_are_drawn_in_the_colours_that_the_image_has_for_them(sherd, tmp_path):
    make_image(tmp_path / "img")
    sherd.ok("picture", "img", "p.png", "--index", "3")
    shown = numpy.asarray(Image.open(tmp_path / "p.png"))
    assert {tuple(pixel) for pixel in shown[VALUES[3] == 1]} == {(255, 0, 10)}
    assert {tuple(pixel) for pixel in shown[VALUES[3] == 2]} == {(0, 100, 0)}, "half transparent, on black"
    assert {tuple(pixel) for pixel in shown[VALUES[3] == 0]} == {(0, 0, 0)}
    assert len({tuple(pixel) for pixel in shown[VALUES[3] == 3]}) == 1, "that of the palette"


def test_a_dual_format_copy_of_a_level_is_the_same_volume_as_in_a_pyramid(sherd, tmp_path):
    make_image(tmp_path / "img")
    sherd.ok("copy", "img/1", "both", "--layout", "zarr+neuroglancer", "--chunks", "2,2,2", "--shards", "4,8,8", "--codec", "gzip:1")
    (info,) = [json.loads(path.read_text()) for path in tmp_path.glob("both/**/info")]
    assert info["type"] == "segmentation"
    assert (info["scales"][0]["resolution"], info["scales"][0]["voxel_offset"]) == ([16, 16, 80], [1, 1, 1])


@pytest.mark.parametrize(("options", "second"), [
    ([], (8, 6, 8)), (["--factors", "auto"], (8, 6, 8)), (["--factors", "2,2,2"], (4, 6, 8)), (["--factors", "2,1,1"], (4, 12, 16)),
    (["--factors", "x=2,z=2"], (4, 12, 8)),
])
def test_factors_are_given_in_order_or_by_name(sherd, tmp_path, options, second):
    """Planes are 40 nm apart, pixels 8 nm wide."""
    make_image(tmp_path / "img")
    sherd.ok("copy", "img/0", "p.zarr", "--pyramid", "mode:1", *options)
    group = zarr.open_group(tmp_path / "p.zarr", mode="r")
    assert group["1"].shape == second
    scale = group.attrs["ome"]["multiscales"][0]["datasets"][1]["coordinateTransformations"][0]["scale"]
    assert scale == [step * whole / half for step, whole, half in zip((40, 8, 8), (8, 12, 16), second)]


@pytest.mark.parametrize(("options", "message"), [
    (["--pyramid", "mode", "--factors", "2,2"], "--factors: 2 factors for the axes z, y, x"),
    (["--pyramid", "mode", "--factors", "t=2"], "--factors: the image has no axis 't'"),
    (["--pyramid", "mode", "--factors", "a,b"], "--factors: 'a' is not a factor"),
    (["--factors", "2,2,2"], "--factors can only be used with --pyramid"),
])
def test_factors_that_do_not_fit_are_usage_errors(sherd, tmp_path, options, message):
    make_image(tmp_path / "img")
    ran = sherd("copy", "img/0", "p.zarr", *options)
    assert ran.code == 2 and message in ran.stderr and not (tmp_path / "p.zarr").exists()
