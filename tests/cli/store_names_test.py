"""The examples of the names of places in docs/stores.md."""

import os
import pathlib
import re
import subprocess

from archives import zipped

import sherd as library

ROOT = pathlib.Path(__file__).resolve().parents[2]


def on_servers(folder, nginx, radosgw, fake_gcs):
    """Puts the files of a folder on servers; returns what they are instead of in the examples, and the environment for it."""
    buckets = {}
    for server in (nginx, radosgw, fake_gcs):
        buckets[server.name] = server.create_bucket()
        server.put_folder(buckets[server.name], folder)
    places = {"https://data.example.org/": nginx.at(buckets["nginx"], scheme="https") + "/",
              "s3://bucket/": f"s3://{buckets['radosgw']}/",
              "s3+https://minio.example.org/bucket/": f"s3+{radosgw.url}/{buckets['radosgw']}/",
              "gs://bucket/": f"gs://{buckets['fake_gcs']}/"}
    environment = {"SHERD_STORE_CA_BUNDLE": nginx.more["certificate"], "STORAGE_EMULATOR_HOST": fake_gcs.url}
    return places, radosgw.environment() | environment


def test_each_name_of_a_place_in_the_docs_is_understood(sherd, tmp_path, nginx, radosgw, fake_gcs):
    page = (ROOT / "docs/stores.md").read_text(encoding="utf-8")
    [table] = re.findall(r"\| name \| means \| example \|\n\|---.*\n((?:\|.*\n)+)", page)
    examples = [example.replace("\\|", "|") for row in table.splitlines() for example in re.findall(r"`(sherd[ .][^`]+)`", row)]
    assert len(examples) == len(table.splitlines()) + 1  # pipelines have two
    sherd.ok("create", "data.zarr/temperature", "--shape", "4", "--dtype", "uint8")
    zipped(tmp_path / "data.zarr", tmp_path / "data.zip")
    places, more = on_servers(tmp_path, nginx, radosgw, fake_gcs)
    environment = os.environ | more | {"PATH": f"{pathlib.Path(sherd.binary).parent}:{os.environ['PATH']}"}
    used = set()
    for example in examples:
        if example.startswith("sherd."):
            assert eval(example, {"sherd": library}).shape == (4,)  # noqa: S307
            continue
        for written, there in places.items():
            if f" {written}" in example:
                used.add(written)
                example = example.replace(written, there)
        assert "example.org" not in example and "bucket/" not in example
        done = subprocess.run(example, shell=True, cwd=tmp_path, capture_output=True, text=True, env=environment)
        assert done.returncode == 0 and "temperature" in done.stdout, (example, done.stderr)
    assert used == set(places)
