"""Results as Markdown tables and as an SVG plot.

    report.py RESULTS.json [--record]     prints the tables; with --record also puts them and the plot into docs/
"""

import json
import pathlib
import statistics
import sys

import cells
import plot

# The parts of benchmarks.md that --record writes: name, and whether it has a cell.
PARTS = {
    "many regions in one call": lambda cell: cell.is_together,
    "Zarr v2 and types of one byte": lambda cell: (cell.is_v2 or cell.is_small) and not cell.is_together,
    "zip archives": lambda cell: cell.is_of_archives,
    "all other cells": lambda cell: not (cell.is_v2 or cell.is_small or cell.is_together or cell.is_of_archives),
}
TABLES = [
    ("seconds", "Time in the process, in milliseconds", 1e3),
    ("whole", "Time of a whole process, in milliseconds", 1e3),
    ("peak", "Peak memory above what was resident before the call, in MB", 1e-6),
    ("faults", "Minor page faults, in thousands", 1e-3),
]
CHANGES = [("sherd-cpp", "seconds"), ("sherd-cpp", "peak"), ("sherd", "seconds"), ("sherd", "peak")]


def number(value):
    """Formats a number with three significant digits."""
    return f"{value:.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


class Table:
    """The medians of one quantity, in rows: reads, durable writes, other writes."""

    def __init__(self, results, quantity, scale=1):
        self.results = results
        self.quantity = quantity
        self.scale = scale
        measured = {name for figures in results["cells"].values() for name in figures}
        self.titles = list(dict.fromkeys(peer["title"] for peer in results["peers"] if peer["name"] in measured))

    def rows(self):
        """(block, title of the row, {title of the peer: value})"""
        chosen = [cells.BY_NAME[name] for name in self.results["cells"]]
        for cell in chosen:
            if not cell.writes:
                yield "reads", cell.title, self.row(cell, None)
        for block, synced in (("durable writes", True), ("writes without fsync", False)):
            for cell in chosen:
                if cell.writes:
                    yield block, cell.title, self.row(cell, synced)

    def row(self, cell, synced):
        figures = self.results["cells"][cell.name]
        row = {}
        for peer in self.results["peers"]:
            values = figures.get(peer["name"], {}).get(self.quantity)
            if values and synced in (None, peer["synced"]):
                row[peer["title"]] = statistics.median(values) * self.scale
        return row

    def markdown(self):
        yield f"| | {' | '.join(self.titles)} | best other / Sherd |"
        yield "|---|" + "--:|" * (len(self.titles) + 1)
        last = None
        for block, title, row in self.rows():
            if block != last:
                yield f"| *{block}* |" + " |" * (len(self.titles) + 1)
                last = block
            values = [number(row[name]) if name in row else "" for name in self.titles]
            yield f"| {title} | {' | '.join(values)} | {advantage(row)} |"


def advantage(row):
    """The time of the fastest other peer divided by Sherd's: programs are compared with Sherd's C++, Python with its
    Python."""
    ratios = []
    for name, value in row.items():
        ours = row.get("Sherd, C++" if name == "zarrs" else "Sherd, Python")
        if ours and name != "floor" and not name.startswith("Sherd"):
            ratios.append(value / ours)
    return f"{min(ratios):.2f}" if ratios else ""


def change(results, name, quantity):
    """For each cell and variant, this Sherd's figure divided by the earlier one's: the median over the rounds. The two
    take turns in each round."""
    for cell, figures in results["cells"].items():
        for variant in ("", "-unsynced"):
            now = figures.get(f"{name}{variant}", {}).get(quantity)
            then = figures.get(f"{name}-earlier{variant}", {}).get(quantity)
            if now and then and all(then):
                durable = ", durable" if cells.BY_NAME[cell].writes and not variant else ""
                yield cells.BY_NAME[cell].title + durable, statistics.median(a / b for a, b in zip(now, then))


def comparison(results):
    """The cost of a change: a row for each cell, or nothing if no other commit took part."""
    columns = [dict(change(results, name, quantity)) for name, quantity in CHANGES]
    titles = list(dict.fromkeys(title for column in columns for title in column))
    if not titles:
        return []
    lines = ["", "## This tree divided by the other commit: above 1 it is slower or larger", ""]
    lines += ["| | C++: time | C++: memory | Python: time | Python: memory |", "|---|--:|--:|--:|--:|"]
    for title in titles:
        values = [f"{column[title]:.2f}" if title in column else "" for column in columns]
        lines.append(f"| {title} | {' | '.join(values)} |")
    return lines


def versions(results):
    told = (results["versions"][peer["name"]] for peer in results["peers"] if peer["name"] in results["versions"])
    return ", ".join(dict.fromkeys(name for text in told for name in text.split(", ")))


def text(results):
    """The tables, and the conditions of the measurement."""
    machine = ", ".join(f"{name} {value}" for name, value in results["machine"].items())
    lines = [f"{results['date']}, an array of {results['size']}^3, medians of {results['rounds']}. {machine}.", "", f"{versions(results)}."]
    for quantity, title, scale in TABLES:
        lines += ["", f"### {title}", "", *Table(results, quantity, scale).markdown()]
    lines += comparison(results)
    return "\n".join(lines) + "\n"


def marks(part):
    return f"<!-- written by script/bench --record: {part} -->", f"<!-- end of {part} -->"


def replace_part(page, marks, lines):
    """Replaces what is between two marks of a page."""
    begin, end = marks
    above, opened, rest = page.read_text().partition(begin)
    _, closed, below = rest.partition(end)
    if not opened or not closed:
        raise ValueError(f"{page} has no lines {begin} and {end}")
    page.write_text(f"{above}{begin}\n\n{lines}\n\n{end}{below}")


def record(results, folder):
    """Replaces the parts of benchmarks.md for which there are results, and the plot."""
    page = folder / "benchmarks.md"
    for part, has in PARTS.items():
        chosen = results | {"cells": {name: figures for name, figures in results["cells"].items() if has(cells.BY_NAME[name])}}
        if not chosen["cells"]:
            continue
        replace_part(page, marks(part), text(chosen).rstrip("\n"))
        if part == "all other cells":
            (folder / "benchmarks.svg").write_text(plot.svg(Table(chosen, "seconds", 1e3)))


if __name__ == "__main__":
    measured = json.loads(pathlib.Path(sys.argv[1]).read_text())
    print(text(measured))
    if "--record" in sys.argv[2:]:
        record(measured, pathlib.Path(__file__).resolve().parent.parent / "docs")
