"""copy --select, --dtype and --axes: a part of an array or image, in another type, with the metadata that hold for it."""

import json

import nibabel
import numpy as np
import pytest
import zarr

import sherd as library

DATA = np.random.default_rng(5).integers(0, 200, (10, 20, 30), dtype="u2")


@pytest.fixture
def source(tmp_path):
    array = library.create_array(tmp_path / "a.zarr", data=DATA, chunks=(2, 4, 5), shards=(4, 8, 10), dimension_names=("z", "y", "x"),
                                 attributes={"spacing": [40, 8, 8], "units": ["nm"] * 3, "note": 1})
    return array


def copied(sherd, *options, source="a.zarr"):
    """The copy, opened by zarr-python, and the report."""
    report = sherd.ok("copy", source, "b.zarr", "--overwrite", "--json", *options).json
    return zarr.open(sherd.folder / "b.zarr", mode="r"), report


@pytest.mark.parametrize("select", ["3:7,:,5:25", "0:8,8:16,10:30", "2:10,4:20,5:", "1", "...,-1", "3:4,:5", "2,4:8,7", "5:5"])
def test_a_box_has_the_elements_that_numpy_selects(sherd, source, select):
    wanted = eval(f"DATA[{select}]", {"DATA": DATA})
    made, _ = copied(sherd, "--select", select)
    assert made.shape == wanted.shape and np.array_equal(made[...], wanted)
    names = {key: name for name, key in zip("zyx", (0, 1, 2), strict=True)}
    kept = [names[d] for d in range(3) if d >= len(select.split(",")) or ":" in select.split(",")[d] or "." in select]
    assert list(made.metadata.dimension_names) == (kept if "..." not in select else ["z", "y"])


def test_encoded_chunks_are_moved_where_the_box_has_their_borders(sherd, source):
    _, report = copied(sherd, "--select", "2:10,4:,5:")  # chunks; shards have other contents
    assert report["chunks_encoded"] == 0 and report["chunks_moved"] == 4 * 4 * 5
    made, report = copied(sherd, "--select", "4:,8:16,10:")  # whole shards
    assert report["chunks_encoded"] == 0 and report["chunks_moved"] == 3 * 2 * 4
    folder = sherd.folder
    assert (folder / "b.zarr/c/0/0/1").read_bytes() == (folder / "a.zarr/c/1/1/2").read_bytes()
    _, report = copied(sherd, "--select", "1:10")
    assert report["chunks_moved"] == 0


def test_chunks_that_the_source_does_not_store_are_not_made(sherd, tmp_path):
    sparse = library.create_array(tmp_path / "a.zarr", shape=(10**6, 10**6), dtype="u1", chunks=(10, 10), fill_value=3)
    sparse[500_000:500_004, 7:11] = 9
    made, report = copied(sherd, "--select", "499995:500015,:", "--dtype", "f4")
    assert made.fill_value == 3 and made.nchunks_initialized == 2 == report["shards"]
    assert np.array_equal(made[0:20, 0:20], sparse[499_995:500_015, 0:20])


def test_metadata_say_where_the_box_is(sherd, source):
    made, _ = copied(sherd, "--select", "3:7,2,5:25")
    assert dict(made.attrs) == {"spacing": [40, 8], "units": ["nm", "nm"], "note": 1, "voxel_offset": [3, 5]}
    again = sherd.ok("copy", "b.zarr", "c.zarr", "--select", "1:,2:") and library.open(sherd.folder / "c.zarr")
    assert again.attrs["voxel_offset"] == [4, 7]


def test_numbers_are_converted_as_numpy_does(sherd, tmp_path, source):
    made, _ = copied(sherd, "--dtype", "u1")
    assert made.dtype == "u1" and np.array_equal(made[...], DATA.astype("u1")) and made.shards == (4, 8, 10)
    made, _ = copied(sherd, "--dtype", "<f4", "--select", "3")
    assert made.dtype == "f4" and np.array_equal(made[...], DATA[3].astype("f4"))
    values = np.array([-2.5, -0.5, 0.5, 1.5, 2.4, 100], "f8")
    library.save(tmp_path / "f.zarr", values)
    made, _ = copied(sherd, "--dtype", "int8", source="f.zarr")
    assert np.array_equal(made[...], np.rint(values).astype("i1"))
    library.save(tmp_path / "m.zarr", values > 0)
    made, _ = copied(sherd, "--dtype", "uint16", source="m.zarr")
    assert np.array_equal(made[...], (values > 0).astype("u2"))


