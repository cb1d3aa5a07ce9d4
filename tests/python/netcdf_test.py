"""sherd.netcdf: datasets with netCDF's data model."""

import gc
import json
import weakref

import nczarr
import numpy as np
import pytest
import xarray

import sherd
import sherd.netcdf

DATASET = nczarr.Dataset(
    {"t": (3,), "x": 4},
    {"v": ("int", ["t", "x"], np.arange(12).reshape(3, 4), {"units": ("char", "m"), "range": ("short", [0, 11])}),
     "scalar": ("double", [], [2.5], {}), "letters": ("char", ["x"], [b"abc"], {}),
     "names": ("string", ["t"], ["one", "", "größe"], {"one": ("float", 0.5), "texts": ("string", ["a", "b"])})},
    {"title": ("char", "root")},
    {"g": nczarr.Dataset({"y": 2}, {"w": ("ubyte", ["y"], [1, 2], {})}, {"about": ("int64", 7)})})


@pytest.fixture
def folder(tmp_path):
    nczarr.write(DATASET, tmp_path / "x.zarr")
    return tmp_path / "x.zarr"


def test_a_dataset_has_groups_dimensions_variables_and_attributes(folder):
    dataset = sherd.netcdf.open_dataset(folder)
    assert dataset.generation == "v2b" and dataset.format == "zarr2" and dataset.warnings == []
    assert list(dataset.variables) == ["v", "scalar", "letters", "names"] and list(dataset.groups) == ["g"]
    assert dataset.dimensions["t"].unlimited and len(dataset.dimensions["t"]) == 3
    assert dataset.attributes == {"title": "root"} and dataset["g"].attributes == {"about": 7}
    variable = dataset["v"]
    assert variable.type == "int" and variable.shape == (3, 4) and [d.name for d in variable.dimensions] == ["t", "x"]
    assert variable.attributes["units"] == "m" and variable.attributes["range"].tolist() == [0, 11]
    assert variable.attribute_types == {"units": "char", "range": "short"}
    assert dataset["names"].attributes["texts"] == ["a", "b"] and dataset["names"].attributes["one"].dtype == np.float32
    assert dataset["g/w"].full_name == "/g/w" and "g/w" in dataset and "g/z" not in dataset
    assert dataset["scalar"][...] == 2.5 and dataset["scalar"].shape == ()
    assert dataset["letters"][:].tolist() == [b"a", b"b", b"c", b""]
    assert dataset["names"][:].tolist() == ["one", "", "größe"]
    assert dataset["v"].array.shape == (3, 4)
    with pytest.raises(KeyError):
        dataset["g/z"]


@pytest.mark.parametrize("key", [..., 1, -1, (0, 2), (slice(None), -1), (slice(None, None, -1), slice(3, 0, -2)), (slice(1, 1), 0),
                                 (..., slice(1, 3)), (1, ...), (slice(0, 3, 2), slice(None, 99, 3))], ids=str)
def test_a_variable_is_indexed_as_numpy_does(folder, key):
    expected = np.arange(12, dtype="i4").reshape(3, 4)[key]
    found = sherd.netcdf.open_dataset(folder)["v"][key]
    assert np.array_equal(found, expected) and found.shape == expected.shape and found.dtype == expected.dtype


def test_an_index_that_does_not_fit_is_an_error(folder):
    variable = sherd.netcdf.open_dataset(folder)["v"]
    for key in (3, (0, 4), (0, 0, 0)):
        with pytest.raises(IndexError):
            variable[key]
    with pytest.raises(TypeError):
        variable[[0, 1]]
    assert np.array_equal(np.asarray(variable), np.arange(12).reshape(3, 4))


def test_modes_are_those_of_a_url(folder):
    assert sherd.netcdf.open_dataset(folder, mode="zarr").generation == "pure"
    assert sherd.netcdf.open_dataset(f"file://{folder}#mode=zarr,file").generation == "pure"
    assert ".zdim_4" in sherd.netcdf.open_dataset(folder, mode="zarr", compat="seed").dimensions
    with pytest.raises(sherd.InvalidArgument, match="zip"):
        sherd.netcdf.open_dataset(folder, mode="zip")
    with pytest.raises(sherd.InvalidArgument, match="is a directory, and cannot be opened as zip"):
        sherd.netcdf.open_dataset(f"{folder}#mode=zip")
    with pytest.raises(sherd.NotFound):
        sherd.netcdf.open_dataset(folder / "none")


