"""What other programs have erased, are replacing, or have left in an unusual state."""

import json
import os
import shutil
import subprocess
import sys

import numpy as np
import pytest
import sherd
import zarr

FORMATS = pytest.mark.parametrize("format", ["zarr2", "zarr3"])


@FORMATS
def test_a_consolidated_variable_whose_array_is_gone_is_a_conflict(tmp_path, format):
    root = sherd.create_group(tmp_path / "x.zarr", format=format)
    root.create_array("v", data=np.arange(4.0), chunks=(2,), fill_value=np.nan, dimension_names=["t"])
    sherd.consolidate_metadata(tmp_path / "x.zarr")
    variable = sherd.netcdf.open_dataset(tmp_path / "x.zarr")["v"]
    del sherd.open_group(tmp_path / "x.zarr", mode="r+")["v"]
    with pytest.raises(sherd.Conflict, match="v"):
        variable[:]


READER = """
import sys, zarr
reads = 0
print("ready", flush=True)
while reads < 60:
    values = zarr.open_group(sys.argv[1], mode="r", use_consolidated=False)["v"][:].tolist()
    assert values in ([1] * 6, [2] * 6), values
    reads += 1
"""


@FORMATS
@pytest.mark.parametrize("copy", [sherd.copy, sherd.netcdf.copy], ids=["copy", "netcdf.copy"])
def test_a_reader_finds_a_dataset_at_every_moment_while_it_is_replaced(tmp_path, copy, format):
    for name, value in {"one": 1, "two": 2, "x": 1}.items():
        sherd.create_group(tmp_path / name, format=format).create_array("v", data=np.full(6, value), dimension_names=["t"])
    options = {"format": format} if copy is sherd.netcdf.copy else {}
    with subprocess.Popen([sys.executable, "-c", READER, tmp_path / "x"], stdout=subprocess.PIPE) as reader:
        assert reader.stdout.readline() == b"ready\n"
        while reader.poll() is None:
            for source in ("two", "one"):
                copy(tmp_path / source, tmp_path / "x", overwrite=True, config={"storage_options": {"durable": False}}, **options)
    assert reader.returncode == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["one", "two", "x"]


def test_fill_values_without_quotes_in_consolidated_metadata_are_read(tmp_path):
    group = zarr.create_group(tmp_path / "g")
    group.create_array("a", shape=(4,), chunks=(2,), dtype="float32", fill_value=np.nan)[:2] = [1, 2]
    zarr.consolidate_metadata(tmp_path / "g")
    document = tmp_path / "g/zarr.json"
    text = document.read_text()
    assert '"fill_value": "NaN"' in text
    document.write_text(text.replace('"fill_value": "NaN"', '"fill_value": NaN'))
    expected = zarr.open_consolidated(tmp_path / "g")["a"][:]
    found = sherd.open_group(tmp_path / "g")
    assert found.keys() == ["a"] and np.array_equal(found["a"][:], expected, equal_nan=True)
    assert np.array_equal(sherd.netcdf.open_dataset(tmp_path / "g")["a"][:], expected, equal_nan=True)


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_a_fill_value_without_quotes_is_read_and_kept_by_changes(tmp_path, zarr_format):
    given = {"old": 1, "n": np.nan}
    zarr.create_array(tmp_path / "a", shape=(4,), chunks=(2,), dtype="f4", fill_value=np.nan, zarr_format=zarr_format, attributes=given)[:2] = [1, 2]
    document = tmp_path / "a" / {2: ".zarray", 3: "zarr.json"}[zarr_format]
    document.write_text(document.read_text().replace('"fill_value": "NaN"', '"fill_value": NaN'))
    expected = zarr.open_array(tmp_path / "a")[:]
    array = sherd.open_array(tmp_path / "a", mode="r+")
    assert np.array_equal(array[:], expected, equal_nan=True) and np.isnan(array.fill_value)
    assert [fault["message"] for fault in sherd.check(tmp_path / "a")["faults"] if "fill_value" in fault["message"]] == [
        "'fill_value' has NaN or Infinity without quotes, which JSON lacks"]
    array.attrs["new"] = 2
    array.append(np.float32([5]))
    assert '"fill_value": "NaN"' in document.read_text()
    found = zarr.open_array(tmp_path / "a")
    assert np.array_equal(found[:], [1, 2, np.nan, np.nan, 5], equal_nan=True)
    assert np.isnan(found.attrs["n"]) and {**found.attrs, "n": 0} == {"old": 1, "n": 0, "new": 2}


@pytest.mark.parametrize("format", ["zarr2", "zarr3"])
def test_a_stray_group_two_levels_above_captures_no_array(tmp_path, format):
    (tmp_path / "work/data").mkdir(parents=True)
    (tmp_path / "work/zarr.json").write_text('{"zarr_format": 3, "node_type": "group", "attributes": {}}')
    sherd.create_array(tmp_path / "work/data/v", data=[1, 2], format=format)
    assert sorted(path.name for path in (tmp_path / "work/data").iterdir()) == ["v"]
    assert zarr.open_array(tmp_path / "work/data/v", mode="r")[:].tolist() == [1, 2]


def test_standalone_ignores_hierarchies_above(tmp_path):
    (tmp_path / "work").mkdir()
    (tmp_path / "work/zarr.json").write_text('{"zarr_format": 3, "node_type": "group", "attributes": {}}')
    with pytest.raises(sherd.Conflict, match="standalone"):
        sherd.create_array(tmp_path / "work/v", data=[1, 2], format="zarr2")
    sherd.create_array(tmp_path / "work/v", data=[1, 2], format="zarr2", storage_options={"standalone": True})
    assert zarr.open_array(tmp_path / "work/v", mode="r").metadata.zarr_format == 2
    assert json.loads((tmp_path / "work/zarr.json").read_text())["node_type"] == "group"


def test_check_reports_a_chunk_of_texts_that_reading_refuses(tmp_path):
    texts = zarr.create_array(tmp_path / "t", shape=(4,), chunks=(4,), dtype=str, compressors=[zarr.codecs.ZstdCodec()])
    texts[:] = np.array(["a", "bc", "def", "ghij"], dtype=object)
    chunk = tmp_path / "t/c/0"
    frame = chunk.read_bytes()
    assert frame[4] & 0xE0 == 0x20, "one segment, whose size has one byte"
    chunk.write_bytes(frame[:4] + bytes([frame[4] | 0xC0]) + (1 << 40).to_bytes(8, "little") + frame[6:])
    with pytest.raises(sherd.Error):
        sherd.open_array(tmp_path / "t")[:]
    (fault,) = sherd.check(tmp_path / "t", data=True)["faults"]
    assert (fault["severity"], fault["key"]) == ("error", "c/0")


def test_a_shard_between_renames_of_a_dual_format_writer_is_a_warning(tmp_path):
    array = sherd.create_array(tmp_path / "a", shape=(16, 32, 64), dtype="u1", chunks=(8, 8, 16), shards=(16, 32, 64),
                               config={"layout": "zarr+neuroglancer"})
    array[:] = 3
    (first,), (second,) = (list((tmp_path / "a").glob(pattern)) for pattern in ("c/0/0/0", "*/0.shard"))
    shutil.copyfile(first, tmp_path / "new")
    os.link(tmp_path / "new", second.with_name(".0.shard.sherd-link"))
    os.replace(tmp_path / "new", first)
    (fault,) = sherd.check(tmp_path / "a")["faults"]
    assert (fault["code"], fault["severity"]) == ("counterpart_differs", "warning")
    array[:] = 4
    assert sherd.check(tmp_path / "a")["faults"] == [] and os.path.samefile(first, second)
