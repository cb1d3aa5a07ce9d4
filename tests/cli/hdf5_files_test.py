"""Honest HDF5 files of other programs that libnetcdf misreads: what is wrong is named, and the rest is what h5py reads."""

import pathlib
import signal
import subprocess
import time

import h5py
import netCDF4
import numpy
import pytest
from open_files import open_files

OK = numpy.arange(3.0)
TYPES = {
    "boolean": numpy.array([True, False]), "complex": numpy.array([1j]), "record": numpy.zeros(2, [("a", "i4"), ("b", "S3")]),
    "opaque": numpy.zeros(2, "V5"), "choice": numpy.zeros(2, h5py.enum_dtype({"A": 0, "B": 1}, "i4")), "wide": numpy.zeros(2, numpy.longdouble),
}


ROOT = pathlib.Path(__file__).resolve().parents[2]


def make(path, fill):
    with h5py.File(path, "w") as file:
        file["ok"] = OK
        fill(file)


def add_types(file):
    for name, values in TYPES.items():
        file[name] = values
    file["group/reference"] = numpy.array([file["ok"].ref], h5py.ref_dtype)
    file["group/region"] = numpy.array([file["ok"].regionref[:2]], h5py.regionref_dtype)
    file.create_dataset("ragged", (2,), h5py.vlen_dtype("i4"))
    file.create_dataset("nested", (2,), numpy.dtype(("i4", (3,))))
    space = h5py.h5s.create_simple((2,))
    h5py.h5d.create(file.id, b"bits", h5py.h5t.STD_B8LE, space)
    huge = h5py.h5t.STD_I64LE.copy()
    huge.set_size(16)
    huge.set_precision(128)
    h5py.h5d.create(file.id, b"huge", huge, space)


def add_attributes(file):
    for owner in (file, file["ok"], file.require_group("group")):
        for name, values in TYPES.items():
            owner.attrs[name] = values[:1]
        owner.attrs["reference"] = file["ok"].ref
        owner.attrs["number"], owner.attrs["text"] = 3, "text"


def lacks(ran):
    """The variables that ncdump could not print, with the reasons."""
    assert ran.code == 5
    return ran.stderr.partition("the output lacks what cannot be read: ")[2].strip().split("; /")


def warned(ran):
    return [line.removeprefix("warning: ") for line in ran.stderr.splitlines() if line.startswith("warning: ")]


FIXED = {
    "short": numpy.array([b"ab", b"c", b""]), "table": numpy.array([[b"abc", b""], [b"d", b"ef"]]), "one": numpy.array(b"hello"),
    "none": numpy.zeros(0, "S3"), "many": numpy.array([b"text %d" % i for i in range(1000)], "S20"), "bytes": numpy.array([b"a", b"b"]),
    "umlauts": numpy.array(["größe".encode(), "ü".encode()]),
}


@pytest.mark.parametrize("options", [{}, {"chunks": True, "compression": "gzip", "shuffle": True}], ids=["whole", "chunks"])
def test_texts_of_fixed_length_are_those_of_h5py_and_newer_netcdf_c(sherd, tmp_path, options):
    def fill(file):
        for name, values in FIXED.items():
            file.create_dataset(name, data=values, **(options if values.size and values.shape else {}))

    make(tmp_path / "x.h5", fill)
    for store_format in ("zarr2", "zarr3"):
        ran = sherd.ok("nccopy", "--store-format", store_format, "x.h5", f"{store_format}.zarr")
        assert not warned(ran)
        assert sherd.ok("ncdump", "-n", "x", f"{store_format}.zarr").text == sherd.ok("ncdump", "x.h5").text
    with h5py.File(tmp_path / "x.h5") as file, netCDF4.Dataset(tmp_path / "x.h5") as newer:
        for name in FIXED:
            found = numpy.array(sherd.ok("read", f"zarr3.zarr/{name}", "--format", "json").json)
            if name == "bytes":  # the type char of netCDF
                assert found.tolist() == [97, 98]
                continue
            assert found.tolist() == numpy.char.decode(file[name][()], "utf-8").tolist() == numpy.array(newer[name][...]).tolist(), name


