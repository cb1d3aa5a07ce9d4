import os
import pathlib
import shutil
import tempfile

import pytest


@pytest.fixture(scope="session", autouse=True)
def programs():
    from crash.deeds import COMMAND, WRITER
    from lacking import lacking

    for program in (COMMAND, WRITER):
        if not program.exists():
            lacking(f"{program}, which script/build makes,")


@pytest.fixture(scope="session")
def strace(programs):
    from crash.deeds import can_inject
    from lacking import lacking

    if shutil.which("strace") is None or not can_inject():
        lacking("strace and the right to trace")


@pytest.fixture(scope="session")
def root():
    from lacking import lacking

    if os.geteuid() != 0:
        lacking("the right of root")


@pytest.fixture
def disk_path():
    """As tmp_path, but never in memory, where the bytes of files count as a process's memory."""
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        yield pathlib.Path(folder)
