"""What is read from servers has the elements of the files that were put there, in every format, and is what other programs
read from the same servers.

tensorstore has drivers for http, s3 and gcs. zarr-python reads through fsspec (s3fs, aiohttp) and through obstore, in an
environment of its own, since s3fs needs another botocore.
"""

import json
import pickle

import dask.array
import numpy as np
import pytest
import sherd
import sherd.dask
import tensorstore
import xarray
import zarr
from archives import zipped
from interop.remote_datasets import ARRAYS, VALUES, description, read_by_zarr

MAIN = ("nginx", "radosgw")
OTHERS = ("swift", "seaweedfs", "fake_gcs")
SUBSET = ("zarr3 sharded", "zarr2", "sharded volume", "nczarr", "zip")


@pytest.mark.parametrize(("server", "kind"), [(server, kind) for server in MAIN for kind in ARRAYS]
                         + [(server, kind) for server in OTHERS for kind in SUBSET])
def test_an_array_is_read_as_from_files(place, datasets, server, kind):
    there, path = place(server), ARRAYS[kind]
    expected = sherd.open_array(datasets / path)
    array = sherd.open_array(there / path, storage_options=there.options)
    assert (array.shape, array.dtype, array.chunks, array.shards) == (expected.shape, expected.dtype, expected.chunks, expected.shards)
    np.testing.assert_array_equal(array[...], expected[...])
    part = tuple(slice(size // 3, size // 3 + 2 + size // 2, 1 + axis) for axis, size in enumerate(array.shape))
    np.testing.assert_array_equal(array[part], expected[part])
    assert dict(array.attrs) == dict(expected.attrs)


@pytest.mark.parametrize("server", [*MAIN, *OTHERS])
def test_a_group_has_the_members_of_the_files(place, datasets, server):
    there = place(server)
    for path in ("three.zarr", "two.zarr", "nc.zarr", "three.zip"):
        group, expected = sherd.open(there / path, storage_options=there.options), sherd.open(datasets / path)
        assert sorted(group.keys()) == sorted(expected.keys())
        assert dict(group.attrs) == dict(expected.attrs)
    np.testing.assert_array_equal(sherd.open(there / "three.zarr", storage_options=there.options)["plain"][3], VALUES[3])


@pytest.mark.parametrize("server", [*MAIN, *OTHERS])
def test_values_by_id_and_images_are_read(place, datasets, server):
    there = place(server)
    config = {"storage_options": there.options}
    bones = sherd.neuroglancer.Collection(there / "skeletons", config=config)
    expected = sherd.neuroglancer.Collection(datasets / "skeletons")
    for id in (1, 7, 2**40):
        np.testing.assert_array_equal(bones.read(id).vertices, expected.read(id).vertices)
    assert bones.read(8) is None
    values = sherd.neuroglancer.ShardedStore(there / "skeletons", config=config)
    assert values.get_many([7, 8]) == sherd.neuroglancer.ShardedStore(datasets / "skeletons").get_many([7, 8])
    image = sherd.ome.open(there / "image.zarr", storage_options=there.options)
    assert [level.scale for level in image.levels] == [(1, 1, 1), (2, 2, 2)]
    np.testing.assert_array_equal(image.levels[1].array[...], VALUES[::2, ::2, ::2])


def test_an_open_archive_lends_its_credentials_to_no_other_handle(place):
    there = place("radosgw")
    private = sherd.open_array(there / "three.zip/plain", storage_options=there.options)
    for wrong in ({"anon": True}, {"secret": "wrong"}):
        options = {name: value for name, value in there.options.items() if "anon" not in wrong or name not in ("key", "secret")} | wrong
        with pytest.raises(sherd.Error):
            sherd.open_array(there / "three.zip/plain", storage_options=options)
    np.testing.assert_array_equal(private[3], VALUES[3])


def test_a_web_server_lists_nothing_but_says_what_helps(place):
    there = place("nginx")
    with pytest.raises(sherd.Unsupported, match="open members by their paths"):
        sherd.open(there / "bare.zarr").keys()
    assert sherd.open(there / "bare.zarr")["a"].shape == (4,)


def test_members_of_an_image_on_a_web_server_are_named_by_its_metadata(place, datasets, tmp_path):
    there = place("nginx")
    image = sherd.open(there / "image.zarr")
    assert list(image) == list(sherd.open(datasets / "image.zarr")) and image["s1"].shape == (16, 24, 32)
    sherd.copy(there / "image.zarr", tmp_path / "copy.zarr")
    assert sherd.check(tmp_path / "copy.zarr", data=True)["ok"]


@pytest.mark.parametrize("server", [*MAIN, *OTHERS])
def test_xarray_and_dask_read_from_a_url(place, datasets, server):
    there = place(server)
    with xarray.open_dataset(datasets / "nc.zarr", engine="sherd") as expected:
        expected.load()
    by_argument = xarray.open_dataset(there / "nc.zarr", engine="sherd", storage_options=there.options, chunks={})
    by_backend = xarray.open_dataset(there / "nc.zarr", engine="sherd", backend_kwargs={"storage_options": there.options})
    xarray.testing.assert_identical(by_argument.compute(scheduler="threads"), expected)
    xarray.testing.assert_identical(by_backend.load(), expected)
    tree = xarray.open_datatree(there / "nc.zarr", engine="sherd", storage_options=there.options)
    assert tree["deep/z"].values.tolist() == [1, 2, 3, 4]
    lazy = sherd.dask.from_zarr(there / "two.zarr", component="a", storage_options=there.options)
    np.testing.assert_array_equal(lazy.compute(), VALUES)
    array = dask.array.from_array(sherd.open(there / "three.zarr/plain", storage_options=there.options), chunks=(8, 16, 16))
    np.testing.assert_array_equal(array.compute(), VALUES)


def test_tasks_of_other_processes_find_credentials_in_the_environment(place, monkeypatch):
    there = place("radosgw")
    lazy = sherd.dask.from_zarr(there / "two.zarr/a", storage_options=there.options)
    for name, value in there.environment.items():
        monkeypatch.setenv(name, value)
    assert int(lazy.sum().compute(scheduler="processes", num_workers=2)) == int(VALUES.sum())


def kvstore(there, path):
    if there.server.name == "nginx":
        return {"driver": "http", "base_url": f"{there.url}/{path}/"}
    if there.server.name == "fake_gcs":
        return {"driver": "gcs", "bucket": there.bucket, "path": f"{path}/"}
    return {"driver": "s3", "bucket": there.bucket, "path": f"{path}/", "endpoint": there.server.url, "aws_region": "us-east-1",
            "aws_credentials": {"type": "environment"}}  # fmt: skip


@pytest.mark.parametrize("server", MAIN)
@pytest.mark.parametrize(("driver", "path"), [("zarr3", "three.zarr/sharded"), ("zarr3", "image.zarr/s1"), ("zarr", "two.zarr/a"),
                                              ("neuroglancer_precomputed", "em"), ("neuroglancer_precomputed", "em_sharded"),
                                              ("zarr3", "dual.zarr"), ("neuroglancer_precomputed", "dual.zarr")])
def test_tensorstore_reads_the_same_from_the_server(place, monkeypatch, server, driver, path):
    there = place(server)
    for name, value in there.environment.items():
        monkeypatch.setenv(name, value)
    peer = tensorstore.open({"driver": driver, "kvstore": kvstore(there, path)}, open=True).result()
    format = "precomputed" if driver == "neuroglancer_precomputed" else None
    array = sherd.open_array(there / path, format=format, storage_options=there.options)
    np.testing.assert_array_equal(array[...], peer.read().result())


@pytest.mark.parametrize("server", MAIN)
@pytest.mark.parametrize("through", ["fsspec", "obstore"])
def test_zarr_python_reads_the_same_from_the_server(place, server, through):
    there = place(server)
    paths = ("three.zarr/sharded", "three.zarr/plain", "two.zarr/a", "two.zarr/b", "image.zarr/s1", "dual.zarr")
    for path, answer in zip(paths, read_by_zarr(there, through, paths), strict=True):
        assert answer == description(sherd.open_array(there / path, storage_options=there.options)[...]), path


def test_zarr_python_reads_servers_through_sherds_store(place):
    there = place("radosgw")
    store = sherd.zarr_store(sherd.Store(there.url, storage_options=there.options), read_only=True)
    for path in ("three.zarr/sharded", "two.zarr/a"):
        np.testing.assert_array_equal(zarr.open_array(store, path=path, mode="r")[...], VALUES)


def test_a_store_is_a_place_on_a_server(place, datasets):
    there = place("radosgw")
    store = sherd.Store(there / "three.zarr", storage_options=there.options)
    assert json.loads(store.get("zarr.json")) == json.loads((datasets / "three.zarr/zarr.json").read_text())
    assert store.get("nothing") is None and store.size("zarr.json") == (datasets / "three.zarr/zarr.json").stat().st_size
    assert store.list_dir() == ["zarr.json", "plain/", "sharded/"]
    assert sherd.open(store, path="sharded").shape == VALUES.shape
    with pytest.raises(sherd.Unsupported, match="cannot be written"):
        sherd.Store(place("nginx") / "three.zarr").set("x", b"y")


@pytest.fixture
def presigned(datasets, fault_proxy, tmp_path, monkeypatch):
    """Handles of archives, each opened by a URL with a signature, and what they are used for."""
    for name in ("NETRC", "SHERD_STORE_QUERY"):
        monkeypatch.delenv(name, raising=False)
    proxy = fault_proxy()
    for name in ("three.zarr", "nc.zarr", "em", "skeletons"):
        zipped(datasets / name, tmp_path / "a.zip")
        proxy.put(f"b/{name}.zip", (tmp_path / "a.zip").read_bytes())
    base, query = f"{proxy.url}/b", "?X-Amz-Signature=SECRET%2F1&X-Amz-Expires=60"
    store = sherd.Store(f"{base}/three.zarr.zip{query}|zip:")
    return proxy, {
        "array": (sherd.open(f"{base}/three.zarr.zip/sharded{query}"), lambda it: it[0, 0, 0]),
        "group": (sherd.open(f"{base}/three.zarr.zip{query}"), lambda it: sorted(it.keys())),
        "by an option": (sherd.open(f"{base}/three.zarr.zip", storage_options={"query": query}), lambda it: it["plain"][0, 0, 0]),
        "store": (store, lambda it: it.get("sharded/zarr.json")),
        "its array": (sherd.open(store, path="sharded"), lambda it: it[0, 0, 0]),
        "collection": (sherd.neuroglancer.Collection(f"{base}/skeletons.zip{query}"), lambda it: it.read(7).vertices.tolist()),
        "dataset": (xarray.open_dataset(f"{base}/nc.zarr.zip{query}", engine="sherd"), lambda it: it["t"].values.tolist()),
        "volume": (xarray.open_dataset(f"{base}/em.zip{query}", engine="sherd"), lambda it: int(it["data"][0, 0, 0].sum())),
        "dask": (sherd.dask.from_zarr(f"{base}/three.zarr.zip/sharded{query}"), lambda it: it[0, 0, 0].compute()),
    }


def test_a_pickled_handle_says_that_its_presigned_query_is_missing(presigned, monkeypatch):
    proxy, uses = presigned
    pickles = {name: (pickle.dumps(handle), use(handle), use) for name, (handle, use) in uses.items()}
    handles = [repr(handle) for handle, _ in uses.values()]
    uses.clear()
    for name, (data, _, use) in pickles.items():
        assert b"SECRET" not in data, name
        with pytest.raises(sherd.InvalidArgument, match=r"query of '.*\?\.\.\..*' is missing.*storage option query") as refused:
            use(pickle.loads(data))
        assert "SHERD_STORE_QUERY" in str(refused.value) and "sherd.config.storage_options" in str(refused.value)
    assert "SECRET" not in "".join(handles)
    proxy.reset()
    monkeypatch.setenv("SHERD_STORE_QUERY", "X-Amz-Signature=SECRET%2F2")
    for name, (data, expected, use) in pickles.items():
        assert use(pickle.loads(data)) == expected, name
    assert {each["target"].partition("?")[2] for each in proxy.requests()} == {"X-Amz-Signature=SECRET%2F2"}
    monkeypatch.delenv("SHERD_STORE_QUERY")
    monkeypatch.setattr(sherd.config, "storage_options", {"query": "?X-Amz-Signature=SECRET%2F3"})
    for name, (data, expected, use) in pickles.items():
        assert use(pickle.loads(data)) == expected, name


def test_a_pickled_handle_finds_its_credentials_again(place, monkeypatch):
    there = place("radosgw")
    for name in [*there.environment, "AWS_PROFILE"]:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    options = there.options
    store = sherd.Store(there.url, storage_options=options)
    config = {"storage_options": options}
    uses = {
        "array": (sherd.open(there / "two.zarr/a", storage_options=options), lambda it: it[0, 0, 0]),
        "group": (sherd.open(there / "two.zarr", storage_options=options), lambda it: it.keys()),
        "store": (store, lambda it: it.get("em/info")),
        "its array": (sherd.open(store, path="two.zarr/a"), lambda it: it[0, 0, 0]),
        "its group": (sherd.open_group(store, path="two.zarr"), lambda it: it.keys()),
        "store of an array": (sherd.open(store, path="two.zarr/a").store, lambda it: it.get("em/info")),
        "collection": (sherd.neuroglancer.Collection(there / "skeletons", config=config), lambda it: it.read(7).vertices.tolist()),
        "its collection": (sherd.neuroglancer.Collection(store, path="skeletons"), lambda it: it.read(7).vertices.tolist()),
        "values": (sherd.neuroglancer.ShardedStore(there / "skeletons", config=config), lambda it: it.get(7)),
        "dataset": (xarray.open_dataset(there / "nc.zarr", engine="sherd", storage_options=options), lambda it: it["t"].values.tolist()),
    }
    pickles = {name: (pickle.dumps(handle), use(handle), use) for name, (handle, use) in uses.items()}
    del uses, store
    for name, (data, _, use) in pickles.items():
        with pytest.raises(sherd.InvalidArgument, match="(?s)no credentials for S3.*options: no key and secret"):
            use(pickle.loads(data))
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", there.server.key)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", there.server.secret)
    for name, (data, expected, use) in pickles.items():
        assert use(pickle.loads(data)) == expected, name
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.setattr(sherd.config, "storage_options", {"key": there.server.key, "secret": there.server.secret})
    for name, (data, expected, use) in pickles.items():
        assert use(pickle.loads(data)) == expected, name
