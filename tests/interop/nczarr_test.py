"""NCZarr: what Sherd writes is read by releases of netcdf-c and by zarr-python, and what they write is read by Sherd. Each
dataset that netcdf-c reads or writes has a process of its own, forked from one interpreter, because it may crash."""

import json
import os
import pathlib
import re
import subprocess
import sys

import numpy as np
import pytest
import sherd
import xarray
import zarr

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("SHERD_BUILD", ROOT / "build/release"))
PEER = pathlib.Path(__file__).with_name("nczarr_peer.py")
# Of netCDF4, with netcdf-c 4.9.1, "4.9.3-development" (which does as 4.9.2), 4.9.3 and 4.10.1. The last two know unlimited dimensions.
RELEASES = ["1.6.3", "1.6.5", "1.7.3", "1.7.5"]
NEWER = ["1.7.3", "1.7.5"]


def peer(release, *arguments):
    """What netcdf-c says of each dataset: a dict, None, or the text of an error."""
    ran = subprocess.run([ROOT / f".venv-netcdf4-{release}/bin/python", PEER, *arguments], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout)


def written(folder, format, mode, length):
    subprocess.run([BUILD / "tests/nczarr_writer", folder, format, mode, length], check=True)
    return folder


def written_in_python(folder, format, mode, length):
    """What nczarr_writer.cc writes."""
    with sherd.netcdf.create_dataset(folder, zarr_format=int(format[-1]), mode=mode.replace("numbers", "zarr"),
                                     attributes={"title": "größe", "number": "10", "digits": 0.12345678901234}) as dataset:
        dataset.create_dimension("x", None if length == "unlimited" else 4)
        dataset.create_dimension("y", 5)
        group = dataset.create_group("g1", attributes={"about": "in g1"})
        group.create_dimension("z", 3)
        numbers = dataset.create_variable("vi", "int", ("x", "y"), attributes={"units": "K", "factor": 2.5}, chunks=(4, 5))
        numbers[:] = np.arange(20).reshape(4, 5)
        dataset.create_variable("scalar", "double")[...] = 3.5
        dataset.create_variable("letters", "char", "x")[:] = "abcd"
        if mode != "numbers":
            dataset.create_variable("texts", str, "x")[:] = ["one", "two", "", "größe"]
        dataset.create_variable("bytes", "i1", "x")[:] = [1, 2, 3, -4]
        group.create_variable("gv", "float", ("x", "z"))[:] = 0.5
    return folder


WRITERS = {"C++": written, "Python": written_in_python}


def dumped(*arguments):
    return subprocess.run([BUILD / "bin/sherd", "ncdump", *arguments], check=True, capture_output=True, text=True).stdout


@pytest.fixture(scope="module")
def all_written(tmp_path_factory):
    """The URLs of NCZarr by writer and length, and those of pure Zarr by writer and mode."""
    folder = tmp_path_factory.mktemp("written")
    nczarr = {(writer, length): WRITERS[writer](folder / f"{writer}-{length}.zarr", "zarr2", "nczarr", length)
              for writer in WRITERS for length in ("fixed", "unlimited")}
    pure = {(writer, mode): WRITERS[writer](folder / f"{writer}-{mode}.zarr", "zarr2", mode, "fixed")
            for writer in WRITERS for mode in ("numbers", "zarr")}
    return ({key: f"file://{path}#mode=nczarr,file" for key, path in nczarr.items()},
            {key: f"file://{path}#mode=zarr,file" for key, path in pure.items()})


