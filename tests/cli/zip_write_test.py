"""Commands that write zip archives, as Python's zipfile and Info-ZIP see the result."""

import json
import pathlib
import resource
import shutil
import signal
import struct
import subprocess
import zipfile

import numpy
import pytest
from archives import zipped
from dependencies import missing

CDL = b"netcdf x { dimensions: y = 2 ; variables: int v(y) ; data: v = 1, 2 ; group: g { variables: short q(y) ; data: q = 4, 5 ; } }"


def names(archive):
    """The names of the members, if every checksum is right and no member is compressed or there twice."""
    for program, option in (("unzip", "-tq"), ("zip", "-T")):
        if shutil.which(program) is None:
            missing(program)
        done = subprocess.run([program, option, archive], capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
    with zipfile.ZipFile(archive) as opened:
        assert opened.testzip() is None
        assert {each.compress_type for each in opened.infolist()} <= {zipfile.ZIP_STORED}
        found = sorted(opened.namelist())
    assert len(found) == len(set(found))
    return found


def in_order_of_bytes(archive, has_gaps=False):
    """The names of the members as a program finds them that reads the archive from its beginning; of one with gaps up to the first."""
    data = pathlib.Path(archive).read_bytes()
    found, at = [], 0
    while data[at : at + 4] == b"PK\3\4":
        size, name, extra = struct.unpack("<I4xHH", data[at + 18 : at + 30])
        found.append(data[at + 30 : at + 30 + name].decode())
        at += 30 + name + extra + size
    assert has_gaps or data[at : at + 4] == b"PK\1\2", "there is a gap"
    return found


def files(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


@pytest.fixture
def tree(sherd, tmp_path):
    sherd.ok("create", "a.zarr/g/x", "--shape", "40,60", "--dtype", "uint16", "--chunks", "10,10", "--shards", "20,20")
    numpy.save(tmp_path / "x.npy", numpy.arange(2400, dtype="uint16").reshape(40, 60))
    sherd.ok("write", "a.zarr/g/x", "--select", ":", "-i", "x.npy")
    return sherd


def test_an_array_in_an_archive_is_created_written_changed_and_erased(sherd, tmp_path):
    sherd.ok("create", "a.zip/x", "--shape", "4,6", "--dtype", "uint16", "--chunks", "2,3")
    assert names(tmp_path / "a.zip") == ["x/zarr.json", "zarr.json"], "an archive begins a hierarchy"
    sherd.ok("write", "a.zip/x", "--select", "0:2,0:3", "--value", "7")
    assert names(tmp_path / "a.zip") == ["x/c/0/0", "x/zarr.json", "zarr.json"]
    sherd.ok("attrs", "a.zip/x", "unit=m")
    sherd.ok("resize", "a.zip/x", "2,6")
    assert sherd.ok("read", "a.zip/x", "--format", "json").json == [[7, 7, 7, 0, 0, 0]] * 2
    assert sherd.ok("attrs", "a.zip/x", "--json").json["unit"] == "m"
    sherd.ok("create", "a.zip/b/y", "--shape", "3", "--dtype", "uint8")
    sherd.ok("consolidate", "a.zip")
    sherd.ok("rm", "-r", "a.zip/b")
    assert sherd.ok("check", "a.zip", "--data", "--json").json["ok"]
    assert names(tmp_path / "a.zip") == ["x/c/0/0", "x/zarr.json", "zarr.json"]
    assert files(tmp_path) == ["a.zip"]


def test_copies_into_archives_and_out_of_them_have_the_same_objects(tree, tmp_path):
    for raw in ([], ["--raw"]):
        for source, to in (("a.zarr", "b.zip"), ("b.zip", "c.zip"), ("c.zip", "d.zarr")):
            tree.ok("copy", source, to, *raw)
        with zipfile.ZipFile(tmp_path / "c.zip") as archive:
            assert names(tmp_path / "c.zip") == files(tmp_path / "a.zarr") == files(tmp_path / "d.zarr")
            for name in archive.namelist():
                assert archive.read(name) == (tmp_path / "a.zarr" / name).read_bytes() == (tmp_path / "d.zarr" / name).read_bytes()
        ran = tree("copy", "a.zarr", "b.zip", *raw)
        assert ran.code == 6, ran.stderr
        tree.ok("copy", "a.zarr", "b.zip", "--overwrite", *raw)
        assert names(tmp_path / "b.zip") == files(tmp_path / "a.zarr")
        for name in ("b.zip", "c.zip"):
            (tmp_path / name).unlink()
        shutil.rmtree(tmp_path / "d.zarr")


def test_an_image_is_imported_into_an_archive_with_its_pyramid(sherd, tmp_path):
    numpy.save(tmp_path / "a.npy", numpy.arange(64 * 64, dtype="uint16").reshape(64, 64))
    sherd.ok("import", "a.npy", "a.ozx", "--axes", "y,x", "--pyramid", "mean", "--chunks", "16,16")
    assert "zarr.json" in names(tmp_path / "a.ozx") and "1/zarr.json" in names(tmp_path / "a.ozx")
    assert sherd.ok("read", "a.ozx/0", "--select", "1,2", "--format", "json").json == 66


def test_a_dataset_is_written_into_an_archive_and_copied_out_of_it(sherd, tmp_path):
    sherd.ok("ncgen", "-o", "a.zip#mode=nczarr,zip", input=CDL)
    assert {".zgroup", "v/.zarray", "v/0", "g/q/.zarray"} <= set(names(tmp_path / "a.zip"))
    sherd.ok("nccopy", "a.zip#mode=nczarr,zip", "b.nc")
    sherd.ok("nccopy", "b.nc", "b.zip#mode=nczarr,zip")
    sherd.ok("nccopy", "b.nc", "b.zip", "--overwrite")
    for name in ("a.zip", "b.zip"):
        text = sherd.ok("ncdump", name).text
        assert "v = 1, 2 ;" in text and "q = 4, 5 ;" in text


def test_an_empty_archive_is_what_other_programs_call_one(sherd, tmp_path):
    sherd.ok("create", "a.zip", "--shape", "4", "--dtype", "uint8")
    sherd.ok("rm", "a.zip")
    assert (tmp_path / "a.zip").stat().st_size == 22
    sherd.ok("create", "a.zip", "--shape", "5", "--dtype", "uint8")
    assert names(tmp_path / "a.zip") == ["zarr.json"]


def test_members_of_other_programs_and_the_comment_are_kept(sherd, tmp_path):
    with zipfile.ZipFile(tmp_path / "a.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.comment = b"about it"
        archive.writestr("readme", "text " * 100)
        archive.mkdir("folder")
    sherd.ok("create", "a.zip/n", "--shape", "4", "--dtype", "uint8")
    with zipfile.ZipFile(tmp_path / "a.zip") as archive:
        assert archive.comment == b"about it" and archive.read("readme") == b"text " * 100
        assert {"folder/", "readme", "n/zarr.json"} <= set(archive.namelist()) and archive.testzip() is None


def test_an_archive_behind_a_link_is_changed_where_it_is(sherd, tmp_path):
    sherd.ok("create", "real/a.zip", "--shape", "4", "--dtype", "uint8")
    (tmp_path / "link.zip").symlink_to("real/a.zip")
    sherd.ok("write", "link.zip", "--select", ":", "--value", "4")
    assert (tmp_path / "link.zip").is_symlink()
    assert sherd.ok("read", "real/a.zip", "--format", "json").json == [4] * 4
    ran = sherd("write", "link.zip", "--select", ":", "--value", "5", "--store-option", "follow_symlinks=false")
    assert ran.code != 0 and "symbolic link" in ran.stderr, ran.stderr


def test_what_cannot_be_an_archive_is_refused_and_kept(sherd, tmp_path):
    (tmp_path / "t.zip").write_text("text")
    sherd.ok("create", "a.zip", "--shape", "4", "--dtype", "uint8")
    (tmp_path / "program.zip").write_bytes(b"#!/bin/sh\n" + (tmp_path / "a.zip").read_bytes())
    for name, code, words in (("t.zip", 4, "not a zip archive"), ("program.zip", 5, "bytes before the zip archive")):
        before = (tmp_path / name).read_bytes()
        ran = sherd("create", name, "--shape", "4", "--dtype", "uint8", "--overwrite")
        assert ran.code == code and words in ran.stderr, ran.stderr
        assert (tmp_path / name).read_bytes() == before
    ran = sherd("create", "a.zip|zip:b.zip|zip:c", "--shape", "4", "--dtype", "uint8")
    assert ran.code == 3 and "only in the local file system" in ran.stderr, ran.stderr


def test_an_archive_of_a_directory_is_changed_in_it(tree, tmp_path):
    zipped(tmp_path / "a.zarr", tmp_path / "whole.zip", "a.zarr/")
    tree.ok("create", "whole.zip/n", "--shape", "4", "--dtype", "uint8")
    assert names(tmp_path / "whole.zip") == sorted(["a.zarr/" + each for each in files(tmp_path / "a.zarr")] + ["a.zarr/n/zarr.json"])


@pytest.mark.parametrize("raw", [[], ["--raw"]])
def test_a_copy_that_fails_says_whether_it_can_be_resumed(tree, tmp_path, raw):
    def small_disk():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (600, 600))

    for to, note in ("b.zarr", "the same command with --resume"), ("b.zip", "the archive is as it was before"), ("b.zip/x", "the archive is as"):
        ran = subprocess.run([tree.binary, "copy", "a.zarr", to, *raw], cwd=tmp_path, capture_output=True, text=True, preexec_fn=small_disk)
        assert ran.returncode == 7 and note in ran.stderr and ran.stderr.count("--resume") == 1, ran.stderr
    assert not (tmp_path / "b.zip").exists()


def test_renaming_a_node_in_an_archive_is_refused_with_advice(tree, tmp_path):
    tree.ok("copy", "a.zarr", "a.zip")
    ran = tree("rename", "a.zip/g/x", "y")
    assert ran.code == 5 and "copy it ('sherd copy'), then remove it ('sherd rm')" in ran.stderr, ran.stderr


def test_ome_zarr_models_accepts_an_ozx_file_as_it_is(sherd, peer, tmp_path):
    numpy.save(tmp_path / "a.npy", numpy.arange(2 * 64 * 64, dtype="uint16").reshape(2, 64, 64))
    numpy.save(tmp_path / "cells.npy", numpy.arange(64 * 64, dtype="uint32").reshape(64, 64) // 100)
    sherd.ok("import", "a.npy", "a.ozx", "--axes", "c,y,x", "--pyramid", "mean", "--chunks", "1,32,32", "--shards", "2,64,64")
    sherd.ok("import", "cells.npy", "a.ozx/labels/cells", "--axes", "y,x", "--pyramid", "mode", "--chunks", "32,32")
    documents = [name for name in names(tmp_path / "a.ozx") if name.endswith("zarr.json")]
    found = in_order_of_bytes(tmp_path / "a.ozx", has_gaps=True)[: len(documents)]
    assert found[0] == "zarr.json" and sorted(found) == documents and [name.count("/") for name in found] == sorted(name.count("/") for name in found)
    for name in ("a.ozx", "b.ozx"):
        assert peer("validate", tmp_path / name) == {"groups": 3, "faults": []}
        sherd.ok("copy", "--raw", "a.ozx", "b.ozx", "--overwrite")


def test_a_copy_to_ozx_has_documents_first_and_says_so(sherd, tmp_path):
    numpy.save(tmp_path / "a.npy", numpy.arange(64 * 64, dtype="uint16").reshape(64, 64))
    sherd.ok("import", "a.npy", "a.ozx", "--axes", "y,x", "--pyramid", "mean:2", "--chunks", "32,32")
    sherd.ok("copy", "a.ozx", "b.ozx")
    sherd.ok("copy", "--raw", "a.ozx", "c.zarr")
    sherd.ok("copy", "--raw", "c.zarr", "c.ozx")
    for name in ("a.ozx", "b.ozx", "c.ozx"):
        with zipfile.ZipFile(tmp_path / name) as opened:
            found = opened.namelist()
            assert json.loads(opened.comment) == {"ome": {"version": "0.5", "zipFile": {"centralDirectory": {"jsonFirst": True}}}}
        documents = [each for each in found if each.endswith("zarr.json")]
        assert found[: len(documents)] == documents == ["zarr.json", *[f"{level}/zarr.json" for level in range(len(documents) - 1)]]
        laid_out = in_order_of_bytes(tmp_path / name)
        assert laid_out[: len(documents)] == documents and sorted(laid_out) == sorted(found)
        assert names(tmp_path / name) == sorted(found)
        assert sherd.ok("check", name, "--data", "--json").json["faults"] == []
    sherd.ok("attrs", "c.ozx", "x=1")
    sherd.ok("copy", "a.ozx", "d.zip")
    sherd.ok("create", "e.ozx", "--group")
    for name in ("c.ozx", "d.zip", "e.ozx"):
        with zipfile.ZipFile(tmp_path / name) as opened:
            assert opened.comment == b""
        expected = {"c.ozx": ["archive_comment", "archive_order"], "d.zip": [], "e.ozx": ["archive_not_ome"]}[name]
        assert [each["code"] for each in sherd.ok("check", name, "--json").json["faults"]] == expected


def test_documents_of_any_size_are_in_front_of_an_ozx_file(sherd, tmp_path):
    numpy.save(tmp_path / "a.npy", numpy.arange(64 * 64, dtype="uint16").reshape(64, 64))
    sherd.ok("import", "a.npy", "a.zarr", "--axes", "y,x", "--pyramid", "mean:2", "--chunks", "16,16")
    for level in ("", "/0", "/1"):
        sherd.ok("attrs", f"a.zarr{level}", f'notes={json.dumps("long " * 20_000)}')
    sherd.ok("consolidate", "a.zarr")
    for name, raw in (("a.ozx", []), ("b.ozx", ["--raw"])):
        sherd.ok("copy", *raw, "a.zarr", name)
        laid_out = in_order_of_bytes(tmp_path / name, has_gaps=True)
        assert laid_out[:3] == ["zarr.json", "0/zarr.json", "1/zarr.json"] and len(laid_out) > 10
        assert sherd.ok("check", name, "--json").json["faults"] == []


def test_an_import_to_ozx_has_documents_of_any_size_in_front(sherd, tmp_path):
    numpy.save(tmp_path / "a.npy", numpy.arange(64 * 64, dtype="uint16").reshape(64, 64))
    numpy.save(tmp_path / "cells.npy", numpy.arange(64 * 64, dtype="uint32").reshape(64, 64) // 100)
    notes = ["--attributes", json.dumps({"notes": "n" * 100_000})]
    sherd.ok("import", "a.npy", "a.ozx", "--axes", "y,x", "--pyramid", "mean:2", "--chunks", "16,16", *notes)
    assert sherd.ok("check", "a.ozx", "--json").json["faults"] == []
    for labels in ("cells", "more"):
        sherd.ok("import", "cells.npy", f"a.ozx/labels/{labels}", "--axes", "y,x", "--pyramid", "mode:2", "--chunks", "16,16", *notes)
        assert sherd.ok("check", "a.ozx", "--data", "--json").json["faults"] == []
    laid_out = in_order_of_bytes(tmp_path / "a.ozx", has_gaps=True)
    documents = [name for name in names(tmp_path / "a.ozx") if name.endswith("zarr.json")]
    assert sorted(laid_out[: len(documents)]) == documents and sum(len(sherd.ok("attrs", f"a.ozx{at}").text) > 100_000
                                                                   for at in ("/0", "/labels/cells/0")) == 2


def test_compact_keeps_the_order_of_an_ozx_file(sherd, tmp_path):
    numpy.save(tmp_path / "a.npy", numpy.arange(64 * 64, dtype="uint16").reshape(64, 64))
    sherd.ok("import", "a.npy", "a.zarr", "--axes", "y,x", "--pyramid", "mean:1", "--chunks", "16,16", "--shards", "64,64")
    shard = tmp_path / "a.zarr/0/c/0/0"
    whole, index = shard.read_bytes(), 16 * 16 + 4
    shard.write_bytes(whole[:-index] + bytes(3000) + whole[-index:])
    sherd.ok("copy", "--raw", "a.zarr", "a.ozx")
    assert sherd.ok("compact", "a.ozx", "--json").json == {"reclaimed": 3000, "shards": 1}
    assert sherd.ok("check", "a.ozx", "--data", "--json").json["faults"] == []
