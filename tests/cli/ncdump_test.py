"""ncdump: the text is, to the byte, that of netcdf-c's ncdump for a netCDF-4 file with the same contents."""

import functools
import pathlib
import re
import subprocess

import pytest
from nczarr import Dataset, netcdf4_file, write
from netcdf_datasets import DATASETS, EVERY_TYPE, GROUPS


@pytest.fixture(params=DATASETS)
def pair(request, tmp_path):
    """The URL of a dataset, and the netCDF-4 file with the same contents."""
    dataset = DATASETS[request.param]
    write(dataset, tmp_path / "x.zarr")
    netcdf4_file(dataset, tmp_path / "x.nc")
    return tmp_path / "x.zarr", tmp_path / "x.nc"


def expected(*arguments):
    return subprocess.run(["ncdump", *map(str, arguments)], check=True, capture_output=True).stdout.decode()


@pytest.mark.parametrize("options", [[], ["-h"], ["-c"], ["-t"], ["-i"], ["-b", "c"], ["-b", "f"], ["-f", "c"], ["-l", "40"],
                                     ["-l", "200"], ["-p", "4"], ["-p", "9,17"], ["-n", "other name"]], ids="".join)
def test_the_text_is_that_of_ncdump(sherd, pair, options):
    dataset, file = pair
    assert sherd.ok("ncdump", *options, dataset).text == expected(*options, file)


@pytest.mark.parametrize("options", ["-t -i", "-i -t", "-i -t -i", "-b c -b f", "-f c -f Fortran", "-b F", "-b cobol", "-f f -b c",
                                     "-b f -f c", "-f C -b fortran"])
def test_the_last_of_several_options_decides(sherd, tmp_path, options):
    values = [[1, 2, 3], [4, 5, 6]]
    dataset = Dataset({"t": (2,), "x": 3, "one": 1},
                      {"t": ("double", ["t"], [0.0, 1.25], {"units": ("char", "days since 2000-01-01")}), "v": ("int", ["t", "x"], values, {}),
                       "deep": ("short", ["t", "x", "one"], [[[1], [2], [3]]] * 2, {}), "letters": ("char", ["t", "x"], [b"abc", b"def"], {}),
                       "names": ("string", ["x"], ["a", "b", "c"], {})}, {}, {})
    write(dataset, tmp_path / "x.zarr")
    netcdf4_file(dataset, tmp_path / "x.nc")
    assert sherd.ok("ncdump", *options.split(), "x.zarr").text == expected(*options.split(), tmp_path / "x.nc")


def test_a_language_of_comments_is_that_of_its_first_letter(sherd, tmp_path):
    write(EVERY_TYPE, tmp_path / "x.zarr")
    wrong = sherd("ncdump", "-f", "pascal", "x.zarr")
    assert wrong.code == 2 and "'pascal' is none of c, f" in wrong.stderr


@pytest.mark.parametrize("options", [["-v", "v"], ["-v", "own,rows"], ["-v", "g1/own"], ["-v", "/g1/inner/deep"], ["-g", "g1"],
                                     ["-g", "/g1/inner"], ["-g", "/"], ["-g", "inner,empty"], ["-v", ",own"], ["-g", ",g1"]], ids="".join)
def test_variables_and_groups_are_chosen_as_by_ncdump(sherd, tmp_path, options):
    write(GROUPS, tmp_path / "x.zarr")
    netcdf4_file(GROUPS, tmp_path / "x.nc")
    assert sherd.ok("ncdump", *options, "x.zarr").text == expected(*options, tmp_path / "x.nc")


@pytest.mark.parametrize(("option", "names"), [("-v", ["own", "rows"]), ("-g", ["g1", "inner"])])
def test_empty_names_in_a_list_are_ignored_also_where_ncdump_crashes(sherd, tmp_path, option, names):
    write(GROUPS, tmp_path / "x.zarr")
    plain = sherd.ok("ncdump", option, ",".join(names), "x.zarr").text
    assert sherd.ok("ncdump", option, ",,".join(names) + ",", "x.zarr").text == plain
    for empty in ("", ","):
        wrong = sherd("ncdump", option, empty, "x.zarr")
        assert wrong.code == 2 and f"{option}: '{empty}' contains no name" in wrong.stderr


