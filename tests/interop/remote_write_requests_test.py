"""How many requests writing to a bucket takes, counted by the server, and how many of them wait for one another."""

import contextlib
import subprocess

import numpy as np
import pytest
import sherd
from servers import through

RNG = np.random.default_rng(3)
RAW = {"compressors": None}


class Bucket:
    def __init__(self, server, proxy, **more):
        self.server, self.proxy = server, proxy
        self.name = server.create_bucket()
        self.url = f"s3://{self.name}"
        self.options = {"key": server.key, "secret": server.secret, "endpoint": through(server, proxy).url, "region": server.region,
                        **more}
        sherd.create_array(f"{self.url}/first.zarr", shape=4, dtype="u1", storage_options=self.options)[1:3] = 1  # it has been tried out

    def requests_of(self, action):
        before = len(self.proxy.requests())
        action()
        return [(each["method"], each["target"].partition("?")[0].partition("/")[2].partition("/")[2]) for each in self.proxy.requests()[before:]]

    @contextlib.contextmanager
    def round_trips(self):
        """The longest chain of requests that wait for each other's replies: a list of that number."""
        counted = []
        self.proxy.set({"delay": 250})  # longer than it takes to start what can be under way at the same time
        self.proxy.reset()
        yield counted
        counted.append(self.proxy.counts()["round_trips"])
        self.proxy.set()

    def run(self, *arguments):
        options = [word for name, value in self.options.items() for word in ("--store-option", f"{name}={value}")]
        done = subprocess.run(["sherd", *arguments, *options], capture_output=True, text=True)
        assert done.returncode == 0, done

    def create(self, name, **how):
        return sherd.create_array(f"{self.url}/{name}", storage_options=self.options, **how)


@pytest.fixture(params=["radosgw", "seaweedfs"])
def bucket(request, fault_proxy):
    server = request.getfixturevalue(request.param)
    return Bucket(server, fault_proxy(server))


def puts(requests):
    return [key for method, key in requests if method in ("PUT", "POST")]


def test_a_whole_chunk_or_shard_takes_one_request_and_two_for_the_call(bucket):
    for name, how in (("chunk.zarr", {"chunks": (64, 64)}), ("shard.zarr", {"chunks": (8, 8), "shards": (64, 64)})):
        array = bucket.create(name, shape=(64, 64), dtype="u2", **how)
        requests = bucket.requests_of(lambda array=array: array.__setitem__(..., 7))
        assert len(requests) == 3 and puts(requests) == [f"{name}/c/0/0"], requests
    many = bucket.create("many.zarr", shape=(64, 64), dtype="u2", chunks=(8, 8))
    requests = bucket.requests_of(lambda: many.__setitem__(..., 7))
    assert len(requests) == 2 + 64 and len(set(puts(requests))) == 64


def test_a_part_of_a_small_shard_takes_a_read_and_a_write(bucket):
    array = bucket.create("shard.zarr", shape=(64, 64), dtype="u2", chunks=(8, 8), shards=(64, 64), **RAW)
    array[...] = 1
    requests = bucket.requests_of(lambda: array.__setitem__((slice(3, 5), slice(3, 5)), 7))
    assert len(requests) == 4 and puts(requests) == ["shard.zarr/c/0/0"], requests
    assert array[4, 4] == 7 and array[5, 5] == 1


def test_a_whole_chunk_takes_two_dependent_round_trips(bucket):
    array = bucket.create("chunk.zarr", shape=(64, 64), dtype="u2", chunks=(64, 64))
    with bucket.round_trips() as counted:
        array[...] = 7
    assert counted == [2]  # the array's document; the chunk, and the document again


def test_the_engine_counts_each_request_that_a_writer_sends(bucket):
    data = RNG.integers(0, 60_000, (1024, 10240)).astype("u2")  # is sent in parts where their end can be conditional
    array = bucket.create("parts.zarr", shape=data.shape, dtype="u2", chunks=data.shape, **RAW)
    large = bucket.create("large.zarr", shape=data.shape, dtype="u2", chunks=(64, 64), shards=data.shape, **RAW)
    for change in (lambda: array.__setitem__(..., data), lambda: large.__setitem__(..., data),
                   lambda: large.__setitem__((slice(64), slice(64)), 9), lambda: array.attrs.__setitem__("x", 1)):
        with sherd.record() as log:
            sent = bucket.requests_of(change)
        assert log.stats["requests"] == len(sent), (log.stats, sent)


