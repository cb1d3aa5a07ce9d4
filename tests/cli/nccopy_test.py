"""nccopy: what is copied from netCDF files into NCZarr and back is, to the byte of ncdump's text, what it was."""

import json
import pathlib
import re
import shutil
import signal
import subprocess

import pytest
from nczarr import Dataset, cdl, netcdf4_file
from netcdf_datasets import DATASETS, EVERY_TYPE, GROUPS, LONG, UNLIMITED

FILES = sorted(path for package in ("ferret-datasets", "libncarg-data")
               for line in subprocess.run(["dpkg", "-L", package], capture_output=True, text=True).stdout.splitlines()
               if (path := pathlib.Path(line)).suffix in (".nc", ".cdf") and not path.is_symlink())
CLASSIC = Dataset({"t": (3,), "x": 4}, {"v": ("short", ["t", "x"], [[1, 2, 3, 4], [5, 6, 7, 8], [9, 10, 11, 12]], {"units": ("char", "K")}),
                                        "c": ("char", ["x"], [b"abcd"], {}), "s": ("double", [], [0.5], {}), "x": ("float", ["x"], [1, 2, 3, 4], {})},
                  {"title": ("char", "größe")})


def expected(*arguments):
    return subprocess.run(["ncdump", *map(str, arguments)], check=True, capture_output=True).stdout.decode()


def made(path, dataset, kind="nc4"):
    source = path.with_suffix(".cdl")
    source.write_text(cdl(dataset, path.stem))
    subprocess.run(["ncgen", "-k", kind, "-o", path, source], check=True)
    return path


def netcdf4(path, variables, **creation):
    """A netCDF-4 file with variables v, w, … of 40 x 50 floats, each with its filters."""
    import netCDF4
    import numpy as np
    with netCDF4.Dataset(path, "w") as file:
        file.createDimension("y", 40)
        file.createDimension("x", 50)
        for name, filters in variables.items():
            file.createVariable(name, "f4", ("y", "x"), **{"chunksizes": (10, 20)} | filters)[:] = np.arange(2000).reshape(40, 50)
    return path


def test_there_are_as_many_real_files_as_debian_has():
    assert len(FILES) > 100


@pytest.mark.parametrize("file", FILES, ids=lambda path: path.name)
def test_every_real_file_is_copied_to_what_ncdump_shows_of_it(sherd, tmp_path, file):
    subprocess.run(["nccopy", "-k", "nc4", file, tmp_path / "x.nc"], check=True)
    sherd.ok("nccopy", "--no-durable", file, "x.zarr")
    text = subprocess.run(["ncdump", "x.nc"], cwd=tmp_path, check=True, capture_output=True).stdout
    assert sherd.ok("ncdump", "x.zarr").stdout == text


@pytest.mark.parametrize("name", DATASETS)
@pytest.mark.parametrize("format", ["zarr2", "zarr3"])
def test_a_dataset_is_the_same_in_zarr_and_back_in_a_file(sherd, tmp_path, name, format):
    file = tmp_path / "x.nc"
    netcdf4_file(DATASETS[name], file)
    sherd.ok("nccopy", "--store-format", format, file, "x.zarr")
    assert sherd.ok("ncdump", "x.zarr").text == expected(file)
    (tmp_path / "back").mkdir()
    sherd.ok("nccopy", "x.zarr", "back/x.nc")
    assert expected(tmp_path / "back/x.nc") == expected(file)
    assert sherd.ok("ncdump", file).text == expected(file)


@pytest.mark.parametrize("kind", ["classic", "64-bit offset", "cdf5", "netCDF-4", "netCDF-4 classic model"])
def test_files_of_every_kind_are_read_and_written(sherd, tmp_path, kind):
    file = made(tmp_path / "x.nc", CLASSIC, kind)
    assert sherd.ok("ncdump", "-k", file).text.strip() == kind
    sherd.ok("nccopy", file, "x.zarr")
    (tmp_path / "back").mkdir()
    assert sherd.ok("nccopy", "--json", "-k", kind, "x.zarr", "back/x.nc").json["kind"] == kind
    assert expected(tmp_path / "back/x.nc") == sherd.ok("ncdump", "x.zarr").text == expected(file)
    assert expected("-k", tmp_path / "back/x.nc").strip() == kind
    assert sherd.ok("nccopy", "--json", file, "same.nc").json["kind"] == kind


