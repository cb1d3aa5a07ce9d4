"""The examples of the names of places in docs/stores.md."""

import os
import pathlib
import re
import subprocess

from archives import zipped

import sherd as library

ROOT = pathlib.Path(__file__).resolve().parents[2]


def test_each_name_of_a_place_in_the_docs_is_understood(sherd, tmp_path):
    page = (ROOT / "docs/stores.md").read_text(encoding="utf-8")
    [table] = re.findall(r"\| name \| means \| example \|\n\|---.*\n((?:\|.*\n)+)", page)
    examples = [example.replace("\\|", "|") for row in table.splitlines() for example in re.findall(r"`(sherd[ .][^`]+)`", row)]
    assert len(examples) == len(table.splitlines()) + 1  # pipelines have two
    sherd.ok("create", "data.zarr/temperature", "--shape", "4", "--dtype", "uint8")
    zipped(tmp_path / "data.zarr", tmp_path / "data.zip")
    path = f"{pathlib.Path(sherd.binary).parent}:{os.environ['PATH']}"
    for example in examples:
        if example.startswith("sherd."):
            assert eval(example, {"sherd": library}).shape == (4,)  # noqa: S307
            continue
        done = subprocess.run(example, shell=True, cwd=tmp_path, capture_output=True, text=True, env=os.environ | {"PATH": path})
        assert done.returncode == 0 and "temperature" in done.stdout, (example, done.stderr)
