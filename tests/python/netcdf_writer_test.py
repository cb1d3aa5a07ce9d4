"""sherd.netcdf.create_dataset(): what is written is read back, and what cannot be stored is refused by name."""

import concurrent.futures
import json
import warnings

import numpy as np
import pytest
import sherd
import xarray
import zarr
from sherd import netcdf


@pytest.fixture(params=[2, 3], ids=["zarr2", "zarr3"])
def zarr_format(request):
    return request.param


@pytest.fixture
def writer(tmp_path, zarr_format):
    """A dataset with the unlimited dimension t and x = 4."""
    with netcdf.create_dataset(tmp_path / "x.zarr", zarr_format=zarr_format) as dataset:
        dataset.create_dimension("t")
        dataset.create_dimension("x", 4)
        yield dataset


TYPES = {"byte": "i1", "short": "i2", "int": "i4", "int64": "i8", "ubyte": "u1", "ushort": "u2", "uint": "u4", "uint64": "u8",
         "float": "f4", "double": "f8"}


def test_all_types_are_read_back(tmp_path, writer):
    for name, dtype in TYPES.items():
        kind = np.dtype(dtype)
        low, high = (-1.5, 1e30) if kind.kind == "f" else (np.iinfo(kind).min, np.iinfo(kind).max)
        values = np.array([low, 0, 1, high], kind)
        for variable, given in ((name, name), (f"by_{dtype}", dtype), (f"big_{dtype}", f">{dtype}"), (f"endian_{dtype}", kind)):
            options = {"endian": "big"} if variable.startswith("endian") else {}
            writer.create_variable(variable, given, "x", **options)[:] = values
    writer.create_variable("texts", str, "x")[:] = ["one", "", "größe", b"bytes"]
    writer.create_variable("letters", "char", ("x", "t"))[:] = ["ab", "", "größe", "d"]
    word = writer.create_variable("word", "char", "x")
    word[:] = "abcd"
    word[0], word[2:] = "A", "c"
    writer.create_variable("scalar", float)[...] = 2.5
    writer.create_variable("letter", "char")[...] = "l"
    writer.close()
    dataset = netcdf.open_dataset(tmp_path / "x.zarr")
    assert dataset.warnings == []
    for name, dtype in TYPES.items():
        for variable in (name, f"by_{dtype}", f"big_{dtype}", f"endian_{dtype}"):
            assert dataset[variable].type == name
            values = dataset[variable][:]
            assert values[1:3].tolist() == [0, 1] and (values[0] < 0 or dtype[0] == "u") and values[3] > 100
    orders = [str(dataset[f"{prefix}_i4"].array.codecs) for prefix in ("by", "big", "endian")]
    assert ["big" in order for order in orders] == [False, True, True]
    assert dataset["texts"][:].tolist() == ["one", "", "größe", "bytes"]
    assert [row.tobytes().rstrip(b"\0").decode() for row in dataset["letters"][:]] == ["ab", "", "größe", "d"]
    assert dataset["word"][:].tobytes() == b"Abc\0" and dataset["letter"][...].item() == b"l"
    assert dataset["scalar"][...] == 2.5 and dataset["scalar"].type == "double"


def test_attributes_have_the_types_of_their_values(tmp_path, writer):
    given = {"char": "größe", "bytes": b"raw", "int": 7, "int64": 2**40, "uint64": 2**63, "double": 0.1, "ints": [1, 2], "wide": [1, 2**63], "doubles": [1, 2.5],
             "string": ["a", "größe"], "i2": np.int16(3), "f4": np.array([0.1, 2], "f4"), "flag": True, "none": []}
    for name, value in given.items():
        writer.set_attribute(name, value)
    writer.set_attribute("short", 5, type="short")
    writer.set_attribute("one", "text", type="string")
    variable = writer.create_variable("v", "int", "x", attributes={"units": "m"})
    variable.set_attribute("units", "K")
    writer.close()
    dataset = netcdf.open_dataset(tmp_path / "x.zarr")
    assert dataset.attribute_types == {
        "char": "char", "bytes": "char", "int": "int", "int64": "int64", "uint64": "uint64", "double": "double", "ints": "int",
        "wide": "uint64",
        "doubles": "double", "string": "string", "i2": "short", "f4": "float", "flag": "ubyte", "none": "double", "short": "short", "one": "string"}
    assert dataset.attributes["char"] == "größe" and dataset.attributes["uint64"] == 2**63 and dataset.attributes["string"] == ["a", "größe"]
    assert dataset.attributes["f4"].tolist() == np.array([0.1, 2], "f4").tolist() and dataset["v"].attributes == {"units": "K"}


