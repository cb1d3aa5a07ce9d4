"""Limits as shown by sherd.config, and those set by the environment: SHERD_LIMIT_<NAME>, as for the command."""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NoReturn

from ._errors import InvalidArgument

_BINARY = {letter: 1024**power for power, letter in enumerate("KMGTP", 1)}
_DECIMAL = {"k": 10**3, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12, "P": 10**15}
_UNITS = (
    {"": 1, "B": 1}
    | _BINARY
    | {f"{letter}iB": size for letter, size in _BINARY.items()}
    | {f"{letter}B": size for letter, size in _DECIMAL.items()}
)


class Limits(Mapping[str, int]):
    """The limits by name, as of the time when they were requested. To change some of them, assign a dict:
    sherd.config.limits = {"chunk_bytes": 1 << 33}."""

    def __init__(self, limits: dict[str, int]) -> None:
        self._limits = limits

    def __getitem__(self, name: str) -> int:
        return self._limits[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._limits)

    def __len__(self) -> int:
        return len(self._limits)

    def __setitem__(self, name: str, value: Any) -> NoReturn:
        raise TypeError(f"limits are changed by assigning a dict: sherd.config.limits = {{{name!r}: {value!r}}}")

    def __delitem__(self, name: str) -> NoReturn:
        raise TypeError("a limit cannot be removed; raise it: sherd.config.limits = {" + repr(name) + ": 1 << 40}")

    def __repr__(self) -> str:
        return repr(self._limits)


def _size(text: str) -> int | None:
    """The number of bytes of a size such as "64MiB", "10kB" or "4096"."""
    found = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?) ?([A-Za-z]*)", text)
    if found is None or found[2] not in _UNITS:
        return None
    number = int(found[1]) if "." not in found[1] else float(found[1])
    return round(number * _UNITS[found[2]])


def limits_from_environment(names: Iterable[str]) -> dict[str, int]:
    """Those of these limits for which SHERD_LIMIT_<NAME> is set."""
    limits = {}
    variables = {f"SHERD_LIMIT_{name.upper()}": name for name in names}
    for variable, text in os.environ.items():
        if not variable.startswith("SHERD_LIMIT_"):
            continue
        name = variables.get(variable)
        if name is None:
            warnings.warn(f"{variable} sets no limit; there are {', '.join(variables)}", stacklevel=2)
            continue
        size = _size(text)
        if size is None:
            raise InvalidArgument(f"{variable}: {text!r} is not a size; write it as 64MiB or 67108864", member=variable)
        limits[name] = size
    return limits
