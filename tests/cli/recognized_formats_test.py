"""What the error says if there is no array or group: what exists instead, and what to do with it."""

import json

import nibabel
import numpy
import pytest
import tifffile
from PIL import Image

import sherd as library

FOUND = {
    "x.h5": (lambda path: path.write_bytes(b"\x89HDF\r\n\x1a\n" + bytes(500)), "is an HDF5 file", "h5py"),
    "x.tif": (lambda path: tifffile.imwrite(path, numpy.zeros((4, 4), "u1")), "is a file, not a directory", "sherd import"),
    "x.png": (lambda path: Image.new("L", (4, 4)).save(path), "is a file, not a directory", "sherd import"),
    "x.nii": (lambda path: nibabel.save(nibabel.Nifti1Image(numpy.zeros((4, 4, 4), "u1"), numpy.eye(4)), path),
              "is a file, not a directory", "sherd import"),
    "x.nii.gz": (lambda path: nibabel.save(nibabel.Nifti1Image(numpy.zeros((4, 4, 4), "u1"), numpy.eye(4)), path),
                 "is a file, not a directory", "sherd import"),
    "x.npy": (lambda path: numpy.save(path, numpy.zeros(4)), "is a file, not a directory", "sherd import"),
    "classic.nc": (lambda path: path.write_bytes(b"CDF\x02" + bytes(500)), "is a netCDF file", "sherd nccopy"),
    "x.nc": (lambda path: path.write_bytes(b"\x89HDF\r\n\x1a\n" + bytes(500)), "is a netCDF-4 file", "sherd nccopy"),
    "x.ppm": (lambda path: Image.new("RGB", (4, 4)).save(path), "is a file, not a directory", "sherd import"),
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
    if advice != "sherd import":
        ran = sherd("import", name, "b")
        assert ran.code == 5 and f"{name} {what}" in ran.stderr and advice in ran.stderr, ran.stderr


def test_an_import_of_a_missing_or_unknown_file_says_so(sherd, tmp_path):
    (tmp_path / "text.dat").write_text("text")
    for name, code, says in [("no.czi", 3, "'no.czi': cannot open: No such file"), ("no.tif", 3, "'no.tif': cannot open: No such file"),
                             ("no_*.tif", 3, "no"), ("text.dat", 2, "name the format (import --from, export --to): nifti")]:
        ran = sherd("import", name, "b")
        assert ran.code == code and says in ran.stderr and not (tmp_path / "b").exists(), ran.stderr


def test_a_node_inside_a_directory_is_recognized(sherd, tmp_path):
    sherd.ok("create", "nodes/b.zarr/x", "--shape", "4", "--dtype", "uint8")
    sherd.ok("create", "nodes/c.zarr", "--shape", "4", "--dtype", "uint8")
    ran = sherd("info", "nodes")
    assert ran.code == 3 and "; it contains b.zarr: open nodes/b.zarr" in ran.stderr, ran.stderr
    with pytest.raises(library.NotFound, match="it contains b.zarr: open"):
        library.open(tmp_path / "nodes")


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
    assert missing.stderr.startswith(f"sherd: directory does not exist: missing; tried\n  a path: {tmp_path} has no 'missing'\n")
    assert "directory exists, but contains no array or group (in empty); tried\n  zarr3: zarr.json\n" in empty.stderr
    assert empty.stderr.count("empty") == 1 and len(empty.stderr.splitlines()) == 5, "a line for each format"
    with pytest.raises(library.NotFound, match="directory does not exist"):
        library.open(tmp_path / "missing")
    with pytest.raises(library.NotFound, match="contains no array or group"):
        library.open(tmp_path / "empty")


@pytest.mark.parametrize("format", ["zarr3", "zarr2"])
def test_where_an_array_is_wanted_an_image_names_a_resolution(sherd, tmp_path, format):
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
    assert ran.code == 2 and "'file' is not a directory; tried\n  a zip archive: it does not begin as one" in ran.stderr
    ran = sherd("info", "file/inner")
    assert ran.code == 2 and "'file' is not a directory; tried\n  a zip archive: " in ran.stderr


def test_the_error_of_a_missing_path_lists_what_was_tried(sherd, tmp_path):
    sherd.ok("create", "a/b.zarr", "--shape", "4", "--dtype", "uint8")
    for name, lines in [
            ("a/c/d", ["a path: a has no 'c'", "a zip archive: no part of the path is one, or has its suffix (.zip, .ozx)"]),
            ("a/c.zip/d", ["a path: a has no 'c.zip'"]),
            ("none|zap:x", [f"a path: {tmp_path} has no 'none|zap:x'", "a pipeline: what comes before '|' does not exist", "a zip archive: "]),
            ("no::ne", [f"a path: {tmp_path} has no 'no::ne'", "a chain: what comes after '::' does not exist", "a zip archive: "]),
            ("none#1", [f"a path: {tmp_path} has no 'none#1'", "a fragment: no mode= comes after '#'", "a zip archive: "])]:
        for command in ("info", "ncdump"):
            ran = sherd(command, name)
            tried = ran.stderr.split("; tried\n")[1].splitlines()
            expected = [line for line in lines if command == "info" or not line.startswith("a zip archive")]
            assert ran.code == 3 and len(tried) == len(expected), ran.stderr
            assert all(line.startswith("  " + start) for line, start in zip(tried, expected)), ran.stderr
    with pytest.raises(library.NotFound, match="tried\n  a path: .* has no 'none'\n  a zip archive: "):
        library.open_array(tmp_path / "none")


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
