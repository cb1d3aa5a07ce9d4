"""xarray.open_dataset(engine="sherd"): what is read when, modes and groups, volumes, pickles and errors."""

import asyncio
import inspect
import pickle
import subprocess
import sys
import warnings

import dask
import nczarr
import netCDF4
import numpy as np
import pytest
import sherd
import xarray
import zarr

pytestmark = pytest.mark.filterwarnings("ignore::zarr.errors.UnstableSpecificationWarning", "ignore:Consolidated metadata")

VALUES = np.arange(64 * 48, dtype="i4").reshape(64, 48)


@pytest.fixture
def path(tmp_path):
    """A consolidated dataset: `a` in shards of 32 x 16 with chunks of 8 x 8, without coordinates."""
    group = sherd.create_group(tmp_path / "x.zarr", attributes={"title": "t"})
    group.create_array("a", data=VALUES, chunks=(8, 8), shards=(32, 16), dimension_names=("y", "x"), attributes={"units": "K"})
    sherd.consolidate_metadata(tmp_path / "x.zarr")
    return tmp_path / "x.zarr"


@pytest.fixture
def noted(tmp_path):
    """A dataset of NCZarr, and the netCDF-4 file with the same contents."""
    dataset = nczarr.Dataset(
        {"t": (3,), "x": 4, "n": 5},
        {"v": ("int", ["t", "x"], np.arange(12).reshape(3, 4), {"units": ("char", "m"), "range": ("short", [0, 11])}),
         "packed": ("short", ["x"], [1, 2, -9, 4], {"_FillValue": ("short", -9), "scale_factor": ("double", 0.5)}),
         "t": ("double", ["t"], [0.0, 1.0, 2.5], {"units": ("char", "days since 2000-01-01")}),
         "scalar": ("double", [], [2.5], {}), "letters": ("char", ["x", "n"], [b"abc", b"", b"vwxyz", b"d"], {}),
         "names": ("string", ["t"], ["one", "", "größe"], {"one": ("float", 0.5)}), "bytes": ("byte", ["x"], [1, -2, 3, 4], {})},
        {"title": ("char", "root"), "number": ("int64", 7)},
        {"g": nczarr.Dataset({"y": 2}, {"w": ("ubyte", ["y", "x"], np.arange(8).reshape(2, 4), {})}, {"about": ("int64", 7)})})
    nczarr.write(dataset, tmp_path / "n.nczarr")
    nczarr.netcdf4_file(dataset, tmp_path / "n.nc")
    return tmp_path / "n.nczarr"


def opened(path, **options):
    return xarray.open_dataset(path, engine="sherd", **options)


def run(text, *arguments):
    return subprocess.run([sys.executable, "-c", text, *arguments], check=True, capture_output=True, text=True).stdout.strip()


def test_sherd_does_not_import_xarray_but_xarray_knows_sherd():
    assert run("import sherd, sys; print('xarray' in sys.modules, 'dask' in sys.modules)") == "False False"
    assert "sherd" in xarray.backends.list_engines()


def requested(log):
    return [(request["op"], request["key"]) for request in log.requests]


def test_a_consolidated_dataset_opens_in_one_request_without_elements(path):
    with sherd.record() as log:
        dataset = opened(path)
    assert requested(log) == [("get", "zarr.json"), ("list", "")] and log.stats["chunks_decoded"] == 0
    assert dataset["a"].dims == ("y", "x") and dataset["a"].attrs == {"units": "K"} and dataset.attrs == {"title": "t"}
    with sherd.record() as log:
        assert dataset["a"][9, 9].item() == VALUES[9, 9]
    assert log.stats["chunks_decoded"] == 1


def test_a_consolidated_dataset_of_zarr_2_is_opened_by_that_alone(noted):
    sherd.consolidate_metadata(noted)
    with sherd.record() as log:
        dataset = opened(noted, decode_times=False, create_default_indexes=False)
    assert requested(log) == [("get", "zarr.json"), ("get", ".zmetadata"), ("list", ""), ("list", "g/")]
    assert dataset.attrs == {"title": "root", "number": 7} and dataset["v"].dims == ("t", "x")


