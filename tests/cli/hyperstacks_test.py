"""TIFF files whose metadata say what their pages are, and imports whose caller says it; tifffile writes the files, zarr
reads the arrays."""

import json

import numpy
import pytest
import tifffile
import zarr

RANDOM = numpy.random.default_rng(11)
OME_ORDERS = ["XYZCT", "XYZTC", "XYCZT", "XYCTZ", "XYTZC", "XYTCZ"]


def noise(*shape, dtype="uint16"):
    return RANDOM.integers(0, 250, shape).astype(dtype)


def imported(sherd, tmp_path, name, *options):
    """The array as zarr reads it: elements, names of dimensions, attributes."""
    sherd.ok("import", name, "a.zarr", "--overwrite", *options)
    array = zarr.open_array(tmp_path / "a.zarr", mode="r")
    return array[...], "".join(array.metadata.dimension_names or ()), dict(array.attrs)


def squeezed(values, axes):
    """In the order t, c, z, y, x without axes of length 1."""
    values = values.transpose([axes.index(axis) for axis in "TCZYX" if axis in axes])
    kept = "".join(axis for axis in "TCZYX" if axis in axes)
    lengths = [length for axis, length in zip(kept, values.shape) if length > 1 or axis in "YX"]
    return values.reshape(lengths), "".join(a for a, n in zip(kept, values.shape) if n > 1 or a in "YX").lower()


@pytest.mark.parametrize("axes", ["TZCYX", "ZCYX", "TCYX", "TZYX", "CYX", "TYX", "ZYX", "YX"])
def test_an_imagej_hyperstack_becomes_times_channels_and_slices(sherd, tmp_path, axes):
    lengths = {"T": 2, "Z": 3, "C": 4, "Y": 5, "X": 6}
    values = noise(*(lengths[axis] for axis in axes))
    tifffile.imwrite(tmp_path / "a.tif", values, imagej=True, metadata={"axes": axes})
    got, names, _ = imported(sherd, tmp_path, "a.tif")
    expected, expected_names = squeezed(values, axes)
    assert names == expected_names
    numpy.testing.assert_array_equal(got, expected)


def test_spacing_units_and_the_interval_of_frames_come_from_imagej(sherd, tmp_path):
    tifffile.imwrite(tmp_path / "a.tif", noise(2, 3, 4, 5, 6), imagej=True, resolution=(1 / 0.65, 1 / 0.5),
                     metadata={"axes": "TZCYX", "spacing": 3.5, "unit": "um", "finterval": 0.25})
    _, names, attributes = imported(sherd, tmp_path, "a.tif")
    assert names == "tczyx"
    assert attributes["spacing"] == [0.25, None, 3.5, 0.5, 0.65]
    assert attributes["units"] == ["s", None, "um", "um", "um"]


def test_labels_ranges_and_colours_of_imagej_are_kept(sherd, tmp_path):
    tables = [numpy.zeros((3, 256), "uint8") for _ in range(2)]
    tables[0][0] = tables[1][1] = numpy.arange(256)
    values = noise(3, 2, 5, 6)
    labels = [f"slice {z} of channel {c} µ" for z in range(3) for c in range(2)]
    tifffile.imwrite(tmp_path / "a.tif", values, imagej=True,
                     metadata={"axes": "ZCYX", "Labels": labels, "Ranges": (1.0, 200.0, 2.0, 100.0), "LUTs": tables})
    got, names, attributes = imported(sherd, tmp_path, "a.tif")
    assert names == "czyx"
    numpy.testing.assert_array_equal(got, values.transpose(1, 0, 2, 3))
    assert attributes["slice_labels"] == labels[::2] + labels[1::2]
    assert attributes["channels"] == [{"color": "FF0000", "window": {"start": 1, "end": 200}},
                                      {"color": "00FF00", "window": {"start": 2, "end": 100}}]


def test_labels_that_name_channels_are_their_names(sherd, tmp_path):
    tifffile.imwrite(tmp_path / "a.tif", noise(3, 2, 5, 6), imagej=True,
                     metadata={"axes": "ZCYX", "Labels": ["DAPI", "GFP"] * 3})
    _, _, attributes = imported(sherd, tmp_path, "a.tif")
    assert [channel["label"] for channel in attributes["channels"]] == ["DAPI", "GFP"] and "slice_labels" not in attributes


