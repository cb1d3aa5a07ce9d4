"""Reads from a server with one peer, once per request.

    remote_worker.py PEER FOLDER

Each line on standard input names a cell, and `check` or `record` may follow; the process waits between lines. It answers
with a line of JSON: "seconds", "cpu" (seconds of processor time, of all threads), and, if asked, the digest of what was
read, or what Sherd itself counted. FOLDER/remote.json is made by remote_data.py. Connections stay open from call to call;
each call opens what it reads, with the format named.
"""

import asyncio
import importlib.metadata
import json
import os
import pathlib
import sys
import time
import zlib

import numpy

# Requests under way, as many as those of Sherd by default and of curl.
REQUESTS = 32


def package(name):
    return f"{name} {importlib.metadata.version(name)}"


def described(dataset):
    """What opening with xarray must find out."""
    return [(name, each.shape, each.attrs["units"]) for name, each in dataset.variables.items()]


class Sherd:
    """With its default settings."""

    def __init__(self, place):
        import sherd
        import sherd.netcdf

        self.sherd, self.url, self.version = sherd, f"s3://{place['bucket']}", f"sherd {sherd.__version__}"
        self.options = {"endpoint": place["endpoint"], "region": place["region"], "key": place["key"], "secret": place["secret"]}

    def _open(self, name):
        return self.sherd.open_array(f"{self.url}/{name}", format="zarr3", storage_options=self.options)

    def read_all(self, name):
        return [self._open(name)[...]]

    def read_many(self, name, keys):
        return self._open(name).read_many(keys)

    def open(self, name):
        dataset = self.sherd.netcdf.open_dataset(f"{self.url}/{name}", storage_options=self.options)
        return [(name, each.shape, each.attributes["units"]) for name, each in dataset.variables.items()]

    def open_xarray(self, name):
        import xarray

        return described(xarray.open_dataset(f"{self.url}/{name}", engine="sherd", storage_options=self.options))


class Tensorstore:
    """Without a limit that its own requests would wait for."""

    def __init__(self, place):
        import tensorstore

        os.environ |= {"AWS_ACCESS_KEY_ID": place["key"], "AWS_SECRET_ACCESS_KEY": place["secret"]}
        self.tensorstore, self.version = tensorstore, package("tensorstore")
        self.kvstore = {"driver": "s3", "bucket": place["bucket"], "endpoint": place["endpoint"], "aws_region": place["region"],
                        "aws_credentials": {"type": "environment"}}
        self.context = tensorstore.Context({"s3_request_concurrency": {"limit": REQUESTS}})

    def _open(self, name):
        spec = {"driver": "zarr3", "kvstore": self.kvstore | {"path": f"{name}/"}}
        return self.tensorstore.open(spec, context=self.context, read=True).result()

    def read_all(self, name):
        return [self._open(name).read().result()]

    def read_many(self, name, keys):
        """One batch, whose requests are merged."""
        array = self._open(name)
        with self.tensorstore.Batch() as batch:
            reads = [array[key].read(batch=batch) for key in keys]
        return [read.result() for read in reads]


class Zarr:
    """zarr-python over a store of obstore or fsspec."""

    def __init__(self, place, kind):
        import zarr

        zarr.config.set({"async.concurrency": REQUESTS})
        self.zarr, self.version = zarr, f"{package('zarr')}, {package('obstore' if kind == 'obstore' else 's3fs')}"
        self.place, self.store_of = place, {"obstore": self._obstore, "fsspec": self._fsspec}[kind]
        self.stores = {}

    def _obstore(self, name):
        from obstore.store import S3Store
        from zarr.storage import ObjectStore

        place = self.place
        return ObjectStore(S3Store(
            place["bucket"], prefix=name, endpoint=place["endpoint"], region=place["region"], access_key_id=place["key"],
            secret_access_key=place["secret"], virtual_hosted_style_request=False, client_options={"allow_http": True},
        ), read_only=True)

    def _fsspec(self, name):
        from zarr.storage import FsspecStore

        place = self.place
        options = {"key": place["key"], "secret": place["secret"], "endpoint_url": place["endpoint"],
                   "client_kwargs": {"region_name": place["region"]}, "config_kwargs": {"max_pool_connections": REQUESTS}}
        return FsspecStore.from_url(f"s3://{place['bucket']}/{name}", storage_options=options, read_only=True)

    def _store(self, name):
        """A store keeps its connections."""
        if name not in self.stores:
            self.stores[name] = self.store_of(name)
        return self.stores[name]

    def read_all(self, name):
        return [self.zarr.open_array(self._store(name), mode="r", zarr_format=3)[...]]

    def read_many(self, name, keys):
        """All at once: one call cannot read several regions."""
        async def read():
            array = await self.zarr.api.asynchronous.open_array(store=self._store(name), mode="r", zarr_format=3)
            return await asyncio.gather(*(array.getitem(key) for key in keys))

        return self.zarr.core.sync.sync(read())

    def open(self, name):
        group = self.zarr.open_group(self._store(name), mode="r", zarr_format=2, use_consolidated=True)
        return [(name, each.shape, each.attrs["units"]) for name, each in group.arrays()]

    def open_xarray(self, name):
        import xarray

        return described(xarray.open_dataset(self._store(name), engine="zarr", zarr_format=2, consolidated=True, chunks=None))


PEERS = {
    "sherd": Sherd,
    "tensorstore": Tensorstore,
    "zarr-obstore": lambda place: Zarr(place, "obstore"),
    "zarr-fsspec": lambda place: Zarr(place, "fsspec"),
}


def calling(peer, cell):
    """The function to be measured; it returns a list."""
    if cell["call"].startswith("open"):
        return lambda: getattr(peer, cell["call"])(cell["name"])
    if cell["call"] == "read_all":
        return lambda: peer.read_all(cell["name"])
    keys = [tuple(slice(*bounds) for bounds in key) for key in cell["keys"]]
    return lambda: peer.read_many(cell["name"], keys)


def digest(results):
    """The CRC-32 of arrays one after another, or of names with shapes and units in any order."""
    if isinstance(results[0], tuple):
        return zlib.crc32(repr(sorted((name, tuple(map(int, shape)), str(units)) for name, shape, units in results)).encode())
    value = 0
    for piece in results:
        value = zlib.crc32(numpy.ascontiguousarray(piece).view("uint8"), value)
    return value


def recorded(peer, call):
    with peer.sherd.record() as log:
        call()
    return {"requests": len(log.requests), **log.stats}


def main(name, folder):
    place = json.loads((pathlib.Path(folder) / "remote.json").read_text())
    peer = PEERS[name](place)
    print(json.dumps({"version": peer.version}), flush=True)
    for line in sys.stdin:
        cell, *more = line.split()
        call = calling(peer, place["cells"][cell])
        if more == ["record"]:
            print(json.dumps(recorded(peer, call)), flush=True)
            continue
        start, start_cpu = time.perf_counter(), time.process_time()
        results = call()
        answer = {"seconds": time.perf_counter() - start, "cpu": time.process_time() - start_cpu}
        if more == ["check"]:
            answer["digest"] = digest(results)
        print(json.dumps(answer), flush=True)
        del call, results


if __name__ == "__main__":
    main(*sys.argv[1:])
