"""How many requests reading from a server takes, counted by the engine and by the server, and which of them wait for others."""

import os
import pathlib
import shutil
import subprocess
import sys

import numpy as np
import pytest
import sherd
import xarray
from archives import zipped
from servers import through

TESTS = pathlib.Path(__file__).parents[1]
RAW = {"compressors": None}
BIG = np.random.default_rng(1).integers(0, 60_000, (128, 128, 256)).astype("uint16")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Arrays whose shards are larger than what is read of an object at first (256 KiB), and smaller."""
    path = tmp_path_factory.mktemp("requests")
    sherd.create_array(path / "large.zarr", shape=BIG.shape, dtype="u2", chunks=(16, 16, 32), shards=(64, 64, 128), **RAW,
                       config={"chunk_order": "c"})[...] = BIG
    sherd.create_array(path / "small.zarr", shape=(32, 32, 32), dtype="u2", chunks=(8, 8, 8), shards=(32, 32, 32))[...] = BIG[:32, :32, :32]
    sherd.create_array(path / "plain.zarr", shape=BIG.shape, dtype="u2", chunks=(64, 64, 64))[...] = BIG
    for name, format in (("many3.zarr", "zarr3"), ("many2.zarr", "zarr2")):
        group = sherd.create_group(path / name, format=format, config={"durable": False})
        for i in range(2000):
            group.create_array(f"g{i // 100}_v{i:04}", shape=4, dtype="u1")
        sherd.consolidate_metadata(path / name)
        for member in group.keys():
            shutil.rmtree(path / name / member)  # the consolidated metadata describe it
    zipped(path / "large.zarr", path / "large.zip")
    return path


class Counted:
    """The requests of a block: `log` as the engine counts them, `served` as the web server or the proxy does. Others may use the
    web server meanwhile, for other buckets."""

    def __init__(self, server, bucket):
        self._server, self._bucket = server, bucket

    def _requests(self):
        return [each for each in self._server.requests() if self._bucket in each["target"]]

    def __enter__(self):
        self._before = len(self._requests())
        self._record = sherd.record()
        self.log = self._record.__enter__()
        return self

    def __exit__(self, *error):
        self._record.__exit__(*error)
        self.served = self._requests()[self._before:]

    def assert_is(self, requests, round_trips=None):
        stats = self.log.stats
        assert len(self.served) == len(self.log.requests) == requests, [each["target"] for each in self.served]
        if round_trips is not None:
            assert stats["round_trips"] == round_trips


class Served:
    def __init__(self, url, options, server, bucket):
        self.url, self.options, self._server, self._bucket = url, options, server, bucket

    def counted(self):
        return Counted(self._server, self._bucket)

    def open(self, path, format=None):
        return sherd.open(f"{self.url}/{path}", format=format, storage_options=self.options)


@pytest.fixture(scope="module")
def filled(request, folder, datasets):
    made = {}

    def of(name):
        if name not in made:
            server = request.getfixturevalue(name)
            bucket = server.create_bucket()
            server.put_folder(bucket, folder)
            server.put_folder(bucket, datasets / "nc.zarr", "nc.zarr/")
            server.put_folder(bucket, datasets / "em", "em/")
            server.put_folder(bucket, datasets / "skeletons", "skeletons/")
            made[name] = server, bucket
        return made[name]

    return of


@pytest.fixture(params=["nginx", "radosgw"])
def there(request, filled, fault_proxy):
    server, bucket = filled(request.param)
    if request.param == "nginx":
        return Served(server.at(bucket), {}, server, bucket)
    proxy = fault_proxy(server)
    options = {"key": server.key, "secret": server.secret, "endpoint": through(server, proxy).url, "region": server.region}
    return Served(f"s3://{bucket}", options, proxy, bucket)


def test_opening_takes_one_request_or_one_round_trip(there):
    for path, format in (("large.zarr", "zarr3"), ("many3.zarr", "zarr3"), ("em", "precomputed")):
        with there.counted() as named:
            there.open(path, format)
        named.assert_is(1, 1)
    for path in ("large.zarr", "many3.zarr", "many2.zarr", "em"):
        with there.counted() as sought:
            there.open(path)
        sought.assert_is(8, 1)
    with there.counted() as named:  # four documents may describe a node of Zarr v2
        there.open("many2.zarr", "zarr2")
    named.assert_is(4, 1)


def test_an_inner_chunk_takes_two_requests_and_one_if_the_index_is_known(there):
    array = there.open("large.zarr", "zarr3")
    with there.counted() as cold:
        assert array[1, 2, 3] == BIG[1, 2, 3]
    cold.assert_is(2, 2)
    with there.counted() as warm:
        assert array[20, 2, 3] == BIG[20, 2, 3]
    warm.assert_is(1, 1)


def test_a_chunk_of_a_small_shard_or_of_none_takes_one_request(there):
    for path, format in (("small.zarr", "zarr3"), ("plain.zarr", "zarr3"), ("em", "precomputed")):
        array = sherd.open_array(f"{there.url}/{path}", format=format, storage_options=there.options)
        with there.counted() as counted:
            array[(0,) * array.ndim]
        counted.assert_is(1, 1)


def test_neighbours_are_read_together(there):
    array = there.open("large.zarr", "zarr3")
    with there.counted() as box:
        np.testing.assert_array_equal(array[0:16, 0:16, 0:128], BIG[0:16, 0:16, 0:128])
    box.assert_is(2, 2)  # the index, and one run
    with there.counted() as many:
        np.testing.assert_array_equal(array[48:80, 48:80, 0:32], BIG[48:80, 48:80, 0:32])
    many.assert_is(3 + 4, 2)  # three more indexes, and a run in each shard
    with there.counted() as shard:
        np.testing.assert_array_equal(there.open("large.zarr", "zarr3")[:64, :64, :128], BIG[:64, :64, :128])
    shard.assert_is(2, 2)  # the document, and the whole shard
    with there.counted() as whole:
        np.testing.assert_array_equal(array[...], BIG)
    assert whole.log.stats["round_trips"] <= 2 and len(whole.served) <= 2 * 8


def test_a_consolidated_hierarchy_of_two_thousand_nodes_takes_one_request(there):
    for path, format, requests in (("many3.zarr", "zarr3", 1), ("many2.zarr", "zarr2", 4)):
        with there.counted() as counted:
            group = there.open(path, format)
            assert len([group[name].shape for name in group.keys()]) == 2000
        counted.assert_is(requests, 1)


def test_a_dataset_of_nczarr_is_opened_in_one_round_trip(there):
    with there.counted() as counted:
        dataset = sherd.netcdf.open_dataset(f"{there.url}/nc.zarr", config={"storage_options": there.options})
        assert list(dataset.variables) == ["t", "time"] or set(dataset.variables) == {"t", "time"}
    assert counted.log.stats["round_trips"] == 1 and len(counted.served) <= 2
    with there.counted() as counted:
        assert xarray.open_dataset(f"{there.url}/nc.zarr", engine="sherd", storage_options=there.options, decode_times=False)["t"].shape == (3, 4, 6)
    assert counted.log.stats["round_trips"] <= 2  # the values of the coordinate `time` are an index


def test_an_archive_takes_two_requests_more(there):
    with there.counted() as counted:
        array = sherd.open(f"{there.url}/large.zip", format="zarr3", storage_options=there.options)
    assert len(counted.served) <= 3  # its end, whether it is still that version, and the document
    with there.counted() as cold:
        assert array[1, 2, 3] == BIG[1, 2, 3]
    assert len(cold.served) <= 3
    with there.counted() as warm:
        assert array[20, 2, 3] == BIG[20, 2, 3]
    warm.assert_is(1, 1)


def test_a_value_by_id_takes_three_dependent_requests(there):
    with there.counted() as counted:
        bones = sherd.neuroglancer.Collection(f"{there.url}/skeletons", config={"storage_options": there.options})
    counted.assert_is(1, 1)
    with there.counted() as counted:
        assert bones.read(7) is not None
    assert len(counted.served) <= 3


def test_what_is_not_there_is_not_sought_for_long(there):
    with there.counted() as counted, pytest.raises(sherd.NotFound):
        there.open("large.zarr/nothing/here")
    looks = len([each for each in counted.served if "claim" in each["target"]])  # for unfinished copies, which a bucket may have
    assert looks <= (4 if there.url.startswith("s3:") else 0)
    assert counted.log.stats["round_trips"] <= 8 + looks


def test_a_copy_of_what_is_not_there_looks_once_for_what_is(there, tmp_path):
    with there.counted() as counted, pytest.raises(sherd.NotFound):
        sherd.copy(f"{there.url}/large.zarr/nothing/here", tmp_path / "copy", storage_options=there.options)
    looks = [each["target"] for each in counted.served if "claim" in each["target"]]
    assert sorted(looks) == sorted(set(looks))


def test_as_many_requests_are_under_way_as_the_config_says(fault_proxy, filled):
    server, bucket = filled("radosgw")
    proxy = fault_proxy(server, {"delay": 30})
    options = {"key": server.key, "secret": server.secret, "endpoint": proxy.url, "region": server.region}
    for config, most in (({"parallel_requests": 3}, 3), ({"parallel_requests": 0}, 16), ({}, 16)):
        proxy.reset()
        array = sherd.open(f"s3://{bucket}/plain.zarr", format="zarr3", config=config | {"storage_options": options})
        np.testing.assert_array_equal(array[...], BIG)
        assert proxy.counts()["most_open_requests"] == most
    proxy.reset()
    given = {"parallel_requests": 3, "storage_options": options | {"parallel_requests": 5}}
    sherd.open(f"s3://{bucket}/plain.zarr", format="zarr3", config=given)[...]
    assert proxy.counts()["most_open_requests"] == 5  # an option of the store goes before
    with pytest.raises(sherd.InvalidArgument, match="parallel_requests"):
        sherd.open("s3://b/x", config={"parallel_requests": -1})
    with pytest.raises(sherd.InvalidArgument, match="parallel_requests"):
        sherd.open("s3://b/x", storage_options={"parallel_requests": 0})


MANY_CALLS = """
import os, sys, threading, sherd
from open_files import open_files
for _ in range(2):
    threads = [threading.Thread(target=lambda: sherd.open_array(sys.argv[1], format="zarr3")[...]) for _ in range(12)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
connections = {f"socket:[{line.split()[9]}]" for line in open("/proc/net/tcp").readlines()[1:]}
print(sum(name in connections for name in open_files(os.getpid())))
"""


def test_a_process_keeps_few_connections_between_calls(filled):
    server, bucket = filled("nginx")
    done = subprocess.run([sys.executable, "-c", MANY_CALLS, server.at(bucket) + "/plain.zarr"], capture_output=True, text=True,
                          env=os.environ | {"PYTHONPATH": str(TESTS)})
    assert done.returncode == 0, done.stderr
    assert 1 <= int(done.stdout) <= 32


def test_slow_answers_overlap(fault_proxy, filled):
    server, bucket = filled("radosgw")
    proxy = fault_proxy(server, {"delay": 30})
    options = {"key": server.key, "secret": server.secret, "endpoint": proxy.url, "region": server.region}
    array = sherd.open(f"s3://{bucket}/large.zarr", format="zarr3", storage_options=options)
    proxy.reset()
    np.testing.assert_array_equal(array[::16, ::16, ::32], BIG[::16, ::16, ::32])
    assert proxy.counts()["most_open_requests"] >= 8