def test_an_imagej_file_with_one_directory_is_a_hyperstack_too(sherd, tmp_path):
    values = noise(2, 3, 4, 5, 6)
    description = "ImageJ=1.54f\nimages=24\nchannels=4\nslices=3\nframes=2\nhyperstack=true\n"
    tifffile.imwrite(tmp_path / "a.tif", values[0, 0, 0], description=description, metadata=None, byteorder=">")
    with tifffile.TiffFile(tmp_path / "a.tif") as tiff:
        (offset,) = tiff.pages[0].dataoffsets
    raw = bytearray((tmp_path / "a.tif").read_bytes())
    raw[offset:] = values.astype(">u2").tobytes()
    (tmp_path / "a.tif").write_bytes(raw)
    got, names, _ = imported(sherd, tmp_path, "a.tif")
    assert names == "tczyx"
    numpy.testing.assert_array_equal(got, values.transpose(0, 2, 1, 3, 4))


def test_more_planes_of_one_directory_than_memory_may_hold_are_refused(sherd, tmp_path):
    count = 2**33
    tifffile.imwrite(tmp_path / "a.tif", noise(1, 1, dtype="uint8"), metadata=None, photometric="minisblack",
                     description=f"ImageJ=1.54f\nimages={count}\nslices={count}\n")
    with open(tmp_path / "a.tif", "ab") as file:
        file.truncate(2 * count)
    ran = sherd("import", "a.tif", "a.zarr")
    assert ran.code == 5 and "'metadata_bytes'" in ran.stderr


def test_colours_of_an_imagej_file_stay_the_last_dimension(sherd, tmp_path):
    values = noise(2, 5, 6, 3, dtype="uint8")
    tifffile.imwrite(tmp_path / "a.tif", values, imagej=True, photometric="rgb", metadata={"axes": "ZYXS"})
    got, names, _ = imported(sherd, tmp_path, "a.tif")
    assert names == "zyxc"
    numpy.testing.assert_array_equal(got, values)


def test_a_contradicting_imagej_description_needs_named_axes(sherd, tmp_path):
    values = noise(5, 6, 7)
    tifffile.imwrite(tmp_path / "a.tif", values, metadata=None,
                     description="ImageJ=1.54f\nimages=6\nchannels=2\nslices=3\nhyperstack=true\n")
    ran = sherd("import", "a.tif", "a.zarr")
    assert ran.code == 4 and "a.tif" in ran.stderr and "2 channels, 3 slices" in ran.stderr and "axes" in ran.stderr
    assert not (tmp_path / "a.zarr").exists()
    got, names, _ = imported(sherd, tmp_path, "a.tif", "--axes", "t,y,x")
    assert names == "tyx"
    numpy.testing.assert_array_equal(got, values)


def test_pages_without_metadata_are_slices(sherd, tmp_path):
    values = noise(5, 6, 7)
    tifffile.imwrite(tmp_path / "a.tif", values, metadata=None, photometric="minisblack")
    got, names, attributes = imported(sherd, tmp_path, "a.tif")
    assert names == "zyx" and attributes == {}
    numpy.testing.assert_array_equal(got, values)


@pytest.mark.parametrize("axes", ["TCZYX", "TZCYX", "CTZYX", "CZTYX", "ZTCYX", "ZCTYX", "ZCYX", "CYX", "TYX", "ZYX", "YX"])
def test_an_ome_tiff_of_any_order_becomes_times_channels_and_slices(sherd, tmp_path, axes):
    lengths = {"T": 2, "Z": 3, "C": 4, "Y": 5, "X": 6}
    values = noise(*(lengths[axis] for axis in axes))
    tifffile.imwrite(tmp_path / "a.ome.tif", values, metadata={"axes": axes})
    got, names, _ = imported(sherd, tmp_path, "a.ome.tif")
    expected, expected_names = squeezed(values, axes)
    assert names == expected_names
    numpy.testing.assert_array_equal(got, expected)


def ome_xml(planes="", pixels="", order="XYCZT", sizes=(2, 4, 3), root="", images=""):
    t, c, z = sizes
    return (f'<?xml version="1.0" encoding="UTF-8"?><o:OME xmlns:o="http://www.openmicroscopy.org/Schemas/OME/2016-06" '
            f'{root}><o:Image ID="Image:0"><o:Pixels ID="Pixels:0" Type="uint16" DimensionOrder="{order}" SizeX="6" '
            f'SizeY="5" SizeT="{t}" SizeC="{c}" SizeZ="{z}" {pixels}>{planes}</o:Pixels></o:Image>{images}</o:OME>')