def test_attributes_take_a_write_and_a_look_at_the_group_above(bucket):
    array = bucket.create("a.zarr", shape=4, dtype="u1")
    requests = bucket.requests_of(lambda: array.attrs.__setitem__("x", 1))
    assert requests == [("PUT", "a.zarr/zarr.json"), ("GET", "zarr.json")]  # for consolidated metadata
    again = sherd.open_array(f"{bucket.url}/a.zarr", mode="r+", storage_options=bucket.options)
    again.attrs["y"] = 2
    requests = bucket.requests_of(lambda: array.attrs.__setitem__("z", 3))  # what it knows is stale
    assert [method for method, _ in requests] == ["PUT", "GET", "PUT", "GET"], requests
    assert dict(sherd.open_array(f"{bucket.url}/a.zarr", storage_options=bucket.options).attrs) == {"x": 1, "y": 2, "z": 3}


def test_an_append_takes_two_dependent_round_trips(bucket):
    array = bucket.create("rows.zarr", shape=(8, 64), dtype="u2", chunks=(8, 64))
    with bucket.round_trips() as counted:
        array.append(np.full((8, 64), 5, "u2"))
    assert counted == [2]  # the document; the chunk, the group above, and the document again
    assert array.shape == (16, 64) and (array[8:] == 5).all()


def test_a_part_of_a_small_shard_takes_two_dependent_round_trips(bucket):
    array = bucket.create("shard.zarr", shape=(64, 64), dtype="u2", chunks=(8, 8), shards=(64, 64), **RAW)
    array[...] = 1
    for part in ((slice(8, 16), slice(8, 16)), (slice(3, 5), slice(3, 5))):
        with bucket.round_trips() as counted:
            array[part] = 7
        assert counted == [2]  # the old shard, and the document; the new one, and the document again


def test_a_part_of_a_large_shard_takes_three_dependent_round_trips(request, fault_proxy):
    """Its upload begins while the index is read; its parts are sent together; it ends. Elements of a chunk that is not covered are
    read before it can be sent, which is the fourth."""
    server = request.getfixturevalue("seaweedfs")
    bucket = Bucket(server, fault_proxy(server), conditional="yes")
    data = RNG.integers(0, 60_000, (1024, 4096)).astype("u2")
    array = bucket.create("large.zarr", shape=data.shape, dtype="u2", chunks=(16, 512), shards=data.shape, **RAW)
    array[...] = data
    for part, round_trips in (((slice(16, 32), slice(512, 1024)), 3), ((slice(100, 103), slice(5, 600)), 4)):
        with bucket.round_trips() as counted:
            array[part] = data[part] = 9
        assert counted == [round_trips]
    np.testing.assert_array_equal(sherd.open_array(f"{bucket.url}/large.zarr", storage_options=bucket.options)[...], data)
    assert b"<Upload>" not in server.request("GET", f"/{bucket.name}?uploads").body


def test_uploads_are_not_begun_for_shards_that_turn_out_to_be_small(request, fault_proxy):
    server = request.getfixturevalue("seaweedfs")
    bucket = Bucket(server, fault_proxy(server), conditional="yes")
    array = bucket.create("sparse.zarr", shape=(1024, 4096), dtype="u2", chunks=(16, 512), shards=(1024, 4096), **RAW)
    array[:16, :512] = 1  # 16 KiB of 8 MiB
    begun = []
    for i in range(3):
        requests = bucket.requests_of(lambda i=i: array.__setitem__((slice(16 * i, 16 * i + 16), slice(512, 1024)), 7))
        begun.append(len([each for each in requests if each[0] == "POST"]))
    assert begun == [0, 0, 0], "the first change has shown it"
    assert b"<Upload>" not in server.request("GET", f"/{bucket.name}?uploads").body


# Zarr v2 has a second document, which is stored after the first.
@pytest.mark.parametrize(("format", "most"), [("zarr3", 4), ("zarr2", 5)])
def test_an_array_at_a_new_path_takes_four_dependent_round_trips(bucket, format, most):
    how = {"shape": (64, 64), "dtype": "u2", "chunks": (8, 8)}
    sherd.create_group(f"{bucket.url}/g.zarr", format=format, storage_options=bucket.options)
    sherd.create_group(f"{bucket.url}/g.zarr/h", format=format, storage_options=bucket.options)
    for path in ("a.zarr", "g.zarr/a", "g.zarr/h/a"):
        with bucket.round_trips() as counted:
            bucket.create(path, format=format, **how)
        assert counted == [most], path  # the hierarchies around it, what is there while it is listed, the document, the groups around it
    group = sherd.open_group(f"{bucket.url}/g.zarr", mode="r+", storage_options=bucket.options)
    for path in ("b", "h/b"):
        with bucket.round_trips() as counted:
            group.create_array(path, **how)
        assert counted == [most - 1], path