def test_only_index_coordinates_are_read_when_a_dataset_is_opened(path):
    group = sherd.open_group(path, mode="r+")
    group.create_array("x", data=np.arange(48.0), chunks=(48,), dimension_names=("x",))
    group.create_array("names", data=np.array(["a"] * 48, object), dtype="string", dimension_names=("x",))
    sherd.consolidate_metadata(path)
    with sherd.record() as log:
        dataset = opened(path)
    assert [request["key"] for request in log.requests if "/c" in request["key"]] == ["x/c/0"]
    assert dataset["a"].sel(x=7.0, y=3).item() == VALUES[3, 7]
    with sherd.record() as log:
        opened(path, create_default_indexes=False)
    assert log.stats["chunks_decoded"] == 0


def test_chunks_of_dask_are_shards_and_are_read_by_many_threads(path):
    dataset = opened(path, chunks={})
    assert dataset["a"].chunks == ((32, 32), (16, 16, 16))
    assert dataset["a"].encoding["chunks"] == (8, 8) and dataset["a"].encoding["shards"] == (32, 16)
    with dask.config.set(scheduler="threads", num_workers=8):
        assert (dataset["a"].chunk({"y": 5, "x": 7}).compute().values == VALUES).all()
        assert dataset["a"].sum().compute().item() == VALUES.sum()
    with sherd.record() as log, dask.config.set(scheduler="synchronous"):
        dataset["a"].sum().compute()
    assert log.stats["chunks_decoded"] == 48  # each once


def test_dask_reads_in_other_processes(path):
    dataset = opened(path, chunks={})
    with dask.config.set({"scheduler": "processes", "num_workers": 2, "multiprocessing.context": "spawn"}):
        assert (dataset["a"].compute().values == VALUES).all()


def test_elements_are_read_asynchronously(path):
    dataset = asyncio.run(opened(path).load_async())
    assert (dataset["a"].values == VALUES).all()


@pytest.mark.parametrize("decode_cf", [True, False])
def test_nczarr_is_read_as_the_netcdf_file_with_the_same_contents(noted, decode_cf):
    for group in (None, "g"):
        expected = xarray.open_dataset(noted.with_suffix(".nc"), engine="netcdf4", group=group, decode_cf=decode_cf)
        found = opened(noted, group=group, decode_cf=decode_cf)
        types = [{k: v.dtype for k, v in each.variables.items() if k != "names"} for each in (found, expected)]
        assert types[0] == types[1]
        xarray.testing.assert_identical(found, expected)
        assert all(type(found.attrs[name]) is type(value) for name, value in expected.attrs.items())
    assert opened(noted).encoding["unlimited_dims"] == {"t"}
    tree = xarray.open_datatree(noted, engine="sherd", decode_cf=decode_cf)
    xarray.testing.assert_identical(tree, xarray.open_datatree(noted.with_suffix(".nc"), engine="netcdf4", decode_cf=decode_cf))


def test_every_selection_of_texts_and_scalars_of_nczarr_is_read(noted):
    dataset = opened(noted)
    assert dataset["names"].values.tolist() == ["one", "", "größe"] and dataset["names"][::-2].values.tolist() == ["größe", "one"]
    assert dataset["names"][[2, 2, 0]].values.tolist() == ["größe", "größe", "one"] and dataset["names"][1].item() == ""
    assert dataset["letters"].values.tolist() == [b"abc", b"", b"vwxyz", b"d"] and dataset["letters"][2].item() == b"vwxyz"
    assert dataset["scalar"].shape == () and dataset["scalar"].item() == 2.5


def test_texts_without_dimensions_are_read_in_pure_zarr(tmp_path):
    with sherd.netcdf.create_dataset(tmp_path / "x.zarr", mode="zarr") as writer:
        writer.create_variable("word", str)[...] = "größe"
        writer.create_variable("letter", "char")[...] = "q"
    assert opened(tmp_path / "x.zarr")["word"].item() == "größe" and opened(tmp_path / "x.zarr")["letter"].item() == b"q"


