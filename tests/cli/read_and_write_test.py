"""read and write: elements in, elements out, as .npy, raw bytes and JSON."""

import io
import json
import os
import random
import threading

import numpy
import pytest


def saved(array):
    file = io.BytesIO()
    numpy.save(file, array)
    return file.getvalue()


def loaded(data):
    return numpy.load(io.BytesIO(data))


@pytest.fixture
def volume(sherd):
    """An array of 12 x 10 x 9 in shards, and what it holds."""
    values = numpy.random.default_rng(1).integers(0, 60000, (12, 10, 9)).astype(numpy.uint16)
    sherd.ok("create", "v", "--shape", "12,10,9", "--dtype", "uint16", "--chunks", "2,5,3", "--shards", "6,5,9")
    sherd.ok("write", "v", "-i", "-", input=saved(values))
    return values


@pytest.mark.parametrize("text", [
    "...", ":", "3", "-1", "2:9", "::-1", "10:2:-3", "...,4", "1,2,3", "1:2,2:3,3:4", ":,5,::-2", "::2,::3,::4", "5:5",
    "3,...,-9",
    "100:",
])
def test_a_selection_reads_as_numpy_indexes(sherd, volume, text):
    want = eval(f"volume[{text}]")
    assert json.loads(sherd.ok("read", "v", "--select", text, "--json").stdout) == want.tolist() or want.size == 0
    got = loaded(sherd.ok("read", "v", "--select", text).stdout)
    assert got.shape == want.shape and got.dtype == want.dtype
    numpy.testing.assert_array_equal(got, want)
    assert sherd.ok("read", "v", "--select", text, "--format", "raw").stdout == want.tobytes()


@pytest.mark.parametrize("text", ["12", "-13", "a", "1:2:0", "0,0,0,0", "..., ...", "1.5"])
def test_a_selection_that_does_not_fit_is_a_usage_error(sherd, volume, text):
    assert sherd("read", "v", "--select", text).code == 2


@pytest.mark.parametrize("text", ["", "  "])
def test_an_empty_selection_is_not_all_of_it(sherd, volume, text):
    ran = sherd("write", "v", "--select", text, "--value", "1")
    assert ran.code == 2 and "--select" in ran.stderr
    numpy.testing.assert_array_equal(loaded(sherd.ok("read", "v").stdout), volume)


def test_json_has_one_row_per_line_and_brackets_as_in_numpy(sherd):
    sherd.ok("create", "a", "--shape", "2,2,3", "--dtype", "int8")
    sherd.ok("write", "a", "-i", "-", input=saved(numpy.arange(12, dtype=numpy.int8).reshape(2, 2, 3)))
    assert sherd.ok("read", "a", "--json").text == (
        "[[[0, 1, 2],\n"
        "  [3, 4, 5]],\n"
        " [[6, 7, 8],\n"
        "  [9, 10, 11]]]\n")


@pytest.mark.parametrize("shape, want", [("0", []), ("2,0", [[], []]), ("0,5", []), ("2,0,3", [[], []])])
def test_arrays_without_elements_are_empty_lists(sherd, shape, want):
    sherd.ok("create", "a", "--shape", shape, "--dtype", "int8", "--chunks", ",".join("1" for _ in shape.split(",")))
    assert sherd.ok("read", "a", "--json").json == want


def test_a_shape_that_claims_countless_empty_lists_is_one(sherd):
    sherd.ok("create", "a", "--shape", f"{2**60},0", "--dtype", "int8", "--chunks", "1,1")
    assert sherd.ok("read", "a", "--json").json == []


def test_the_format_follows_the_suffix_of_the_file(sherd, volume, tmp_path):
    for name in ["v.npy", "v.raw", "v.json", "v.other"]:
        sherd.ok("read", "v", "-o", name)
    numpy.testing.assert_array_equal(numpy.load(tmp_path / "v.npy"), volume)
    assert (tmp_path / "v.raw").read_bytes() == volume.tobytes()
    assert json.loads((tmp_path / "v.json").read_text()) == volume.tolist()
    assert (tmp_path / "v.other").read_bytes() == (tmp_path / "v.npy").read_bytes()


def test_a_read_that_fails_leaves_no_file(sherd, volume, tmp_path):
    shard = tmp_path / "v/c/1/1/0"
    shard.write_bytes(shard.read_bytes()[:-1] + b"?")
    before = sorted(tmp_path.iterdir())
    assert sherd("read", "v", "-o", "v.npy").code == 4
    assert sorted(tmp_path.iterdir()) == before


def test_a_pipe_with_too_many_elements_changes_nothing(sherd):
    sherd.ok("create", "a", "--shape", "4", "--dtype", "uint8", "--chunks", "2")
    ran = sherd("write", "a", "-i", "-", input=bytes(range(1, 6)))
    assert ran.code in (2, 4) and "'standard input'" in ran.stderr
    assert sherd.ok("read", "a", "--json").json == [0, 0, 0, 0]
    sherd.ok("write", "a", "--select", "2:2", "-i", "-")
    assert sherd("write", "a", "--select", "2:2", "-i", "-", input=b"x").code in (2, 4)


