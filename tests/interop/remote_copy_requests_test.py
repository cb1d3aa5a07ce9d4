"""How many requests a copy from a server takes, counted by the server."""

import collections

import numpy as np
import pytest
import sherd
from servers import through

DATA = np.random.default_rng(5).integers(0, 60_000, (64, 64, 64)).astype("u2")
RAW = {"compressors": None}


class There:
    def __init__(self, server, proxy, folder):
        self.bucket, self.proxy = server.create_bucket(), proxy
        server.put_folder(self.bucket, folder)
        self.options = {"key": server.key, "secret": server.secret, "endpoint": through(server, proxy).url, "region": server.region}

    def copy(self, name, destination, **how):
        """Copies, and returns how often each object of chunks was read."""
        self.proxy.reset()
        sherd.copy(f"s3://{self.bucket}/{name}", destination, storage_options=self.options, **how)
        paths = [each["target"].partition("?")[0] for each in self.proxy.requests() if each["method"] == "GET"]
        return collections.Counter(path.partition("/c/")[2] for path in paths if "/c/" in path)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("copied")
    create = lambda name, **how: sherd.create_array(path / name, shape=DATA.shape, dtype="u2", **how)
    create("plain.zarr", chunks=(16, 16, 16))[...] = DATA
    create("small.zarr", chunks=(8, 8, 8), shards=(32, 32, 32))[...] = DATA
    large = sherd.create_array(path / "large.zarr", shape=(512, 64, 512), dtype="u2", chunks=(64, 64, 64), shards=(512, 64, 512), **RAW)
    large[:, :, :64] = 7  # 4 MiB of a shard of 32
    return path


@pytest.fixture(params=["seaweedfs", "radosgw"])
def there(request, fault_proxy, folder):
    server = request.getfixturevalue(request.param)
    return There(server, fault_proxy(server), folder)


def test_a_copy_reads_each_chunk_by_one_request(there, folder, tmp_path):
    read = there.copy("plain.zarr", tmp_path / "copy")
    assert len(read) == 64 and set(read.values()) == {1}, read
    np.testing.assert_array_equal(sherd.open_array(tmp_path / "copy")[...], DATA)


def test_a_copy_reads_a_small_shard_by_one_request(there, tmp_path):
    read = there.copy("small.zarr", tmp_path / "copy")
    assert len(read) == 8 and set(read.values()) == {1}, read
    np.testing.assert_array_equal(sherd.open_array(tmp_path / "copy")[...], DATA)


def test_a_copy_reads_a_large_shard_after_its_index(there, tmp_path):
    read = there.copy("large.zarr", tmp_path / "copy")
    assert read["0/0/0"] <= 4, read  # 4 MiB, in parts of one window
    assert (sherd.open_array(tmp_path / "copy")[..., 60:70] == [7] * 4 + [0] * 6).all()


def test_a_copy_without_shards_reads_each_chunk_by_one_request(there, tmp_path):
    read = there.copy("small.zarr", tmp_path / "copy", chunks=(8, 8, 8), shards=())
    assert sum(read.values()) <= 512 + 8 * 16, read  # and the indexes, by those that begin together
    np.testing.assert_array_equal(sherd.open_array(tmp_path / "copy")[...], DATA)


def test_a_copy_into_shards_looks_at_each_chunk_and_reads_it(there, tmp_path):
    read = there.copy("plain.zarr", tmp_path / "copy", shards=(32, 32, 32))
    assert len(read) == 64 and set(read.values()) == {2}, read
    np.testing.assert_array_equal(sherd.open_array(tmp_path / "copy")[...], DATA)


def test_a_copy_that_encodes_again_reads_each_chunk_by_one_request(there, tmp_path):
    read = there.copy("plain.zarr", tmp_path / "copy", codecs=["bytes"])
    assert len(read) == 64 and set(read.values()) == {1}, read
    np.testing.assert_array_equal(sherd.open_array(tmp_path / "copy")[...], DATA)


def test_a_raw_copy_reads_each_object_by_one_request(there, folder, tmp_path):
    there.proxy.reset()
    sherd.copy(f"s3://{there.bucket}", tmp_path / "copy", raw=True, storage_options=there.options)
    paths = collections.Counter(each["target"].partition("?")[0] for each in there.proxy.requests())
    objects = [each for each in folder.rglob("*") if each.is_file() and each.stat().st_size < 1 << 20]
    assert {paths[f"/{there.bucket}/{each.relative_to(folder)}"] for each in objects} == {1}, paths


@pytest.mark.parametrize("format", ["zarr3", "zarr2"])
def test_a_copy_of_many_arrays_takes_few_more_round_trips(there, format, tmp_path):
    counts = []
    for number in (2, 20):
        group = sherd.create_group(tmp_path / f"{format}-{number}", format=format)
        for i in range(number):
            group.create_array(f"a{i}", shape=64, dtype="u2", chunks=16)[...] = i + 1
        url = f"s3://{there.bucket}/{format}-{number}"
        sherd.copy(tmp_path / f"{format}-{number}", url, raw=True, storage_options=there.options)
        there.proxy.set({"delay": 250})
        there.proxy.reset()
        sherd.copy(url, tmp_path / f"{format}-{number}-copy", storage_options=there.options)
        counts.append(there.proxy.counts()["round_trips"])
        there.proxy.set()
    assert counts[1] <= counts[0] + 16, counts  # 18 arrays, 72 chunks
    copied = sherd.open_group(tmp_path / f"{format}-20-copy")
    assert all((copied[f"a{i}"][...] == i + 1).all() for i in range(20))


def test_arrays_are_copied_within_a_server_without_their_bytes(request, fault_proxy, folder):
    """SeaweedFS makes a copy on condition that there is no object yet."""
    server = request.getfixturevalue("seaweedfs")
    there = There(server, fault_proxy(server), folder)
    to = f"s3://{server.create_bucket()}/copy.zarr"
    sherd.create_array(f"{to}-first", shape=4, dtype="u1", storage_options=there.options)[1:3] = 1  # it has been tried out
    for name in ("plain.zarr", "small.zarr"):
        before = there.proxy.counts()
        there.copy(name, f"{to}-{name}")
        counts = there.proxy.counts()
        assert counts["body_bytes"] - before.get("body_bytes", 0) < DATA.nbytes / 4, counts
        assert counts["request_bytes"] < DATA.nbytes / 8, counts
        np.testing.assert_array_equal(sherd.open_array(f"{to}-{name}", storage_options=there.options)[...], DATA)
