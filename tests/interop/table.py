"""The table of what peers cannot do (peers.toml), and the judgement by it."""

import pathlib
import tomllib

from interop.cells import DIMENSIONS

PATH = pathlib.Path(__file__).with_name("peers.toml")
TABLE = tomllib.loads(PATH.read_text())
WRONG = "wrong values"


def as_list(value):
    return value if isinstance(value, list) else [value]


def includes(entry, cell):
    """Whether the cell is one of those that the entry speaks of: in each dimension that it names, one of the values."""
    return all(cell[d] in as_list(entry[d]) for d in DIMENSIONS if d in entry)


def reasons(peer, does, cell):
    """The errors with which the peer may fail here; empty where it must work."""
    return [
        error
        for entry in TABLE["cannot"]
        for error in as_list(entry["error"])
        if peer in as_list(entry["peer"]) and does in as_list(entry["does"]) and includes(entry, cell)
    ]


def deviation(peer, does, cell, error):
    """What is not as the table has it, as a sentence; None where all is. `error` is None where the peer succeeded."""
    listed = reasons(peer, does, cell)
    if error is None and listed:
        return f"{cell}: works, but peers.toml has it fail with {listed[0]!r}; delete or narrow that entry"
    if error is not None and not listed:
        return f"{cell}: {error}"
    if error is not None and not any(text in error for text in listed):
        return f"{cell}: {error}\n    is not what peers.toml has: {listed}"
    return None
