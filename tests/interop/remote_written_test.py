"""What Sherd writes into a bucket: how much a change transfers, that other programs read it, in each format, and by tasks."""

import multiprocessing
import os
import signal

import dask.array
import distributed
import numpy as np
import pytest
import sherd
import tensorstore
import zarr
from interop.remote_datasets import BYTES, CDL, VALUES, Place, description, read_by_zarr
from servers import through
from shardings import sharding

SERVERS = ("radosgw", "seaweedfs")
MIB = 1 << 20


@pytest.fixture
def bucket(request):
    """bucket("radosgw"): a new bucket, as a Place."""

    def of(name):
        server = request.getfixturevalue(name)
        new = server.create_bucket()
        options = {"key": server.key, "secret": server.secret, "endpoint_url": server.url, "region": server.region}
        return Place(f"s3://{new}", options, server.environment(), server, new)

    return of


def large_shard(there):
    """A shard of 64 MiB in inner chunks of 16 KiB."""
    values = np.arange(4096 * 4096, dtype="u4").reshape(4096, 4096)
    sherd.create_array(there / "large.zarr", shape=values.shape, dtype="u4", chunks=(1, 4096), shards=values.shape, compressors=None,
                       storage_options=there.options)[...] = values
    return values


@pytest.mark.parametrize("server", SERVERS)
def test_an_erased_path_is_free_again(bucket, command, server, tmp_path):
    there = bucket(server)  # SeaweedFS lists the directories of erased objects
    command.environment |= there.environment
    group = sherd.create_group(there / "g.zarr", storage_options=there.options)
    (tmp_path / "x.cdl").write_text(CDL)
    for _ in range(2):
        group.create_array("m/a", shape=(8,), dtype="u1", chunks=(4,))[...] = 1
        del group["m"]
        assert list(group) == []
        command.ok("ncgen", "-o", there / "nc.zarr", tmp_path / "x.cdl")
        command.ok("rm", "--recursive", there / "nc.zarr")


def test_a_server_without_conditions_has_whole_nodes(bucket, command, tmp_path):
    there = bucket("swift")
    command.environment |= there.environment
    sherd.create_array(tmp_path / "a.zarr/a", shape=(8,), dtype="u1", chunks=(4,))[...] = 1
    (tmp_path / "x.cdl").write_text(CDL)
    for _ in range(2):
        command.ok("copy", tmp_path / "a.zarr/a", there / "b.zarr", "--overwrite")
        command.ok("ncgen", "-o", there / "nc.zarr", tmp_path / "x.cdl")
    assert command.ok("read", there / "b.zarr", "--format", "json").json == [1] * 8
    ran = command("resize", there / "b.zarr", "9")
    assert ran.code == 5 and "no conditional requests" in ran.stderr
    command.ok("rm", there / "b.zarr")
    assert command("info", there / "b.zarr").code == 3


@pytest.mark.parametrize("server", SERVERS)
def test_a_small_change_of_a_large_shard_transfers_little(bucket, fault_proxy, server):
    there = bucket(server)
    values = large_shard(there)
    proxy = fault_proxy(there.server)
    conditional = "yes" if server == "seaweedfs" else "probe"  # one process writes
    options = there.options | {"endpoint_url": through(there.server, proxy).url, "conditional": conditional}
    array = sherd.open_array(there / "large.zarr", mode="r+", storage_options=options)
    array[100] = values[100] = 7  # tries out what the server compares
    proxy.reset()
    with sherd.record() as log:
        array[200] = values[200] = 8
    counts, stored = proxy.counts(), [each for each in proxy.requests() if each["method"] in ("PUT", "POST")]
    if server == "seaweedfs":
        assert counts["request_bytes"] <= MIB and counts["body_bytes"] <= MIB, counts
        assert log.stats["bytes_read"] <= MIB and log.stats["bytes_written"] <= MIB, log.stats
        assert any(name.lower() == "x-amz-copy-source" for each in stored for name, _ in each["headers"])
    else:  # ignores conditions at the end of an upload
        assert len(stored) == 1 and counts["request_bytes"] >= 64 * MIB
    np.testing.assert_array_equal(sherd.open_array(there / "large.zarr", storage_options=there.options)[...], values)


