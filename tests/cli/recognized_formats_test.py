"""What the error says if there is no array or group: what exists instead, and what to do with it."""

import gzip
import json

import nibabel
import numpy
import pytest
import tifffile
from PIL import Image

import sherd as library

FOUND = {
    "x.h5": (lambda path: path.write_bytes(b"\x89HDF\r\n\x1a\n" + bytes(500)), "is an HDF5 file", "h5py"),
    "x.tif": (lambda path: tifffile.imwrite(path, numpy.zeros((4, 4), "u1")), "is a TIFF file", "sherd import"),
    "big endian.tif": (lambda path: tifffile.imwrite(path, numpy.zeros((4, 4), ">u2"), byteorder=">"), "is a TIFF file",
                       "sherd import"),
    "big.tif": (lambda path: tifffile.imwrite(path, numpy.zeros((4, 4), "u1"), bigtiff=True), "is a TIFF file",
                "sherd import"),
    "big endian big.tif": (lambda path: tifffile.imwrite(path, numpy.zeros((4, 4), ">u2"), bigtiff=True, byteorder=">"),
                           "is a TIFF file", "sherd import"),
    "x.png": (lambda path: Image.new("L", (4, 4)).save(path), "is a PNG file", "sherd import"),
    "nifti 2.nii": (lambda path: nibabel.save(nibabel.Nifti2Image(numpy.zeros((4, 4, 4), "u1"), numpy.eye(4)), path),
                    "is a NIfTI file", "sherd import"),
    "x.nii": (lambda path: nibabel.save(nibabel.Nifti1Image(numpy.zeros((4, 4, 4), "u1"), numpy.eye(4)), path),
              "is a NIfTI file", "sherd import"),
    "x.nii.gz": (lambda path: nibabel.save(nibabel.Nifti1Image(numpy.zeros((4, 4, 4), "u1"), numpy.eye(4)), path),
                 "is a NIfTI file", "sherd import"),
    "x.npy": (lambda path: numpy.save(path, numpy.zeros(4)), "is an .npy file", "sherd import"),
    "x.zip": (lambda path: path.write_bytes(b"PK\x03\x04" + bytes(500)), "is a ZIP file", "unpack it"),
    "x.npz": (lambda path: numpy.savez(path, a=numpy.zeros(4)), "is an .npz file", "numpy.load"),
    "classic.nc": (lambda path: path.write_bytes(b"CDF\x02" + bytes(500)), "is a netCDF file", "sherd nccopy"),
    "x.nc": (lambda path: path.write_bytes(b"\x89HDF\r\n\x1a\n" + bytes(500)), "is a netCDF-4 file", "sherd nccopy"),
    "x.jpg": (lambda path: Image.new("L", (4, 4)).save(path), "is a JPEG file", "convert it"),
    "x.ppm": (lambda path: Image.new("RGB", (4, 4)).save(path), "is a PPM file", "sherd import"),
    "x.czi": (lambda path: path.write_bytes(b"ZISRAWFILE" + bytes(500)), "is a CZI file", "bioformats2raw"),
    "x.mrc": (lambda path: path.write_bytes(bytes(208) + b"MAP " + bytes(500)), "is an MRC file", "mrcfile"),
    "x.dcm": (lambda path: path.write_bytes(bytes(128) + b"DICM"), "is a DICOM file", "dcm2niix"),
    "x.tar": (lambda path: path.write_bytes(bytes(257) + b"ustar" + bytes(500)), "is a tar file", "unpack it"),
    "refs.json": (lambda path: path.write_text('{"version": 1, "refs": {".zgroup": "{}"}}'), "is a file of references", "fsspec"),
    "x.gz": (lambda path: path.write_bytes(gzip.compress(b"text")), "is a gzip file", "decompress it"),
}


@pytest.mark.parametrize("name", FOUND)
def test_other_formats_are_recognized(sherd, tmp_path, name):
    make, what, advice = FOUND[name]
    make(tmp_path / name)
    for line in (["info", name], ["read", name], ["copy", name, "b"], ["export", name, "b.npy"]):
        ran = sherd(*line)
        assert ran.code == 5 and f"{name} {what}" in ran.stderr and advice in ran.stderr, ran.stderr
    with pytest.raises(library.Unsupported, match="is a"):
        library.open(tmp_path / name)
    if advice != "sherd import" and not name.endswith(".json"):
        ran = sherd("import", name, "b")
        assert ran.code == 5 and f"{name} {what}" in ran.stderr and advice in ran.stderr, ran.stderr


def test_an_import_of_a_missing_or_unknown_file_says_so(sherd, tmp_path):
    (tmp_path / "text.dat").write_text("text")
    for name, code, says in [("no.czi", 3, "'no.czi': cannot open: No such file"), ("no.tif", 3, "'no.tif': cannot open: No such file"),
                             ("no_*.tif", 3, "no"), ("text.dat", 2, "name the format (import --from, export --to): nifti")]:
        ran = sherd("import", name, "b")
        assert ran.code == code and says in ran.stderr and not (tmp_path / "b").exists(), ran.stderr


