"""Reads, writes and opens netCDF datasets with one peer, once per request.

    netcdf_worker.py PEER FOLDER

Each line on standard input names a cell; the process waits between lines. It answers with a line of JSON: "seconds",
and a digest of the data read. FOLDER contains the files that netcdf.py makes, and `scratch` for output.
"""

import concurrent.futures
import json
import pathlib
import shutil
import sys
import time
import zlib

import numpy

CHUNKS, SERIES = (1, 500, 500), (125, 100, 100)
LEVEL = 1  # of deflate


class Sherd:
    """Sherd, also for reads of a variable's Zarr array. `durable` writes are Sherd's default."""

    def __init__(self, durable=False):
        import sherd
        import sherd.netcdf

        self.sherd, self.version = sherd, f"sherd {sherd.__version__}"
        self.config = {"durable": durable}

    def source(self, folder, name):
        return folder / f"{name}.zarr"

    def read(self, path):
        return self.sherd.netcdf.open_dataset(path)["v"][...]

    def read_array(self, path):
        return self.sherd.open_array(path / "v")[...]

    def write(self, path, values, level):
        with self.sherd.netcdf.create_dataset(path, config=self.config) as dataset:
            for name, length in zip("tyx", values.shape):
                dataset.create_dimension(name, length)
            dataset.create_variable("v", "float", ("t", "y", "x"), chunks=CHUNKS, deflate_level=level)[...] = values

    def rechunk(self, source, target):
        self.sherd.netcdf.copy(source, target, chunks={"v": SERIES}, config=self.config)

    def open(self, path, consolidated):
        dataset = self.sherd.netcdf.open_dataset(path)
        return [(name, each.shape, each.attributes["units"]) for name, each in dataset.variables.items()]


class Netcdf4:
    """Its wheels have no filters for NCZarr, so the deflated data are in a netCDF-4 file; everything else is NCZarr."""

    def __init__(self):
        import netCDF4

        self.module, self.version = netCDF4, f"netCDF4 {netCDF4.__version__} (netcdf-c {netCDF4.__netcdf4libversion__})"

    def source(self, folder, name):
        return folder / "deflated.nc" if name == "deflated" else f"file://{folder}/{name}.zarr#mode=nczarr,file"

    def read(self, path):
        with self.module.Dataset(path) as dataset:
            dataset.set_auto_maskandscale(False)
            return dataset["v"][...]

    def write(self, path, values, level):
        url = path if level is not None else f"file://{path}#mode=nczarr,file"
        with self.module.Dataset(url, "w") as dataset:
            for name, length in zip("tyx", values.shape):
                dataset.createDimension(name, length)
            options = {} if level is None else {"zlib": True, "complevel": level, "shuffle": False}
            dataset.createVariable("v", "f4", ("t", "y", "x"), chunksizes=CHUNKS, **options)[...] = values

    def open(self, path, consolidated):
        with self.module.Dataset(f"{path},consolidated" if consolidated else path) as dataset:
            return [(name, each.shape, each.units) for name, each in dataset.variables.items()]


class Zarr:
    """zarr-python, whose latest release has a second codec pipeline."""

    def __init__(self, fused=False):
        import zarr

        self.zarr, self.version = zarr, f"zarr {zarr.__version__}"
        zarr.config.set({"codec_pipeline.path": f"zarr.core.codec_pipeline.{'Fused' if fused else 'Batched'}CodecPipeline"})

    def source(self, folder, name):
        return folder / f"{name}.zarr"

    def read(self, path):
        return self.zarr.open_group(path, mode="r")["v"][...]

    def _create(self, path, shape, chunks, level):
        import numcodecs

        group = self.zarr.open_group(path, mode="w", zarr_format=2)
        compressor = None if level is None else numcodecs.Zlib(level)
        return group.create_array("v", shape=shape, chunks=chunks, dtype="f4", compressors=compressor, fill_value=0)

    def write(self, path, values, level):
        self._create(path, values.shape, CHUNKS, level)[...] = values

    def rechunk(self, source, target):
        array = self.zarr.open_group(source, mode="r")["v"]
        self._create(target, array.shape, SERIES, LEVEL)[...] = array[...]

    def open(self, path, consolidated):
        group = self.zarr.open_group(path, mode="r", use_consolidated=consolidated)
        return [(name, each.shape, each.attrs["units"]) for name, each in group.arrays()]


class Floor:
    """The minimum work of any writer: the bytes of the chunks, written to separate files by two threads without
    copies."""

    version = None

    def write(self, path, values, level):
        path.mkdir()
        chunks = values.reshape(-1).view("u1").reshape(values.size // numpy.prod(CHUNKS), -1)

        def write(number):
            with open(path / str(number), "wb", buffering=0) as file:
                file.write(chunks[number])

        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            list(pool.map(write, range(len(chunks))))


PEERS = {
    "floor": Floor,
    "sherd": Sherd,
    "sherd-durable": lambda: Sherd(durable=True),
    "netcdf4": Netcdf4,
    "zarr": Zarr,
    "zarr-fused": lambda: Zarr(fused=True),
}


def calling(peer, folder, cell):
    """The function to be measured; its result is compared."""
    what, _, name = cell.partition("-")
    target = folder / "scratch"
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir()
    if what == "write":
        values = numpy.load(folder / "elements.npy")
        return lambda: peer.write(target / "x", values, LEVEL if name == "deflated" else None)
    if what == "rechunk":
        return lambda: peer.rechunk(peer.source(folder, "deflated"), target / "x")
    if what == "open":
        return lambda: peer.open(peer.source(folder, f"many-{name}"), name == "consolidated")
    method = peer.read_array if what == "array" else peer.read
    return lambda: method(peer.source(folder, name))


def main(name, folder):
    peer = PEERS[name]()
    print(json.dumps({"version": peer.version}), flush=True)
    for line in sys.stdin:
        call = calling(peer, folder, line.strip())
        start = time.perf_counter()
        result = call()
        seconds = time.perf_counter() - start
        digest = None if result is None else sorted(result).__repr__() if isinstance(result, list) else result
        digest = zlib.crc32(digest.encode() if isinstance(digest, str) else digest) if digest is not None else None
        print(json.dumps({"seconds": seconds, "digest": digest}), flush=True)
        del call, result, digest


if __name__ == "__main__":
    main(sys.argv[1], pathlib.Path(sys.argv[2]))
