"""Files that go straight into volumes of Neuroglancer's, read again by cloud-volume."""

import json

import nibabel
import numpy
import pytest
import tifffile
from cloudvolume import CloudVolume

ZYX = numpy.random.default_rng(17).integers(1, 250, (20, 30, 40), dtype="u1")  # cloud-volume wants every chunk stored


def info_of(folder):
    return json.loads((folder / "info").read_text())


def seen(folder, **options):
    """All voxels x, y, z, channel."""
    return numpy.asarray(CloudVolume(f"file://{folder}", progress=False, **options)[:, :, :])


def test_the_scale_of_millimetres_is_called_as_one_that_is_created(sherd, tmp_path):
    image = nibabel.Nifti1Image(ZYX.T, numpy.diag([0.1, 0.5, 2, 1.0]))
    image.header.set_xyzt_units("mm")
    nibabel.save(image, tmp_path / "a.nii")
    sherd.ok("import", "a.nii", "em", "--to", "precomputed")
    sherd.ok("create", "made", "--store-format", "precomputed", "--shape", "4,4,4", "--dtype", "uint8", "--resolution", "100000,500000,2000000")
    for name in ("em", "made"):
        assert info_of(tmp_path / name)["scales"][0]["key"] == "100000_500000_2000000"


@pytest.mark.parametrize("how", ["--to", "--store-format"])
@pytest.mark.parametrize("options", [[], ["--sharding", "auto", "--chunks", "16,16,16"]], ids=["plain", "sharded"])
def test_a_nifti_file_gives_its_spacing_and_position_in_nanometres(sherd, tmp_path, how, options):
    affine = numpy.diag([0.5, 0.5, 2, 1.0])
    affine[:3, 3] = [5, -10, 40]
    image = nibabel.Nifti1Image(ZYX.T, affine)
    image.header.set_xyzt_units("micron")
    nibabel.save(image, tmp_path / "a.nii.gz")
    sherd.ok("import", "a.nii.gz", "em", how, "precomputed", *options)
    (scale,) = info_of(tmp_path / "em")["scales"]
    assert (scale["key"], scale["resolution"], scale["voxel_offset"]) == ("500_500_2000", [500, 500, 2000], [10, -20, 20])
    assert ("sharding" in scale) == bool(options)
    assert (seen(tmp_path / "em")[..., 0] == ZYX.T).all()
    sherd.ok("check", "em", "--data")
    sherd.ok("export", "em", "b.nii.gz")
    again = nibabel.load(tmp_path / "b.nii.gz")
    factor = {"micron": 1, "mm": 1e-3, "meter": 1e-6}[again.header.get_xyzt_units()[0]]
    assert numpy.allclose(again.affine[:3] * 1, affine[:3] * factor)


ATLAS = "/usr/share/mricron/templates/aal.nii.gz"  # 1 unit per voxel, of an unknown unit; begins at -90, -125, -71


@pytest.mark.parametrize(("options", "resolution"), [
    ([], 1), (["--units", "mm"], 1e6), (["--resolution", "1e6,1e6,1e6"], 1e6), (["--spacing", "2,2,2", "--units", "mm"], 2e6),
])
def test_a_given_resolution_keeps_the_position(sherd, tmp_path, options, resolution):
    sherd.ok("import", ATLAS, "v", "--to", "precomputed", *options)
    volume = CloudVolume(f"file://{tmp_path}/v", progress=False, fill_missing=True)
    assert volume.bounds.minpt.tolist() == [-90, -125, -71] and volume.resolution.tolist() == [resolution] * 3
    assert (volume[:, :, :][..., 0] == nibabel.load(ATLAS).get_fdata()).all()
    # An import and a copy give the volume, too; and back.
    sherd.ok("import", ATLAS, "a.zarr", *options)
    sherd.ok("copy", "a.zarr", "two", "--to", "precomputed", "--chunks", "64,64,64")
    assert info_of(tmp_path / "two")["scales"] == info_of(tmp_path / "v")["scales"]
    sherd.ok("export", "a.zarr", "again.nii")
    again = nibabel.load(tmp_path / "again.nii").affine
    assert (again[:3, 3] / numpy.diag(again)[:3]).tolist() == [-90, -125, -71]


@pytest.mark.parametrize("options", [[], ["--resolution", "2e6,2e6,2e6"]])
def test_an_affine_that_mirrors_is_left_out_and_named(sherd, tmp_path, options):
    image = nibabel.Nifti1Image(ZYX.T, numpy.diag([-2, 2, 2, 1.0]))
    image.header.set_xyzt_units("mm")
    nibabel.save(image, tmp_path / "a.nii")
    assert "the affine mirrors or turns the image" in sherd.ok("import", "a.nii", "em", "--to", "precomputed", *options).stderr
    (scale,) = info_of(tmp_path / "em")["scales"]
    assert (scale["resolution"], scale["voxel_offset"]) == ([2e6] * 3, [0, 0, 0])


