"""ncdump: netCDF files, files that are not, and what is left out of them."""

import subprocess

import pytest


@pytest.mark.parametrize("content", [b"", b"hello", b"\x89HDX\r\n\x1a\n"])
def test_a_file_that_is_neither_is_refused_as_such(sherd, tmp_path, content):
    (tmp_path / "x.nc").write_bytes(content)
    for command in (["ncdump", "x.nc"], ["ncdump", f"file://{tmp_path}/x.nc"], ["nccopy", "x.nc", "y.zarr"]):
        ran = sherd(*command)
        assert ran.code == 2 and ran.stderr == f"sherd: '{command[1]}' is neither a netCDF file nor a Zarr dataset (a directory)\n"


def test_a_variable_that_is_left_out_is_not_said_to_be_missing(sherd, tmp_path):
    (tmp_path / "x.cdl").write_text("netcdf x { types: byte enum mood {good = 0, bad = 1} ; dimensions: x = 2 ; "
                                    "variables: mood e(x) ; int ok(x) ; group: g { variables: mood f(x) ; int h(x) ; } }")
    subprocess.run(["ncgen", "-4", "-o", tmp_path / "x.nc", tmp_path / "x.cdl"], check=True)
    for name in ("e", "/e", "f", "g/f", "/g/f"):
        ran = sherd("ncdump", "-v", name, "x.nc")
        assert ran.code == 5 and ran.stderr.endswith(f"sherd: the variable '{name}' is left out: it is of a user-defined type, which Sherd does not read\n")
    assert "the dataset has no variable 'ee'" in sherd("ncdump", "-v", "ee", "x.nc").stderr
    assert "ok = " in sherd("ncdump", "-v", "ok", "x.nc").text


def test_ncml_has_control_characters_as_netcdf_c_prints_them(sherd, tmp_path):
    import netCDF4
    with netCDF4.Dataset(tmp_path / "x.nc", "w", format="NETCDF3_CLASSIC") as file:
        file.a = "".join(map(chr, range(1, 128)))
    expected = subprocess.run(["ncdump", "-x", "x.nc"], cwd=tmp_path, check=True, capture_output=True, text=True).stdout
    assert "&#12;" in expected and sherd.ok("ncdump", "-x", "x.nc").text == expected