def test_texts_that_end_before_their_dimension_are_empty_there(sherd, tmp_path):
    def fill(file):
        file.create_dataset("t", data=numpy.arange(4), maxshape=(None,)).make_scale("t")
        texts = file.create_dataset("v", data=numpy.array([[b"ab", b"c"], [b"", b"de"]]), maxshape=(None, 2))
        texts.dims[0].attach_scale(file["t"])
        file.create_dataset("y", data=numpy.arange(2)).make_scale("y")
        texts.dims[1].attach_scale(file["y"])

    make(tmp_path / "x.h5", fill)
    assert ' v =\n  "ab", "c",\n  _, "de",\n  _, _,\n  _, _ ;' in sherd.ok("ncdump", "x.h5").text


def test_variables_that_libnetcdf_does_not_list_are_named(sherd, tmp_path):
    make(tmp_path / "x.h5", add_types)
    names = []
    with h5py.File(tmp_path / "x.h5") as file:
        file.visititems(lambda name, node: names.append("/" + name) if isinstance(node, h5py.Dataset) else None)
    for command in (["ncdump", "x.h5"], ["nccopy", "x.h5", "x.zarr"]):
        found = warned(sherd.ok(*command))
        assert sorted(warning.partition(":")[0] for warning in found) == sorted(set(names) - {"/ok"}), command
        assert all("the variable is left out: " in warning for warning in found)
    assert sherd.ok("read", "x.zarr/ok", "--format", "json").json == [0, 1, 2]


def test_attributes_that_libnetcdf_does_not_list_are_named(sherd, tmp_path):
    make(tmp_path / "x.h5", add_attributes)
    found = warned(sherd.ok("nccopy", "x.h5", "x.zarr"))
    assert sorted(warning.partition("' is left out: ")[0] for warning in found) == sorted(
        f"{owner}: the attribute '{name}" for owner in ("/", "/ok", "/group") for name in [*TYPES, "reference"])
    for owner in ("x.zarr", "x.zarr/ok", "x.zarr/group"):
        attributes = sherd.ok("attrs", owner).json
        assert (attributes["number"], attributes["text"]) == (3, "text")


@pytest.mark.parametrize("table", [numpy.zeros((2, 2)), numpy.zeros((1, 1), "i2"), numpy.zeros((0, 2), "f2")], ids=str)
def test_an_attribute_of_two_dimensions_does_not_hide_the_file(sherd, tmp_path, table):
    def fill(file):
        numbers = {"number": 3, "list": [1.5, 2.5], "bytes": numpy.array([1, 2], "u1"), "small": numpy.int16(-1)}
        texts = {"text": "größe", "texts": ["a", "", "bc"], "fixed": numpy.bytes_(b"abc"), "array": numpy.array([b"ab", b"c"])}
        for owner in (file, file.create_group("group")):
            for name, value in (numbers | texts).items():
                owner.attrs[name] = value
        file["group"].attrs["table"] = table
        file.create_dataset("other", data=OK).attrs["table"] = table

    make(tmp_path / "x.h5", fill)
    ran = sherd("ncdump", "x.h5")
    assert [warning.partition(" is left out: ")[0] for warning in warned(ran)] == ["/group: the attribute 'table'"]
    assert lacks(ran) == ["/other: its attribute 'table' has more than one dimension, and libnetcdf reads nothing of such a variable; "
                          "read it with h5py, or remove the attribute from a copy of the file"]
    lines = [line.strip() for line in ran.text.splitlines() if " = " in line and " :" in line.replace("\t", " ")]
    assert len(lines) == 16 and lines[:8] == lines[8:], "the attributes of the root, which libnetcdf reads, and of the group"


def link_group(file):
    group = file.create_group("a/b")
    group["up"] = file["a"]


def link_root(file):
    file["a"] = h5py.SoftLink("/")


def add_scale(file, values):
    file["x"] = values
    file["x"].make_scale("x")


def add_pairs(file, levels):
    """Two links to one group on each level: 2 ** (levels + 1) - 2 paths of groups."""
    group = file
    for _ in range(levels):
        inner = group.create_group("a")
        group["b"] = inner
        group = inner