@pytest.mark.parametrize("name", ["größe", "a b", "a%20b", "a%zz", "x#y", 'ü"q', "1x", "a.b", "日本", "a+b,c"])
def test_the_name_of_a_dataset_is_that_of_its_store_as_with_ncdump(sherd, tmp_path, name):
    write(GROUPS, tmp_path / f"{name}.zarr")
    netcdf4_file(GROUPS, tmp_path / "x.nc")
    (tmp_path / "x.nc").rename(tmp_path / f"{name}.nc")
    text = expected("-h", tmp_path / f"{name}.nc")
    assert sherd.ok("ncdump", "-h", f"{name}.zarr").text == text
    assert sherd.ok("ncdump", "-h", (tmp_path / f"{name}.zarr").as_uri()).text == text


def test_names_that_do_not_exist_are_not_found(sherd, tmp_path):
    write(GROUPS, tmp_path / "x.zarr")
    assert sherd("ncdump", "-v", "nope", "x.zarr").code == 3
    assert sherd("ncdump", "-g", "nope", "x.zarr").code == 3
    assert sherd("ncdump", "none.zarr").code == 3


def test_special_attributes_describe_the_storage(sherd, tmp_path):
    write(EVERY_TYPE, tmp_path / "x.zarr")
    text = sherd.ok("ncdump", "-h", "-s", "x.zarr").text
    assert '\t\tv_int:_Storage = "chunked" ;\n\t\tv_int:_ChunkSizes = 4 ;\n\t\tv_int:_Endianness = "little" ;\n' in text
    assert '\t\t:_Format = "netCDF-4" ;\n' in text and "scalar:_ChunkSizes" not in text
    assert '\t\tscalar:_Storage = "contiguous" ;\n' in text  # as a netCDF-4 file has it


def test_special_attributes_are_those_that_ncdump_prints_of_a_file(sherd, tmp_path):
    import netCDF4
    szip = {"compression": "szip", "szip_pixels_per_block": 8}
    with netCDF4.Dataset(tmp_path / "x.nc", "w") as file:
        file.createDimension("x", 64)
        file.createDimension("t", None)
        for name, options in {"plain": {}, "all": {"zlib": True, "complevel": 4, "shuffle": True, "fletcher32": True},
                              "packed": szip | {"szip_coding": "nn"}, "checked": szip | {"szip_coding": "ec", "fletcher32": True},
                              "deflated": {"zlib": True, "shuffle": True, "endian": "big"}, "unfilled": {"fill_value": False}}.items():
            chunks = {"chunksizes": (32,)} if name != "unfilled" and name != "plain" else {}
            file.createVariable(name, ">i4" if name == "deflated" else "<i4", ("x",), **options, **chunks)[:] = range(64)
        file.createVariable("t", "f8", ("t",), chunksizes=(2,))[:] = [1, 2, 3]
    provenance = re.compile(rb"\t\t:_(NCProperties|SuperblockVersion|IsNetcdf4) = .*\n")
    expected = subprocess.run(["ncdump", "-hs", "x.nc"], cwd=tmp_path, check=True, capture_output=True).stdout
    assert sherd.ok("ncdump", "-hs", "x.nc").stdout == provenance.sub(b"", expected)
    # Of the copy, where every variable has chunks; it cannot have both of szip and fletcher32.
    sherd.ok("nccopy", "-F", "all,2|1,4", "-F", "checked,4,32,8", "x.nc", "x.zarr")
    text = sherd.ok("ncdump", "-hs", "x.zarr").text
    for each in ('all:_Shuffle = "true" ;\n\t\tall:_DeflateLevel = 4 ;\n', 'packed:_Filter = "4,32,8" ;\n', 'checked:_Filter = "4,32,8" ;\n'):
        assert each in text
    # Nothing that it prints is lost on the way through CDL.
    sherd.ok("ncgen", "-o", "y.zarr", input=sherd.ok("ncdump", "-s", "-n", "x", "x.zarr").stdout)
    assert provenance.sub(b"", sherd.ok("ncdump", "-s", "-n", "x", "y.zarr").stdout) == provenance.sub(b"", sherd.ok("ncdump", "-s", "-n", "x", "x.zarr").stdout)


