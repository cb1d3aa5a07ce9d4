"""What is measured: the cells, and the shapes, boxes and points that every peer reads or writes.

The array is a cube; its shards (or unsharded chunks) are half as long as it, inner chunks an eighth. The volumes have
the same lengths. Boxes and points are drawn once and stored in the data folder, where the C++ programs read them too.
"""

import dataclasses
import itertools
import pathlib


@dataclasses.dataclass(frozen=True)
class Cell:
    """One measurement. `layout` names the array that is read or written."""

    name: str
    title: str
    layout: str
    writes: bool = False
    gzip_level: int | None = None  # if the peer can choose; otherwise its default (Sherd: 3 for images, 6 for labels)
    is_cold: bool = False  # whether the page cache forgets the array before each call

    @property
    def is_together(self):
        """Whether its selections are read by one call, in peers that have such a call."""
        return self.name.endswith("together")

    @property
    def elements(self):
        """The name of what is stored."""
        if self.is_v2:
            return "noisy"
        if self.is_small:
            return "small"
        return {"raw": "plain", "zstd": "plain", "sharded": "plain", "single": "noisy", "members": "noisy"}.get(self.layout, self.layout)

    @property
    def dtype(self):
        return VOLUMES[self.layout].dtype if self.is_volume else "uint16"

    @property
    def is_v2(self):
        """Whether it measures an array of Zarr v2."""
        return self.layout in V2

    @property
    def is_small(self):
        """Whether it measures an array with a one-byte type, which is compared with other such types of Sherd."""
        return self.layout in SMALL

    @property
    def is_of_archives(self):
        """Whether it compares zip archives with directories of the same files."""
        return self.name.startswith(("zip-", "dir-"))

    @property
    def is_in_archive(self):
        return self.name.startswith("zip-")

    @property
    def is_volume(self):
        """Whether it measures a Neuroglancer precomputed volume."""
        return self.layout in VOLUMES


@dataclasses.dataclass(frozen=True)
class Volume:
    type: str
    dtype: str
    encoding: str

    def sharding(self):
        """Eight shards, each a cube of 64 chunks."""
        return {
            "@type": "neuroglancer_uint64_sharded_v1",
            "hash": "identity",
            "preshift_bits": 3,
            "minishard_bits": 3,
            "shard_bits": 3,
            "minishard_index_encoding": "gzip",
            "data_encoding": "gzip",
        }

    def scale(self, size):
        """The scale as in the info document."""
        scale = {"size": [size] * 3, "resolution": [8, 8, 8], "encoding": self.encoding, "sharding": self.sharding()}
        return scale | {"key": "8_8_8", "voxel_offset": [0, 0, 0]} | self.blocks()

    def blocks(self):
        return {"compressed_segmentation_block_size": [8, 8, 8]} if self.encoding == "compressed_segmentation" else {}


VOLUMES = {"image": Volume("image", "uint8", "raw"), "labels": Volume("segmentation", "uint64", "compressed_segmentation")}


@dataclasses.dataclass(frozen=True)
class V2Layout:
    """An array of Zarr v2 with chunks of 1 MiB; `compressor` is a numcodecs configuration."""

    compressor: dict
    order: str
    chunks = (64, 64, 128)


BLOSC = {"id": "blosc", "cname": "lz4", "clevel": 5, "shuffle": 1, "blocksize": 0}
ZLIB = {"id": "zlib", "level": 1}
V2 = {f"v2-{codec['id']}-{order.lower()}": V2Layout(codec, order) for codec in (BLOSC, ZLIB) for order in "CF"}


def v2_cells():
    for layout, v2 in V2.items():
        what = f"Zarr v2, {v2.compressor['id']}, order {v2.order}"
        yield Cell(f"read-{layout}", f"read all, {what}", layout)
        yield Cell(f"tiles-{layout}", f"read chunk by chunk, {what}", layout)
        yield Cell(f"tiles-{layout}-together", f"read all chunks in one call, {what}", layout)
        yield Cell(f"boxes-{layout}", f"read 64 unaligned boxes, {what}", layout)
        yield Cell(f"write-{layout}", f"write, {what}", layout, True)


