"""Real servers on loopback, for tests and the benchmark.

In a test, a fixture of servers/fixtures.py: nginx, radosgw, swift, seaweedfs, fake_gcs. A server is started by the first test that
wants it, is shared by all workers of the run, and ends with the run. Tests do not share buckets: `server.create_bucket()`.
In a script: `with servers.start("radosgw") as server:`, from the main thread. From another language: `python -m servers radosgw`.
`fault_proxy(server)` starts a proxy before a server, as a context or as a fixture; `through(server, proxy)` is that server, by it.
"""

import contextlib

from servers.fake_gcs import fake_gcs
from servers.fault_proxy import FaultProxy, fault_proxy, through
from servers.nginx import nginx
from servers.process import Absent, StartFailed
from servers.radosgw import radosgw
from servers.seaweedfs import seaweedfs
from servers.server import GcsServer, Reply, S3Server, Server, WebServer
from servers.swift import swift

__all__ = ["Absent", "FaultProxy", "GcsServer", "KINDS", "Reply", "S3Server", "Server", "StartFailed", "WebServer", "fault_proxy",
           "start", "through"]

# The function that starts a server, and what tests see of it.
KINDS = {"fake_gcs": (fake_gcs, GcsServer), "nginx": (nginx, WebServer), "radosgw": (radosgw, S3Server),
         "seaweedfs": (seaweedfs, S3Server), "swift": (swift, S3Server)}


@contextlib.contextmanager
def start(name):
    """A context in which a server runs; it is a Server."""
    for attempts_left in (2, 1, 0):
        with contextlib.ExitStack() as stack:
            try:
                server = stack.enter_context(KINDS[name][0]())
            except StartFailed:  # another process may have taken one of its ports
                if attempts_left == 0:
                    raise
                continue
            yield server
            return
