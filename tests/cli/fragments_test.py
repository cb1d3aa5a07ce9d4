"""Names of datasets whose fragment is misspelled are refused, with what is meant: they would be names of directories."""

import pytest

TEXT = b"netcdf x { dimensions: y = 2 ; variables: int v(y) ; data: v = 1, 2 ; }"
MISSPELLED = {"#mod=zarr": "mode=zarr", "#mode:zarr": "mode=zarr", "#mode": "mode=nczarr", "#nczarr,file": "mode=nczarr,file"}


@pytest.mark.parametrize("fragment", MISSPELLED)
def test_a_misspelled_fragment_is_refused_with_what_it_means(sherd, tmp_path, fragment):
    sherd.ok("ncgen", "-o", "x.zarr", input=TEXT)
    for command in (["ncgen", "-o", "y.zarr" + fragment], ["ncdump", "x.zarr" + fragment], ["nccopy", "x.zarr", "y.zarr" + fragment],
                    ["nccopy", "x.zarr" + fragment, "y.zarr"]):
        ran = sherd(*command, input=TEXT)
        assert ran.code == 2 and f"'{fragment[1:]}'" in ran.stderr and f"did you mean '{MISSPELLED[fragment]}'?" in ran.stderr
    assert [p.name for p in tmp_path.iterdir()] == ["x.zarr"]


@pytest.mark.parametrize("name", ["x#mod=zarr", "x.zarr#mode", "x.zarr#mode:zarr"])
def test_an_existing_directory_may_have_a_name_that_resembles_a_fragment(sherd, tmp_path, name):
    sherd.ok("ncgen", "-o", "a.zarr", input=TEXT)
    (tmp_path / "a.zarr").rename(tmp_path / name)
    assert "v = 1, 2 ;" in sherd.ok("ncdump", name).text
    sherd.ok("nccopy", name, "y.zarr")
    sherd.ok("ncgen", "-o", name, input=TEXT.replace(b"1, 2", b"3, 4"))
    assert "v = 3, 4 ;" in sherd.ok("ncdump", name).text
    assert sorted(p.name for p in tmp_path.iterdir()) == sorted([name, "y.zarr"])


def test_a_name_with_a_hash_that_says_nothing_of_modes_is_a_name(sherd, tmp_path):
    for name in ("run#1.zarr", "run#part", "run#node=time"):
        sherd.ok("ncgen", "-o", name, input=TEXT)
        assert (tmp_path / name).is_dir()
