"""Runs the built command in a folder of its own. SHERD_BIN names another one than the release build's."""

import dataclasses
import json
import os
import pathlib
import subprocess

import pytest
from dependencies import missing
from interrupts import heed_interrupts

ROOT = pathlib.Path(__file__).resolve().parents[2]
BINARY = os.path.abspath(os.environ.get("SHERD_BIN", ROOT / "build/release/bin/sherd"))


@dataclasses.dataclass
class Ran:
    code: int
    stdout: bytes
    stderr: str

    @property
    def text(self):
        return self.stdout.decode()

    @property
    def json(self):
        return json.loads(self.stdout)

    @property
    def error(self):
        """The error object that --json puts on stderr."""
        return json.loads(self.stderr)["error"]


class Command:
    def __init__(self, folder):
        self.folder = folder
        self.binary = BINARY
        self.environment = {k: v for k, v in os.environ.items() if not k.startswith("SHERD_LIMIT_")}

    def __call__(self, *arguments, input=b"", env=None):
        """Runs `sherd ARGUMENTS`, whatever comes of it."""
        arguments = [each if isinstance(each, bytes) else str(each) for each in arguments]
        done = subprocess.run([self.binary, *arguments], input=input, capture_output=True, cwd=self.folder,
                              env=self.environment | (env or {}))
        ran = Ran(done.returncode, done.stdout, done.stderr.decode())
        if "SHERD_NETCDF=OFF" in ran.stderr:  # package/without_components tests this refusal
            missing("libnetcdf-dev")
        return ran

    def ok(self, *arguments, input=b"", env=None):
        """Runs the command, which must succeed."""
        ran = self(*arguments, input=input, env=env)
        assert ran.code == 0, ran.stderr
        return ran


@pytest.fixture
def sherd(tmp_path):
    return Command(tmp_path)


@pytest.fixture
def start(sherd):
    """Starts the command; what still runs at the test's end is killed."""
    running = []

    def begin(*arguments, **options):
        running.append(subprocess.Popen([sherd.binary, *arguments], cwd=sherd.folder, stderr=subprocess.PIPE,
                                        preexec_fn=heed_interrupts, **options))
        return running[-1]

    yield begin
    for process in running:
        process.kill()
        process.wait()


@pytest.fixture(scope="module")
def peer():
    """ome-zarr-models and ome-zarr (ome_peer.py)."""
    program = pathlib.Path(__file__).with_name("ome_peer.py")
    process = subprocess.Popen([ROOT / ".venv-ome/bin/python", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(do, about):
        process.stdin.write(json.dumps({"do": do, "about": about if isinstance(about, list) else str(about)}) + "\n")
        process.stdin.flush()
        return json.loads(process.stdout.readline())

    yield ask
    process.stdin.close()
    process.wait()
