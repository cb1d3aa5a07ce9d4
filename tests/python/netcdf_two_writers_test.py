"""Two writers of one netCDF dataset: elements and attributes beside each other, definitions one after the other."""

import pytest

import sherd
from sherd import netcdf


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_a_second_writer_of_definitions_gets_a_conflict(tmp_path, zarr_format):
    with netcdf.create_dataset(tmp_path / "x.zarr", zarr_format=zarr_format) as made:
        made.create_dimension("t")
        made.create_dimension("x", 4)
        made.create_variable("v", "int", "t")[:] = [1, 2]
    path, key = tmp_path / "x.zarr", {2: ".zgroup", 3: "zarr.json"}[zarr_format]
    for theirs, change in ((lambda: first.create_variable("theirs", "int", "x"), "added '/theirs'"),
                           (lambda: first["v"].__setitem__(2, 3), "changed the length of the dimension '/t' from 2 to 3")):
        first, second, third = (netcdf.edit_dataset(path) for _ in range(3))
        theirs()
        first.close()
        with pytest.raises(sherd.Conflict, match=f"'{key}': another process has {change} .*; open the dataset again"):
            second["v"][second["v"].shape[0]] = 9
        second.create_variable("mine", "int", "x")
        for _ in range(2):
            with pytest.raises(sherd.Conflict, match=f"'{key}': another process has {change} "):
                second.sync()
        third["v"][0] = 7  # elements and attributes are not definitions
        third.set_attribute("by", "third")
        third.close()
        assert not (path / "mine").exists()
    found = netcdf.open_dataset(path)
    assert found.warnings == [] and found["v"][:].tolist() == [7, 2, 3] and list(found.variables) == ["v", "theirs"]
    assert found.attributes == {"by": "third"} and sherd.check(path)["faults"] == []
