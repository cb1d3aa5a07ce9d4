"""A folder with a small dataset of each format, and the servers on which tests find the same files."""

import dataclasses
import hashlib
import json
import pathlib
import shutil
import subprocess

import numpy as np
import sherd
import zarr
from archives import zipped
from cli.conftest import BINARY
from interop.draft2022_test import SAMPLES
from interop.samples import unpack
from shardings import sharding

ROOT = pathlib.Path(__file__).parents[2]

SHAPE = (32, 48, 64)
VALUES = np.random.default_rng(7).integers(0, 60_000, SHAPE).astype("uint16")
BYTES = (VALUES % 251).astype("uint8")
SHARDED = {"chunks": (8, 16, 16), "shards": (16, 48, 32)}
SHARDING = sharding("murmurhash3_x86_128", (0, 3, 1), "gzip", "gzip")
CDL = """netcdf x {
dimensions: time = UNLIMITED ; y = 4 ; x = 6 ;
variables:
  float t(time, y, x) ; t:units = "K" ; t:_FillValue = -1.f ;
  int time(time) ; time:units = "days since 2000-01-01" ;
  :title = "made for servers" ;
data:
  time = 1, 2, 3 ;
  t = """ + ", ".join(str(each) for each in range(72)) + """ ;
group: deep { variables: double z(y) ; data: z = 1, 2, 3, 4 ; }
}
"""
# Each array by its path below the folder.
ARRAYS = {
    "zarr3 sharded": "three.zarr/sharded", "zarr3": "three.zarr/plain", "zarr2": "two.zarr/a", "zarr2 nested": "two.zarr/b",
    "draft2022": "sharded/s2d/foo/baz", "volume": "em", "sharded volume": "em_sharded", "nczarr": "nc.zarr/t",
    "nczarr group": "nc.zarr/deep/z", "ome": "image.zarr/s1", "dual as zarr": "dual.zarr", "dual as volume": "dual.zarr/8_8_40",
    "zip": "three.zip/sharded", "ozx": "image.ozx/s0",
}  # fmt: skip


def write_volume(path, **scale):
    volume = sherd.neuroglancer.create_precomputed(path, type="image", dtype="uint8", scales=[
        {"size": list(SHAPE[::-1]), "resolution": [8, 8, 40], "chunk_size": [16, 16, 8], "voxel_offset": [3, -5, 0], **scale}])
    volume[..., 0] = BYTES.T


def write_image(path):
    levels = [{"path": f"s{i}", "coordinateTransformations": [{"type": "scale", "scale": [2.0**i] * 3}]} for i in (0, 1)]
    axes = [{"name": name, "type": "space", "unit": "micrometer"} for name in "zyx"]
    group = zarr.create_group(path, attributes={"ome": {"version": "0.5", "multiscales": [{"axes": axes, "datasets": levels}]}})
    for i in (0, 1):
        group.create_array(f"s{i}", data=VALUES[::2**i, ::2**i, ::2**i], chunks=(8, 16, 16), dimension_names=list("zyx"))


def write_skeletons(folder):
    info = {"@type": "neuroglancer_skeletons", "transform": [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0], "vertex_attributes": [],
            "sharding": SHARDING}
    folder.mkdir()
    (folder / "info").write_text(json.dumps(info))
    bones = sherd.neuroglancer.Collection(folder, mode="r+")
    for id in (1, 7, 2**40):
        bones.write(id, sherd.neuroglancer.Skeleton(np.arange(9, dtype="f4").reshape(3, 3) + id % 100, np.array([[0, 1], [1, 2]], "u4")))


def write_all(folder):
    group = zarr.create_group(folder / "three.zarr", attributes={"title": "three"})
    group.create_array("plain", data=VALUES, chunks=(8, 16, 16), attributes={"unit": "K"})
    sherd.create_array(folder / "three.zarr", name="sharded", shape=SHAPE, dtype="uint16", **SHARDED)[...] = VALUES
    zarr.consolidate_metadata(folder / "three.zarr")
    old = zarr.create_group(folder / "two.zarr", zarr_format=2, attributes={"title": "two"})
    old.create_array("a", data=VALUES, chunks=(8, 16, 16))
    old.create_array("b", data=VALUES, chunks=(8, 16, 16), chunk_key_encoding={"name": "v2", "separator": "/"}, order="F")
    zarr.consolidate_metadata(folder / "two.zarr", zarr_format=2)
    unpack(SAMPLES, "sharded", folder)
    write_volume(folder / "em")
    write_volume(folder / "em_sharded", sharding=sharding(bits=(1, 1, 3), index="gzip", data="gzip"))
    write_skeletons(folder / "skeletons")
    subprocess.run([BINARY, "ncgen", "-o", folder / "nc.zarr"], input=CDL.encode(), check=True)
    write_image(folder / "image.zarr")
    sherd.create_group(folder / "bare.zarr").create_array("a", shape=4, dtype="uint8")
    sherd.create_array(folder / "dual.zarr", shape=SHAPE, dtype="uint8", chunks=(8, 16, 16), shards=(16, 32, 64),
                       volume={"resolution": [8, 8, 40]}, config={"layout": "zarr+neuroglancer"})[...] = BYTES
    zipped(folder / "three.zarr", folder / "three.zip")
    shutil.copy(folder / "three.zip", folder / "archive.dat")
    sherd.copy(folder / "image.zarr", folder / "image.ozx", raw=True)


@dataclasses.dataclass
class Place:
    """Where the files of a folder are on a server. `options` for Python and `environment` for a program say the same."""

    url: str
    options: dict
    environment: dict
    server: object
    bucket: str

    def __truediv__(self, path):
        return f"{self.url}/{path}"

    @property
    def can_list(self):
        return not self.url.startswith("http")


def read_by_zarr(there, through, paths):
    """What zarr-python reads through obstore or fsspec, each as description() says it."""
    server = {"url": there.server.url, "key": there.server.key, "secret": there.server.secret}
    asked = "".join(json.dumps({"through": through, "url": there / path, "server": server}) + "\n" for path in paths)
    peer = subprocess.run([ROOT / ".venv-ome/bin/python", ROOT / "tests/interop/remote_zarr_peer.py"], text=True, capture_output=True,
                          input=asked)
    assert peer.returncode == 0, f"exit code {peer.returncode}: {peer.stderr}"
    return [json.loads(line) for line in peer.stdout.splitlines()]


def description(values):
    values = np.asarray(values)
    return {"shape": list(values.shape), "dtype": str(values.dtype), "sha256": hashlib.sha256(values.tobytes("C")).hexdigest()}


def put(server, folder):
    bucket = server.create_bucket()
    server.put_folder(bucket, folder)
    if server.name == "nginx":
        return Place(server.at(bucket), {}, {}, server, bucket)
    if server.name == "fake_gcs":
        return Place(f"gs://{bucket}", {"endpoint": server.url}, {"STORAGE_EMULATOR_HOST": server.url}, server, bucket)
    options = {"key": server.key, "secret": server.secret, "endpoint_url": server.url, "region": server.region}
    return Place(f"s3://{bucket}", options, server.environment(), server, bucket)
