"""What `sherd create` writes from the shortest that may be said of a codec is opened and read by others."""

import importlib
import json
import warnings

import numpy
import pytest

from cli.conftest import Command
from dependencies import missing

SHORT_FORMS = [
    *("bytes", "bytes:big", "transpose:1,0", "gzip", "gzip:9", "zstd", "zstd:-5", "blosc", "blosc:lz4:1", "crc32c"),
    *("crc32", "adler32", "fletcher32", "zlib", "bz2", "lzma", "lzma:2", "lz4", "shuffle", "delta", "jenkins_lookup3"),
    *("numcodecs.zstd", "numcodecs.gzip:2", "numcodecs.blosc", "numcodecs.zlib", "numcodecs.crc32", "numcodecs.crc32c"),
]
NAMES = [
    *("bytes", "gzip", "zstd", "blosc", "crc32c", "numcodecs.zlib", "numcodecs.lzma", "numcodecs.bz2", "numcodecs.lz4"),
    *("numcodecs.zstd", "numcodecs.gzip", "numcodecs.blosc", "numcodecs.crc32", "numcodecs.crc32c"),
    *("numcodecs.adler32", "numcodecs.fletcher32", "numcodecs.shuffle", "numcodecs.delta", "numcodecs.jenkins_lookup3"),
]
OF_TENSORSTORE = {"bytes", "gzip", "zstd", "blosc", "crc32c", "transpose"}
VALUES = numpy.arange(70, dtype="uint16").reshape(7, 10)


def peer(name):
    if importlib.util.find_spec(name) is None:
        missing(name)
    return importlib.import_module(name)


def read_by_tensorstore(path):
    spec = {"driver": "zarr3", "kvstore": {"driver": "file", "path": f"{path}/"}}
    return peer("tensorstore").open(spec).result().read().result()


@pytest.mark.parametrize("shards", [[], ["--shards", "8,8"]], ids=["plain", "sharded"])
@pytest.mark.parametrize("codec", [*SHORT_FORMS, *(json.dumps({"name": name}) for name in NAMES)])
def test_peers_read_arrays_created_with_short_forms_of_codecs(tmp_path, codec, shards):
    sherd = Command(tmp_path)
    sherd.ok("create", "a", "--shape", "7,10", "--dtype", "uint16", "--chunks", "4,4", *shards, "--codec", codec)
    sherd.ok("write", "a", "-i", "-", "--format", "raw", input=VALUES.tobytes())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # zarr-python's, of codecs that are in no specification
        assert numpy.array_equal(peer("zarr").open_array(tmp_path / "a", mode="r")[...], VALUES)
    written = json.loads((tmp_path / "a/zarr.json").read_text())["codecs"]
    chain = written[0]["configuration"]["codecs"] if shards else written
    if {each["name"] for each in chain} <= OF_TENSORSTORE:
        assert numpy.array_equal(read_by_tensorstore(tmp_path / "a"), VALUES)