# In Zarr v2 attributes are a document of their own, so it is first looked at whether the node is still there.
@pytest.mark.parametrize(("format", "most"), [("zarr3", 2), ("zarr2", 3)])
def test_attributes_take_two_dependent_round_trips(bucket, format, most):
    group = sherd.create_group(f"{bucket.url}/g.zarr", format=format, storage_options=bucket.options)
    array = group.create_array("h/a", shape=4, dtype="u1", attributes={"n": 0})
    for node in (array, group["h"], group):
        node.attrs["n"] = 1
        with bucket.round_trips() as counted:
            node.attrs["n"] = 2
        assert counted == [most], node  # the document, and the groups around it, which may have consolidated metadata


def test_an_import_takes_as_many_round_trips_in_every_format(bucket, tmp_path):
    np.save(tmp_path / "x.npy", np.ones((64, 64), "u2"))
    with bucket.round_trips() as counted:
        bucket.run("import", tmp_path / "x.npy", f"{bucket.url}/imported.zarr", "--store-option", "conditional=yes")
    assert counted[0] <= 15


def test_a_chunk_is_exchanged_in_a_large_shard_without_sending_the_shard(request, fault_proxy):
    server = request.getfixturevalue("seaweedfs")
    bucket = Bucket(server, fault_proxy(server), conditional="yes")
    data = RNG.integers(0, 60_000, (256, 256, 256)).astype("u2")
    array = bucket.create("large.zarr", shape=data.shape, dtype="u2", chunks=(16, 32, 16), shards=data.shape, **RAW)
    array[...] = data
    part = (slice(16, 32), slice(32, 64), slice(0, 16))
    with sherd.record() as log:
        array[part] = data[part] = 9
    assert log.stats["bytes_read"] <= 1 << 20 and log.stats["bytes_written"] <= 1 << 20, log.stats
    np.testing.assert_array_equal(sherd.open_array(f"{bucket.url}/large.zarr", storage_options=bucket.options)[...], data)


def test_objects_are_copied_between_buckets_by_the_server(bucket):
    array = bucket.create("a.zarr", shape=(512, 512), dtype="u2", chunks=(256, 256), **RAW)
    array[...] = data = RNG.integers(0, 60_000, (512, 512)).astype("u2")
    to = f"s3://{bucket.server.create_bucket()}"
    sent = bucket.proxy.counts()
    if bucket.server.name == "radosgw":  # it copies on no condition, so small new objects are sent instead
        bucket.run("copy", "--raw", "--overwrite", f"{bucket.url}/a.zarr", f"{to}/b.zarr")
    else:
        bucket.run("copy", "--raw", f"{bucket.url}/a.zarr", f"{to}/b.zarr")
    moved = {name: bucket.proxy.counts()[name] - sent[name] for name in ("body_bytes", "request_bytes")}
    assert sum(moved.values()) < data.nbytes / 4, moved
    np.testing.assert_array_equal(sherd.open_array(f"{to}/b.zarr", storage_options=bucket.options)[...], data)


def test_a_copy_between_buckets_takes_a_request_per_object(request, fault_proxy):
    """SeaweedFS makes a copy only if the object does not exist yet. The documents are copied after the chunks."""
    server = request.getfixturevalue("seaweedfs")
    bucket = Bucket(server, fault_proxy(server))
    array = bucket.create("a.zarr", shape=(512, 512), dtype="u2", chunks=(128, 256), **RAW)
    array[...] = data = RNG.integers(0, 60_000, (512, 512)).astype("u2")
    to = f"s3://{server.create_bucket()}"
    sherd.create_array(f"{to}/first.zarr", shape=4, dtype="u1", storage_options=bucket.options)[1:3] = 1  # it has been tried out
    copy = lambda name: sherd.copy(f"{bucket.url}/a.zarr", f"{to}/{name}", raw=True, storage_options=bucket.options)
    with sherd.record() as log:
        sent = bucket.requests_of(lambda: copy("b.zarr"))
    assert sorted(method for method, _ in sent) == ["DELETE"] + ["GET"] * 4 + ["PUT"] * 10 and log.stats["requests"] == len(sent), sent
    with bucket.round_trips() as counted:
        copy("c.zarr")
    assert counted == [4]  # the claim and the lists; chunks; documents; the end of the claim, which was confirmed beside them
    for name in ("b.zarr", "c.zarr"):
        np.testing.assert_array_equal(sherd.open_array(f"{to}/{name}", storage_options=bucket.options)[...], data)