def test_boxes_are_written_as_numpy_assigns(tmp_path, writer):
    variable, expected = writer.create_variable("v", "int", ("t", "x"), chunks=(2, 3)), np.zeros((5, 4), "i4")
    variable[:] = expected  # makes t 5 long
    for key, value in ((..., 1), (2, [1, 2, 3, 4]), ((slice(1, 3), slice(0, 2)), [[5], [6]]), ((-1, -1), 9), ((slice(None), 2), np.arange(5)),
                       ((slice(-2, None), slice(1, None)), 7), ((0, ...), 8), ((..., slice(3, 99)), 4), (slice(2, 2), 5)):
        variable[key] = value
        expected[key] = value
    writer.close()
    assert np.array_equal(netcdf.open_dataset(tmp_path / "x.zarr")["v"][:], expected)


def test_unlimited_dimensions_grow_with_what_is_written(tmp_path, writer):
    first, second = writer.create_variable("a", "short", ("t", "x"), fill_value=-9), writer.create_variable("b", "float", "t")
    assert first.shape == (0, 4)
    first[0] = [1, 2, 3, 4]
    first[1:] = np.full((2, 4), 5)
    assert first.shape == (3, 4) and second.shape == (3,)
    second[2:5] = [1.5, 2.5, 3.5]
    second[7] = 8
    assert first.shape == (8, 4)
    with pytest.raises(IndexError):
        first[0, 4] = 1
    writer.close()
    dataset = netcdf.open_dataset(tmp_path / "x.zarr")
    assert dataset.dimensions["t"].unlimited and len(dataset.dimensions["t"]) == 8
    assert dataset["a"][:, 0].tolist() == [1, 5, 5, -9, -9, -9, -9, -9] and dataset["b"][2:5].tolist() == [1.5, 2.5, 3.5]


def test_groups_see_the_dimensions_around_them(tmp_path, writer):
    group = writer.create_group("g", attributes={"about": "g"})
    inner = group.create_group("h")
    group.create_dimension("x", 2)
    inner.create_variable("v", "int", ("t", "x"))[0] = [1, 2]
    inner.create_variable("w", "int", ("/t", "/x"))[0] = [1, 2, 3, 4]
    assert "g/h/v" in writer and "v" not in group and writer["/g/h/v"].name == "v" and group["h"] is inner and inner["/"] is writer
    writer.close()
    dataset = netcdf.open_dataset(tmp_path / "x.zarr")
    assert dataset["g/h/v"].shape == (1, 2) and dataset["g/h/w"].shape == (1, 4) and dataset["g"].attributes == {"about": "g"}
    assert [each.full_name for each in dataset["g/h/v"].dimensions] == ["/t", "/g/x"]


def test_fill_values_are_in_what_was_never_written(tmp_path, writer, zarr_format):
    writer.create_variable("default", "int", "x")
    writer.create_variable("own", "short", "x", fill_value=-9)[0:1] = 1
    writer.create_variable("text", "string", "x", fill_value="none")[2] = "two"
    writer.create_variable("named", "double", "x", attributes={"_FillValue": 0.5})
    writer.create_variable("undefined", "int", "x", fill_value=False)
    masked = np.ma.masked_equal([1, 2, 3, 2], 2)
    writer.create_variable("masked", "short", "x", fill_value=-1)[:] = masked
    writer.create_variable("masked_default", "byte", "x")[:] = masked
    with pytest.raises(sherd.InvalidArgument, match="/undefined has no fill value"):
        writer["undefined"][:] = masked
    writer.close()
    with netcdf.edit_dataset(tmp_path / "x.zarr") as changed:
        if zarr_format == 2:  # Zarr v3 always has a fill value
            with pytest.raises(sherd.InvalidArgument, match="/undefined has no fill value"):
                changed["undefined"][:] = masked
        changed["masked"][:] = masked
        changed["masked_default"][:] = masked
    dataset = netcdf.open_dataset(tmp_path / "x.zarr")
    assert dataset["default"][:].tolist() == [-2147483647] * 4 and dataset["own"][:].tolist() == [1, -9, -9, -9]
    assert dataset["text"][:].tolist() == ["none", "none", "two", "none"] and dataset["named"][:].tolist() == [0.5] * 4
    assert dataset["masked"][:].tolist() == [1, -1, 3, -1] and dataset["masked_default"][:].tolist() == [1, -127, 3, -127]
    assert dataset["own"].attribute_types == {"_FillValue": "short"} and "_FillValue" not in dataset["undefined"].attributes