@pytest.mark.parametrize("text", ["...", "3", "2:9,::2", "::-1,5,1:4", "10:2:-3,...,8"])
@pytest.mark.parametrize("form", ["npy", "fortran", "raw", "json"])
@pytest.mark.parametrize("by_file", [True, False])
def test_a_selection_is_written_from_each_format(sherd, volume, tmp_path, text, form, by_file):
    want = volume.copy()
    part = eval(f"want[{text}]")
    part[...] = numpy.random.default_rng(2).integers(0, 60000, part.shape)
    data = {"npy": saved(part), "fortran": saved(numpy.asfortranarray(part)), "raw": part.tobytes(),
            "json": json.dumps(part.tolist()).encode()}[form]
    options = ["--format", "json"] if form == "json" else []
    if by_file:
        (tmp_path / "part").write_bytes(data)
        sherd.ok("write", "v", "--select", text, "-i", "part", *options)
    else:
        sherd.ok("write", "v", "--select", text, "-i", "-", *options, input=data)
    numpy.testing.assert_array_equal(loaded(sherd.ok("read", "v").stdout), want)


@pytest.mark.parametrize("form", ["npy", "raw", "json"])
def test_a_named_pipe_is_a_source_as_a_file_is(sherd, tmp_path, form):
    values = numpy.arange(24, dtype="int16").reshape(4, 6)
    sherd.ok("create", "a", "--shape", "4,6", "--dtype", "int16", "--chunks", "2,3")
    os.mkfifo(tmp_path / "pipe")
    content = {"npy": saved(values), "raw": values.tobytes(), "json": json.dumps(values.tolist()).encode()}[form]
    writer = threading.Thread(target=(tmp_path / "pipe").write_bytes, args=[content])
    writer.start()
    sherd.ok("write", "a", "-i", "pipe", "--format", form)
    writer.join()
    assert sherd.ok("read", "a", "--format", "raw").stdout == values.tobytes()


@pytest.mark.parametrize("source", ["/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"])
def test_the_paths_of_standard_input_are_sources(sherd, source):
    sherd.ok("create", "a", "--shape", "4", "--dtype", "uint8")
    sherd.ok("write", "a", "-i", source, input=b"abcd")
    assert sherd.ok("read", "a", "--format", "raw").stdout == b"abcd"
    ran = sherd("write", "a", "-i", source, input=b"abc")
    assert ran.code == 4 and source in ran.stderr


def test_other_byte_orders_are_swapped(sherd):
    sherd.ok("create", "a", "--shape", "3", "--dtype", "int32")
    sherd.ok("write", "a", "-i", "-", input=saved(numpy.array([1, -2, 3], dtype=">i4")))
    assert sherd.ok("read", "a", "--json").json == [1, -2, 3]


def test_a_selection_larger_than_a_buffer_is_read_whole(sherd, tmp_path):
    values = numpy.random.default_rng(3).integers(0, 255, (90, 1000, 1000)).astype(numpy.uint8)
    sherd.ok("create", "a", "--shape", "90,1000,1000", "--dtype", "uint8", "--chunks", "20,500,500", "--codec", "bytes")
    sherd.ok("write", "a", "-i", "-", input=saved(values))
    assert sherd.ok("read", "a", "--format", "raw").stdout == values.tobytes()
    odd = values[::-1, 3:, ::2]
    assert sherd.ok("read", "a", "--format", "raw", "--select", "::-1,3:,::2").stdout == odd.tobytes()


@pytest.mark.parametrize("data", [b"", b"\0" * 5, b"\0" * 7])
def test_a_source_of_another_size_is_refused(sherd, tmp_path, data):
    sherd.ok("create", "a", "--shape", "3", "--dtype", "uint16")
    (tmp_path / "part").write_bytes(data)
    assert sherd("write", "a", "-i", "part").code == 2
    piped = sherd("write", "a", "-i", "-", input=data)
    assert piped.code == 4 and "'standard input'" in piped.stderr


def test_an_npy_of_another_shape_or_type_is_refused(sherd):
    sherd.ok("create", "a", "--shape", "2,3", "--dtype", "uint16")
    assert "(3, 2)" in sherd("write", "a", "-i", "-", input=saved(numpy.zeros((3, 2), numpy.uint16))).stderr
    ran = sherd("write", "a", "-i", "-", input=saved(numpy.zeros((2, 3), numpy.int16)))
    assert ran.code == 2 and '"int16"' in ran.stderr and '"uint16"' in ran.stderr
    assert sherd("write", "a", "-i", "-", input=saved(numpy.zeros((2, 3), numpy.uint16))[:-1]).code == 4


