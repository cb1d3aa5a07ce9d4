"""export and picture: axes, spacing and channels of volumes, named arrays and OME-NGFF images, as nibabel, tifffile and
PIL see them."""

import json

import nibabel
import numpy
import pytest
import tifffile
from PIL import Image

SIZES = {"t": 3, "c": 2, "z": 5, "y": 6, "x": 7}
VOXELS = numpy.random.default_rng(7).integers(0, 255, (9, 8, 7, 1)).astype(numpy.uint8)  # x, y, z, channel


def make_volume(sherd, *options, data=VOXELS):
    sherd.ok("create", "em", "--store-format", "precomputed", "--shape", ",".join(map(str, data.shape)), "--dtype",
             str(data.dtype), "--resolution", "8,8,40", "--chunks", "4,4,4", *options)
    numpy.save(sherd.folder / "in.npy", data)
    sherd.ok("write", "em", "-i", "in.npy")


def make_array(sherd, name, axes, dtype="uint16", **attributes):
    data = numpy.random.default_rng(3).integers(0, 200, [SIZES[axis] for axis in axes]).astype(dtype)
    numpy.save(sherd.folder / "in.npy", data)
    sherd.ok("import", "in.npy", name, "--dimension-names", ",".join(axes), "--attributes", json.dumps(attributes),
             "--chunks", ",".join("4" for _ in axes), "--overwrite")
    return data


def make_image(sherd, axes="tczyx", dtype="uint16", scale=None, **ome):
    """An OME-NGFF image of one level, in micrometers and seconds."""
    units = {"t": ("time", "second"), "c": ("channel", None)}
    described = []
    for axis in axes:
        kind, unit = units.get(axis, ("space", "micrometer"))
        described.append({"name": axis, "type": kind} | ({"unit": unit} if unit else {}))
    steps = {"t": 1.5, "c": 1, "z": 2, "y": 0.5, "x": 0.5} | (scale or {})
    multiscales = [{"axes": described, "datasets": [{"path": "0", "coordinateTransformations": [
        {"type": "scale", "scale": [steps[axis] for axis in axes]},
        {"type": "translation", "translation": [10 if axis in "xyz" else 0 for axis in axes]}]}]}]
    sherd.ok("create", "img.zarr", "--group", "--attributes",
             json.dumps({"ome": {"version": "0.5", "multiscales": multiscales} | ome}))
    return make_array(sherd, "img.zarr/0", axes, dtype)


def in_order(data, axes, wanted):
    """The elements with the axes `wanted`; those that are missing have length 1."""
    for axis in wanted:
        if axis not in axes:
            data, axes = data[..., None], axes + axis
    return data.transpose([axes.index(axis) for axis in wanted])


def load(path):
    return numpy.asarray(Image.open(path))


@pytest.mark.parametrize("suffix", ["nii", "nii.gz"])
def test_a_volume_is_a_nifti_file_of_x_y_z(sherd, tmp_path, suffix):
    make_volume(sherd, "--voxel-offset", "100,0,-10")
    sherd.ok("export", "em", f"em.{suffix}")
    image = nibabel.load(tmp_path / f"em.{suffix}")
    numpy.testing.assert_array_equal(numpy.asarray(image.dataobj), VOXELS[..., 0])
    numpy.testing.assert_allclose(image.header.get_zooms(), (0.008, 0.008, 0.04), rtol=1e-6)
    assert image.header.get_xyzt_units() == ("micron", "unknown")
    numpy.testing.assert_allclose(image.affine, [[0.008, 0, 0, 0.8], [0, 0.008, 0, 0], [0, 0, 0.04, -0.4], [0, 0, 0, 1]],
                                  rtol=1e-6)


def test_channels_of_a_volume_are_the_fifth_dimension_of_nifti(sherd, tmp_path):
    data = numpy.random.default_rng(1).integers(0, 999, (9, 8, 7, 3)).astype(numpy.uint16)
    make_volume(sherd, data=data)
    sherd.ok("export", "em", "em.nii")
    image = nibabel.load(tmp_path / "em.nii")
    assert image.shape == (9, 8, 7, 1, 3)
    numpy.testing.assert_array_equal(numpy.asarray(image.dataobj)[:, :, :, 0], data)