def test_what_a_kind_of_file_cannot_hold_is_refused_and_leaves_nothing(sherd, tmp_path):
    for name, dataset, word in (("types", EVERY_TYPE, "type"), ("groups", GROUPS, "no groups"), ("unlimited", UNLIMITED, "unlimited")):
        file = made(tmp_path / f"{name}.nc", dataset)
        ran = sherd("nccopy", "-k", "nc3", file, "classic.nc")
        assert ran.code == 2 and word in ran.stderr, ran.stderr
        assert not (tmp_path / "classic.nc").exists()
    assert sherd("nccopy", "-k", "nc3", "-d", "1", file, "classic.nc").code == 2
    assert sherd("nccopy", "-k", "nc9", file, "x.nc").code == 2
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")]


CHOICE = """netcdf x { dimensions: x = 2 ; y = 3 ; t = UNLIMITED ; u = UNLIMITED ; variables: int a(x) ; float b(t, y) ; b:units = "K" ; int t(t) ; int s(u) ;
:title = "d" ; data: a = 1, 2 ; b = 1, 2, 3, 4, 5, 6 ; t = 1, 2 ; s = 5 ;
group: g { dimensions: z = 2 ; variables: int c(z) ; int a(x) ; :about = 1 ; data: c = 1, 2 ; a = 7, 8 ;
  group: h { variables: int e(z) ; data: e = 3, 4 ; } }
group: k { dimensions: w = 2 ; variables: int c(w) ; data: c = 5, 6 ; } }"""


@pytest.mark.parametrize("options", [["-V", "a"], ["-V", "b,t"], ["-V", "/g/c"], ["-V", "a,e"], ["-V", "c", "-G", "g"], ["-G", "/"], ["-V", ",a"]], ids=" ".join)
@pytest.mark.parametrize("copy", ["y.zarr", "y.nc"])
def test_variables_and_groups_are_chosen_as_by_netcdf_c(sherd, tmp_path, options, copy):
    subprocess.run(["ncgen", "-4", "-o", tmp_path / "x.nc"], input=CHOICE.encode(), check=True)
    subprocess.run(["nccopy", *options, "x.nc", "expected.nc"], cwd=tmp_path, check=True)
    sherd.ok("nccopy", *options, "x.nc", copy)
    assert sherd.ok("ncdump", "-n", "x", copy).text == expected("-n", "x", tmp_path / "expected.nc")


def test_empty_names_in_a_list_are_ignored_also_where_nccopy_crashes(sherd, tmp_path):
    subprocess.run(["ncgen", "-4", "-o", tmp_path / "x.nc"], input=CHOICE.encode(), check=True)
    for option, names in {"-V": ["a", "t"], "-v": ["a", "t"], "-G": ["g", "k"], "-g": ["g", "k"]}.items():
        sherd.ok("nccopy", option, ",".join(names), "x.nc", "plain.zarr", "--overwrite")
        sherd.ok("nccopy", option, ",,".join(names) + ",", "x.nc", "empty.zarr", "--overwrite")
        assert sherd.ok("ncdump", "-n", "x", "empty.zarr").text == sherd.ok("ncdump", "-n", "x", "plain.zarr").text
        wrong = sherd("nccopy", option, ",", "x.nc", "y.zarr")
        assert wrong.code == 2 and f"{option}: ',' contains no name" in wrong.stderr


def data_of(sherd, *options):
    """The data of each variable by its path."""
    text, found, group = sherd.ok("ncdump", *options).text, {}, []
    for line in text.replace(",\n", ",").replace("=\n", "=").splitlines():
        if line.strip().startswith("group: "):
            group.append(line.split()[1])
        if line.strip().startswith("} // group"):
            group.pop()
        if " = " in line and line.endswith(" ;") and ":" not in line and "\t" not in line:
            name, values = line.strip(" ;").split(" = ")
            found["/".join([*group, name])] = " ".join(values.split())
    return found


def test_data_are_those_of_chosen_variables_and_else_fill_values(sherd, tmp_path):
    subprocess.run(["ncgen", "-4", "-o", tmp_path / "x.nc"], input=CHOICE.encode(), check=True)
    for copy in ("y.zarr", "y.nc"):
        def copied(*options):
            sherd.ok("nccopy", "--overwrite", *options, "x.nc", copy)
            return data_of(sherd, "-n", "x", copy)
        nothing = {"a": "_, _", "g/c": "_, _", "g/a": "_, _", "g/h/e": "_, _", "k/c": "_, _"}
        assert copied("-v", "a") == nothing | {"a": "1, 2", "g/a": "7, 8"}
        assert copied("-v", "t", "-v", "/g/c") == nothing | {"t": "1, 2", "b": "_, _, _, _, _, _", "g/c": "1, 2"}
        assert copied("-g", "g,h") == nothing | {"g/c": "1, 2", "g/a": "7, 8", "g/h/e": "3, 4"}
        assert copied("-g", "/g", "-v", "a") == nothing | {"g/a": "7, 8"}
        assert copied("-G", "k") == {"k/c": "5, 6"}
        assert copied("-G", "/g/h") == {"g/h/e": "3, 4"}
    (tmp_path / "c").mkdir()
    subprocess.run(["ncgen", "-3", "-o", tmp_path / "c/x.nc"], input=CHOICE.split("group:")[0].replace("u = UNLIMITED", "u = 1").encode() + b"}", check=True)
    sherd.ok("nccopy", "-v", "t", "c/x.nc", "c/y.nc")
    assert data_of(sherd, "c/y.nc") == {"a": "_, _", "b": "_, _, _, _, _, _", "t": "1, 2", "s": "_"}


