"""The table of what peers cannot do with Zarr v2 (zarr2.toml)."""

import fnmatch
import pathlib
import tomllib

TABLE = tomllib.loads(pathlib.Path(__file__).with_name("zarr2.toml").read_text())
WRONG = "wrong values"


def as_list(value):
    return value if isinstance(value, list) else [value]


def speaks_of(entry, cell):
    return any(fnmatch.fnmatchcase(str(cell), pattern.replace("[", "[[]")) for pattern in as_list(entry["cells"]))


def reasons(peer, does, cell):
    """The errors with which the peer may fail here; empty where it must work."""
    return [text for entry in TABLE["cannot"]
            if peer in as_list(entry["peer"]) and does in as_list(entry["does"]) and speaks_of(entry, cell)
            for text in as_list(entry["error"])]
