"""Servers that several processes of one run share.

The first process that wants a server starts another one that keeps it (`python -m servers`), and leaves its description in the
folder of the run. The keeper ends when the run does: it is told to, and it watches the process that began the run, in case that
is killed.
"""

import fcntl
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile

from servers.process import Absent, StartFailed, wait_for_end

TESTS = pathlib.Path(__file__).resolve().parents[1]


def folder_of_run(pid):
    """The folder of the run that the process `pid` began."""
    return pathlib.Path(tempfile.gettempdir()) / f"sherd-servers-{pid}"


def shared(name, folder):
    """What describes the server of the run with this folder; starts it if this is the first who asks."""
    folder.mkdir(exist_ok=True)
    description = folder / f"{name}.json"
    with (folder / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not description.exists():
            description.write_text(json.dumps(start_keeper(name, folder)))
        found = json.loads(description.read_text())
    if "absent" in found:
        raise Absent(found["absent"])
    if "failed" in found:
        raise StartFailed(found["failed"])
    return found["server"]


def start_keeper(name, folder):
    """Starts a server; returns what describes it, or why there is none."""
    until = folder.name.rsplit("-", 1)[1]
    with (folder / f"{name}.log").open("wb") as log:
        keeper = subprocess.Popen([sys.executable, "-m", "servers", name, "--until", until, "--folder", str(folder)],
                                  stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=log, start_new_session=True,
                                  env=os.environ | {"PYTHONPATH": str(TESTS)})
    line = keeper.stdout.readline()
    keeper.stdout.close()
    if line:
        return {"keeper": keeper.pid, "server": json.loads(line)[name]}
    keeper.wait()
    reason = (folder / f"{name}.log").read_text().strip()
    absent = [each.split(":", 1)[1].strip() for each in reason.splitlines() if each.startswith("absent:")]
    return {"absent": absent[0]} if absent else {"failed": reason}


def end_run(folder):
    """Stops what the run started, and removes its folder."""
    for description in folder.glob("*.json"):
        keeper = json.loads(description.read_text()).get("keeper")
        if keeper is not None:
            stop(keeper, str(folder))
    shutil.rmtree(folder, ignore_errors=True)


def stop(pid, folder):
    try:
        keeper = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    try:
        # The id of a keeper that ended may be another process's.
        if folder.encode() in pathlib.Path(f"/proc/{pid}/cmdline").read_bytes():
            signal.pidfd_send_signal(keeper, signal.SIGTERM)
            wait_for_end(keeper)
    except (FileNotFoundError, ProcessLookupError):
        pass
    finally:
        os.close(keeper)