def test_pages_of_a_volume_are_planes_of_x_and_y(sherd, tmp_path):
    make_volume(sherd)
    sherd.ok("export", "em", "em.tif")
    sherd.ok("export", "em", "planes/z%d.png")
    planes = VOXELS[..., 0].transpose(2, 1, 0)
    with tifffile.TiffFile(tmp_path / "em.tif") as file:
        assert file.is_ome and file.series[0].axes == "ZYX"
        numpy.testing.assert_array_equal(file.asarray(), planes)
        pixels = tifffile.xml2dict(file.ome_metadata)["OME"]["Image"]["Pixels"]
        assert file.pages[0].tags["XResolution"].value == (1250000, 1)
    assert [pixels[f"PhysicalSize{axis}"] for axis in "XYZ"] == [8, 8, 40]
    assert [pixels[f"PhysicalSize{axis}Unit"] for axis in "XYZ"] == ["nm"] * 3
    for z, plane in enumerate(planes):
        numpy.testing.assert_array_equal(load(tmp_path / f"planes/z{z}.png"), plane)


@pytest.mark.parametrize("axes", ["zyx", "xyz", "tzyx", "czyx", "tczyx", "xyzct", "yx", "cyx", "tyx", "zcyx"])
def test_named_dimensions_go_where_each_format_has_them(sherd, tmp_path, axes):
    data = make_array(sherd, "a.zarr", axes)
    for name in ["a.nii", "a.nii.gz", "a.tif", "a.npy"]:
        sherd.ok("export", "a.zarr", name)
    numpy.testing.assert_array_equal(numpy.load(tmp_path / "a.npy"), data)
    for name in ["a.nii", "a.nii.gz"]:
        voxels = numpy.asarray(nibabel.load(tmp_path / name).dataobj)
        assert voxels.ndim == max("xyztc".index(axis) + 1 for axis in axes)
        numpy.testing.assert_array_equal(voxels, in_order(data, axes, "xyztc"[:voxels.ndim]))
    with tifffile.TiffFile(tmp_path / "a.tif") as file:
        series = file.series[0]
        assert file.is_ome and set(series.axes) == set(axes.upper()) and series.axes.endswith("YX")
        numpy.testing.assert_array_equal(series.asarray(), in_order(data, axes, series.axes.lower()))


def test_an_array_of_an_ome_group_has_its_spacing_units_and_position(sherd, tmp_path):
    data = make_image(sherd, omero={"channels": [{"label": "DAPI", "color": "0000FF"}, {"label": "GFP", "color": "00FF00"}]})
    for url in ["img.zarr", "img.zarr/0"]:
        sherd.ok("export", url, "a.nii")
        sherd.ok("export", url, "a.tif")
        image = nibabel.load(tmp_path / "a.nii")
        assert image.header.get_zooms()[:4] == (0.5, 0.5, 2, 1.5) and image.header.get_xyzt_units() == ("micron", "sec")
        numpy.testing.assert_array_equal(image.affine, [[0.5, 0, 0, 10], [0, 0.5, 0, 10], [0, 0, 2, 10], [0, 0, 0, 1]])
        numpy.testing.assert_array_equal(numpy.asarray(image.dataobj), in_order(data, "tczyx", "xyztc"))
        with tifffile.TiffFile(tmp_path / "a.tif") as file:
            assert file.series[0].axes == "TCZYX"
            pixels = tifffile.xml2dict(file.ome_metadata)["OME"]["Image"]["Pixels"]
        assert (pixels["PhysicalSizeX"], pixels["PhysicalSizeXUnit"], pixels["PhysicalSizeZ"]) == (0.5, "µm", 2)
        assert (pixels["TimeIncrement"], pixels["TimeIncrementUnit"]) == (1.5, "s")
        assert [channel["Name"] for channel in pixels["Channel"]] == ["DAPI", "GFP"]
        assert [channel["Color"] for channel in pixels["Channel"]] == [65535, 16711935]


def test_a_level_of_a_pyramid_has_its_own_spacing(sherd, tmp_path):
    make_volume(sherd)
    sherd.ok("copy", "em", "em.zarr", "--to", "zarr3", "--pyramid", "mean:1", "--factors", "2,2,2")
    sherd.ok("export", "em.zarr/1", "a.nii")
    sherd.ok("export", "em.zarr", "b.nii", "--level", "1")
    assert (tmp_path / "a.nii").read_bytes() == (tmp_path / "b.nii").read_bytes()
    image = nibabel.load(tmp_path / "a.nii")
    assert image.shape == (5, 4, 4)
    numpy.testing.assert_allclose(image.affine, [[0.016, 0, 0, 0.004], [0, 0.016, 0, 0.004], [0, 0, 0.08, 0.02], [0, 0, 0, 1]],
                                  rtol=1e-6)
    ran = sherd("export", "em.zarr", "c.nii", "--level", "2")
    assert ran.code == 3 and "has no level 2; it has 2" in ran.stderr and not (tmp_path / "c.nii").exists()