def test_what_a_directory_contains_is_recognized(sherd, tmp_path):
    sherd.ok("create", "nodes/b.zarr/x", "--shape", "4", "--dtype", "uint8")
    sherd.ok("create", "nodes/c.zarr", "--shape", "4", "--dtype", "uint8")
    for name in ("images", "n5/a", "dicom"):
        (tmp_path / name).mkdir(parents=True)
    tifffile.imwrite(tmp_path / "images/1.tif", numpy.zeros((4, 4), "u1"))
    (tmp_path / "n5/attributes.json").write_text('{"n5": "2.0.0"}')
    (tmp_path / "dicom/1.dcm").write_bytes(b"")
    for name, advice in [("nodes", "; it contains b.zarr: open nodes/b.zarr"), ("images", "tiff files: make an array of them"),
                         ("n5", "it is N5: read it with tensorstore or z5py"), ("dicom", "dcm2niix")]:
        ran = sherd("info", name)
        assert ran.code == 3 and advice in ran.stderr, ran.stderr
    with pytest.raises(library.NotFound, match="it is N5"):
        library.open(tmp_path / "n5")


@pytest.mark.parametrize("format, other", [("zarr3", "zarr2"), ("zarr2", "zarr3"), ("precomputed", "zarr3")])
def test_a_node_of_another_format_is_recognized(sherd, tmp_path, format, other):
    volume = ["--resolution", "8,8,40"] if format == "precomputed" else []
    sherd.ok("create", "a", "--shape", "4,4,4", "--dtype", "uint8", "--store-format", format, *volume)
    ran = sherd("info", "a", "--store-format", other)
    assert ran.code == 3 and f"': its format is {format}, and another one was asked for; ask for {format} or for none" in ran.stderr
    assert (tmp_path / "a" / ran.stderr.split("'")[1]).is_file()
    with pytest.raises(library.NotFound, match=f"its format is {format}"):
        library.open(tmp_path / "a", format=other)


@pytest.mark.parametrize("format, name", [("zarr3", "zarr.json"), ("zarr2", ".zarray")])
def test_a_document_is_not_its_directory(sherd, tmp_path, format, name):
    sherd.ok("create", "a", "--shape", "4", "--dtype", "uint8", "--store-format", format)
    ran = sherd("info", f"a/{name}")
    assert ran.code == 2 and f"a/{name} is a metadata document; open its directory, a" in ran.stderr


def test_a_path_through_a_file_names_the_file(sherd, tmp_path):
    (tmp_path / "x.h5").write_bytes(b"\x89HDF\r\n\x1a\n" + bytes(500))
    ran = sherd("info", "x.h5/group/data")
    assert ran.code == 5 and "x.h5 is an HDF5 file" in ran.stderr


def test_a_missing_directory_is_distinguished_from_one_without_a_node(sherd, tmp_path):
    (tmp_path / "empty").mkdir()
    missing, empty = sherd("info", "missing"), sherd("info", "empty")
    assert (missing.code, empty.code) == (3, 3)
    assert missing.stderr == "sherd: directory does not exist: missing\n"
    assert "directory exists, but contains no array or group; looked for zarr.json" in empty.stderr
    assert empty.stderr.count("empty") == 1 and empty.stderr.endswith(" (in empty)\n")
    with pytest.raises(library.NotFound, match="directory does not exist"):
        library.open(tmp_path / "missing")
    with pytest.raises(library.NotFound, match="contains no array or group"):
        library.open(tmp_path / "empty")


@pytest.mark.parametrize("format", ["zarr3", "zarr2"])
def test_where_an_array_is_wanted_the_group_of_an_image_names_a_resolution(sherd, tmp_path, format):
    sherd.ok("create", "a", "--shape", "8,8", "--dtype", "uint8", "--dimension-names", "y,x")
    sherd.ok("copy", "a", "img.zarr", "--to", format, "--pyramid", "mean:1")
    ran = sherd("read", "img.zarr")
    assert (ran.code, ran.stderr) == (
        2, "sherd: img.zarr is a group, not an array; open a resolution of the image, such as img.zarr/0\n")
    with pytest.raises(library.InvalidArgument, match=r"is a group, not an array; .* such as file:.*img\.zarr/0$"):
        library.open_array(tmp_path / "img.zarr")


def test_a_file_of_no_known_format_is_not_a_directory(sherd, tmp_path):
    (tmp_path / "file").write_text("text")
    ran = sherd("info", "file")
    assert ran.code == 2 and "is not a directory" in ran.stderr


def test_an_array_is_neither_imported_nor_exported_but_copied(sherd):
    sherd.ok("create", "a.zarr", "--shape", "4", "--dtype", "uint8")
    for line in (["import", "a.zarr", "b.zarr"], ["export", "a.zarr", "b.zarr"]):
        ran = sherd(*line)
        assert ran.code in (2, 3) and "'sherd copy'" in ran.stderr, ran.stderr


def test_where_an_array_is_wanted_a_plate_names_an_image(sherd):
    plate = {"rows": [{"name": "A"}], "columns": [{"name": "1"}], "wells": [{"path": "A/1", "rowIndex": 0, "columnIndex": 0}]}
    sherd.ok("create", "p.zarr", "--group", "--attributes", json.dumps({"ome": {"version": "0.5", "plate": plate}}))
    ran = sherd("picture", "p.zarr", "p.png")
    assert (ran.code, ran.stderr) == (2, "sherd: p.zarr is a group, not an array; open an image of a well, such as p.zarr/A/1/0\n")