@pytest.mark.parametrize("given", [[1, 2, 3, 4], np.array([1, 2, 3, 4], "i1"), np.array([1, 2, 3, 4], "u8"), np.array([1, 2, 3, 4], "f4")],
                         ids=["ints", "i1", "u8", "f4"])
def test_masked_elements_are_the_fill_value_in_every_type(tmp_path, writer, given):
    expected = {"texts": ["a", "", "c", ""], "letters": [b"a", b"", b"c", b""]}
    masked = np.ma.masked_array(given, [0, 1, 0, 1])
    for name in TYPES:
        if masked.dtype.kind == "f" and name not in ("float", "double"):
            continue
        default = writer.create_variable(name, name, "x")
        default[:] = masked
        own = writer.create_variable(f"own_{name}", name, "x", fill_value=7)
        own[:] = masked
        own[2] = np.ma.masked
        expected |= {name: [1, default._fill, 3, default._fill], f"own_{name}": [1, 7, 7, 7]}
    for name, kind in (("texts", str), ("letters", "char")):
        writer.create_variable(name, kind, "x")[:] = np.ma.masked_array(["a", "bb", "c", "d"], [0, 1, 0, 1])
    hidden = writer.create_variable("hidden", "byte", "x", fill_value=5)
    hidden[:] = np.ma.masked_array([1, 2**40, 3, -(2**40)], [0, 1, 0, 1])
    writer.close()
    dataset = netcdf.open_dataset(tmp_path / "x.zarr")
    for name, values in expected.items():
        kind = dataset[name].type
        assert dataset[name][:].tolist() == (values if kind in ("string", "char") else np.array(values, TYPES[kind]).tolist()), name
    assert dataset["hidden"][:].tolist() == [1, 5, 3, 5]


def test_numbers_out_of_range_are_refused_and_others_are_rounded(tmp_path, writer):
    single, double = writer.create_variable("single", "float", "x"), writer.create_variable("double", "double", "x")
    for value in (1e300, -1e300, 3.5e38):
        with pytest.raises(OverflowError, match="does not fit into float32"):
            single[:] = np.array([value, 1, 1, 1])
        with pytest.raises(OverflowError):
            single[0] = value
        with pytest.raises(OverflowError):
            writer.set_attribute("a", value, type="float")
    single[:] = np.array([np.inf, -np.inf, np.nan, 1e-300])
    double[:] = np.array([2**53 + 1, -(2**53) - 1, 2**63 - 1, 0])
    writer.close()
    dataset = netcdf.open_dataset(tmp_path / "x.zarr")
    assert dataset["single"][:].tolist()[:2] == [np.inf, -np.inf] and np.isnan(dataset["single"][2]) and dataset["single"][3] == 0
    assert dataset["double"][:].tolist() == [2.0**53, -(2.0**53), 2.0**63, 0]


