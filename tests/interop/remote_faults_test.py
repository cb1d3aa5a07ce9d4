"""Each request of each operation on a bucket fails once and for ever: refused, unheard, or carried out without a reply. Then the old
or the new state is found, and what else is left is listed by `check` and removed by `rm`. After one failure it is the new state, and
success is reported; nothing is done twice. Of an operation of more than 16 requests about 12 fail in each way, otherwise each of them."""

import subprocess
import threading
import time

import numpy as np
import pytest
import sherd
from interop.remote_faults import OPERATIONS
from interop.remote_leftovers import Leftovers
from interop.remote_node_faults import NODE_OPERATIONS
from servers import through

BUSY = {"status": 503, "body": "<Error><Code>SlowDown</Code></Error>", "headers": {"Retry-After": "0"}}
FAULTS = {"busy": BUSY, "unheard": {"unheard": True}, "lost": {"lost": True}}
# Which of them are tried: once, and for ever. Servers differ little in the others.
TRIED = {"seaweedfs": (list(FAULTS), list(FAULTS)), "radosgw": (["lost"], ["busy"])}
MOST, SAMPLE = 16, 12  # requests that fail in each way: all of so many, or about so many of more
# One writer at a time may rely on SeaweedFS's conditions at the end of uploads.
CONDITIONAL = {"seaweedfs": "yes", "radosgw": "probe"}
# States in the middle of an operation that changes several objects, which a failure may leave.
BETWEEN = {"rows": "lengthened", "erase": "chunks are left", "build": "some shards", "createdraft": "empty hierarchy",
           "variable": "defined", "overwrite": "nothing"} | dict.fromkeys(("create2", "ncgen", "nccopy"), "without attributes")


class Bench:
    def __init__(self, server, proxy, operation):
        self.operation, self.proxy, self.made = (OPERATIONS | NODE_OPERATIONS)[operation](), proxy, 0
        self.bucket = server.create_bucket()
        self.direct = {"key": server.key, "secret": server.secret, "endpoint": server.url, "region": server.region,
                       "part_bytes": 5 << 20, "conditional": CONDITIONAL[server.name]}
        self.leftovers = Leftovers(server.client(), self.bucket, self.direct)

    @property
    def url(self):
        """Of the last run."""
        return f"s3://{self.bucket}/{self.made}"

    @property
    def changed(self):
        """The URL of what the operation makes or changes, if that is not at `url`."""
        return f"{self.url}/{getattr(self.operation, 'changes', '')}".rstrip("/")

    def keys(self):
        return self.leftovers.keys(self.changed)

    def run(self, fault=None, attempts=4):
        """Runs the operation at a new path. Returns its state afterwards, its error, and the methods of its requests."""
        self.made += 1
        self.operation.prepare(self.url, self.direct)
        self.before = self.keys()
        self.proxy.set(*[fault] if fault else [])
        self.proxy.reset()
        error = None
        try:
            self.operation.run(self.url, self.direct | {"endpoint": self.proxy.url, "attempts": attempts})
        except (sherd.Error, subprocess.CalledProcessError) as failure:
            error = failure
        requests = methods_of(self.proxy)
        self.proxy.set()
        return self.operation.state(self.url, self.direct), error, requests

    def check(self, state, whole):
        """`check` lists everything that is left besides the old state, or besides the new one, which has the objects `whole`;
        then `rm` removes it. Where there is no node yet, the next operation makes one, because `rm` leaves a young probe there."""
        if state == "old" and self.leftovers.has_probe(self.changed) and not self.leftovers.is_node(self.changed):
            self.operation.run(self.url, self.direct)
            state = "new"
        left = self.keys() - (self.before if state == "old" else whole)
        if self.leftovers.check(self.changed, left, getattr(self.operation, "has_lists", False)):
            self.leftovers.repair(self.changed)
            node = f"{self.changed}/{getattr(self.operation, 'node', '')}".rstrip("/")
            self.leftovers.remove(node, getattr(self.operation, "stays", set()))


def methods_of(proxy):
    return [each["method"] for each in proxy.requests()]


