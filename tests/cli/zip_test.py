"""Zip archives by every name that they have, in the commands that read."""

import json
import shutil
import subprocess
import zipfile

import numpy
import pytest
from archives import zipped
from dependencies import missing

NAMES = ["a.zip", "./a.zip", "file://{folder}/a.zip", "a.zip|zip:", "file://{folder}/a.zip|zip:", "zip::a.zip", "zip::file://{folder}/a.zip",
         "a.zip#mode=zarr,zip", "file://{folder}/a.zip#mode=zarr,zip", "[mode=zarr,zip]a.zip", "a.zip|zip:|zarr3:", "zarr3://a.zip"]
INNER = ["a.zip/inner", "a.zip|zip:inner", "a.zip|zip:inner/", "zip://inner::a.zip", "file://{folder}/a.zip|zip:inner", "a.zip|zip:|zarr3:inner",
         "file://{folder}/a.zip/inner"]


@pytest.fixture
def archive(sherd, tmp_path):
    sherd.ok("create", "a.zarr/inner", "--shape", "4,6", "--dtype", "uint16", "--chunks", "2,3", "--shards", "4,3")
    numpy.save(tmp_path / "a.npy", numpy.arange(24, dtype="uint16").reshape(4, 6))
    sherd.ok("write", "a.zarr/inner", "--select", ":", "-i", "a.npy")
    zipped(tmp_path / "a.zarr", tmp_path / "a.zip")
    return sherd


@pytest.mark.parametrize("name", NAMES)
def test_an_archive_has_many_names(archive, tmp_path, name):
    url = name.format(folder=tmp_path)
    assert archive.ok("info", url, "--json").json["node_type"] == "group"
    assert [each["name"] for each in archive.ok("tree", url, "--json").json["children"]] == ["inner"]


@pytest.mark.parametrize("name", INNER)
def test_an_array_in_an_archive_has_many_names(archive, tmp_path, name):
    url = name.format(folder=tmp_path)
    info = archive.ok("info", url, "--json").json
    assert info["shape"] == [4, 6] and info["stored"]["objects"] == 2
    assert info["url"] == f"file://{tmp_path}/a.zip|zip:inner"
    assert archive.ok("read", url, "--select", "1,2:4", "--format", "json").json == [8, 9]


def test_an_archive_is_found_by_its_first_bytes_or_its_suffix(archive, tmp_path):
    for name in ("a.ozx", "archive"):
        (tmp_path / name).write_bytes((tmp_path / "a.zip").read_bytes())
        assert archive.ok("info", f"{name}/inner", "--json").json["shape"] == [4, 6]
    (tmp_path / "self-extracting.zip").write_bytes(b"#!/bin/sh\n" + (tmp_path / "a.zip").read_bytes())
    assert archive.ok("info", "self-extracting.zip/inner", "--json").json["shape"] == [4, 6]


def test_an_existing_directory_or_file_wins_over_what_its_name_could_mean(archive, tmp_path):
    for name in ("d.zip", "a.zip|zip:", "zip::a.zip"):
        archive.ok("copy", "a.zarr/inner", f"{tmp_path}/plain")
        (tmp_path / "plain").rename(tmp_path / name)
        info = archive.ok("info", name, "--json").json
        assert info["node_type"] == "array" and "|zip:" not in info["url"].replace("%7Czip:", "")


def test_an_archive_is_copied_checked_and_drawn_as_a_directory_is(archive, tmp_path):
    archive.ok("copy", "a.zip", "b.zarr")
    assert archive.ok("read", "b.zarr/inner", "--format", "raw").stdout == numpy.arange(24, dtype="uint16").tobytes()
    assert archive.ok("check", "a.zip", "--data", "--json").json["ok"]
    archive.ok("picture", "a.zip/inner", "x.png")
    assert archive.ok("ls", "a.zip").text == "inner\n"
    archive.ok("export", "a.zip/inner", "x.npy")
    assert (numpy.load(tmp_path / "x.npy") == numpy.arange(24).reshape(4, 6)).all()


