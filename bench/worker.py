"""Runs one cell with one Python peer, once per request.

    worker.py PEER CELL DATA SCRATCH SIZE

Once everything is open it prints a line of JSON with the peer's version. Each line `REPEAT` or `REPEAT check` on
standard input then makes one call and prints {"seconds", "faults", "peak"} and, if checked, "digest": of the data read,
as computed by data.py. `faults` are minor page faults; `peak` is the resident memory in bytes, above that before the
call.
"""

import importlib
import json
import pathlib
import resource
import sys
import time
import zlib

import numpy

import cells

# The name of a peer: its file below peers/, and the variant that is passed to it.
PEERS = {
    "sherd": ("sherd_python", "synced"),
    "sherd-unsynced": ("sherd_python", "unsynced"),
    "tensorstore": ("tensorstore_python", "synced"),
    "tensorstore-unsynced": ("tensorstore_python", "unsynced"),
    "zarr": ("zarr_python", "plain"),
    "zarr-zarrs": ("zarr_python", "zarrs"),
    "zarr-new": ("zarr_python", "plain"),
    "zarr-fused": ("zarr_python", "fused"),
    "cloud-volume": ("cloud_volume", "plain"),
}


def reading(peer, cell, place):
    """Returns a function that prepares a call: it returns the call, which passes every result to `keep`."""
    array = peer.open(place.source(cell))
    keys = place.keys(cell)

    def call(keep):
        for key in keys:
            keep(peer.read(array, key))

    def call_together(keep):
        keep(peer.read_many(array, keys))

    return lambda _: call_together if cell.is_together else call


def opening(peer, cell, place):
    def call(keep):
        array = peer.open(place.source(cell))
        for key in place.keys(cell):
            keep(peer.read(array, key))

    return lambda _: call


def reading_volume(peer, cell, place):
    """Like reading(); a volume's axes are x, y, z, channel."""
    array = peer.open_volume(place.source(cell))
    keys = [key[::-1] for key in place.keys(cell)]

    def call(keep):
        for key in keys:
            keep(numpy.asarray(peer.read(array, key))[..., 0].T)

    return lambda _: call


def building(peer, cell, place):
    elements = volume_elements(cell, place)
    volume = cells.VOLUMES[cell.layout]
    settings = {} if cell.gzip_level is None else {"gzip_level": cell.gzip_level}

    def call(_):
        peer.write_volume(peer.create_volume(place.target(cell), place.size, volume, **settings), elements)

    return lambda _: call


def coding(peer, cell, place):
    """Encoding or decoding chunks on one thread, without a store."""
    elements = volume_elements(cell, place)
    chunks = [numpy.asfortranarray(elements[key[::-1]]) for key in place.keys(cell)]
    codec = peer.segmentation_codec(chunks)

    def decode(keep):
        for number in range(len(chunks)):
            keep(numpy.asarray(codec.decode(number))[..., 0].T)

    def encode(keep):
        for number in range(len(chunks)):
            codec.encode(number)
        if isinstance(keep, Digest):
            decode(keep)

    return lambda _: encode if cell.name.startswith("encode") else decode


def volume_elements(cell, place):
    return numpy.memmap(place.elements(cell), cell.dtype, "r", shape=place.shape).T[..., None]


def writing(peer, cell, place):
    elements = numpy.fromfile(place.elements(cell), "uint16").reshape(place.shape)
    everything = (slice(0, place.size),) * 3

    create = peer.create_v2 if cell.is_v2 else peer.create

    def call(_):
        array = create(place.target(cell), place.size, place.layout(cell))
        peer.write(array, everything, elements)
        if cell.is_in_archive:
            peer.finish(array)

    return lambda _: call


def updating(peer, cell, place):
    array = peer.open(place.target(cell), writable=True)
    elements = numpy.memmap(place.elements(cell), "uint16", "r", shape=place.shape)

    def prepare(repeat):
        key = place.updated(repeat)
        values = numpy.ascontiguousarray(elements[key]) ^ 1
        return lambda _: peer.write(array, key, values)

    return prepare


def copying(peer, cell, place):
    return lambda _: lambda _: peer.copy(place.source(cell), place.target(cell), place.size, place.layout(cell))


def preparing(peer, cell, place):
    if cell.name == "update":
        return updating(peer, cell, place)
    if cell.name == "zip-open":
        return opening(peer, cell, place)
    if cell.name == "reshard":
        return copying(peer, cell, place)
    if cell.name in ("encode-labels", "decode-labels"):
        return coding(peer, cell, place)
    if cell.is_volume:
        return (building if cell.writes else reading_volume)(peer, cell, place)
    return (writing if cell.writes else reading)(peer, cell, place)


class Last:
    """Keeps the last result, so that its memory is released after the clock has stopped."""

    def __call__(self, result):
        self.result = result


class Digest:
    """Adds up all results."""

    value = 0

    def __call__(self, result):
        for piece in result if isinstance(result, list) else [result]:
            self.value = zlib.crc32(numpy.ascontiguousarray(piece).view("uint8"), self.value)


def status(field):
    """A size in /proc/self/status, in bytes."""
    for line in pathlib.Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field + ":"):
            return int(line.split()[1]) * 1024
    raise KeyError(field)


def measure(call, keep):
    """The peak of memory is that of the call's data: not the code that it is the first to touch."""
    pathlib.Path("/proc/self/clear_refs").write_text("5")  # restarts VmHWM
    resident, code = status("VmRSS"), status("RssFile")
    faults = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    start = time.perf_counter()
    call(keep)
    seconds = time.perf_counter() - start
    faults = resource.getrusage(resource.RUSAGE_SELF).ru_minflt - faults
    return {"seconds": seconds, "faults": faults, "peak": status("VmHWM") - resident - (status("RssFile") - code)}


def main(name, cell, data, scratch, size):
    module, variant = PEERS[name]
    peer = importlib.import_module(f"peers.{module}").Peer(variant)
    prepare = preparing(peer, cells.BY_NAME[cell], cells.Place(pathlib.Path(data), pathlib.Path(scratch), int(size)))
    print(json.dumps({"version": peer.version}), flush=True)
    for line in sys.stdin:
        repeat, *check = line.split()
        keep = Digest() if check else Last()
        result = measure(prepare(int(repeat)), keep)
        if check:
            result["digest"] = keep.value
        print(json.dumps(result), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
