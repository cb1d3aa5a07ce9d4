"""import, export and picture: files of other formats as people have them."""

import subprocess

import nibabel
import numpy
import pytest
from PIL import Image

VOLUME = numpy.random.default_rng(5).integers(0, 255, (5, 8, 11)).astype(numpy.uint8)


def test_a_nifti_volume_is_imported_and_exported(sherd, tmp_path):
    affine = numpy.diag([0.5, 0.5, 2, 1])
    nibabel.save(nibabel.Nifti1Image(VOLUME.T, affine), tmp_path / "brain.nii.gz")
    ran = sherd.ok("import", "brain.nii.gz", "brain.zarr", "--chunks", "2,4,4", "--shards", "4,8,8",
                   "--attributes", '{"who": "me"}')
    assert ran.stdout == b"" and ran.stderr == "imported brain.nii.gz: (5, 8, 11) uint8 in brain.zarr\n"
    info = sherd.ok("info", "brain.zarr", "--json").json
    assert (info["shape"], info["shards"], info["dimension_names"]) == ([5, 8, 11], [4, 8, 8], ["z", "y", "x"])
    assert info["attributes"]["affine"] == affine.tolist() and info["attributes"]["who"] == "me"
    assert sherd.ok("read", "brain.zarr", "--format", "raw").stdout == VOLUME.tobytes()
    sherd.ok("export", "brain.zarr", "again.nii.gz", "--quiet")
    again = nibabel.load(tmp_path / "again.nii.gz")
    numpy.testing.assert_array_equal(numpy.asarray(again.dataobj).T, VOLUME)
    numpy.testing.assert_array_equal(again.affine, affine)


def test_spacing_is_the_decimal_that_the_float_of_a_nifti_file_stands_for(sherd, tmp_path):
    image = nibabel.Nifti1Image(VOLUME, numpy.diag([0.1, 0.3, 1 / 3, 1]))
    image.header.set_xyzt_units("mm")
    nibabel.save(image, tmp_path / "v.nii")
    sherd.ok("import", "v.nii", "v.zarr")
    spacing = sherd.ok("attrs", "v.zarr", "spacing").json
    assert spacing[1:] == [0.3, 0.1] and numpy.float32(spacing[0]) == numpy.float32(1 / 3)
    sherd.ok("export", "v.zarr", "again.nii")
    again = nibabel.load(tmp_path / "again.nii")
    assert again.header.get_zooms() == image.header.get_zooms()
    numpy.testing.assert_array_equal(again.affine, nibabel.load(tmp_path / "v.nii").affine)


def test_an_npy_file_is_imported_and_exported(sherd, tmp_path):
    numpy.save(tmp_path / "v.npy", VOLUME)
    made = sherd.ok("import", "v.npy", "v.zarr", "--json").json
    assert (made["shape"], made["dtype"], made["node_type"]) == ([5, 8, 11], "uint8", "array")
    sherd.ok("export", "v.zarr", "w.npy")
    numpy.testing.assert_array_equal(numpy.load(tmp_path / "w.npy"), VOLUME)


def test_plain_bytes_need_a_shape_and_a_type(sherd, tmp_path):
    values = VOLUME.astype(">u2")
    (tmp_path / "dump.bin").write_bytes(values.tobytes())
    assert sherd("import", "dump.bin", "d.zarr", "--from", "raw").code == 2
    sherd.ok("import", "dump.bin", "d.zarr", "--from", "raw", "--shape", "5,8,11", "--dtype", "uint16", "--big-endian")
    assert sherd.ok("read", "d.zarr", "--json").json == values.tolist()


@pytest.mark.parametrize("options", [["--dtype", ">u2"], ["--dtype", ">u2", "--big-endian"], ["--dtype", "u2", "--big-endian"]], ids=str)
def test_plain_bytes_have_the_byte_order_of_their_type(sherd, tmp_path, options):
    values = VOLUME.astype(">u2")
    (tmp_path / "dump.bin").write_bytes(values.tobytes())
    sherd.ok("import", "dump.bin", "d.zarr", "--shape", "5,8,11", *options)
    assert sherd.ok("read", "d.zarr", "--json").json == values.tolist()


def test_a_byte_order_that_contradicts_an_option_is_refused(sherd, tmp_path):
    (tmp_path / "dump.bin").write_bytes(bytes(8))
    ran = sherd("import", "dump.bin", "d.zarr", "--shape", "4", "--dtype", "<u2", "--big-endian")
    assert ran.code == 2 and "--dtype: '<u2' is little-endian, which --big-endian contradicts" in ran.stderr


