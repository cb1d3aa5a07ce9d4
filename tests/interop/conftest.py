import importlib.util

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
