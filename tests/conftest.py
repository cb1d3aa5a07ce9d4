import pathlib
import tempfile

import pytest

from servers import fixtures
from servers.fixtures import fake_gcs, fault_proxy, nginx, radosgw, s3, seaweedfs, swift  # noqa: F401  (fixtures)


def pytest_configure(config):
    fixtures.begin(config)


def pytest_unconfigure(config):
    fixtures.end(config)


@pytest.fixture
def on_disk():
    """A directory on the disk: temporary files may be in memory, where no file is appended to in one step."""
    build = pathlib.Path(__file__).parents[1] / "build"
    build.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=build) as folder:
        yield pathlib.Path(folder)