def test_modes_are_those_of_a_url(noted):
    assert opened(noted)["v"].dims == ("t", "x") and opened(f"{noted}#mode=nczarr,file")["v"].dims == ("t", "x")
    anonymous = ("_Anonymous_Dim_3", "_Anonymous_Dim_4")
    for found in (opened(noted, mode="zarr"), opened(f"{noted}#mode=zarr"), opened(f"file://{noted}#mode=zarr"), opened(f"[mode=zarr]{noted}")):
        assert found["v"].dims == anonymous and "_nczarr_attr" not in found["v"].attrs
        assert pickle.loads(pickle.dumps(found)).identical(found)
    assert opened(noted, mode="zarr", compat="seed")["v"].dims == (".zdim_3", ".zdim_4")
    with pytest.raises(sherd.InvalidArgument, match="zip"):
        opened(noted, mode="zip")


def test_noxarray_ignores_the_names_that_xarray_stores(tmp_path):
    xarray.Dataset({"a": (("y", "x"), [[1, 2]])}).to_zarr(tmp_path / "a.zarr", zarr_format=2)
    assert opened(tmp_path / "a.zarr")["a"].dims == ("y", "x")
    for found in (opened(tmp_path / "a.zarr", mode="noxarray"), opened(f"{tmp_path}/a.zarr#mode=nczarr,noxarray")):
        assert found["a"].dims == ("_Anonymous_Dim_1", "_Anonymous_Dim_2")


def test_the_fill_value_of_zarr_masks_as_asked_for(tmp_path):
    array = sherd.create_array(tmp_path / "a.zarr", name="a", shape=4, dtype="i2", fill_value=7, dimension_names=["x"])
    array[:2] = 1
    assert opened(tmp_path / "a.zarr")["a"].dtype == "i2"
    masked = opened(tmp_path / "a.zarr", use_zarr_fill_value_as_mask=True)["a"]
    assert np.isnan(masked.values).tolist() == [False, False, True, True] and masked.encoding["_FillValue"] == 7


def test_a_volume_is_a_dataset_for_each_scale(tmp_path):
    generator = np.random.default_rng(3)
    values = generator.integers(0, 255, (100, 90, 30, 1), "u1")
    volume = sherd.neuroglancer.create_precomputed(
        tmp_path / "em", type="image", dtype="uint8",
        scales=[{"size": [100, 90, 30], "resolution": [8, 8, 40], "encoding": "raw", "sharding": "auto"},
                {"size": [50, 45, 30], "resolution": [16, 16, 40], "encoding": "raw", "voxel_offset": [1, 2, 3]}])
    volume[...] = values
    dataset = opened(tmp_path / "em", chunks={})
    assert dataset["data"].dims == ("x", "y", "z", "channel") and (dataset["data"].values == values).all()
    assert dataset["data"].encoding["preferred_chunks"] == dict(zip("x y z channel".split(), volume.shards))
    assert dataset.attrs["resolution"] == [8, 8, 40]
    coarse = opened(tmp_path / "em", group="16_16_40")
    assert coarse["data"].shape == (50, 45, 30, 1) and coarse.attrs["voxel_offset"] == [1, 2, 3]
    tree = xarray.open_datatree(tmp_path / "em", engine="sherd")
    assert list(tree.children) == ["8_8_40", "16_16_40"] and tree.attrs["type"] == "image" and not tree.data_vars
    assert (pickle.loads(pickle.dumps(dataset))["data"].values == values).all()
    assert opened(tmp_path / "em/16_16_40")["data"].shape == (50, 45, 30, 1)
    with pytest.raises(FileNotFoundError, match="no scale '4_4_4' .*8_8_40, 16_16_40"):
        opened(tmp_path / "em", group="4_4_4")


def test_an_array_alone_is_a_dataset_of_one_variable(tmp_path):
    sherd.create_array(tmp_path / "alone", data=np.arange(5), dimension_names=["x"])
    assert opened(tmp_path / "alone")["data"].values.tolist() == [0, 1, 2, 3, 4]