@pytest.mark.parametrize("release", RELEASES)
def test_what_is_written_is_read_by_netcdf_c(release, all_written):
    for (_, length), found in zip(all_written[0], peer(release, "read", *all_written[0].values()), strict=True):
        assert isinstance(found, dict), found
        assert found["dimensions"] == {"x": [4, release in NEWER and length == "unlimited"], "y": [5, False]}
        assert found["attributes"] == {"title": "größe", "number": "10", "digits": 0.12345678901234}
        variables = found["variables"]
        assert list(variables) == ["vi", "scalar", "letters", "texts", "bytes"]
        attributes = {"units": "K", "factor": 2.5}
        assert variables["vi"] == {"type": "int32", "dimensions": ["x", "y"], "attributes": attributes, "values": list(range(20))}
        assert variables["scalar"]["dimensions"] == [] and variables["scalar"]["values"] == [3.5]
        assert variables["letters"]["values"] == ["a", "b", "c", "d"] and variables["bytes"]["values"] == [1, 2, 3, -4]
        assert variables["texts"]["values"] == ["one", "two", "", "größe"]
        assert found["groups"]["g1"]["variables"]["gv"]["values"] == [0.5] * 12
        assert found["groups"]["g1"]["variables"]["gv"]["dimensions"] == ["x", "z"]


@pytest.mark.parametrize("release", RELEASES)
def test_pure_zarr_that_is_written_is_read_by_netcdf_c(release, all_written):
    for (_, mode), found in zip(all_written[1], peer(release, "read", *all_written[1].values()), strict=True):
        if mode == "zarr":  # with strings, which netcdf-c does not open in datasets of xarray either
            assert isinstance(found, str)
            continue
        variables = found["variables"]
        assert variables["vi"]["dimensions"] == ["x", "y"] and variables["vi"]["values"] == list(range(20))
        assert variables["letters"]["values"] == ["a", "b", "c", "d"]


ATTRIBUTES = {"object": '{"a": [1,2]}', "list": "[1,2]", "number": "10", "word": "NaN", "quoted": '"q"', "empty": "", "größe": "größe",
              "bytes": np.array([1, -2], "i1"), "largest": np.uint64(2**64 - 1), "never": np.float32("nan"),
              "infinite": np.array([np.inf, -np.inf, 0.1]), "texts": ["a", "größe"]}
INTEGERS = ("i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8")


def every_type_written(folder, **options):
    """All types with attributes, fill values that are chosen and that are not, and chunks of which there are only parts."""
    with sherd.netcdf.create_dataset(folder, attributes=ATTRIBUTES, **options) as dataset:
        dataset.create_dimension("x", 5)
        dataset.create_dimension("y", 7)
        for kind in (*INTEGERS, "f4", "f8"):
            values = every_value(kind)
            # In pure Zarr netcdf-c derives the type of a list from its first value, and opens nothing if another does not fit.
            attributes = {"a": values[3]} | ({"all": values} if options.get("mode") != "zarr" else {})
            dataset.create_variable(f"v_{kind}", kind, "x", attributes=attributes)[:] = values
            dataset.create_variable(f"filled_{kind}", kind, "x", fill_value=np.dtype(kind).type(9), chunks=(2,))[1:2] = values[3:4]
            dataset.create_variable(f"default_{kind}", kind, "x")[1:2] = values[3:4]
        dataset.create_variable("edge", "i4", ("x", "y"), chunks=(3, 4))[:] = np.arange(35).reshape(5, 7)
        dataset.create_variable("sparse", "f8", ("x", "y"), chunks=(2, 2), fill_value=np.nan)[3:5, 5:7] = [[1, 2], [3, 4]]
        dataset.create_variable("letters", "char", "x", fill_value="*")[1:3] = "ab"
    return f"file://{folder}#mode={'zarr' if options.get('mode') == 'zarr' else 'nczarr'},file"


def every_value(kind):
    info = np.iinfo(kind) if kind in INTEGERS else np.finfo(kind)
    return np.array([0, info.min, 1, info.max, 3], kind)


DEFAULTS = {"i1": -127, "u1": 255, "i2": -32767, "u2": 65535, "i4": -2147483647, "u4": 4294967295, "i8": -9223372036854775806,
            "u8": 18446744073709551614, "f4": float(np.float32(9.969209968386869e36)), "f8": 9.969209968386869e36}


