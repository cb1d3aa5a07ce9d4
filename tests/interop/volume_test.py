"""Volumes against tensorstore and cloud-volume, both ways: every voxel of what each writes the other reads, also after each
overwrote a part of what the other wrote, over types, encodings, channels and shardings.

The sizes are not multiples of the chunks, the volume does not begin at 0, and a part of it is 0 and so not stored. What is
decoded from a lossy encoding is compared between the decoders, to the bit, and with what was written about.

What they cannot, measured with tensorstore 0.1.86 and cloud-volume 12.15.2, is left out by cannot():
- cloud-volume takes the channels of jpeg and png, which alternate, for planes: it reads other voxels than it wrote.
- cloud-volume, through pyspng-seunglab 1.1.3, has no png of uint16 and one channel: "This channel number and byte width are
  unsupported", and "cannot reshape array of size 512 into shape (16,8,8,1)" where it reads one as uint8.
- cloud-volume has no compressed_segmentation of several channels: "cannot select an axis to squeeze out which has size not
  equal to one".
- cloud-volume writes shards and unsharded chunks as wholes, so its boxes are of these. It stores one encoded chunk of zeros
  for all of a shard, also for the clipped ones, which are then never read ("cannot reshape array of size 1024 into shape
  (16,5,8,1)"), so it is told not to store such chunks; and unsharded ones as `<key>.gz` unless it is told otherwise.
"""

import dataclasses
import importlib.util
import itertools

import numpy as np
import pytest
import sherd

from dependencies import missing
from shardings import sharding

OFFSET = (-3, 7, 0)
SIZE = (37, 29, 11)
CHUNK = (16, 8, 8)  # 3 x 4 x 2 of them: Morton bits x, y, z, x, y
FAST = {"durable": False}
WHOLE = (slice(None),) * 4
RESOLUTION = [4, 4.5, 40]


SHARDINGS = {
    "unsharded": None,
    "raw": sharding(bits=(1, 1, 3)),
    "gzip": sharding(bits=(2, 1, 2), index="gzip", data="gzip"),
    "one hashed shard": sharding("murmurhash3_x86_128", (2, 3, 0), index="gzip"),
}
INTEGERS = ("uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32")
KINDS = [
    *(("raw", dtype, 1) for dtype in (*INTEGERS, "float32")),
    *(("raw", dtype, 3) for dtype in ("uint8", "uint64", "float32")),
    ("jpeg", "uint8", 1),
    ("jpeg", "uint8", 3),
    ("png", "uint8", 1),
    ("png", "uint8", 3),
    ("png", "uint16", 1),
    ("png", "uint16", 4),
    *(("compressed_segmentation", dtype, channels) for dtype in ("uint32", "uint64") for channels in (1, 3)),
]


@dataclasses.dataclass(frozen=True)
class Case:
    encoding: str
    dtype: str
    channels: int
    sharding: str

    def __str__(self):
        return f"{self.encoding} {self.dtype}x{self.channels} {self.sharding}"

    @property
    def type(self):
        return "segmentation" if self.encoding == "compressed_segmentation" else "image"

    @property
    def tolerance(self):
        return 12 if self.encoding == "jpeg" else 0

    def scale(self):
        scale = {"size": list(SIZE), "resolution": RESOLUTION, "voxel_offset": list(OFFSET), "encoding": self.encoding}
        if self.encoding == "compressed_segmentation":
            scale["compressed_segmentation_block_size"] = [8, 8, 4]
        if SHARDINGS[self.sharding]:
            scale["sharding"] = SHARDINGS[self.sharding]
        return scale

    def data(self, seed=0):
        shape = (*SIZE, self.channels)
        if self.encoding == "jpeg":
            x, y, z, channel = np.indices(shape)
            return (x + 2 * y + 3 * z + 20 * channel + 5 * seed + 20).astype("uint8")
        data = np.random.default_rng(seed).integers(0, 2**63, shape, "u8")
        if self.type == "segmentation":
            data = data % 5 * (2**61 + 2**31 + 1)
        if seed == 0:
            data[:16] = 0
        return data.astype(self.dtype)


CASES = [Case(*kind, name) for kind, name in itertools.product(KINDS, SHARDINGS)]


def cannot(case, peer):
    channels = case.channels > 1 and case.encoding != "raw"
    return peer is CloudVolume and (channels or (case.encoding, case.dtype) == ("png", "uint16"))


def need(module):
    if importlib.util.find_spec(module) is None:
        missing(module)


