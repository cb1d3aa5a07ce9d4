"""Files of other formats go in and out as they do with the command."""

import os
import pathlib

import cloudvolume
import nibabel
import numpy as np
import pytest
import sherd
import tifffile

DATA = np.arange(2 * 3 * 4, dtype="i2").reshape(2, 3, 4)


def test_nifti_goes_in_and_out_as_nibabel_has_it(tmp_path):
    volume = DATA.transpose(2, 1, 0)
    affine = np.diag([2.0, 3.0, 4.0, 1.0])
    nibabel.save(nibabel.Nifti1Image(volume, affine), tmp_path / "in.nii.gz")
    array = sherd.import_(tmp_path / "in.nii.gz", tmp_path / "a.zarr", chunks=(1, 3, 4), shards=(2, 3, 4), attributes={"mine": 1})
    assert np.array_equal(array[...], DATA) and array.dimension_names == ("z", "y", "x") and not array.read_only
    assert (array.chunks, array.shards, array.attrs["mine"], array.attrs["spacing"]) == ((1, 3, 4), (2, 3, 4), 1, [4, 3, 2])
    sherd.export(array, tmp_path / "out.nii")
    found = nibabel.load(tmp_path / "out.nii")
    assert np.array_equal(np.asarray(found.dataobj), volume) and np.array_equal(found.affine, affine)


def test_npy_goes_in_and_out_as_numpy_has_it(tmp_path):
    np.save(tmp_path / "in.npy", DATA)
    array = sherd.import_(str(tmp_path / "in.npy"), sherd.Store(tmp_path / "a"), compressors="gzip:1", axes="zyx", spacing=(4, 1, 1), units="um")
    assert np.array_equal(array[...], DATA) and array.compressors[0]["name"] == "gzip"
    assert np.array_equal(sherd.import_(os.fsencode(tmp_path / "in.npy"), os.fsencode(tmp_path / "bytes"))[...], DATA)
    assert (array.dimension_names, array.attrs["spacing"], array.attrs["units"]) == (("z", "y", "x"), [4, 1, 1], ["um"] * 3)
    sherd.export(array, tmp_path / "out.bin", to="npy")
    assert np.array_equal(np.load(tmp_path / "out.bin"), DATA)


def test_a_url_to_import_is_refused(tmp_path):
    for name in ("https://me:SECRET@h/a.npy?SECRET", "s3://b/a.nii"):
        with pytest.raises(sherd.Unsupported, match="is a URL, and only local files are imported") as refused:
            sherd.import_(name, tmp_path / "a.zarr")
        assert "SECRET" not in str(refused.value)
    with pytest.raises(sherd.Unsupported, match="is a URL, and files are written to local paths"):
        sherd.export(sherd.create_array("memory:", data=DATA), "s3://b/a.npy")


def test_tiff_goes_in_and_out_as_tifffile_has_it(tmp_path):
    tifffile.imwrite(tmp_path / "in.tif", DATA.astype("u2"))
    array = sherd.import_(tmp_path / "in.tif", tmp_path / "a", resolution=(8, 8, 40))
    assert np.array_equal(array[...], DATA)
    sherd.export(array, tmp_path / "out.tif")
    assert np.array_equal(tifffile.imread(tmp_path / "out.tif").squeeze(), DATA)


def test_plain_numbers_need_a_shape_and_a_type(tmp_path):
    (tmp_path / "in.raw").write_bytes(DATA.astype(">i2").tobytes())
    array = sherd.import_(tmp_path / "in.raw", tmp_path / "a", from_="raw", shape=DATA.shape, dtype="int16", big_endian=True)
    assert np.array_equal(array[...], DATA)
    for given in ({}, {"shape": (2, 3, 4)}, {"shape": (2, 3), "dtype": "int16"}):
        with pytest.raises(sherd.Error):
            sherd.import_(tmp_path / "in.raw", tmp_path / "b", from_="raw", **given)
    assert not (tmp_path / "b").exists()