def test_a_dataset_in_a_store_is_read_and_cannot_be_pickled():
    store = sherd.MemoryStore()
    sherd.create_group(store).create_array("a", data=np.arange(3.0), dimension_names=["x"])
    for chunks in (None, {}):
        dataset = opened(store, chunks=chunks)
        assert dataset["a"].values.tolist() == [0, 1, 2]
        with pytest.raises(sherd.InvalidArgument, match="cannot be pickled"):
            pickle.dumps(opened(store))


def test_a_pickle_opens_the_dataset_where_it_is_loaded(path):
    data = pickle.dumps(opened(path, storage_options={"follow_symlinks": False}))
    text = "import pickle, sys; d = pickle.load(open(sys.argv[1], 'rb')); print(d['a'].values.sum(), d['a'].attrs)"
    file = path.parent / "pickle"
    file.write_bytes(data)
    assert run(text, file) == f"{VALUES.sum()} {{'units': 'K'}}"


def test_a_variable_of_a_pickle_is_found_without_the_others(tmp_path, monkeypatch):
    from sherd import _xarray_source

    group = sherd.create_group(tmp_path / "x.zarr").create_group("g/h")
    for i in range(3):
        group.create_array(f"v{i}", data=np.full(2, i), dimension_names=["x"])
        group.create_array(f"c{i}", data=np.full(2, i * 1j), dimension_names=["x"])
    dataset = opened(tmp_path / "x.zarr", group="g/h")
    data = pickle.dumps(dataset)
    del dataset
    monkeypatch.setattr(_xarray_source.Opened, "group", None)  # makes all nodes
    dataset = pickle.loads(data).load()
    assert [dataset[f"v{i}"].values.tolist() for i in range(3)] == [[0, 0], [1, 1], [2, 2]]
    assert [dataset[f"c{i}"].values.tolist() for i in range(3)] == [[0, 0], [1j, 1j], [2j, 2j]]


def test_repeated_slashes_in_the_path_of_a_group_are_one(tmp_path):
    sherd.create_group(tmp_path / "x.zarr").create_group("a/b").create_array("v", data=[1, 2], dimension_names=["x"])
    for group in ("a/b", "a//b", "//a///b/"):
        assert opened(tmp_path / "x.zarr", group=group)["v"].values.tolist() == [1, 2]
        assert list(xarray.open_datatree(tmp_path / "x.zarr", engine="sherd", group=group).variables) == ["v"]


def test_a_pickle_has_the_options_of_its_store(path):
    dataset = opened(path, storage_options={"follow_symlinks": False})
    data = pickle.dumps(dataset)
    assert b"follow_symlinks" in data
    del dataset
    assert (pickle.loads(data)["a"].values == VALUES).all()


def test_what_replaced_a_pickled_dataset_is_a_conflict(path):
    dataset = opened(path)
    data = pickle.dumps(dataset)
    del dataset
    sherd.create_array(path, name="a", shape=(3, 3), dtype="i4", dimension_names=("y", "x"), overwrite=True)
    sherd.consolidate_metadata(path)
    with pytest.raises(sherd.Conflict, match="'a' .* has been replaced"):
        pickle.loads(data)["a"].load()


def test_errors_are_those_that_users_of_xarray_expect(path):
    with pytest.raises(FileNotFoundError, match="does not exist"):
        opened(path.parent / "none.zarr")
    with pytest.raises(FileNotFoundError, match="no group '/g' .* its groups: none"):
        opened(path, group="g")
    with pytest.raises(FileNotFoundError, match="no group '/a'"):
        opened(path, group="a")
    with pytest.raises(FileNotFoundError):
        xarray.open_datatree(path, engine="sherd", group="g")
    with pytest.raises(TypeError, match="filename_or_obj must be a path"):
        opened(7)
    with pytest.raises(TypeError, match="unexpected keyword"):
        opened(path, grup="g")
    with pytest.raises(sherd.InvalidArgument, match="did you mean 'durable'"):
        opened(path, storage_options={"durabel": True})