@pytest.mark.parametrize("value, dtype, shown", [(300.0, "uint8", "300"), (float("nan"), "int32", '"NaN"'), (-1.0, "uint64", "-1")])
def test_a_number_out_of_range_is_named_with_its_position(sherd, tmp_path, value, dtype, shown):
    data = np.zeros((9, 9))
    data[7, 3] = value
    library.create_array(tmp_path / "a.zarr", data=data, chunks=(4, 4))
    ran = sherd("copy", "a.zarr", "b.zarr", "--dtype", dtype, "--select", "1:,2:")
    assert ran.code == 2 and ran.stderr.startswith("sherd: --dtype: element (7, 3) of the source is " + shown), ran.stderr
    assert not (tmp_path / "b.zarr").exists()


@pytest.fixture
def image(sherd, tmp_path):
    """t, c, z, y, x"""
    data = np.random.default_rng(6).integers(0, 255, (3, 2, 8, 16, 16), dtype="u1")
    library.create_array(tmp_path / "raw.zarr", data=data, chunks=(1, 1, 4, 8, 8), dimension_names=("t", "c", "z", "y", "x"), attributes={
        "spacing": [2, 1, 3, 0.5, 0.5], "units": ["s", None, "um", "um", "um"],
        "channels": [{"label": "green", "color": "00FF00"}, {"label": "red", "color": "FF0000"}]})
    sherd.ok("copy", "raw.zarr", "i.zarr", "--pyramid", "mean:1")
    return data


def test_a_part_of_an_ome_zarr_image_is_an_image(sherd, image):
    made, _ = copied(sherd, "--select", "1,:,2:6,4:12,:", "--pyramid", "mean:1", source="i.zarr")
    assert np.array_equal(made["0"][...], image[1, :, 2:6, 4:12]) and made["1"].shape[0] == 2
    ome = made.attrs["ome"]
    assert [axis["name"] for axis in ome["multiscales"][0]["axes"]] == ["c", "z", "y", "x"]
    assert ome["multiscales"][0]["datasets"][0]["coordinateTransformations"] == [
        {"type": "scale", "scale": [1, 3, 0.5, 0.5]}, {"type": "translation", "translation": [0, 6, 2, 0]}]
    assert [channel["label"] for channel in ome["omero"]["channels"]] == ["green", "red"]
    made, _ = copied(sherd, "--select", "1,1", source="i.zarr")  # the finest resolution alone
    assert list(made) == ["0"] and [channel["label"] for channel in made.attrs["ome"]["omero"]["channels"]] == ["red"]


def test_one_time_of_an_image_becomes_a_volume(sherd, tmp_path, image):
    sherd.ok("copy", "i.zarr", "em", "--to", "precomputed", "--select", "2,0,:,4:,:")
    volume = library.open_array(tmp_path / "em")
    assert np.array_equal(volume[..., 0], image[2, 0, :, 4:].transpose(2, 1, 0))
    assert json.loads((tmp_path / "em/info").read_text())["scales"][0]["voxel_offset"] == [0, 4, 0]