def write_zarr(there, format):
    options = there.options
    group = sherd.create_group(there / "z", format=format, attributes={"title": "written"}, storage_options=options)
    group.create_array("plain", shape=VALUES.shape, dtype="u2", chunks=(8, 16, 16))[...] = VALUES
    if format == "zarr3":
        group.create_array("sharded", shape=VALUES.shape, dtype="u2", chunks=(8, 16, 16), shards=(16, 48, 32))[...] = VALUES
        group["sharded"][3:9, 5:40] = VALUES[3:9, 5:40]
    sherd.consolidate_metadata(there / "z", storage_options=options)


def kvstore(there, path):
    return {"driver": "s3", "bucket": there.bucket, "path": f"{path}/", "endpoint": there.server.url, "aws_region": "us-east-1",
            "aws_credentials": {"type": "environment"}}  # fmt: skip


def download(there, folder):
    client = there.server.client()
    for each in client.list_objects_v2(Bucket=there.bucket).get("Contents", []):
        path = folder / each["Key"]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(client.get_object(Bucket=there.bucket, Key=each["Key"])["Body"].read())


@pytest.mark.parametrize("server", SERVERS)
@pytest.mark.parametrize("format", ["zarr3", "zarr2"])
def test_zarr_python_and_tensorstore_read_what_is_written(bucket, monkeypatch, tmp_path, server, format):
    there = bucket(server)
    for name, value in there.environment.items():
        monkeypatch.setenv(name, value)
    write_zarr(there, format)
    download(there, tmp_path)
    group = zarr.open_consolidated(tmp_path / "z", mode="r")
    assert dict(group.attrs) == {"title": "written"}
    assert sorted(group.array_keys()) == (["plain", "sharded"] if format == "zarr3" else ["plain"])
    for name in group.array_keys():
        np.testing.assert_array_equal(group[name][...], VALUES)
        driver = {"zarr3": "zarr3", "zarr2": "zarr"}[format]
        peer = tensorstore.open({"driver": driver, "kvstore": kvstore(there, f"z/{name}")}, open=True).result()
        np.testing.assert_array_equal(peer.read().result(), VALUES)
    paths = [f"z/{name}" for name in group.array_keys()]
    assert read_by_zarr(there, "obstore", paths) == [description(VALUES)] * len(paths)


@pytest.mark.parametrize("server", SERVERS)
@pytest.mark.parametrize("sharded", [False, True])
def test_tensorstore_reads_the_volumes_that_are_written(bucket, monkeypatch, server, sharded):
    there = bucket(server)
    for name, value in there.environment.items():
        monkeypatch.setenv(name, value)
    scale = {"size": list(BYTES.shape[::-1]), "resolution": [8, 8, 40], "chunk_size": [16, 16, 8]}
    if sharded:
        scale["sharding"] = sharding(bits=(1, 1, 3), index="gzip", data="gzip")
    volume = sherd.neuroglancer.create_precomputed(there / "em", type="image", dtype="uint8", scales=[scale],
                                                   config={"storage_options": there.options})
    volume[..., 0] = BYTES.T
    volume[3:20, 5:30, 2:9, 0] = BYTES.T[3:20, 5:30, 2:9]
    peer = tensorstore.open({"driver": "neuroglancer_precomputed", "kvstore": kvstore(there, "em")}, open=True).result()
    np.testing.assert_array_equal(peer.read().result()[..., 0], BYTES.T)


