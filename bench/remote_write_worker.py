"""Writes to a server with one peer, once per request.

    remote_write_worker.py PEER FOLDER

Each line on standard input names a cell of remote_writes.py and the number of the call; the answer is a line of JSON:
"seconds" and "cpu" (seconds of processor time, of all threads). FOLDER/remote.json says where everything is. Connections
stay open from call to call; each call opens what it changes, with the format named.
"""

import asyncio
import json
import os
import pathlib
import sys
import time

import numpy
from remote_worker import REQUESTS, package
from remote_writes import changed_row


class Arrays:
    """What arrays of Sherd and of zarr-python have in common."""

    def write(self, name, elements):
        self._open(name)[...] = elements

    def update(self, name, rows, values):
        self._open(name)[rows] = values

    def append(self, name, rows):
        self._open(name).append(rows)


class Sherd(Arrays):
    """With its default settings."""

    def __init__(self, place):
        import sherd

        self.sherd, self.place, self.version = sherd, place, f"sherd {sherd.__version__}"
        self.options = {"endpoint": place["endpoint"], "region": place["region"], "key": place["key"], "secret": place["secret"]}

    def _open(self, name):
        url = f"s3://{self.place['bucket']}/sherd/{name}"
        options = self.options | ({"conditional": "yes"} if name == "update" else {})  # one process writes
        return self.sherd.open_array(url, mode="r+", format="zarr3", storage_options=options)

    def copy(self, name, number):
        self.sherd.copy(f"s3://{self.place['bucket']}/sherd/{name}", f"s3://{self.place['other']}/sherd/{number}", raw=True,
                        storage_options=self.options)


class Tensorstore:
    """Without a limit that its own requests would wait for."""

    def __init__(self, place):
        import tensorstore

        os.environ |= {"AWS_ACCESS_KEY_ID": place["key"], "AWS_SECRET_ACCESS_KEY": place["secret"]}
        self.tensorstore, self.place, self.version = tensorstore, place, package("tensorstore")
        self.context = tensorstore.Context({"s3_request_concurrency": {"limit": REQUESTS}})

    def _kvstore(self, bucket, path):
        return {"driver": "s3", "bucket": bucket, "path": path, "endpoint": self.place["endpoint"], "aws_region": self.place["region"],
                "aws_credentials": {"type": "environment"}}  # fmt: skip

    def _open(self, name):
        spec = {"driver": "zarr3", "kvstore": self._kvstore(self.place["bucket"], f"tensorstore/{name}/")}
        return self.tensorstore.open(spec, context=self.context, read=True, write=True).result()

    def write(self, name, elements):
        self._open(name).write(elements).result()

    def update(self, name, rows, values):
        self._open(name)[rows].write(values).result()

    def append(self, name, rows):
        array = self._open(name)
        length = array.shape[0]
        array.resize(exclusive_max=(length + len(rows), *array.shape[1:])).result()[length:length + len(rows)].write(rows).result()

    def copy(self, name, number):
        """It has no copies on the server."""
        source, target = (self.tensorstore.KvStore.open(self._kvstore(*where), context=self.context).result()
                          for where in ((self.place["bucket"], f"tensorstore/{name}/"), (self.place["other"], f"tensorstore/{number}/")))
        reads = {key: source.read(key) for key in source.list().result()}
        for write in [target.write(key, read.result().value) for key, read in reads.items()]:
            write.result()


class Zarr(Arrays):
    """zarr-python over a store of obstore."""

    def __init__(self, place):
        import obstore
        import zarr

        zarr.config.set({"async.concurrency": REQUESTS})
        self.obstore, self.zarr, self.place = obstore, zarr, place
        self.version = f"{package('zarr')}, {package('obstore')}"
        self.stores = {}

    def _store(self, bucket, prefix):
        from obstore.store import S3Store

        place, key = self.place, (bucket, prefix)
        if key not in self.stores:
            self.stores[key] = S3Store(bucket, prefix=prefix, endpoint=place["endpoint"], region=place["region"],
                                       access_key_id=place["key"], secret_access_key=place["secret"],
                                       virtual_hosted_style_request=False, client_options={"allow_http": True})
        return self.stores[key]

    def _open(self, name):
        store = self.zarr.storage.ObjectStore(self._store(self.place["bucket"], f"zarr-obstore/{name}"))
        return self.zarr.open_array(store, mode="r+", zarr_format=3)

    def copy(self, name, number):
        """Copies on the server stay in their bucket, so it reads and writes."""
        async def one(source, target, key):
            content = await (await self.obstore.get_async(source, key)).bytes_async()
            await self.obstore.put_async(target, key, content)

        async def all_of_them():
            source, target = self._store(self.place["bucket"], f"zarr-obstore/{name}"), self._store(self.place["other"], f"zarr-obstore/{number}")
            keys = [each["path"] for page in self.obstore.list(source) for each in page]
            await asyncio.gather(*(one(source, target, key) for key in keys))

        asyncio.run(all_of_them())


PEERS = {"sherd": Sherd, "tensorstore": Tensorstore, "zarr-obstore": Zarr}


def calling(peer, place, cell, number, elements):
    """The function to be measured."""
    name = place["cells"][cell]
    if cell.startswith("write-"):
        return lambda: peer.write(name, elements)
    if cell == "copy":
        return lambda: peer.copy(name, number)
    if cell == "append":
        rows = numpy.full((place["rows"], 1 << 16), number, "uint16")
        return lambda: peer.append(name, rows)
    row = changed_row(number)
    return lambda: peer.update(name, slice(row, row + 2), numpy.full((2, 4096), number, "uint16"))


def main(name, folder):
    place = json.loads((pathlib.Path(folder) / "remote.json").read_text())
    elements = numpy.load(place["elements"])
    peer = PEERS[name](place)
    print(json.dumps({"version": peer.version}), flush=True)
    for line in sys.stdin:
        cell, number = line.split()
        call = calling(peer, place, cell, int(number), elements)
        start, start_cpu = time.perf_counter(), time.process_time()
        call()
        print(json.dumps({"seconds": time.perf_counter() - start, "cpu": time.process_time() - start_cpu}), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
