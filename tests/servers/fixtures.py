"""Fixtures of servers that all workers of a test run share. tests/conftest.py makes them known to every test."""

import contextlib
import os
import pathlib

import pytest
import servers
from dependencies import missing
from servers.shared import end_run, folder_of_run, shared

RUN = "SHERD_TEST_SERVERS"  # names the folder of the run


def begin(config):
    """In the process that began the run; workers inherit its environment."""
    if not hasattr(config, "workerinput"):
        folder = folder_of_run(os.getpid())
        end_run(folder)  # of a killed process with the same id
        os.environ[RUN] = str(folder)


def end(config):
    if not hasattr(config, "workerinput"):
        end_run(pathlib.Path(os.environ[RUN]))


def server_of_run(name):
    try:
        return servers.KINDS[name][1](**shared(name, pathlib.Path(os.environ[RUN])))
    except servers.Absent as absent:
        missing(str(absent))
    except servers.StartFailed as failure:
        pytest.fail(str(failure))


@pytest.fixture(scope="session")
def nginx():
    return server_of_run("nginx")


@pytest.fixture(scope="session")
def radosgw():
    return server_of_run("radosgw")


@pytest.fixture(scope="session")
def swift():
    return server_of_run("swift")


@pytest.fixture(scope="session")
def seaweedfs():
    return server_of_run("seaweedfs")


@pytest.fixture(scope="session")
def fake_gcs():
    return server_of_run("fake_gcs")


@pytest.fixture(scope="session", params=["radosgw", "swift", "seaweedfs"])
def s3(request):
    """Each of the servers of S3's protocol."""
    return server_of_run(request.param)


@pytest.fixture
def fault_proxy():
    """A function that starts a FaultProxy of this test's own: fault_proxy(), fault_proxy(radosgw, {"delay": 20})."""
    with contextlib.ExitStack() as stack:

        def start(upstream=None, *faults):
            try:
                return stack.enter_context(servers.fault_proxy(upstream, *faults))
            except servers.Absent as absent:
                missing(str(absent))

        yield start
