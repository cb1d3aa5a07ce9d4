"""OME-TIFF images whose planes are in several files next to each other."""

import numpy
import pytest
import tifffile
from cli.hyperstacks_test import imported, noise, ome_xml, with_xml


def make_set(tmp_path, names, metadata=None):
    """An image of c, z in files of two channels each, all with the same OME-XML or a reference to it."""
    values = noise(2 * len(names), 3, 5, 6)
    planes = "".join(
        f'<o:TiffData FirstC="{2 * i + c}" IFD="{3 * c}" PlaneCount="3"><o:UUID FileName="{name}">urn:uuid:{i}</o:UUID></o:TiffData>'
        for i, name in enumerate(names) for c in range(2))
    for i, name in enumerate(names):
        xml = ome_xml(planes, order="XYZCT", sizes=(1, len(values), 3), root=f'UUID="urn:uuid:{i}"')
        if metadata and name != metadata:
            xml = f'<OME UUID="urn:uuid:{i}"><BinaryOnly MetadataFile="{metadata}" UUID="urn:uuid:m"/></OME>'
        with_xml(tmp_path / name, values[2 * i:2 * i + 2].reshape(6, 5, 6), xml)
    return values, ome_xml(planes, order="XYZCT", sizes=(1, len(values), 3), root='UUID="urn:uuid:m"')


@pytest.mark.parametrize("name", ["a.ome.tif", "b.ome.tif", "c.ome.tif"])
def test_an_image_in_several_files_is_read_from_any_of_them(sherd, tmp_path, name):
    values, _ = make_set(tmp_path, ["a.ome.tif", "b.ome.tif", "c.ome.tif"])
    numpy.testing.assert_array_equal(tifffile.imread(tmp_path / name), values)
    got, names, _ = imported(sherd, tmp_path, name)
    assert names == "czyx"
    numpy.testing.assert_array_equal(got, values)
    ran = sherd("import", "*.ome.tif", "b.zarr")
    assert ran.code == 2 and "one of several files of one image" in ran.stderr


@pytest.mark.parametrize("metadata", ["a.ome.tif", "set.companion.ome"])
def test_an_image_in_several_files_may_be_described_by_one_of_them(sherd, tmp_path, metadata):
    values, xml = make_set(tmp_path, ["a.ome.tif", "b.ome.tif"], metadata)
    if not (tmp_path / metadata).exists():
        (tmp_path / metadata).write_text(xml)
    numpy.testing.assert_array_equal(imported(sherd, tmp_path, "b.ome.tif")[0], values)


def test_the_image_of_a_file_that_has_a_position_of_its_own_is_read(sherd, tmp_path):
    values = [noise(24, 5, 6), noise(24, 5, 6)]
    images = [f'<o:TiffData PlaneCount="24" IFD="0"><o:UUID FileName="p{i}.ome.tif">urn:uuid:{i}</o:UUID></o:TiffData>' for i in (0, 1)]
    second = ome_xml(images[1]).split("<o:Image", 1)[1].split("</o:Image>")[0]
    for i in (0, 1):
        with_xml(tmp_path / f"p{i}.ome.tif", values[i],
                 ome_xml(images[0], root=f'UUID="urn:uuid:{i}"', images=f"<o:Image{second}</o:Image>"))
    got, names, _ = imported(sherd, tmp_path, "p1.ome.tif")
    numpy.testing.assert_array_equal(numpy.sort(got, axis=None), numpy.sort(values[1], axis=None))


def test_missing_files_of_an_image_are_named(sherd, tmp_path):
    values, _ = make_set(tmp_path, ["a.ome.tif", "b.ome.tif", "c.ome.tif"])
    (tmp_path / "b.ome.tif").unlink()
    ran = sherd("import", "a.ome.tif", "a.zarr")
    assert ran.code == 3 and "one of the 3 files" in ran.stderr and "'b.ome.tif' is missing" in ran.stderr, ran.stderr
    numpy.testing.assert_array_equal(imported(sherd, tmp_path, "a.ome.tif", "--axes", "z,y,x")[0], values[:2].reshape(6, 5, 6))
    make_set(tmp_path, ["d.ome.tif", "e.ome.tif"], "set.companion.ome")
    ran = sherd("import", "d.ome.tif", "d.zarr")
    assert ran.code == 3 and "'set.companion.ome'" in ran.stderr and "d.ome.tif" in ran.stderr


@pytest.mark.parametrize("name", ["../b.ome.tif", "sub/b.ome.tif", "..", ""])
def test_files_of_an_image_are_only_those_next_to_it(sherd, tmp_path, name):
    other = f'<o:TiffData><o:UUID FileName="{name}">urn:uuid:2</o:UUID></o:TiffData>'
    with_xml(tmp_path / "a.ome.tif", noise(24, 5, 6), ome_xml(other, root='UUID="urn:uuid:1"'))
    ran = sherd("import", "a.ome.tif", "a.zarr")
    assert ran.code == 4 and "without a valid name" in ran.stderr


def test_files_of_an_image_with_other_pages_are_refused(sherd, tmp_path):
    make_set(tmp_path, ["a.ome.tif", "b.ome.tif"])
    tifffile.imwrite(tmp_path / "b.ome.tif", noise(6, 4, 6))
    ran = sherd("import", "a.ome.tif", "a.zarr")
    assert ran.code == 2 and "b.ome.tif" in ran.stderr and "6x4" in ran.stderr
    tifffile.imwrite(tmp_path / "b.ome.tif", noise(5, 5, 6))
    ran = sherd("import", "a.ome.tif", "a.zarr")
    assert ran.code == 4 and "its files have 11 pages" in ran.stderr, ran.stderr