def test_unlimited_dimensions_become_fixed(sherd, tmp_path):
    file = made(tmp_path / "x.nc", UNLIMITED)
    sherd.ok("nccopy", "-u", file, "x.zarr")
    assert "UNLIMITED" not in sherd.ok("ncdump", "-h", "x.zarr").text
    assert "t = 3 ;" in sherd.ok("ncdump", "-h", "x.zarr").text
    sherd.ok("nccopy", file, "y.zarr")
    assert "t = UNLIMITED ; // (3 currently)" in sherd.ok("ncdump", "-h", "y.zarr").text


def zarray(folder, name="v"):
    return json.loads((folder / name / ".zarray").read_text())


@pytest.mark.parametrize(("url", "environment"), [("y.zarr#mode=zarr&compat=seed", {}), ("y.zarr#mode=zarr", {"SHERD_COMPAT": "seed"})])
def test_a_copy_follows_the_letter_of_the_documentation_on_request(sherd, tmp_path, url, environment):
    file = made(tmp_path / "x.nc", CLASSIC)
    sherd.ok("nccopy", file, url, env=environment)
    assert zarray(tmp_path / "y.zarr", "c")["dtype"] == ">S1"


def test_filters_of_the_source_are_kept_and_others_are_chosen(sherd, tmp_path):
    file = netcdf4(tmp_path / "x.nc", {"v": {"zlib": True, "complevel": 3, "shuffle": True}, "w": {"fletcher32": True}})
    sherd.ok("nccopy", file, "kept.zarr")
    assert zarray(tmp_path / "kept.zarr")["compressor"] == {"id": "zlib", "level": 3}
    assert zarray(tmp_path / "kept.zarr")["filters"] == [{"id": "shuffle", "elementsize": 4}]
    assert zarray(tmp_path / "kept.zarr")["chunks"] == [10, 20]
    assert "fletcher32" in json.dumps(zarray(tmp_path / "kept.zarr", "w"))
    sherd.ok("nccopy", "-d", "7", "kept.zarr", "deflated.zarr")
    assert zarray(tmp_path / "deflated.zarr", "w") | {"filters": None, "compressor": {"id": "zlib", "level": 7}} == zarray(tmp_path / "deflated.zarr", "w")
    sherd.ok("nccopy", "-d", "1", "-s", "kept.zarr", "shuffled.zarr")
    assert zarray(tmp_path / "shuffled.zarr", "w")["filters"] == [{"id": "shuffle", "elementsize": 4}]
    sherd.ok("nccopy", "-F", "none", "-F", "w,307,5", "kept.zarr", "chosen.zarr")
    assert zarray(tmp_path / "chosen.zarr")["compressor"] is None and zarray(tmp_path / "chosen.zarr")["filters"] is None
    assert zarray(tmp_path / "chosen.zarr", "w")["compressor"] == {"id": "bz2", "level": 5}
    sherd.ok("nccopy", "--store-format", "zarr3", "-F", "*,2|32015,4", "kept.zarr", "three.zarr")
    codecs = [each["name"] for each in json.loads((tmp_path / "three.zarr/v/zarr.json").read_text())["codecs"]]
    assert codecs == ["bytes", "numcodecs.shuffle", "zstd"]
    sherd.ok("nccopy", "kept.zarr", "back.nc")
    special = expected("-hs", tmp_path / "back.nc")
    assert "v:_DeflateLevel = 3 ;" in special and 'v:_Shuffle = "true" ;' in special and 'w:_Fletcher32 = "true" ;' in special
    for copy in ("kept.zarr", "deflated.zarr", "chosen.zarr", "three.zarr", "back.nc"):
        assert sherd.ok("ncdump", "-n", "x", copy).text == expected(file)