def test_chunks_shards_and_filters_are_stored(tmp_path):
    with netcdf.create_dataset(tmp_path / "x.zarr", zarr_format=3) as dataset:
        dataset.create_dimension("x", 100)
        dataset.create_variable("v", "int", "x", chunks=10, shards=50, deflate_level=3, shuffle=True)[:] = np.arange(100)
        dataset.create_variable("w", "int", "x", codecs=["bytes", "zstd:5"])[:] = np.arange(100)
        dataset.create_variable("c", "int", "x", fletcher32=True)[:] = np.arange(100)
        dataset.create_variable("f", "int", "x", fletcher32=True, deflate_level=1)[:] = np.arange(100)
    opened = sherd.open_group(tmp_path / "x.zarr")
    assert opened["v"].chunks == (10,) and opened["v"].shards == (50,) and opened["v"].dimension_names == ("x",)
    assert [codec["name"] for codec in [*opened["v"].filters, opened["v"].serializer, *opened["v"].compressors]] == [
        "bytes", "numcodecs.shuffle", "numcodecs.zlib"]
    assert opened["w"].codecs[1]["configuration"]["level"] == 5 and opened["c"].codecs[-1]["name"] == "numcodecs.fletcher32"
    assert all((opened[name][:] == np.arange(100)).all() for name in "vwcf")


def test_modes_are_those_of_a_url(tmp_path, zarr_format):
    for number, (fragment, options) in enumerate([("", {}), ("#mode=zarr", {}), ("", {"mode": "zarr"}), ("#mode=noxarray", {})]):
        folder = tmp_path / f"{number}.zarr"
        with netcdf.create_dataset(f"{folder}{fragment}", zarr_format=zarr_format, **options) as dataset:
            dataset.create_dimension("x", 2)
            dataset.create_variable("v", "int", "x")[:] = [1, 2]
        text = json.dumps(sherd.open(folder).metadata)
        opened = netcdf.open_dataset(folder)
        assert opened.generation == ("pure" if "zarr" in f"{fragment}{options}".replace("noxarray", "") else opened.generation)
        assert ("nczarr" in text) == (opened.generation != "pure")
        names = sherd.open(folder)["v"].dimension_names
        assert (names == ("x",)) == ("noxarray" not in fragment)


def test_what_is_written_is_read_by_xarray(tmp_path, writer, zarr_format):
    writer.set_attribute("title", "größe")
    writer.create_variable("t", "double", "t", attributes={"units": "days since 2000-01-01"})[:] = [0, 1.5]
    writer.create_variable("v", "short", ("t", "x"), fill_value=-9, attributes={"scale_factor": 0.5})[:] = [[1, 2, -9, 4]] * 2
    writer.create_variable("f", "float", "x", fill_value=np.nan)[:2] = [0.5, 1.5]
    writer.create_variable("d", "double", "x", fill_value=-999)[:3] = [1, -999, 0.1]
    writer.create_variable("s", str, "x", fill_value="none")[:2] = ["a", "b"]
    writer.create_group("g").create_variable("w", "int", "x")[:] = 3
    writer.close()
    found = xarray.open_datatree(tmp_path / "x.zarr", engine="sherd")
    assert found["v"].values[0].tolist()[:2] == [0.5, 1.0] and np.isnan(found["v"].values[1, 2]) and found.attrs == {"title": "größe"}
    assert str(found["t"].values[1]) == "2000-01-02T12:00:00.000000000" and found["g/w"].values.tolist() == [3] * 4
    other = xarray.open_dataset(tmp_path / "x.zarr", engine="zarr")
    for name in "vfd":
        np.testing.assert_array_equal(other[name].values, found[name].values)
    # In Zarr v3 the text is the fill value of the array, since xarray refuses strings with an attribute _FillValue.
    assert other["s"].values.tolist() == (["a", "b", "none", "none"] if zarr_format == 3 else [b"a", b"b", b"none", b"none"])
    assert netcdf.open_dataset(tmp_path / "x.zarr")["s"].attributes["_FillValue"] == "none"
    assert np.isnan(other["f"].values[2:]).all() and np.isnan(other["d"].values[[1, 3]]).all()
    other = xarray.open_dataset(tmp_path / "x.zarr", engine="zarr", decode_cf=False)
    assert other["v"].values.tolist() == [[1, 2, -9, 4]] * 2 and other["t"].values.tolist() == [0, 1.5]


def test_threads_write_one_dataset(tmp_path, writer):
    variable = writer.create_variable("v", "int", ("t", "x"), chunks=(1, 4))
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda i: variable.__setitem__(i, i), range(64)))
    writer.close()
    assert (netcdf.open_dataset(tmp_path / "x.zarr")["v"][:] == np.arange(64)[:, None]).all()


