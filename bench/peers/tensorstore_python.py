"""TensorStore through its Python package."""

import importlib.metadata
import pathlib

import tensorstore


class Peer:
    """`variant` is synced (its default: files and directories are fsynced) or unsynced."""

    def __init__(self, variant):
        self.version = f"tensorstore {importlib.metadata.version('tensorstore')}"
        self.context = tensorstore.Context({"file_io_sync": variant == "synced"})

    def open(self, path, writable=False):
        return self._open(path, read=True, write=writable)

    def open_volume(self, path, **options):
        spec = {"driver": "neuroglancer_precomputed", "kvstore": {"driver": "file", "path": f"{path}/"}} | options.pop("spec", {})
        return FortranOrder(tensorstore.open(spec, context=self.context, **options).result())

    def create_volume(self, path, size, volume, **_):
        multiscale = {"type": volume.type, "data_type": volume.dtype, "num_channels": 1}
        scale = volume.scale(size) | {"chunk_size": [size // 8] * 3}
        return self.open_volume(path, create=True, spec={"multiscale_metadata": multiscale, "scale_metadata": scale})

    def write_volume(self, array, elements):
        array.write(elements).result()

    def _open(self, path, **options):
        driver = "zarr" if pathlib.Path(path, ".zarray").exists() else "zarr3"
        kvstore = {"driver": "file", "path": path}
        if path.endswith(".zip"):
            kvstore = {"driver": "zip", "base": kvstore}
        spec = {"driver": driver, "kvstore": kvstore}
        return tensorstore.open(spec, context=self.context, **options).result()

    def create_v2(self, path, size, layout):
        metadata = {"shape": [size] * 3, "chunks": layout.chunks, "dtype": "<u2", "order": layout.order, "fill_value": 0,
                    "compressor": layout.compressor, "filters": None, "zarr_format": 2}
        spec = {"driver": "zarr", "kvstore": {"driver": "file", "path": path}, "metadata": metadata}
        return tensorstore.open(spec, context=self.context, create=True).result()

    def read(self, array, key):
        return array[key].read().result()

    def read_many(self, array, keys):
        """One batch, whose requests are merged."""
        with tensorstore.Batch() as batch:
            reads = [array[key].read(batch=batch) for key in keys]
        return [read.result() for read in reads]

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


class FortranOrder:
    """A volume whose results have the memory order of its chunks."""

    def __init__(self, array):
        self.array = array

    def __getitem__(self, key):
        return FortranOrder(self.array[key])

    def read(self):
        return self.array.read(order="F")

    def write(self, values):
        return self.array.write(values)
