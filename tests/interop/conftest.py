import importlib.util

import pytest


@pytest.fixture
def peer(request):
    from interop.peers import PEERS, is_there
    from lacking import lacking

    if not is_there(PEERS[request.param]):
        lacking(request.param)
    return PEERS[request.param]


@pytest.fixture(scope="module")
def cloudvolume():
    from lacking import lacking

    if importlib.util.find_spec("cloudvolume") is None:
        lacking("cloud-volume")
    import cloudvolume

    return cloudvolume
