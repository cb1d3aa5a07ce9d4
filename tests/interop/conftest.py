import importlib.util

import pytest


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
