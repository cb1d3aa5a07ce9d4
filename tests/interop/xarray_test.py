"""xarray's engine="sherd" reads what engine="zarr" reads, and the same; what it opened is stored again in the same way."""

import json
import pathlib
import subprocess
import zlib

import numpy as np
import pytest
import sherd
import xarray
import zarr
from dependencies import missing

pytestmark = pytest.mark.filterwarnings("ignore")

PYTHON = pathlib.Path(__file__).resolve().parents[2] / ".venv-draft2022/bin/python"  # with zarr-python 2
# Writes a dataset with its elements as a pickle, and prints what each of the other stores has.
ZARR2 = """
import json, pickle, sys, warnings
import numpy as np, xarray
warnings.simplefilter("ignore")
folder, *others = sys.argv[1:]
dataset = xarray.Dataset(
    {"f": (("t", "x"), np.array([[1, np.nan, 3], [4, 5, 6]], "f4"), {"units": "K", "n": 3, "l": [1, 2.5]}), "i": ("x", np.array([1, 2, 3], ">i2")),
     "s": ("x", np.array(["a", "größe", ""], object)), "u": ("x", np.array(["a", "bc", ""])), "S": ("x", np.array([b"a", b"bc", b""])),
     "b": ("x", [True, False, True]), "sc": 5.0, "when": ("t", np.array(["2000-01-01", "2000-02-01"], "M8[ns]"))},
    {"x": [10, 20, 30]}, {"title": "größe"})
dataset.to_zarr(folder, encoding={"i": {"_FillValue": -9}})
dataset.to_zarr(folder, group="g", mode="a")
stored = xarray.open_zarr(folder).load()
pickle.dump({name: np.asarray(variable.values) for name, variable in stored.variables.items()}, open(folder + ".pickle", "wb"))
plain = lambda v: [x.decode() if isinstance(x, bytes) else x for x in v.values.ravel().tolist()]
opened = {other: xarray.open_zarr(other, decode_cf=False) for other in others}
print(json.dumps({other: {name: [list(v.dims), plain(v)] for name, v in each.variables.items()} for other, each in opened.items()}))
"""
DTYPES = ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "c8", "c16", "?", "U4", "S3", ">i4", ">f8"]


def values_of(generator, dtype, shape):
    kind = np.dtype(dtype).kind
    if kind in "US":
        words = np.array(["", "a", "bc", "xyz"] if kind == "S" else ["", "é", "bc", "wörd"])
        return generator.choice(words, shape).astype(dtype)
    if kind == "c":
        return (generator.normal(size=shape) + 1j * generator.normal(size=shape)).astype(dtype)
    return (generator.normal(size=shape) * 50).astype("f8").astype(dtype) if kind == "f" else generator.integers(0, 100, shape).astype(dtype)


