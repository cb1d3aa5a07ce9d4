"""copy and check over arrays and hierarchies."""

import os
import pathlib
import re
import subprocess

import numpy
import pytest
import xarray
import zarr

import sherd as library

SAMPLES = pathlib.Path(__file__).resolve().parents[1] / "data/nczarr"
VALUES = numpy.random.default_rng(6).integers(0, 50, (20, 24)).astype(numpy.uint8)


@pytest.fixture
def source(sherd):
    sherd.ok("create", "study", "--group", "--attributes", '{"title": "a study"}')
    sherd.ok("create", "study/a", "--shape", "20,24", "--dtype", "uint8", "--chunks", "4,4", "--shards", "8,8",
             "--dimension-names", "y,x")
    sherd.ok("write", "study/a", "-i", "-", input=VALUES.tobytes())
    return "study/a"


@pytest.mark.parametrize("options, chunks, shards", [
    ([], [4, 4], [8, 8]), (["--shards", "16,16"], [4, 4], [16, 16]), (["--shards", "none"], [4, 4], None),
    (["--chunks", "5,6", "--shards", "10,12"], [5, 6], [10, 12]),
    (["--codec", "gzip:9", "--index-location", "start", "--chunk-order", "c"], [4, 4], [8, 8]),
    (["--chunks", "7,7", "--shards", "none", "--memory", "8MiB", "--threads", "1"], [7, 7], None),
])
def test_a_copy_has_other_chunks_and_the_same_elements(sherd, source, options, chunks, shards):
    sherd.ok("copy", source, "b", *options)
    info = sherd.ok("info", "b", "--json").json
    assert (info["chunks"], info["shards"], info["dimension_names"]) == (chunks, shards, ["y", "x"])
    assert sherd.ok("read", "b", "--format", "raw").stdout == VALUES.tobytes()


def test_a_copy_with_too_little_memory_is_refused(sherd, source):
    ran = sherd("copy", source, "b", "--memory", "1KiB")
    assert ran.code == 2 and "at least 8 MiB" in ran.stderr
    sherd.ok("copy", source, "b", "--memory", "8MiB")


def test_a_copy_says_what_it_does_not_have_of_a_dataset_of_netcdf_c(sherd):
    source = SAMPLES / "netcdf-c/oldformat-2021"
    said = sherd.ok("copy", source, "a").stderr
    assert "warning: documents of NCZarr, such as .nczgroup, are not part of the copy" in said and "sherd nccopy" in said
    [warning] = sherd.ok("copy", source, "b", "--json").json["warnings"]
    assert f"warning: {warning}" in said
    sherd.ok("nccopy", source, "c")
    ran = sherd.ok("copy", "c", "d", "--json")
    assert ran.json["warnings"] == []
    assert sherd.ok("ncdump", "-n", "x", "d").text == sherd.ok("ncdump", "-n", "x", source).text


def dimensions(sherd, dataset):
    """Those of each variable, as ncdump prints them."""
    return dict(re.findall(r"\t\w+ (\w+)\((.*)\) ;", sherd.ok("ncdump", "-h", dataset).text))


@pytest.mark.parametrize("sample", ["netcdf-c/oldkeys", "4.9.1/a491-nczarr_file", "noxarray"])
def test_a_copy_in_zarr_v3_keeps_dimension_names_of_netcdf_c(sherd, sample):
    source = SAMPLES / sample
    if sample == "noxarray":
        source = sherd.folder / "made"
        sherd.ok("nccopy", SAMPLES / "4.9.1/a491-nczarr_file", f"{source.as_uri()}#mode=nczarr,noxarray")
        assert "_ARRAY_DIMENSIONS" not in (source / ".zmetadata").read_text()
    sherd.ok("copy", source, "a", "--to", "zarr3")
    before = dimensions(sherd, source)
    assert before and before.items() <= dimensions(sherd, "a").items()


def test_copy_reports_what_was_moved_and_what_encoded(sherd, source):
    moved = sherd.ok("copy", source, "b", "--shards", "4,8", "--json").json
    assert set(moved) == {"arrays", "groups", "shards", "shards_skipped", "chunks_moved", "chunks_encoded", "dangling_kept",
                          "dangling_dropped", "warnings"}
    assert (moved["arrays"], moved["chunks_moved"], moved["chunks_encoded"]) == (1, 30, 0)
    encoded = sherd.ok("copy", source, "c", "--codec", "gzip:1", "--json").json
    assert (encoded["chunks_moved"], encoded["chunks_encoded"]) == (0, 30)
    assert "30 chunks moved" in sherd.ok("copy", source, "d").stderr


