
import pytest


@pytest.fixture
def peer(request):
    from interop.peers import PEERS, is_there
    from lacking import lacking

    if not is_there(PEERS[request.param]):
        lacking(request.param)
    return PEERS[request.param]
