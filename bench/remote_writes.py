"""The cells of remote.py that write, what they write, and how it is measured and compared.

SeaweedFS runs on loopback behind the proxy, because it compares conditions at the end of uploads, as S3 does. Each peer has
arrays of its own, which exist before the first call; a call opens one and changes it.
"""

import contextlib
import json
import random

import numpy

# By name: the title, and the layout of the array.
CELLS = {
    "write-sharded": ("write all, sharded", "sharded"),
    "write-raw": ("write all, sharded, not compressed", "raw"),
    "write-chunks": ("write all, unsharded", "chunks"),
    "update": ("update of an inner chunk of 16 KiB in a shard of 64 MiB", "update"),
    "append": ("append of 8 rows (1 MiB)", "append"),
    "copy": ("copy of the sharded array to another bucket", "sharded"),
}
PEERS = ("sherd", "tensorstore", "zarr-obstore", "curl")
WIDTH = 1 << 16  # of a row, in elements
ROWS = 8


def layouts(size):
    zstd = {"name": "zstd", "configuration": {"level": 3, "checksum": False}}
    cubes = {"shape": (size,) * 3, "chunks": (size // 8,) * 3, "shards": (size // 2,) * 3}
    return {
        "sharded": cubes | {"compressors": zstd},
        "raw": cubes | {"compressors": None},
        "chunks": {"shape": (size,) * 3, "chunks": (size // 8, size // 8, size // 4), "compressors": zstd},
        "update": {"shape": (8192, 4096), "chunks": (2, 4096), "shards": (8192, 4096), "compressors": None},
        "append": {"shape": (ROWS, WIDTH), "chunks": (ROWS, WIDTH), "compressors": zstd},
    }


def changed_row(number):
    """The first of the two rows, an inner chunk, that a call changes."""
    return 2 * (1 + 397 * number % 4095)


def takes_part(peer, cell):
    return peer != "curl" or cell.startswith("write-")


def objects(server, bucket, prefix):
    client = server.client()
    for page in client.get_paginator("list_objects_v2").paginate(Bucket=bucket, Prefix=prefix):
        yield from (each["Key"] for each in page.get("Contents", []))


class Contest:
    """The peers' processes, their arrays, and the proxy through which they write."""

    def __init__(self, peers, folder, server, proxy, size):
        import sherd

        self.sherd, self.folder, self.server, self.proxy, self.size = sherd, folder, server, proxy, size
        self.elements = numpy.load(folder / "elements.npy")
        self.names = [name for name in PEERS if name in peers]
        self.bucket, self.other = server.create_bucket(), server.create_bucket()
        self.calls = dict.fromkeys(self.names, 0)
        self.options = {"endpoint": server.url, "region": server.region, "key": server.key, "secret": server.secret}

    def url(self, peer, layout):
        return f"s3://{self.bucket}/{peer}/{layout}"

    def prepare(self, cells):
        """Creates the arrays; what curl will put are the objects of Sherd's."""
        wanted = {CELLS[cell][1] for cell in cells}
        for peer in self.names:
            for name, how in layouts(self.size).items():
                if name not in wanted or peer == "curl":
                    continue
                array = self.sherd.create_array(self.url(peer, name), dtype="uint16", storage_options=self.options, **how)
                array[...] = self.elements if len(array.shape) == 3 else 1
        place = {"endpoint": self.proxy.url, "bucket": self.bucket, "other": self.other, "region": self.server.region,
                 "key": self.server.key, "secret": self.server.secret, "elements": str(self.folder / "elements.npy"),
                 "cells": {cell: CELLS[cell][1] for cell in CELLS}, "rows": ROWS}
        (self.folder / "remote.json").write_text(json.dumps(place))
        self._prepare_curl(cells)

    def _prepare_curl(self, cells):
        from servers import through

        signer, lines = through(self.server, self.proxy).client(), []
        for cell in cells:
            if not takes_part("curl", cell) or "sherd" not in self.names:
                continue
            prefix = f"sherd/{CELLS[cell][1]}/c/"
            for number, key in enumerate(objects(self.server, self.bucket, prefix)):
                path = self.folder / f"{cell}-{number}"
                path.write_bytes(self.server.get(self.bucket, key).body)
                url = signer.generate_presigned_url("put_object", {"Bucket": self.bucket, "Key": "curl/" + key}, ExpiresIn=86400)
                lines.append(f"{cell} put {path} {url}\n")
        (self.folder / "curl.txt").write_text("".join(lines))

    def start(self, commands, process):
        self.workers = {name: process([*commands[name], self.folder]) for name in self.names}
        return {name: worker.version for name, worker in self.workers.items()}

    def call(self, cell, peer):
        self.calls[peer] += 1
        return self.workers[peer].ask(cell, self.calls[peer])

    def check(self, cell):
        """What each peer has stored is what the others have; returns its requests, and the bytes of their bodies."""
        counted = {}
        for peer in self.names:
            if not takes_part(peer, cell):
                continue
            self.proxy.reset()
            self.call(cell, peer)
            counts = self.proxy.counts()
            counted[peer] = {"requests": counts["requests"], "sent": counts["request_bytes"], "received": counts["body_bytes"],
                             "round_trips": counts["round_trips"]}
            if peer != "curl":
                self._compare(cell, peer)
        return counted

    def _compare(self, cell, peer):
        number = self.calls[peer]
        url = f"s3://{self.other}/{peer}/{number}" if cell == "copy" else self.url(peer, CELLS[cell][1])
        found = self.sherd.open_array(url, storage_options=self.options)
        if cell == "update":
            values, row = found[...], changed_row(number)
            right = (values[row:row + 2] == number).all() and values[0, 0] == 1
        elif cell == "append":
            right = (found[-ROWS:] == number).all() and (found[:ROWS] == 1).all()
        else:
            right = numpy.array_equal(found[...], self.elements)
        if not right:
            raise SystemExit(f"bench: {peer} has stored other elements: {CELLS[cell][0]}")

    def measure(self, cell, rounds, settle):
        figures = {peer: {"seconds": [], "cpu": []} for peer in self.names if takes_part(peer, cell)}
        order = random.Random(cell)
        for _ in range(rounds):
            for peer in order.sample(list(figures), len(figures)):
                settle()
                for quantity, value in self.call(cell, peer).items():
                    figures[peer][quantity].append(value)
        return figures

    def close(self):
        for worker in self.workers.values():
            worker.close()


def make(folder, size):
    import data

    folder.mkdir(parents=True, exist_ok=True)
    numpy.save(folder / "elements.npy", data.noisy(data.plain(size)))


def run(chosen, commands, process, settle, log):
    """Measures the chosen cells; returns the results. chosen: cells, peers, folder, size, rounds, and the proxy's fault by
    the name of each condition."""
    import servers

    make(chosen.folder, chosen.size)
    results = {"conditions": {name: {} for name in chosen.conditions}, "requests": {}}
    with contextlib.ExitStack() as stack:
        server = stack.enter_context(servers.start("seaweedfs"))
        proxy = stack.enter_context(servers.fault_proxy(server))
        contest = Contest(chosen.peers, chosen.folder, server, proxy, chosen.size)
        contest.prepare(chosen.cells)
        results["versions"] = contest.start(commands, process)
        stack.callback(contest.close)
        for cell in chosen.cells:
            for number, (name, fault) in enumerate(chosen.conditions.items()):
                proxy.set(fault)
                log(CELLS[cell][0], name)
                if number == 0:
                    results["requests"][cell] = contest.check(cell)
                results["conditions"][name][cell] = contest.measure(cell, chosen.rounds, settle)
    return results