@pytest.mark.parametrize("fragment, meant", [("#mode=zar", "zarr"), ("#mod=zarr", "mode=zarr"), ("#mode:zarr", "mode=zarr"), ("#mode", "mode=nczarr")])
def test_a_misspelled_fragment_is_refused_with_what_it_means(folder, tmp_path, fragment, meant):
    wrong = f"{tmp_path}/y.zarr{fragment}"
    for call in (lambda: sherd.netcdf.open_dataset(f"{folder}{fragment}"), lambda: sherd.netcdf.create_dataset(wrong),
                 lambda: sherd.netcdf.copy(folder, wrong), lambda: sherd.netcdf.edit_dataset(f"{folder}{fragment}"),
                 lambda: xarray.open_dataset(f"{folder}{fragment}", engine="sherd")):
        with pytest.raises(sherd.InvalidArgument, match=f"did you mean '{meant}'"):
            call()
    assert [p.name for p in tmp_path.iterdir()] == ["x.zarr"]


@pytest.mark.parametrize("name", ["y.nc", "y.nc4", "y.cdf"])
@pytest.mark.parametrize("mode", ["", "zarr"])
def test_a_new_dataset_does_not_have_the_name_of_a_file(folder, tmp_path, name, mode):
    with pytest.raises(sherd.InvalidArgument, match=rf"'.*{name}' is the name of a netCDF file.*y\.zarr, or .*{name}#mode=nczarr"):
        sherd.netcdf.create_dataset(tmp_path / name, mode=mode)
    assert not (tmp_path / name).exists()
    sherd.netcdf.create_dataset(f"{tmp_path}/{name}#mode=nczarr").close()
    assert (tmp_path / name / ".zgroup").is_file()
    sherd.netcdf.copy(folder, tmp_path / f"other_{name}")
    assert (tmp_path / f"other_{name}").is_file()


def test_a_dataset_is_dumped_and_says_what_it_lacks(folder):
    (folder / "v/.zarray").write_text(json.dumps({"zarr_format": 2}))
    dataset = sherd.netcdf.open_dataset(folder)
    assert len(dataset.warnings) == 1 and "/v" in dataset.warnings[0]
    assert dataset.dump(header_only=True).startswith("netcdf x {\ndimensions:\n\tt = UNLIMITED ; // (3 currently)\n")


def test_a_path_that_begins_with_a_slash_begins_at_the_root(folder):
    dataset = sherd.netcdf.open_dataset(folder)
    group = dataset["g"]
    assert group["/v"].full_name == "/v" and group["/g/w"].full_name == "/g/w" and group["w"].full_name == "/g/w"
    assert "/w" not in group and "v" not in group
    assert dataset["/"] is dataset and group["/"] is dataset and dataset["/g/"].path == "/g"
    for path in ("", "g//w", "/g/z", "v/w", "\ud800", "v\0"):
        with pytest.raises(KeyError):
            dataset[path]
        assert path not in dataset


def test_looking_up_one_node_makes_only_its_handle(tmp_path, monkeypatch):
    with sherd.netcdf.create_dataset(tmp_path / "x.zarr") as new:
        for i in range(3):
            new.create_variable(f"v{i}", "int")
            new.create_group(f"g{i}").create_variable("w", "int")
    dataset, made = sherd.netcdf.open_dataset(tmp_path / "x.zarr"), []
    for kind in (sherd.netcdf.Variable, sherd.netcdf.Group):
        monkeypatch.setattr(kind, "__init__", counted(kind.__init__, made))
    assert dataset["v1"].name == "v1" and dataset["g2/w"].full_name == "/g2/w" and dataset["g0"].path == "/g0"
    assert [type(each).__name__ for each in made] == ["Variable", "Variable", "Group"]


def counted(init, made):
    def replaced(self, *arguments):
        made.append(self)
        init(self, *arguments)

    return replaced


def test_a_dimension_is_true_whatever_its_length(tmp_path):
    (tmp_path / ".zgroup").write_text(json.dumps(
        {"zarr_format": 2, "_nczarr_group": {"dims": {"none": 0, "many": 2**62}, "vars": [], "groups": []}}))
    dimensions = sherd.netcdf.open_dataset(tmp_path).dimensions
    assert dimensions["none"] and len(dimensions["none"]) == 0
    assert dimensions["many"] and dimensions["many"].length == 2**62
    assert len(dimensions["many"]) == 2**62


def test_a_dataset_is_released_with_its_last_reference(folder):
    dataset = sherd.netcdf.open_dataset(folder)
    gone, group = weakref.ref(dataset), dataset["g"]
    gc.disable()
    try:
        del dataset
        assert group["/g/w"].full_name == "/g/w" and group["/"] is gone()
        del group
        assert gone() is None
    finally:
        gc.enable()