@pytest.mark.parametrize("options", [{}, {"consolidated": False}, {"mode": "nczarr,noxarray"}, {"mode": "zarr"}], ids=str)
@pytest.mark.parametrize("release", RELEASES)
def test_every_type_that_is_written_is_read_by_netcdf_c(tmp_path, release, options):
    [found] = peer(release, "read", every_type_written(tmp_path / "x.zarr", **options))
    assert isinstance(found, dict), found
    variables = found["variables"]
    noted = options.get("mode") != "zarr"
    for kind in (*INTEGERS, "f4", "f8"):
        values = every_value(kind).tolist()
        assert variables[f"v_{kind}"]["values"] == values and variables[f"v_{kind}"]["type"] == np.dtype(kind).name, kind
        assert variables[f"v_{kind}"]["dimensions"] == ["x"]
        if noted:
            assert variables[f"v_{kind}"]["attributes"] == {"a": values[3], "all": values}, kind
        assert variables[f"filled_{kind}"]["values"] == [9, values[3], 9, 9, 9], kind
        assert variables[f"filled_{kind}"]["attributes"] == {"_FillValue": 9}, kind
        assert variables[f"default_{kind}"]["values"] == [DEFAULTS[kind], values[3], *[DEFAULTS[kind]] * 3], kind
    assert variables["edge"]["values"] == list(range(35)) and variables["edge"]["dimensions"] == ["x", "y"]
    sparse = np.full((5, 7), np.nan)
    sparse[3:5, 5:7] = [[1, 2], [3, 4]]
    np.testing.assert_array_equal(variables["sparse"]["values"], sparse.ravel())
    assert variables["letters"]["values"] == ["*", "a", "b", "*", "*"]
    if noted:
        assert repr(found["attributes"]) == repr({name: plain(value) for name, value in ATTRIBUTES.items()})


def plain(value):
    return value.tolist() if isinstance(value, (np.ndarray, np.generic)) else value


@pytest.mark.parametrize("release", RELEASES)
def test_text_that_is_json_is_the_same_in_both_directions(tmp_path, release):
    texts = dict(enumerate(peer(release, "texts")))
    with sherd.netcdf.create_dataset(tmp_path / "ours.zarr", attributes={f"t{i}": text for i, text in texts.items()}):
        pass
    ours, theirs = (f"file://{tmp_path}/{name}.zarr#mode=nczarr,file" for name in ("ours", "theirs"))
    assert peer(release, "write-texts", theirs) == [None]
    found, again = (each["attributes"] for each in peer(release, "read", ours, theirs))
    assert {i: found[f"t{i}"] for i in texts} == texts
    # netcdf-c stores a single word as the JSON that it is, and reads the first character of it.
    words = {f"t{i}": text for i, text in texts.items() if text in ("NaN", "true")}
    shown = sherd.netcdf.open_dataset(tmp_path / "theirs.zarr").attributes
    assert {name: shown[name] for name in again if name != "_NCProperties"} == {name: text for name, text in (again | words).items() if name != "_NCProperties"}


@pytest.mark.parametrize("release", RELEASES)
def test_an_empty_unlimited_dimension_is_read_by_releases_that_know_it(tmp_path, release):
    with sherd.netcdf.create_dataset(tmp_path / "x.zarr") as dataset:
        dataset.create_dimension("t", None)
        dataset.create_dimension("x", 2)
        dataset.create_variable("grows", "int", ("t", "x"))
        dataset.create_variable("fixed", "int", "x")[:] = [1, 2]
    [found] = peer(release, "read", f"file://{tmp_path}/x.zarr#mode=nczarr,file")
    if release in NEWER:
        assert found["dimensions"] == {"t": [0, True], "x": [2, False]}
        assert found["variables"]["grows"]["values"] == [] and found["variables"]["fixed"]["values"] == [1, 2]
    else:
        assert "Invalid dimension size" in found