def test_a_hierarchy_is_copied_whole(sherd, source):
    sherd.ok("copy", "study", "other")
    assert sherd.ok("tree", "other").text == sherd.ok("tree", "study").text.replace("study", "other")
    assert sherd.ok("info", "other", "--json").json["attributes"] == {"title": "a study"}


def test_copy_replaces_or_resumes_only_on_request(sherd, source):
    sherd.ok("copy", source, "b")
    assert sherd("copy", source, "b").code == 6
    again = sherd.ok("copy", source, "b", "--resume", "--json").json
    assert (again["shards"], again["shards_skipped"]) == (0, 9)
    assert sherd.ok("copy", source, "b", "--overwrite", "--json").json["shards"] == 9
    assert sherd("copy", "nothing", "c").code == 3
    assert sherd("copy", source, "c", "--memory", "much").code == 2


def test_a_destination_that_is_a_dangling_link_is_named(sherd, source, tmp_path):
    (tmp_path / "x").symlink_to("unmounted")
    (tmp_path / "raw").write_bytes(bytes(8))
    new = ["--shape", "8", "--dtype", "uint8"]
    for command in (["create", "x", *new], ["create", "x/y", "--group"], ["copy", source, "x"], ["copy", source, "x/y", "--overwrite"],
                    ["import", "raw", "x", "--from", "raw", *new], ["nccopy", source, "x"]):
        ran = sherd(*command)
        assert ran.code == 7 and "'x' is a broken symbolic link" in ran.stderr and ".sherd" not in ran.stderr, ran.stderr
    with pytest.raises(OSError, match="'.*/x' is a broken symbolic link"):
        library.create_array(tmp_path / "x", shape=8, dtype="u1", data=numpy.ones(8, "u1"))
    assert (tmp_path / "x").is_symlink() and not (tmp_path / "unmounted").exists()


@pytest.mark.parametrize("below", ["study/a/c", "study/a/c/0", "study/a/c/0/1"])
def test_chunks_behind_a_dangling_link_are_an_error(sherd, source, tmp_path, below):
    place, moved = tmp_path / below, tmp_path / "disk"
    place.rename(moved)
    place.symlink_to(moved)
    assert sherd.ok("read", source, "--format", "raw").stdout == VALUES.tobytes()
    moved.rename(tmp_path / "unmounted")
    ran = sherd("read", source, "--format", "raw")
    assert ran.code == 7 and "is a broken symbolic link" in ran.stderr
    ran = sherd("check", "study", "--json")
    assert ran.code == 1
    assert [(fault["severity"], fault["code"], f"study/{fault['key']}") for fault in ran.json["faults"]] == [
        ("error", "unreadable", below)]


def test_a_sound_store_is_checked_with_one_line(sherd, source):
    ran = sherd.ok("check", "study", "--data")
    assert ran.text.startswith("ok: 2 documents, 9 shards, 30 chunks; ") and ran.text.count("\n") == 1
    report = sherd.ok("check", "study", "--json").json
    assert report["ok"] is True and report["faults"] == [] and report["repaired"] == []
    assert report["checked"] == {"documents": 2, "shards": 9, "chunks": 30}
    assert set(report["space"]) == {"live", "slack", "dead"} and report["space"]["live"] > 0


def test_a_flipped_bit_is_found_in_its_slot_and_the_others_still_read(sherd, tmp_path):
    sherd.ok("create", "a", "--shape", "8", "--dtype", "uint8", "--chunks", "2", "--shards", "8", "--codec", "crc32c")
    sherd.ok("write", "a", "-i", "-", "--chunk-order", "c", input=bytes(range(1, 9)))
    shard = tmp_path / "a/c/0"
    raw = bytearray(shard.read_bytes())
    raw[6 * 2] ^= 16  # two bytes and a checksum of four a chunk: the third chunk's first
    shard.write_bytes(raw)
    assert sherd("check", "a").code == 0
    ran = sherd("check", "a", "--data", "--json")
    assert ran.code == 1 and ran.json["ok"] is False
    (fault,) = ran.json["faults"]
    assert set(fault) == {"severity", "code", "key", "slot", "offset", "message"}
    assert (fault["severity"], fault["key"], fault["slot"], fault["offset"]) == ("error", "c/0", 2, 12)
    table = sherd("check", "a", "--data")
    assert table.code == 1 and table.stderr == ""
    assert table.text.splitlines()[0].split() == ["SEVERITY", "CODE", "KEY", "SLOT", "OFFSET", "MESSAGE"]
    assert table.text.splitlines()[1].split()[2:5] == ["c/0", "2", "12"]
    assert table.text.splitlines()[2].startswith("1 fault: ")
    assert sherd.ok("read", "a", "--select", ":4", "--json").json == [1, 2, 3, 4]
    assert sherd("read", "a", "--select", "4").code == 4


