"""Values by id and annotations that are built straight into a bucket, and read back by Sherd and by tensorstore."""

import json

import numpy as np
import pytest
import sherd
import tensorstore
from interop.remote_datasets import Place
from servers import through
from shardings import sharding
from sherd import neuroglancer as ng

SERVERS = ("radosgw", "seaweedfs", "swift")  # Swift has no conditions, but stores whole shards
SHARDING = sharding("murmurhash3_x86_128", (0, 2, 1), "gzip", "raw")
RNG = np.random.default_rng(5)
VALUES = {int(id): RNG.bytes(int(size)) for id, size in zip(RNG.integers(0, 1 << 60, 200), RNG.integers(0, 150_000, 200), strict=True)}
TABLE = "id,x,y,z,score,segment\n7,1,2,3,0.5,17 18\n9,30,20,10,0.25,\n"


@pytest.fixture(params=SERVERS)
def there(request, command):
    """A new bucket."""
    server = request.getfixturevalue(request.param)
    name = server.create_bucket()
    options = {"key": server.key, "secret": server.secret, "endpoint_url": server.url, "region": server.region, "part_bytes": 5 << 20}
    command.environment |= server.environment()
    return Place(f"s3://{name}", options, server.environment(), server, name)


def objects_of(there, below):
    listed = there.server.client().list_objects_v2(Bucket=there.bucket, Prefix=below).get("Contents", [])
    return {each["Key"].removeprefix(below): there.server.get(there.bucket, each["Key"]).body for each in listed}


def files_of(folder):
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def read_by_tensorstore(there, path, monkeypatch):
    for name, value in there.environment.items():
        monkeypatch.setenv(name, value)
    base = {"driver": "s3", "bucket": there.bucket, "path": f"{path}/", "endpoint": there.server.url, "aws_region": "us-east-1",
            "aws_credentials": {"type": "environment"}}  # fmt: skip
    store = tensorstore.KvStore.open({"driver": "neuroglancer_uint64_sharded", "metadata": SHARDING, "base": base}).result()
    return {id: store.read(id.to_bytes(8, "big")).result().value for id in VALUES}


def test_built_shards_in_a_bucket_are_those_of_files(there, monkeypatch, tmp_path):
    """Shards of 7 MiB, which are sent in parts, of more values than the memory holds."""
    for url, config in ((tmp_path / "values", {}), (there / "values", {"storage_options": there.options})):
        report = ng.build(url, SHARDING, VALUES.items(), memory="8MiB", config=config)
        assert report["ids"] == 200 and report["shards"] == 2
    assert objects_of(there, "values/") == files_of(tmp_path / "values")
    assert there.server.client().list_multipart_uploads(Bucket=there.bucket).get("Uploads", []) == []
    store = ng.ShardedStore(there / "values", SHARDING, config={"storage_options": there.options})
    assert store.get_many(list(VALUES)) == list(VALUES.values()) and store.get(1) is None
    assert sherd.check(there / "values", data=True, sharding=SHARDING, storage_options=there.options)["ok"]
    assert read_by_tensorstore(there, "values", monkeypatch) == VALUES


def test_a_build_into_a_bucket_replaces_shards_only_if_it_may(there):
    config = {"storage_options": there.options}
    build = lambda values, **how: ng.build(there / "values", SHARDING, values.items(), config=config, **how)
    build({1: b"old", 2: b"old"})
    before = objects_of(there, "values/")
    with pytest.raises(sherd.Conflict, match="the shard exists already"):
        build({1: b"new", 2: b"new"})
    assert objects_of(there, "values/") == before
    build({1: b"new", 2: b"new"}, overwrite=True)
    assert ng.ShardedStore(there / "values", SHARDING, config=config).get_many([1, 2]) == [b"new", b"new"]


def test_the_command_builds_values_in_a_bucket(there, command):
    names = []
    for id, value in list(VALUES.items())[:20]:
        (command.folder / str(id)).write_bytes(value)
        names.append(json.dumps({"id": id, "path": str(id)}))
    arguments = ("kv", "build", there / "values", "--sharding", json.dumps(SHARDING))
    assert command.ok(*arguments, "--json", input="\n".join(names).encode()).json["ids"] == 20
    for id, value in list(VALUES.items())[:20:7]:
        assert command.ok("kv", "get", there / "values", str(id), "--sharding", json.dumps(SHARDING)).stdout == value
    ran = command(*arguments, input="\n".join(names).encode())
    assert ran.code == 6 and "the shard exists already" in ran.stderr


@pytest.mark.parametrize("how", [[], ["--sharding", "none"]])
def test_the_command_builds_annotations_in_a_bucket(there, command, how):
    arguments = ["--type", "point", "--resolution", "8,8,40", "--property", "score:float32", "--relationship", "segment", *how]
    for url in ("synapses", there / "synapses"):
        command.ok("annotations", "build", url, *arguments, input=TABLE.encode())
        assert command.ok("check", url, "--data", "--json").json["ok"]
    assert objects_of(there, "synapses/") == files_of(command.folder / "synapses")
    found = ng.Collection(there / "synapses", config={"storage_options": there.options}).read(7)
    assert found.geometry.tolist() == [1, 2, 3] and found.properties["score"] == 0.5 and found.related["segment"].tolist() == [17, 18]


@pytest.mark.parametrize("name", ["radosgw", "seaweedfs"])
def test_a_build_sends_each_shard_once_and_reads_none(request, fault_proxy, name):
    server = request.getfixturevalue(name)
    proxy = fault_proxy(server)
    options = {"key": server.key, "secret": server.secret, "endpoint": through(server, proxy).url, "region": server.region}
    ng.build(f"s3://{server.create_bucket()}/values", SHARDING, VALUES.items(), config={"storage_options": options})
    total = sum(map(len, VALUES.values()))
    counts = proxy.counts()
    assert total <= counts["request_bytes"] <= 1.01 * total and counts["body_bytes"] < 10_000, counts