def test_a_pyramid_of_labels_is_made_at_once(sherd, tmp_path):
    labels = (ZYX // 60).astype("uint64") + (1 << 40)
    numpy.save(tmp_path / "l.npy", labels)
    sherd.ok("import", "l.npy", "seg", "--to", "precomputed", "--axes", "z,y,x", "--resolution", "8,8,16", "--voxel-offset", "2,4,6",
             "--encoding", "compressed_segmentation", "--pyramid", "mode:2", "--factors", "2,2,2", "--chunks", "16,16,16", "--sharding", "auto")
    info = info_of(tmp_path / "seg")
    assert info["type"] == "segmentation" and info["data_type"] == "uint64"
    assert [scale["resolution"] for scale in info["scales"]] == [[8, 8, 16], [16, 16, 32], [32, 32, 64]]
    assert [scale["voxel_offset"] for scale in info["scales"]] == [[2, 4, 6], [1, 2, 3], [0, 1, 1]]
    assert all(scale["encoding"] == "compressed_segmentation" and "sharding" in scale for scale in info["scales"])
    assert (seen(tmp_path / "seg")[..., 0] == labels.T).all()

    # An import and a copy give the volume, too.
    sherd.ok("import", "l.npy", "l.zarr", "--axes", "z,y,x", "--resolution", "8,8,16", "--voxel-offset", "2,4,6")
    sherd.ok("copy", "l.zarr", "two", "--to", "precomputed", "--encoding", "compressed_segmentation", "--pyramid", "mode:2",
             "--factors", "2,2,2", "--chunks", "16,16,16", "--sharding", "auto")
    assert info_of(tmp_path / "two")["scales"] == info["scales"]
    for mip in range(3):
        assert (seen(tmp_path / "two", mip=mip) == seen(tmp_path / "seg", mip=mip)).all()


@pytest.mark.parametrize("axes", ["ZCYX", "CYX"])
def test_the_channels_of_an_ome_tiff_are_those_of_the_volume(sherd, tmp_path, axes):
    data = numpy.random.default_rng(3).integers(1, 60000, {"ZCYX": (5, 2, 30, 40), "CYX": (2, 30, 40)}[axes], dtype="u2")
    size = {"PhysicalSizeX": 0.25, "PhysicalSizeY": 0.25, "PhysicalSizeXUnit": "µm", "PhysicalSizeYUnit": "µm"}
    tifffile.imwrite(tmp_path / "a.ome.tif", data, metadata={"axes": axes, **size} | ({"PhysicalSizeZ": 2, "PhysicalSizeZUnit": "µm"} if "Z" in axes else {}))
    sherd.ok("import", "a.ome.tif", "em", "--to", "precomputed")
    info = info_of(tmp_path / "em")
    assert info["num_channels"] == 2 and info["scales"][0]["resolution"] == [250, 250, 2000 if "Z" in axes else 250]
    expected = data.transpose(3, 2, 0, 1) if "Z" in axes else data.transpose(2, 1, 0)[:, :, None]
    assert (seen(tmp_path / "em") == expected).all()


def test_planes_become_slices(sherd, tmp_path):
    (tmp_path / "slices").mkdir()
    for z, plane in enumerate(ZYX):
        tifffile.imwrite(tmp_path / f"slices/z_{z}.tif", plane)
    sherd.ok("import", "slices", "em", "--to", "precomputed", "--resolution", "4,4,40", "--pyramid", "mean:1")
    assert (seen(tmp_path / "em")[..., 0] == ZYX.T).all()
    assert [scale["resolution"] for scale in info_of(tmp_path / "em")["scales"]] == [[4, 4, 40], [8, 8, 40]]

    sherd.ok("picture", "em", "plane.png", "--index", "3", "--range", "0,255", "--width", "40")
    sherd.ok("import", "plane.png", "plane", "--to", "precomputed", "--resolution", "4,4,40", "--voxel-offset", "7,8,9")
    (scale,) = info_of(tmp_path / "plane")["scales"]
    assert (scale["size"], scale["resolution"], scale["voxel_offset"]) == ([40, 30, 1], [4, 4, 40], [7, 8, 9])
    assert (seen(tmp_path / "plane")[..., 0, 0] == ZYX[3].T).all()


def test_a_file_of_column_order_and_one_from_a_pipe_are_read(sherd, tmp_path):
    numpy.save(tmp_path / "f.npy", numpy.asfortranarray(ZYX.T))
    sherd.ok("import", "f.npy", "f", "--to", "precomputed", "--axes", "x,y,z", "--resolution", "8,8,8")
    sherd.ok("import", "-", "p", "--from", "npy", "--to", "precomputed", "--axes", "x,y,z", "--resolution", "8,8,8",
             input=(tmp_path / "f.npy").read_bytes())
    assert (seen(tmp_path / "f")[..., 0] == ZYX.T).all() and (seen(tmp_path / "p")[..., 0] == ZYX.T).all()


def test_a_unit_that_is_not_known_is_named(sherd, tmp_path):
    tifffile.imwrite(tmp_path / "a.tif", ZYX)
    assert "the unit of the spacing is not known: 1 along z is taken as nanometres" in sherd.ok(
        "import", "a.tif", "em", "--to", "precomputed").stderr
    assert "unit" not in sherd.ok("import", "a.tif", "n", "--to", "precomputed", "--resolution", "4,4,40").stderr


def refused(sherd, tmp_path, *options, file="a.tif"):
    ran = sherd("import", file, "em", "--to", "precomputed", *options)
    assert ran.code == 2 and not (tmp_path / "em").exists()
    return ran.stderr


def test_times_are_refused_with_what_to_do(sherd, tmp_path):
    tifffile.imwrite(tmp_path / "t.tif", ZYX, imagej=True, metadata={"axes": "TYX"})
    error = refused(sherd, tmp_path, file="t.tif")
    assert "a volume has no time (t)" in error and "--select 0" in error and "--axes" in error
    sherd.ok("import", "t.tif", "em", "--to", "precomputed", "--axes", "z,y,x", "--resolution", "4,4,40")
    assert (seen(tmp_path / "em")[..., 0] == ZYX.T).all()


@pytest.mark.parametrize("option, value, said", [
    ("--codec", "zstd:3", "--codec"), ("--shards", "64,64,64", "--shards"), ("--attributes", "{}", "--attributes"),
    ("--fill-value", "1", "--fill-value"), ("--dimension-names", "z,y,x", "--dimension-names"), ("--key", "a", "--key"),
    ("--chunks", "1,2", "--chunks"), ("--axes", "c,z,y", "there is no x"), ("--pyramid", "median", "--pyramid"), ("--sharding", "{", "--sharding")])
def test_what_a_volume_cannot_have_is_refused(sherd, tmp_path, option, value, said):
    tifffile.imwrite(tmp_path / "a.tif", ZYX.astype("u2"))
    assert said in refused(sherd, tmp_path, option, value)


def test_a_type_that_a_volume_cannot_have_is_refused(sherd, tmp_path):
    numpy.save(tmp_path / "a.npy", ZYX.astype("f8"))
    ran = sherd("import", "a.npy", "em", "--to", "precomputed", "--axes", "z,y,x", "--resolution", "4,4,40")
    assert ran.code in (2, 5) and "float64" in ran.stderr and not (tmp_path / "em").exists()
    numpy.save(tmp_path / "a.npy", ZYX.astype("u2"))
    ran = sherd("import", "a.npy", "em", "--to", "precomputed", "--axes", "z,y,x", "--resolution", "4,4,40", "--encoding", "jpeg")
    assert ran.code == 5 and "--encoding: jpeg" in ran.stderr and not (tmp_path / "em").exists()


def test_an_existing_volume_is_replaced_only_on_request(sherd, tmp_path):
    tifffile.imwrite(tmp_path / "a.tif", ZYX)
    tifffile.imwrite(tmp_path / "b.tif", ZYX[::-1].copy())
    sherd.ok("import", "a.tif", "em", "--to", "precomputed", "--resolution", "4,4,40")
    assert sherd("import", "b.tif", "em", "--to", "precomputed", "--resolution", "4,4,40").code == 6
    assert (seen(tmp_path / "em")[..., 0] == ZYX.T).all()
    sherd.ok("import", "b.tif", "em", "--to", "precomputed", "--resolution", "4,4,40", "--overwrite")
    assert (seen(tmp_path / "em")[..., 0] == ZYX[::-1].T).all()


def test_options_of_volumes_are_refused_for_arrays(sherd, tmp_path):
    tifffile.imwrite(tmp_path / "a.tif", ZYX)
    for option, value in (("--encoding", "png"), ("--sharding", "auto"), ("--type", "image")):
        ran = sherd("import", "a.tif", "a.zarr", option, value)
        assert ran.code == 2 and option in ran.stderr and not (tmp_path / "a.zarr").exists()
    assert "different formats" in sherd("import", "a.tif", "em", "--to", "precomputed", "--store-format", "zarr3").stderr


def test_the_offset_and_type_of_an_image_can_be_given(sherd, tmp_path):
    tifffile.imwrite(tmp_path / "a.tif", ZYX)
    sherd.ok("import", "a.tif", "a.zarr", "--resolution", "4,4,40", "--voxel-offset", "1,2,3", "--pyramid", "mean:1", "--type", "segmentation")
    (image,) = json.loads((tmp_path / "a.zarr/zarr.json").read_text())["attributes"]["ome"]["multiscales"]
    assert image["datasets"][0]["coordinateTransformations"][1]["translation"] == [120, 8, 4]
    assert "image-label" in json.loads((tmp_path / "a.zarr/zarr.json").read_text())["attributes"]["ome"]
