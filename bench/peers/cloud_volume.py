"""cloud-volume, and its compressed_segmentation codec. Nothing is fsynced."""

import importlib.metadata
import itertools

import compressed_segmentation
from cloudvolume import CloudVolume

BLOCK = (8, 8, 8)


class Peer:
    def __init__(self, variant):
        self.version = ", ".join(f"{name} {importlib.metadata.version(name)}" for name in ("cloud-volume", "compressed-segmentation"))

    def open_volume(self, path):
        return CloudVolume(f"precomputed://file://{path}", progress=False)

    def read(self, volume, key):
        return volume[key]

    def create_volume(self, path, size, volume, **_):
        scale = volume.scale(size)
        info = CloudVolume.create_new_info(
            num_channels=1,
            layer_type=volume.type,
            data_type=volume.dtype,
            encoding=volume.encoding,
            resolution=scale["resolution"],
            voxel_offset=scale["voxel_offset"],
            volume_size=scale["size"],
            chunk_size=[size // 8] * 3,
            compressed_segmentation_block_size=scale.get("compressed_segmentation_block_size"),
        )
        info["scales"][0]["sharding"] = scale["sharding"]
        made = CloudVolume(f"precomputed://file://{path}", info=info, progress=False)
        made.commit_info()
        return made

    def write_volume(self, volume, elements):
        """One shard per call, because it writes no more at a time."""
        step = elements.shape[0] // 2
        for corner in itertools.product((0, step), repeat=3):
            key = tuple(slice(at, at + step) for at in corner)
            volume[key] = elements[key]

    def segmentation_codec(self, chunks):
        return SegmentationCodec(chunks)


class SegmentationCodec:
    def __init__(self, chunks):
        self.chunks = chunks
        self.encoded = [b""] * len(chunks)
        for number in range(len(chunks)):
            self.encode(number)

    def encode(self, number):
        self.encoded[number] = compressed_segmentation.compress(self.chunks[number], BLOCK, order="F")

    def decode(self, number):
        chunk = self.chunks[number]
        return compressed_segmentation.decompress(self.encoded[number], chunk.shape, chunk.dtype, BLOCK, order="F")