def test_a_level_keeps_orientation_and_scale_of_its_nifti_file(sherd, tmp_path):
    affine = numpy.array([[0, -2, 0, 30], [1.5, 0, 0, -20], [0, 0, 3, 5], [0, 0, 0, 1.0]])
    made = nibabel.Nifti1Image(numpy.arange(480, dtype=numpy.int16).reshape(10, 8, 6), affine)
    made.header.set_xyzt_units("mm")
    made.header.set_slope_inter(0.5, 3)
    nibabel.save(made, tmp_path / "brain.nii")
    sherd.ok("import", "brain.nii", "brain.zarr")
    sherd.ok("copy", "brain.zarr", "levels.zarr", "--pyramid", "mean:1", "--factors", "2,2,2")
    sherd.ok("export", "levels.zarr/0", "a.nii")
    sherd.ok("export", "levels.zarr/1", "b.nii")
    fine, coarse = (nibabel.load(tmp_path / name) for name in ["a.nii", "b.nii"])
    numpy.testing.assert_array_equal(fine.affine, nibabel.load(tmp_path / "brain.nii").affine)
    assert coarse.shape == (5, 4, 3) and coarse.header.get_zooms() == (3, 4, 6)
    # The middle of eight voxels is where it was.
    numpy.testing.assert_allclose(coarse.affine @ [0, 0, 0, 1], fine.affine @ [0.5, 0.5, 0.5, 1])
    numpy.testing.assert_allclose(coarse.affine @ [2, 1, 1, 1], fine.affine @ [4.5, 2.5, 2.5, 1])
    numpy.testing.assert_allclose(coarse.get_fdata()[0, 0, 0], fine.get_fdata()[:2, :2, :2].mean(), atol=0.5)


def test_broken_metadata_of_the_group_is_an_error_and_no_file(sherd, tmp_path):
    make_image(sherd)
    document = json.loads((tmp_path / "img.zarr/zarr.json").read_text())
    document["attributes"]["ome"]["multiscales"][0]["axes"] = 7
    (tmp_path / "img.zarr/zarr.json").write_text(json.dumps(document))
    ran = sherd("export", "img.zarr/0", "a.nii")
    assert ran.code == 4 and "multiscales[0].axes" in ran.stderr and not (tmp_path / "a.nii").exists()
    sherd.ok("export", "img.zarr/0", "a.npy")


def test_colours_are_samples_of_a_pixel(sherd, tmp_path):
    data = numpy.random.default_rng(1).integers(0, 255, (9, 8, 7, 3)).astype(numpy.uint8)
    make_volume(sherd, data=data)
    sherd.ok("export", "em", "em.tif")
    sherd.ok("export", "em", "planes/z%d.png")
    with tifffile.TiffFile(tmp_path / "em.tif") as file:
        assert file.is_ome and file.series[0].axes == "ZYXS"
        numpy.testing.assert_array_equal(file.asarray(), data.transpose(2, 1, 0, 3))
    numpy.testing.assert_array_equal(load(tmp_path / "planes/z4.png"), data[:, :, 4].transpose(1, 0, 2))


def test_a_picture_of_a_volume_shows_x_and_y(sherd, tmp_path):
    make_volume(sherd)
    for options, plane in [([], VOXELS[:, :, 3, 0].T), (["--index", "-1"], VOXELS[:, :, 6, 0].T),
                           (["--axis", "z", "--index", "2"], VOXELS[:, :, 2, 0].T),
                           (["--axis", "2", "--index", "2"], VOXELS[:, :, 2, 0].T), (["--at", "z=1"], VOXELS[:, :, 1, 0].T)]:
        sherd.ok("picture", "em", "p.png", "--range", "0,255", *options)
        numpy.testing.assert_array_equal(load(tmp_path / "p.png"), plane)


