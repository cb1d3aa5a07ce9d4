"""How many requests a check of what a bucket has takes, counted by the server."""

import collections
import threading

import numpy as np
import pytest
import sherd
from servers import through

DATA = np.random.default_rng(5).integers(0, 60_000, (64, 64, 64)).astype("u2")


class There:
    def __init__(self, server, proxy, folder):
        self.server, self.proxy, self.bucket = server, proxy, server.create_bucket()
        self.server.put_folder(self.bucket, folder)
        self.options = {"key": server.key, "secret": server.secret, "endpoint": through(server, proxy).url, "region": server.region}

    def check(self, name, **how):
        """The report, how often each object of chunks was read, and the number of lists."""
        self.proxy.reset()
        report = sherd.check(f"s3://{self.bucket}/{name}", storage_options=self.options, **how)
        gets = [each["target"] for each in self.proxy.requests() if each["method"] == "GET"]
        lists = [each for each in gets if "list-type=2" in each]
        return report, collections.Counter(each.partition("/c/")[2] for each in gets if "/c/" in each.partition("?")[0]), lists


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("checked")
    sherd.create_array(path / "plain.zarr", shape=DATA.shape, dtype="u2", chunks=(8, 16, 16))[...] = DATA
    sherd.create_array(path / "shards.zarr", shape=DATA.shape, dtype="u2", chunks=(8, 8, 8), shards=(32, 32, 32))[...] = DATA
    return path


@pytest.fixture(params=["seaweedfs", "radosgw"])
def there(request, fault_proxy, folder):
    server = request.getfixturevalue(request.param)
    return There(server, fault_proxy(server), folder)


def test_unsharded_chunks_are_checked_by_their_list(there):
    report, read, lists = there.check("plain.zarr")
    assert report["checked"]["chunks"] == 128 and report["faults"] == [] and not read, read
    assert len(lists) == 1, lists  # not one for each directory
    there.server.put(there.bucket, "plain.zarr/c/9/9/9", b"outside")
    assert [each["code"] for each in there.check("plain.zarr")[0]["faults"]] == ["chunk_outside"]


def test_a_shard_is_checked_by_one_request(there, folder):
    report, read, lists = there.check("shards.zarr")
    assert report["checked"]["shards"] == 8 and report["faults"] == [] and len(lists) == 1
    assert len(read) == 8 and set(read.values()) == {1}, read
    damaged = bytearray((folder / "shards.zarr/c/1/0/1").read_bytes())
    damaged[-5] ^= 1
    there.server.put(there.bucket, "shards.zarr/c/1/0/1", bytes(damaged))
    faults = there.check("shards.zarr")[0]["faults"]
    assert [(each["code"], each["key"]) for each in faults] == [("index_checksum", "c/1/0/1")], faults


@pytest.mark.parametrize("change", ["replaced", "erased"])
def test_a_shard_that_changes_while_it_is_checked_has_no_faults(there, change):
    """It is listed in one version; the first request for it fails, and is repeated once it has changed."""
    there.proxy.set({"method": "GET", "target": "/c/1/0/1", "times": 1, "status": 503, "headers": {"Retry-After": "2"}})
    array = sherd.open_array(f"s3://{there.bucket}/shards.zarr", mode="r+",
                             storage_options=there.options | {"endpoint": there.server.url})
    done = []
    other = threading.Thread(target=lambda: done.append(there.check("shards.zarr")))
    other.start()
    while not any("/c/1/0/1" in each["target"] for each in there.proxy.requests()):
        pass
    if change == "replaced":
        array[...] = DATA[::-1]
    else:
        there.server.request("DELETE", f"/{there.bucket}/shards.zarr/c/1/0/1")
    other.join()
    report, read, _ = done[0]
    assert report["faults"] == [] and report["checked"]["shards"] == (8 if change == "replaced" else 7)
    assert read["1/0/1"] >= 3, "refused, of another version, and of the present one"


def test_all_bytes_are_read_with_data(there):
    report, read, _ = there.check("plain.zarr", data=True)
    assert report["faults"] == [] and len(read) == 128 and set(read.values()) == {1}, read
