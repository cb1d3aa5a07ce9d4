"""What is measured: the cells, and the shapes, boxes and points that all peers are asked for.

The array is a cube; its shards (or unsharded chunks) are half as long as it, inner chunks an eighth. Boxes and points are
drawn once into the data folder, from where the C++ programs read them too.
"""

import dataclasses
import pathlib


@dataclasses.dataclass(frozen=True)
class Cell:
    """One thing to measure. `layout` names the array that is read, or that is written."""

    name: str
    title: str
    layout: str
    writes: bool = False

    @property
    def noisy(self):
        """Whether the elements are the noisy ones."""
        return self.layout == "noisy"


CELLS = [
    Cell("read-raw", "read all, raw", "raw"),
    Cell("read-zstd", "read all, zstd", "zstd"),
    Cell("read-sharded", "read all, sharded", "sharded"),
    Cell("read-noisy", "read all, sharded, noisy", "noisy"),
    Cell("shards", "read shard by shard, 8 calls", "sharded"),
    Cell("chunks", "read inner chunk by inner chunk, 512 calls", "sharded"),
    Cell("boxes", "read 64 unaligned boxes", "sharded"),
    Cell("points", "read 500 single elements", "sharded"),
    Cell("write-raw", "write, raw", "raw", True),
    Cell("write-zstd", "write, zstd", "zstd", True),
    Cell("write-sharded", "write, sharded", "sharded", True),
    Cell("write-noisy", "write, sharded, noisy", "noisy", True),
    Cell("update", "update one inner chunk of a noisy shard", "noisy", True),
    Cell("reshard", "copy to shards and inner chunks half as long", "sharded", True),
]
BY_NAME = {cell.name: cell for cell in CELLS}


@dataclasses.dataclass(frozen=True)
class Layout:
    """How an array is stored: lengths of the edges; no shards where `shards` is None."""

    chunks: int
    shards: int | None
    zstd: bool


@dataclasses.dataclass(frozen=True)
class Place:
    """Where the arrays are, and one peer's own folder to write to."""

    data: pathlib.Path
    scratch: pathlib.Path
    size: int

    @property
    def shape(self):
        return (self.size,) * 3

    def source(self, cell):
        """The array that is read."""
        return str(self.data / f"{cell.layout}.zarr")

    def target(self, cell):
        """The array that is written."""
        return str(self.scratch / f"{cell.name}.zarr")

    def elements(self, cell):
        """The file with the elements, in C order."""
        return self.data / ("noisy.bin" if cell.noisy else "plain.bin")

    def layout(self, cell):
        """The layout of what a cell writes."""
        if cell.name == "reshard":
            return Layout(self.size // 16, self.size // 4, True)
        return layout(cell.layout, self.size)

    def keys(self, cell):
        """The selections of a cell that reads, as NumPy takes them."""
        if cell.name == "shards":
            return tiles(self.size, self.size // 2)
        if cell.name == "chunks":
            return tiles(self.size, self.size // 8)
        if cell.name == "boxes":
            length = box_length(self.size)
            return [tuple(slice(at, at + length) for at in corner) for corner in triples(self.data / "boxes.txt")]
        if cell.name == "points":
            return triples(self.data / "points.txt")
        return [(slice(0, self.size),) * 3]

    def updated(self, repeat):
        """The inner chunk, in the first shard, that the update number `repeat` replaces."""
        length = self.size // 8
        corner = (repeat % 4, repeat // 4 % 4, repeat // 16 % 4)
        return tuple(slice(at * length, (at + 1) * length) for at in corner)


def layout(name, size):
    """The layout of one of the arrays raw, zstd, sharded, noisy."""
    if name in ("raw", "zstd"):
        return Layout(size // 2, None, name == "zstd")
    return Layout(size // 8, size // 2, True)


def box_length(size):
    return size * 100 // 512


def tiles(size, length):
    """The cube in pieces, in C order."""
    steps = range(0, size, length)
    return [tuple(slice(at, at + length) for at in (z, y, x)) for z in steps for y in steps for x in steps]


def triples(path):
    """Coordinates z y x, one triple a line."""
    return [tuple(map(int, line.split())) for line in path.read_text().splitlines()]
