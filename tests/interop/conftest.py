import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))


@pytest.fixture
def peer(request):
    from interop.peers import PEERS, is_there
    from lacking import lacking

    if not is_there(PEERS[request.param]):
        lacking(request.param)
    return PEERS[request.param]