def test_what_was_synced_is_read_while_the_writer_is_open(tmp_path, writer):
    variable = writer.create_variable("v", "int", "t")
    variable[:] = [1, 2]
    writer.sync()
    assert netcdf.open_dataset(tmp_path / "x.zarr")["v"][:].tolist() == [1, 2]
    variable[2:] = [3]
    writer.close()
    assert netcdf.open_dataset(tmp_path / "x.zarr")["v"][:].tolist() == [1, 2, 3]


def test_a_closed_dataset_takes_nothing(writer):
    variable = writer.create_variable("v", "int", "x")
    writer.close()
    writer.close()
    for call in (writer.sync, lambda: writer.create_group("g"), lambda: writer.create_dimension("y", 1), lambda: variable.__setitem__(0, 1),
                 lambda: writer.create_variable("w", "int"), lambda: variable.set_attribute("a", 1)):
        with pytest.raises(sherd.InvalidArgument, match="closed"):
            call()


def test_a_block_that_raises_closes_the_dataset(tmp_path):
    with pytest.raises(ZeroDivisionError), netcdf.create_dataset(tmp_path / "x.zarr") as dataset:
        dataset.create_dimension("x", 2)
        dataset.create_variable("v", "int", "x")[:] = [1, 2]
        1 / 0
    assert netcdf.open_dataset(tmp_path / "x.zarr")["v"][:].tolist() == [1, 2]


def test_an_existing_dataset_is_a_conflict_unless_it_is_overwritten(tmp_path):
    netcdf.create_dataset(tmp_path / "x.zarr").close()
    with pytest.raises(sherd.Conflict):
        netcdf.create_dataset(tmp_path / "x.zarr")
    with netcdf.create_dataset(tmp_path / "x.zarr", overwrite=True) as dataset:
        dataset.create_dimension("x", 1)
    assert list(netcdf.open_dataset(tmp_path / "x.zarr").dimensions) == ["x"]
    with pytest.raises(sherd.InvalidArgument):  # and is kept
        netcdf.create_dataset(tmp_path / "x.zarr", zarr_format=3, overwrite=True, attributes={"!": 1})
    assert list(netcdf.open_dataset(tmp_path / "x.zarr").dimensions) == ["x"]
    with netcdf.create_dataset(tmp_path / "x.zarr", zarr_format=3, overwrite=True) as dataset:
        dataset.create_dimension("y", 1)
    assert list(netcdf.open_dataset(tmp_path / "x.zarr").dimensions) == ["y"]


def test_a_dataset_is_written_into_a_store():
    store = sherd.MemoryStore()
    with netcdf.create_dataset(store, path="inside") as dataset:
        dataset.create_variable("v", "int")[...] = 5
    assert netcdf.open_dataset(store, path="inside")["v"][...] == 5