ORDERS = [(">i2", {}), (np.dtype(">i2"), {}), ("i2", {"big_endian": True}), (">i2", {"big_endian": True}), (np.dtype([("a", ">i2")]), {})]


@pytest.mark.parametrize(("dtype", "options"), ORDERS, ids=str)
def test_plain_numbers_have_the_byte_order_of_their_type(tmp_path, dtype, options):
    DATA.astype(">i2").tofile(tmp_path / "in.raw")
    array = sherd.import_(tmp_path / "in.raw", tmp_path / "a", shape=DATA.shape, dtype=dtype, **options)
    assert np.array_equal(array[...].astype(np.dtype(dtype).newbyteorder("=")).view("i2").reshape(DATA.shape), DATA)
    DATA.astype("<i2").tofile(tmp_path / "in.raw")
    assert np.array_equal(sherd.import_(tmp_path / "in.raw", tmp_path / "b", shape=DATA.shape, dtype="<i2")[...], DATA)


def test_a_byte_order_that_contradicts_another_is_refused(tmp_path):
    DATA.tofile(tmp_path / "in.raw")
    for dtype, options in (("<i2", {"big_endian": True}), ([("a", ">i2"), ("b", "<i2")], {}), ([("a", ">i2"), ("b", "i2", 2)], {})):
        with pytest.raises(sherd.InvalidArgument, match="big_endian=True contradicts|both byte orders") as caught:
            sherd.import_(tmp_path / "in.raw", tmp_path / "a", shape=12, dtype=dtype, **options)
        assert caught.value.member == "dtype" and not (tmp_path / "a").exists()


def test_export_and_picture_accept_what_can_be_opened(tmp_path):
    sherd.save(tmp_path / "a.zarr", DATA)
    sherd.export(tmp_path / "a.zarr", tmp_path / "a.npy")
    assert np.array_equal(np.load(tmp_path / "a.npy"), DATA)
    np.save(tmp_path / "in.npy", np.repeat(DATA, 4, axis=2))
    for name, format in (("img.zarr", None), ("em", "precomputed")):
        sherd.import_(tmp_path / "in.npy", tmp_path / name, axes="zyx", resolution=(1, 1, 1), pyramid="mean:1", to=format)
        opened = sherd.open(tmp_path / name)
        for source in (tmp_path / name, str(tmp_path / name), sherd.Store(tmp_path / name), opened):
            sherd.export(source, tmp_path / "whole.tif")
            sherd.export(source, tmp_path / "half.tif", level=1)
            whole, half = (tifffile.imread(tmp_path / f"{each}.tif").squeeze() for each in ("whole", "half"))
            assert np.array_equal(whole, np.repeat(DATA, 4, axis=2)) and half.size * 4 <= whole.size
            sherd.picture(source, tmp_path / "p.png", level=1)
        with pytest.raises(sherd.NotFound, match="; it has 2, the finest is 0"):
            sherd.export(tmp_path / name, tmp_path / "x.tif", level=2)
    with pytest.raises(sherd.InvalidArgument, match="is one array"):
        sherd.export(tmp_path / "a.zarr", tmp_path / "x.npy", level=1)
    with pytest.raises(sherd.NotFound):
        sherd.picture(tmp_path / "nothing", tmp_path / "x.png")
    with pytest.raises(TypeError, match="array must be a path"):
        sherd.export(DATA, tmp_path / "x.npy")


def test_an_existing_destination_is_not_overwritten_unless_requested(tmp_path):
    np.save(tmp_path / "in.npy", DATA)
    array = sherd.import_(tmp_path / "in.npy", tmp_path / "a")
    with pytest.raises(sherd.Conflict):
        sherd.import_(tmp_path / "in.npy", tmp_path / "a")
    sherd.import_(tmp_path / "in.npy", tmp_path / "a", overwrite=True)
    sherd.export(array, tmp_path / "out.npy")
    with pytest.raises(sherd.Conflict):
        sherd.export(array, tmp_path / "out.npy", overwrite=False)


