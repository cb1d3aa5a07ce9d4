"""Checks of arguments before they reach the engine, so that the error names the argument."""

from __future__ import annotations

import math
import operator
import os
import unicodedata
import warnings
from collections.abc import Callable, Mapping
from typing import Any, SupportsIndex

import numpy as np

from . import _sherd
from ._errors import InvalidArgument, NodeNameWarning


def _wrong(value: Any, name: str, wanted: str) -> TypeError:
    return TypeError(f"{name} must be {wanted}, not {type(value).__name__}")


def _instead_of(value: Any) -> str:
    """What to pass instead of a store or a handle of zarr-python."""
    if type(value).__module__.partition(".")[0] != "zarr":
        return ""
    inner = getattr(value, "store", value)
    if root := getattr(inner, "root", None):
        below = getattr(value, "path", "")
        return f"; pass its path, {os.fspath(os.path.join(root, below) if below else root)!r}"
    if type(inner).__name__ == "MemoryStore":
        return "; make the store by sherd.MemoryStore(), and pass sherd.zarr_store(store) to zarr-python"
    return "; stores of zarr-python are not opened, but a directory that both can name is"


def store(value: Any, name: str = "store") -> Any:
    """A path, a URL, an os.PathLike or a Store, unchanged."""
    if not isinstance(value, (str, bytes, os.PathLike, _sherd.Store)):
        wrong = _wrong(value, name, "a path, a URL, an os.PathLike or a sherd.Store")
        raise TypeError(f"{wrong}{_instead_of(value)}")
    return value


def settings(config: Any, storage_options: Any, *stores: Any) -> Any:
    """`config` with storage options added for the stores that paths and URLs name."""
    if storage_options is None:
        return config
    if any(isinstance(each, _sherd.Store) for each in stores):
        raise InvalidArgument("cannot be used with a Store; pass the options when opening it", member="storage_options")
    return {**(config or {}), "storage_options": storage_options}


def _check_characters(value: str, name: str, member: str) -> None:
    try:
        value.encode()
    except UnicodeEncodeError:
        raise InvalidArgument(f"{name} {value!r} has surrogates, which are not characters", member=member) from None


def text(value: Any, name: str) -> str:
    """A str, unchanged."""
    if not isinstance(value, str):
        raise _wrong(value, name, "a str")
    _check_characters(value, name, name)
    return value


def new_name(value: Any, name: str, frames: int = 2) -> str:
    """The path of a node to be created; warns if it looks like another one. frames: how many frames above this one the
    user's call is."""
    if not unicodedata.is_normalized("NFKC", text(value, name)):
        normal = unicodedata.normalize("NFKC", value)
        warnings.warn(f"{name} {value!r} is not in Unicode's form NFKC, {normal!r}", NodeNameWarning, stacklevel=frames + 1)
    return value


def _is_of_numpy(value: Any) -> bool:
    return isinstance(value, (np.ndarray, np.generic))


def _check_json(value: Any, where: str) -> None:
    if isinstance(value, Mapping):
        for name, member in value.items():
            if not isinstance(name, str):
                raise InvalidArgument(f"{where}: the keys of a JSON object must be str, not {type(name).__name__}", member=where)
            _check_characters(name, f"{where}: the key", where)
            _check_json(member, f"{where}.{name}")
    elif isinstance(value, (list, tuple)):
        for i, element in enumerate(value):
            _check_json(element, f"{where}[{i}]")
    elif isinstance(value, str):
        _check_characters(value, f"{where}: the text", where)
    elif _is_of_numpy(value) and value.dtype.char not in "mMgG":  # tolist() makes numbers of times, and keeps long doubles
        _check_json(value.tolist(), where)
    elif isinstance(value, float) and not math.isfinite(value):
        word = "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
        raise InvalidArgument(f"{where}: JSON has no {value}; other programs could not read it. Write {word!r} or None", member=where)
    elif not isinstance(value, (int, float, type(None))) and (_is_of_numpy(value) or not hasattr(value, "tolist")):
        kind = type(value).__name__
        raise InvalidArgument(f"{where}: JSON has no value of type {kind}; convert it to text or numbers", member=where)


def attributes(value: Any) -> Any:
    """Attributes, unchanged; what JSON does not have is refused, and the error names the attribute."""
    _check_json(value, "attributes")
    return value


def count(value: Any, name: str) -> int:
    """A whole number from 0 to 2^64 - 1, as an int."""
    try:
        number = operator.index(value)
    except TypeError:
        raise _wrong(value, name, "an int") from None
    if not 0 <= number < 2**64:
        raise InvalidArgument(f"{name} must be from 0 to 2^64 - 1, not {number}", member=name)
    return number


def whole(value: Any, name: str) -> int:
    """A whole number of 64 bits, as an int."""
    if isinstance(value, bool) or not isinstance(value, SupportsIndex):
        raise _wrong(value, name, "an int")
    number = operator.index(value)
    if not -(2**63) < number < 2**63:
        raise InvalidArgument(f"{number} is too large", member=name)
    return number


def triple(values: Any, name: str, convert: Callable[[Any], Any]) -> list[Any]:
    """Three values: x, y, z."""
    try:
        items = list(values)
    except TypeError:
        raise _wrong(values, name, "three numbers: x, y, z") from None
    try:
        converted = [convert(each) for each in items]
    except ValueError as error:
        raise InvalidArgument(f"{name} must be three numbers: x, y, z, not {values!r}", member=name) from error
    if len(converted) != 3:
        raise InvalidArgument(f"{name} must be three numbers: x, y, z, not {values!r}", member=name)
    return converted


def flag(value: Any, name: str) -> bool:
    """True or False, unchanged."""
    if not isinstance(value, bool):
        raise _wrong(value, name, "True or False")
    return value