def test_what_cannot_be_stored_is_refused(writer):
    variable = writer.create_variable("v", "byte", "x")
    texts, letters = writer.create_variable("s", "string", "x"), writer.create_variable("c", "char", "x")
    for error, text, call in [
            (sherd.InvalidArgument, "netCDF has no type 'complex64'", lambda: writer.create_variable("a", "complex64")),
            (sherd.InvalidArgument, "netCDF has no type", lambda: writer.create_variable("a", np.float16)),
            (sherd.InvalidArgument, "endian must be", lambda: writer.create_variable("a", "int", endian="middle")),
            (sherd.NotFound, "'none' is not known", lambda: writer.create_variable("a", "int", "none")),
            (sherd.Conflict, "defined already", lambda: writer.create_variable("v", "int")),
            (sherd.Conflict, "defined already", lambda: writer.create_dimension("x", 3)),
            (sherd.NotFound, "no group", lambda: writer.create_group("a/b")),
            (sherd.InvalidArgument, "'_FillValue' can only be set when", lambda: variable.set_attribute("_FillValue", 3)),
            (sherd.InvalidArgument, "the attribute 'a': it is a list of lists", lambda: writer.set_attribute("a", [[1]])),
            (sherd.InvalidArgument, "the attribute 'a': setting an array", lambda: writer.set_attribute("a", [[1, 2], [3]])),
            (sherd.InvalidArgument, "the attribute 'a': netCDF has no type", lambda: writer.create_group("b", attributes={"a": 1j})),
            (sherd.InvalidArgument, "the attribute 'a': ", lambda: writer.set_attribute("a", "\ud800")),
            (TypeError, "the attribute 'a': texts are str or bytes, not NoneType", lambda: variable.set_attribute("a", None)),
            (TypeError, "the attribute 'a': texts are str", lambda: writer.create_variable("b", "int", attributes={"a": [1, "b"]})),
            (sherd.InvalidArgument, "reserved", lambda: writer.set_attribute("_NCProperties", "x")),
            (OverflowError, "does not fit", lambda: variable.__setitem__(0, 300)),
            (OverflowError, "does not fit", lambda: variable.__setitem__(0, 2**64)),
            (OverflowError, "the attribute 'a': no netCDF type can store integers", lambda: writer.set_attribute("a", 2**64)),
            (OverflowError, "can store integers from", lambda: writer.set_attribute("a", [2**63, -1])),
            (TypeError, "round them", lambda: variable.__setitem__(0, 1.5)),
            (TypeError, "numbers", lambda: variable.__setitem__(0, "a")),
            (TypeError, "str or bytes", lambda: texts.__setitem__(0, 5)),
            (sherd.InvalidArgument, "one character", lambda: letters.__setitem__(0, "ab")),
            (ValueError, "broadcast", lambda: letters.__setitem__(slice(None), "abcde")),
            (TypeError, "bytes or texts", lambda: letters.__setitem__(0, 5)),
            (ValueError, "broadcast", lambda: variable.__setitem__(slice(None), [1, 2, 3])),
            (IndexError, "out of bounds", lambda: variable.__setitem__(4, 1)),
            (IndexError, "step 1", lambda: variable.__setitem__(slice(None, None, 2), 1)),
            (IndexError, "too many indices", lambda: variable.__setitem__((0, 0), 1)),
            (TypeError, "integers, slices", lambda: variable.__setitem__([0], 1))]:
        with pytest.raises(error, match=text):
            call()
    assert "a" not in writer
    with pytest.raises(KeyError):
        writer["a"]
    with pytest.raises(sherd.InvalidArgument, match="zarr_format must be 2 or 3"):
        netcdf.create_dataset("x", zarr_format=4)
    with pytest.raises(sherd.InvalidArgument, match="the mode 'zip'"):
        netcdf.create_dataset("x", mode="zip")


def test_a_name_that_netcdf_forbids_is_refused_and_the_rest_is_stored(tmp_path, writer):
    writer.set_attribute("title", "kept")
    for name in ("é" * 200, "v" * 300, "trail ", " lead", "!x", "\\", "a\x7fb", "a\x01b", ".x", "zarr.json"):
        for refused in (lambda: writer.create_variable(name, "int", "x"), lambda: writer.create_group(name)):
            with pytest.raises(sherd.InvalidArgument, match="name"):
                refused()
    for name in ("v" * 300, "trail ", ".x"):
        for refused in (lambda: writer.create_dimension(name, 2), lambda: writer.set_attribute(name, 1),
                        lambda: writer.create_group("g", attributes={name: 1}), lambda: writer.rename_dimension("x", name)):
            with pytest.raises(sherd.InvalidArgument, match="netCDF does not allow the name"):
                refused()
    writer.create_variable("ok", "int", "x")
    writer.close()
    dataset = netcdf.open_dataset(tmp_path / "x.zarr")
    assert dataset.attributes == {"title": "kept"} and list(dataset.variables) == ["ok"] and list(dataset.groups) == []


