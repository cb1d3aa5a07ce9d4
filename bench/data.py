"""Makes the arrays that are measured, and computes the expected results.

    data.py make FOLDER SIZE      the arrays (written by zarr-python), the volumes (by tensorstore), their elements, the boxes,
                                  the points, the digests
    data.py digest ARRAY LENGTH   the digest of an array's first LENGTH^3 elements, as zarr-python or tensorstore reads them

The elements are those of the public benchmark zarrs/zarr_benchmarks; the noisy ones have four random low bits. The
image is their high byte with two random bits. Labels are cells with wavy walls, 37 voxels wide, numbered at random. A
digest is the CRC-32 of elements in C order, z y x, of one selection after another.
"""

import json
import pathlib
import random
import shutil
import sys
import zipfile
import zlib

import numpy
import zarr

import cells
from peers import sherd_python, tensorstore_python, zarr_python


def plain(size):
    z, y, x = numpy.ogrid[:size, :size, :size]
    return ((x + y * y // 32 + z**3) % 65536).astype("uint16")


def noisy(elements):
    return (elements >> 6) + numpy.random.default_rng(1).integers(0, 16, elements.shape, dtype="uint16")


def image(elements):
    return ((elements >> 8) ^ numpy.random.default_rng(2).integers(0, 4, elements.shape, dtype="uint16")).astype("uint8")


def small(elements):
    """The lowest four bits as signed numbers, which are values of int4."""
    return (((elements & 15) ^ 8).astype("int8") - 8).view("uint8")


def labels(size):
    z, y, x = (axis.astype("float32") for axis in numpy.ogrid[:size, :size, :size])
    wave = 9 * numpy.sin(x / 23) + 7 * numpy.cos(y / 17)
    cells_along = [numpy.floor((axis + wave + 5 * numpy.sin(z / 29)) / 37).astype("int64") for axis in (z, y, x)]
    number = (cells_along[0] * 1009 + cells_along[1]) * 1013 + cells_along[2]
    return number.astype("uint64") * numpy.uint64(0x9E3779B97F4A7C15)


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


def write_small(path, elements, dtype, stored):
    array = sherd_python.Peer("unsynced").create(path, len(elements), cells.layout(stored, len(elements)), dtype)
    array[...] = elements.view(array.dtype)


def create_volume(path, size, name):
    return tensorstore_python.Peer("unsynced").create_volume(path, size, cells.VOLUMES[name])


def pack(archive, folder, members=0):
    """Makes an archive of the files of a folder and, up to a number of members, others."""
    with zipfile.ZipFile(archive, "w") as to:
        for path in sorted(path for path in folder.rglob("*") if path.is_file()):
            to.write(path, path.relative_to(folder))
        for number in range(len(to.namelist()), members):
            to.writestr(f"other/{number}", "")


def read_cube(path, length):
    """An array's first elements, z y x."""
    key = (slice(0, length),) * 3
    if path.endswith(".precomputed"):
        peer = tensorstore_python.Peer("unsynced")
        return peer.read(peer.open_volume(path), key)[..., 0].T
    return zarr_python.opened(path)[key]


def digest(pieces):
    value = 0
    for piece in pieces:
        value = zlib.crc32(numpy.ascontiguousarray(piece).view("uint8"), value)
    return value


def digests(place, elements):
    """The expected digest of every cell, from the elements by their name."""
    expected = {}
    for cell in cells.CELLS:
        whole = elements[cell.elements]
        expected[cell.name] = digest(whole[key] for key in place.keys(cell))
    shard = elements["noisy"][(slice(0, place.size // 2),) * 3].copy()
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
    elements = {"plain": plain(size), "labels": labels(size)}
    elements["noisy"] = noisy(elements["plain"])
    elements["image"] = image(elements["plain"])
    elements["small"] = small(elements["noisy"])
    for name in ("raw", "zstd", "sharded", "noisy"):
        create(str(folder / f"{name}.zarr"), size, cells.layout(name, size))[...] = elements[name if name == "noisy" else "plain"]
    create(str(folder / "single.zarr"), size, cells.layout("single", size))[...] = elements["noisy"]
    for name in ("single", "noisy"):
        pack(folder / f"{name}.zip", folder / f"{name}.zarr")
    pack(folder / "members.zip", folder / "single.zarr", cells.MEMBERS)
    for name, layout in cells.V2.items():
        zarr_python.create_v2(str(folder / f"{name}.zarr"), size, layout)[...] = elements["noisy"]
    for name, stored in cells.SMALL.items():
        write_small(str(folder / f"{name}.zarr"), elements["small"], *stored)
    for name in cells.VOLUMES:
        create_volume(str(folder / f"{name}.precomputed"), size, name).write(elements[name].T[..., None]).result()
    for name, values in elements.items():
        values.tofile(folder / f"{name}.bin")
    # Written last, because it shows that everything else exists.
    (folder / "digests.json").write_text(json.dumps(digests(place, elements)))


if __name__ == "__main__":
    if sys.argv[1] == "make":
        make(pathlib.Path(sys.argv[2]), int(sys.argv[3]))
    else:
        print(digest([read_cube(sys.argv[2], int(sys.argv[3]))]))
