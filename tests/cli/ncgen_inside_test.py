"""ncgen into a hierarchy of Zarr that exists."""

import pytest

TEXT = b"netcdf x { dimensions: y = 2 ; variables: int v(y) ; data: v = 1, 2 ; }"


@pytest.mark.parametrize(("around", "other"), [("zarr2", "zarr3"), ("zarr3", "zarr2")])
def test_a_dataset_inside_a_hierarchy_has_its_version_of_zarr(sherd, tmp_path, around, other):
    sherd.ok("ncgen", "--store-format", around, "-o", "x.zarr", input=TEXT)
    ran = sherd("ncgen", "--store-format", other, "-o", "x.zarr/sub", input=TEXT)
    assert ran.code == 6 and f"a hierarchy of the format {around} exists here" in ran.stderr and "--standalone" in ran.stderr
    assert not (tmp_path / "x.zarr/sub").exists()
    sherd.ok("ncgen", "--store-format", around, "-o", "x.zarr/sub", input=TEXT)
    assert sherd.ok("ncdump", "-v", "v", "x.zarr/sub").text.count("v = 1, 2 ;") == 1
