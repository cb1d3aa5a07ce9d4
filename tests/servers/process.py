"""Processes of servers: on loopback, in a folder, and never outliving the process that started them."""

import contextlib
import ctypes
import os
import pathlib
import random
import select
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import urllib.error
import urllib.request

PR_SET_PDEATHSIG = 1
LIBC = ctypes.CDLL(None, use_errno=True)


class Absent(Exception):
    """A program or a module that a server needs is not installed."""


class StartFailed(Exception):
    """A server that ended, or did not answer in time; with the ends of its logs."""


def wait_for_end(process):
    """Waits for the process of a descriptor of os.pidfd_open(); select() has no numbers above 1023."""
    poll = select.poll()
    poll.register(process, select.POLLIN)
    poll.poll()


def program(name):
    """The path of an installed program."""
    found = shutil.which(name, path=os.environ.get("PATH", "") + ":/usr/sbin:/usr/local/sbin")
    if found is None:
        raise Absent(name)
    return found


def free_ports(count):
    """Free ports below the range that the system hands out for connections, which another process could take meanwhile."""
    taken = []
    with contextlib.ExitStack() as stack:
        while len(taken) < count:
            port = random.randrange(20000, 32000)
            each = stack.enter_context(socket.socket())
            with contextlib.suppress(OSError):
                each.bind(("127.0.0.1", port))
                taken.append(port)
    return taken


def open_directly(url, timeout=10):
    """urlopen without a proxy."""
    return urllib.request.build_opener(urllib.request.ProxyHandler({})).open(url, timeout=timeout)


def die_with_parent(number):
    """What a child does before it runs its program, so that it gets a signal when the thread that started it ends."""
    parent = os.getpid()

    def prepare():
        LIBC.prctl(PR_SET_PDEATHSIG, number)
        if os.getppid() != parent:
            os._exit(1)

    return prepare


class Children:
    """The processes of one server and their folder. Leaving the context kills the processes and removes the folder."""

    def __init__(self, name):
        self.name = name
        self.running = []

    def __enter__(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix=f"sherd-{self.name}-"))
        return self

    def __exit__(self, *_):
        for each in reversed(self.running):
            each.send_signal(each.on_end)
        for each in self.running:
            each.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def start(self, *command, on_end=signal.SIGKILL, env=None, cwd=None):
        """Starts a process in the foreground, which gets the signal `on_end` when this thread ends, however it does."""
        log = self.folder / f"{len(self.running)}-{os.path.basename(command[0])}.log"
        with log.open("wb") as output:
            child = subprocess.Popen([str(each) for each in command], stdin=subprocess.DEVNULL, stdout=output, stderr=output,
                                     cwd=cwd or self.folder, env=env and os.environ | env, preexec_fn=die_with_parent(on_end))
        child.on_end = on_end
        self.running.append(child)
        return child

    def run(self, *command, timeout=120):
        """Runs a command to its end and returns what it prints."""
        done = subprocess.run([str(each) for each in command], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              cwd=self.folder, timeout=timeout)
        if done.returncode != 0:
            raise StartFailed(f"{self.name}: {command[0]} failed: {done.stderr}\n{self.logs()}")
        return done.stdout

    def wait_for(self, url, seconds=180):
        """Waits until a server answers with any status. The limit is only for servers that hang."""
        end = time.monotonic() + seconds
        while True:
            try:
                open_directly(url).close()
                return
            except urllib.error.HTTPError:
                return
            except OSError as error:
                last = error
            self.check()
            if time.monotonic() > end:
                raise StartFailed(f"{self.name}: no answer from {url}: {last}\n{self.logs()}")
            time.sleep(0.05)

    def check(self):
        for each in self.running:
            if each.poll() is not None:
                raise StartFailed(f"{self.name}: {each.args[0]} ended with {each.returncode}\n{self.logs()}")

    def logs(self):
        parts = []
        for log in sorted(self.folder.glob("*.log")):
            parts.append(f"--- {log.name}\n" + log.read_text(errors="replace")[-2000:])
        return "\n".join(parts)