@pytest.mark.parametrize("options", [["--shape", "3,4"], ["--dtype", "uint8"], ["--big-endian"], ["--apply-scale"]])
def test_options_that_do_not_apply_to_a_file_are_refused(sherd, tmp_path, options):
    numpy.save(tmp_path / "v.npy", VOLUME)
    ran = sherd("import", "v.npy", "v.zarr", *options)
    assert ran.code == 2 and options[0].strip("-").replace("-", "_") + " can only be used with" in ran.stderr and "npy" in ran.stderr
    assert not (tmp_path / "v.zarr").exists()


@pytest.mark.parametrize("url", ["https://user:SECRET@h/a.npy?X-Sig=SECRET", "s3://b/a.nii.gz", "gs://b/plane.png", "http://h/*.tif",
                                 "http://h/dump.bin", "http://h/17.swc", "http://h/mesh.ply", "http://h/a.zip|zip:a.npy", "ftp://h/a.pgm"])
def test_a_url_to_import_is_refused_with_what_to_do(sherd, url):
    for options in ([], ["--from", "raw", "--shape", "4", "--dtype", "u1"] if "bin" in url else []):
        ran = sherd("import", url, "out.zarr", *options)
        assert ran.code == 5 and "is a URL, and only local files are imported: download it, or pipe it" in ran.stderr
        assert "SECRET" not in ran.stderr and "//...@h/a.npy?..." in ran.stderr or "SECRET" not in url


@pytest.mark.parametrize("arguments", [["export", "v.zarr", "s3://b/a.npy"], ["export", "v.zarr", "http://h/17.swc", "--id", "17"],
                                       ["picture", "v.zarr", "https://h/a.png"], ["read", "v.zarr", "-o", "gs://b/a.npy"]])
def test_a_url_to_export_to_is_refused_with_what_to_do(sherd, tmp_path, arguments):
    numpy.save(tmp_path / "v.npy", VOLUME[0])
    sherd.ok("import", "v.npy", "v.zarr")
    ran = sherd(*arguments)
    assert ran.code == 5 and "is a URL, and files are written to local paths: upload" in ran.stderr


def test_a_file_url_to_import_or_export_is_a_path(sherd, tmp_path):
    (tmp_path / "a b").mkdir()
    numpy.save(tmp_path / "a b/v.npy", VOLUME)
    sherd.ok("import", f"file://{tmp_path}/a%20b/v.npy", "v.zarr")
    sherd.ok("export", "v.zarr", f"file://{tmp_path}/a%20b/w.npy")
    numpy.testing.assert_array_equal(numpy.load(tmp_path / "a b/w.npy"), VOLUME)


def test_created_files_are_reported_as_json(sherd, tmp_path):
    numpy.save(tmp_path / "v.npy", VOLUME)
    sherd.ok("import", "v.npy", "v.zarr", "--quiet")
    url = f"file://{tmp_path}/v.zarr"
    assert sherd.ok("export", "v.zarr", "w.npy", "--json").json == {
        "url": url, "file": "w.npy", "shape": [5, 8, 11], "dtype": "uint8"}
    assert sherd.ok("picture", "v.zarr", "p.png", "--axis", "1", "--json").json == {
        "url": url, "file": "p.png", "axis": 1, "index": 4}


def test_the_directory_of_a_pattern_is_created(sherd, tmp_path):
    numpy.save(tmp_path / "v.npy", VOLUME)
    sherd.ok("import", "v.npy", "v.zarr")
    sherd.ok("export", "v.zarr", "planes/z_%02d.png")
    assert len(list((tmp_path / "planes").glob("z_*.png"))) == 5
    ran = sherd("export", "v.zarr", "no/such/z_%02d.png")
    assert ran.code == 3 and "'no': cannot make a directory in it" in ran.stderr and not (tmp_path / "no").exists()


def test_images_become_planes_and_planes_images(sherd, tmp_path):
    for z, plane in enumerate(VOLUME):
        Image.fromarray(plane).save(tmp_path / f"in_{z}.png")
    sherd.ok("import", "in_*.png", "stack.zarr", "--shards", "auto")
    assert sherd.ok("read", "stack.zarr", "--format", "raw").stdout == VOLUME.tobytes()
    (tmp_path / "out").mkdir()
    sherd.ok("export", "stack.zarr", "out/z_%02d.png")
    assert [path.name for path in sorted((tmp_path / "out").iterdir())] == [f"z_{z:02}.png" for z in range(5)]
    numpy.testing.assert_array_equal(numpy.asarray(Image.open(tmp_path / "out/z_03.png")), VOLUME[3])


def test_a_tiff_file_is_one_whatever_the_number_of_planes(sherd, tmp_path):
    sherd.ok("create", "a", "--shape", "3,4,5", "--dtype", "uint8")
    ran = sherd("export", "a", "plane_%02d.tif")
    assert ran.code == 2 and "as its pages" in ran.stderr
    sherd.ok("export", "a", "planes.tif")
    assert [path.name for path in tmp_path.glob("*.tif")] == ["planes.tif"]
    sherd.ok("import", "planes.tif", "b")
    assert sherd.ok("info", "b", "--json").json["shape"] == [3, 4, 5]