def test_an_error_of_a_copy_names_the_store(sherd, tmp_path):
    sherd.ok("create", "a", "--shape", "4", "--dtype", "uint8", "--chunks", "2", "--codec", "crc32c")
    sherd.ok("write", "a", "--value", "1")
    (tmp_path / "a/c/1").write_bytes(b"short")
    ran = sherd("copy", "a", "b", "--codec", "zstd")
    assert ran.code == 4 and "(in a)" in ran.stderr
    sherd.ok("create", "b", "--shape", "2", "--dtype", "uint8")
    ran = sherd("copy", "a", "b")
    assert ran.code == 6 and "(in b)" in ran.stderr


def test_a_damaged_document_is_a_fault_and_a_missing_node_an_error(sherd, tmp_path, source):
    (tmp_path / "study/a/zarr.json").write_text("{")
    ran = sherd("check", "study", "--json")
    assert ran.code == 1 and ran.json["faults"][0]["key"] == "a/zarr.json"
    assert sherd("check", "nothing").code == 3


def copy_there_and_back(sherd, cdl):
    """The dataset n.nczarr, its copy n3.zarr in Zarr v3, and n2.nczarr, a copy of that in Zarr v2."""
    sherd.ok("ncgen", "-o", "n.nczarr", "-", input=cdl.encode())
    sherd.ok("copy", "n.nczarr", "n3.zarr", "--to", "zarr3")
    sherd.ok("copy", "n3.zarr", "n2.nczarr", "--to", "zarr2", "--shards", "none")


def test_fill_values_of_a_copied_netcdf_dataset_are_as_xarray_needs_them(sherd):
    cdl = "netcdf n {dimensions: x = 4 ; variables: double d(x) ; d:_FillValue = NaN ; float f(x) ; f:_FillValue = -7.1f ;" \
          " short s(x) ; s:_FillValue = -9s ; data: d = _, 2, 3, 4 ; f = 1, _, 3, _ ; s = 1, 2, _, 4 ; }"
    copy_there_and_back(sherd, cdl)
    expected = sherd.ok("ncdump", "-n", "n", "n.nczarr").stdout
    for copied in ("n3.zarr", "n2.nczarr"):
        assert sherd.ok("ncdump", "-n", "n", copied).stdout == expected
        with xarray.open_zarr(sherd.folder / copied, consolidated=False) as dataset:
            assert numpy.isnan(dataset["f"]).values.tolist() == [False, True, False, True]
            assert numpy.isnan(dataset["d"]).values.tolist() == [True, False, False, False]
            assert numpy.isnan(dataset["s"]).values.tolist() == [False, False, True, False]
    attributes = sherd.ok("info", "n2.nczarr/f", "--json").json["attributes"]
    assert attributes["_FillValue"] == -7.1


def test_fill_values_of_copied_complex_numbers_are_as_xarray_needs_them(sherd):
    root = zarr.create_group(sherd.folder / "c2.zarr", zarr_format=2)
    array = root.create_array("c", shape=(2,), dtype="c16", attributes={"_FillValue": [1.0, 0.5], "_ARRAY_DIMENSIONS": ["x"]})
    array[:] = [2, 1 + 0.5j]
    sherd.ok("copy", "c2.zarr", "c3.zarr", "--to", "zarr3")
    with xarray.open_zarr(sherd.folder / "c3.zarr", consolidated=False) as dataset:
        assert dataset["c"].encoding["_FillValue"] == 1 + 0.5j and numpy.isnan(dataset["c"].values).tolist() == [False, True]
    sherd.ok("copy", "c3.zarr", "back.zarr", "--to", "zarr2", "--shards", "none")
    assert sherd.ok("info", "back.zarr/c", "--json").json["attributes"]["_FillValue"] == [1, 0.5]


