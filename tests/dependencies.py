import os

import pytest


def missing(what):
    """Without SHERD_CI a test whose needs are missing is skipped; in CI it fails, unless SHERD_WITHOUT says that the build is to be
    without them."""
    if what in os.environ.get("SHERD_WITHOUT", "").split():
        pytest.skip(f"needs {what}, which this build is without")
    text = f"{what} is missing; script/bootstrap installs what tests need"
    if os.environ.get("SHERD_CI"):
        pytest.fail(text)
    pytest.skip(text)