def test_a_dataset_in_an_archive_is_dumped_and_copied(archive, tmp_path):
    archive.ok("ncgen", "-o", "d.zarr", input=b"netcdf x { dimensions: y = 2 ; variables: int v(y) ; data: v = 1, 2 ; }")
    zipped(tmp_path / "d.zarr", tmp_path / "d.zip")
    for name in ("d.zip#mode=nczarr,zip", f"file://{tmp_path}/d.zip#mode=nczarr,zip", "file://d.zip#mode=zip", "d.zip"):
        assert "v = 1, 2 ;" in archive.ok("ncdump", name).text, name
    archive.ok("nccopy", "d.zip#mode=nczarr,zip", "e.zarr")
    assert "v = 1, 2 ;" in archive.ok("ncdump", "e.zarr").text


def test_what_is_no_archive_is_refused_by_name(archive, tmp_path):
    (tmp_path / "empty.zip").write_bytes(b"")
    ran = archive("info", "empty.zip")
    assert ran.code == 4 and "empty.zip" in ran.stderr and "remove it" in ran.stderr, ran.stderr
    for name in ("missing.zip", "missing.zip/inner", "missing|zip:"):
        ran = archive("info", name)
        assert ran.code == 3 and "zip archive does not exist: " in ran.stderr and "missing" in ran.stderr, ran.stderr
    ran = archive("import", "a.zip", "b")
    assert ran.code == 5 and "a.zip is a ZIP file; write '|zip:' after its path" in ran.stderr and "sherd copy" in ran.stderr, ran.stderr
    ran = archive("info", "a.zip|zap:inner")
    assert ran.code == 5 and "a.zip|zap:inner" in ran.stderr and "the scheme 'zap'" in ran.stderr, ran.stderr
    ran = archive("info", "file:///a.zip|zap:inner")
    assert ran.code == 5 and "tried\n  a path: it does not exist\n  the scheme 'zap'" in ran.stderr and "did you mean 'zip'" in ran.stderr, ran.stderr