def test_only_what_no_other_engine_opens_is_claimed_without_engine(path, tmp_path, noted):
    from sherd._xarray import SherdBackendEntrypoint

    guess = SherdBackendEntrypoint().guess_can_open
    sherd.neuroglancer.create_precomputed(tmp_path / "em", type="image", dtype="uint8", scales=[{"size": [1, 1, 1], "resolution": [1, 1, 1]}])
    (tmp_path / "other").mkdir()
    for zarr_format in (2, 3):
        sherd.create_array(tmp_path / f"array{zarr_format}", data=VALUES, zarr_format=zarr_format)
    for yes in (noted, str(noted), f"file://{noted}", f"{path}#mode=zarr", tmp_path / "em", tmp_path / "array2", tmp_path / "array3", sherd.MemoryStore(),
                "https://host/a#mode=nczarr,s3"):
        assert guess(yes), yes
    for no in (path, f"file://{path}", tmp_path / "other", tmp_path / "none", "a.nc", "none.zarr", "https://host/a", "https://host/a.zarr", "s3://a/b.zarr",
               "memory://a.zarr", b"", 7, None):
        assert not guess(no), no
    assert xarray.open_dataset(noted)["v"].dims == ("t", "x")
    assert xarray.open_dataset(noted, consolidated=False)["v"].dims == ("t", "x")


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_zarr_without_engine_is_left_to_zarr_python(tmp_path, zarr_format):
    dataset = xarray.Dataset({"a": (("y", "x"), VALUES)})
    for url in (str(tmp_path / "x.zarr"), f"memory://{tmp_path.name}/{zarr_format}.zarr"):
        dataset.to_zarr(url, zarr_format=zarr_format)
        assert xarray.backends.plugins.guess_engine(url) == "zarr"
        for options in ({}, {"consolidated": False}, {"consolidated": True}, {"chunks": {}}):
            xarray.testing.assert_identical(xarray.open_dataset(url, **options).load(), dataset)


def test_sherd_opens_all_zarr_where_zarr_python_is_missing(path):
    text = "import sys; sys.modules['zarr'] = None; import xarray; print(xarray.open_dataset(sys.argv[1])['a'].sum().item())"
    assert run(text, str(path)) == str(VALUES.sum())


def test_arrays_that_xarray_has_no_type_for_are_a_warning(path):
    optional = {"name": "optional", "configuration": {"name": "int16", "configuration": {}}}
    sherd.create_array(path, name="g/o", shape=(3,), dtype=optional)
    sherd.consolidate_metadata(path)
    with pytest.warns(UserWarning, match="/g/o of .* is left out: xarray has no type for optional elements"):
        assert not opened(path, group="g").variables
    with pytest.warns(UserWarning, match="/g/o of"):
        xarray.open_datatree(path, engine="sherd")
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        assert list(opened(path)) == ["a"]


def test_arguments_of_engine_zarr_are_accepted(path, tmp_path):
    shown = opened(path, mode="r", consolidated=True, zarr_format=3, cache_members=False)
    xarray.testing.assert_identical(shown, xarray.open_dataset(path, engine="zarr", mode="r", consolidated=True, zarr_format=3, cache_members=False))
    sherd.create_array(path, name="late", data=VALUES, dimension_names=("y", "x"))
    (path / "zarr.json").write_text((path / "zarr.json").read_text().replace('"late"', '"lost"'))  # not in the consolidated metadata
    assert sorted(opened(path, consolidated=False)) == sorted(xarray.open_dataset(path, engine="zarr", consolidated=False)) == ["a", "late"]
    assert sorted(xarray.open_datatree(path, engine="sherd", consolidated=False, zarr_format=3)) == ["a", "late"]
    assert sorted(pickle.loads(pickle.dumps(opened(path, consolidated=False)))) == ["a", "late"]
    for engine in ("sherd", "zarr"):
        with pytest.raises(FileNotFoundError):
            xarray.open_dataset(path, engine=engine, zarr_format=2)


def test_every_argument_of_engine_zarr_is_known(path):
    names = {call: set(inspect.signature(getattr(xarray.backends.list_engines()["zarr"], call)).parameters) - {"engine"}
             for call in ("open_dataset", "open_groups_as_dict")}  # xarray.open_dataset() has an `engine` of its own
    for name in names["open_dataset"] - {"filename_or_obj", "store"}:
        opened(path, **{name: inspect.signature(xarray.backends.list_engines()["zarr"].open_dataset).parameters[name].default})
    for name in names["open_groups_as_dict"] - {"filename_or_obj"}:
        xarray.open_datatree(path, engine="sherd", **{name: None if name != "mode" else "r"})
    opened(path, store=None)
    with pytest.raises(sherd.InvalidArgument, match="store: is an object of engine=.zarr.; name the dataset by the first argument"):
        opened(path, store=xarray.backends.ZarrStore.open_group(path))