def with_xml(path, values, xml):
    tifffile.imwrite(path, values, metadata=None, description=xml, ome=False)


@pytest.mark.parametrize("order", OME_ORDERS)
def test_tiff_data_says_which_page_is_which_plane(sherd, tmp_path, order):
    values = noise(2, 4, 3, 5, 6)
    places = [(t, c, z) for t in range(2) for c in range(4) for z in range(3)]
    shuffled = [places[i] for i in RANDOM.permutation(len(places))]
    planes = "".join(f'<o:TiffData IFD="{i}" FirstT="{t}" FirstC="{c}" FirstZ="{z}" PlaneCount="1"/>'
                     for i, (t, c, z) in enumerate(shuffled))
    with_xml(tmp_path / "a.ome.tif", numpy.stack([values[place] for place in shuffled]), ome_xml(planes, order=order))
    got, names, _ = imported(sherd, tmp_path, "a.ome.tif")
    assert names == "tczyx"
    numpy.testing.assert_array_equal(got, values)


def test_spacing_names_and_colours_come_from_ome_xml(sherd, tmp_path):
    tifffile.imwrite(
        tmp_path / "a.ome.tif", noise(2, 3, 4, 5, 6), photometric="minisblack",
        metadata={"axes": "TCZYX", "PhysicalSizeX": 0.1, "PhysicalSizeXUnit": "µm", "PhysicalSizeY": 0.2,
                  "PhysicalSizeZ": 300, "PhysicalSizeZUnit": "nm", "TimeIncrement": 1.5, "TimeIncrementUnit": "min",
                  "Channel": {"Name": ["DAPI", "GFP & more", "ünï"], "Color": [65535, 16711935, -16776961]}})
    _, names, attributes = imported(sherd, tmp_path, "a.ome.tif")
    assert names == "tczyx"
    assert attributes["spacing"] == [1.5, None, 300, 0.2, 0.1]
    assert attributes["units"] == ["min", None, "nm", "um", "um"]
    assert attributes["channels"] == [{"label": "DAPI", "color": "0000FF"}, {"label": "GFP & more", "color": "00FF00"},
                                      {"label": "ünï", "color": "FF0000"}]


def exported_channels(path):
    with tifffile.TiffFile(path) as tiff:
        channels = tifffile.xml2dict(tiff.ome_metadata)["OME"]["Image"]["Pixels"]["Channel"]
    return [(channel.get("Name"), channel.get("Color")) for channel in channels]


def test_names_and_colours_of_channels_come_back_from_a_copy(sherd, tmp_path):
    named = [("DAPI", 65535), ("GFP & more", 16711935), ("ünï", -16776961)]
    tifffile.imwrite(tmp_path / "a.ome.tif", noise(3, 4, 5, 6), photometric="minisblack", metadata={
        "axes": "CZYX", "Channel": {"Name": [name for name, _ in named], "Color": [color for _, color in named]}})
    sherd.ok("import", "a.ome.tif", "a.zarr")
    sherd.ok("copy", "a.zarr", "b.zarr", "--chunks", "1,2,5,6")
    for array in ["a.zarr", "b.zarr"]:
        sherd.ok("export", array, "b.tif")
        assert exported_channels(tmp_path / "b.tif") == named


def test_channels_that_are_not_one_object_per_channel_are_not_exported(sherd, tmp_path):
    numpy.save(tmp_path / "a.npy", noise(2, 5, 6))
    for channels in [[{"label": "DAPI"}], [{"label": "a"}] * 3, "two", {"label": "a"}, [1, "x"], [{"label": 1}, {}]]:
        sherd.ok("import", "a.npy", "a.zarr", "--overwrite", "--dimension-names", "c,y,x", "--attributes",
                 json.dumps({"channels": channels}))
        sherd.ok("export", "a.zarr", "b.tif")
        assert exported_channels(tmp_path / "b.tif") == [(None, None)] * 2