def add_homonym(file):
    file["A"] = numpy.array([b"abcdefghijklmnopqrst"] * 1000)
    file["_nc4_non_coord_A"] = numpy.arange(3)


IDS = ["x", h5py.Empty("i4"), numpy.zeros(0, "i4"), numpy.zeros(2, "i4"), numpy.zeros(1, "i8"), numpy.zeros(1, "f4"), numpy.zeros(1, "u1"),
       numpy.zeros(1, [("a", "i4")])]


def add_ids(name, values):
    """An attribute of netCDF-4 for a dataset with one dimension, which has the wrong form."""
    return lambda file: [add_scale(file, OK), file["x"].attrs.update({name: values})]


@pytest.mark.parametrize("fill, name", [
    (lambda file: add_pairs(file, 30), "/a/a/a"),
    (lambda file: file.create_group("/".join("g" * 600)), "/g/g/g"),
    (lambda file: file.create_group("/".join("g" * 20_000)), "/g/g/g"),
    (add_homonym, "'_nc4_non_coord_A'"),
    (link_group, "/a/b/up"),
    (link_root, "/a"),
    (lambda file: add_scale(file, h5py.Empty("f4")), "/x"),
    (lambda file: add_scale(file, 1.0), "/x"),
    (lambda file: file.create_group("n" * 300), "n" * 30),
    (lambda file: file.create_dataset("t", (3,), "S4", fillvalue=b"none"), "/t"),
    (lambda file: file.create_dataset("t", (), "S9", fillvalue=b"x"), "/t"),
    (lambda file: file.create_dataset("t", data=OK).attrs.update({"DIMENSION_LIST": 5}), "DIMENSION_LIST"),
    (lambda file: file.create_dataset("t", data=OK).attrs.update({"DIMENSION_LIST": numpy.bytes_(b"abc")}), "DIMENSION_LIST"),
    (lambda file: file.create_dataset("t", data=OK).attrs.update({"DIMENSION_LIST": "none"}), "DIMENSION_LIST"),
    *((add_ids("_Netcdf4Coordinates", values), "'/x' has an attribute _Netcdf4Coordinates") for values in IDS),
    *((add_ids("_Netcdf4Dimid", values), "'/x' has an attribute _Netcdf4Dimid") for values in ("0", numpy.zeros(10_000, "i4"))),
])
def test_what_libnetcdf_would_not_survive_is_refused_by_name(sherd, tmp_path, fill, name):
    make(tmp_path / "x.h5", fill)
    for command in (["ncdump", "x.h5"], ["nccopy", "x.h5", "x.zarr"]):
        ran = sherd(*command)
        assert ran.code == 5 and name in ran.stderr and "h5py" in ran.stderr, ran.stderr
    assert not (tmp_path / "x.zarr").exists()


def test_attributes_with_longer_names_than_netcdf_has_are_left_out(sherd, tmp_path):
    make(tmp_path / "x.h5", lambda file: [file.attrs.update({"y" * 300: 1, "z": 2}), file["ok"].attrs.update({"x" * 40_000: 1, "w": 3})])
    ran = sherd.ok("nccopy", "x.h5", "x.zarr")
    assert [warning.partition(": ")[0] for warning in warned(ran)] == ["/", "/ok"] and "40000 bytes" in ran.stderr
    assert sherd.ok("attrs", "x.zarr").json["z"] == 2 and sherd.ok("attrs", "x.zarr/ok").json["w"] == 3


def test_as_many_groups_as_libnetcdf_numbers_are_read(sherd, tmp_path):
    for name, more in (("x.h5", ["c"]), ("y.h5", ["c", "d"])):
        make(tmp_path / name, lambda file: [add_pairs(file, 14), *map(file.create_group, more)])
    assert sherd.ok("ncdump", "-h", "x.h5").text.count("group: ") == 32_767
    ran = sherd("ncdump", "-h", "y.h5")
    assert ran.code == 5 and "'/d' is one of more than 32767 groups" in ran.stderr


def add_links(file):
    many = file.create_group("g0")
    for i in range(20_000):
        many[f"l{i}"] = h5py.SoftLink("/nowhere")
    for i in range(1, 51):
        file[f"g{i}"] = many


