"""Measures Sherd and its peers in one run; docs/benchmarks.md explains the figures. script/bench calls it.

For each cell every peer first runs once, and the data that it read or wrote are checked. Then every peer has a waiting
process. In each round the peers take turns to make one call in that process, and one in a new process, so that other
work on the machine affects all of them alike. Cells that are compared with each other take turns too.
"""

import argparse
import dataclasses
import datetime
import json
import os
import pathlib
import platform
import shutil
import subprocess
import sys
import time

import cells
import report
from peers import zarrs_tools

ROOT = pathlib.Path(__file__).resolve().parent.parent
WORKER = str(ROOT / "bench" / "worker.py")
PYTHON = str(ROOT / ".venv/bin/python")
ARCHIVERS = ("sherd", "tensorstore", "zarr", "zarr-new")  # with zip archives; tensorstore only reads them
FLOORS_OF_VOLUMES = ("read-image", "read-labels", "build-image-6")


@dataclasses.dataclass(frozen=True)
class Peer:
    """`start` is the command line up to the cell; None for zarrs_tools, whose programs are not workers. An earlier
    Sherd is left out of cells that it gets wrong, since it may not know them."""

    name: str
    title: str
    start: list | None
    synced: bool = False
    reads: bool = True
    volumes: bool = False
    arrays: bool = True
    earlier: bool = False

    def runs(self, cell):
        if cell.name.endswith("code-labels") and self.name == "tensorstore":
            return False  # its codec cannot be called alone
        if cell.is_v2 and self.name == "zarr-zarrs" and cells.V2[cell.layout].order == "F":
            return False  # "input array must be a C contiguous array"
        if cell.is_of_archives:
            writes_zip = cell.writes and cell.is_in_archive
            return (self.name.removesuffix("-unsynced") in ARCHIVERS and (self.reads or cell.writes)
                    and not (writes_zip and self.name.startswith("tensorstore")))
        if cell.is_small:
            return self.name == "sherd"
        if cell.is_v2 and self.start is None and cells.V2[cell.layout].compressor["id"] == "zlib":
            return False  # "codec zlib is not supported"
        if cell.is_v2 and self.title == "floor":
            return self.reads or cell.writes
        if cell.is_v2 and self.name.startswith("sherd-cpp"):
            return self.reads and not cell.writes
        if cell.is_v2 and self.start is not None:
            return WORKER in self.start and self.arrays and (self.reads or cell.writes)
        if self.title == "floor" and cell.is_volume:
            return cell.name in FLOORS_OF_VOLUMES and (self.reads or cell.writes)
        if not (self.volumes if cell.is_volume else self.arrays):
            return False
        if self.start is None:
            return zarrs_tools.command(cell, cells.Place(pathlib.Path(), pathlib.Path(), 16)) is not None
        return self.reads or cell.writes


def pair(name, title, command, **traits):
    """A peer that fsyncs its output and also takes part in reads, and its variant that does not fsync and only
    writes."""
    program, *arguments = command
    if arguments:
        start, unsynced = command, [*command[:-1], f"{command[-1]}-unsynced"]
    else:
        start, unsynced = [program, "synced"], [program, "unsynced"]
    return [
        Peer(name, title, start, synced=True, **traits),
        Peer(f"{name}-unsynced", title, unsynced, reads=False, **traits),
    ]


def earlier(folder):
    """The Sherd of another commit, built by script/bench: its library and package, with the worker of this tree."""
    title = f"at {folder.name[:7]}"
    worker = ["env", f"PYTHONPATH={folder / 'python'}", PYTHON, WORKER, "sherd"]
    return [
        *pair("sherd-cpp-earlier", f"Sherd, C++ {title}", [folder / "build/release/bench/bench_sherd"], earlier=True),
        *pair("sherd-earlier", f"Sherd, Python {title}", worker, volumes=True, earlier=True),
    ]


def lineup(programs):
    """All peers."""
    newer = str(ROOT / ".venv-3.13/bin/python")
    peers = [
        *pair("floor", "floor", [programs / "bench_floor"]),
        *pair("sherd-cpp", "Sherd, C++", [programs / "bench_sherd"]),
        *pair("sherd", "Sherd, Python", [PYTHON, WORKER, "sherd"], volumes=True),
        *pair("tensorstore", "tensorstore", [PYTHON, WORKER, "tensorstore"], volumes=True),
    ]
    peers.append(Peer("zarr", "zarr 3.1", [PYTHON, WORKER, "zarr"]))
    peers.append(Peer("zarr-zarrs", "zarr 3.1 + zarrs", [PYTHON, WORKER, "zarr-zarrs"]))
    peers.append(Peer("zarr-new", "zarr 3.4", [newer, WORKER, "zarr-new"]))
    peers.append(Peer("zarr-fused", "zarr 3.4 fused", [newer, WORKER, "zarr-fused"]))
    peers.append(Peer("zarrs", "zarrs", None))
    peers.append(Peer("cloud-volume", "cloud-volume", [PYTHON, WORKER, "cloud-volume"], volumes=True, arrays=False))
    return peers


