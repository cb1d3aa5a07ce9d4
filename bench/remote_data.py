"""The cells of remote.py, and the data that they read: written by Sherd below a folder, and put onto a server as they are.

A cube of noisy uint16 is stored in eight shards with 64 inner chunks each, with zstd and without codecs, and in 256
chunks without shards, with zstd. A dataset of NCZarr has 2,000 variables and consolidated metadata.
"""

import json
import pathlib
import random
import shutil
import struct

import cells

VARIABLES = 2000
CHUNKS, BOXES = 200, 20
PART = 8 << 20  # of curl's requests
# By name: the title, the function of a peer, and what is read.
CELLS = {
    "whole-sharded": ("read all, sharded", "read_all", "sharded"),
    "whole-raw": ("read all, sharded, not compressed", "read_all", "raw"),
    "whole-chunks": ("read all, unsharded", "read_all", "chunks"),
    "chunks": (f"{CHUNKS} random inner chunks in one call", "read_many", "sharded"),
    "boxes": (f"{BOXES} boxes in one call", "read_many", "sharded"),
    "open": (f"open {VARIABLES:,} variables", "open", "many"),
    "open-xarray": (f"open {VARIABLES:,} variables in xarray", "open_xarray", "many"),
}


def keys_of(cell, size):
    """The selections that a cell reads, as bounds along z, y, x; drawn once."""
    source = random.Random(cell)
    if cell == "chunks":
        tiles = source.sample(cells.tiles(size, size // 8), CHUNKS)
        return [[(axis.start, axis.stop) for axis in tile] for tile in tiles]
    if cell == "boxes":
        length = cells.box_length(size)
        corners = [[source.randrange(size - length + 1) for _ in range(3)] for _ in range(BOXES)]
        return [[(at, at + length) for at in corner] for corner in corners]
    return []


def write_arrays(folder, elements):
    import sherd

    size = len(elements)
    zstd = {"name": "zstd", "configuration": {"level": 3, "checksum": False}}
    cubes = {"chunks": (size // 8,) * 3, "shards": (size // 2,) * 3}
    layouts = {"sharded": cubes | {"compressors": zstd}, "raw": cubes | {"compressors": None},
               "chunks": {"chunks": (size // 8, size // 8, size // 4), "compressors": zstd}}
    for name, layout in layouts.items():
        array = sherd.create_array(folder / name, shape=elements.shape, dtype="uint16", **layout)
        array[...] = elements


def write_dataset(path):
    """Variables with attributes, those of xarray included."""
    import sherd.netcdf

    with sherd.netcdf.create_dataset(path, consolidated=True) as dataset:
        dataset.create_dimension("x", 10)
        for i in range(VARIABLES):
            attributes = {"units": "K", "long_name": f"variable {i}", "valid_range": [0.0, 400.0]}
            dataset.create_variable(f"v{i}", "float", ("x",), attributes=attributes)


def make(folder, size):
    """Writes everything below a folder, and what the peers should read."""
    import data
    from remote_worker import digest

    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    elements = data.noisy(data.plain(size))
    write_arrays(folder, elements)
    write_dataset(folder / "many")
    described = [(f"v{i}", (10,), "K") for i in range(VARIABLES)]
    expected = {}
    for cell, (_, call, _) in CELLS.items():
        selections = [tuple(slice(*bounds) for bounds in key) for key in keys_of(cell, size)] or [...]
        expected[cell] = digest(described if call.startswith("open") else [elements[key] for key in selections])
    (folder / "digests.json").write_text(json.dumps(expected))


def inner_chunks(key, size):
    """The inner chunks that a selection touches: the shard's key, and the number inside it."""
    length = size // 8
    for tile in cells.tiles(size, length):
        if all(axis.start < end and start < axis.stop for axis, (start, end) in zip(tile, key)):
            z, y, x = (axis.start // length for axis in tile)
            yield f"c/{z // 4}/{y // 4}/{x // 4}", z % 4 * 16 + y % 4 * 4 + x % 4


def joined(ranges):
    """Ranges (start, end) without overlaps, neighbours as one."""
    result = []
    for start, end in sorted(ranges):
        if result and start <= result[-1][1]:
            result[-1] = (result[-1][0], max(end, result[-1][1]))
        else:
            result.append((start, end))
    return result


def parts(path):
    """A whole object."""
    length = path.stat().st_size
    return [(start, min(start + PART, length)) for start in range(0, length, PART)]


def ranges_of(cell, folder, size):
    """The bytes that no reader can do without: the object's key, its bounds. The indexes of the shards are known."""
    _, call, name = CELLS[cell]
    if call.startswith("open"):
        return [(f"{name}/.zmetadata", *part) for part in parts(folder / name / ".zmetadata")]
    if call == "read_all":
        objects = sorted(path for path in (folder / name / "c").rglob("*") if path.is_file())
        return [(path.relative_to(folder).as_posix(), *part) for path in objects for part in parts(path)]
    wanted = {}
    for key in keys_of(cell, size):
        for shard, number in inner_chunks(key, size):
            wanted.setdefault(shard, set()).add(number)
    result = []
    for shard, numbers in wanted.items():
        tail = (folder / name / shard).read_bytes()[-64 * 16 - 4:]
        entries = [struct.unpack_from("<QQ", tail, number * 16) for number in numbers]
        result += [(f"{name}/{shard}", *part) for part in joined((at, at + length) for at, length in entries)]
    return result


def describe(folder, size, server, bucket):
    """Writes what the workers must know: remote.json, and for curl a line `CELL START END URL` for each request."""
    place = {"endpoint": server.url, "bucket": bucket, "region": server.region, "key": server.key, "secret": server.secret}
    place["cells"] = {cell: {"name": name, "call": call, "keys": keys_of(cell, size)} for cell, (_, call, name) in CELLS.items()}
    (folder / "remote.json").write_text(json.dumps(place))
    client = server.client()
    signed = {}
    lines = []
    for cell in CELLS:
        for key, start, end in ranges_of(cell, folder, size):
            if key not in signed:
                signed[key] = client.generate_presigned_url("get_object", {"Bucket": bucket, "Key": key}, ExpiresIn=86400)
            lines.append(f"{cell} {start} {end} {signed[key]}\n")
    pathlib.Path(folder / "curl.txt").write_text("".join(lines))


def upload(folder, server):
    """Puts everything into a bucket; returns its name."""
    bucket = server.create_bucket()
    for name in sorted({name for _, _, name in CELLS.values()}):
        server.put_folder(bucket, folder / name, f"{name}/")
    return bucket
