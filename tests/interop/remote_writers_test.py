"""Many processes change one object in a bucket: nothing is lost, and no conflict is shown. Each process makes 200 updates of
chunks, attributes, values and rows on one server, and 10 on the other; SHERD_UPDATES=200 makes as many of everything everywhere."""

import multiprocessing
import os

import numpy as np
import pytest
import sherd
from interop.remote_writers import KINDS, WORKERS, Chunks, Rows, expected, work

FEW, MANY = 10, 200
MANY_ON = {"chunks": "radosgw", "attributes": "seaweedfs", "values": "seaweedfs", "rows": "seaweedfs"}  # where these take less time
SPAWN = multiprocessing.get_context("spawn")
SERVERS = ("radosgw", "seaweedfs")


@pytest.fixture
def bucket(request):
    """bucket("radosgw"): the URL of a new bucket, and storage options."""

    def of(name):
        server = request.getfixturevalue(name)
        options = {"key": server.key, "secret": server.secret, "endpoint": server.url, "region": server.region}
        return f"s3://{server.create_bucket()}/new", options

    return of


class Workers:
    """Processes that update the same thing; `acknowledged` is what each has reported."""

    def __init__(self, kind, url, options, count, workers=range(WORKERS)):
        self.pipes, self.processes = {}, {}
        for worker in workers:
            self.pipes[worker], end = SPAWN.Pipe(duplex=False)
            self.processes[worker] = SPAWN.Process(target=work, args=(kind, url, options, worker, count, end))
            self.processes[worker].start()
            end.close()
        self.acknowledged = dict.fromkeys(workers, b"")

    def wait_for(self, worker, count):
        """Until it has acknowledged so many, or has ended."""
        while len(self.acknowledged[worker]) < count:
            more = os.read(self.pipes[worker].fileno(), 1000)
            if not more:
                return
            self.acknowledged[worker] += more

    def kill(self, worker):
        self.processes[worker].kill()
        self.end(worker)

    def end(self, worker):
        self.wait_for(worker, 1 << 60)
        self.processes[worker].join()

    def end_all(self):
        for worker in self.processes:
            self.end(worker)


@pytest.mark.parametrize("server", SERVERS)
@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "largeshard"])
def test_updates_of_eight_processes_are_all_there(bucket, server, kind):
    url, options = bucket(server)
    count = int(os.environ.get("SHERD_UPDATES", MANY if MANY_ON.get(kind) == server else FEW))
    KINDS[kind].create(url, options)
    workers = Workers(kind, url, options, count)
    workers.end_all()
    assert workers.acknowledged == dict.fromkeys(range(WORKERS), b"." * count)
    assert KINDS[kind].found(url, options) == expected(kind, dict.fromkeys(range(WORKERS), count))


@pytest.mark.parametrize("server", SERVERS)
def test_updates_of_a_shard_of_many_parts_are_all_there(bucket, server):
    """Of two uploads in parts that end at the same moment, SeaweedFS lets both win."""
    url, options = bucket(server)
    KINDS["largeshard"].create(url, options)
    workers = Workers("largeshard", url, options, count=4, workers=range(4))
    workers.end_all()
    assert workers.acknowledged == dict.fromkeys(range(4), b"....")
    assert KINDS["largeshard"].found(url, options) == expected("largeshard", dict.fromkeys(range(4), 4))


@pytest.mark.parametrize("server", SERVERS)
@pytest.mark.parametrize("kind", ["chunks", "attributes", "values", "rows"])
def test_killed_processes_lose_what_was_not_acknowledged(bucket, server, kind):
    url, options = bucket(server)
    KINDS[kind].create(url, options)
    workers = Workers(kind, url, options, count=10)
    for worker in range(0, WORKERS, 2):
        workers.wait_for(worker, 2 + worker)
        workers.kill(worker)
    workers.end_all()
    counts = {worker: len(marks) for worker, marks in workers.acknowledged.items()}
    assert [counts[worker] for worker in range(1, WORKERS, 2)] == [10] * 4
    found = KINDS[kind].found(url, options)
    one_more = {worker: min(count + 1, 10) for worker, count in counts.items()}
    if not KINDS[kind].replaces:
        assert expected(kind, counts) <= found <= expected(kind, one_more)
    else:  # the update that was under way may have replaced an older one
        assert found - expected(kind, one_more) <= expected(kind, counts)
        for worker in counts:
            own = {each for each in found if (each - 1) % WORKERS == worker}
            assert own in (expected(kind, {worker: counts[worker]}), expected(kind, {worker: one_more[worker]}))


def test_a_server_without_conditions_refuses_changes_of_parts(bucket):
    url, options = bucket("swift")
    Chunks.create(url, options)  # whole shards
    array = Chunks.open(url, options)
    with pytest.raises(sherd.Unsupported, match="storage option conditional=no promises that there is one writer at a time"):
        Chunks.update(array, 3, 1)
    assert not array[...].any()
    array[...] = np.arange(array.size).reshape(array.shape)
    np.testing.assert_array_equal(array[...].ravel(), np.arange(array.size))
    Chunks.create(f"{url}2", options)
    alone = Chunks.open(f"{url}2", options | {"conditional": "no"})
    for i in range(8):
        Chunks.update(alone, 3, i)
    assert Chunks.found(f"{url}2", options) == expected("chunks", {3: 8})
    Rows.create(f"{url}3", options)
    with pytest.raises(sherd.Unsupported, match="'zarr.json': .* conditional=no promises"):
        Rows.update(Rows.open(f"{url}3", options), 0, 0)
    Rows.update(Rows.open(f"{url}3", options | {"conditional": "no"}), 0, 0)
    assert Rows.found(f"{url}3", options) == {1}