@pytest.mark.parametrize("lost", ["the end", "a third"])
def test_the_error_of_an_archive_that_was_cut_says_what_is_left(archive, tmp_path, lost):
    if shutil.which("zip") is None:
        missing("zip")
    whole = (tmp_path / "a.zip").read_bytes()
    (tmp_path / "cut.zip").write_bytes(whole[:-30] if lost == "the end" else whole[: len(whole) * 2 // 3])
    ran = archive("info", "cut.zip")
    complete = int(ran.stderr.split("; ")[1].split(" member")[0])
    assert ran.code == 4 and "'cut.zip'" in ran.stderr and "can be recovered with `zip -FF ARCHIVE --out NEW`" in ran.stderr, ran.stderr
    subprocess.run(["zip", "-FF", "cut.zip", "--out", "new.zip"], cwd=tmp_path, input=b"y\n", stdout=subprocess.DEVNULL, check=True)
    with zipfile.ZipFile(tmp_path / "a.zip") as old, zipfile.ZipFile(tmp_path / "new.zip") as new:
        assert 0 < complete <= len(old.namelist()) and (lost == "a third") == (complete < len(old.namelist()))
        for name in old.namelist()[:complete]:
            assert new.read(name) == old.read(name)
    if lost == "the end":
        assert archive.ok("read", "new.zip/inner", "--select", "1,2:4", "--format", "json").json == [8, 9]


def test_a_suffix_in_capitals_makes_and_finds_an_archive(archive, tmp_path):
    archive.ok("copy", "a.zarr", "B.ZIP")
    archive.ok("create", "C.Ozx/x", "--shape", "4", "--dtype", "uint8")
    for name in ("B.ZIP", "C.Ozx"):
        assert zipfile.is_zipfile(tmp_path / name)
    assert archive.ok("info", "B.ZIP/inner", "--json").json["shape"] == [4, 6]
    codes = [each["code"] for each in archive.ok("check", "C.Ozx", "--json").json["faults"]]
    assert codes == ["archive_not_ome"]
    (tmp_path / "D.ZIP").mkdir()
    archive.ok("create", "D.ZIP/x", "--shape", "4", "--dtype", "uint8")
    assert (tmp_path / "D.ZIP/x/zarr.json").exists(), "what exists wins"


def test_a_check_of_data_compares_the_checksums_of_members(archive, tmp_path):
    def faults_of(*line):
        return [(each["severity"], each["code"], each["key"]) for each in archive(*line, "--json").json["faults"] if each["code"] != "foreign_object"]

    with zipfile.ZipFile(tmp_path / "a.zip", "a") as to:
        to.writestr("readme", b"stored text")
        to.writestr("inner/more", b"deflated text " * 100, zipfile.ZIP_DEFLATED)
    assert faults_of("check", "a.zip", "--data") == []
    data = (tmp_path / "a.zip").read_bytes()
    with zipfile.ZipFile(tmp_path / "a.zip") as opened:
        deflated = opened.getinfo("inner/more").header_offset + 50
    damaged = bytearray(data.replace(b"stored text", b"stored TEXT"))
    damaged[deflated] ^= 1
    (tmp_path / "b.zip").write_bytes(damaged)
    assert faults_of("check", "b.zip") == []
    for name, keys in (("b.zip", ["inner/more", "readme"]), ("b.zip/inner", ["more"])):
        assert archive("check", name, "--data").code == 1
        assert faults_of("check", name, "--data") == [("error", "archive_member", key) for key in keys]
    ran = archive("copy", "--raw", "b.zip", "d.zarr")
    assert ran.code == 4 and ("'readme'" in ran.stderr or "'inner/more'" in ran.stderr) and not (tmp_path / "d.zarr/readme").exists()


@pytest.mark.parametrize("shards", [[], ["--shards", "1024,2048"]], ids=["chunks", "shards"])
def test_a_damaged_member_is_not_copied(sherd, tmp_path, shards):
    values = numpy.random.default_rng(5).integers(0, 1000, (1024, 2048), dtype="uint16")
    numpy.save(tmp_path / "a.npy", values)
    sherd.ok("create", "a.zip", "--shape", "1024,2048", "--dtype", "uint16", "--chunks", "1024,1024", "--codec", "bytes", *shards)
    sherd.ok("write", "a.zip", "--select", ":", "-i", "a.npy")
    data = bytearray((tmp_path / "a.zip").read_bytes())
    data[data.find(values.tobytes()[:2048]) + 1000] ^= 1  # in the first chunk
    (tmp_path / "b.zip").write_bytes(data)
    for line in [["copy", "b.zip", "c.zarr"], ["copy", "b.zip", "c.zip"], ["copy", "--raw", "b.zip", "c.zarr"],
                 ["copy", "--raw", "b.zip", "c.zip"]]:
        ran = sherd(*line)
        assert ran.code == 4 and "'c/0/0': the checksum of the zip archive's member is wrong (in " in ran.stderr, (line, ran.stderr)
        assert "b.zip" in ran.stderr and not [name for name in ("c.zarr", "c.zip") if (tmp_path / name / "c/0/0").exists()]
        shutil.rmtree(tmp_path / "c.zarr", ignore_errors=True)
        (tmp_path / "c.zip").unlink(missing_ok=True)
    assert sherd("check", "b.zip", "--data").code == 1
    sherd.ok("read", "b.zip", "--select", "0,1500:1510")  # of another chunk, or a part of the shard


def test_a_check_names_a_member_whose_name_is_too_long(archive, tmp_path):
    with zipfile.ZipFile(tmp_path / "a.zip", "a") as to:
        to.writestr("n" * 300, b"x")
    assert archive.ok("read", "a.zip/inner", "--select", "1,2:4", "--format", "json").json == [8, 9]
    [fault] = archive.ok("check", "a.zip", "--json").json["faults"]
    assert (fault["severity"], fault["code"], fault["key"]) == ("warning", "archive_name", "n" * 100)
    archive.ok("attrs", "a.zip", "x=1")
    with zipfile.ZipFile(tmp_path / "a.zip") as opened:
        assert opened.read("n" * 300) == b"x"


def test_an_archive_with_a_member_that_cannot_be_read_is_not_changed(archive, tmp_path):
    with zipfile.ZipFile(tmp_path / "a.zip", "a") as to:
        to.writestr("notes", b"text " * 100, zipfile.ZIP_LZMA)
    before = (tmp_path / "a.zip").read_bytes()
    for line in (["attrs", "a.zip", "x=1"], ["rm", "a.zip/inner"], ["create", "a.zip/y", "--shape", "4", "--dtype", "uint8"]):
        ran = archive(*line)
        assert ran.code == 5 and "'notes': the member is compressed by method 14" in ran.stderr and "(in a.zip)" in ran.stderr, ran.stderr
        assert "copy what can be read to a new one (sherd copy)" in ran.stderr
    assert (tmp_path / "a.zip").read_bytes() == before
    archive.ok("copy", "a.zip", "b.zip")
    archive.ok("attrs", "b.zip", "x=1")
    faults = archive.ok("check", "a.zip", "--data", "--json").json["faults"]
    assert [(each["severity"], each["code"], each["key"]) for each in faults if each["code"] != "foreign_object"] == [
        ("warning", "archive_member", "notes")]


def test_a_directory_of_an_archive_without_a_node_names_one(archive, tmp_path):
    with zipfile.ZipFile(tmp_path / "two.zip", "w") as to:
        for name in ("b.zarr", "c.zarr"):
            to.write(tmp_path / "a.zarr/zarr.json", f"{name}/zarr.json")
    ran = archive("info", "two.zip")
    assert ran.code == 3 and "; it contains b.zarr: open two.zip|zip:b.zarr; tried\n  zarr3: zarr.json\n" in ran.stderr, ran.stderr


def test_an_archive_of_a_directory_begins_in_it(archive, tmp_path):
    zipped(tmp_path / "a.zarr", tmp_path / "whole.zip", "a.zarr/")
    assert archive.ok("info", "whole.zip", "--json").json["url"] == f"file://{tmp_path}/whole.zip|zip:a.zarr"
    for name in ("whole.zip/inner", "whole.zip/a.zarr/inner", "whole.zip|zip:a.zarr/inner"):
        assert archive.ok("info", name, "--json").json["shape"] == [4, 6]
    assert archive("info", "whole.zip|zip:inner").code == 3


def test_a_check_compares_the_order_that_an_ozx_file_claims(archive, tmp_path):
    for order, faults in (["zarr.json", "g/zarr.json", "a"], []), (["zarr.json", "a", "g/zarr.json"], ["archive_order"]), (
            ["g/zarr.json", "zarr.json", "a"], ["archive_order"]):
        assert of_ozx(archive, tmp_path, order, {"version": "0.5", "zipFile": {"centralDirectory": {"jsonFirst": True}}}) == faults


def of_ozx(archive, folder, order, comment, method=zipfile.ZIP_STORED, attributes=(("ome", {"version": "0.5"}),)):
    """What `check` finds of an .ozx file as a whole."""
    with zipfile.ZipFile(folder / "o.ozx", "w", method) as to:
        for name in order:
            document = {"zarr_format": 3, "node_type": "group", "attributes": dict(attributes)}
            to.writestr(name, json.dumps(document) if name != "a" else "")
        to.comment = json.dumps({"ome": comment}).encode() if comment else b""
    return [each["code"] for each in archive.ok("check", "o.ozx", "--json").json["faults"] if each["code"].startswith("archive")]


def test_a_check_says_what_an_ozx_file_lacks_of_what_is_recommended(archive, tmp_path):
    order = ["zarr.json", "g/zarr.json", "a"]
    assert of_ozx(archive, tmp_path, order, {"version": "0.5"}) == []
    assert of_ozx(archive, tmp_path, order[::-1], {"version": "0.5"}) == ["archive_order"]
    assert of_ozx(archive, tmp_path, order, None) == of_ozx(archive, tmp_path, order, {"version": "0.6"}) == ["archive_comment"]
    assert of_ozx(archive, tmp_path, order, {"version": "0.5"}, zipfile.ZIP_DEFLATED) == ["archive_compressed"]
    assert of_ozx(archive, tmp_path, order[::-1], None, attributes=()) == ["archive_not_ome"]


def test_a_check_warns_of_members_of_the_same_name(archive, tmp_path):
    with zipfile.ZipFile(tmp_path / "a.zip", "a") as to, pytest.warns(UserWarning, match="Duplicate name"):
        to.writestr("inner/zarr.json", (tmp_path / "a.zarr/inner/zarr.json").read_bytes())
    report = archive.ok("check", "a.zip", "--json").json
    assert report["ok"] and [(each["severity"], each["code"], each["key"]) for each in report["faults"]] == [
        ("warning", "archive_duplicate", "inner/zarr.json")]
    archive.ok("attrs", "a.zip", "x=1")
    assert archive.ok("check", "a.zip", "--json").json["faults"] == []