MEMBERS = 10_000  # of the archive `members`, which has the files of the array `single` and others


def archive_cells():
    """Each cell is measured with a directory, and with an archive of the same files."""
    def pair(name, title, *rest, **more):
        for where, place in (("dir", "files"), ("zip", "a zip archive")):
            yield Cell(f"{where}-{name}", f"{title}, {place}", *rest, **more)

    for cold, state in ((False, ""), (True, ", cold")):
        end = "-cold" if cold else ""
        yield from pair(f"read-single{end}", f"read all, 512 chunks{state}", "single", is_cold=cold)
        yield from pair(f"chunks-single{end}", f"read 500 single chunks{state}", "single", is_cold=cold)
        yield from pair(f"read-noisy{end}", f"read all, sharded, noisy{state}", "noisy", is_cold=cold)
    yield from pair("write-single", "write 512 chunks", "single", True)
    yield from pair("write-noisy", "write, sharded, noisy", "noisy", True)
    yield Cell("zip-open", f"open a zip archive of {MEMBERS} members and read an element", "members")


# Arrays of equal bytes in three types. By the name of the array: the type, and how it is stored.
SMALL = {f"{dtype.split('_')[0]}-{stored}": (dtype, stored) for stored in ("raw", "sharded") for dtype in ("uint8", "float8_e4m3", "int4")}

CELLS = [
    Cell("read-raw", "read all, raw", "raw"),
    Cell("read-zstd", "read all, zstd", "zstd"),
    Cell("read-sharded", "read all, sharded", "sharded"),
    Cell("read-noisy", "read all, sharded, noisy", "noisy"),
    Cell("shards", "read shard by shard, 8 calls", "sharded"),
    Cell("chunks", "read inner chunk by inner chunk, 512 calls", "sharded"),
    Cell("together", "read 512 inner chunks in no order, one call", "sharded"),
    Cell("boxes", "read 64 unaligned boxes", "sharded"),
    Cell("boxes-together", "read 64 unaligned boxes, one call", "sharded"),
    Cell("points", "read 500 single elements", "sharded"),
    Cell("read-image", "read all of an image volume", "image"),
    Cell("read-labels", "read all of a label volume", "labels"),
    Cell("chunks-image", "read 100 random chunks of an image volume", "image"),
    Cell("chunks-labels", "read 100 random chunks of a label volume", "labels"),
    Cell("decode-labels", "decode 64 chunks of compressed_segmentation", "labels"),
    Cell("encode-labels", "encode 64 chunks as compressed_segmentation", "labels"),
    Cell("write-raw", "write, raw", "raw", True),
    Cell("write-zstd", "write, zstd", "zstd", True),
    Cell("write-sharded", "write, sharded", "sharded", True),
    Cell("write-noisy", "write, sharded, noisy", "noisy", True),
    Cell("update", "update one inner chunk of a noisy shard", "noisy", True),
    Cell("reshard", "copy to shards and inner chunks half as long", "sharded", True),
    Cell("build-image", "build an image volume", "image", True),
    Cell("build-labels", "build a label volume", "labels", True),
    Cell("build-image-6", "build an image volume, gzip level 6", "image", True, 6),
    Cell("build-labels-3", "build a label volume, gzip level 3", "labels", True, 3),
    *v2_cells(),
    *archive_cells(),
    *(Cell(f"read-{name}", f"read all, {stored}, {dtype}", name) for name, (dtype, stored) in SMALL.items()),
]
BY_NAME = {cell.name: cell for cell in CELLS}


def groups(names):
    """Cells by these names, in lists of cells that are compared with each other: the same bytes with several types, or
    in a directory and in an archive."""
    def compared(cell):
        if cell.is_of_archives:
            return cell.name[3:]
        return SMALL[cell.layout][1] if cell.is_small else cell.name

    return [list(group) for _, group in itertools.groupby((BY_NAME[name] for name in names), compared)]