@pytest.mark.parametrize("writer", WRITERS)
@pytest.mark.parametrize(("format", "mode"), [("zarr2", "zarr"), ("zarr3", "nczarr"), ("zarr3", "zarr")])
def test_what_is_written_is_read_by_zarr_python(tmp_path, format, mode, writer):
    group = zarr.open_group(WRITERS[writer](tmp_path / "x.zarr", format, mode, "unlimited"), mode="r")
    assert group["vi"][...].ravel().tolist() == list(range(20)) and group["g1/gv"][...].sum() == 6
    texts = [each.decode() if isinstance(each, bytes) else each for each in group["texts"][...].tolist()]
    assert texts == ["one", "two", "", "größe"]
    if format == "zarr3":
        assert group["vi"].metadata.dimension_names == ("x", "y")
    else:
        assert group["vi"].attrs["_ARRAY_DIMENSIONS"] == ["x", "y"]


@pytest.mark.parametrize("consolidated", [True, False])
def test_zarr_python_reads_nczarr_without_characters(tmp_path, consolidated):
    for characters in (True, False):
        with sherd.netcdf.create_dataset(tmp_path / f"{characters}.zarr", consolidated=consolidated) as dataset:
            dataset.create_dimension("x", 3)
            dataset.create_variable("v", "int", "x")[:] = [1, 2, 3]
            if characters:
                dataset.create_variable("letters", "char", "x")[:] = "abc"
    assert zarr.open_group(tmp_path / "False.zarr", mode="r")["v"][:].tolist() == [1, 2, 3]
    assert xarray.open_dataset(tmp_path / "False.zarr", engine="zarr", consolidated=consolidated)["v"].values.tolist() == [1, 2, 3]
    with pytest.raises(ValueError, match=">S1"):
        zarr.open_group(tmp_path / "True.zarr", mode="r")["letters"]
    if not consolidated:
        assert zarr.open_group(tmp_path / "True.zarr", mode="r")["v"][:].tolist() == [1, 2, 3]


@pytest.mark.parametrize("release", RELEASES)
def test_what_netcdf_c_writes_is_shown_as_the_file_with_the_same_contents(tmp_path, release):
    written = peer(release, "write", f"file://{tmp_path}/x.zarr#mode=nczarr,file", str(tmp_path / "x.nc"))
    assert written == [None, None]
    expected = subprocess.run(["ncdump", tmp_path / "x.nc"], check=True, capture_output=True, text=True).stdout
    assert dumped(tmp_path / "x.zarr") == expected


@pytest.mark.parametrize("work", ["write-more", "write-strings"])
@pytest.mark.parametrize("release", RELEASES)
def test_what_netcdf_c_writes_of_every_type_is_shown_as_the_same_file(tmp_path, release, work):
    written = peer(release, work, f"file://{tmp_path}/x.zarr#mode=nczarr,file", str(tmp_path / "x.nc"))
    assert written == [None, None]
    expected = subprocess.run(["ncdump", tmp_path / "x.nc"], check=True, capture_output=True, text=True).stdout
    assert dumped(tmp_path / "x.zarr") == expected


@pytest.mark.parametrize("work", ["write-more", "write-strings"])
@pytest.mark.parametrize("release", RELEASES)
def test_pure_zarr_of_netcdf_c_has_the_elements_of_the_same_file(tmp_path, release, work):
    written = peer(release, work, f"file://{tmp_path}/x.zarr#mode=zarr,file", str(tmp_path / "x.nc"))
    assert written == [None, None]
    file, found = sherd.netcdf.open_dataset(tmp_path / "x.nc"), sherd.netcdf.open_dataset(tmp_path / "x.zarr")
    assert found.generation == "pure" and sorted(found.variables) == sorted(file.variables)
    for name, variable in file.variables.items():
        assert [each.name for each in found[name].dimensions] == [each.name for each in variable.dimensions]
        # Characters of pure Zarr are strings of one byte.
        values = variable[...].astype(str) if variable.type == "char" else variable[...]
        np.testing.assert_array_equal(found[name][...], values, name)


