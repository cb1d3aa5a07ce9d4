"""python -m servers NAME... [--until PID]: starts servers, prints {NAME: {url, key, secret, ...}} as one line of JSON, and
stops them when its input is closed, or when the process PID has ended. Without --until, each line of its input
{"server": NAME, "folder": FOLDER} puts the files of a folder into a new bucket; the answer is a line {"bucket": BUCKET}.

python -m servers NAME --share PID [--fill FOLDER]: prints the same of a server that runs until the process PID has ended, which
all who name that process share, and ends at once. With --fill, `bucket` in it is a new bucket with the files of a folder.
"""

import argparse
import contextlib
import dataclasses
import json
import os
import shutil
import signal
import sys

from servers import KINDS, Absent, StartFailed, start
from servers.process import wait_for_end
from servers.shared import folder_of_run, shared


def fill(server, folder):
    bucket = server.create_bucket()
    server.put_folder(bucket, folder)
    return bucket


def share(names, pid, folder):
    found = {name: shared(name, folder_of_run(pid)) for name in names}
    if folder is not None:
        for name, description in found.items():
            description["bucket"] = fill(KINDS[name][1](**description), folder)
    print(json.dumps(found))


def keep(names, pid, folder):
    """Runs servers until the process `pid` or the input ends. Removes the folder of the run if that process ends first."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    signal.signal(signal.SIGHUP, lambda *_: sys.exit(0))
    signal.signal(signal.SIGINT, signal.SIG_IGN if pid else signal.SIG_DFL)
    with contextlib.ExitStack() as stack:
        ending = os.pidfd_open(pid) if pid else None
        running = {name: stack.enter_context(start(name)) for name in names}
        print(json.dumps({name: dataclasses.asdict(server) for name, server in running.items()}), flush=True)
        if pid:
            wait_for_end(ending)
            if folder is not None:
                shutil.rmtree(folder, ignore_errors=True)
        else:
            for line in sys.stdin:
                asked = json.loads(line)
                print(json.dumps({"bucket": fill(running[asked["server"]], asked["folder"])}), flush=True)


def main():
    parser = argparse.ArgumentParser(prog="python -m servers")
    parser.add_argument("name", nargs="+", choices=sorted(KINDS))
    parser.add_argument("--until", type=int, metavar="PID")
    parser.add_argument("--folder", help="removed when the process PID has ended")
    parser.add_argument("--share", type=int, metavar="PID")
    parser.add_argument("--fill", metavar="FOLDER")
    arguments = parser.parse_args()
    if arguments.share:
        share(arguments.name, arguments.share, arguments.fill)
    else:
        keep(arguments.name, arguments.until, arguments.folder)


try:
    main()
except Absent as absent:
    sys.exit(f"absent: {absent}")
except StartFailed as failure:
    sys.exit(str(failure))