def test_the_kind_is_netcdf_4_and_ncml_is_refused(sherd, tmp_path):
    write(Dataset(), tmp_path / "x.zarr")
    assert sherd.ok("ncdump", "-k", "x.zarr").text == "netCDF-4\n"
    assert sherd("ncdump", "-x", "x.zarr").code == 5


CLASSIC = r"""netcdf x { dimensions: t = UNLIMITED ; a\ b = 3 ; variables: byte b(a\ b) ; b:r = 1b, -2b ; b:i = 1, 2 ;
b:f = 1.5f, 1.e20f, NaNf, -Infinityf, 1.e8f ; b:d = 0.1, 1e300, NaN, 2. ; b:c = "q\"uo'te\ttab <&> größe\\" ; b:e = "" ;
double d(t, a\ b) ; float odd\ name ; short s(t) ; s:v = 1s ; :g = 1.5, 2 ; data: s = 1, 2 ; }"""


@pytest.mark.parametrize("kind", ["nc3", "nc6", "cdf5", "nc7"])
def test_files_of_the_classic_model_are_printed_as_by_ncdump(sherd, tmp_path, kind):
    subprocess.run(["ncgen", "-k", kind, "-o", tmp_path / "x.nc"], input=CLASSIC.encode(), check=True)
    for options in (["-x"], [], ["-k"], *([] if kind in ("cdf5", "nc7") else [["-h", "-s"]])):  # which ncdump fails for, or names itself
        assert sherd.ok("ncdump", *options, "x.nc").stdout == subprocess.run(
            ["ncdump", *options, "x.nc"], cwd=tmp_path, check=True, capture_output=True).stdout


def test_a_link_with_the_name_of_a_tool_is_that_tool(sherd, tmp_path):
    for tool in ("ncdump", "ncgen", "nccopy"):
        (tmp_path / tool).symlink_to(sherd.binary)
    (tmp_path / "x.cdl").write_text("netcdf x { dimensions: x = 2 ; variables: int v(x) ; data: v = 1, 2 ; }")
    run = functools.partial(subprocess.run, cwd=tmp_path, check=True, capture_output=True)
    run(["./ncgen", "-o", "x.zarr", "x.cdl"])
    run(["./nccopy", "x.zarr", "y.zarr"])
    assert run(["./ncdump", "-n", "x", "y.zarr"]).stdout == sherd.ok("ncdump", "x.zarr").stdout


def test_numbers_of_digits_are_checked(sherd, tmp_path):
    write(Dataset(), tmp_path / "x.zarr")
    for digits in ("x", "0", "21", "5,x"):
        assert sherd("ncdump", "-p", digits, "x.zarr").code == 2


@pytest.mark.parametrize("length", ["0", "9", "-1", "10", "1000000"])
def test_lines_have_ten_characters_or_more_as_with_ncdump(sherd, tmp_path, length):
    write(EVERY_TYPE, tmp_path / "x.zarr")
    netcdf4_file(EVERY_TYPE, tmp_path / "x.nc")
    ran = sherd("ncdump", "-l", length, "x.zarr")
    theirs = subprocess.run(["ncdump", "-l", length, tmp_path / "x.nc"], capture_output=True)
    assert (ran.code == 0, ran.stdout) == (theirs.returncode == 0, theirs.stdout)
    assert ran.code == (0 if length in ("10", "1000000") else 2)


NIL = """netcdf x {
dimensions: x = 5 ; t = UNLIMITED ;
variables:
  string s(x) ; string f(x) ; string f:_FillValue = "none" ; string u(t) ; string one ; string never ;
  string never:a = NIL, "b", "" ; string :g = NIL ;
data: s = "a", NIL, "", _ ; f = "a", NIL, "", _ ; u = NIL, "x" ; one = NIL ; }
"""


