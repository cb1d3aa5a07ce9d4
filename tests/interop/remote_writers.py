"""What the processes of interop/remote_writers_test.py do: each changes its own parts of what all of them change."""

import os

import numpy as np
import sherd
from shardings import sharding

WORKERS = 8
ROWS, WIDTH = 16, 64  # of an inner chunk
SHARDING = sharding("identity", (0, 0, 0), "gzip", "gzip")  # one shard


def mark(worker, i):
    return 1 + worker + WORKERS * i


def own(worker, i, count=64):
    """One of the worker's parts of `count`, which its next updates replace."""
    return worker + WORKERS * (i % (count // WORKERS))


class Chunks:
    """Inner chunks of one shard of 256 KiB."""

    @staticmethod
    def create(url, options):
        sherd.create_array(url, shape=(64 * ROWS, WIDTH), dtype="u4", chunks=(ROWS, WIDTH), shards=(64 * ROWS, WIDTH), compressors=None,
                           storage_options=options)[...] = 0

    @staticmethod
    def open(url, options):
        return sherd.open_array(url, mode="r+", storage_options=options)

    @staticmethod
    def update(array, worker, i):
        chunk = own(worker, i)
        array[chunk * ROWS:(chunk + 1) * ROWS] = mark(worker, i)

    @staticmethod
    def found(url, options):
        values = sherd.open_array(url, storage_options=options)[...].reshape(64, -1)
        assert (values == values[:, :1]).all()
        return set(values[:, 0].tolist()) - {0}

    replaces = 64


class LargeShard(Chunks):
    """Inner chunks of one shard of 8 MiB, which other writers could send in parts."""

    @staticmethod
    def create(url, options):
        sherd.create_array(url, shape=(64 * ROWS, 32 * WIDTH), dtype="u4", chunks=(ROWS, 32 * WIDTH), shards=(64 * ROWS, 32 * WIDTH),
                           compressors=None, storage_options=options)[...] = 0


class Voxels:
    """Chunks of a volume of labels in one shard, whose chunks are found by their ids."""

    SIZE = (4, 4, 4)  # chunks

    @staticmethod
    def create(url, options):
        scale = {"size": [16, 16, 16], "resolution": [1, 1, 1], "chunk_size": [4, 4, 4], "encoding": "raw",
                 "sharding": sharding("murmurhash3_x86_128", (0, 2, 0), "gzip", "gzip")}
        sherd.neuroglancer.create_precomputed(url, type="segmentation", dtype="uint64", scales=[scale],
                                              config={"storage_options": options})

    open = Chunks.open

    @staticmethod
    def update(volume, worker, i):
        x, y, z = (4 * each for each in np.unravel_index(own(worker, i), Voxels.SIZE))
        volume[x:x + 4, y:y + 4, z:z + 4] = mark(worker, i)

    @staticmethod
    def found(url, options):
        return set(np.unique(sherd.open_array(url, storage_options=options)[...]).tolist()) - {0}

    replaces = 64


class Attributes:
    """Attributes of one group."""

    @staticmethod
    def create(url, options):
        sherd.create_group(url, storage_options=options)

    @staticmethod
    def open(url, options):
        return sherd.open_group(url, mode="r+", storage_options=options)

    @staticmethod
    def update(group, worker, i):
        group.attrs[f"{worker}_{i}"] = mark(worker, i)

    @staticmethod
    def found(url, options):
        return set(sherd.open_group(url, storage_options=options).attrs.values())

    replaces = 0


class Values:
    """Values by id, all in one shard."""

    @staticmethod
    def create(url, options):
        Values.open(url, options).put(2**40, b"")

    @staticmethod
    def open(url, options):
        return sherd.neuroglancer.ShardedStore(url, SHARDING, mode="r+", config={"storage_options": options})

    @staticmethod
    def update(values, worker, i):
        values.put(mark(worker, i), str(mark(worker, i)).encode())

    @staticmethod
    def found(url, options):
        values = Values.open(url, options)
        ids = [id for id in values.list() if id != 2**40]
        assert [int(each) for each in values.get_many(ids)] == ids
        return set(ids)

    replaces = 0


class Rows:
    """Rows appended to an array, whose last shard all of them change."""

    @staticmethod
    def create(url, options):
        sherd.create_array(url, shape=(0, 4), dtype="u4", chunks=(8, 4), shards=(4096, 4), storage_options=options)

    open = Chunks.open

    @staticmethod
    def update(array, worker, i):
        array.append(np.full((1, 4), mark(worker, i), "u4"))

    @staticmethod
    def found(url, options):
        rows = sherd.open_array(url, storage_options=options)[...]
        assert (rows == rows[:, :1]).all()
        stored = rows[rows[:, 0] != 0, 0].tolist()  # a killed process may have shown a row that it has not written
        assert len(set(stored)) == len(stored)
        return set(stored)

    replaces = 0


KINDS = {each.__name__.lower(): each for each in (Chunks, LargeShard, Voxels, Attributes, Values, Rows)}


def expected(kind, counts):
    """The marks of the last update of each part; counts: {worker: its updates}."""
    last = {}
    for worker, count in counts.items():
        for i in range(count):
            part = own(worker, i, KINDS[kind].replaces) if KINDS[kind].replaces else (worker, i)
            last[part] = mark(worker, i)
    return set(last.values())


def work(kind, url, options, worker, count, acknowledge):
    """The process of a worker. Each update that has ended is one byte in the pipe; another byte means a failure."""
    try:
        handle = KINDS[kind].open(url, options)
        for i in range(count):
            KINDS[kind].update(handle, worker, i)
            os.write(acknowledge.fileno(), b".")
    except Exception as error:
        os.write(acknowledge.fileno(), f"!{error!r}".encode())