def test_a_picture_has_the_proportions_of_the_object(sherd, tmp_path):
    make_volume(sherd)
    sherd.ok("picture", "em", "p.png", "--range", "0,255", "--axis", "y", "--index", "2")
    numpy.testing.assert_array_equal(load(tmp_path / "p.png"), numpy.repeat(VOXELS[:, 2, :, 0].T, 5, axis=0))
    sherd.ok("picture", "em", "p.png", "--range", "0,255", "--axis", "x", "--index", "-2", "--width", "16")
    assert load(tmp_path / "p.png").shape == (70, 16)
    numpy.testing.assert_array_equal(load(tmp_path / "p.png"), VOXELS[7, :, :, 0].T.repeat(10, axis=0).repeat(2, axis=1))


@pytest.mark.parametrize("axes", ["zyx", "xyz", "tczyx", "xyzct", "tyx", "cyx", "zcyx"])
def test_a_picture_of_named_dimensions_shows_x_and_y(sherd, tmp_path, axes):
    data = make_array(sherd, "a.zarr", axes)
    at = {axis: index for axis, index in {"t": 2, "c": 1, "z": 3}.items() if axis in axes}
    sherd.ok("picture", "a.zarr", "p.png", "--range", "0,255", "--at",
             ",".join(f"{axis}={index}" for axis, index in at.items()))
    index = tuple(at.get(axis, slice(None)) for axis in axes)
    plane = data[index]
    numpy.testing.assert_array_equal(load(tmp_path / "p.png"), plane.T if axes.index("x") < axes.index("y") else plane)


def test_channels_are_added_in_their_colours(sherd, tmp_path):
    data = make_image(sherd, axes="cyx", omero={"channels": [
        {"color": "0000FF", "window": {"start": 0, "end": 100}}, {"color": "FF8000", "window": {"start": 50, "end": 250}}]})
    sherd.ok("picture", "img.zarr", "p.png")
    blue, orange = numpy.clip(data[0] / 100, 0, 1), numpy.clip((data[1].astype(float) - 50) / 200, 0, 1)
    light = blue[..., None] * (0, 0, 1) + orange[..., None] * (1, 128 / 255, 0)
    shown = load(tmp_path / "p.png").astype(int)
    assert shown.shape == (6, 7, 3) and abs(shown - numpy.clip(light, 0, 1) * 255).max() < 0.51
    sherd.ok("picture", "img.zarr", "p.png", "--at", "c=1")
    assert abs(load(tmp_path / "p.png") - orange * 255).max() < 0.51
    make_array(sherd, "a.zarr", "cyx")
    sherd.ok("picture", "a.zarr", "p.png", "--range", "0,255")
    red, green, empty = numpy.moveaxis(load(tmp_path / "p.png"), 2, 0)
    numpy.testing.assert_array_equal([red, green], data)
    assert not empty.any()


def test_a_channel_is_chosen_by_its_name(sherd, tmp_path):
    data = make_image(sherd, axes="cyx", omero={"channels": [{"label": "DAPI"}, {"label": "488"}]})
    for options, channel in [(["--at", "c=DAPI"], 0), (["--at", "c=488"], 1), (["--at", "c=-1"], 1), (["--axis", "c", "--index", "488"], 1)]:
        sherd.ok("picture", "img.zarr", "p.png", "--range", "0,255", *options)
        numpy.testing.assert_array_equal(load(tmp_path / "p.png"), data[channel])
    for option, message in [("c=Dapi", "'Dapi' is not a whole number or the name of a channel; the channels are DAPI, 488"),
                            ("c=9", "is 9, but axis c has length 2"), ("y=DAPI", "'DAPI' is not a whole number")]:
        refused = sherd("picture", "img.zarr", "p.png", "--at", option)
        assert refused.code == 2 and refused.stderr == f"sherd: --at: {message}\n"
    sherd.ok("attrs", "img.zarr", "--replace", sherd.ok("attrs", "img.zarr").text.replace("DAPI", "488"))
    refused = sherd("picture", "img.zarr", "p.png", "--at", "c=488")
    assert refused.code == 2 and refused.stderr == "sherd: --at: several channels are called '488'; give the number of one\n"
    sherd.ok("attrs", "img.zarr", "--replace", sherd.ok("attrs", "img.zarr").text.replace('"label":"488"', '"active":true'))
    refused = sherd("picture", "img.zarr", "p.png", "--at", "c=DAPI")
    assert refused.stderr == "sherd: --at: 'DAPI' is not a whole number or the name of a channel; the channels have no names\n"