def test_null_strings_are_printed_as_by_ncdump_and_copied_as_empty(sherd, tmp_path):
    (tmp_path / "x.cdl").write_text(NIL)
    subprocess.run(["ncgen", "-4", "-o", "x.nc", "x.cdl"], cwd=tmp_path, check=True)
    text = expected(tmp_path / "x.nc")
    assert text.count("NIL") == 6 and sherd.ok("ncdump", "x.nc").text == text
    for format, file in (("zarr2", "x.zarr"), ("zarr3", "y.zarr"), ("zarr2", "copy.nc")):
        report = sherd.ok("--store-format", format, "nccopy", "--json", "x.nc", file).json
        warnings = [each for each in report["warnings"] if "NIL" in each]
        assert warnings == [f"{place}: the attribute '{name}' has null strings (NIL), which became empty"
                            for place, name in (("/", "g"), ("/never", "a"))] + [f"/{name}: 1 null string (NIL) became empty" for name in ("f", "one", "s", "u")]
        shown = sherd.ok("ncdump", "-n", "x", file).text
        assert "NIL" not in shown and 'f = "a", "", "", _, _ ;' in shown and 's = "a", _, _, _, _ ;' in shown


def test_nil_in_cdl_is_an_empty_text_with_a_warning(sherd):
    ran = sherd.ok("ncgen", "-o", "x.zarr", input=NIL.encode())
    assert ran.stderr.count("NIL in an attribute is stored as empty text") == 2 and "line 5, column 20: NIL" in ran.stderr
    assert all(f"/{name}: 1 null string (NIL) is stored as empty text" in ran.stderr for name in ("s", "f", "u", "one"))
    assert 'string :g = "" ;' in sherd.ok("ncdump", "x.zarr").text


def test_what_is_left_out_is_an_error_at_the_end(sherd, tmp_path):
    write(GROUPS, tmp_path / "x.zarr")
    (tmp_path / "x.zarr/v/.zarray").write_text("{")
    ran = sherd("ncdump", "-h", "x.zarr")
    assert ran.code == 4 and "the output lacks what cannot be read: /v: 'v/.zarray'" in ran.stderr and "\tint v(x)" not in ran.text and "int own(x)" in ran.text


SAMPLES = pathlib.Path(__file__).resolve().parents[1] / "data/nczarr"
# What the releases that wrote the samples print wrongly of them: text that is JSON is cut, and an empty string
# that was never written is not a fill value.
DEFECTS = [('ajnum = "1" ;', 'ajnum = "17" ;'), ('ajbool = "1" ;', 'ajbool = "true" ;'), ('"0123456789012345", NIL', '"0123456789012345", _'),
           ('"01234567", NIL', '"01234567", _'), ('"b", "c", NIL', '"b", "c", _')]


@pytest.mark.parametrize("sample", ["4.9.1/a491-nczarr_file", "4.10.1/a4101-nczarr_file"])
def test_a_sample_is_shown_as_by_the_release_that_wrote_it(sherd, sample):
    text = (SAMPLES / f"{sample}.dmp").read_text()
    for wrong, right in DEFECTS:
        assert wrong in text
        text = text.replace(wrong, right)
    assert sherd.ok("ncdump", SAMPLES / sample).text == text


def test_a_sample_of_the_last_generation_is_shown_as_the_file_of_its_cdl(sherd, tmp_path):
    # netcdf-c stores text that is JSON as that JSON, and prints it with spaces.
    cdl = (SAMPLES / "4.9.0/all.cdl").read_text().replace(r'{\"a\":[1,2,{\"b\":null}]}', r'{\"a\": [1,2,{\"b\": null}]}')
    subprocess.run(["ncgen", "-4", "-o", tmp_path / "x.nc"], input=cdl.encode(), check=True)
    # What was never written in a variable without fill values is whatever was in memory.
    def text(dump):
        return [line for line in dump.splitlines() if not line.startswith(" nofill =")]
    assert text(sherd.ok("ncdump", "-n", "x", SAMPLES / "4.9.0/all_nczarr_file").text) == text(expected("-n", "x", tmp_path / "x.nc"))


