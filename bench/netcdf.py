"""Measures netCDF datasets with Sherd, netCDF4 and zarr-python in one run; docs/benchmarks.md explains the figures.
script/bench --netcdf calls it.

The variable has 125 x 1000 x 1000 floats in 500 chunks. Every peer has a waiting process; in each round the peers take
turns to make one call. The first round warms up, and the data that it reads are compared.
"""

import argparse
import datetime
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import time

import numpy
from netcdf_worker import LEVEL, Sherd
from report import number, replace_part
from run import PYTHON, ROOT, Failed, Process, machine, warm_memory

WORKER = str(ROOT / "bench" / "netcdf_worker.py")
NEWER = str(ROOT / ".venv-3.13/bin/python")
COMMAND = ROOT / "build/release/bin/sherd"
VARIABLES = 2000
BEGIN, END = "<!-- written by script/bench --netcdf --record -->", "<!-- end of what script/bench --netcdf wrote -->"

# By name: the title of the column, and the interpreter.
PEERS = {
    "sherd": ("Sherd", PYTHON),
    "sherd-durable": ("Sherd, durable", PYTHON),
    "netcdf4": ("netCDF4", PYTHON),
    "zarr": ("zarr 3.1", PYTHON),
    "zarr-new": ("zarr 3.4", NEWER),
    "zarr-fused": ("zarr 3.4 fused", NEWER),
    "floor": ("files alone", PYTHON),
}
READERS = ["sherd", "netcdf4", "zarr", "zarr-new", "zarr-fused"]
ZARR = ["zarr", "zarr-new", "zarr-fused"]
# By name: the title of the row, and the peers. `dump` runs commands.
CELLS = {
    "read-deflated": ("read all, deflated", READERS),
    "read-raw": ("read all, raw", READERS),
    "array-raw": ("the same through the array behind the variable", ["sherd"]),
    "write-deflated": ("write, deflated", [*READERS, "sherd-durable"]),
    "write-raw": ("write, raw", [*PEERS]),
    "rechunk": ("copy the deflated variable to chunks of 125 x 100 x 100", ["sherd", "sherd-durable", *ZARR]),
    "dump": ("print as text (ncdump)", ["sherd", "netcdf4"]),
    "open-consolidated": (f"open {VARIABLES} variables, with .zmetadata", READERS),
    "open-plain": (f"open {VARIABLES} variables, without", READERS),
}


def elements(times):
    """A field with waves, and noise that deflate reduces to a third."""
    source = numpy.random.default_rng(1)
    t, y, x = (numpy.arange(length, dtype="f4") for length in (times, 1000, 1000))
    field = 280 + 15 * numpy.sin(y / 160)[:, None] + 8 * numpy.cos(x / 90)
    noise = source.integers(-32, 32, (times, 1000, 1000)).astype("f4") / 64
    return (field + 3 * numpy.sin(t / 20)[:, None, None] + noise).round(1).astype("f4")