def test_labels_have_colours_of_their_own(sherd, tmp_path):
    ids = numpy.zeros((9, 8, 7, 1), numpy.uint64)
    ids[:4], ids[4:6], ids[6:, :4] = 5, 2**60, 2**60 + 1
    make_volume(sherd, "--type", "segmentation", data=ids)
    sherd.ok("picture", "em", "p.png")
    sherd.ok("copy", "em", "em.zarr", "--to", "zarr3", "--pyramid", "mode:1")
    sherd.ok("picture", "em.zarr", "q.png")
    shown = load(tmp_path / "p.png")
    numpy.testing.assert_array_equal(shown, load(tmp_path / "q.png"))
    colours = {tuple(shown[at]) for at in [(0, 0), (0, 5), (0, 8), (7, 8)]}
    assert len(colours) == 4 and tuple(shown[7, 8]) == (0, 0, 0)
    assert len({tuple(pixel) for pixel in shown.reshape(-1, 3)}) == 4


def test_a_suffix_chooses_jpeg_or_is_refused(sherd, tmp_path):
    make_volume(sherd)
    sherd.ok("picture", "em", "p.png", "--width", "90")
    for name in ["p.jpg", "p.JPEG"]:
        sherd.ok("picture", "em", name, "--width", "90")
        with Image.open(tmp_path / name) as image:
            assert (image.format, image.mode, image.size) == ("JPEG", "L", (90, 80))
            assert abs(numpy.asarray(image).astype(int) - load(tmp_path / "p.png")).mean() < 8
    ran = sherd("picture", "em", "p.gif")
    assert ran.code == 2 and ".png, .jpg" in ran.stderr and not (tmp_path / "p.gif").exists()
    make_array(sherd, "rgb.zarr", "cyx", "uint8")
    sherd.ok("picture", "rgb.zarr", "c.jpg", "--width", "70")
    assert Image.open(tmp_path / "c.jpg").mode == "RGB"


@pytest.mark.parametrize("options, text", [
    (["--at", "z"], "t=3,c=1"), (["--at", "z=x"], "whole number"), (["--at", "t=0"], "--at: is t"),
    (["--axis", "z", "--at", "z=1"], "given twice"), (["--index", "7"], "length 7"), (["--index", "-8"], "length 7"),
    (["--index", "a"], "whole number"), (["--at", "x=0,y=0,z=0"], "two dimensions"), (["--level", "1"], "no scale 1"),
    (["--at", "y=1,z=1"], "two dimensions"),
    (["--width", "0"], "--width: must be from 2 to 65535 pixels, not 0"),
    (["--width", "65536"], "--width: must be from 2 to 65535 pixels, not 65536"),
    (["--width", f"{2**64 - 1}"], f"--width: must be from 2 to 65535 pixels, not {2**64 - 1}"),
    (["--axis", "x", "--width", "65535"], "higher than 65535 pixels; choose a smaller width"),
    (["--axis", "y", "--at", "z=3"], "--at: is an index on axis z, which is drawn: a picture across y shows x and z"),
    (["--index", "2", "--at", "x=3"], "a picture across z shows x and y; leave it out, or cut across axis x instead")])
def test_what_a_picture_cannot_show_is_a_usage_error(sherd, tmp_path, options, text):
    make_volume(sherd)
    ran = sherd("picture", "em", "p.png", *options)
    assert ran.code == (3 if "--level" in options else 2) and text in ran.stderr, ran.stderr
    assert not (tmp_path / "p.png").exists()


@pytest.mark.parametrize("dtype", ["uint16", "int32", "float32"])
def test_a_window_of_all_values_of_a_type_is_not_a_range(sherd, tmp_path, dtype):
    numpy.save(tmp_path / "a.npy", numpy.arange(300, 420).astype(dtype).reshape(10, 12))
    sherd.ok("import", "a.npy", "a", "--axes", "y,x")
    sherd.ok("copy", "a", "i", "--pyramid", "mean:1")
    channels = [{"color": "FFFFFF", "window": {"start": numpy.iinfo(dtype).min if dtype != "float32" else 0,
                                               "end": numpy.iinfo(dtype).max if dtype != "float32" else 1}}]
    ome = sherd.ok("attrs", "i", "ome").json
    sherd.ok("attrs", "i", "ome=" + json.dumps(ome | {"omero": {"channels": channels}}))
    for name in "ai":
        sherd.ok("picture", name, f"{name}.png")
    pixels = numpy.asarray(Image.open(tmp_path / "i.png"))
    assert (pixels.min(), pixels.max()) == (0, 255)
    numpy.testing.assert_array_equal(pixels, numpy.asarray(Image.open(tmp_path / "a.png")))