def test_no_compression_is_asked_for_by_level_0_as_with_nccopy(sherd, tmp_path):
    file = netcdf4(tmp_path / "x.nc", {"v": {"zlib": True, "complevel": 3, "shuffle": True}})
    subprocess.run(["nccopy", "-d", "0", file, tmp_path / "theirs.nc"], check=True)
    assert "_DeflateLevel" not in expected("-hs", tmp_path / "theirs.nc") and "_Shuffle" not in expected("-hs", tmp_path / "theirs.nc")
    for options in (["-d", "0"], ["-d", "0", "-s"]):
        sherd.ok("nccopy", *options, file, "x.zarr")
        assert zarray(tmp_path / "x.zarr")["compressor"] is None and zarray(tmp_path / "x.zarr")["filters"] is None
        sherd.ok("nccopy", *options, "-k", "nc4", file, "x2.nc")
        assert "_DeflateLevel" not in expected("-hs", tmp_path / "x2.nc") and "_Shuffle" not in expected("-hs", tmp_path / "x2.nc")
        assert expected("-n", "x", tmp_path / "x2.nc") == expected("-n", "x", file)
        shutil.rmtree(tmp_path / "x.zarr")
        (tmp_path / "x2.nc").unlink()


def test_no_filter_is_dropped_silently(sherd, tmp_path):
    both = netcdf4(tmp_path / "both.nc", {"v": {"zlib": True, "fletcher32": True}})
    ran = sherd("nccopy", both, "x.zarr")
    assert ran.code == 5 and "/v" in ran.stderr and "fletcher32" in ran.stderr and "-d or -F" in ran.stderr
    assert not (tmp_path / "x.zarr").exists()
    sherd.ok("nccopy", "-d", "1", both, "x.zarr")
    ran = sherd.ok("nccopy", "-k", "nc3", both, "classic.nc")
    assert "warning: /v: the copy has no filters" in ran.stderr
    assert sherd("nccopy", "-F", "v,32013", both, "y.zarr").code == 5
    sherd.ok("nccopy", "--store-format", "zarr3", "-F", "*,32001,2,2,4,0,5,1,1", both, "blosc.zarr")
    ran = sherd("nccopy", "blosc.zarr", "blosc.nc")
    assert ran.code == 5 and "blosc" in ran.stderr


def test_codecs_of_zarr_are_kept_in_zarr(sherd, tmp_path):
    (tmp_path / "a.zarr").mkdir()
    sherd.ok("create", "a.zarr/v", "--shape", "40,50", "--chunks", "10,20", "--dtype", "int16", "--codec", "zstd:5", "--shards", "20,40",
             "--store-format", "zarr3", "--dimension-names", "y,x")
    sherd.ok("nccopy", "--store-format", "zarr3", "a.zarr", "b.zarr")
    document = json.loads((tmp_path / "b.zarr/v/zarr.json").read_text())
    assert document["chunk_grid"]["configuration"]["chunk_shape"] == [20, 40]
    assert [each["name"] for each in document["codecs"][0]["configuration"]["codecs"]] == ["bytes", "zstd"]


@pytest.mark.parametrize("chunks, shape, contiguous", [("y/20,x/", [20, 50], False), ("x/7", [10, 7], False), ("v:40,5", [40, 5], False),
                                                       ("v:", [40, 50], True), ("/", [40, 50], True), ("v:contiguous", [40, 50], True)])
def test_chunks_are_chosen_by_dimension_or_variable(sherd, tmp_path, chunks, shape, contiguous):
    file = netcdf4(tmp_path / "x.nc", {"v": {}})
    sherd.ok("nccopy", "-c", chunks, file, "x.zarr")
    assert zarray(tmp_path / "x.zarr")["chunks"] == shape
    sherd.ok("nccopy", "-c", chunks, file, "y.nc")
    special = 'v:_Storage = "contiguous" ;' if contiguous else f"v:_ChunkSizes = {shape[0]}, {shape[1]} ;"
    assert special in expected("-hs", tmp_path / "y.nc")
    assert sherd.ok("ncdump", "-n", "x", "x.zarr").text == sherd.ok("ncdump", "-n", "x", "y.nc").text == expected(file)


def test_each_chunk_is_decoded_once_where_memory_permits(sherd, tmp_path):
    import netCDF4
    import numpy as np
    with netCDF4.Dataset(tmp_path / "x.nc", "w") as file:
        for name, length in (("t", 60), ("y", 300), ("x", 300)):
            file.createDimension(name, length)
        file.createVariable("v", "f4", ("t", "y", "x"), chunksizes=(1, 100, 100), zlib=True, complevel=1)[:] = np.random.default_rng(1).normal(size=(60, 300, 300))
    sherd.ok("nccopy", "x.nc", "maps.zarr")

    def stats(*options):
        shutil.rmtree(tmp_path / "series.zarr", ignore_errors=True)
        ran = sherd.ok("--stats", "--quiet", "nccopy", "-c", "t/60,y/30,x/30", *options, "maps.zarr", "series.zarr")
        assert zarray(tmp_path / "series.zarr")["chunks"] == [60, 30, 30]
        return json.loads(ran.stderr)
    assert stats()["chunks_decoded"] == 540
    bounded = stats("-m", "8MiB")
    assert bounded["chunks_decoded"] > 540 and bounded["peak_rss"] < 80 << 20
    assert sherd.ok("ncdump", "-n", "x", "series.zarr").text == sherd.ok("ncdump", "-n", "x", "maps.zarr").text