@pytest.mark.parametrize("axes", ["YXS", "ZYXS", "TZYXS", "SYX", "ZSYX"])
def test_samples_of_an_ome_tiff_are_channels(sherd, tmp_path, axes):
    lengths = {"T": 2, "Z": 4, "Y": 5, "X": 6, "S": 3}
    values = noise(*(lengths[axis] for axis in axes), dtype="uint8")
    tifffile.imwrite(tmp_path / "a.ome.tif", values, photometric="rgb", metadata={"axes": axes},
                     planarconfig="separate" if axes.endswith("SYX") else "contig")
    got, names, attributes = imported(sherd, tmp_path, "a.ome.tif", "--chunks", ",".join(["2"] * len(axes)))
    expected, expected_names = squeezed(values, axes.replace("S", "C"))
    assert names == expected_names
    numpy.testing.assert_array_equal(got, expected)
    assert [channel["color"] for channel in attributes["channels"]] == ["FF0000", "00FF00", "0000FF"]


def test_of_several_images_the_first_is_imported_and_a_note_says_so(sherd, tmp_path):
    first, second = noise(2, 5, 6), noise(3, 7, 9)
    with tifffile.TiffWriter(tmp_path / "a.ome.tif", ome=True) as tiff:
        tiff.write(first, metadata={"axes": "CYX"})
        tiff.write(second, metadata={"axes": "ZYX"})
    ran = sherd.ok("import", "a.ome.tif", "a.zarr")
    assert "holds 2 images" in ran.stderr and "only the first" in ran.stderr
    array = zarr.open_array(tmp_path / "a.zarr", mode="r")
    numpy.testing.assert_array_equal(array[...], first)


@pytest.mark.parametrize(("xml", "says"), [
    (ome_xml("<o:TiffData"), "malformed at byte"),
    (ome_xml(order="XYZZZ"), "DimensionOrder 'XYZZZ'"),
    (ome_xml(sizes=(2, 4, 4)), "SizeT 2, SizeC 4, SizeZ 4, the file has 24 pages"),
    (ome_xml(sizes=("9" * 19, "9" * 19, 1)), "the file has 24 pages"),
    (ome_xml(sizes=("-1", 4, 3)), "Pixels.SizeT is '-1'"),
    (ome_xml(sizes=(0, 4, 3)), "SizeT 0"),
    (ome_xml().replace('SizeX="6"', 'SizeX="7"'), "says 7x5 pixels, the page has 6x5"),
    (ome_xml('<o:TiffData IFD="24"/>'), "IFD 24"),
    (ome_xml('<o:TiffData IFD="18446744073709551615" PlaneCount="2"/>'), "IFD 18446744073709551615"),
    (ome_xml('<o:TiffData IFD="3" PlaneCount="22"/>'), "maps 22 planes"),
    (ome_xml('<o:TiffData FirstZ="3"/>'), "z=3"),
    (ome_xml('<o:TiffData IFD="0" PlaneCount="23"/>'), "leaves out the plane of t=1, c=3, z=2"),
    (ome_xml('<o:TiffData/><o:TiffData/>'), "two pages to one plane"),
    (ome_xml().replace("o:Pixels", "o:Pixel"), "describes no image"),
])
def test_contradicting_ome_xml_is_refused_unless_axes_are_named(sherd, tmp_path, xml, says):
    values = noise(24, 5, 6)
    with_xml(tmp_path / "a.ome.tif", values, xml)
    ran = sherd("import", "a.ome.tif", "a.zarr")
    assert ran.code == 4 and says in ran.stderr and "a.ome.tif" in ran.stderr and "'axes'" in ran.stderr, ran.stderr
    assert not (tmp_path / "a.zarr").exists()
    got, names, _ = imported(sherd, tmp_path, "a.ome.tif", "--axes", "z,y,x")
    assert names == "zyx"
    numpy.testing.assert_array_equal(got, values)


def test_a_renamed_file_is_known_by_its_identifier(sherd, tmp_path):
    own = '<o:TiffData><o:UUID FileName="before.ome.tif">urn:uuid:1</o:UUID></o:TiffData>'
    with_xml(tmp_path / "renamed.ome.tif", noise(24, 5, 6), ome_xml(own, root='UUID="urn:uuid:1"'))
    assert imported(sherd, tmp_path, "renamed.ome.tif")[1] == "tczyx"


@pytest.mark.parametrize(("scheme", "name"), [(33005, "JPEG 2000"), (50002, "JPEG XL"), (34934, "JPEG XR"),
                                              (4711, "the unknown scheme 4711")])