def test_more_links_than_a_million_are_refused(sherd, tmp_path):
    make(tmp_path / "x.h5", add_links)
    ran = sherd("ncdump", "x.h5")
    assert ran.code == 5 and "more than 1000000 links" in ran.stderr


def test_an_interrupt_ends_the_look_at_a_file(sherd, start, tmp_path):
    make(tmp_path / "x.h5", add_links)
    process = start("nccopy", "x.h5", "x.zarr")
    while not any(file.endswith("/x.h5") for file in open_files(process.pid)):
        assert process.poll() is None
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    assert process.wait() == 130 and process.stderr.read() == b"sherd: interrupted\n"
    assert [path.name for path in tmp_path.iterdir()] == ["x.h5"]


LONG = numpy.array([b"abcdefghijklmnopqrst"] * 1000)


@pytest.mark.parametrize("name, values", [("v", LONG), ("v", numpy.arange(5, dtype=numpy.longdouble)), ("_nc4_non_coord_v", LONG)],
                         ids=["texts", "wide", "homonym"])
def test_what_only_claims_to_be_a_dimension_is_looked_at(sherd, tmp_path, name, values):
    def fill(file):
        file[name] = values
        file[name].attrs["NAME"] = numpy.bytes_(b"This is a netCDF dimension but not a netCDF variable.        10")

    make(tmp_path / "x.h5", fill)
    ran = sherd.ok("ncdump", "x.h5")
    assert ran.text.count('"abcdefghijklmnopqrst"') == (1000 if values is LONG else 0)
    assert [warning.partition(": ")[0] for warning in warned(ran)] == ([] if values is LONG else ["/v"])


def test_texts_of_a_group_with_the_prefix_of_homonyms_are_read(sherd, tmp_path):
    make(tmp_path / "x.h5", lambda file: file.update({"_nc4_non_coord_g/v": LONG, "_nc4_non_coord_": LONG}))
    assert sherd.ok("ncdump", "x.h5").text.count('"abcdefghijklmnopqrst"') == 2000


def add_table(file):
    file["lost"] = OK
    file["lost"].attrs["table"] = numpy.eye(2)


def add_half_scaled(file):
    add_scale(file, OK)
    file.create_dataset("lost", data=numpy.zeros((3, 2))).dims[0].attach_scale(file["x"])


def add_scaled(length, name="lost"):
    """A variable with three elements, along a scale with another number of them."""
    return lambda file: [add_scale(file, numpy.arange(length)), file.create_dataset(name, data=OK).dims[0].attach_scale(file["x"])]


@pytest.mark.parametrize("fill, name", [
    (add_table, "/lost"),
    (add_half_scaled, "/lost"),
    (add_scaled(5), "/lost"),
    (add_scaled(2), "/lost"),
    (lambda file: file.create_dataset("lost", (3,), "S2000000000", chunks=(1,), compression="gzip"), "/lost"),
    (lambda file: file.update({"/".join("g" * 130) + "/v": OK}), "/g" * 129),
])
def test_a_copy_that_would_lack_a_variable_is_an_error(sherd, tmp_path, fill, name):
    make(tmp_path / "x.h5", fill)
    for to in ("x.zarr", "y.nc"):
        ran = sherd("nccopy", "x.h5", to)
        assert ran.code == 5 and f"without {name}: " in ran.stderr and "--skip-damaged" in ran.stderr, ran.stderr
        assert not (tmp_path / to).exists()
    assert [warning.partition(": ")[0] for warning in warned(sherd.ok("nccopy", "--skip-damaged", "x.h5", "x.zarr"))] == [name]
    sherd.ok("nccopy", "-V", "/ok", "x.h5", "y.zarr")
    assert sherd("nccopy", "-V", "ok", "x.h5", "z.zarr").code == (0 if name == "/lost" else 5)  # a group may have an 'ok', too
    for to in ("x.zarr", "y.zarr"):
        assert sherd.ok("read", f"{to}/ok", "--format", "json").json == [0, 1, 2]


