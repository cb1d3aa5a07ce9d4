"""Makes the arrays that are measured, and tells what has to come out.

    data.py make FOLDER SIZE      the arrays (written by zarr-python), their elements, the boxes, the points, the digests
    data.py digest ARRAY LENGTH   the digest of an array's first LENGTH^3 elements, as zarr-python reads them

The elements are those of the public benchmark zarrs/zarr_benchmarks; the noisy ones have four random low bits.
A digest is the CRC-32 of elements in C order, of one selection after another.
"""

import json
import pathlib
import random
import shutil
import sys
import zlib

import numpy
import zarr

import cells


def plain(size):
    z, y, x = numpy.ogrid[:size, :size, :size]
    return ((x + y * y // 32 + z**3) % 65536).astype("uint16")


def noisy(elements):
    return (elements >> 6) + numpy.random.default_rng(1).integers(0, 16, elements.shape, dtype="uint16")


def create(path, size, layout):
    return zarr.create_array(
        path,
        shape=(size,) * 3,
        dtype="uint16",
        chunks=(layout.chunks,) * 3,
        shards=(layout.shards,) * 3 if layout.shards else None,
        compressors=zarr.codecs.ZstdCodec(level=3) if layout.zstd else None,
        fill_value=0,
    )


def digest(pieces):
    value = 0
    for piece in pieces:
        value = zlib.crc32(numpy.ascontiguousarray(piece), value)
    return value


def digests(place, elements):
    """The expected digest of every cell, the elements by whether they are noisy."""
    expected = {}
    for cell in cells.CELLS:
        whole = elements[cell.noisy]
        expected[cell.name] = digest(whole[key] for key in place.keys(cell))
    shard = elements[True][(slice(0, place.size // 2),) * 3].copy()
    shard[place.updated(0)] ^= 1
    expected["update"] = digest([shard])
    return expected


def draw(path, count, bound, seed):
    source = random.Random(seed)
    path.write_text("".join(f"{' '.join(str(source.randrange(bound)) for _ in range(3))}\n" for _ in range(count)))


def make(folder, size):
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    place = cells.Place(folder, folder, size)
    draw(folder / "boxes.txt", 64, size - cells.box_length(size) + 1, 2)
    draw(folder / "points.txt", 500, size, 3)
    elements = {False: plain(size)}
    elements[True] = noisy(elements[False])
    for name in ("raw", "zstd", "sharded", "noisy"):
        create(str(folder / f"{name}.zarr"), size, cells.layout(name, size))[...] = elements[name == "noisy"]
    elements[False].tofile(folder / "plain.bin")
    elements[True].tofile(folder / "noisy.bin")
    # Last, for it says that all is there.
    (folder / "digests.json").write_text(json.dumps(digests(place, elements)))


if __name__ == "__main__":
    if sys.argv[1] == "make":
        make(pathlib.Path(sys.argv[2]), int(sys.argv[3]))
    else:
        print(digest([zarr.open_array(sys.argv[2], mode="r")[(slice(0, int(sys.argv[3])),) * 3]]))