def test_text_of_a_copied_netcdf_dataset_is_read_by_zarr_python(sherd):
    cdl = "netcdf n {dimensions: x = 3 ; variables: char c(x) ; string s(x) ; data: c = \"abc\" ; s = \"one\", \"\", \"three\" ; }"
    copy_there_and_back(sherd, cdl)
    root = zarr.open_group(sherd.folder / "n3.zarr", mode="r")
    assert root["c"][:].tolist() == [b"a", b"b", b"c"] and root["s"][:].tolist() == [b"one", b"", b"three"]


def test_a_copied_netcdf_dataset_has_its_values_and_dimensions(sherd):
    """Not its order nor the types of its attributes, which NCZarr keeps where Zarr v3 has no place; a warning says so."""
    cdl = "netcdf n {dimensions: z = 2 ; b = 3 ; variables: int zz(z, b) ; zz:units = \"K\" ; int scalar ; float aa(b) ;" \
          " short mm(z) ; mm:_FillValue = -3s ; data: zz = 1, 2, 3, 4, 5, 6 ; scalar = 7 ; aa = 1, 2, 3 ; mm = 1, 2 ;" \
          " group: y { variables: int inner(b) ; data: inner = 1, 2, 3 ; } group: x { variables: int inner(z) ; data: inner = 8, 9 ; } }"
    copy_there_and_back(sherd, cdl)
    ran = sherd.ok("copy", "n.nczarr", "again.zarr", "--to", "zarr3")
    for document, member in [(".zgroup", "_nczarr_superblock"), ("zz/.zarray", "_nczarr_array"), ("y/.zgroup", "_nczarr_group")]:
        assert f"'{document}': the member '{member}' is not copied; the format zarr3 has no place for it" in ran.stderr
    for group in ("/", "/x", "/y"):
        with xarray.open_dataset(sherd.folder / "n.nczarr", engine="sherd", group=group) as expected:
            for copied in ("n3.zarr", "n2.nczarr"):
                with xarray.open_dataset(sherd.folder / copied, engine="sherd", group=group) as dataset:
                    xarray.testing.assert_identical(dataset, expected)


@pytest.mark.parametrize("threads", ["1", "2", "8"])
def test_a_copy_to_thousands_of_objects_stays_in_its_memory(sherd, tmp_path, threads):
    """2048 objects need no more than 32 of them, but for what the allocator keeps."""

    def peak(source):
        process = subprocess.Popen([sherd.binary, "copy", source, f"{source}.flat", "--memory", "8MiB", "--threads", threads,
                                    "--chunks", "32,32,32", "--shards", "none", "--codec", "blosc"], cwd=tmp_path, stderr=subprocess.PIPE)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        assert process.returncode == 0, process.stderr.read()
        return usage.ru_maxrss / 1024

    for name, length in (("small", 32), ("large", 2048)):
        (tmp_path / "in.raw").write_bytes(numpy.random.default_rng(1).integers(0, 9, length * 2**15, "u1").tobytes())
        sherd.ok("import", "in.raw", name, "--shape", f"{length},128,256", "--dtype", "u1", "--chunks", "32,64,64", "--shards", "32,128,256")
    assert peak("large") - peak("small") < 24


def test_check_reports_a_chunk_of_texts_that_reading_refuses(sherd, tmp_path):
    texts = zarr.create_array(tmp_path / "t", shape=(4,), chunks=(4,), dtype=str,
                              compressors=[zarr.codecs.ZstdCodec()])
    texts[:] = numpy.array(["a", "bc", "def", "ghij"], dtype=object)
    chunk = tmp_path / "t/c/0"
    frame = chunk.read_bytes()
    assert frame[4] & 0xE0 == 0x20, "one segment, whose size has one byte"
    chunk.write_bytes(frame[:4] + bytes([frame[4] | 0xC0]) + (1 << 40).to_bytes(8, "little") + frame[6:])
    assert sherd("read", "t").code != 0
    ran = sherd("check", "t", "--data", "--json")
    assert ran.code == 1
    assert [(fault["severity"], fault["key"]) for fault in ran.json["faults"]] == [("error", "c/0")]