@pytest.mark.parametrize("length", [2, 5])
def test_a_variable_whose_scale_has_another_length_is_left_out(sherd, tmp_path, length):
    """libnetcdf cuts it off, or cannot read it."""
    make(tmp_path / "x.h5", add_scaled(length, "group/v"))
    ran = sherd("ncdump", "x.h5")
    fault = f"it has 3 elements along its dimension 'x', whose length is {length}; read it with h5py"
    assert lacks(ran) == [f"/group/v: {fault}"] and " ok = 0, 1, 2" in ran.text


def test_a_variable_along_a_wrong_dimension_is_left_out(sherd, tmp_path):
    with netCDF4.Dataset(tmp_path / "x.nc", "w") as file:
        for name, length in (("y", 2), ("x", 3)):
            file.createDimension(name, length)
        file.createVariable("v", "i4", ("y", "x"))[:] = 1
    with h5py.File(tmp_path / "x.nc", "a") as file:
        file["v"].attrs["_Netcdf4Coordinates"] = numpy.zeros(2, "i4")
    assert "int v(y, y)" in subprocess.run(["ncdump", tmp_path / "x.nc"], capture_output=True, text=True).stdout
    ran = sherd("ncdump", "x.nc")
    assert ["it has 3 elements along its dimension 'y', whose length is 2" in each for each in lacks(ran)] == [True]


def test_a_variable_shorter_than_an_unlimited_dimension_is_read(sherd, tmp_path):
    with netCDF4.Dataset(tmp_path / "x.nc", "w") as file:
        file.createDimension("t")
        file.createVariable("v", "i4", ("t",))[:] = [1, 2]
        file.createVariable("w", "i4", ("t",))[:] = [1, 2, 3]
    assert " v = 1, 2, _ ;" in sherd.ok("ncdump", "x.nc").text


def add_without_scale(file):
    add_scaled(3, "v")(file)
    del file["x"]


@pytest.mark.parametrize("fill, name", [
    (add_without_scale, "'/v' has an attribute DIMENSION_LIST that refers to no dimension scale of the file"),
    (lambda file: [add_without_scale(file), file.update({"type": numpy.dtype("i4")})], ", or '/v' has"),
    (lambda file: file.update({"type": numpy.dtype("i4")}), "/type"),
    (lambda file: file.update({"link": h5py.SoftLink("/nowhere")}), "/link"),
    (lambda file: file.update({"link": h5py.ExternalLink("no.h5", "/v")}), "/link"),
    (lambda file: add_scale(file, numpy.zeros((2, 3))), "/x"),
])
def test_what_libnetcdf_cannot_open_is_named(sherd, tmp_path, fill, name):
    make(tmp_path / "x.h5", fill)
    ran = sherd("ncdump", "x.h5")
    assert ran.code == 5 and name in ran.stderr and "h5py" in ran.stderr, ran.stderr


@pytest.mark.parametrize("link", ["after", "a", "group/other", "group/x"])
def test_a_second_link_to_a_coordinate_is_read_once(sherd, tmp_path, link):
    with netCDF4.Dataset(tmp_path / "x.nc", "w") as file:
        file.createDimension("x", 3)
        file.createVariable("x", "f8", ("x",))[:] = OK
        file.createVariable("v", "f8", ("x",))[:] = OK + 1
        file.createGroup("group").createVariable("w", "f8", ("x",))[:] = OK + 2
    before = sherd.ok("ncdump", "x.nc").text
    with h5py.File(tmp_path / "x.nc", "a") as file:
        file[link] = file["x"]
    ran = sherd.ok("ncdump", "x.nc")
    assert ran.text == before and warned(ran) == [f"/{link}: the variable is left out: it is a second link to '/x', which is read once"]
    sherd.ok("nccopy", "x.nc", "x.zarr")
    assert sherd.ok("ncdump", "x.zarr").text == before


def test_a_variable_of_which_some_dimensions_have_no_scale_is_named(sherd, tmp_path):
    def fill(file):
        add_scale(file, OK)
        file.create_dataset("v", data=numpy.zeros((3, 2))).dims[0].attach_scale(file["x"])

    make(tmp_path / "x.h5", fill)
    ran = sherd("ncdump", "x.h5")
    assert [each.partition(": ")[0] for each in lacks(ran)] == ["/v"] and "double x(x)" in ran.text


