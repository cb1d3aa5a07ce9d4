"""nccopy and ncgen into pure Zarr: what its metadata cannot say is a warning."""

import pytest


@pytest.mark.parametrize("format", ["zarr2", "zarr3"])
def test_what_pure_zarr_changes_is_a_warning(sherd, tmp_path, format):
    text = """netcdf x { dimensions: t = unlimited ; y = 3 ; lonely = 4 ;
        variables: char c(t, y) ; c:b = 1b ; c:f = 0.5f ; c:i = 5 ; c:d = NaN ; c:s = "text" ; string c:l = "one" ;
        short v(y) ; v:_FillValue = 3s ; v:units = "K" ; :n = 10s ; data: c = "abc", "def" ;
        group: g { dimensions: u = unlimited ; variables: int w(u, y) ; } }"""
    sherd.ok("ncgen", "--store-format", format, "-o", "x.zarr", input=text.encode())
    report = sherd.ok("nccopy", "--json", "--store-format", format, "x.zarr", "pure.zarr#mode=zarr").json
    characters = "ubyte" if format == "zarr3" else "strings of one byte"
    assert sorted(report["warnings"]) == sorted([
        "/: pure Zarr has no types of attributes: 'n' (short becomes int)",
        "/t: the dimension becomes fixed: pure Zarr has no unlimited ones",
        "/lonely: the dimension is left out: pure Zarr has only those of variables",
        "/g/u: the dimension becomes fixed: pure Zarr has no unlimited ones",
        f"/c: pure Zarr has no characters: they become {characters}",
        "/c: pure Zarr has no types of attributes: 'b' (byte becomes int), 'f' (float becomes double), 'd' (double becomes char), "
        "'l' (string becomes char)"])
    generated = sherd.ok("ncgen", "--store-format", format, "-o", "made.zarr#mode=zarr", input=text.encode()).stderr
    assert generated.splitlines() == [f"warning: standard input: {each}" for each in report["warnings"]]
    assert sherd.ok("ncdump", "-n", "pure", "made.zarr#mode=zarr").text == sherd.ok("ncdump", "pure.zarr#mode=zarr").text
    shown = sherd.ok("ncdump", "pure.zarr#mode=zarr").text
    for each in ("t = 2 ;", "c:b = 1 ;", "c:f = 0.5 ;", 'c:d = "NaN" ;', "\t\t:n = 10 ;", ("ubyte" if format == "zarr3" else "string") + " c(t, y)"):
        assert each in shown
    assert "lonely" not in shown
    assert sherd.ok("nccopy", "--json", "-u", "-V", "v", "x.zarr", "fixed.zarr#mode=zarr").json["warnings"][0].startswith("/: pure Zarr has no types")
    assert sherd.ok("nccopy", "--json", "--store-format", format, "x.zarr", "whole.zarr").json["warnings"] == []


@pytest.mark.parametrize("format", ["zarr2", "zarr3"])
def test_names_of_dimensions_that_noxarray_drops_are_a_warning(sherd, tmp_path, format):
    text = "netcdf x { dimensions: t = unlimited ; y = 3 ; variables: int v(t, y) ; data: v = 1, 2, 3 ; }"
    made = sherd.ok("ncgen", "--store-format", format, "-o", "x.zarr#mode=zarr,noxarray", input=text.encode())
    assert made.stderr.splitlines() == [
        "warning: standard input: /t: the dimension loses its name: with noxarray, pure Zarr has none, and becomes fixed",
        "warning: standard input: /y: the dimension loses its name: with noxarray, pure Zarr has none"]
    assert "v(_Anonymous_Dim_1, _Anonymous_Dim_3)" in sherd.ok("ncdump", "-h", "x.zarr").text
    assert sherd.ok("ncgen", "--store-format", format, "-o", "y.zarr#mode=nczarr,noxarray", input=text.encode()).stderr == ""


@pytest.mark.parametrize("format", ["zarr2", "zarr3"])
def test_variables_without_fill_values_stay_so(sherd, tmp_path, format):
    text = 'netcdf x { dimensions: y = 3 ; variables: int v(y) ; v:_NoFill = "true" ; int w(y) ; data: v = 1, 2, 3 ; }'
    sherd.ok("ncgen", "--store-format", format, "-o", "x.zarr", input=text.encode())
    sherd.ok("nccopy", "x.zarr", "x.nc")
    sherd.ok("nccopy", "--store-format", format, "x.nc", "y.zarr")
    for each in ("x.zarr", "x.nc", "y.zarr"):
        shown = sherd.ok("ncdump", "-h", "-s", each).text
        assert 'v:_NoFill = "true"' in shown and 'w:_NoFill = "true"' not in shown
    warned = sherd.ok("nccopy", "--json", "--store-format", format, "x.nc", "pure.zarr#mode=zarr").json["warnings"]
    assert [each for each in warned if "_NoFill" in each] == (
        ["/v: pure Zarr v3 has no variables without a fill value (_NoFill): it has one"] if format == "zarr3" else [])