def test_an_error_names_the_argument(tmp_path):
    np.save(tmp_path / "in.npy", DATA)
    array = sherd.import_(tmp_path / "in.npy", tmp_path / "a")
    for given in ({"from_": "jpeg2000"}, {"compressors": "ztsd"}, {"spacing": "x"}, {"resolution": (1, 2)}, {"chunks": (2, 2)}):
        with pytest.raises(sherd.InvalidArgument):
            sherd.import_(tmp_path / "in.npy", tmp_path / "b", **given)
    with pytest.raises(sherd.InvalidArgument, match="MemoryStore"):
        sherd.import_(tmp_path / "in.npy", sherd.MemoryStore())
    with pytest.raises(sherd.NotFound):
        sherd.import_(tmp_path / "none.npy", tmp_path / "b")
    with pytest.raises(sherd.InvalidArgument):
        sherd.export(array, tmp_path / "out.xyz")
    with pytest.raises(sherd.InvalidArgument, match="is a group, not an array"):
        sherd.export(sherd.group(), tmp_path / "out.npy")
    assert {path.name for path in pathlib.Path(tmp_path).iterdir()} == {"in.npy", "a"}


def test_what_of_a_file_is_left_out_is_warned_of(tmp_path):
    with tifffile.TiffWriter(tmp_path / "two.ome.tif", ome=True) as file:
        file.write(np.ones((4, 4), "u1"), metadata={"axes": "YX"})
        file.write(np.zeros((2, 2), "u1"), metadata={"axes": "YX"})
    with pytest.warns(UserWarning, match="only the first is imported") as warned:
        array = sherd.import_(tmp_path / "two.ome.tif", tmp_path / "a")
    assert warned[0].filename == __file__ and array.shape == (4, 4) and (array[...] == 1).all()


@pytest.mark.parametrize("given", [{"units": "mm"}, {"resolution": (1e6, 1e6, 1e6)}, {"spacing": (1, 1, 1), "units": "mm"}])
def test_a_given_resolution_keeps_the_position(tmp_path, given):
    array = sherd.import_("/usr/share/mricron/templates/aal.nii.gz", tmp_path / "v", to="precomputed", **given)
    seen = cloudvolume.CloudVolume(f"file://{tmp_path}/v", progress=False)
    assert seen.bounds.minpt.tolist() == [-90, -125, -71] == list(array.voxel_offset[:3]) and seen.resolution.tolist() == [1e6] * 3


def test_a_file_becomes_a_volume_of_neuroglancers(tmp_path):
    data = np.random.default_rng(5).integers(1, 9, (9, 10, 11), dtype="u4")
    np.save(tmp_path / "in.npy", data)
    array = sherd.import_(tmp_path / "in.npy", tmp_path / "seg", to="precomputed", axes="zyx", resolution=(8, 8, 40),
                          voxel_offset=(4, -6, 2), type="segmentation", encoding="compressed_segmentation", sharding="auto",
                          pyramid="mode:1", factors=(1, 2, 2), chunks=(8, 8, 8))  # fmt: skip
    assert array.shape == (11, 10, 9, 1) and np.array_equal(array[..., 0], data.T) and array.voxel_offset == (4, -6, 2, 0)
    seen = cloudvolume.CloudVolume(f"file://{tmp_path}/seg", progress=False)
    assert np.array_equal(np.asarray(seen[:, :, :])[..., 0], data.T)
    assert seen.layer_type == "segmentation" and seen.encoding == "compressed_segmentation" and seen.scale["sharding"]
    assert [tuple(scale["resolution"]) for scale in seen.info["scales"]] == [(8, 8, 40), (16, 16, 40)]
    with pytest.raises(sherd.InvalidArgument, match="different formats") as caught:
        sherd.import_(tmp_path / "in.npy", tmp_path / "em", to="precomputed", format="zarr3", axes="zyx")
    assert caught.value.member == "to"
    with pytest.raises(sherd.InvalidArgument, match="no time") as caught:
        sherd.import_(tmp_path / "in.npy", tmp_path / "em", format="precomputed", axes="tyx")
    assert caught.value.member == "axes" and not (tmp_path / "em").exists()
    for given in ({"encoding": "png"}, {"sharding": "auto"}, {"type": "image"}):
        with pytest.raises(sherd.InvalidArgument) as caught:
            sherd.import_(tmp_path / "in.npy", tmp_path / "b", axes="zyx", **given)
        assert caught.value.member in given
    with pytest.raises(TypeError, match="voxel_offset must be an int"):
        sherd.import_(tmp_path / "in.npy", tmp_path / "b", axes="zyx", voxel_offset=(1, 2.5, 3))


