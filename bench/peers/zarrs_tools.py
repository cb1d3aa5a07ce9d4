"""The programs of zarrs_tools: each process does one thing. They print the time that it took after opening, but not the
data read."""

import json
import pathlib
import re

BIN = pathlib.Path(".cache/peers/zarrs/bin").absolute()
CELLS = {
    "read-raw": ["--read-all"],
    "read-zstd": ["--read-all"],
    "read-sharded": ["--read-all"],
    "read-noisy": ["--read-all"],
    "shards": [],
    "chunks": ["--inner-chunks"],
    "together": ["--inner-chunks"],
}


def version():
    return f"zarrs_tools {(BIN.parent / 'version').read_text().strip()}"


def command(cell, place):
    """The command line that runs a cell, or None."""
    if cell.name == "reshard":
        layout = place.layout(cell)
        edges = [f"--{name}-shape={','.join([str(edge)] * 3)}" for name, edge in (("chunk", layout.chunks), ("shard", layout.shards))]
        codec = json.dumps([{"name": "zstd", "configuration": {"level": 3, "checksum": False}}])
        return [BIN / "zarrs_reencode", *edges, "--bytes-to-bytes-codecs", codec, place.source(cell), place.target(cell)]
    options = CELLS.get(cell.name)
    if cell.is_v2 and not cell.writes:
        options = {"read": ["--read-all"], "tiles": []}.get(cell.name.partition("-")[0])
    if options is not None:
        return [BIN / "zarrs_benchmark_read_sync", *options, place.source(cell)]
    return None


def seconds(output):
    """The time that the program reports: `Decoded … in 12.3ms (…`, or None."""
    found = re.search(r" in ([0-9.]+)(ms|µs|s)\b", output)
    return float(found[1]) * {"s": 1, "ms": 1e-3, "µs": 1e-6}[found[2]] if found else None