@pytest.mark.parametrize("sharding", ["none", "auto"])
def test_a_part_of_a_volume_is_where_it_was(sherd, tmp_path, sharding):
    from cloudvolume import CloudVolume

    data = np.random.default_rng(7).integers(1, 255, (70, 50, 40, 1), dtype="u1")
    sherd.ok("create", "em", "--store-format", "precomputed", "--shape", "70,50,40", "--dtype", "uint8", "--resolution", "8,8,40",
             "--voxel-offset", "100,200,300", "--chunks", "16,16,16", "--sharding", sharding)
    library.open_array(tmp_path / "em", mode="r+")[...] = data
    report = sherd.ok("copy", "em", "part", "--select", "16:64,16:,0:32", "--json").json
    assert report["chunks_encoded"] == 0
    volume = CloudVolume(f"file://{tmp_path}/part", progress=False)
    assert tuple(volume.bounds.minpt) == (116, 216, 300) and tuple(volume.bounds.maxpt) == (164, 250, 332)
    assert np.array_equal(volume[116:164, 216:250, 300:332], data[16:64, 16:, :32])
    sherd.ok("copy", "em", "part.zarr", "--to", "zarr3", "--select", "10:20,:,5", "--dtype", "uint16")
    ((_, made),) = zarr.open_group(tmp_path / "part.zarr", mode="r").arrays()
    assert np.array_equal(made[...], data[10:20, :, 5, 0].T) and made.dtype == "u2"


def test_the_affine_of_a_part_is_that_of_nibabel(sherd, tmp_path):
    affine = np.array([[0, -2, 0.5, 10], [1.5, 0, 0, -20], [0, 0.25, 3, 5], [0, 0, 0, 1]])
    given = nibabel.Nifti1Image(np.arange(6 * 7 * 8, dtype="i2").reshape(6, 7, 8), affine)
    nibabel.save(given, tmp_path / "a.nii")
    sherd.ok("import", "a.nii", "a.zarr")
    sherd.ok("copy", "a.zarr", "b.zarr", "--select", "3:7,1:,2:5")
    sherd.ok("export", "b.zarr", "b.nii")
    found, wanted = nibabel.load(tmp_path / "b.nii"), given.slicer[2:5, 1:, 3:7]
    assert np.array_equal(found.get_fdata(), wanted.get_fdata()) and np.allclose(found.affine, wanted.affine)


def test_axes_name_the_dimensions_of_the_copy(sherd, tmp_path):
    library.create_array(tmp_path / "a.zarr", data=DATA, chunks=(5, 10, 10), attributes={"k": 1})
    made, report = copied(sherd, "--axes", "t,y,x")
    assert made.metadata.dimension_names == ("t", "y", "x") and dict(made.attrs) == {"k": 1} and report["chunks_encoded"] == 0
    made, _ = copied(sherd, "--axes", "y,x", "--select", "0")
    assert made.metadata.dimension_names == ("y", "x")


@pytest.mark.parametrize("options, message", [
    (["--select", "::2"], "--select: only a box can be copied: steps must be 1, not 2"), (["--select", "0,0,0,0"], "--select: too many indices"),
    (["--select", "10"], "--select: dimension 0: index 10 is out of bounds"), (["--select", ""], "--select: is empty"),
    (["--dtype", "float33"], "--dtype"), (["--axes", "y,x"], "--axes: the copy has 3 dimensions"), (["--axes", "z,y,q"], "--axes: 'q' is not"),
    (["--dtype", "string"], "--dtype: only integers, floats and bool are converted"),
])
def test_wrong_parts_name_the_option(sherd, source, options, message):
    ran = sherd("copy", "a.zarr", "b.zarr", *options)
    assert ran.code in (2, 5) and message in ran.stderr, ran.stderr
    assert not (sherd.folder / "b.zarr").exists()


def test_a_part_of_a_group_is_refused(sherd, source, tmp_path):
    sherd.ok("copy", "a.zarr", "g.zarr/a")
    ran = sherd("copy", "g.zarr", "b.zarr", "--select", "0")
    assert ran.code == 2 and "copy one of its arrays" in ran.stderr


def test_python_copies_a_part(source, tmp_path):
    report = library.copy(source, tmp_path / "p.zarr", select=np.s_[2:, 3, ...], dtype="float32")
    made = library.open(tmp_path / "p.zarr")
    assert np.array_equal(made[...], DATA[2:, 3].astype("f4")) and made.dtype == "float32" and report["arrays"] == 1
    with pytest.raises(library.InvalidArgument, match="select"):
        library.copy(source, tmp_path / "q.zarr", select=np.s_[99])
