"""Writes tests/data/interop/golden.zip: stores for what no peer reads or writes, made by reference.py.

    cd tests && ../.venv/bin/python -m interop.golden

A folder for each cell that peers.toml leaves to none, in one direction or both, and one for each rectilinear grid:
zarr.json and chunks; `elements` (the expected elements, little-endian in C order, or JSON of strings, or of bytes in
hexadecimal); `cell`, what it is and which documents say so. Regenerate it when cells.py or peers.toml change.
"""

import itertools
import json
import pathlib
import zipfile

import numpy

from interop import reference
from interop.cells import canonical, cells, extension
from interop.peers import PEERS
from interop.table import TABLE, reasons

PATH = pathlib.Path(__file__).parents[1] / "data/interop/golden.zip"
RECTILINEAR = "https://github.com/zarr-developers/zarr-extensions/tree/main/chunk-grids/rectilinear"


def is_left_to_nobody(cell):
    directions = ["write"] if cell.type.foreign else ["read", "write"]
    return any(all(reasons(peer, does, cell) for peer in PEERS) for does in directions)


def orphans():
    return [cell for cell in cells() if is_left_to_nobody(cell)]


def citations(cell):
    """The documents that say what each value of the cell means."""
    cited = [TABLE["cites"][d][cell[d]] for d in ("type", "codec", "layout")]
    cited += [TABLE["cites"]["order"]] if cell["order"] != "C" else []
    return sorted({*cited, TABLE["cites"]["fill"], TABLE["cites"]["keys"]})


def elements_text(array):
    shape, data = canonical(array)
    if isinstance(data, bytes):
        return data
    return json.dumps([e if isinstance(e, str) else e.hex() for e in data]).encode()


def cell_folder(cell):
    return {
        "zarr.json": json.dumps(cell.metadata(), indent=1).encode(),
        "elements": elements_text(cell.elements()),
        "cell": "\n".join([str(cell), *citations(cell)]).encode(),
        **{f"array/{key}": data for key, data in reference.write(cell).items()},
    }


def edges(axis, extent):
    """The edges of an axis of a rectilinear grid, [start, length] each, as far as the array goes."""
    if isinstance(axis, int):
        return [(start, axis) for start in range(0, extent, axis)]
    lengths = [n for e in axis for n in ([e] if isinstance(e, int) else [e[0]] * e[1])]
    starts = itertools.accumulate(lengths, initial=0)
    return [(start, length) for start, length in zip(starts, lengths) if start < extent]


def rectilinear_folder(shape, axes, sharded):
    """A uint16 array that counts, raw; or in shards of inner chunks of 1 x 2 in C order, without checksum."""
    array = numpy.arange(1, 1 + numpy.prod(shape), dtype="<u2").reshape(shape)
    chain = [extension("bytes", endian="little")]
    if sharded:
        chain = [
            extension("sharding_indexed", chunk_shape=[1, 2], codecs=chain, index_codecs=chain, index_location="start")
        ]
    metadata = {
        "zarr_format": 3,
        "node_type": "array",
        "shape": list(shape),
        "data_type": "uint16",
        "chunk_grid": extension("rectilinear", kind="inline", chunk_shapes=axes),
        "chunk_key_encoding": extension("default", separator="/"),
        "fill_value": 0,
        "codecs": chain,
    }
    folder = {"zarr.json": json.dumps(metadata, indent=1).encode(), "elements": array.tobytes()}
    folder["cell"] = f"rectilinear, {axes}\n{RECTILINEAR}".encode()
    rows, columns = (edges(axis, n) for axis, n in zip(axes, shape))
    chunks = reference.Chunks(next(c for c in cells() if c["type"] == "uint16" and c["fill"] == "zero"))
    for (i, (r, height)), (j, (c, width)) in itertools.product(enumerate(rows), enumerate(columns)):
        chunk = numpy.zeros((height, width), "<u2")
        inside = array[r : r + height, c : c + width]
        chunk[: inside.shape[0], : inside.shape[1]] = inside
        folder[f"array/c/{i}/{j}"] = chunks.encode(chain, chunk)
    return folder


def folders():
    yield "rectilinear", rectilinear_folder((8, 11), [[2, [3, 2]], [4, [3, 2], 1]], sharded=False)
    yield "rectilinear mixed", rectilinear_folder((7, 10), [[1, [3, 3]], 4], sharded=False)
    yield "rectilinear sharded", rectilinear_folder((8, 11), [[2, [3, 2]], [4, [2, 2], 6]], sharded=True)
    for number, cell in enumerate(orphans()):
        yield f"cell {number}", cell_folder(cell)


def main():
    PATH.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(PATH, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, folder in folders():
            for key, data in folder.items():
                archive.writestr(zipfile.ZipInfo(f"{name}/{key}"), data, zipfile.ZIP_DEFLATED, 9)
    print(PATH, PATH.stat().st_size)


if __name__ == "__main__":
    main()