def test_a_compression_that_libtiff_lacks_is_unsupported_by_name(sherd, tmp_path, scheme, name):
    tifffile.imwrite(tmp_path / "a.tif", noise(5, 6), metadata=None)
    with tifffile.TiffFile(tmp_path / "a.tif", mode="r+b") as file:
        file.pages[0].tags["Compression"].overwrite(scheme)
    ran = sherd("import", "a.tif", "a.zarr")
    assert ran.code == 5 and name in ran.stderr and "a.tif" in ran.stderr, ran.stderr


def test_a_stack_of_files_with_channels_is_refused(sherd, tmp_path):
    for i in range(2):
        tifffile.imwrite(tmp_path / f"a{i}.tif", noise(3, 5, 6), imagej=True, metadata={"axes": "CYX"})
    ran = sherd("import", "a*.tif", "a.zarr")
    assert ran.code == 2 and "a0.tif" in ran.stderr and "channels" in ran.stderr


def test_a_pyramid_of_a_hyperstack_halves_neither_channels_nor_times(sherd, tmp_path):
    values = noise(2, 4, 6, 8, 10)  # t, z, c, y, x
    tifffile.imwrite(tmp_path / "a.tif", values, imagej=True, resolution=(4, 4),
                     metadata={"axes": "TZCYX", "spacing": 3.5, "unit": "um", "finterval": 0.5})
    sherd.ok("import", "a.tif", "a.zarr")
    sherd.ok("copy", "a.zarr", "p.zarr", "--pyramid", "mean:1", "--factors", "2,2,2")
    group = zarr.open_group(tmp_path / "p.zarr", mode="r")
    fine = values.transpose(0, 2, 1, 3, 4)
    numpy.testing.assert_array_equal(group["0"][...], fine)
    means = fine.reshape(2, 6, 2, 2, 4, 2, 5, 2).astype("f8").mean(axis=(3, 5, 7))
    numpy.testing.assert_array_equal(group["1"][...], numpy.rint(means))
    (scales,) = group.attrs["ome"]["multiscales"]
    assert scales["axes"] == [{"name": "t", "type": "time", "unit": "second"}, {"name": "c", "type": "channel"}] + [
        {"name": name, "type": "space", "unit": "micrometer"} for name in "zyx"]
    assert [data["coordinateTransformations"][0]["scale"] for data in scales["datasets"]] == [
        [0.5, 1, 3.5, 0.25, 0.25], [0.5, 1, 7, 0.5, 0.5]]


def test_channels_become_those_of_omero_in_a_pyramid(sherd, tmp_path):
    tifffile.imwrite(tmp_path / "a.ome.tif", noise(2, 4, 8, 10), photometric="minisblack",
                     metadata={"axes": "CZYX", "Channel": {"Name": ["DAPI", "GFP"], "Color": [65535, 16711935]}})
    sherd.ok("import", "a.ome.tif", "a.zarr")
    sherd.ok("copy", "a.zarr", "p.zarr", "--pyramid", "mean:1")
    window = {"min": 0, "max": 65535, "start": 0, "end": 65535}
    assert zarr.open_group(tmp_path / "p.zarr", mode="r").attrs["ome"]["omero"] == {"channels": [
        {"label": "DAPI", "color": "0000FF", "active": True, "window": window},
        {"label": "GFP", "color": "00FF00", "active": True, "window": window}]}


def sources(tmp_path):
    """A volume in every format that can hold it."""
    import nibabel
    from PIL import Image

    values = noise(4, 5, 6, dtype="uint8")
    numpy.save(tmp_path / "a.npy", values)
    (tmp_path / "a.raw").write_bytes(values.tobytes())
    nibabel.save(nibabel.Nifti1Image(values.T, numpy.diag([2, 2, 2, 1])), tmp_path / "a.nii")
    tifffile.imwrite(tmp_path / "a.tif", values, metadata=None, photometric="minisblack")
    for z, plane in enumerate(values):
        Image.fromarray(plane).save(tmp_path / f"a{z}.png")
        Image.fromarray(plane).save(tmp_path / f"a{z}.pgm")
    return values, [["a.npy"], ["a.raw", "--shape", "4,5,6", "--dtype", "uint8"], ["a.nii"], ["a.tif"], ["a*.png"], ["a*.pgm"]]


