import os
import pathlib
import shutil
import tempfile

import pytest


@pytest.fixture(scope="session", autouse=True)
def programs():
    from crash.operations import COMMAND, WRITER
    from dependencies import missing

    for program in (COMMAND, WRITER):
        if not program.exists():
            missing(f"{program}, which script/build makes,")


@pytest.fixture(scope="session")
def strace(programs):
    from crash.operations import can_inject
    from dependencies import missing

    if shutil.which("strace") is None or not can_inject():
        missing("strace and the right to trace")


@pytest.fixture(scope="session")
def root():
    from dependencies import missing

    if os.geteuid() != 0:
        missing("the right of root")


@pytest.fixture
def disk_path():
    """As tmp_path, but never in memory, where the bytes of files count as a process's memory."""
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        yield pathlib.Path(folder)
