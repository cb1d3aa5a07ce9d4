"""The bytes of a new version are synced before it replaces the old one, and then the directory that names it: seen in the
order of system calls, since a kill cannot show what only a power failure would."""

import pathlib
import re

import pytest

from crash.operations import WRITER, ok, prepare, run

pytestmark = pytest.mark.usefixtures("strace")
RENAME = re.compile(r'<([^>]*)>, "([^"]+)", \d+<[^>]*>, "([^"]+)"')


def calls_of(folder, log, operation):
    """(call, arguments) of each write, sync and rename that succeeded, descriptors with their paths."""
    traced = "trace=?write,?pwrite64,?copy_file_range,?fsync,?fdatasync,?renameat,?renameat2"
    ok(run("strace", "-y", "-o", log, "-e", traced, WRITER, folder, operation, 2))
    lines = pathlib.Path(log).read_text().splitlines()
    found = [re.match(r"^(\w+)\((.*)\)\s+= \d+", line) for line in lines]
    return [match.groups() for match in found if match]


@pytest.mark.parametrize("operation", ["create", "shard", "part", "two", "attributes", "append", "grow"])
def test_bytes_are_synced_before_the_rename_and_the_directory_after_it(operation, tmp_path):
    folder, log = tmp_path / "store", tmp_path / "log"
    if operation == "create":
        folder.mkdir()
    else:
        prepare(folder)
    calls = calls_of(folder, log, operation)
    renames = [at for at, (call, _) in enumerate(calls) if call.startswith("renameat")]
    assert renames
    for at in renames:
        directory, before, _ = RENAME.search(calls[at][1]).groups()
        side_file = f"<{directory}/{before}>"
        last = max(i for i in range(at) if side_file in calls[i][1])
        assert calls[last][0] in ("fsync", "fdatasync"), f"{calls[last]} and then {calls[at]}"
        assert any(call == "fsync" and f"<{directory}>" in arguments for call, arguments in calls[at:]), calls[at:]