@pytest.mark.parametrize("server", SERVERS)
@pytest.mark.parametrize("format", ["zarr3", "zarr2", "draft2022", "precomputed"])
def test_the_command_creates_writes_copies_checks_and_removes(bucket, command, datasets, server, format):
    there = bucket(server)
    command.environment |= there.environment
    path, shape, more = there / "new", "16,24,32", []
    if format == "precomputed":
        shape, more = "16,24,32,1", ["--resolution", "8,8,40", "--sharding", "auto"]
    elif format != "zarr2":
        more = ["--shards", "16,24,32"]
    command.ok("create", path, "--shape", shape, "--dtype", "u2", "--chunks", shape.replace("16", "8", 1), "--store-format", format, *more)
    np.save(command.folder / "x.npy", VALUES[:16, :24, :32].reshape([int(each) for each in shape.split(",")]))
    command.ok("write", path, "--input", "x.npy", "--store-format", format)
    command.ok("write", path, "--select", "3", "--value", "9", "--store-format", format)
    expected = np.load(command.folder / "x.npy")
    expected[3] = 9
    command.ok("copy", path, there / "copy")
    command.ok("copy", "--raw", path, there / "raw")
    command.ok("import", "x.npy", there / "imported")
    for name in ("new", "copy", "raw"):
        command.ok("read", there / name, "--store-format", format, "-o", "y.npy")
        np.testing.assert_array_equal(np.load(command.folder / "y.npy"), expected)
        assert command.ok("check", there / name, "--data", "--json").json["ok"]
    command.ok("read", there / "imported", "-o", "y.npy")
    np.testing.assert_array_equal(np.load(command.folder / "y.npy"), np.load(command.folder / "x.npy"))
    for name in ("new", "copy", "raw", "imported"):
        command.ok("rm", "--recursive", there / name)
    left = [each["Key"] for each in there.server.client().list_objects_v2(Bucket=there.bucket).get("Contents", [])]
    # A hierarchy of the draft has a document of its own, which is not that of the node.
    assert left == (["copy/zarr.json", "new/zarr.json", "raw/zarr.json"] if format == "draft2022" else [])


@pytest.mark.parametrize("server", SERVERS)
def test_ncgen_and_nccopy_write_datasets(bucket, command, datasets, server):
    there = bucket(server)
    command.environment |= there.environment
    (command.folder / "x.cdl").write_text(CDL)
    command.ok("ncgen", "-o", there / "a.zarr", "x.cdl")
    command.ok("nccopy", there / "a.zarr", there / "b.zarr")
    command.ok("nccopy", datasets / "nc.zarr", there / "c.zarr")
    expected = command.ok("ncdump", datasets / "nc.zarr").text.splitlines()[1:]
    for name in ("a", "b", "c"):
        assert command.ok("ncdump", there / f"{name}.zarr").text.splitlines()[1:] == expected
        assert command.ok("check", there / f"{name}.zarr", "--json").json["ok"]


@pytest.mark.parametrize("server", SERVERS)
@pytest.mark.parametrize("form", ["s3://s3.us-west-1.amazonaws.com/{bucket}", "s3://s3.us-west-1.amazonaws.com/{bucket}#mode=zarr",
                                  "s3://{bucket}/rootkey#mode=nczarr,awsprofile=unidata"])
def test_ncgen_writes_to_the_urls_of_the_documentation(bucket, command, server, form):
    """Its examples 3 to 5; only the endpoint is another."""
    there = bucket(server)
    keys = [f"aws_{name} = {there.environment[f'AWS_{name.upper()}']}\n" for name in ("access_key_id", "secret_access_key")]
    if "awsprofile" in form:
        (command.folder / "credentials").write_text("[unidata]\n" + "".join(keys))
        command.environment["AWS_SHARED_CREDENTIALS_FILE"] = str(command.folder / "credentials")
    else:
        command.environment |= there.environment
    command.environment["AWS_ENDPOINT_URL_S3"] = there.server.url
    url = form.format(bucket=there.bucket)
    (command.folder / "dataset.cdl").write_text(CDL)
    local = "local.zarr" + ("#mode=zarr" if "mode=zarr" in form else "")
    for dataset in (url, local):
        command.ok("ncgen", "-4", "-lb", "-o", dataset, "dataset.cdl")
    assert command.ok("ncdump", url).text.splitlines()[1:] == command.ok("ncdump", local).text.splitlines()[1:]
    stored = there.server.client().list_objects_v2(Bucket=there.bucket)["Contents"]
    documents = b"".join(there.server.get(there.bucket, each["Key"]).body for each in stored if each["Key"].endswith((".zgroup", ".zattrs")))
    assert (b"_nczarr_group" in documents) == ("mode=zarr" not in form), "pure Zarr has no notes of NCZarr"
    assert all("/rootkey/" in f"/{each['Key']}" for each in stored) == ("rootkey" in form)
    tagged = [each["Key"] for each in stored if there.server.client().get_object_tagging(Bucket=there.bucket, Key=each["Key"])["TagSet"]]
    assert tagged == []


