"""zarr-python, with its own codec pipelines and with that of zarrs."""

import importlib.metadata

import numcodecs
import zarr
import zarr.storage

PIPELINES = {
    "plain": "zarr.core.codec_pipeline.BatchedCodecPipeline",
    "fused": "zarr.core.codec_pipeline.FusedCodecPipeline",
    "zarrs": "zarrs.ZarrsCodecPipeline",
}


def create_v2(path, size, layout):
    return zarr.create_array(
        path,
        shape=(size,) * 3,
        dtype="uint16",
        chunks=layout.chunks,
        compressors=numcodecs.get_codec(layout.compressor),
        order=layout.order,
        fill_value=0,
        zarr_format=2,
    )


def opened(path, mode="r"):
    """The array in a directory or, at its root, in an archive."""
    return zarr.open_array(zarr.storage.ZipStore(path, mode="r") if path.endswith(".zip") else path, mode=mode)


class Peer:
    """`variant` is the codec pipeline. Nothing is fsynced."""

    def __init__(self, variant):
        self.version = f"zarr {zarr.__version__}"
        if variant == "zarrs":
            import zarrs  # noqa: F401  (registers its pipeline)

            self.version += f", zarrs {importlib.metadata.version('zarrs')}"
        zarr.config.set({"codec_pipeline.path": PIPELINES[variant]})

    def open(self, path, writable=False):
        return opened(path, "r+" if writable else "r")

    def read(self, array, key):
        return array[key]

    def read_many(self, array, keys):
        """Reads the regions one by one: zarr-python cannot read several in one call."""
        return [array[key] for key in keys]

    def write(self, array, key, values):
        array[key] = values

    def create(self, path, size, layout):
        return zarr.create_array(
            zarr.storage.ZipStore(path, mode="w") if path.endswith(".zip") else path,
            shape=(size,) * 3,
            dtype="uint16",
            chunks=(layout.chunks,) * 3,
            shards=(layout.shards,) * 3 if layout.shards else None,
            compressors=zarr.codecs.ZstdCodec(level=3) if layout.zstd else None,
            fill_value=0,
        )

    def finish(self, array):
        array.store_path.store.close()

    def create_v2(self, path, size, layout):
        return create_v2(path, size, layout)

    def copy(self, source, target, size, layout):
        """Copies one shard of the source at a time. It contains eight shards of the target."""
        read = self.open(source)
        write = self.create(target, size, layout)
        steps = [slice(at, at + read.shards[0]) for at in range(0, size, read.shards[0])]
        for z in steps:
            for y in steps:
                for x in steps:
                    write[z, y, x] = read[z, y, x]