def test_a_dataset_without_any_element_is_named(sherd, tmp_path):
    make(tmp_path / "x.h5", lambda file: file.update({"nothing": h5py.Empty("f4")}))
    ran = sherd("ncdump", "x.h5")  # only release 4.9.0 opens the file
    assert (ran.code == 0 and " ok = 0, 1, 2" in ran.text and "warning: /nothing: " in ran.stderr) or (ran.code == 5 and "'/nothing'" in ran.stderr)


@pytest.mark.parametrize("release", ["1.6.3", "1.6.5", "1.7.3", "1.7.5"])
def test_releases_of_netcdf_c_and_hdf5_are_used_alike(sherd, tmp_path, release):
    """Those in the wheels of netCDF4: netcdf-c 4.9.1 to 4.10.1, with HDF5 1.12 to 2.2."""
    wheel, = (ROOT / f".venv-netcdf4-{release}/lib").glob("python*/site-packages/[nN]et[cC][dD][fF]4.libs")
    (tmp_path / "lib").mkdir()
    for library in wheel.iterdir():
        (tmp_path / "lib" / library.name).symlink_to(library)
    netcdf, = wheel.glob("libnetcdf-*")
    (tmp_path / "lib/libnetcdf.so.19").symlink_to(netcdf)
    make(tmp_path / "types.h5", lambda file: [add_types(file), add_attributes(file)])
    make(tmp_path / "texts.h5", lambda file: file.update(FIXED))
    make(tmp_path / "table.h5", lambda file: file.attrs.update({"table": numpy.eye(2), "text": "ö", "list": [1.5, 2.5]}))
    make(tmp_path / "self.h5", link_group)
    make(tmp_path / "scale.h5", lambda file: add_scale(file, 1.0))
    make(tmp_path / "filter.h5", lambda file: file.create_dataset("v", data=OK, compression="lzf"))
    for name in ("types.h5", "texts.h5", "table.h5", "self.h5", "scale.h5", "filter.h5"):
        here, there = sherd("ncdump", name), sherd("ncdump", name, env={"LD_LIBRARY_PATH": str(tmp_path / "lib")})
        if name == "types.h5":  # newer releases list more types, and have dimensions for variables that they do not list
            reasons = (sorted(warning.partition(" is left out")[0] for warning in warned(ran)) for ran in (here, there))
            assert there.code == 0 and next(reasons) == next(reasons) and " ok = 0, 1, 2" in there.text
        else:
            assert (there.code, there.text, there.stderr) == (here.code, here.text, here.stderr), name


@pytest.mark.parametrize("values", [OK, numpy.array(["a", "b"], h5py.string_dtype())], ids=["numbers", "texts"])
def test_a_filter_that_hdf5_lacks_is_named(sherd, tmp_path, values):
    make(tmp_path / "x.h5", lambda file: file.create_dataset("v", data=values, compression="lzf", shuffle=True))
    for command in (["ncdump", "x.h5"], ["nccopy", "-F", "none", "x.h5", "x.zarr"]):
        ran = sherd(*command)
        assert ran.code == 5 and "lzf (32000)" in ran.stderr and "shuffle" not in ran.stderr, ran.stderr
        assert "/v" in ran.stderr and "HDF5_PLUGIN_PATH" in ran.stderr
    assert sherd.ok("ncdump", "-v", "ok", "x.h5").text.endswith(" ok = 0, 1, 2 ;\n}\n")


def test_names_that_libnetcdf_does_not_find_are_named(sherd, tmp_path):
    def fill(file):
        file["ok"].attrs["bo\u0308"] = 1  # an umlaut of two characters, as file systems of Apple have it
        file["ok"].attrs["b\u00e4"] = 2

    make(tmp_path / "x.h5", fill)
    ran = sherd.ok("ncdump", "x.h5")
    assert [warning.partition(" is left out: ")[0] for warning in warned(ran)] == ["/ok: the attribute 'bo\u0308'"]
    assert "ok:b\u00e4 = 2LL ;" in ran.text
    make(tmp_path / "y.h5", lambda file: file.update({"o\u0308": numpy.zeros(2, numpy.longdouble)}))
    ran = sherd("ncdump", "y.h5")
    assert ran.code == 5 and "/o\u0308" in ran.stderr
