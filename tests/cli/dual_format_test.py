"""Dual-format arrays: created, imported, copied, written through either format, and checked."""

import json

import numpy
import pytest

NEW = ["--layout", "zarr+neuroglancer", "--shape", "16,32,64", "--dtype", "uint8", "--chunks", "8,8,16", "--shards", "16,16,32"]


def info_of(folder):
    return json.loads((folder / "info").read_text())


def shard_files(folder):
    return [path for path in folder.rglob("*") if path.is_file() and path.name not in ("info", "zarr.json")]


def test_an_array_is_written_through_either_format(sherd, tmp_path):
    sherd.ok("create", "em.zarr", *NEW, "--resolution", "8,8,40", "--voxel-offset", "-3,7,0", "--type", "segmentation")
    info = info_of(tmp_path / "em.zarr")
    (scale,) = info["scales"]
    assert (info["type"], scale["key"], scale["voxel_offset"]) == ("segmentation", "8_8_40", [-3, 7, 0])
    assert (scale["size"], scale["chunk_sizes"]) == ([64, 32, 16], [[16, 8, 8]])
    sherd.ok("write", "em.zarr", "--select", "3:9,5:20,10:40", "--value", "7")
    sherd.ok("write", "em.zarr", "--store-format", "precomputed", "--select", "11,6,4,0", "--value", "9")
    assert sherd.ok("read", "em.zarr", "--select", "4,6,10:13", "--format", "json").json == [7, 9, 7]
    assert sherd.ok("read", "em.zarr/8_8_40", "--select", "10:13,6,4,0", "--format", "json").json == [7, 9, 7]
    report = sherd.ok("check", "em.zarr", "--data", "--json").json
    assert report["faults"] == [] and report["checked"]["shards"] == len(shard_files(tmp_path / "em.zarr")) / 2
    assert sherd.ok("check", "em.zarr/8_8_40", "--json").json["faults"] == []


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (["--codec", "zstd"], "--codec: layout zarr+neuroglancer: 'bytes' may only be followed by 'gzip' and then 'crc32c', not 'zstd'"),
        (["--shards", "16,32,32"], "these are, in elements: 16x8x8, 32x8x8, 32x16x8, 32x16x16, 64x16x16, 64x32x16"),
        (["--index-location", "start"], "the index must be at the end"),
        (["--encoding", "jpeg"], "--encoding: chunks shared with a Zarr array can only be raw"),
        *((["--dtype", dtype], f"--dtype: layout zarr+neuroglancer: {dtype} is not a type of Neuroglancer's; uint8 to uint64, int8 to int32 "
           "and float32 are") for dtype in ("float64", "int64", "bool", "complex64", "string", "bytes")),
        (["--fill-value", "1"], "--fill-value: layout zarr+neuroglancer: a missing chunk is 0 to Neuroglancer, so the fill value must be 0"),
        (["--sharding", "none"], "--sharding cannot be used here: the volume uses the array's shards"),
    ],
)
def test_a_violated_condition_is_reported(sherd, tmp_path, change, message):
    arguments = list(NEW)
    if change[0] in arguments:
        arguments[arguments.index(change[0]) + 1] = change[1]
    else:
        arguments += change
    ran = sherd("create", "em.zarr", *arguments)
    assert ran.code == 2 and message in ran.stderr
    assert not (tmp_path / "em.zarr").exists()


def test_volume_options_need_the_layout(sherd):
    ran = sherd("create", "a.zarr", "--shape", "64", "--dtype", "uint8", "--key", "s0")
    assert ran.code == 2 and "--layout zarr+neuroglancer" in ran.stderr


def test_a_file_is_imported_and_copied(sherd, tmp_path):
    data = numpy.random.default_rng(2).integers(0, 200, (16, 32, 64), "uint8")
    numpy.save(tmp_path / "a.npy", data)
    sherd.ok("import", "a.npy", "em.zarr", *NEW[:2], *NEW[6:], "--resolution", "4,4,4", "--key", "s0")
    assert info_of(tmp_path / "em.zarr")["scales"][0]["key"] == "s0"
    assert sherd.ok("read", "em.zarr", "--format", "raw").stdout == data.tobytes()

    report = sherd.ok("copy", "em.zarr", "plain.zarr", "--json").json
    assert report["chunks_encoded"] == 0 and not (tmp_path / "plain.zarr/info").exists()
    report = sherd.ok("copy", "plain.zarr", "both.zarr", "--layout", "zarr+neuroglancer", "--json").json
    assert (report["chunks_moved"], report["chunks_encoded"]) == (2 * 4 * 4, 0)
    volume = sherd.ok("read", "both.zarr", "--store-format", "precomputed", "--format", "raw").stdout
    assert numpy.array_equal(numpy.frombuffer(volume, "uint8").reshape(64, 32, 16).T, data)


def test_diverged_names_are_reported_and_not_written(sherd, tmp_path):
    sherd.ok("create", "em.zarr", *NEW)
    sherd.ok("write", "em.zarr", "--select", ":,:,:", "--value", "7")
    shard = tmp_path / "em.zarr/1_1_1/0.shard"
    bytes_of_it = shard.read_bytes()
    shard.unlink()
    shard.write_bytes(bytes_of_it)
    ran = sherd("check", "em.zarr", "--json")
    assert ran.code == 1 and [fault["code"] for fault in ran.json["faults"]] == ["counterpart_differs"]
    ran = sherd("write", "em.zarr", "--select", "0,0,0", "--value", "8")
    assert ran.code == 6 and "is no longer the same file as 'c/0/0/0':" in ran.stderr


def test_a_written_array_keeps_its_layout(sherd):
    sherd.ok("create", "em.zarr", *NEW)
    ran = sherd("write", "em.zarr", "--layout", "zarr+neuroglancer", "--select", "0,0,0", "--value", "8")
    assert ran.code == 2 and "keeps the layout" in ran.stderr


def test_values_by_id_are_refused(sherd, tmp_path):
    sherd.ok("create", "em.zarr", *NEW)
    (tmp_path / "value").write_bytes(b"x")
    ran = sherd("kv", "put", "em.zarr/1_1_1", "0", "-i", "value")
    assert ran.code == 5 and "'sherd_layout'" in ran.stderr, ran.stderr


@pytest.mark.parametrize(("option", "value", "advice"), [("--dtype", "uint16", "convert the elements"), ("--select", "0:3,:,:", "copy the part")])
def test_a_copy_with_the_layout_says_what_comes_first(sherd, option, value, advice):
    sherd.ok("create", "a.zarr", "--shape", "16,32,64", "--dtype", "uint8")
    ran = sherd("copy", "a.zarr", "b.zarr", "--layout", "zarr+neuroglancer", option, value)
    assert ran.code == 5 and ran.stderr.startswith(f"sherd: {option}: ") and advice in ran.stderr
