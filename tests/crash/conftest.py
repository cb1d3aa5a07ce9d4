import os
import pathlib
import shutil
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))


def lacking(what):
    """Without SHERD_CI a missing part skips its tests; in CI it fails them."""
    if os.environ.get("SHERD_CI"):
        pytest.fail(f"these tests need {what}")
    pytest.skip(f"these tests need {what}")


@pytest.fixture(scope="session", autouse=True)
def programs():
    from crash.deeds import COMMAND, WRITER

    for program in (COMMAND, WRITER):
        if not program.exists():
            lacking(f"{program}; run script/build")


@pytest.fixture(scope="session")
def strace(programs):
    from crash.deeds import can_inject

    if shutil.which("strace") is None or not can_inject():
        lacking("strace and the right to trace")


@pytest.fixture(scope="session")
def root():
    if os.geteuid() != 0:
        lacking("root")