@pytest.mark.parametrize("dtype, text, want", [
    ("uint8", "7", 7), ("bool", "true", True), ("float32", "NaN", "NaN"), ("float64", "-Infinity", "-Infinity"),
    ("float32", "0x7fc00001", "0x7fc00001"), ("complex64", "[1, 2]", [1.0, 2.0]), ("string", "word", "word"),
    ("uint64", "18446744073709551615", 2**64 - 1),
])
def test_one_value_is_written_everywhere(sherd, dtype, text, want):
    sherd.ok("create", "a", "--shape", "5", "--dtype", dtype)
    sherd.ok("write", "a", "--select", "1:3", "--value", text)
    got = sherd.ok("read", "a", "--json").json
    assert got[1:3] == [want, want] and got[0] == got[3] != want


def test_strings_go_in_and_out_as_json(sherd, tmp_path):
    words = [["a", "ü\n\"", ""], ["long " * 1000, "\u0000", "語"]]
    sherd.ok("create", "a", "--shape", "2,3", "--dtype", "string", "--chunks", "1,2", "--shards", "2,4")
    (tmp_path / "words.json").write_text(json.dumps(words))
    sherd.ok("write", "a", "-i", "words.json")
    assert sherd.ok("read", "a").json == words
    assert sherd.ok("read", "a", "--select", "1,::-1").json == words[1][::-1]
    assert sherd("read", "a", "--format", "npy").code == 5
    assert sherd("write", "a", "-i", "-", input=b"raw").code == 5


@pytest.mark.parametrize("text", ['[[1, 2], [3]]', '[1, 2]', '[[1, 2], [3, "x"]]', '[[1, 2], [3, 400]]'])
def test_json_of_another_shape_or_type_names_the_element(sherd, text):
    sherd.ok("create", "a", "--shape", "2,2", "--dtype", "uint8")
    ran = sherd("write", "a", "-i", "-", "--format", "json", input=text.encode())
    assert ran.code == 2 and "[" in ran.stderr


def test_many_strings_are_read_in_parts(sherd, tmp_path):
    rng = random.Random(4)
    words = ["".join(rng.choices("abcdefgh", k=rng.randrange(9))) for _ in range(600_000)]
    sherd.ok("create", "a", "--shape", str(len(words)), "--dtype", "string", "--chunks", "10000")
    (tmp_path / "words.json").write_text(json.dumps(words))
    sherd.ok("write", "a", "-i", "words.json")
    assert sherd.ok("read", "a").json == words


def test_write_needs_one_source(sherd, volume):
    assert sherd("write", "v").code == 2
    assert sherd("write", "v", "-i", "-", "--value", "1").code == 2
    assert sherd("write", "v", "-i", "nothing.npy").code == 3


def test_chunks_of_fill_values_are_stored_on_request(sherd, tmp_path):
    sherd.ok("create", "a", "--shape", "4", "--dtype", "uint8", "--chunks", "2")
    sherd.ok("write", "a", "--value", "0")
    assert not (tmp_path / "a/c").exists()
    sherd.ok("write", "a", "--value", "0", "--write-empty-chunks", "--no-durable")
    assert len(list((tmp_path / "a/c").iterdir())) == 2


def test_a_shard_keeps_as_many_dead_bytes_as_the_writer_allows(sherd, tmp_path):
    def size_after(*options):
        sherd.ok("create", "a", "--shape", "8192", "--dtype", "uint8", "--chunks", "1024", "--shards", "8192", "--codec",
                 "bytes", "--overwrite")
        sherd.ok("write", "a", "--value", "1")
        sherd.ok("write", "a", "--value", "2", "--select", ":1024")
        sherd.ok("write", "a", "--value", "3", "--select", ":1024", *options)
        return (tmp_path / "a/c/0").stat().st_size

    assert size_after("--max-unused", "0") == 8192 + 8 * 16 + 4
    assert size_after("--max-unused", "50%") == size_after() > 8192 + 1024


def test_the_order_of_chunks_in_a_shard_is_chosen_by_the_writer(sherd, tmp_path):
    shards = {}
    for order in ["c", "f", "morton"]:
        sherd.ok("create", order, "--shape", "4,4", "--dtype", "uint8", "--chunks", "1,1", "--shards", "4,4",
                 "--codec", "bytes")
        sherd.ok("write", order, "-i", "-", "--chunk-order", order, input=bytes(range(1, 17)))
        assert sherd.ok("read", order, "--format", "raw").stdout == bytes(range(1, 17))
        shards[order] = (tmp_path / order / "c/0/0").read_bytes()[:16]
    assert shards["c"] == bytes(range(1, 17))
    assert shards["f"] == numpy.arange(1, 17, dtype=numpy.uint8).reshape(4, 4).T.tobytes()
    assert list(shards["morton"][:8]) == [1, 2, 5, 6, 3, 4, 7, 8]
