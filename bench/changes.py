"""Measures changes of stored shards, and streams of frames, durable beside durable; docs/benchmarks.md explains the figures.
script/bench --changes calls it.

All peers are in one process with everything open; in each round they make one call each, in random order. What a call has
stored is compared before the first round.
"""

import argparse
import datetime
import importlib.metadata
import json
import os
import pathlib
import random
import shutil
import statistics
import time

import acquire_zarr
import clones
import numpy
import report
import sherd
import tensorstore
from run import ROOT, Failed, machine

BEGIN, END = "<!-- written by script/bench --changes --record -->", "<!-- end of what script/bench --changes wrote -->"
SHARD, CHUNK = (8192, 4096), (2, 4096)  # uint16: 64 MiB, and 16 KiB
FRAME, DEPTH = (1024, 1024), 16  # frames of 2 MiB in shards of 32 MiB
MANY = 1000
CLONES = "clones"

UPDATES = {"update-one": "one chunk of 16 KiB", "update-many": f"{MANY} scattered chunks, one call"}
STREAMS = {"stream-raw": "stream of frames, raw", "stream-zstd": "stream of frames, zstd level 1"}
TITLES = {
    "plain": "plain file",
    "append": "Sherd",
    "in_place": "Sherd, in place",
    "rewrite": "Sherd, rewrite",
    "tensorstore": "tensorstore",
    "sherd": "Sherd, by slice",
    "sherd-4": "Sherd, by arrival",
    "sherd-unsynced": "Sherd, by slice, not synced",
    "plain-unsynced": "plain file, not synced",
    "acquire": "acquire-zarr, not synced",
}


def tensorstore_spec(path, **schema):
    return {"driver": "zarr3", "kvstore": {"driver": "file", "path": str(path)}, **schema}


def sharded(shape, shard, chunk, codec):
    """The metadata of an array of Zarr v3 for tensorstore."""
    inner = [{"name": "bytes", "configuration": {"endian": "little"}}, *codec]
    sharding = {"chunk_shape": chunk, "codecs": inner, "index_codecs": [inner[0], {"name": "crc32c"}]}
    return {"shape": shape, "data_type": "uint16", "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": shard}},
            "codecs": [{"name": "sharding_indexed", "configuration": sharding}]}


