"""An image is copied into a volume, and into an OME-Zarr image, with a pyramid, and killed while each level is made. What is
left cannot be taken for a whole, and goes on by --resume to the bytes of a copy that nobody killed."""

import filecmp
import signal
import subprocess

import numpy as np
import pytest

from crash.deeds import COMMAND, files, ok, run

SIZE = 96
CHUNKS = SIZE // 8  # along each axis


@pytest.fixture
def image(tmp_path):
    data = np.random.default_rng(3).integers(0, 1000, (SIZE,) * 3, "u2")
    np.save(tmp_path / "a.npy", data)
    ok(run(COMMAND, "import", tmp_path / "a.npy", tmp_path / "a.zarr", "--chunks", "8,8,8", "--codec", "gzip:1"))
    return tmp_path / "a.zarr"


def made(folder):
    return [name for name in files(folder) if "/node/" in name and not name.endswith(".sherd-lock")]


@pytest.mark.parametrize("format", ["precomputed", "zarr3"])
def test_a_conversion_killed_on_every_level_is_resumed_to_the_same_bytes(image, tmp_path, format):
    options = [image, "--to", format, "--axes", "z,y,x", "--pyramid", "mean:2", "--quiet"]
    whole, cut = tmp_path / "whole", tmp_path / "cut"
    ok(run(COMMAND, "copy", options[0], whole, *options[1:]))
    for count in (CHUNKS**3 // 2, CHUNKS**3 + 20, CHUNKS**3 + (CHUNKS // 2) ** 3 + 2):
        resume = ["--resume"] if cut.exists() else []
        copy = subprocess.Popen([COMMAND, "copy", options[0], cut, *map(str, options[1:]), *resume], stdin=subprocess.DEVNULL)
        while not cut.exists() or len(made(cut)) < count:
            assert copy.poll() is None, "it was through before it could be killed"
        copy.send_signal(signal.SIGKILL)
        assert copy.wait() == -signal.SIGKILL
        assert run(COMMAND, "info", cut).returncode != 0, "a part of a copy can be taken for a whole one"
    finished = {name.split("/node/", 1)[1] for name in made(cut)}
    report = run(COMMAND, "copy", options[0], cut, *options[1:], "--resume", "--json")
    ok(report)
    assert files(cut) == files(whole) and finished <= set(files(cut))
    assert filecmp.cmpfiles(whole, cut, files(whole), shallow=False)[1:] == ([], [])
    ok(run(COMMAND, "check", cut, "--data"))