@pytest.mark.parametrize("zarr_format", [2, 3])
@pytest.mark.parametrize("concat_characters", [False, True])
def test_characters_that_are_missing_in_nczarr_are_missing(tmp_path, zarr_format, concat_characters):
    with sherd.netcdf.create_dataset(tmp_path / "x.zarr", zarr_format=zarr_format) as dataset:
        dataset.create_dimension("x", 3)
        dataset.create_variable("c", "char", "x", fill_value="u")[:] = [b"a", b"u", b"c"]
    sherd.netcdf.copy(tmp_path / "x.zarr", tmp_path / "x.nc")
    found, expected = (xarray.open_dataset(tmp_path / name, engine=engine, concat_characters=concat_characters)["c"]
                       for name, engine in (("x.zarr", "sherd"), ("x.nc", "netcdf4")))
    xarray.testing.assert_identical(found, expected)
    assert found.encoding["_FillValue"] == expected.encoding["_FillValue"] == b"u"


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_texts_of_attributes_end_before_their_final_nuls(tmp_path, zarr_format):
    group = zarr.open_group(tmp_path / "x.zarr", mode="w", zarr_format=zarr_format, attributes={"title": "x\0"})
    time = group.create_array("time", shape=(3,), dtype="f8", **({"dimension_names": ["time"]} if zarr_format == 3 else {}))
    time.attrs.update({"units": "days since 2000-01-01", "calendar": "standard\0"})
    if zarr_format == 2:
        time.attrs["_ARRAY_DIMENSIONS"] = ["time"]
    time[:] = [1, 2, 3]
    with xarray.open_dataset(tmp_path / "x.zarr", engine="sherd") as opened:
        assert opened["time"].dt.day.values.tolist() == [2, 3, 4] and opened.attrs["title"] == "x"


@pytest.mark.parametrize("decode_cf", [True, False])
def test_a_netcdf_file_is_read_as_by_engine_netcdf4(noted, decode_cf):
    file = noted.with_suffix(".nc")
    for group in (None, "g"):
        expected = xarray.open_dataset(file, engine="netcdf4", group=group, decode_cf=decode_cf)
        found = opened(file, group=group, decode_cf=decode_cf)
        types = [{k: v.dtype for k, v in each.variables.items() if k != "names"} for each in (found, expected)]
        assert types[0] == types[1]
        xarray.testing.assert_identical(found, expected)
    assert opened(file).encoding["unlimited_dims"] == {"t"} and opened(file)["v"].encoding["preferred_chunks"] == expected_chunks(file, "v")
    assert opened(file, chunks={})["v"].data[1:, ::2].compute().tolist() == [[4, 6], [8, 10]]
    assert pickle.loads(pickle.dumps(opened(file)))["names"][[2, 0]].values.tolist() == ["größe", "one"]
    with pytest.raises(FileNotFoundError, match="no dataset of Zarr v2 is at .*, which is a netCDF file"):
        opened(file, zarr_format=2)


def test_variables_that_are_not_read_of_a_netcdf_file_are_warned_of(tmp_path):
    with netCDF4.Dataset(tmp_path / "x.nc", "w") as file:
        file.createDimension("t", 2)
        file.createVariable("v", "f4", ("t",))[:] = [1, 2]
        file.createVariable("e", file.createEnumType("u1", "colour", {"red": 0}), ("t",))[:] = 0
    with pytest.warns(UserWarning, match="x.nc: /e: the variable is left out: it is of a user-defined type, which Sherd does not read"):
        assert list(opened(tmp_path / "x.nc").variables) == ["v"]


def expected_chunks(file, name):
    with xarray.open_dataset(file, engine="netcdf4") as dataset:
        return dataset[name].encoding["preferred_chunks"]
