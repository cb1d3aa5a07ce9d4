"""Every format in a zip archive: the same calls store the same objects in an archive and in a directory, step by step. A step is
a function of the path of a store; the archive is finished, and opened by another name, after each."""

import numpy as np
import pytest
import sherd
from sherd import netcdf
from sherd import neuroglancer as ng

CUBE = np.arange(16**3, dtype="u2").reshape(16, 16, 16)


def arrays(**options):
    """An array in a group: written in part and as a whole, appended to, made smaller, described, erased."""

    def create(url):
        with sherd.create_group(url, format=options["format"], attributes={"title": "t"}) as group:
            group.create_group("g").create_array("a", shape=CUBE.shape, dtype="u2", **{k: v for k, v in options.items() if k != "format"})

    def write(url):
        with sherd.open(url, mode="r+") as group:
            array = group["g/a"]
            array[...] = CUBE
            array[3:9, :5, 7] = 60000
            array[:, 8:, :] = 0

    def change(url):
        with sherd.open(url, mode="r+") as group:
            array = group["g/a"]
            array.attrs["unit"] = "nm"
            array.append(CUBE[:3])
            array.resize((17, 7, 16))
            group.attrs.update(title="u", list=[1, 2])
            group.create_array("b", data=[1.5, 2.5])

    def erase(url):
        with sherd.open(url, mode="r+") as group:
            del group["b"]

    return [create, write, change, erase]


def volume(**scale):
    def create(url):
        with ng.create_precomputed(url, type="image", dtype="u2", scales=[
                {"size": [16, 16, 16], "resolution": [8, 8, 8], "chunk_sizes": [[4, 4, 4]], "encoding": "raw", **scale}]) as array:
            array[..., 0] = CUBE

    def change(url):
        with sherd.open_array(url, mode="r+", scale=0) as array:
            array[2:6, 1:3, :, 0] = 5
            array[8:, :, :, 0] = 0

    return [create, change]


def dataset(**options):
    def create(url):
        with netcdf.create_dataset(url, **options) as made:
            made.create_dimension("t")
            made.create_dimension("x", 4)
            made.create_variable("v", "f4", ("t", "x"), chunks=(2, 4))[0:3] = np.arange(12).reshape(3, 4)
            made.create_group("inner").create_variable("s", str, "x")[:] = list("abcd")

    def change(url):
        with netcdf.edit_dataset(url) as made:
            made["v"][3:5] = 7
            made["v"].set_attribute("units", "K")
            made.create_variable("w", "i2", "x")[:] = 1

    return [create, change]


def image(format, folder):
    def create(url):
        sherd.import_(folder / "a.npy", url, axes="z,y,x", pyramid="mean:2", chunks=(8, 8, 8), format=format)

    def labels(url):
        sherd.import_(folder / "a.npy", f"{url}/labels/cells", axes="z,y,x", pyramid="mode:2", chunks=(8, 8, 8))

    return [create, labels]


SHARDING = {"@type": "neuroglancer_uint64_sharded_v1", "preshift_bits": 1, "hash": "murmurhash3_x86_128", "minishard_bits": 1, "shard_bits": 1,
            "minishard_index_encoding": "gzip", "data_encoding": "gzip"}
CASES = {
    "zarr3": arrays(format="zarr3", chunks=(4, 8, 16)),
    "zarr3-sharded": arrays(format="zarr3", chunks=(4, 4, 4), shards=(8, 8, 16)),
    "zarr3-index-first": arrays(format="zarr3", chunks=(4, 4, 4), shards=(8, 8, 16), index_location="start"),
    "zarr2": arrays(format="zarr2", chunks=(4, 8, 16)),
    "draft2022": arrays(format="draft2022", chunks=(4, 4, 4), shards=(8, 8, 8)),
    "precomputed": volume(),
    "precomputed-sharded": volume(sharding=SHARDING),
    "nczarr": dataset(zarr_format=2),
    "netcdf-zarr3": dataset(zarr_format=3),
    "ome-0.4": "zarr2",
    "ome-0.5": "zarr3",
}


def objects(url):
    store = sherd.Store(url)
    return {key: store.get(key) for key in store.keys()}


@pytest.mark.parametrize("case", CASES)
def test_the_same_calls_store_the_same_objects_as_in_a_directory(tmp_path, case):
    np.save(tmp_path / "a.npy", CUBE)
    steps = image(CASES[case], tmp_path) if case.startswith("ome") else CASES[case]
    for step in steps:
        for name in ("tree", "tree.zip"):
            step(tmp_path / name)
        expected = objects(tmp_path / "tree")
        assert objects(f"zip::file://{tmp_path}/tree.zip") == expected, step.__name__
        assert sherd.check(tmp_path / "tree.zip", data=True)["ok"]
    sherd.copy(tmp_path / "tree.zip", tmp_path / "copy", raw=True)
    assert objects(tmp_path / "copy") == expected