def places(kind, methods):
    """The requests to which the fault is done. Only what changes something is different if its reply is lost."""
    if kind == "lost":
        all = [{"method": method, "skip": number} for method in ("PUT", "POST", "DELETE") for number in range(methods.count(method))]
    else:
        all = [{"skip": number} for number in range(len(methods))]
    step = 1 if len(all) <= MOST else -(-len(all) // SAMPLE)
    return all[list(FAULTS).index(kind) % step::step]  # others for each kind


@pytest.mark.parametrize("name", TRIED)
@pytest.mark.parametrize("operation", OPERATIONS | NODE_OPERATIONS)
def test_a_request_that_fails_once_or_for_ever_leaves_old_or_new(request, fault_proxy, name, operation):
    server = request.getfixturevalue(name)
    bench = Bench(server, fault_proxy(server), operation)
    bench.run()  # tries out which conditions the server compares
    state, error, methods = bench.run()
    assert (state, error) == ("new", None) and methods
    left, (once, for_ever), whole = 0, TRIED[name], bench.keys()
    for kind in once:
        for place in places(kind, methods):
            state, error, _ = bench.run(FAULTS[kind] | place | {"times": 1})
            assert (state, error) == ("new", None), (kind, place)
            assert len(bench.leftovers.uploads()) <= left + (kind == "lost"), (kind, place)  # one whose id was lost
            left = len(bench.leftovers.uploads())
    for kind in for_ever:
        for place in places(kind, methods):
            state, error, _ = bench.run(FAULTS[kind] | place, attempts=2 if kind == "lost" else 1)
            assert state in ("old", "new", BETWEEN.get(operation)), (kind, place, error)
            assert error is not None or state == "new", (kind, place)
            bench.check(state, whole)


@pytest.mark.parametrize(("name", "rows"), [("seaweedfs", 1024), ("seaweedfs", 16), ("radosgw", 16)])
def test_a_write_whose_reply_was_lost_is_not_made_again_after_another_one(request, fault_proxy, name, rows):
    """Rows of 8 KiB: 8 MiB are amended by the server, others are sent again."""
    server = request.getfixturevalue(name)
    url = f"s3://{server.create_bucket()}/a.zarr"
    options = {"key": server.key, "secret": server.secret, "endpoint": server.url, "region": server.region, "conditional": CONDITIONAL[name]}
    other = sherd.create_array(url, shape=(rows, 4096), dtype="u2", chunks=(4, 4096), shards=(rows, 4096), compressors=None,
                               storage_options=options)
    other[...] = 1
    proxy = fault_proxy(server)
    array = sherd.open_array(url, mode="r+", storage_options=options | {"endpoint": through(server, proxy).url})
    array[:4] = 2  # tries out which conditions the server compares
    proxy.reset()
    array[:4] = 3
    method = "POST" if rows == 1024 else "PUT"
    count = methods_of(proxy).count(method)
    # What stores the object is carried out, and its reply lost; it waits when it is made again.
    proxy.set({"method": method, "skip": count - 1, "times": 1, "lost": True}, {"method": method, "skip": count, "delay": 3000},
              {"method": "HEAD", "delay": 3000})
    proxy.reset()
    writer = threading.Thread(target=array.__setitem__, args=(slice(0, 4), 4))
    writer.start()
    while methods_of(proxy).count(method) <= count:
        pass
    assert (other[:4] == 4).all()
    other[:4] = 5
    proxy.set()
    writer.join()
    expected = np.ones((rows, 4096), "u2")
    expected[:4] = 5
    np.testing.assert_array_equal(other[...], expected)


def test_a_lost_reply_while_conditions_are_tried_out_changes_nothing(request, fault_proxy):
    server = request.getfixturevalue("seaweedfs")
    url = f"s3://{server.create_bucket()}/a.zarr"
    proxy = fault_proxy(server)
    options = {"key": server.key, "secret": server.secret, "endpoint": through(server, proxy).url, "region": server.region}
    array = sherd.create_array(url, shape=(64, 64), dtype="u2", chunks=(8, 8), shards=(64, 64), storage_options=options | {"conditional": "no"})
    array = sherd.open_array(url, mode="r+", storage_options=options)
    proxy.set({"method": "PUT", "target": ".sherd-probe", "times": 1, "lost": True})
    array[3:5] = 1
    proxy.set()
    array[5:7] = 2
    assert array[...].sum() == 64 * 6


def follows_an_end(requests):
    """Whether there is a request after the first that ends an upload."""
    return any(each["method"] == "POST" and "uploadId" in each["target"] for each in requests[:-1])


@pytest.mark.parametrize("is_replaced", [False, True])
def test_an_upload_that_was_aborted_meanwhile_is_made_again(request, fault_proxy, is_replaced):
    """Its end does not reach the server, which is noticed after another program has aborted it. It may replace the object of another
    upload, which is known by its age."""
    server = request.getfixturevalue("seaweedfs")
    bucket = server.create_bucket()
    proxy = fault_proxy(server)
    options = {"key": server.key, "secret": server.secret, "endpoint": through(server, proxy).url, "region": server.region, "part_bytes": 5 << 20}
    array = sherd.create_array(f"s3://{bucket}/a.zarr", shape=(2048, 4096), dtype="u2", chunks=(2048, 4096), compressors=None,
                               storage_options=options)
    if is_replaced:
        array[...] = 1
        time.sleep(4)  # seconds, as the server's clock must have gone on by more than two
    proxy.set({"method": "POST", "target": "uploadId", "times": 1, "unheard": True}, {"target": "uploadId", "method": "POST", "skip": 1, "delay": 3000},
              {"target": "/a.zarr/c/0/0", "method": "HEAD", "delay": 3000})
    proxy.reset()
    writer = threading.Thread(target=array.__setitem__, args=(..., 2))
    writer.start()
    while not follows_an_end(proxy.requests()):
        pass
    client = server.client()
    for upload in client.list_multipart_uploads(Bucket=bucket)["Uploads"]:
        client.abort_multipart_upload(Bucket=bucket, Key=upload["Key"], UploadId=upload["UploadId"])
    writer.join()
    proxy.set()
    assert (array[...] == 2).all()
    proxy.set({"method": "POST", "target": "uploadId", "status": 200})
    with pytest.raises(sherd.Io, match="the end of an upload in parts does not name the object"):
        array[...] = 3
    proxy.set()
    assert (array[...] == 2).all()
