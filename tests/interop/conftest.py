import os
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))


def lacking(what):
    """Without SHERD_CI a missing part skips its tests; in CI it fails them."""
    if os.environ.get("SHERD_CI"):
        pytest.fail(f"{what} is not installed; run script/bootstrap")
    pytest.skip(f"{what} is not installed; run script/bootstrap")


@pytest.fixture
def peer(request):
    from interop.peers import PEERS, is_there

    if not is_there(PEERS[request.param]):
        lacking(request.param)
    return PEERS[request.param]
