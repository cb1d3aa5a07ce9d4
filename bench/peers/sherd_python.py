"""Sherd through its Python package."""

import sherd

ZSTD = {"name": "zstd", "configuration": {"level": 3, "checksum": False}}  # as the other peers write it

class Peer:
    """`variant` is synced (the default of Sherd: what was written survives a power cut) or unsynced."""

    def __init__(self, variant):
        self.version = f"sherd {sherd.__version__}"
        self.config = {"durable": variant == "synced"}

    def open(self, path, writable=False):
        return sherd.open_array(path, mode="r+" if writable else "r", config=self.config)

    def read(self, array, key):
        return array[key]

    def write(self, array, key, values):
        array[key] = values

    def create(self, path, size, layout):
        return sherd.create_array(
            path,
            shape=(size,) * 3,
            dtype="uint16",
            chunks=(layout.chunks,) * 3,
            shards=(layout.shards,) * 3 if layout.shards else None,
            compressors=ZSTD if layout.zstd else None,
            config=self.config,
        )

    def copy(self, source, target, size, layout):
        sherd.copy(source, target, chunks=(layout.chunks,) * 3, shards=(layout.shards,) * 3, config=self.config)