@pytest.mark.parametrize("release", ["1.6.3", "1.7.5"])  # one of each of the two forms
def test_a_dataset_of_netcdf_c_is_changed_and_still_read_by_it(tmp_path, release):
    unlimited = ["unlimited"] if release in NEWER else []
    url = f"file://{tmp_path}/x.zarr#mode=nczarr,file"
    assert peer(release, "write", url, *unlimited) == [None]
    [before] = peer(release, "read", url)
    with sherd.netcdf.edit_dataset(url) as dataset:
        dataset["vi"][1:3] = -1
        dataset["vi"].set_attribute("units", "degrees")
        dataset.set_attribute("added", np.int32(5))
        dataset["v_f4"][0] = 0.5
        dataset["letters"][:] = "efgh"
        dataset["scalar"][...] = 4.5
        dataset["g1"].create_dimension("new", 2)
        dataset.create_group("g2").create_variable("inside", "double", "x")[:] = [1, 2, 3, 4]
        dataset["g1"].create_variable("made", "short", ("new", "x"), attributes={"about": "made"})[:] = 6
        if unlimited:
            dataset["vt"][4] = 7
    [found] = peer(release, "read", url)
    expected = before | {"attributes": before["attributes"] | {"added": 5}}
    variables = expected["variables"]
    variables["vi"]["values"][5:15] = [-1] * 10
    variables["vi"]["attributes"]["units"] = "degrees"
    variables["v_f4"]["values"][0] = 0.5
    variables["letters"]["values"], variables["scalar"]["values"] = list("efgh"), [4.5]
    made = {"type": "int16", "dimensions": ["new", "x"], "attributes": {"about": "made"}, "values": [6] * 8}
    expected["groups"]["g1"]["variables"]["made"] = made
    expected["groups"]["g1"]["dimensions"]["new"] = [2, False]
    inside = {"type": "float64", "dimensions": ["x"], "attributes": {}, "values": [1, 2, 3, 4]}
    expected["groups"]["g2"] = {"dimensions": {}, "attributes": {}, "variables": {"inside": inside}, "groups": {}}
    if unlimited:
        grown = found["variables"].pop("vt")["values"]
        assert grown[:8] == [1] * 8 and grown[16:] == [7] * 4 and grown[8] > 9e36
        variables.pop("vt")
        expected["dimensions"]["t"] = [5, True]
    assert found == expected


RENAMED = {"x": "lon", "vi": "numbers", "g1": "group", "z": "level", "about": "comment", "units": "unit"}


def renamed(value):
    if isinstance(value, dict):
        return {RENAMED.get(key, key): renamed(each) for key, each in value.items()}
    if isinstance(value, list):
        return [RENAMED.get(each, each) if isinstance(each, str) else each for each in value]
    return value


@pytest.mark.parametrize("release", RELEASES)
def test_what_is_renamed_is_read_by_netcdf_c(tmp_path, release):
    folder = written_in_python(tmp_path / "x.zarr", "zarr2", "", "unlimited" if release in NEWER else "fixed")
    url = f"file://{folder}#mode=nczarr,file"
    [before] = peer(release, "read", url)
    with sherd.netcdf.edit_dataset(folder) as dataset:
        dataset.rename_dimension("x", "lon")
        dataset.rename_variable("vi", "numbers")
        dataset.rename_group("g1", "group")
        dataset["group"].rename_dimension("z", "level")
        dataset["group"].rename_attribute("about", "comment")
        dataset["numbers"].rename_attribute("units", "unit")
    assert peer(release, "read", url) == [renamed(before)]


@pytest.mark.parametrize("release", RELEASES)
def test_a_dimension_that_is_half_renamed_is_read_by_netcdf_c(tmp_path, release):
    folder = written_in_python(tmp_path / "x.zarr", "zarr2", "", "unlimited" if release in NEWER else "fixed")
    with sherd.netcdf.edit_dataset(folder) as dataset:
        names = ["bytes/.zarray", "bytes/.zattrs", "letters/.zarray", ".zgroup", ".zattrs"]
        old = {name: (folder / name).read_text() for name in names}
        dataset.rename_dimension("x", "lon")
    for name, text in old.items():  # as a kill leaves them: the group has both names, and each document one of them
        both = text if name[0] != "." else re.sub(r'"x":\s*(\{[^}]*\}|4)', r'"x": \1, "lon": \1', text)
        (folder / name).write_text(both)
    [found] = peer(release, "read", f"file://{folder}#mode=nczarr,file")
    assert found["variables"]["vi"]["dimensions"] == ["lon", "y"] and found["variables"]["bytes"]["dimensions"] == ["x"]
    assert found["variables"]["letters"]["dimensions"] in (["x"], ["lon"])
    assert {name: length for name, (length, _) in found["dimensions"].items()} == {"x": 4, "lon": 4, "y": 5}