def make(folder, times):
    """The sources of all cells, written by Sherd."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    values = elements(times)
    numpy.save(folder / "elements.npy", values)
    sherd = Sherd()
    for name, level in (("deflated", LEVEL), ("raw", None)):
        sherd.write(folder / f"{name}.zarr", values, level)
    for name in ("deflated", "raw"):
        sherd.sherd.netcdf.copy(folder / f"{name}.zarr", folder / f"{name}.nc", config=sherd.config)
    for name in ("consolidated", "plain"):
        with sherd.sherd.netcdf.create_dataset(
            folder / f"many-{name}.zarr", consolidated=name == "consolidated", config=sherd.config
        ) as dataset:
            dataset.create_dimension("x", 10)
            for i in range(VARIABLES):
                attributes = {"units": "K", "long_name": f"variable {i}", "valid_range": [0.0, 400.0]}
                dataset.create_variable(f"v{i}", "float", ("x",), attributes=attributes)
    (folder / "made").touch()


def dump(name, folder):
    """Sends the text to a program that counts it, as if to a pipe."""
    words = ([COMMAND, "ncdump"], folder / "deflated.zarr") if name == "sherd" else (["ncdump"], folder / "deflated.nc")
    start = time.perf_counter()
    subprocess.run([*words[0], "-n", "x", words[1]], check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start


def ncdump_version():
    text = subprocess.run(["ncdump"], capture_output=True, text=True).stderr
    return f"ncdump {text.split('library version ')[1].split()[0]}"


class Contest:
    """All peers in some cells, in one folder."""

    def __init__(self, names, folder):
        self.folder = folder
        chosen = dict.fromkeys(name for cell in names for name in CELLS[cell][1])
        self.workers = {name: Process(self._command(name)) for name in chosen}
        self.versions = {name: worker.version for name, worker in self.workers.items()}

    def _command(self, name):
        return [PEERS[name][1], WORKER, "zarr" if name == "zarr-new" else name, self.folder]

    def call(self, cell, name):
        if cell == "dump":
            return {"seconds": dump(name, self.folder), "digest": None}
        return self.workers[name].ask(cell)

    def measure(self, cell, rounds):
        """Seconds by peer; the peers take turns at being first."""
        peers = CELLS[cell][1]
        digests = {name: self.call(cell, name)["digest"] for name in peers}
        if len(set(digests.values())) > 1:
            raise Failed(f"the peers read different elements: {cell}: {digests}")
        seconds = {name: [] for name in peers}
        for number_of_round in range(rounds):
            at = number_of_round % len(peers)
            for name in peers[at:] + peers[:at]:
                os.sync()
                warm_memory(2 << 30)
                if cell.startswith("open"):  # the host also reclaims programs and small files idle for a round
                    self.call(cell, name)
                seconds[name].append(self.call(cell, name)["seconds"])
        return seconds

    def close(self):
        for worker in self.workers.values():
            worker.close()
        shutil.rmtree(self.folder / "scratch", ignore_errors=True)


def ratio(row, others):
    values = [row[name] for name in others if name in row]
    return f"{min(values) / row['sherd']:.2f}" if values else ""


def text(results):
    settings = ", ".join(f"{name} {value}" for name, value in results["machine"].items())
    versions = ", ".join(dict.fromkeys([*filter(None, results["versions"].values()), ncdump_version()]))
    yield f"{results['date']}, {results['times']} x 1000 x 1000 floats, medians of {results['rounds']}, in milliseconds. {settings}."
    yield f"{versions}."
    yield ""
    titles = [title for title, _ in PEERS.values()]
    yield f"| | {' | '.join(titles)} | netCDF4 / Sherd | zarr / Sherd |"
    yield "|---|" + "--:|" * (len(titles) + 2)
    for cell, measured in results["cells"].items():
        row = {name: statistics.median(seconds) * 1e3 for name, seconds in measured.items()}
        values = [number(row[name]) if name in row else "" for name in PEERS]
        yield f"| {CELLS[cell][0]} | {' | '.join(values)} | {ratio(row, ['netcdf4'])} | {ratio(row, ZARR)} |"


def arguments():
    parser = argparse.ArgumentParser(prog="script/bench --netcdf", description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a tenth of the elements, and 3 rounds")
    parser.add_argument("--rounds", type=int, help="number of calls; the median is recorded (default: 5)")
    parser.add_argument("--cells", default=",".join(CELLS), help="some of: %(default)s; others keep their last figures")
    parser.add_argument("--folder", type=pathlib.Path, default=ROOT / "build/bench", help="for datasets and results")
    parser.add_argument("--record", action="store_true", help="put the table into docs/benchmarks.md")
    return parser.parse_args()


def main():
    chosen = arguments()
    times, rounds = (12, chosen.rounds or 3) if chosen.quick else (125, chosen.rounds or 5)
    folder = chosen.folder.absolute() / f"netcdf-{times}"
    if not (folder / "made").exists():
        make(folder, times)
    kept = folder / "results.json"
    results = json.loads(kept.read_text()) if kept.exists() else {"cells": {}, "versions": {}}
    results |= {"date": datetime.date.today().isoformat(), "times": times, "rounds": rounds, "machine": machine(folder)}
    contest = Contest(chosen.cells.split(","), folder)
    results["versions"] |= contest.versions
    for cell in chosen.cells.split(","):
        results["cells"][cell] = contest.measure(cell, rounds)
        kept.write_text(json.dumps(results, indent=1))
    contest.close()
    results["cells"] = {cell: results["cells"][cell] for cell in CELLS if cell in results["cells"]}
    lines = "\n".join(text(results))
    print(lines)
    if chosen.record:
        replace_part(ROOT / "docs/benchmarks.md", (BEGIN, END), lines)


if __name__ == "__main__":
    try:
        main()
    except Failed as failure:
        raise SystemExit(f"bench: {failure}") from None
