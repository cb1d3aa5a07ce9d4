"""Chunks of 40 bytes that the crate zarrs wrote (tests/data/codec/zarrs_chunks), for codecs that Sherd only reads."""

import json
import pathlib

import numpy

ROWS = json.loads((pathlib.Path(__file__).parent / "data/codec/zarrs_chunks.json").read_text())


def golden(name):
    """The codec as metadata have it, the elements as the crate's program makes them, and the chunk."""
    row = [row for row in ROWS if row["codecs"][-1]["name"] == name and row.get("count") == 40][-1]
    state, values = 1, []
    for _ in range(40):
        state = (state * 1664525 + 1013904223) % 2**32
        values.append((state >> 8) % 3)
    return row["codecs"][-1], numpy.array(values, "u1"), bytes.fromhex(row["encoded"])
