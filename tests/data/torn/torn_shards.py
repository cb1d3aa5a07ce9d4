"""Makes the shards in this directory: what zarr-python 3.1.6 and zarrs 0.2.3 leave when they are killed while they write one.

    python torn_shards.py DIRECTORY

Each is an array of 64 x 64 uint16, arange(4096), in one shard of 8 x 8 chunks. A process writes it and gets SIGKILL at the
byte at which a limit on the size of files cuts its write short. zarr-python writes through fsspec, which like zarrs writes
into the file itself; its LocalStore writes another file first and leaves no torn shard.
"""

import os
import pathlib
import resource
import signal
import sys

import numpy
import zarr
from zarr.codecs import BytesCodec, Crc32cCodec, ShardingCodec
from zarr.storage import FsspecStore, LocalStore

LIMIT = 5000  # bytes; the whole shard has 9,476
VALUES = numpy.arange(64 * 64, dtype=numpy.uint16).reshape(64, 64)
ZARRS = {"codec_pipeline.path": "zarrs.ZarrsCodecPipeline"}


def write(directory, peer, location):
    """Does not return."""
    signal.signal(signal.SIGXFSZ, lambda *ignored: os.kill(os.getpid(), signal.SIGKILL))
    store = FsspecStore.from_url(directory.resolve().as_uri(), storage_options={"auto_mkdir": True}) if peer == "zarr-python" else LocalStore(directory)
    sharding = ShardingCodec(chunk_shape=(8, 8), codecs=[BytesCodec(), Crc32cCodec()], index_location=location)
    array = zarr.create_array(store, shape=VALUES.shape, dtype=VALUES.dtype, chunks=VALUES.shape, serializer=sharding, filters=None,
                              compressors=None, fill_value=0)
    resource.setrlimit(resource.RLIMIT_FSIZE, (LIMIT, LIMIT))
    with zarr.config.set(ZARRS if peer == "zarrs" else {}):
        zarr.open_array(store, mode="r+")[:] = VALUES
    raise SystemExit(f"{peer} was not killed: {array.name}")


def make(root):
    for peer in ["zarr-python", "zarrs"]:
        for location in ["start", "end"]:
            directory = root / f"{peer}-{location}"
            child = os.fork()
            if child == 0:
                write(directory, peer, location)
            status = os.waitpid(child, 0)[1]
            assert os.WTERMSIG(status) == signal.SIGKILL, (directory, status)
            assert (directory / "c/0/0").stat().st_size == LIMIT, directory


if __name__ == "__main__":
    make(pathlib.Path(sys.argv[1]))