CDL = """netcdf x {
dimensions: t = unlimited ; y = 2 ; n = 4 ;
variables:
  int v(t, y) ; v:units = "K" ; v:range = -1.5f, 1e3f ; v:_ChunkSizes = 1, 2 ;
  char c(y, n) ; double scalar ; uint64 big(y) ; big:_Endianness = "big" ; string long(y) ;
  :title = "größe" ;
data:
  v = 1, 2, 3, _, 5 ; c = "ab", 'c', 'd' ; scalar = 0.1 ; big = 1, 18446744073709551615ull ; long = "LONG", "größe" ;
group: g { dimensions: z = 3 ; variables: float w(z, /y) ; data: w = 0.5, 1, -Infinityf ; }
}
""".replace("LONG", "a" * 300)


@pytest.mark.parametrize("release", RELEASES)
def test_what_ncgen_writes_is_read_by_netcdf_c(tmp_path, release):
    subprocess.run([BUILD / "bin/sherd", "ncgen", "-o", tmp_path / "x.zarr"], input=CDL.encode(), check=True)
    [found] = peer(release, "read", f"file://{tmp_path}/x.zarr#mode=nczarr,file")
    assert found["attributes"] == {"title": "größe"} and found["dimensions"]["t"][0] == 3
    values = {name: variable["values"] for name, variable in found["variables"].items()}
    assert values["v"][:3] == [1, 2, 3] and values["v"][4] == 5 and len(values["v"]) == 6
    assert values["c"] == ["a", "b", "", "", "c", "d", "", ""] and values["scalar"] == [0.1]
    assert values["long"] == ["a" * 300, "größe"]
    # netcdf-c 4.9.1 and 4.9.2 do not swap bytes, as docs/format/nczarr.md says.
    assert values["big"] == [1 if release in NEWER else 2**56, 2**64 - 1]
    assert found["groups"]["g"]["variables"]["w"]["values"][:3] == [0.5, 1.0, float("-inf")]


KILLED = """import os, sys
from sherd import netcdf
netcdf.edit_dataset(sys.argv[1])["a"][3] = 7
os._exit(0)"""


@pytest.mark.parametrize("interruption", ["killed", "resized"])
def test_growth_that_was_cut_short_is_finished_by_the_next_sync(tmp_path, interruption):
    folder = tmp_path / "x.zarr"
    url = f"file://{folder}#mode=nczarr,file"
    with sherd.netcdf.create_dataset(folder, zarr_format=2) as dataset:
        dataset.create_dimension("t")
        dataset.create_variable("a", "int", "t", chunks=(1,))[0:3] = 1
        dataset.create_variable("b", "int", "t", chunks=(1,))[0:3] = 2
    if interruption == "killed":
        subprocess.run([sys.executable, "-c", KILLED, folder], check=True)
    else:
        subprocess.run([BUILD / "bin/sherd", "resize", folder / "a", "4"], check=True)
    check = [BUILD / "bin/sherd", "check", folder]
    assert "whose recorded length is 3" in subprocess.run(check, check=True, capture_output=True, text=True).stdout
    assert all(isinstance(peer(release, "read", url)[0], str) for release in RELEASES)
    with sherd.netcdf.edit_dataset(folder) as dataset:
        dataset.set_attribute("k", np.int32(1))
    assert "warning" not in subprocess.run(check, check=True, capture_output=True, text=True).stdout
    for release in RELEASES:
        [found] = peer(release, "read", url)
        assert found["dimensions"] == {"t": [4, release in NEWER]} and found["attributes"] == {"k": 1}
        assert found["variables"]["a"]["values"][:3] == [1] * 3 and found["variables"]["b"]["values"][:3] == [2] * 3
        assert len(found["variables"]["b"]["values"]) == 4
        assert interruption == "resized" or found["variables"]["a"]["values"][3] == 7


