"""An image is copied into a volume, and into an OME-Zarr image, with a pyramid. The copy is killed while it writes each level and
while it moves everything into place. The leftovers cannot be mistaken for a complete copy, and --resume completes them to the
bytes of a copy that was not killed."""

import filecmp

import numpy as np
import pytest

from crash.operations import COMMAND, files, ok, run, strace

SIZE, CHUNK = 64, 8
FINE, HALF, QUARTER = (SIZE // CHUNK) ** 3, (SIZE // CHUNK // 2) ** 3, (SIZE // CHUNK // 4) ** 3


@pytest.fixture
def image(tmp_path):
    np.save(tmp_path / "a.npy", np.random.default_rng(3).integers(0, 1000, (SIZE,) * 3, "u2"))
    ok(run(COMMAND, "import", tmp_path / "a.npy", tmp_path / "a.zarr", "--chunks", "8,8,8", "--codec", "gzip:1"))
    return tmp_path / "a.zarr"


@pytest.mark.usefixtures("strace")
@pytest.mark.parametrize("format", ["precomputed", "zarr3"])
def test_a_conversion_killed_on_every_level_is_resumed_to_the_same_bytes(image, tmp_path, format):
    options = ["--to", format, "--axes", "z,y,x", "--pyramid", "mean:2", "--quiet"]
    whole, cut = tmp_path / "whole", tmp_path / "cut"
    ok(run(COMMAND, "copy", image, whole, *options))
    made, log = 0, tmp_path / "log"
    # Each object is renamed once: those written so far are there, and the first of a call is the note about the copy.
    for wanted in (FINE // 2, FINE + HALF // 2, FINE + HALF + QUARTER // 2, FINE + HALF + QUARTER + 2):
        resume = ["--resume"] if made else []
        killed = strace([f"renameat:signal=KILL:when={wanted - made}"], log, COMMAND, "copy", image, cut, *options, *resume,
                        "--threads", 1)
        assert killed.returncode == -9, killed.stderr
        assert run(COMMAND, "info", cut).returncode != 0, "a part of a copy can be taken for a whole one"
        made = len([name for name in files(cut) if not name.endswith((".sherd-lock", ".sherd-copy.json"))])
        assert wanted - 3 <= made <= wanted
    ok(run(COMMAND, "copy", image, cut, *options, "--resume"))
    assert files(cut) == files(whole)
    assert filecmp.cmpfiles(whole, cut, files(whole), shallow=False)[1:] == ([], [])
    ok(run(COMMAND, "check", cut, "--data"))