def test_long_strings_keep_their_length_in_zarr2(sherd, tmp_path):
    dataset = Dataset({"x": 2}, {"s": ("string", ["x"], ["a" * 300, "b"], {})})
    file = made(tmp_path / "x.nc", dataset)
    sherd.ok("nccopy", file, "x.zarr")
    assert zarray(tmp_path / "x.zarr", "s")["dtype"] == "|S300"
    assert f'"{"a" * 300}"' in sherd.ok("ncdump", "-l", "1000", "x.zarr").text


def test_an_existing_destination_is_a_conflict_unless_overwritten(sherd, tmp_path):
    file, other = made(tmp_path / "x.nc", CLASSIC), made(tmp_path / "y.nc", LONG)
    for copy in ("copy.zarr", "copy.nc"):
        sherd.ok("nccopy", file, copy)
        ran = sherd("nccopy", other, copy)
        assert ran.code == 6 and copy in ran.stderr
        assert sherd.ok("ncdump", "-n", "x", copy).text == expected("-n", "x", file)
        sherd.ok("nccopy", "--overwrite", other, copy)
        assert sherd.ok("ncdump", "-n", "x", copy).text == expected("-n", "x", other)
    assert sherd("nccopy", "--overwrite", "copy.zarr", "copy.zarr").code == 2
    assert sherd("nccopy", "--overwrite", file, file).code == 2
    assert sherd("nccopy", "none.nc", "z.zarr").code == 3


@pytest.mark.parametrize("old, new", [("zarr2", "zarr3"), ("zarr3", "zarr2")])
def test_a_copy_replaces_a_dataset_in_the_other_version_of_zarr(sherd, tmp_path, old, new):
    file, other = made(tmp_path / "x.nc", UNLIMITED), made(tmp_path / "y.nc", GROUPS)
    sherd.ok("nccopy", "--store-format", old, other, "copy.zarr")
    (tmp_path / "copy.zarr/note.txt").write_text("mine")
    refused = sherd("nccopy", "--store-format", new, "--overwrite", file, "copy.zarr")
    assert refused.code == 6 and "note.txt" in refused.stderr and sherd.ok("ncdump", "-n", "y", "copy.zarr").text == expected(other)
    (tmp_path / "copy.zarr/note.txt").unlink()
    sherd.ok("nccopy", "--store-format", new, "--overwrite", file, "copy.zarr")
    assert sherd.ok("ncdump", "-n", "x", "copy.zarr").text == expected(file) and sherd.ok("check", "copy.zarr").text.startswith("ok")
    assert sherd.ok("info", "--json", "copy.zarr").json["format"] == new
    assert not [path for path in tmp_path.rglob("*") if path.name == (".zgroup" if old == "zarr2" else "zarr.json") or ".sherd" in path.name]
    inside = sherd("nccopy", "--store-format", old, "--overwrite", file, "copy.zarr/copy")  # a hierarchy has one version
    assert inside.code == 6 and new in inside.stderr and not (tmp_path / "copy.zarr/copy").exists()


@pytest.mark.parametrize("format", ["zarr2", "zarr3"])
def test_unwritten_elements_without_fill_value_are_not_stale_memory(sherd, tmp_path, format):
    netcdf4(tmp_path / "x.nc", {})
    import netCDF4
    with netCDF4.Dataset(tmp_path / "x.nc", "a") as file:
        for name, options in {"contiguous": {"contiguous": True}, "chunked": {"chunksizes": (10,)}}.items():
            file.createVariable(name, "i4", ("y",), fill_value=False, **options)
    texts = set()
    for name, byte in {"a": "170", "b": "85"}.items():
        sherd.ok("nccopy", "--store-format", format, "x.nc", name, env={"MALLOC_PERTURB_": byte})
        texts |= {sherd.ok("ncdump", "-n", "x", name).text, sherd.ok("ncdump", "x.nc", env={"MALLOC_PERTURB_": byte}).text}
    assert len(texts) == 1 and f"contiguous = {', '.join(['0'] * 40)} ;" in re.sub(r"\s+", " ", texts.pop())