class Failed(Exception):
    """A peer died, or returned something unexpected."""


def forget(source):
    """Removes the files of an array from the page cache."""
    for path in [source, *source.rglob("*")]:
        if path.is_file():
            file = os.open(path, os.O_RDONLY)
            os.fsync(file)
            os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
            os.close(file)


def warm_memory(size):
    """The host of a virtual machine reclaims memory that is free for some seconds; the first process to use it would
    have to wait for it."""
    import numpy

    numpy.ones(size, "u1")


class Process:
    """A worker, open and waiting."""

    def __init__(self, command):
        self.command = [str(word) for word in command]
        self.process = subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.version = self._line()["version"]

    def _line(self):
        line = self.process.stdout.readline()
        if not line:
            raise Failed(f"died: {' '.join(self.command)}")
        return json.loads(line)

    def ask(self, *words):
        self.process.stdin.write(" ".join(map(str, words)) + "\n")
        self.process.stdin.flush()
        return self._line()

    def close(self):
        self.process.stdin.close()
        self.process.wait()


class Contest:
    """One cell, and the peers that take part in it."""

    def __init__(self, cell, peers, folder, size):
        self.cell = cell
        self.peers = [peer for peer in peers if peer.runs(cell)]
        self.places = {peer.name: cells.Place(folder / f"data-{size}", folder / "scratch" / peer.name, size) for peer in self.peers}
        self.expected = json.loads((folder / f"data-{size}" / "digests.json").read_text())[cell.name]
        self.versions = {}

    def command(self, peer):
        place = self.places[peer.name]
        if peer.start is None:
            return zarrs_tools.command(self.cell, place)
        return [*peer.start, self.cell.name, place.data, place.scratch, place.size]

    def clear(self, peer):
        """Prepares the target of a writing cell, and the source of a cold one, before a call."""
        place = self.places[peer.name]
        place.scratch.mkdir(parents=True, exist_ok=True)
        if self.cell.is_cold:
            forget(pathlib.Path(place.source(self.cell)))
        if not self.cell.writes:
            return
        target = pathlib.Path(place.target(self.cell))
        if target.is_file():
            target.unlink()
        elif self.cell.name != "update":
            shutil.rmtree(target, ignore_errors=True)
        os.sync()

    def lay_out(self, peer):
        """The target of an update: the first shard of a copy."""
        place = self.places[peer.name]
        shutil.rmtree(place.scratch, ignore_errors=True)
        self.clear(peer)
        if self.cell.name == "update":
            source, target = pathlib.Path(place.source(self.cell)), pathlib.Path(place.target(self.cell))
            (target / "c/0/0").mkdir(parents=True)
            for name in ("zarr.json", "c/0/0/0"):
                shutil.copyfile(source / name, target / name)

    def fresh(self, peer, *words):
        """One call in a new process."""
        start = time.perf_counter()
        process = subprocess.Popen(list(map(str, self.command(peer))), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        process.stdin.write(" ".join(map(str, words)) + "\n")
        process.stdin.close()
        output = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        whole = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            raise Failed(f"{peer.title} ended with {process.returncode}: {self.cell.title}")
        if peer.start is None:
            self.versions[peer.name] = zarrs_tools.version()
            return {"whole": whole, "seconds": zarrs_tools.seconds(output), "peak": usage.ru_maxrss * 1024, "faults": usage.ru_minflt}
        version, result = map(json.loads, output.splitlines())
        self.versions[peer.name] = version["version"]
        return {"whole": whole, **result}

    def check(self, peer):
        """Compares the data that a peer reads or writes. zarrs_tools do not report the data they read, and the floor
        writes no arrays."""
        self.lay_out(peer)
        if peer.title == "floor":
            return
        result = self.fresh(peer, 0, "check")
        place = self.places[peer.name]
        if self.cell.writes:
            length = place.size // 2 if self.cell.name == "update" else place.size
            command = [ROOT / ".venv/bin/python", ROOT / "bench/data.py", "digest", place.target(self.cell), str(length)]
            result["digest"] = int(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        if result.get("digest", self.expected) != self.expected:
            raise Failed(f"{peer.title} gave other elements: {self.cell.title}")

    def start(self):
        for peer in list(self.peers):
            try:
                self.check(peer)
            except Failed as failure:
                if not peer.earlier:
                    raise
                print(f"bench: left out: {failure}", file=sys.stderr)
                self.peers.remove(peer)
        self.figures = {peer.name: {"seconds": [], "whole": [], "peak": [], "faults": []} for peer in self.peers}
        self.workers = {peer.name: Process(self.command(peer)) for peer in self.peers if peer.start is not None}

    def run(self, repeat):
        """One call by each peer."""
        number = repeat // 2
        for peer in self.peers[number % len(self.peers) :] + self.peers[: number % len(self.peers)]:
            self.clear(peer)
            if repeat % 2 == 0:
                result = self.workers[peer.name].ask(repeat + 1) if peer.name in self.workers else {}
            else:
                result = self.fresh(peer, repeat + 1)
                if peer.name in self.workers:
                    del result["seconds"]
            for name, value in result.items():
                # The first round warms up; faults and memory are those of a fresh process.
                if number > 0 and value is not None and (repeat % 2 == 1 or name == "seconds"):
                    self.figures[peer.name][name].append(value)

    def finish(self):
        for worker in self.workers.values():
            worker.close()
        for place in self.places.values():
            shutil.rmtree(place.scratch, ignore_errors=True)


def measure(contests, rounds):
    """Runs contests whose figures are compared with each other; their calls take turns too.

    The figures of each are lists by peer: seconds (in a warm process), and whole, peak and faults of a new one."""
    for contest in contests:
        contest.start()
    for repeat in range(2 * (rounds + 1)):
        for contest in contests:
            contest.run(repeat)
    for contest in contests:
        contest.finish()


def machine(folder):
    """The machine on which the figures were measured."""
    def field(path, name):
        lines = pathlib.Path(path).read_text().splitlines()
        return next((line.split(":", 1)[1].strip() for line in lines if line.startswith(name)), "unknown")

    mounts = [line.split() for line in pathlib.Path("/proc/mounts").read_text().splitlines()]
    under = [mount for mount in mounts if folder.resolve().is_relative_to(mount[1])]
    return {
        "processor": field("/proc/cpuinfo", "model name"),
        "cores": len(os.sched_getaffinity(0)),
        "memory": f"{int(field('/proc/meminfo', 'MemTotal').split()[0]) / 2**20:.0f} GiB",
        "kernel": f"Linux {platform.release()}",
        "file system": max(under, key=lambda mount: len(mount[1]))[2],
        "huge pages": pathlib.Path("/sys/kernel/mm/transparent_hugepage/enabled").read_text().split("[")[1].split("]")[0],
    }


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a cube of 256 instead of 512, and 3 rounds")
    parser.add_argument("--rounds", type=int, help="calls per cell; the figure is their median (default: 7)")
    parser.add_argument("--cells", default=",".join(cells.BY_NAME), help="some of: %(default)s")
    parser.add_argument("--peers", help="some of the peers, by name (default: all)")
    parser.add_argument("--folder", type=pathlib.Path, default=ROOT / "build/bench", help="for arrays and results")
    parser.add_argument("--programs", type=pathlib.Path, default=ROOT / "build/release/bench", help="where the C++ programs are")
    parser.add_argument("--beside", type=pathlib.Path, help="folder of another commit that script/bench has built: only it and "
                        "this tree are measured, unless --peers names more")
    parser.add_argument("--record", action="store_true", help="put the tables and the plot into docs/")
    chosen = parser.parse_args()
    if chosen.record and chosen.beside:
        parser.error("--record cannot be combined with --beside: docs/ has the figures of one commit")
    return chosen


def main():
    chosen = arguments()
    size, rounds = (256, chosen.rounds or 3) if chosen.quick else (512, chosen.rounds or 7)
    peers = lineup(chosen.programs)
    wanted = set(chosen.peers.split(",")) if chosen.peers else None
    if chosen.beside:
        peers += earlier(chosen.beside)
        wanted = (wanted or set()) | {"sherd-cpp", "sherd", "sherd-cpp-earlier", "sherd-earlier"}
    if wanted:
        peers = [peer for peer in peers if peer.name.removesuffix("-unsynced") in wanted]
    if os.getloadavg()[0] > 0.5 * os.cpu_count():
        print(f"bench: the machine is busy (load {os.getloadavg()[0]:.1f}); the figures will not be worth much", file=sys.stderr)
    folder = chosen.folder.absolute()
    data = folder / f"data-{size}"
    digests = data / "digests.json"
    if not digests.exists() or not cells.BY_NAME.keys() <= json.loads(digests.read_text()).keys():
        subprocess.run([ROOT / ".venv/bin/python", ROOT / "bench/data.py", "make", data, str(size)], check=True)
    results = {"date": datetime.date.today().isoformat(), "size": size, "rounds": rounds, "machine": machine(folder)}
    results |= {"peers": [{"name": peer.name, "title": peer.title, "synced": peer.synced} for peer in peers]}
    results |= {"versions": {}, "cells": {}}
    for group in cells.groups(chosen.cells.split(",")):
        print(f"bench: {'; '.join(cell.title for cell in group)}", file=sys.stderr)
        contests = [Contest(cell, peers, folder, size) for cell in group]
        measure(contests, rounds)
        for contest in contests:
            results["cells"][contest.cell.name] = contest.figures
            results["versions"] |= contest.versions
        (folder / "results.json").write_text(json.dumps(results, indent=1))
    print(report.text(results))
    if chosen.record:
        report.record(results, ROOT / "docs")


if __name__ == "__main__":
    try:
        main()
    except Failed as failure:
        sys.exit(f"bench: {failure}")