def test_an_existing_dataset_is_changed_and_keeps_the_rest(tmp_path, writer, zarr_format):
    variable = writer.create_variable("v", "int", ("t", "x"), attributes={"units": "m"}, fill_value=-1)
    variable[:] = [[1, 2, 3, 4]]
    writer.create_group("g").create_variable("texts", str, "t")[:] = ["one"]
    writer.set_attribute("kept", "k")
    writer.close()
    with netcdf.edit_dataset(tmp_path / "x.zarr") as dataset:
        assert dataset["v"].shape == (1, 4) and dataset["v"].type == "int" and "g/texts" in dataset
        dataset["v"][1:] = np.ma.masked_equal([[5, 6, 7, 0], [8, 8, 8, 8]], 0)
        dataset["v"].set_attribute("units", "K")
        dataset["g/texts"][2] = "three"
        dataset["g"].create_variable("w", "double", ("t", "x"))[0] = 0.5
        dataset.create_group("h").create_dimension("y")
    found = netcdf.open_dataset(tmp_path / "x.zarr")
    assert found.warnings == [] and found.attributes == {"kept": "k"} and found.format == f"zarr{zarr_format}"
    assert found["v"][:].tolist() == [[1, 2, 3, 4], [5, 6, 7, -1], [8, 8, 8, 8]] and found["v"].attributes["units"] == "K"
    assert found["g/texts"][:].tolist() == ["one", "", "three"] and found["g/w"].shape == (3, 4) and "y" in found["h"].dimensions


def test_what_consolidated_metadata_lack_can_be_changed(tmp_path, zarr_format):
    path = tmp_path / "x.zarr"
    xarray.Dataset({"a": ("x", [1, 2, 3])}).to_zarr(path, zarr_format=zarr_format)
    names = {"attributes": {"_ARRAY_DIMENSIONS": ["x"]}} if zarr_format == 2 else {"dimension_names": ["x"]}
    zarr.create_array(path, name="late", data=np.array([4, 5, 6]), zarr_format=zarr_format, **names)
    with netcdf.edit_dataset(path) as dataset:
        dataset["late"][1] = 7
    assert zarr.open_array(path / "late")[:].tolist() == [4, 7, 6]


def test_discarding_erases_the_dataset(tmp_path, writer):
    writer.create_variable("v", "int", "x")[:] = [1, 2, 3, 4]
    writer.discard()
    assert not (tmp_path / "x.zarr/v").exists()
    with pytest.raises(sherd.InvalidArgument, match="closed"):
        writer.sync()
    with pytest.raises(sherd.NotFound):
        netcdf.open_dataset(tmp_path / "x.zarr")


def test_a_store_of_xarray_is_changed_and_read_by_it(tmp_path, zarr_format):
    source = xarray.Dataset({"a": (("y", "x"), np.arange(6.0).reshape(2, 3), {"deep": {"a": [1, None]}})}, {"x": [1, 2, 3]}, {"title": "t"})
    source.to_zarr(tmp_path / "x.zarr", zarr_format=zarr_format)
    with netcdf.edit_dataset(tmp_path / "x.zarr") as dataset:
        dataset["a"][0, 1:] = [8, 9]
        dataset["a"].set_attribute("units", "K")
        dataset.create_variable("b", "short", ("x",), attributes={"_FillValue": -1})[:] = [1, 2, 3]
    expected = source.copy(deep=True)
    expected["a"][0, 1:] = [8, 9]
    expected["a"].attrs["units"] = "K"
    expected["b"] = ("x", np.array([1, 2, 3], "f4"))
    for engine in ("zarr", "sherd"):
        xarray.testing.assert_identical(xarray.open_dataset(tmp_path / "x.zarr", engine=engine, decode_cf=False)["a"].drop_encoding(),
                                        xarray.open_dataset(tmp_path / "x.zarr", engine="zarr", decode_cf=False)["a"])
        found = xarray.open_dataset(tmp_path / "x.zarr", engine=engine)
        xarray.testing.assert_identical(found[["a", "x"]], expected[["a", "x"]])
        assert found["b"].values.tolist() == [1, 2, 3]