class TensorStore:
    def __init__(self, folder):
        need("tensorstore")
        self.spec = {
            "driver": "neuroglancer_precomputed",
            "kvstore": {"driver": "file", "path": f"{folder}/"},
            "context": {"file_io_sync": False},
        }

    def open(self):
        import tensorstore

        return tensorstore.open({**self.spec, "scale_index": 0}).result()

    def create(self, case):
        import tensorstore

        tensorstore.open(
            {
                **self.spec,
                "multiscale_metadata": {"type": case.type, "data_type": case.dtype, "num_channels": case.channels},
                "scale_metadata": {**case.scale(), "chunk_size": CHUNK},
            },
            create=True,
        ).result()

    def read(self):
        return self.open().read().result()

    def write(self, where, data):
        # The origin of its domain is the voxel_offset.
        origin = (*OFFSET, 0)
        box = tuple(slice(*(None if at is None else at + first for at in (each.start, each.stop)))
                    for each, first in zip(where, origin))
        self.open()[box].write(data[where]).result()

    def box(self):
        return np.s_[5:30, 3:20, 2:9, :]


class CloudVolume:
    def __init__(self, folder):
        need("cloudvolume")
        need("pyspng")
        self.url = f"precomputed://file://{folder}"

    def open(self):
        from cloudvolume import CloudVolume

        return CloudVolume(
            self.url, fill_missing=True, delete_black_uploads=True, progress=False, compress=False
        )

    def create(self, case):
        from cloudvolume import CloudVolume

        scale = case.scale()
        info = CloudVolume.create_new_info(
            num_channels=case.channels,
            layer_type=case.type,
            data_type=case.dtype,
            encoding=case.encoding,
            resolution=scale["resolution"],
            voxel_offset=scale["voxel_offset"],
            volume_size=scale["size"],
            chunk_size=CHUNK,
            compressed_segmentation_block_size=scale.get("compressed_segmentation_block_size"),
        )
        if "sharding" in scale:
            info["scales"][0]["sharding"] = scale["sharding"]
        CloudVolume(self.url, info=info, progress=False).commit_info()

    def read(self):
        return np.asarray(self.open()[:])

    def step(self, volume):
        """What it writes as a whole: shards, or chunks."""
        return [int(n) for n in (volume.image.shard_shape(0) if volume.image.is_sharded(0) else CHUNK)]

    def write(self, where, data):
        volume = self.open()
        ranges = [range(*each.indices(size)) for each, size in zip(where, SIZE)]
        for corner in itertools.product(*(each[::step] for each, step in zip(ranges, self.step(volume)))):
            end = [min(at + length, each.stop) for at, length, each in zip(corner, self.step(volume), ranges)]
            box = tuple(slice(at + first, last + first) for at, last, first in zip(corner, end, OFFSET))
            volume[box] = data[tuple(map(slice, corner, end))]

    def box(self):
        """The second cell of its grid, where there is one."""
        firsts = [step if step < size else 0 for step, size in zip(self.step(self.open()), SIZE)]
        return tuple(slice(at, min(at + step, size)) for at, step, size in
                     zip(firsts, self.step(self.open()), SIZE)) + (slice(None),)


PAIRS = [(case, peer) for case in CASES for peer in (TensorStore, CloudVolume) if not cannot(case, peer)]


def name(value):
    return str(value) if isinstance(value, Case) else value.__name__


def make(case, folder):
    scale = {**case.scale(), "chunk_size": CHUNK}
    array = sherd.neuroglancer.create_precomputed(
        folder, type=case.type, dtype=case.dtype, num_channels=case.channels, scales=[scale], config=FAST
    )
    array[:] = case.data()


def compare(case, peer, folder, expected):
    ours = sherd.open_array(folder)[:]
    np.testing.assert_array_equal(ours, peer.read())
    np.testing.assert_allclose(ours.astype("f8"), expected.astype("f8"), rtol=0, atol=case.tolerance)
    if not case.tolerance:
        np.testing.assert_array_equal(ours, expected)
    report = sherd.check(folder, data=True)
    assert report["ok"], report["faults"]


def overwrite(case, peer, folder, expected):
    """A part by the peer, a part by Sherd, again a part by the peer."""
    ours = np.s_[14:33, 6:19, 0:10, :]
    for seed, (where, write) in enumerate([(peer.box(), None), (ours, "ours"), (peer.box(), None)], 1):
        data = case.data(seed)
        if write is None:
            peer.write(where, data)
        else:
            sherd.open_array(folder, mode="r+", config=FAST)[where] = data[where]
        expected[where] = data[where]
        compare(case, peer, folder, expected)


@pytest.mark.parametrize(("case", "peer"), PAIRS, ids=name)
def test_what_we_write_is_read_and_overwritten(case, peer, tmp_path):
    folder = tmp_path / "volume"
    peer = peer(folder)

    make(case, folder)

    data = case.data()
    compare(case, peer, folder, data)
    overwrite(case, peer, folder, data)


