"""Sherd through its Python package."""

import sherd
import sherd.neuroglancer

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

    def read_many(self, array, keys):
        return array.read_many(keys)

    def write(self, array, key, values):
        array[key] = values

    def create(self, path, size, layout, dtype="uint16"):
        return sherd.create_array(
            path,
            shape=(size,) * 3,
            dtype=dtype,
            chunks=(layout.chunks,) * 3,
            shards=(layout.shards,) * 3 if layout.shards else None,
            compressors=ZSTD if layout.zstd else None,
            config=self.config,
        )

    def finish(self, array):
        array.close()

    def create_v2(self, path, size, layout):
        codec = dict(layout.compressor)
        name = codec.pop("id")
        transposed = [{"name": "transpose", "configuration": {"order": [2, 1, 0]}}] if layout.order == "F" else []
        if name == "blosc":
            codec["shuffle"] = "shuffle"
        return sherd.create_array(
            path,
            shape=(size,) * 3,
            dtype="uint16",
            chunks=layout.chunks,
            codecs=[*transposed, "bytes", {"name": name, "configuration": codec}],
            chunk_key_encoding={"name": "v2", "separator": "."},  # as the other peers write them
            format="zarr2",
            config=self.config,
        )

    def open_volume(self, path):
        return sherd.open_array(path, scale=0, config=self.config | {"order": "F"})

    def create_volume(self, path, size, volume, **settings):
        scale = volume.scale(size) | {"chunk_sizes": [[size // 8] * 3]}
        kind = {"type": volume.type, "dtype": volume.dtype}
        return sherd.neuroglancer.create_precomputed(path, **kind, scales=[scale], config=self.config | settings)

    def write_volume(self, array, elements):
        array[...] = elements

    def segmentation_codec(self, chunks):
        return SegmentationCodec(chunks)

    def copy(self, source, target, size, layout):
        sherd.copy(source, target, chunks=(layout.chunks,) * 3, shards=(layout.shards,) * 3, config=self.config)


class SegmentationCodec:
    """Chunks of single-chunk volumes in memory, on one thread."""

    def __init__(self, chunks):
        self.chunks = chunks
        self.volumes = [self._created(chunk) for chunk in chunks]
        for number in range(len(chunks)):
            self.encode(number)

    def _created(self, chunk):
        scale = {"size": chunk.shape[:3], "resolution": [1, 1, 1], "chunk_sizes": [chunk.shape[:3]], "encoding": "compressed_segmentation"}
        config = {"threads": 1, "order": "F"}
        return sherd.neuroglancer.create_precomputed(sherd.MemoryStore(), type="segmentation", dtype=chunk.dtype, scales=[scale], config=config)

    def encode(self, number):
        self.volumes[number][...] = self.chunks[number]

    def decode(self, number):
        return self.volumes[number][...]