def test_axes_spacing_and_units_of_any_file_may_be_named(sherd, tmp_path):
    values, files = sources(tmp_path)
    for file in files:
        got, names, attributes = imported(sherd, tmp_path, *file, "--axes", "t,y,x", "--spacing", "0.5,8,8", "--units",
                                          "second,nanometer,nanometer")
        assert names == "tyx", file
        assert attributes["spacing"] == [0.5, 8, 8] and attributes["units"] == ["second", "nanometer", "nanometer"]
        numpy.testing.assert_array_equal(got, values)
        _, names, attributes = imported(sherd, tmp_path, *file, "--axes", "z,y,x", "--resolution", "4,8,40")
        assert attributes["spacing"] == [40, 8, 4] and attributes["units"] == ["nanometer"] * 3 and names == "zyx"
        assert "affine" not in attributes
        _, names, attributes = imported(sherd, tmp_path, *file, "--spacing", "40,8,4", "--units", "um")
        assert attributes["spacing"] == [40, 8, 4] and attributes["units"] == ["um"] * 3


def test_spacing_has_a_number_for_each_dimension_or_spatial_one(sherd, tmp_path):
    numpy.save(tmp_path / "a.npy", noise(2, 3, 4, 5, 6))
    axes = ["--axes", "t,c,z,y,x"]
    _, _, attributes = imported(sherd, tmp_path, "a.npy", *axes, "--spacing", "40,8,4", "--units", "nm")
    assert attributes["spacing"] == [None, None, 40, 8, 4] and attributes["units"] == [None, None, "nm", "nm", "nm"]
    _, _, attributes = imported(sherd, tmp_path, "a.npy", *axes, "--spacing", "0.5,1,40,8,4", "--units", "s,,nm,nm,nm")
    assert attributes["spacing"] == [0.5, 1, 40, 8, 4] and attributes["units"] == ["s", None, "nm", "nm", "nm"]
    sherd.ok("copy", "a.zarr", "p.zarr", "--pyramid", "mean:1")
    (scales,) = json.loads((tmp_path / "p.zarr/zarr.json").read_text())["attributes"]["ome"]["multiscales"]
    assert [axis.get("unit") for axis in scales["axes"]] == ["second", None, "nanometer", "nanometer", "nanometer"]
    assert scales["datasets"][0]["coordinateTransformations"][0]["scale"] == [0.5, 1, 40, 8, 4]


def test_the_resolution_goes_into_a_volume(sherd, tmp_path):
    tifffile.imwrite(tmp_path / "a.tif", noise(4, 5, 6), metadata=None, photometric="minisblack")
    sherd.ok("import", "a.tif", "a.zarr", "--resolution", "4,4,40")
    sherd.ok("copy", "a.zarr", "em", "--to", "precomputed")
    assert json.loads((tmp_path / "em/info").read_text())["scales"][0]["resolution"] == [4, 4, 40]


@pytest.mark.parametrize(("options", "resolution"), [
    ([], [100, 200, 300]), (["--resolution", "4,4,40"], [4, 4, 40]), (["--spacing", "3,2,1"], [1000, 2000, 3000])])
def test_a_volume_in_the_same_files_has_the_resolution_of_the_array(sherd, tmp_path, options, resolution):
    tifffile.imwrite(tmp_path / "a.ome.tif", noise(8, 8, 8), photometric="minisblack",
                     metadata={"axes": "ZYX", "PhysicalSizeX": 0.1, "PhysicalSizeY": 0.2, "PhysicalSizeZ": 0.3})
    sherd.ok("import", "a.ome.tif", "a.zarr", "--layout", "zarr+neuroglancer", "--chunks", "4,4,4", "--shards", "8,8,8",
             *options)
    assert json.loads((tmp_path / "a.zarr/info").read_text())["scales"][0]["resolution"] == resolution