@pytest.mark.parametrize("release", NEWER)
def test_a_dataset_is_read_by_netcdf_c_after_each_flush_of_a_stream(tmp_path, release):
    folder = tmp_path / "s"
    with sherd.netcdf.create_dataset(folder) as dataset:
        dataset.create_dimension("t")
        dataset.create_dimension("x", 3)
        dataset.create_variable("t", "double", "t", chunks=(1,))
        dataset.create_variable("heat", "float", ("t", "x"), chunks=(1, 3))
        dataset.create_variable("other", "int", "t", chunks=(1,), fill_value=-1)
    with sherd.open_group(folder, mode="r+").appender(["t", "heat"], "t") as stream:
        for day in range(3):
            stream.append({"t": [2 * day, 2 * day + 1], "heat": np.full((2, 3), day)})
            stream.flush()
            (seen,) = peer(release, "read", f"file://{folder}#mode=nczarr,file")
            assert seen["dimensions"]["t"] == [2 * day + 2, True]
            values = {name: variable["values"] for name, variable in seen["variables"].items()}
            assert values == {"t": list(range(2 * day + 2)), "heat": [each // 6 for each in range(6 * day + 6)], "other": [-1] * (2 * day + 2)}


@pytest.mark.parametrize("length", ["fixed", "unlimited"])
@pytest.mark.parametrize("release", RELEASES)
def test_arrays_made_and_erased_as_those_of_zarr_are_netcdf_variables(tmp_path, release, length):
    folder = written(tmp_path / "x.zarr", "zarr2", "nczarr", length)
    other = written(tmp_path / "other.zarr", "zarr2", "nczarr", "fixed")
    def run(*arguments, **more):
        subprocess.run([BUILD / "bin/sherd", *map(str, arguments)], check=True, **more)

    run("create", folder / "g1/made", "--shape", "4,7", "--dtype", "int32", "--chunks", "4,7", "--codec", "bytes",
        "--dimension-names", "x,new", "--attributes", '{"units": "m", "scale": 0.5}')
    run("write", folder / "g1/made", "--select", ":,:", "-i", "-", input=np.arange(28, dtype="<i4").tobytes())
    run("create", folder / "deep/er/unnamed", "--shape", "3", "--dtype", "float64", "--codec", "bytes")
    run("create", folder / "no_type", "--shape", "3", "--dtype", "complex64")
    run("copy", other / "vi", folder / "copied")
    run("copy", other / "g1", folder / "g2")
    run("rm", folder / "letters")
    run("check", folder)
    run("create", folder / "trail ", "--shape", "3", "--dtype", "int32", "--codec", "bytes")  # names that netCDF does not allow
    run("create", folder / "-g/inside", "--shape", "3", "--dtype", "int32", "--codec", "bytes", "--dimension-names", "!")
    found = peer(release, "read", f"file://{folder}#mode=nczarr,file")[0]
    assert sorted(found["variables"]) == ["bytes", "copied", "scalar", "texts", "vi"]
    assert sorted(found["groups"]) == ["deep", "g1", "g2"]
    made = found["groups"]["g1"]["variables"]["made"]
    assert made == {"type": "int32", "dimensions": ["x", "new"], "attributes": {"units": "m", "scale": 0.5},
                    "values": list(range(28))}
    assert found["groups"]["g1"]["dimensions"]["new"] == [7, False]
    assert found["groups"]["deep"]["groups"]["er"]["variables"]["unnamed"]["values"] == [0.0] * 3
    assert found["variables"]["copied"] == found["variables"]["vi"]
    assert found["groups"]["g2"]["variables"]["gv"]["values"] == [0.5] * 12
