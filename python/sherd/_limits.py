"""Limits that the environment raises: SHERD_LIMIT_<NAME>, as for the command."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable

from ._errors import InvalidArgument

_BINARY = {letter: 1024**power for power, letter in enumerate("KMGTP", 1)}
_DECIMAL = {"k": 10**3, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12, "P": 10**15}
_UNITS = (
    {"": 1, "B": 1}
    | _BINARY
    | {f"{letter}iB": size for letter, size in _BINARY.items()}
    | {f"{letter}B": size for letter, size in _DECIMAL.items()}
)


def _size(text: str) -> int | None:
    """The number that "64MiB", "10kB" or "4096" stands for."""
    found = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?) ?([A-Za-z]*)", text)
    if found is None or found[2] not in _UNITS:
        return None
    number = int(found[1]) if "." not in found[1] else float(found[1])
    return round(number * _UNITS[found[2]])


def limits_from_environment(names: Iterable[str]) -> dict[str, int]:
    """Those of these limits that SHERD_LIMIT_<NAME> sets."""
    limits = {}
    for name in names:
        variable = f"SHERD_LIMIT_{name.upper()}"
        text = os.environ.get(variable)
        if text is None:
            continue
        size = _size(text)
        if size is None:
            raise InvalidArgument(f"{variable}: {text!r} is no size; write it as 64MiB or 67108864", member=variable)
        limits[name] = size
    return limits
