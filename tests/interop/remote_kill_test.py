"""Commands that change a bucket are killed at some of their requests, also while they try out what the server compares. Then the old
or the new state is found, and what else is left is listed by `check` and removed by `rm`."""

import subprocess

import pytest
from interop.remote_faults_test import BETWEEN, Bench
from interop.remote_node_faults import command

KILLED = ["consolidated", "import", "ncgen", "nccopy", "overwrite", "erase", "copy"]
SAMPLE = 8  # of the requests of each


class KilledBench(Bench):
    def finish(self):
        """Runs the command; returns how many requests it takes."""
        self.start({}).communicate()
        return self.end()

    def kill(self, skip):
        """Kills the command after so many requests, at one that is not answered. Returns the state."""
        process = self.start({"skip": skip, "silent": True})
        while len(self.proxy.requests()) <= skip and process.poll() is None:
            pass
        process.kill()
        process.communicate()
        self.end()
        return self.operation.state(self.url, self.direct)

    def start(self, fault):
        self.made += 1
        self.operation.prepare(self.url, self.direct)
        self.before = self.keys()
        self.proxy.set(fault)
        self.proxy.reset()
        options = self.direct | {"endpoint": self.proxy.url, "conditional": "probe", "timeout": 600}
        return subprocess.Popen(command(options, self.operation.words(self.url)), stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    def end(self):
        """Waits until the server has carried out what has reached it; returns how many requests that were."""
        count = len(self.proxy.requests())
        while self.proxy.counts()["open_requests"] > 0:
            pass
        self.proxy.set()
        return count


@pytest.mark.parametrize("name", ["seaweedfs", "radosgw"])
@pytest.mark.parametrize("operation", KILLED)
def test_a_killed_command_leaves_old_or_new_and_what_check_lists(request, fault_proxy, name, operation):
    server = request.getfixturevalue(name)
    bench = KilledBench(server, fault_proxy(server), operation)
    count = bench.finish()
    assert bench.operation.state(bench.url, bench.direct) == "new"
    whole = bench.keys()
    for skip in range(0, count, -(-count // SAMPLE)):
        state = bench.kill(skip)
        assert state in ("old", "new", BETWEEN.get(operation)), skip
        bench.check(state, whole)