def random_dataset(seed, zarr_format):
    """Variables of random types on random dimensions, a few of them encoded as CF describes."""
    generator = np.random.default_rng(seed)
    sizes = {name: int(generator.integers(1, 9)) for name in "xyz"}
    variables, encoding = {}, {}
    for i, dtype in enumerate(generator.permutation(DTYPES)[:8].tolist()):
        dims = [name for name in "xyz" if generator.random() < 0.6]
        shape = tuple(sizes[name] for name in dims)
        variables[f"v{i}"] = (dims, values_of(generator, dtype, shape), {"about": dtype, "list": [1, 2.5], "none": None, "deep": {"a": [1]}})
        if dims and generator.random() < 0.5:
            chunks = tuple(max(1, n // 2) for n in shape)
            encoding[f"v{i}"] = {"chunks": chunks} | ({"shards": tuple(2 * n for n in chunks)} if zarr_format == 3 else {})
    variables["packed"] = ("x", np.where(generator.random(sizes["x"]) < 0.3, np.nan, generator.integers(0, 50, sizes["x"]) * 0.5))
    encoding["packed"] = {"dtype": "i2", "scale_factor": 0.5, "add_offset": 3.0, "_FillValue": -1}
    variables["when"] = ("x", np.datetime64("2000-01-01", "ns") + generator.integers(0, 10**6, sizes["x"]).astype("m8[s]"))
    encoding["when"] = {"units": "seconds since 1999-12-31", "dtype": "i8"}
    variables["lasted"] = ("y", generator.integers(0, 1000, sizes["y"]).astype("m8[s]").astype("m8[ns]"))
    variables["texts"] = ("y", generator.choice(np.array(["", "größe", "long " * 9], object), sizes["y"]))
    coords = {"x": np.arange(sizes["x"]) * 10.0, "y": [f"n{i}" for i in range(sizes["y"])], "where": ("x", values_of(generator, "f4", (sizes["x"],)))}
    return xarray.Dataset(variables, coords, {"title": "größe", "numbers": [1, 2.5], "deep": {"a": [1, {}]}}), encoding


def same(found, expected):
    xarray.testing.assert_identical(found, expected)
    assert list(found.variables) and set(found.variables) == set(expected.variables)
    for name, variable in expected.variables.items():
        assert found[name].dtype == variable.dtype, name
        for key in ("chunks", "shards", "_FillValue", "fill_value", "scale_factor", "add_offset", "units", "calendar"):
            np.testing.assert_equal(found[name].encoding.get(key), variable.encoding.get(key), f"{name}.{key}")


@pytest.mark.parametrize("consolidated", [True, False])
@pytest.mark.parametrize("zarr_format", [2, 3])
@pytest.mark.parametrize("seed", range(6))
def test_what_xarray_writes_is_read_as_by_zarr_python(tmp_path, seed, zarr_format, consolidated):
    dataset, encoding = random_dataset(seed, zarr_format)
    dataset.to_zarr(tmp_path / "x.zarr", zarr_format=zarr_format, encoding=encoding, consolidated=consolidated)
    for decoding in ({}, {"decode_cf": False}, {"mask_and_scale": False}, {"decode_times": False}, {"drop_variables": ["v0", "x"]}):
        expected = xarray.open_dataset(tmp_path / "x.zarr", engine="zarr", consolidated=consolidated, **decoding)
        same(xarray.open_dataset(tmp_path / "x.zarr", engine="sherd", **decoding), expected)


@pytest.mark.parametrize("consolidated", [True, False])
def test_attributes_that_json_lacks_are_numbers_and_stay_so(tmp_path, consolidated):
    attributes = {"missing_value": np.float32("nan"), "valid_range": [float("nan"), 1.0], "never": [float("nan")] * 2, "least": -np.inf, "word": "NaN"}
    xarray.Dataset({"a": ("x", np.array([1, np.nan], "f4"), attributes)}, attrs={"largest": np.inf}).to_zarr(
        tmp_path / "x.zarr", zarr_format=2, consolidated=consolidated, encoding={"a": {"compressors": [__import__("numcodecs").Zlib(3)]}})
    expected = xarray.open_dataset(tmp_path / "x.zarr", engine="zarr", consolidated=consolidated)
    opened = xarray.open_dataset(tmp_path / "x.zarr", engine="sherd")
    same(opened, expected)
    opened.to_zarr(tmp_path / "y.zarr", zarr_format=2)
    opened.to_netcdf(tmp_path / "y.nc")
    same(xarray.open_dataset(tmp_path / "y.zarr", engine="zarr"), expected)
    for copy in ("z.zarr", "z.nc"):
        sherd.netcdf.copy(tmp_path / "x.zarr", tmp_path / copy)
        found = sherd.netcdf.open_dataset(tmp_path / copy)["a"].attributes
        assert all(np.asarray(found[name]).dtype == "f8" for name in ("missing_value", "valid_range", "never", "least")), found
        assert np.isnan(found["missing_value"]) and np.isneginf(found["least"]) and found["word"] == "NaN"


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_what_was_opened_is_stored_with_its_chunks_shards_and_codecs(tmp_path, zarr_format):
    generator = np.random.default_rng(zlib.crc32(b"round trip"))
    dataset = xarray.Dataset({"a": (("y", "x"), generator.normal(size=(50, 70)).astype("f4"))}, {"x": np.arange(70)})
    layout = {"chunks": (5, 10)} | ({"shards": (20, 40)} if zarr_format == 3 else {})
    codec = zarr.codecs.GzipCodec(level=3) if zarr_format == 3 else __import__("numcodecs").Zlib(3)
    dataset.to_zarr(tmp_path / "a.zarr", zarr_format=zarr_format, encoding={"a": layout | {"compressors": [codec]}})
    for chunks in (None, {}):
        opened = xarray.open_dataset(tmp_path / "a.zarr", engine="sherd", chunks=chunks)
        opened.to_zarr(tmp_path / "b.zarr", zarr_format=zarr_format, mode="w")
        first, second = zarr.open_array(tmp_path / "a.zarr/a"), zarr.open_array(tmp_path / "b.zarr/a")
        assert (first.chunks, first.shards, first.compressors, first.filters) == (second.chunks, second.shards, second.compressors, second.filters)
        xarray.testing.assert_identical(xarray.open_dataset(tmp_path / "b.zarr", engine="sherd"), dataset)


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_trees_are_those_of_zarr_python(tmp_path, zarr_format):
    tree = xarray.DataTree.from_dict({
        "/": xarray.Dataset({"a": ("x", [1, 2])}, {"x": [10, 20]}, {"level": 0}),
        "/g": xarray.Dataset({"b": (("x", "y"), np.ones((2, 3)))}, attrs={"level": 1}), "/g/h": xarray.Dataset({"c": 5}),
        "/empty": xarray.Dataset(attrs={"nothing": "here"})})
    tree.to_zarr(tmp_path / "t.zarr", zarr_format=zarr_format)
    for group in (None, "g", "/g/h/"):
        found = xarray.open_datatree(tmp_path / "t.zarr", engine="sherd", group=group)
        expected = xarray.open_datatree(tmp_path / "t.zarr", engine="zarr", group=group)
        xarray.testing.assert_identical(found, expected)
    groups = xarray.open_groups(tmp_path / "t.zarr", engine="sherd")
    assert list(groups) == ["/", "/empty", "/g", "/g/h"] and groups["/g"].attrs == {"level": 1}
    for group in ("g", "/g/h"):
        xarray.testing.assert_identical(xarray.open_dataset(tmp_path / "t.zarr", engine="sherd", group=group),
                                        xarray.open_dataset(tmp_path / "t.zarr", engine="zarr", group=group))


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_every_way_of_indexing_selects_the_same_elements(tmp_path, zarr_format):
    values = np.random.default_rng(7).integers(0, 1000, (11, 13, 5))
    texts = np.array([f"t{i}" for i in range(11)], object)
    xarray.Dataset({"a": (("x", "y", "z"), values), "t": ("x", texts)}).to_zarr(
        tmp_path / "a.zarr", zarr_format=zarr_format, encoding={"a": {"chunks": (3, 4, 5)}})
    x, y = xarray.DataArray([0, 9, -1, 3], dims="p"), xarray.DataArray([12, 0, 5, 5], dims="p")
    mask = np.arange(13) % 3 == 1
    for key in ({}, {"x": 4}, {"x": -1, "z": slice(None, None, -2)}, {"x": slice(9, 2, -3)}, {"y": [3, 3, -1]}, {"y": mask},
                {"x": [5, 1], "y": [2, 0, 12]}, {"x": x, "y": y}, {"x": x, "y": y, "z": 1}, {"x": x, "y": y, "z": slice(1, 4)}, {"x": x},
                {"x": slice(3, 3)}, {"y": []}, {"x": xarray.DataArray([[0, 1], [2, 3]], dims=("p", "q"))}):
        opened = [xarray.open_dataset(tmp_path / "a.zarr", engine=engine) for engine in ("sherd", "zarr")]
        found, expected = (each.isel(key).load() for each in opened)
        xarray.testing.assert_identical(found, expected)


def test_arrays_whose_dimensions_have_no_names_are_read(tmp_path):
    # engine="zarr" refuses them; here the dimensions are anonymous, as in NCZarr.
    group = zarr.create_group(tmp_path / "g.zarr", zarr_format=3, attributes={"by": "zarr-python"})
    group.create_array("a", shape=(4, 6), dtype="i4", chunks=(2, 3))[:] = np.arange(24).reshape(4, 6)
    group.create_array("b", shape=(6,), dtype="c8")
    with pytest.raises(KeyError):
        xarray.open_dataset(tmp_path / "g.zarr", engine="zarr")
    found = xarray.open_dataset(tmp_path / "g.zarr", engine="sherd")
    assert found["a"].dims == ("_Anonymous_Dim_4", "_Anonymous_Dim_6") and found["b"].dims == ("_Anonymous_Dim_6",)
    assert found["a"].values.tolist() == np.arange(24).reshape(4, 6).tolist() and found.attrs == {"by": "zarr-python"}


def test_xarray_over_zarr_python_2_reads_what_is_written_and_is_read(tmp_path):
    if not PYTHON.is_file():
        missing("zarr-python 2.18.2 in .venv-draft2022")
    expected = {"v": [["t", "x"], [1.0, -9.0, 3.0, 4.0]], "i": [["x"], [5, 6]], "letters": [["x"], ["a", "b"]], "words": [["x"], ["größe", ""]],
                "scalar": [["_scalar_"], [2.5]]}
    for mode in ("nczarr", "zarr"):
        with sherd.netcdf.create_dataset(tmp_path / f"{mode}.zarr", mode=mode) as writer:
            writer.create_dimension("t", None)
            writer.create_dimension("x", 2)
            writer.create_variable("v", "float", ("t", "x"), fill_value=-9, deflate_level=1, shuffle=True)[:] = [[1, -9], [3, 4]]
            writer.create_variable("i", "int64", "x", endian="big")[:] = [5, 6]
            writer.create_variable("letters", "char", "x")[:] = "ab"
            writer.create_variable("words", str, "x")[:] = ["größe", ""]
            writer.create_variable("scalar", "double")[...] = 2.5
    written = [str(tmp_path / f"{mode}.zarr") for mode in ("nczarr", "zarr")]
    ran = subprocess.run([PYTHON, "-c", ZARR2, tmp_path / "old.zarr", *written], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    assert json.loads(ran.stdout) == {path: expected for path in written}
    stored = np.load(tmp_path / "old.zarr.pickle", allow_pickle=True)
    for group in (None, "g"):
        found = xarray.open_dataset(tmp_path / "old.zarr", engine="sherd", group=group)
        xarray.testing.assert_identical(found, xarray.open_dataset(tmp_path / "old.zarr", engine="zarr", group=group))
        for name, values in stored.items():
            np.testing.assert_array_equal(found[name].values.astype(values.dtype), values)


def test_missing_times_of_numpy_are_missing_for_readers_of_netcdf(tmp_path):
    import netCDF4
    group = zarr.open_group(tmp_path / "x.zarr", mode="w", zarr_format=2)
    times = np.array(["2000-01-01", "NaT", "2000-01-03"], "M8[s]")
    array = group.create_array("t", shape=3, chunks=2, dtype=times.dtype, compressors=None)
    array[:], array.attrs["_ARRAY_DIMENSIONS"] = times, ["x"]
    same(xarray.open_dataset(tmp_path / "x.zarr", engine="sherd"), xarray.open_dataset(tmp_path / "x.zarr", engine="zarr", consolidated=False))
    for copy in ("copy.nc", "copy.zarr"):
        sherd.netcdf.copy(tmp_path / "x.zarr", tmp_path / copy)
        found = xarray.open_dataset(tmp_path / copy, engine="netcdf4" if copy == "copy.nc" else "sherd")
        np.testing.assert_array_equal(found["t"].values.astype("M8[s]"), times)
    assert netCDF4.Dataset(tmp_path / "copy.nc")["t"][:].mask.tolist() == [False, True, False]