def test_a_tiff_file_without_ome_xml_says_what_it_lacks(tmp_path):
    array = sherd.create_array(tmp_path / "a", data=np.zeros((3, 4, 5), "u8"), dimension_names=("z", "y", "x"))
    with pytest.warns(UserWarning, match="no OME-XML, which has no elements of type uint64"):
        sherd.export(array, tmp_path / "a.tif")
    assert tifffile.TiffFile(tmp_path / "a.tif").pages[0].description == ""


def test_a_plane_that_png_cannot_store_is_named_by_its_own_path(tmp_path):
    array = sherd.create_array(tmp_path / "a", data=np.zeros((3, 4, 5), "u8"), dimension_names=("z", "y", "x"))
    with pytest.raises(sherd.Unsupported, match="out/0.png': PNG holds uint8 and uint16"):
        sherd.export(array, tmp_path / "out", to="png")
    assert not (tmp_path / "out").exists()


def test_an_image_in_several_files_is_imported(tmp_path):
    values = np.arange(2 * 3 * 5 * 6, dtype=np.uint16).reshape(2, 3, 5, 6)
    planes = "".join(f'<TiffData FirstC="{i}" IFD="0" PlaneCount="3"><UUID FileName="c{i}.ome.tif">urn:uuid:{i}</UUID></TiffData>'
                     for i in (0, 1))
    for i in (0, 1):
        xml = (f'<OME xmlns="http://www.openmicroscopy.org/Schemas/OME/2016-06" UUID="urn:uuid:{i}"><Image ID="Image:0"><Pixels '
               f'ID="Pixels:0" Type="uint16" DimensionOrder="XYZCT" SizeX="6" SizeY="5" SizeZ="3" SizeC="2" SizeT="1">{planes}'
               '</Pixels></Image></OME>')
        tifffile.imwrite(tmp_path / f"c{i}.ome.tif", values[i], metadata=None, description=xml, ome=False, photometric="minisblack")
    np.testing.assert_array_equal(tifffile.imread(tmp_path / "c1.ome.tif"), values)
    array = sherd.import_(tmp_path / "c1.ome.tif", tmp_path / "a.zarr")
    np.testing.assert_array_equal(array[...], values)
    (tmp_path / "c0.ome.tif").unlink()
    with pytest.raises(sherd.NotFound, match="'c0.ome.tif' is missing"):
        sherd.import_(tmp_path / "c1.ome.tif", tmp_path / "b.zarr")


def test_a_compression_that_libtiff_lacks_is_unsupported(tmp_path):
    tifffile.imwrite(tmp_path / "a.tif", np.zeros((5, 6), np.uint8), metadata=None)
    with tifffile.TiffFile(tmp_path / "a.tif", mode="r+b") as file:
        file.pages[0].tags["Compression"].overwrite(33005)
    with pytest.raises(sherd.Unsupported, match="JPEG 2000"):
        sherd.import_(tmp_path / "a.tif", tmp_path / "a.zarr")