def test_check_names_an_upload_that_was_left_and_rm_removes_it(bucket):
    bucket.create("a.zarr", shape=(4, 4), dtype="u1", chunks=(4, 4))[...] = 1
    began = bucket.server.request("POST", f"/{bucket.name}/a.zarr/c/0/0?uploads")
    assert began.status == 200
    faults = sherd.check(f"{bucket.url}/a.zarr", storage_options=bucket.options)["faults"]
    assert [(each["code"], each["key"]) for each in faults] == [("unfinished_upload", "c/0/0")], faults
    bucket.run("rm", f"{bucket.url}/a.zarr")
    assert b"<Upload>" not in bucket.server.request("GET", f"/{bucket.name}?prefix=a.zarr&uploads").body


def test_a_repair_gives_up_uploads_that_were_left_below_a_node_only(bucket):
    for name in ["a.zarr", "b.zarr"]:
        bucket.create(name, shape=(4, 4), dtype="u1", chunks=(4, 4))[...] = 1
        assert bucket.server.request("POST", f"/{bucket.name}/{name}/c/0/0?uploads").status == 200
    report = sherd.repair(f"{bucket.url}/a.zarr", storage_options=bucket.options)
    assert report["ok"] and report["faults"] == []
    assert [(each["action"], each["key"]) for each in report["repaired"]] == [("upload_removed", "c/0/0")]
    left = bucket.server.request("GET", f"/{bucket.name}?uploads").body
    assert b"b.zarr/c/0/0" in left and b"a.zarr" not in left


def test_a_torn_shard_is_repaired_in_a_bucket_and_its_old_version_kept(bucket):
    array = bucket.create("torn.zarr", shape=(64, 64), dtype="u2", chunks=(8, 8), shards=(64, 64))
    array[...] = data = RNG.integers(0, 60_000, (64, 64)).astype("u2")
    path = f"/{bucket.name}/torn.zarr/c/0/0"
    whole = bucket.server.request("GET", path).body
    assert bucket.server.request("PUT", path, body=whole + whole[:777]).status == 200
    url = f"{bucket.url}/torn.zarr"
    assert not sherd.check(url, storage_options=bucket.options)["ok"]
    (done,) = sherd.repair(url, storage_options=bucket.options)["repaired"]
    assert (done["action"], done["backup"]) == ("tail_cut", "c/0/0.sherd-backup")
    assert bucket.server.request("GET", path).body == whole
    assert bucket.server.request("GET", f"{path}.sherd-backup").body == whole + whole[:777]
    np.testing.assert_array_equal(sherd.open_array(url, storage_options=bucket.options)[...], data)


def test_shards_in_a_bucket_are_compacted(bucket):
    array = bucket.create("dead.zarr", shape=(256, 256), dtype="u2", chunks=(64, 64), shards=(256, 256))
    url = f"{bucket.url}/dead.zarr"
    data = RNG.integers(0, 60_000, (256, 256)).astype("u2")
    array[...] = data
    whole = bucket.server.request("GET", f"/{bucket.name}/dead.zarr/c/0/0").body
    index = len(whole) - (16 * 16 + 4)
    assert bucket.server.request("PUT", f"/{bucket.name}/dead.zarr/c/0/0", body=whole[:index] + bytes(5000) + whole[index:]).status == 200
    assert sherd.check(url, storage_options=bucket.options)["space"]["dead"] == 5000
    assert sherd.compact(url, storage_options=bucket.options) == {"reclaimed": 5000, "shards": 1}
    assert bucket.server.request("GET", f"/{bucket.name}/dead.zarr/c/0/0").body == whole
    assert sherd.compact(url, storage_options=bucket.options) == {"reclaimed": 0, "shards": 0}
    np.testing.assert_array_equal(sherd.open_array(url, storage_options=bucket.options)[...], data)


def test_a_handle_finds_at_once_how_long_others_have_made_the_array(bucket):
    old = bucket.create("grown.zarr", shape=(32,), dtype="u1", chunks=(16,))
    old[...] = 1
    other = sherd.open_array(f"{bucket.url}/grown.zarr", mode="r+", storage_options=bucket.options)
    other.append(np.full(16, 2, "u1"))
    old[-16:] = 7
    assert old.shape == (48,)
    assert [other[0], other[20], other[40]] == [1, 1, 7]
