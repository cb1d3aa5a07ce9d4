import importlib.util
import os

import pytest


def pytest_addoption(parser):
    parser.addoption("--all", action="store_true", help="every type with every codec in every layout, not a sample")


@pytest.fixture
def matrix(request):
    """The cells of the matrix that are run."""
    from interop.cells import all_cells, cells

    return all_cells() if request.config.getoption("--all") else cells()


@pytest.fixture
def peer(request):
    from interop.peers import PEERS, is_there
    from dependencies import missing

    if not is_there(PEERS[request.param]):
        missing(request.param)
    return PEERS[request.param]


@pytest.fixture(scope="module")
def cloudvolume():
    from dependencies import missing

    if importlib.util.find_spec("cloudvolume") is None:
        missing("cloud-volume")
    import cloudvolume

    return cloudvolume


@pytest.fixture(scope="session")
def datasets(tmp_path_factory):
    """The folder of interop/remote_datasets.py."""
    from interop.remote_datasets import write_all

    folder = tmp_path_factory.mktemp("datasets")
    write_all(folder)
    return folder


@pytest.fixture(scope="session")
def place(request, datasets):
    """Where a server has those files: place("radosgw")."""
    from interop.remote_datasets import put

    made = {}

    def of(name):
        return made[name] if name in made else made.setdefault(name, put(request.getfixturevalue(name), datasets))

    return of


@pytest.fixture
def command(tmp_path):
    """Runs sherd's program in a folder of the test's own, with no credentials but those that it is given."""
    from cli.conftest import Command

    made = Command(tmp_path)
    made.environment = {name: value for name, value in os.environ.items() if not name.startswith(("AWS_", "SHERD_"))}
    return made