class Updates:
    """One array of one shard for each way of changing it."""

    def __init__(self, folder):
        self.folder, self.number = folder, 0
        self.elements = numpy.random.default_rng(1).integers(0, 60000, SHARD, dtype="u2")
        self.arrays = {name: self._create(name) for name in ("append", "in_place", "rewrite", "tensorstore")}
        self.floor = os.open(folder / "plain", os.O_RDWR | os.O_CREAT)
        os.pwrite(self.floor, self.elements.tobytes(), 0)
        os.fsync(self.floor)

    def _create(self, name):
        path = self.folder / name
        update = "auto" if name in ("append", "tensorstore") else name
        array = sherd.create_array(path, shape=SHARD, dtype="u2", chunks=CHUNK, shards=SHARD, compressors=None, config={"update": update})
        array[...] = self.elements
        if name == "tensorstore":
            return tensorstore.open(tensorstore_spec(path), open=True).result()
        return array

    def call(self, cell, peer):
        """Seconds of a change that no call before has made."""
        self.number += 1
        count = 1 if cell == "update-one" else MANY
        chunks = random.Random(self.number).sample(range(SHARD[0] // CHUNK[0]), count)
        rows = numpy.concatenate([numpy.arange(CHUNK[0]) + each * CHUNK[0] for each in sorted(chunks)])
        values = numpy.full((len(rows), SHARD[1]), self.number, "u2")
        start = time.perf_counter()
        if peer == "plain":
            self._write(values.tobytes())
        elif peer == "tensorstore":
            self.arrays[peer][rows.tolist() if count > 1 else slice(rows[0], rows[-1] + 1)] = values
        elif count > 1:
            self.arrays[peer].oindex[rows] = values
        else:
            self.arrays[peer][rows[0]:rows[-1] + 1] = values
        seconds = time.perf_counter() - start
        if peer != "plain":
            self._compare(peer, rows, values)
        return seconds

    def _write(self, data):
        """The bytes at the end of the file: what an append cannot be faster than."""
        os.pwrite(self.floor, data, os.fstat(self.floor).st_size)
        os.fdatasync(self.floor)

    def _compare(self, peer, rows, values):
        found = sherd.open_array(self.folder / peer)[int(rows[0]):int(rows[0]) + 2]
        if not numpy.array_equal(found, values[:2]):
            raise Failed(f"{TITLES[peer]} has not stored its change")

    @staticmethod
    def peers(cell):
        return ["plain", "append", "in_place", "rewrite", "tensorstore"]


class Streams:
    """A new file or array for each call, of frames that arrive one after the other."""

    def __init__(self, folder, frames):
        self.folder, self.path = folder, folder / "stream"
        y, x = numpy.mgrid[:FRAME[0], :FRAME[1]]
        noise = numpy.random.default_rng(1).integers(0, 16, (frames, *FRAME), dtype="u2")
        self.frames = (noise + (400 + 100 * numpy.sin(y / 40) * numpy.cos(x / 60)).astype("u2")).astype("u2")
        self.shape = self.frames.shape

    def call(self, cell, peer):
        shutil.rmtree(self.path, ignore_errors=True)
        os.sync()
        start = time.perf_counter()
        getattr(self, "_" + peer.partition("-")[0])(cell == "stream-zstd", peer)
        seconds = time.perf_counter() - start
        if not peer.startswith("plain"):
            found = sherd.open_array(self.path / "a" if peer == "acquire" else self.path)
            if not numpy.array_equal(found[-1], self.frames[-1]) or found.shape[0] != len(self.frames):
                raise Failed(f"{TITLES[peer]} has not stored the frames")
        return seconds

    def _plain(self, zstd, peer):
        self.path.mkdir()
        with open(self.path / "frames", "wb", buffering=0) as file:
            for at, frame in enumerate(self.frames):
                file.write(frame)
                if at % DEPTH == DEPTH - 1 and peer == "plain":
                    os.fdatasync(file.fileno())

    def _sherd(self, zstd, peer):
        config = {"durable": not peer.endswith("unsynced")}
        codec = {"name": "zstd", "configuration": {"level": 1, "checksum": False}} if zstd else None
        array = sherd.create_array(self.path, shape=(0, *FRAME), dtype="u2", chunks=(1, *FRAME), shards=(DEPTH, *FRAME), compressors=codec,
                                   config=config)
        technique = 4 if peer == "sherd-4" else 2 if zstd else 3
        with array.appender(technique=technique) as to:
            for at, frame in enumerate(self.frames):
                to.append(frame[None])

    def _tensorstore(self, zstd, peer):
        codec = [{"name": "zstd", "configuration": {"level": 1}}] if zstd else []
        spec = tensorstore_spec(self.path, metadata=sharded(self.shape, (DEPTH, *FRAME), (1, *FRAME), codec), create=True)
        array, pending = tensorstore.open(spec).result(), None
        for at in range(0, len(self.frames), DEPTH):  # a shard at a time: by frame it would rewrite the shard for each
            write = array[at:at + DEPTH].write(self.frames[at:at + DEPTH])
            if pending:
                pending.result()
            pending = write
        pending.result()

    def _acquire(self, zstd, peer):
        kinds = acquire_zarr.DimensionType
        dimensions = [acquire_zarr.Dimension(name="t", kind=kinds.TIME, array_size_px=0, chunk_size_px=1, shard_size_chunks=DEPTH)]
        dimensions += [acquire_zarr.Dimension(name=name, kind=kinds.SPACE, array_size_px=size, chunk_size_px=size, shard_size_chunks=1)
                       for name, size in zip("yx", FRAME)]
        compression = acquire_zarr.CompressionSettings(compressor=acquire_zarr.Compressor.ZSTD, codec=acquire_zarr.CompressionCodec.ZSTD,
                                                       level=1, shuffle=0) if zstd else None
        stream = acquire_zarr.ZarrStream(acquire_zarr.StreamSettings(
            store_path=str(self.path), arrays=[acquire_zarr.ArraySettings(
                output_key="a", dimensions=dimensions, data_type=acquire_zarr.DataType.UINT16, compression=compression)]))
        for frame in self.frames:
            stream.append(frame, "a")
        stream.close()

    @staticmethod
    def peers(cell):
        own = ["sherd", "sherd-4"] if cell == "stream-zstd" else ["sherd"]
        return ["plain", *own, "tensorstore", "plain-unsynced", "sherd-unsynced", "acquire"]


def measure(contest, cell, rounds):
    """Seconds by peer; the first round is not counted."""
    seconds = {peer: [] for peer in contest.peers(cell)}
    for number in range(rounds + 1):
        for peer in random.Random(f"{cell} {number}").sample(list(seconds), len(seconds)):
            elapsed = contest.call(cell, peer)
            if number > 0:
                seconds[peer].append(elapsed)
    return seconds


def ratio(row, ours, others):
    found = [row[name] for name in others if name in row]
    mine = [row[name] for name in ours if name in row]
    return f"{min(found) / min(mine):.2f}" if found and mine else ""


def table(titles, measured, rows, ours, others):
    names = [name for name in TITLES if any(name in measured[cell] for cell in rows if cell in measured)]
    yield f"| | {' | '.join(TITLES[name] for name in names)} | best peer / Sherd | Sherd / plain |"
    yield "|---|" + "--:|" * (len(names) + 2)
    for cell in rows:
        if cell not in measured:
            continue
        row = {name: statistics.median(seconds) * 1e3 for name, seconds in measured[cell].items()}
        values = [report.number(row[name]) if name in row else "" for name in names]
        yield f"| {rows[cell]} | {' | '.join(values)} | {ratio(row, ours, others)} | {ratio(row, ['plain'], ours)} |"


def text(results):
    settings = ", ".join(f"{name} {value}" for name, value in results["machine"].items())
    yield f"{results['date']}, medians of {results['rounds']}, in milliseconds. {settings}."
    yield ", ".join(f"{name} {version}" for name, version in results["versions"].items()) + "."
    yield ""
    yield from table(TITLES, results["cells"], UPDATES, ["append"], ["tensorstore"])
    yield ""
    yield f"Streams of {results['frames']} frames:"
    yield ""
    yield from table(TITLES, results["cells"], STREAMS, ["sherd", "sherd-4"], ["tensorstore"])
    if CLONES in results["cells"]:
        yield ""
        yield from clones.table(results["cells"][CLONES])


def arguments():
    parser = argparse.ArgumentParser(prog="script/bench --changes", description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="fewer frames, and 5 rounds")
    parser.add_argument("--rounds", type=int, help="number of calls; the median is recorded (default: 15)")
    parser.add_argument("--cells", default=",".join([*UPDATES, *STREAMS, *([CLONES] if clones.possible() else [])]), help="some of: %(default)s; others keep their last figures")
    parser.add_argument("--folder", type=pathlib.Path, default=ROOT / "build/bench", help="for arrays and results")
    parser.add_argument("--record", action="store_true", help="put the tables into docs/benchmarks.md")
    return parser.parse_args()


def main():
    chosen = arguments()
    frames, rounds = (64, chosen.rounds or 5) if chosen.quick else (128, chosen.rounds or 15)
    folder = chosen.folder.absolute() / "changes"
    shutil.rmtree(folder / "scratch", ignore_errors=True)
    (folder / "scratch").mkdir(parents=True)
    kept = folder / "results.json"
    results = json.loads(kept.read_text()) if kept.exists() else {"cells": {}}
    results |= {"date": datetime.date.today().isoformat(), "rounds": rounds, "frames": frames, "machine": machine(folder),
                "versions": {name: importlib.metadata.version(name) for name in ("sherd", "tensorstore", "acquire-zarr")}}
    contests = {}
    for cell in chosen.cells.split(","):
        kind = "updates" if cell in UPDATES else "streams"
        if cell == CLONES:
            results["cells"][cell] = clones.measure(folder / "scratch", SHARD, CHUNK, tensorstore_spec)
        else:
            if kind not in contests:
                contests[kind] = Updates(folder / "scratch") if kind == "updates" else Streams(folder / "scratch", frames)
            results["cells"][cell] = measure(contests[kind], cell, rounds)
        kept.write_text(json.dumps(results, indent=1))
    shutil.rmtree(folder / "scratch")
    lines = "\n".join(text(results))
    print(lines)
    if chosen.record:
        report.replace_part(ROOT / "docs/benchmarks.md", (BEGIN, END), lines)


if __name__ == "__main__":
    try:
        main()
    except Failed as failure:
        raise SystemExit(f"bench: {failure}") from None