BLOCK = 7  # rows of a task, which are not those of chunks


def write_block(url, options, first):
    sherd.open_array(url, mode="r+", storage_options=options)[first:first + BLOCK] = np.arange(first, first + BLOCK)[:, None]


def write_blocks(url, options, blocks, acknowledge):
    for first in blocks:
        write_block(url, options, first)
        os.write(acknowledge.fileno(), b".")


@pytest.mark.parametrize("server", SERVERS)
def test_unaligned_tasks_of_eight_processes_lose_nothing_if_one_is_killed(bucket, server):
    there = bucket(server)
    url, options, count, spawn = there / "a.zarr", there.options, 8, multiprocessing.get_context("spawn")
    rows = BLOCK * count * 4
    sherd.create_array(url, shape=(rows, 32), dtype="i4", chunks=(8, 32), shards=(64, 32), storage_options=options)
    tasks = {worker: range(worker * BLOCK, rows, count * BLOCK) for worker in range(count)}
    pipe, end = spawn.Pipe(duplex=False)
    workers = [spawn.Process(target=write_blocks, args=(url, options, tasks[worker], end)) for worker in tasks]
    for each in workers:
        each.start()
    os.read(pipe.fileno(), 1)
    workers[3].kill()
    for each in workers:
        each.join()
    assert [each.exitcode for each in workers if each is not workers[3]] == [0] * (count - 1)
    again = spawn.Process(target=write_blocks, args=(url, options, tasks[3], end))
    again.start()
    again.join()
    np.testing.assert_array_equal(sherd.open_array(url, storage_options=options)[...], np.broadcast_to(np.arange(rows)[:, None], (rows, 32)))


@pytest.mark.parametrize("server", SERVERS)
def test_dask_stores_unaligned_blocks_by_processes(bucket, monkeypatch, server):
    there = bucket(server)
    for name, value in there.environment.items():
        monkeypatch.setenv(name, value)
    array = sherd.create_array(there / "a.zarr", shape=(100, 32), dtype="i8", chunks=(8, 32), shards=(64, 32), storage_options=there.options)
    lazy = dask.array.arange(3200, chunks=480).reshape(100, 32).rechunk((15, 32))
    dask.array.store(lazy, array, lock=False, scheduler="processes", num_workers=2)
    np.testing.assert_array_equal(array[...].ravel(), np.arange(3200))


def has_begun(array):
    """Whether writers have stored anything. They replace shards while these are counted."""
    try:
        return array.nchunks_initialized > 0
    except sherd.Conflict:
        return True


@pytest.mark.parametrize("server", SERVERS)
def test_a_distributed_job_loses_nothing_if_a_worker_is_killed(bucket, monkeypatch, server):
    there = bucket(server)
    for name, value in there.environment.items():
        monkeypatch.setenv(name, value)
    rows = 15 * 8 * 12
    array = sherd.create_array(there / "a.zarr", shape=(rows, 32), dtype="i8", chunks=(8, 32), shards=(64, 32), storage_options=there.options)
    lazy = dask.array.arange(1, 1 + rows * 32, chunks=15 * 32).reshape(rows, 32).rechunk((15, 32))
    with (distributed.LocalCluster(n_workers=8, threads_per_worker=1, host="127.0.0.1", dashboard_address=None) as cluster,
          distributed.Client(cluster) as client):
        job = client.compute(lazy.store(array, lock=False, compute=False))
        while not has_begun(array):
            pass
        os.kill(client.run(os.getpid, workers=[cluster.workers[3].worker_address])[cluster.workers[3].worker_address], signal.SIGKILL)
        job.result()
    np.testing.assert_array_equal(array[...].ravel(), np.arange(1, 1 + rows * 32))
