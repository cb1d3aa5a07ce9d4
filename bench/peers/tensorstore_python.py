"""TensorStore through its Python package."""

import importlib.metadata

import tensorstore


class Peer:
    """`variant` is synced (its default: files and directories are fsynced) or unsynced."""

    def __init__(self, variant):
        self.version = f"tensorstore {importlib.metadata.version('tensorstore')}"
        self.context = tensorstore.Context({"file_io_sync": variant == "synced"})

    def open(self, path, writable=False):
        return self._open(path, read=True, write=writable)

    def _open(self, path, **options):
        spec = {"driver": "zarr3", "kvstore": {"driver": "file", "path": path}}
        return tensorstore.open(spec, context=self.context, **options).result()

    def read(self, array, key):
        return array[key].read().result()

    def write(self, array, key, values):
        array[key].write(values).result()

    def create(self, path, size, layout):
        codecs = [{"name": "bytes", "configuration": {"endian": "little"}}]
        if layout.zstd:
            codecs.append({"name": "zstd", "configuration": {"level": 3}})
        chunk_layout = {"chunk": {"shape": [layout.chunks] * 3}}
        if layout.shards:
            chunk_layout = {"write_chunk": {"shape": [layout.shards] * 3}, "read_chunk": {"shape": [layout.chunks] * 3}}
            inner = {"chunk_shape": [layout.chunks] * 3, "codecs": codecs}
            codecs = [{"name": "sharding_indexed", "configuration": inner}]
        return self._open(
            path,
            create=True,
            dtype=tensorstore.uint16,
            shape=[size] * 3,
            chunk_layout=tensorstore.ChunkLayout(chunk_layout),
            codec=tensorstore.CodecSpec({"driver": "zarr3", "codecs": codecs}),
            fill_value=0,
        )

    def copy(self, source, target, size, layout):
        self.create(target, size, layout).write(self.open(source)).result()
