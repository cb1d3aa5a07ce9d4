"""Each request of each operation on a bucket fails once and for ever: refused, unheard, or carried out without a reply. Then the old
or the new state is found. After one failure it is the new one, and success is reported; nothing is done twice."""

import threading

import numpy as np
import pytest
import sherd
from interop.remote_faults import OPERATIONS
from servers import through

BUSY = {"status": 503, "body": "<Error><Code>SlowDown</Code></Error>", "headers": {"Retry-After": "0"}}
FAULTS = {"busy": BUSY, "unheard": {"unheard": True}, "lost": {"lost": True}}
# Which of them are tried: once, and for ever. Servers differ little in the others.
TRIED = {"seaweedfs": (FAULTS, FAULTS), "radosgw": (["lost"], ["busy"])}
# States in the middle of an operation that changes several objects, which a failure may leave.
BETWEEN = {"rows": "lengthened", "erase": "chunks are left"}


class Bench:
    def __init__(self, server, proxy, operation):
        self.operation, self.proxy, self.made = OPERATIONS[operation], proxy, 0
        self.bucket = server.create_bucket()
        self.direct = {"key": server.key, "secret": server.secret, "endpoint": server.url, "region": server.region,
                       "part_bytes": 5 << 20}
        self.client = server.client()

    def run(self, fault=None, attempts=4):
        """Runs the operation at a new path. Returns its state afterwards, its error, and the methods of its requests."""
        url = f"s3://{self.bucket}/{self.made}"
        self.made += 1
        self.operation.prepare(url, self.direct)
        self.proxy.set(*[fault] if fault else [])
        self.proxy.reset()
        error = None
        try:
            self.operation.run(url, self.direct | {"endpoint": self.proxy.url, "attempts": attempts})
        except sherd.Error as failure:
            error = failure
        requests = [each["method"] for each in self.proxy.requests()]
        self.proxy.set()
        return self.operation.state(url, self.direct), error, requests

    def uploads(self):
        return self.client.list_multipart_uploads(Bucket=self.bucket).get("Uploads", [])


def places(kind, methods):
    """Each request to which the fault can be done. Only what changes something is different if its reply is lost."""
    if kind != "lost":
        return [{"skip": number} for number in range(len(methods))]
    return [{"method": method, "skip": number} for method in ("PUT", "POST", "DELETE") for number in range(methods.count(method))]


@pytest.mark.parametrize("name", TRIED)
@pytest.mark.parametrize("operation", OPERATIONS)
def test_a_request_that_fails_once_or_for_ever_leaves_old_or_new(request, fault_proxy, name, operation):
    server = request.getfixturevalue(name)
    bench = Bench(server, fault_proxy(server), operation)
    bench.run()  # tries out which conditions the server compares
    state, error, methods = bench.run()
    assert (state, error) == ("new", None) and methods
    left, (once, for_ever) = 0, TRIED[name]
    for kind in once:
        for place in places(kind, methods):
            state, error, _ = bench.run(FAULTS[kind] | place | {"times": 1})
            assert (state, error) == ("new", None), (kind, place)
            assert len(bench.uploads()) <= left + (kind == "lost"), (kind, place)  # one whose id was lost
            left = len(bench.uploads())
    for kind in for_ever:
        for place in places(kind, methods):
            state, error, _ = bench.run(FAULTS[kind] | place, attempts=2)
            assert state in ("old", "new", BETWEEN.get(operation)), (kind, place, error)
            assert error is not None or state == "new", (kind, place)


@pytest.mark.parametrize(("name", "rows"), [("seaweedfs", 1024), ("seaweedfs", 16), ("radosgw", 16)])
def test_a_write_whose_reply_was_lost_is_not_made_again_after_another_one(request, fault_proxy, name, rows):
    """Rows of 8 KiB: 8 MiB are amended by the server, others are sent again."""
    server = request.getfixturevalue(name)
    url = f"s3://{server.create_bucket()}/a.zarr"
    options = {"key": server.key, "secret": server.secret, "endpoint": server.url, "region": server.region}
    other = sherd.create_array(url, shape=(rows, 4096), dtype="u2", chunks=(4, 4096), shards=(rows, 4096), compressors=None,
                               storage_options=options)
    other[...] = 1
    proxy = fault_proxy(server)
    array = sherd.open_array(url, mode="r+", storage_options=options | {"endpoint": through(server, proxy).url})
    array[:4] = 2  # tries out which conditions the server compares
    proxy.reset()
    array[:4] = 3
    stored = max(i for i, each in enumerate(proxy.requests()) if each["method"] in ("PUT", "POST"))
    # What stores the object is carried out, and its reply lost; whatever comes after that waits.
    proxy.set({"skip": stored, "times": 1, "lost": True}, {"skip": stored + 1, "delay": 3000})
    proxy.reset()
    writer = threading.Thread(target=array.__setitem__, args=(slice(0, 4), 4))
    writer.start()
    while len(proxy.requests()) < stored + 2:
        pass
    assert (other[:4] == 4).all()
    other[:4] = 5
    proxy.set()
    writer.join()
    expected = np.ones((rows, 4096), "u2")
    expected[:4] = 5
    np.testing.assert_array_equal(other[...], expected)