def test_a_copy_that_fails_leaves_what_was_there(sherd, tmp_path):
    file = made(tmp_path / "x.nc", CLASSIC)
    sherd.ok("nccopy", file, "copy.zarr")
    sherd.ok("nccopy", "copy.zarr", "bad.zarr")
    (tmp_path / "bad.zarr/v/0.0").write_bytes(b"short")
    for copy, *options in (("copy.zarr",), ("copy.nc",), ("copy.zarr", "--store-format", "zarr3")):
        ran = sherd("nccopy", *options, "--overwrite", "bad.zarr", copy)
        assert ran.code == 4 and "/v" in ran.stderr, ran.stderr
    assert sherd.ok("ncdump", "-n", "x", "copy.zarr").text == expected("-n", "x", file)
    assert sorted(path.name for path in tmp_path.iterdir() if path.suffix != ".cdl") == ["bad.zarr", "copy.zarr", "x.nc"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_ends_a_copy_without_a_trace(sherd, start, tmp_path, number):
    import netCDF4
    with netCDF4.Dataset(tmp_path / "x.nc", "w") as file:  # chunks that were never written: large, and read in no time
        file.createDimension("t", 10**7)
        file.createDimension("x", 10**5)
        file.createVariable("v", "f4", ("t", "x"), chunksizes=(100, 10**5))
    sherd.ok("ncdump", "-k", "x.nc")  # the file can be read at all
    process = start("nccopy", "x.nc", "x.zarr", "--progress=always")
    process.stderr.readline()
    process.send_signal(number)
    assert process.wait(60) == 128 + number
    assert [path.name for path in tmp_path.iterdir()] == ["x.nc"]


def test_a_classic_file_that_is_cut_off_is_corrupt(sherd, tmp_path):
    whole = made(tmp_path / "x.nc", CLASSIC, "nc3").read_bytes()
    for length in [*range(8, len(whole) - 16, 8), len(whole) - 5]:
        (tmp_path / "cut.nc").write_bytes(whole[:length])
        for command in (["ncdump", "cut.nc"], ["nccopy", "cut.nc", "cut.zarr"]):
            ran = sherd(*command)
            assert ran.code == 4 and "cut.nc" in ran.stderr, (length, ran.stderr)
    assert not (tmp_path / "cut.zarr").exists()


def test_headers_that_lie_are_corrupt(sherd, tmp_path):
    whole = made(tmp_path / "x.nc", CLASSIC, "nc3").read_bytes()
    for at in range(4, len(whole) - 4, 4):
        for word in (b"\x7f\xff\xff\xff", b"\xff\xff\xff\xff"):
            (tmp_path / "y.nc").write_bytes(whole[:at] + word + whole[at + 4:])
            assert sherd("ncdump", "-h", "y.nc").code in (0, 4, 5), (at, word)


def test_a_netcdf4_file_that_is_cut_off_is_an_error(sherd, tmp_path):
    whole = netcdf4(tmp_path / "x.nc", {"v": {"zlib": True}}).read_bytes()
    for length in (8, 100, 1000, len(whole) // 2, len(whole) - 100):
        (tmp_path / "cut.nc").write_bytes(whole[:length])
        ran = sherd("nccopy", "cut.nc", "cut.zarr")
        assert ran.code == 4 and "cut.nc" in ran.stderr, (length, ran.stderr)


def test_what_zarr_does_not_have_is_left_out_with_a_warning(sherd, tmp_path):
    (tmp_path / "x.cdl").write_text("netcdf x { types: compound pair { int a; float b; }; dimensions: n = 2; variables: pair p(n); int v(n);\n"
                                    "pair v:both = {1, 2.5}; data: p = {1, 2.0}, {3, 4.0}; v = 5, 6; }")
    subprocess.run(["ncgen", "-4", "-o", "x.nc", "x.cdl"], cwd=tmp_path, check=True)
    report = sherd.ok("nccopy", "--json", "x.nc", "x.zarr").json
    assert report["variables"] == 1 and len(report["warnings"]) == 2
    assert all("user-defined type" in warning for warning in report["warnings"])
    assert "v = 5, 6 ;" in sherd.ok("ncdump", "x.zarr").text


@pytest.mark.parametrize(("shards", "expected"), [
    (["y/25"], {"v": [30, 20], "w": [30, 20]}), (["y/,x/"], {"v": [40, 60], "w": [40, 60]}), (["v:20,40"], {"v": [20, 40], "w": None}),
    (["w:", "x/21"], {"v": [10, 40], "w": [40, 60]}), (["auto"], {"v": [40, 60], "w": [40, 60]}), (["auto", "v:10,20"], {"v": [10, 20], "w": [40, 60]})])
def test_shards_are_chosen_by_dimension_variable_or_size(sherd, tmp_path, shards, expected):
    file = netcdf4(tmp_path / "x.nc", {"v": {}, "w": {}})
    options = [each for one in shards for each in ("--shards", one)]
    sherd.ok("--store-format", "zarr3", "nccopy", *options, file, "x.zarr")
    for name, shape in expected.items():
        info = sherd.ok("info", "--json", f"x.zarr/{name}").json
        assert (info["chunks"], info["shards"]) == ([10, 20], shape)
    sherd.ok("--store-format", "zarr3", "nccopy", "x.zarr", "again.zarr")
    assert sherd.ok("info", "--json", "again.zarr/v").json["shards"] == expected["v"]
    assert sherd.ok("ncdump", "-n", "x", "again.zarr").text == subprocess.run(["ncdump", file], check=True, capture_output=True, text=True).stdout


@pytest.mark.parametrize(("options", "message"), [
    (["--shards", "auto"], "only datasets in Zarr v3"), (["--store-format", "zarr3", "--shards", "nope/3"], "no dimension 'nope'"),
    (["--store-format", "zarr3", "--shards", "nope:"], "no variable 'nope'"), (["--store-format", "zarr3", "--shards", "v:15,20"], "multiple of the chunk"),
    (["--store-format", "zarr3", "--shards", "v:20"], "2 dimensions"), (["--store-format", "zarr3", "--shards", "v"], "neither dimension/length"),
    (["--store-format", "zarr3", "-k", "nc4", "--shards", "auto"], "only datasets in Zarr v3")])
def test_shards_that_mean_nothing_are_refused(sherd, tmp_path, options, message):
    ran = sherd("nccopy", *options, netcdf4(tmp_path / "x.nc", {"v": {}}), "x.zarr")
    assert ran.code in (2, 3) and message in ran.stderr and "shards" in ran.stderr, ran.stderr
    assert not (tmp_path / "x.zarr").exists()


def test_text_that_is_not_utf8_is_read_as_latin1_with_a_warning(sherd, tmp_path):
    file = made(tmp_path / "x.nc", Dataset({"x": 1}, {"v": ("int", ["x"], [1], {"units": ("char", b"\xb0C")})}), "nc3")
    ran = sherd.ok("nccopy", file, "x.zarr")
    assert "warning: /v: the attribute 'units' is not UTF-8" in ran.stderr
    assert 'v:units = "°C" ;' in sherd.ok("ncdump", "x.zarr").text


@pytest.mark.parametrize("options", [["-c", "y"], ["-c", "nope/3"], ["-c", "y/0"], ["-c", "v:1,2,3"], ["-c", "v:0,1"], ["-c", "nope:1,2"], ["-d", "10"],
                                     ["-F", "v"], ["-F", "nope,none"], ["-F", "v,x"], ["-F", "v,4294967296"], ["-V", "nope"], ["-v", "v,nope"], ["-G", "nope"], ["-g", "nope"], ["-m", "1MiB"], ["-m", "x"], ["-h", "x"]], ids="".join)
def test_options_that_mean_nothing_are_refused(sherd, tmp_path, options):
    file = netcdf4(tmp_path / "x.nc", {"v": {}})
    ran = sherd("nccopy", *options, file, "x.zarr")
    assert ran.code in (2, 3) and options[0] in ran.stderr, ran.stderr
    assert not (tmp_path / "x.zarr").exists()


def test_options_of_netcdf_c_about_caches_are_accepted(sherd, tmp_path):
    file = made(tmp_path / "x.nc", CLASSIC)
    sherd.ok("nccopy", "-w", "-h", "10M", "-e", "100", file, "file://x.zarr#mode=zarr,file")
    assert not (tmp_path / "x.zarr/.zgroup").read_text().count("nczarr")
    assert sherd.ok("nccopy", "-k", "nczarr", file, "y.nc").code == 0
    assert (tmp_path / "y.nc/.zgroup").exists()


@pytest.mark.parametrize(("option", "kind"), [("-3", "classic"), ("-4", "netCDF-4"), ("-5", "cdf5"), ("-6", "64-bit offset"),
                                              ("-7", "netCDF-4 classic model")])
def test_the_kind_of_a_file_is_a_number_as_in_netcdf_c(sherd, tmp_path, option, kind):
    netcdf4_file(LONG, tmp_path / "x.nc") if option == "-4" else netcdf4_file(CLASSIC, tmp_path / "x.nc")
    sherd.ok("nccopy", option, "x.nc", "y.nc")
    assert sherd.ok("ncdump", "-k", "y.nc").text == f"{kind}\n"
    assert sherd("nccopy", option, "-k", "nc4", "x.nc", "z.nc").code == 2


LONG_CHUNKS = """netcdf x { dimensions: t = UNLIMITED ; e = UNLIMITED ; x = 3 ;
variables: int v(t) ; v:_ChunkSizes = 100 ; int w(t, x) ; w:_ChunkSizes = 64, 2 ; int n(e) ; n:_ChunkSizes = 50 ;
data: v = 1, 2 ; w = 1, 2, 3, 4, 5, 6 ; }"""


def chunks_in(sherd, copy):
    return dict(re.findall(r"(\w+):_ChunkSizes = (.*) ;", sherd.ok("ncdump", "-hs", copy).text))


@pytest.fixture
def long_chunks(tmp_path):
    subprocess.run(["ncgen", "-4", "-o", tmp_path / "x.nc"], input=LONG_CHUNKS.encode(), check=True)
    return tmp_path / "x.nc"


def test_chunks_along_unlimited_dimensions_are_kept_in_files_and_in_zarr3(sherd, tmp_path, long_chunks):
    as_they_are = {"v": "100", "w": "64, 2", "n": "50"}
    for arguments in (["x.nc", "y.nc"], ["--store-format", "zarr3", "x.nc", "y.zarr"], ["--store-format", "zarr3", "x.nc", "z.zarr#mode=zarr"]):
        assert sherd.ok("nccopy", *arguments).stderr.count("warning") == (2 if "#" in arguments[-1] else 0)  # two become fixed in pure Zarr
        assert chunks_in(sherd, arguments[-1]) == as_they_are
        assert sherd.ok("ncdump", "-n", "x", arguments[-1]).text.split("data:")[1] == expected(long_chunks).split("data:")[1]
    sherd.ok("nccopy", "--store-format", "zarr3", "-c", "t/10,x/500", "x.nc", "chosen.zarr")
    assert chunks_in(sherd, "chosen.zarr") == as_they_are | {"v": "10", "w": "10, 3"}


def test_chunks_beyond_an_unlimited_dimension_become_shorter_in_zarr2(sherd, tmp_path, long_chunks):
    ran = sherd.ok("nccopy", "x.nc", "kept.zarr")
    assert chunks_in(sherd, "kept.zarr") == {"v": "2", "w": "2, 2", "n": "50"}
    assert "warning: /v: chunks of 100 along 't' become shorter: netcdf-c 4.9.1" in ran.stderr and ran.stderr.count("warning") == 2
    ran = sherd.ok("nccopy", "-c", "t/64", "x.nc", "chosen.zarr")
    assert chunks_in(sherd, "chosen.zarr") == {"v": "64", "w": "64, 2", "n": "50"}
    assert "warning: /v: chunks of 64 along 't' are stored as asked for, but netcdf-c 4.9.1" in ran.stderr and ran.stderr.count("warning") == 2
    ran = sherd.ok("nccopy", "-c", "w:5,1", "x.nc", "one.zarr")
    assert chunks_in(sherd, "one.zarr") == {"v": "2", "w": "5, 1", "n": "50"}
    assert "warning" not in sherd.ok("nccopy", "-u", "x.nc", "fixed.zarr").stderr
    for copy in ("kept.zarr", "chosen.zarr", "one.zarr"):
        assert sherd.ok("ncdump", "-n", "x", copy).text == expected(long_chunks)


def test_an_unknown_kind_is_refused_and_the_known_ones_are_listed(sherd, tmp_path):
    made(tmp_path / "x.nc", CLASSIC)
    for kind in ("zarr", "nc8"):
        ran = sherd("nccopy", "-k", kind, "x.nc", "y.zarr")
        assert ran.code == 2 and f"-k: '{kind}' is not a kind" in ran.stderr and not (tmp_path / "y.zarr").exists()
        assert "(nc7), or nczarr; pure Zarr is nczarr at a URL with #mode=zarr" in ran.stderr


def test_szip_is_kept_in_zarr_and_back_in_a_file(sherd, tmp_path):
    szip = {"compression": "szip", "szip_coding": "nn", "szip_pixels_per_block": 16}
    source = netcdf4(tmp_path / "x.nc", {"v": szip, "w": szip | {"szip_coding": "ec", "chunksizes": (40, 50)}})
    sherd.ok("nccopy", source, "x.zarr")
    assert json.loads((tmp_path / "x.zarr/v/.zarray").read_text())["compressor"] == {"id": "szip", "mask": 32, "pixels-per-block": 16}
    assert sherd.ok("ncdump", "x.zarr").stdout.decode() == expected(source)
    # Where a chunk has the whole line, HDF5 and netcdf-c derive the same parameters, so the bytes are those of the file.
    assert (tmp_path / "x.zarr/w/0.0").read_bytes() in source.read_bytes()
    sherd.ok("nccopy", "--store-format", "zarr3", source, "y.zarr")
    assert (tmp_path / "y.zarr/v/c/0/0").read_bytes() in source.read_bytes()
    for copy in ("x.zarr", "y.zarr"):
        sherd.ok("nccopy", copy, f"{copy}.nc")
        assert expected("-hs", "-n", "x", tmp_path / f"{copy}.nc").count('_Filter = "4,') == 2
        assert expected("-n", "x", tmp_path / f"{copy}.nc") == expected(source)
