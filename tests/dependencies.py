import os

import pytest


def missing(what):
    """Without SHERD_CI a test whose needs are missing is skipped; in CI it fails."""
    text = f"{what} is missing; script/bootstrap installs what tests need"
    if os.environ.get("SHERD_CI"):
        pytest.fail(text)
    pytest.skip(text)