@pytest.mark.parametrize(("options", "says"), [
    (["--axes", "z,y"], "--axes: 2 axes are named, and the array has 3 dimensions"),
    (["--axes", "t,c,z,y,x"], "--axes: 5 axes"),
    (["--axes", "z,y,q"], "--axes: 'q'"),
    (["--axes", "z,y,y"], "--axes: the axis y"),
    (["--axes", "z,y,x", "--dimension-names", "a,b,c"], "--axes: cannot be combined"),
    (["--spacing", "8,8"], "--spacing: has 2 entries"),
    (["--spacing", "8,8,0"], "--spacing: '8,8,0'"),
    (["--spacing", "8,8,-1"], "--spacing: "),
    (["--spacing", "8,8,x"], "--spacing: "),
    (["--spacing", "8,8,1e999"], "--spacing: "),
    (["--units", "furlong"], "--units: 'furlong'"),
    (["--units", "nm,nm"], "--units: has 2 entries"),
    (["--units", "s"], "--units: 's' is a unit of time"),
    (["--axes", "t,y,x", "--units", "nm,nm,nm"], "--units: 'nm' is a unit of length"),
    (["--resolution", "4,4"], "--resolution: "),
    (["--axes", "z,y,x", "--resolution", "4,4,0"], "--resolution: "),
    (["--resolution", "4,4,40"], "--resolution: no dimension"),
    (["--axes", "z,y,x", "--resolution", "4,4,40", "--units", "nm"], "--resolution: cannot be combined"),
    (["--spacing", "4,4,40", "--attributes", '{"spacing": [1, 1, 1]}'], "--spacing: cannot be combined"),
])
def test_options_of_space_that_are_wrong_are_usage_errors_that_name_them(sherd, tmp_path, options, says):
    numpy.save(tmp_path / "a.npy", noise(4, 5, 6))
    ran = sherd("import", "a.npy", "a.zarr", *options)
    assert ran.code == 2 and says in ran.stderr, ran.stderr
    assert not (tmp_path / "a.zarr").exists()

POSITIONS = {"PositionX": [12.5] * 3, "PositionXUnit": ["µm"] * 3, "PositionY": [-0.004] * 3, "PositionYUnit": ["mm"] * 3,
             "PositionZ": [30.0, 30.9, 31.8], "PositionZUnit": ["µm"] * 3}
SIZES = {"axes": "ZYX", "PhysicalSizeX": 0.5, "PhysicalSizeXUnit": "µm", "PhysicalSizeY": 0.5, "PhysicalSizeYUnit": "µm",
         "PhysicalSizeZ": 0.9, "PhysicalSizeZUnit": "µm"}


def positions(path):
    """Of the first plane, and all sizes, as tifffile reads them."""
    with tifffile.TiffFile(path) as file:
        pixels = tifffile.xml2dict(file.ome_metadata)["OME"]["Image"]["Pixels"]
    plane = pixels.get("Plane", {})
    plane = plane[0] if isinstance(plane, list) else plane
    return [(plane.get(f"Position{axis}"), plane.get(f"Position{axis}Unit")) for axis in "XYZ"]


def test_positions_of_planes_are_the_position_of_the_image(sherd, tmp_path):
    values = noise(3, 5, 6)
    tifffile.imwrite(tmp_path / "a.ome.tif", values, metadata={**SIZES, "Plane": POSITIONS})
    assert positions(tmp_path / "a.ome.tif") == [(12.5, "µm"), (-0.004, "mm"), (30.0, "µm")]
    got, _, attributes = imported(sherd, tmp_path, "a.ome.tif")
    numpy.testing.assert_array_equal(got, values)
    assert attributes["spacing"] == [0.9, 0.5, 0.5]
    assert attributes["voxel_offset"] == pytest.approx([30 / 0.9, -8, 25], rel=1e-11)
    sherd.ok("copy", "a.zarr", "img.zarr", "--pyramid", "mean:1")
    ome = zarr.open_group(tmp_path / "img.zarr", mode="r").attrs["ome"]
    steps = ome["multiscales"][0]["datasets"][0]["coordinateTransformations"]
    assert steps == [{"type": "scale", "scale": [0.9, 0.5, 0.5]}, {"type": "translation", "translation": [30, -4, 12.5]}]
    sherd.ok("copy", "a.zarr", "v", "--to", "precomputed")
    (scale,) = json.loads((tmp_path / "v/info").read_text())["scales"]
    assert (scale["resolution"], scale["voxel_offset"]) == ([500, 500, 900], [25, -8, 33])
    for source in ("a.zarr", "img.zarr"):
        sherd.ok("export", source, "b.ome.tif")
        assert positions(tmp_path / "b.ome.tif") == [(12.5, "µm"), (-4, "µm"), (30, "µm")]
    again, _, attributes_again = imported(sherd, tmp_path, "b.ome.tif")
    numpy.testing.assert_array_equal(again, values)
    assert attributes_again["voxel_offset"] == attributes["voxel_offset"]