# Of netcdf-c's own tests.
@pytest.mark.parametrize(("dataset", "options"),
                         [("oldformat-2021", []), ("oldformat-2022", []), ("oldkeys", []), ("byte_fill_value_null", ["-s"]), ("quotes", ["-h"])])
def test_datasets_of_the_tests_of_netcdf_c_are_shown_as_their_cdl(sherd, dataset, options):
    name = dataset.split("-")[0]
    text = (SAMPLES / f"netcdf-c/{name}.cdl").read_text()
    if dataset == "quotes":  # by xarray, whose fill values of arrays netcdf-c does not show
        text = text.removesuffix("}\n") + "\t\tfractional_snow_cover:_FillValue = NaNf ;\n}\n"
    ran = sherd.ok("ncdump", "-n", f"ref_{name}", *options, SAMPLES / "netcdf-c" / dataset)
    assert re.sub("\t\t:_NCProperties = .*\n", "", ran.text) == text and ran.stderr == ""


def test_a_chunk_that_is_longer_than_an_array_without_shape_is_corrupt(sherd):
    assert "int v ;" in sherd.ok("ncdump", "-h", SAMPLES / "netcdf-c/noshape").text
    ran = sherd("ncdump", SAMPLES / "netcdf-c/noshape")
    assert ran.code == 4 and "/v: holds 24 bytes, the chunk has 4" in ran.stderr


def test_the_letter_of_the_documentation_is_asked_for_by_url_or_variable(sherd, tmp_path):
    write(Dataset({"x": 3}, {"v": ("int", ["x"], [1, 2, 3], {})}), tmp_path / "x.zarr")
    assert "_Anonymous_Dim_3 = 3 ;" in sherd.ok("ncdump", "-h", "x.zarr#mode=zarr").text
    assert ".zdim_3 = 3 ;" in sherd.ok("ncdump", "-h", "x.zarr#mode=zarr&compat=seed").text
    assert ".zdim_3 = 3 ;" in sherd.ok("ncdump", "-h", f"file://{tmp_path}/x.zarr#mode=zarr,file", env={"SHERD_COMPAT": "seed"}).text


def test_an_unknown_value_of_compat_is_refused_by_name(sherd, tmp_path):
    write(Dataset({"x": 3}, {"v": ("int", ["x"], [1, 2, 3], {})}), tmp_path / "x.zarr")
    (tmp_path / "x.cdl").write_text("netcdf x { dimensions: x = 1 ; }")
    refused = sherd("ncdump", "x.zarr#compat=bogus")
    assert refused.code == 2 and "compat=bogus is not known; compat=seed is the only one" in refused.stderr
    for command in (["ncdump", "x.zarr"], ["nccopy", "x.zarr", "y.zarr"], ["ncgen", "-o", "z.zarr", "x.cdl"]):
        refused = sherd(*command, env={"SHERD_COMPAT": "bogus"})
        assert refused.code == 2, command
        assert "SHERD_COMPAT=bogus is not known; SHERD_COMPAT=seed is the only one" in refused.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["x.cdl", "x.zarr"]
    assert "x = 3 ;" in sherd.ok("ncdump", "x.zarr", env={"SHERD_COMPAT": ""}).text


def test_caches_need_no_option(sherd, tmp_path):
    write(Dataset({"x": 3}, {"v": ("int", ["x"], [1, 2, 3], {})}), tmp_path / "x.zarr")
    assert sherd.ok("ncdump", "-w", "x.zarr").text == sherd.ok("ncdump", "x.zarr").text


def test_a_url_without_a_leading_slash_is_a_path_from_here_as_in_netcdf_c(sherd, tmp_path):
    write(Dataset({"x": 3}), tmp_path / "x.zarr")
    assert "x = 3 ;" in sherd.ok("ncdump", "file://x.zarr#mode=nczarr,file").text
    ran = sherd("ncdump", "x.zarr#mode=nczarr,zip")
    assert ran.code == 2 and "is a directory, and cannot be opened as zip" in ran.stderr, ran.stderr