@dataclasses.dataclass(frozen=True)
class Layout:
    """How an array is stored: the lengths of its edges; `shards` is None for unsharded arrays."""

    chunks: int
    shards: int | None
    zstd: bool


@dataclasses.dataclass(frozen=True)
class Place:
    """Where the arrays are, and one peer's own folder for output."""

    data: pathlib.Path
    scratch: pathlib.Path
    size: int

    @property
    def shape(self):
        return (self.size,) * 3

    def source(self, cell):
        """The array that is read."""
        return str(self.data / f"{cell.layout}{suffix(cell)}")

    def target(self, cell):
        """The array that is written."""
        return str(self.scratch / f"{cell.name}{suffix(cell)}")

    def elements(self, cell):
        """The file with the elements, in C order."""
        return self.data / f"{cell.elements}.bin"

    def layout(self, cell):
        """The layout of what a cell writes."""
        if cell.is_v2:
            return V2[cell.layout]
        if cell.name == "reshard":
            return Layout(self.size // 16, self.size // 4, True)
        return layout(cell.layout, self.size)

    def keys(self, cell):
        """The selections of a reading cell, as NumPy indices."""
        if cell.name.startswith("tiles-"):
            return tiles_of(self.size, V2[cell.layout].chunks)
        if cell.name == "shards":
            return tiles(self.size, self.size // 2)
        if cell.name.startswith(("dir-chunks", "zip-chunks")):
            chunks = tiles(self.size, self.size // 8)
            return [chunks[i * 197 % len(chunks)] for i in range(500)]
        if cell.name == "zip-open":
            return [(0, 0, 0)]
        if cell.name == "chunks":
            return tiles(self.size, self.size // 8)
        if cell.name == "together":
            chunks = tiles(self.size, self.size // 8)
            return [chunks[i * 197 % len(chunks)] for i in range(len(chunks))]
        if cell.name.startswith("chunks-"):
            length = self.size // 8
            corners = [[at // length * length for at in point] for point in triples(self.data / "points.txt")[:100]]
            return [tuple(slice(at, at + length) for at in corner) for corner in corners]
        if cell.name.endswith("code-labels"):
            return tiles(self.size // 2, self.size // 8)
        if cell.name.startswith("boxes"):
            length = box_length(self.size)
            return [tuple(slice(at, at + length) for at in corner) for corner in triples(self.data / "boxes.txt")]
        if cell.name == "points":
            return triples(self.data / "points.txt")
        return [(slice(0, self.size),) * 3]

    def updated(self, repeat):
        """The inner chunk in the first shard that is replaced by update number `repeat`."""
        length = self.size // 8
        corner = (repeat % 4, repeat // 4 % 4, repeat // 16 % 4)
        return tuple(slice(at * length, (at + 1) * length) for at in corner)


def suffix(cell):
    if cell.is_in_archive:
        return ".zip"
    return ".precomputed" if cell.is_volume else ".zarr"


def layout(name, size):
    """The layout of one of the arrays raw, zstd, single, sharded, noisy."""
    if name == "single":
        return Layout(size // 8, None, True)
    if name in ("raw", "zstd"):
        return Layout(size // 2, None, name == "zstd")
    return Layout(size // 8, size // 2, True)


def box_length(size):
    return size * 100 // 512


def tiles(size, length):
    """The cube divided into equal pieces, in C order."""
    return tiles_of(size, (length,) * 3)


def tiles_of(size, lengths):
    """The cube divided into pieces with different edges."""
    starts = itertools.product(*(range(0, size, length) for length in lengths))
    return [tuple(slice(at, at + length) for at, length in zip(corner, lengths)) for corner in starts]


def triples(path):
    """Coordinates z y x, one triple per line."""
    return [tuple(map(int, line.split())) for line in path.read_text().splitlines()]