def test_what_is_renamed_is_read_by_xarray(tmp_path, writer, zarr_format):
    writer.create_variable("t", "double", "t", attributes={"units": "days since 2000-01-01"})[:] = [0, 1.5]
    writer.create_variable("v", "int", ("t", "x"), attributes={"units": "K"})[:] = [[1, 2, 3, 4]] * 2
    group = writer.create_group("g")
    group.create_dimension("y", 2)
    inner = group.create_variable("w", "int", ("y", "x"))
    inner[:] = 5
    writer.close()
    with netcdf.edit_dataset(tmp_path / "x.zarr") as dataset:
        dataset.rename_dimension("t", "time")
        dataset.rename_variable("t", "time")
        dataset.rename_dimension("x", "lon")
        dataset.rename_group("g", "group")
        dataset["v"].rename_attribute("units", "unit")
        dataset["group"].rename_dimension("y", "lat")
        dataset["v"][2] = [6, 7, 8, 9]
        dataset["time"][2] = 2.5
        dataset["group/w"][0] = 6
        assert dataset["group"].path == "/group" and dataset["/group/w"].full_name == "/group/w" and "t" not in dataset
        dataset.create_variable("late", "int", "time")[:] = 1
    for engine in ("zarr", "sherd"):
        found = xarray.open_datatree(tmp_path / "x.zarr", engine=engine)
        attributes = {name: value for name, value in found["v"].attrs.items() if not name.startswith("_nczarr")}  # xarray shows these
        assert found["v"].dims == ("time", "lon") and attributes == {"unit": "K"} and dict(found.sizes) == {"time": 3, "lon": 4}
        assert str(found["time"].values[1]) == "2000-01-02T12:00:00.000000000" and found["v"].values[2].tolist() == [6, 7, 8, 9]
        assert found["group/w"].dims == ("lat", "lon") and found["group/w"].values.tolist() == [[6] * 4, [5] * 4]
        assert set(found.children) == {"group"} and set(found.variables) == {"time", "v", "late"}


def test_a_name_that_is_used_or_unknown_is_refused(writer):
    writer.create_variable("v", "int", "x")
    with pytest.raises(sherd.Conflict):
        writer.rename_dimension("x", "t")
    with pytest.raises(sherd.NotFound):
        writer.rename_variable("nope", "w")
    with pytest.raises(sherd.NotFound):
        writer["v"].rename_attribute("units", "unit")
    writer.rename_variable("v", "w")
    writer["w"][:] = 1


def test_what_cannot_be_changed_is_refused(tmp_path, writer):
    writer.create_variable("v", "int", "x")
    writer.close()
    with pytest.raises(sherd.NotFound):
        netcdf.edit_dataset(tmp_path / "none.zarr")
    with pytest.raises(sherd.InvalidArgument, match="mode=zarr"):
        netcdf.edit_dataset(tmp_path / "x.zarr", mode="zarr")
    sherd.create_array(tmp_path / "alone.zarr", shape=3, dtype="i4")
    with pytest.raises(sherd.Error):
        netcdf.edit_dataset(tmp_path / "alone.zarr")
    with netcdf.edit_dataset(tmp_path / "x.zarr") as dataset:
        for error, call in ((sherd.Conflict, lambda: dataset.create_variable("v", "int")), (IndexError, lambda: dataset["v"].__setitem__(4, 1)),
                            (sherd.Conflict, lambda: dataset.create_dimension("x", 5))):
            with pytest.raises(error):
                call()


def test_what_pure_zarr_loses_is_a_warning_once(tmp_path, zarr_format):
    def found(call):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            call()
        assert all(each.filename == __file__ for each in caught)
        return [str(each.message) for each in caught]
    dataset = netcdf.create_dataset(tmp_path / "x.zarr", zarr_format=zarr_format, mode="zarr", attributes={"n": np.int16(1)})
    dataset.create_dimension("t")
    dataset.create_variable("v", "int", "t")[:] = [1, 2]
    lost = ["/: pure Zarr has no types of attributes: 'n' (short becomes int)", "/t: the dimension becomes fixed: pure Zarr has no unlimited ones"]
    assert found(dataset.sync) == lost and found(dataset.sync) == []
    dataset["v"].set_attribute("f", np.float32(1))
    assert found(dataset.close) == ["/v: pure Zarr has no types of attributes: 'f' (float becomes double)"]
    edited = netcdf.edit_dataset(tmp_path / "x.zarr", mode="zarr")
    edited.set_attribute("text", "K")
    edited.create_dimension("lonely", 3)
    assert found(lambda: edited.__exit__(None, None, None)) == ["/lonely: the dimension is left out: pure Zarr has only those of variables"]
    with netcdf.create_dataset(tmp_path / "y.zarr", zarr_format=zarr_format, attributes={"n": np.int16(1)}) as whole:
        assert found(whole.sync) == []
