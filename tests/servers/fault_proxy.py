"""The fault proxy of tests/remote as a server: it answers as it should, except where it is told otherwise."""

import contextlib
import dataclasses
import json
import os
import pathlib
import signal
import subprocess
import urllib.parse

from servers.process import Absent, die_with_parent
from servers.server import Server, expect

BINARY = pathlib.Path(os.environ.get("SHERD_BIN", pathlib.Path(__file__).parents[2] / "build/release/bin/sherd"))
PROGRAM = BINARY.absolute().parents[1] / "tests/fault_proxy"


class FaultProxy(Server):
    """Faults are dictionaries whose keys are the members of Fault in tests/remote/fault.hpp, with times in milliseconds and
    headers as a dictionary: {"target": "/c/", "times": 2, "cut_after": 100}."""

    def set(self, *faults):
        """Replaces all faults; without any, the proxy answers as it should."""
        self._ask("PUT", "faults", json.dumps(faults).encode())

    def counts(self):
        """The connection of this object is one of them. requests, connections, open_requests, open_connections, most_open_requests,
        most_open_connections, body_bytes, request_bytes, round_trips."""
        return json.loads(self._ask("GET", "counts").body)

    def requests(self):
        """The requests since the start or the last reset: [{method, target, headers: [[name, value], ...]}, ...]."""
        return json.loads(self._ask("GET", "requests").body)

    def reset(self):
        """Forgets counts and requests."""
        self._ask("POST", "reset")

    def put(self, key, data):
        """Stores an object of the proxy's own, which is at `url`/`key`; returns its ETag."""
        return self._ask("PUT", "objects/" + urllib.parse.quote(key), bytes(data)).headers["etag"]

    def _ask(self, method, what, body=b""):
        return expect(self.send(method, "/__control/" + what, body), 200)


@contextlib.contextmanager
def fault_proxy(upstream=None, *faults):
    """Starts a proxy that forwards to a Server, or serves objects of its own. From the main thread."""
    if not PROGRAM.exists():
        raise Absent(f"{PROGRAM}, which script/build makes,")
    port = upstream.port if upstream else 0
    process = subprocess.Popen([PROGRAM, "--upstream", str(port), "--faults", json.dumps(faults)], stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, preexec_fn=die_with_parent(signal.SIGKILL))
    try:
        line = process.stdout.readline()
        yield FaultProxy("fault_proxy", f"http://127.0.0.1:{json.loads(line)['port']}", "")
    finally:
        process.stdin.close()
        process.stdout.close()
        process.wait()


def through(server, proxy):
    """`server`, reached through a proxy."""
    return dataclasses.replace(server, url=proxy.url)