@pytest.mark.parametrize(("case", "peer"), PAIRS, ids=name)
def test_what_they_write_is_read_and_overwritten(case, peer, tmp_path):
    folder, data = tmp_path / "volume", case.data()
    peer = peer(folder)

    peer.create(case)
    peer.write(WHOLE, data)

    assert sherd.open_array(folder).attrs["voxel_offset"] == list(OFFSET)
    compare(case, peer, folder, data)
    overwrite(case, peer, folder, data)


@pytest.mark.parametrize("case", [case for case in CASES if case.channels > 1 and case.encoding in ("jpeg", "png")], ids=str)
def test_colours_that_cloud_volume_writes_are_read(case, tmp_path):
    folder = tmp_path / "volume"
    writer = CloudVolume(folder)

    writer.create(case)
    writer.write(WHOLE, case.data())

    compare(case, TensorStore(folder), folder, case.data())


@pytest.mark.parametrize("encoding, dtype, channels, error", [
    ("png", "uint16", 1, ValueError), ("png", "uint8", 3, None), ("jpeg", "uint8", 3, None)])
def test_what_cloud_volume_cannot_read(encoding, dtype, channels, error, tmp_path):
    """docs/copy.md says so."""
    scale = {"size": [16, 16, 8], "resolution": [4, 4, 40], "chunk_size": [16, 16, 8], "encoding": encoding}
    array = sherd.neuroglancer.create_precomputed(tmp_path, type="image", dtype=dtype, num_channels=channels, scales=[scale])
    array[:] = np.arange(array.size, dtype=dtype).reshape(array.shape)
    if error:
        with pytest.raises(error):
            CloudVolume(tmp_path).read()
    else:
        assert np.count_nonzero(abs(CloudVolume(tmp_path).read().astype(int) - array[:]) > 100)


@pytest.mark.parametrize("peer", [TensorStore, CloudVolume])
def test_a_grid_of_one_chunk_across_is_read(peer, tmp_path):
    """8 x 1 x 5 chunks: the Morton code takes bits of x and z alone, and 5 takes as many as 8."""
    size = (8 * 16 - 5, 7, 5 * 8 - 3)
    scale = {"size": size, "resolution": [4, 4.5, 40], "voxel_offset": OFFSET, "chunk_size": CHUNK}
    scale["sharding"] = sharding(bits=(1, 2, 3), data="gzip")
    data = np.random.default_rng(1).integers(0, 2**16, (*size, 3), "u2")

    array = sherd.neuroglancer.create_precomputed(tmp_path, type="image", dtype="uint16", num_channels=3, scales=[scale])
    array[:] = data

    np.testing.assert_array_equal(peer(tmp_path).read(), data)
    shards = sorted(path.name for path in (tmp_path / "4_4.5_40").iterdir())
    assert shards == [f"{number}.shard" for number in (0, 1, 2, 3, 4, 6)]  # bits z1, x2 and z2: z ends at 4
    assert sherd.check(tmp_path, data=True)["ok"]


@pytest.mark.parametrize("encoding, dtype", [("raw", "uint16"), ("compressed_segmentation", "uint64")])
def test_chunks_that_cloud_volume_compresses_are_read_and_replaced(encoding, dtype, tmp_path):
    """As it does unless it is told otherwise: each chunk is then called NAME.gz."""
    case = Case(encoding, dtype, 1, "unsharded")
    peer = CloudVolume(tmp_path)
    peer.create(case)
    peer.open = lambda: cloud_volume_of(peer.url)
    data = case.data()
    peer.write(WHOLE, data)
    (chunks,) = (path for path in tmp_path.iterdir() if path.is_dir())
    assert {path.suffix for path in chunks.iterdir()} == {".gz"}
    compare(case, peer, tmp_path, data)
    sherd.copy(tmp_path, tmp_path.with_suffix(".zarr"), to="zarr3", config=FAST)
    np.testing.assert_array_equal(sherd.open_array(tmp_path.with_suffix(".zarr") / chunks.name)[:].T, data[..., 0])
    where = np.s_[14:33, 6:19, 0:10, :]
    data[where] = case.data(1)[where]
    sherd.open_array(tmp_path, mode="r+", config=FAST)[where] = data[where]
    compare(case, peer, tmp_path, data)
    assert sherd.open_array(tmp_path).nchunks_initialized == len(list(chunks.iterdir()))


def cloud_volume_of(url):
    from cloudvolume import CloudVolume

    return CloudVolume(url, fill_missing=True, delete_black_uploads=True, progress=False)