def test_an_import_that_fails_leaves_no_array(sherd, tmp_path):
    numpy.save(tmp_path / "v.npy", VOLUME)
    (tmp_path / "v.npy").write_bytes((tmp_path / "v.npy").read_bytes()[:-1])
    assert sherd("import", "v.npy", "v.zarr").code == 4
    assert sherd("info", "v.zarr").code == 3
    assert sherd("import", "none.npy", "v.zarr").code == 3
    (tmp_path / "v.unknown").write_bytes(b"text")
    assert sherd("import", "v.unknown", "v.zarr").code == 2


def test_import_replaces_only_on_request(sherd, tmp_path):
    numpy.save(tmp_path / "v.npy", VOLUME)
    sherd.ok("import", "v.npy", "v.zarr")
    assert sherd("import", "v.npy", "v.zarr").code == 6
    sherd.ok("import", "v.npy", "v.zarr", "--overwrite")


def test_a_picture_is_one_plane_from_black_to_white(sherd, tmp_path):
    numpy.save(tmp_path / "v.npy", VOLUME.astype(numpy.float32))
    sherd.ok("import", "v.npy", "v.zarr", "--quiet")
    sherd.ok("picture", "v.zarr", "p.png", "--axis", "1", "--index", "3", "--range", "0,255")
    numpy.testing.assert_array_equal(numpy.asarray(Image.open(tmp_path / "p.png")), VOLUME[:, 3, :])
    sherd.ok("picture", "v.zarr", "middle.png", "--range", "0,255")
    numpy.testing.assert_array_equal(numpy.asarray(Image.open(tmp_path / "middle.png")), VOLUME[2])
    sherd.ok("picture", "v.zarr", "stretched.png", "--index", "0")
    stretched = numpy.asarray(Image.open(tmp_path / "stretched.png"))
    assert (stretched.min(), stretched.max()) == (0, 255)


@pytest.mark.parametrize("options", [
    ["--axis", "3"], ["--index", "5"], ["--range", "1"], ["--range", "a,b"], ["--axis", "-1"]])
def test_a_picture_outside_the_array_is_a_usage_error(sherd, tmp_path, options):
    sherd.ok("create", "v", "--shape", "5,8,11", "--dtype", "uint8")
    assert sherd("picture", "v", "p.png", *options).code == 2
    assert not (tmp_path / "p.png").exists()


def test_export_writes_into_a_pipe(sherd, tmp_path):
    numpy.save(tmp_path / "v.npy", VOLUME)
    sherd.ok("import", "v.npy", "v.zarr")
    piped = subprocess.run(["bash", "-c", f"'{sherd.binary}' export v.zarr --to raw /dev/stdout | cat"], cwd=tmp_path,
                           capture_output=True, check=True)
    assert piped.stdout == VOLUME.tobytes()


def test_a_dash_is_standard_input_or_output(sherd, tmp_path):
    numpy.save(tmp_path / "v.npy", VOLUME)
    ran = sherd.ok("import", "-", "v.zarr", "--from", "npy", input=(tmp_path / "v.npy").read_bytes())
    assert ran.stderr == "imported -: (5, 8, 11) uint8 in v.zarr\n"
    assert sherd.ok("export", "v.zarr", "-", "--to", "npy").stdout == (tmp_path / "v.npy").read_bytes()
    assert sherd.ok("export", "v.zarr", "-", "--to", "raw").stdout == VOLUME.tobytes()
    sherd.ok("picture", "v.zarr", "p.png", "--index", "2")
    assert sherd.ok("picture", "v.zarr", "-", "--index", "2").stdout == (tmp_path / "p.png").read_bytes()
    for line, option in [(["import", "-", "w.zarr"], "--from"), (["export", "v.zarr", "-"], "--to")]:
        ran = sherd(*line)
        assert ran.code == 2 and option in ran.stderr and ran.stdout == b""
    assert sorted(path.name for path in tmp_path.iterdir()) == ["p.png", "v.npy", "v.zarr"]


def test_a_picture_of_text_is_unsupported_and_no_range_a_usage_error(sherd, tmp_path):
    sherd.ok("create", "text", "--shape", "3,3", "--dtype", "string")
    ran = sherd("picture", "text", "p.png")
    assert (ran.code, ran.stderr) == (5, "sherd: a picture needs real numbers, the array has 'string'\n")
    sherd.ok("create", "v", "--shape", "3,3", "--dtype", "float32")
    for values in ["nan,5", "0,inf", "nan,nan"]:
        ran = sherd("picture", "v", "p.png", f"--range={values}")
        assert ran.code == 2 and "range" in ran.stderr
    assert not (tmp_path / "p.png").exists()