@pytest.mark.parametrize(("axes", "back"), [("czyx", "czyx"), ("tczyx", "tczyx"), ("cyx", "czyx"), ("zyx", "zyx"), ("tzyx", "tzyx")])
def test_what_is_exported_to_nifti_is_imported_with_the_same_axes(sherd, axes, back):
    data = make_image(sherd, axes)
    sherd.ok("export", "img.zarr", "a.nii.gz")
    sherd.ok("import", "a.nii.gz", "back.zarr", "--pyramid", "mean:1")
    info = sherd.ok("info", "back.zarr/0", "--json").json
    assert "".join(info["dimension_names"]) == back
    read = numpy.frombuffer(sherd.ok("read", "back.zarr/0", "--format", "raw").stdout, data.dtype).reshape(info["shape"])
    numpy.testing.assert_array_equal(read, in_order(data, axes, back))
    if "t" not in axes:
        sherd.ok("import", "a.nii.gz", "em", "--to", "precomputed")
        voxels = numpy.frombuffer(sherd.ok("read", "em", "--format", "raw").stdout, data.dtype)
        wanted = in_order(data, axes, "xyzc")
        numpy.testing.assert_array_equal(voxels.reshape(wanted.shape), wanted)
    sherd.ok("export", "back.zarr", "again.nii.gz")
    first, again = nibabel.load(sherd.folder / "a.nii.gz"), nibabel.load(sherd.folder / "again.nii.gz")
    numpy.testing.assert_array_equal(numpy.asarray(again.dataobj), numpy.asarray(first.dataobj))
    assert again.header.get_zooms()[:3] == first.header.get_zooms()[:3] and (again.affine == first.affine).all()


def test_a_time_of_length_1_before_channels_is_kept_where_it_has_a_length(sherd, tmp_path):
    data = numpy.arange(2 * 3 * 4 * 5, dtype="u2").reshape(5, 4, 3, 1, 2)
    image = nibabel.Nifti1Image(data, numpy.eye(4))
    image.header.set_xyzt_units("mm", "sec")
    for step, names in [(1, ["c", "z", "y", "x"]), (2.5, ["c", "t", "z", "y", "x"])]:
        image.header.set_zooms((1, 1, 1, step, 1))
        nibabel.save(image, tmp_path / "in.nii")
        sherd.ok("import", "in.nii", "a.zarr", "--overwrite")
        assert sherd.ok("info", "a.zarr", "--json").json["dimension_names"] == names
        sherd.ok("export", "a.zarr", "out.nii")
        assert (tmp_path / "out.nii").read_bytes() == (tmp_path / "in.nii").read_bytes()


def test_a_real_brain_has_the_axes_and_the_affine_that_nibabel_reads(sherd, tmp_path):
    """The template of Debian's mricron-data."""
    template = nibabel.load("/usr/share/mricron/templates/ch2better.nii.gz")
    voxels = numpy.asarray(template.dataobj)
    sherd.ok("import", template.get_filename(), "brain.zarr", "--pyramid", "mean:1")
    for level, step in (("brain.zarr", 1), ("brain.zarr/1", 2)):
        sherd.ok("export", level, "out.nii.gz")
        sherd.ok("export", level, "out.tif")
        out = nibabel.load(tmp_path / "out.nii.gz")
        numpy.testing.assert_allclose(numpy.linalg.norm(out.affine[:3, :3], axis=0), step * numpy.array(template.header.get_zooms()))
        assert nibabel.aff2axcodes(out.affine) == nibabel.aff2axcodes(template.affine)
        corner = numpy.full(3, (step - 1) / 2)  # of the coarse level's first voxel, in the fine one's
        numpy.testing.assert_allclose(out.affine[:3, 3], nibabel.affines.apply_affine(template.affine, corner), atol=1e-4)
        with tifffile.TiffFile(tmp_path / "out.tif") as file:
            assert file.is_ome and file.series[0].axes == "ZYX"
            numpy.testing.assert_array_equal(file.asarray(), numpy.asarray(out.dataobj).T)
        if step == 1:
            numpy.testing.assert_array_equal(numpy.asarray(out.dataobj), voxels)
            numpy.testing.assert_array_equal(out.affine, template.affine)