def test_positions_that_no_plane_has_are_not_invented(sherd, tmp_path):
    sizes = 'PhysicalSizeX="0.5" PhysicalSizeY="0.5" PhysicalSizeZ="0.9"'
    for plane in ['<o:Plane TheZ="0" TheC="0" TheT="0" PositionX="12.5"/>', '<o:Plane TheZ="1" TheC="0" TheT="0" '
                  'PositionX="12.5" PositionXUnit="µm"/>', '<o:Plane TheZ="0" TheC="0" TheT="0" PositionX="12.5" '
                  'PositionXUnit="pixel"/>', '<o:Plane TheZ="0" TheC="0" TheT="0" PositionX="nan" PositionXUnit="µm"/>']:
        with_xml(tmp_path / "a.tif", noise(24, 5, 6), ome_xml(plane, sizes).encode())
        assert "voxel_offset" not in imported(sherd, tmp_path, "a.tif")[2], plane
    tifffile.imwrite(tmp_path / "a.ome.tif", noise(3, 5, 6), metadata={"axes": "ZYX", "Plane": POSITIONS})
    assert "voxel_offset" not in imported(sherd, tmp_path, "a.ome.tif")[2], "without a spacing"
    numpy.save(tmp_path / "a.npy", noise(3, 5, 6))
    sherd.ok("import", "a.npy", "a.zarr", "--axes", "z,y,x", "--spacing", "2,2,2", "--units", "um", "--overwrite")
    sherd.ok("export", "a.zarr", "b.ome.tif")
    assert positions(tmp_path / "b.ome.tif") == [(None, None)] * 3


def test_another_spacing_keeps_the_position_in_elements(sherd, tmp_path):
    tifffile.imwrite(tmp_path / "a.ome.tif", noise(3, 5, 6), metadata={**SIZES, "Plane": POSITIONS})
    expected = imported(sherd, tmp_path, "a.ome.tif")[2]["voxel_offset"]
    assert imported(sherd, tmp_path, "a.ome.tif", "--spacing", "1,2,3")[2]["voxel_offset"] == expected
    assert imported(sherd, tmp_path, "a.ome.tif", "--resolution", "4,4,40")[2]["voxel_offset"] == expected


def test_the_samples_of_an_ome_tiff_are_channels_before_y_and_x(sherd, tmp_path):
    values = noise(5, 6, 3, dtype="uint8")
    numpy.save(tmp_path / "rgb.npy", values)
    sherd.ok("import", "rgb.npy", "rgb.zarr", "--axes", "y,x,c")
    sherd.ok("export", "rgb.zarr", "rgb.ome.tif")
    numpy.testing.assert_array_equal(tifffile.imread(tmp_path / "rgb.ome.tif"), values)
    got, names, _ = imported(sherd, tmp_path, "rgb.ome.tif")
    assert names == "cyx"
    numpy.testing.assert_array_equal(got, values.transpose(2, 0, 1))
    sherd.ok("export", "a.zarr", "again.ome.tif")
    numpy.testing.assert_array_equal(tifffile.imread(tmp_path / "again.ome.tif"), values)


def test_the_name_of_an_ome_tiff_is_that_of_the_image(sherd, tmp_path):
    tifffile.imwrite(tmp_path / "a.ome.tif", noise(3, 5, 6), metadata={**SIZES, "Name": "Fish & Chips 3 µm"})
    assert imported(sherd, tmp_path, "a.ome.tif")[2]["image_name"] == "Fish & Chips 3 µm"
    sherd.ok("import", "a.ome.tif", "img.zarr", "--pyramid", "mean:1")
    sherd.ok("copy", "a.zarr", "img2.zarr", "--pyramid", "mean:1")
    for image in ("img.zarr", "img2.zarr"):
        ome = json.loads((tmp_path / image / "zarr.json").read_text())["attributes"]["ome"]
        assert ome["multiscales"][0]["name"] == "Fish & Chips 3 µm"
        sherd.ok("export", f"{image}/0", "b.ome.tif")
        with tifffile.TiffFile(tmp_path / "b.ome.tif") as file:
            assert tifffile.xml2dict(file.ome_metadata)["OME"]["Image"]["Name"] == "Fish & Chips 3 µm"
