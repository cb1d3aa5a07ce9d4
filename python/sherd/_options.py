"""Converts the arguments of create_array to the form that the engine expects."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from . import _arguments, _sherd, _texts
from ._array import Array
from ._errors import InvalidArgument
from ._info import info


def codec(value: Any) -> Any:
    """A codec as its JSON object; a string such as "zstd:3" is unchanged. Codecs of numcodecs are recognized by their
    id."""
    if isinstance(value, str):
        return value
    if not isinstance(value, Mapping) and hasattr(value, "get_config"):
        value = value.get_config()
    if isinstance(value, Mapping):
        if "name" in value or "id" not in value:
            return dict(value)
        members = {key: each for key, each in value.items() if key != "id"}
        return {"name": f"numcodecs.{value['id']}", "configuration": members}
    if hasattr(value, "to_dict"):
        found = value.to_dict()
        # zarr-python's Blosc derives these from the data type if they are not given, and has placeholders until then.
        for open_still in getattr(value, "_tunable_attrs", ()):
            found.get("configuration", {}).pop(open_still, None)
        return found
    raise InvalidArgument(f"a codec is a string, a JSON object, or a codec of zarr-python or numcodecs; not {value!r}", member="codecs")


def codec_list(value: Any) -> list[Any]:
    """Codecs from a list of them, a single one, or None for none."""
    if value is None:
        return []
    if isinstance(value, (list, tuple)):
        return [codec(each) for each in value]
    return [codec(value)]


def is_auto(value: Any) -> bool:
    return isinstance(value, str) and value == "auto"


def is_dual_format(config: Mapping[str, Any] | None) -> bool:
    """Whether a new array with these settings is also a Neuroglancer volume."""
    chosen = config.get("layout") if isinstance(config, Mapping) else None
    return (_sherd.config.layout if chosen is None else chosen) == "zarr+neuroglancer"


def chain(filters: Any, serializer: Any, compressors: Any, compressor: str) -> list[Any] | None:
    """The codecs of a chunk, or None if the engine chooses all of them."""
    if is_auto(filters) and is_auto(serializer) and is_auto(compressors):
        return None
    before = [] if is_auto(filters) else codec_list(filters)
    middle = [] if is_auto(serializer) else [codec(serializer)]
    after = [compressor] if is_auto(compressors) else codec_list(compressors)
    return before + middle + after


_CHAIN = r"(raw_)?codecs\[(\d+)\]((?:\.configuration\.codecs\[\d+\])*)"


def argument_of(member: str, given: Mapping[str, Any]) -> str:
    """The keyword of create_array that is responsible for a member of the engine's options, with the rest of the
    member's path."""
    found = re.match(_CHAIN, member)
    if member.startswith("chunk_grid.") and not isinstance(given["chunks"], Mapping):
        lengths = "chunks" if has_edges(given["chunks"]) else "shards"
        return lengths + member.removeprefix("chunk_grid.configuration.chunk_shapes")
    if found is None or found[1]:
        return member.removeprefix("raw_")
    # The position in the chain, which also contains the engine's own codecs if the keywords leave some to the engine.
    position = int((re.findall(r"\d+", found[3]) or [found[2]])[-1])
    rest = member[found.end() :].removesuffix(".name")
    if not is_auto(given["filters"]):
        if position < len(codec_list(given["filters"])):
            return f"filters{rest}"
        position -= len(codec_list(given["filters"]))
    return f"serializer{rest}" if position == 0 and not is_auto(given["serializer"]) else f"compressors{rest}"


def key_encoding(value: Any) -> Any:
    """A chunk key encoding as in metadata; {"name", "separator"} and a bare name are short forms."""
    if isinstance(value, str):
        return {"name": value}
    if hasattr(value, "to_dict"):
        value = value.to_dict()
    if isinstance(value, Mapping) and "separator" in value:
        return {"name": value.get("name", "default"), "configuration": {"separator": value["separator"]}}
    return value


def number_json(value: Any, name: str) -> Any:
    """A Python number as in metadata of the type `name`."""
    if isinstance(value, complex):
        return [number_json(value.real, "float64"), number_json(value.imag, "float64")]
    if name.startswith("complex"):
        return [number_json(value, "float64"), 0.0]
    if name == "bool" and not isinstance(value, bool) and value in (0, 1):
        return bool(value)
    if isinstance(value, float):
        if value != value:
            return "NaN"
        if value in (float("inf"), float("-inf")):
            return "Infinity" if value > 0 else "-Infinity"
        if "int" in name and value.is_integer():
            return int(value)
    elif isinstance(value, bool) and name != "bool":
        return int(value)
    return value


def fill_json(value: Any, dtype: Any) -> Any:
    """A fill value as in metadata: a Python or NumPy scalar is converted bit for bit, JSON is unchanged."""
    json, native = _sherd.describe_dtype(dtype)
    name = json if isinstance(json, str) else json["name"]
    if isinstance(value, (np.generic, np.ndarray)):
        if value.shape == () and value.dtype == native and not native.hasobject:
            return _sherd.element_json(value, json)
        if native.kind not in "mMU" and native.type is not np.void:
            value = value.tolist()
    if isinstance(value, (bytes, bytearray)):
        return list(value)
    if isinstance(value, Mapping):
        return dict(value)
    if native.kind in "mM" and not isinstance(value, int):
        return _sherd.element_json(np.asarray(value, native), json)
    if native.names is not None and isinstance(value, (tuple, np.void)):
        return _sherd.element_json(np.asarray(value, native), json)
    if isinstance(value, (bool, int, float, complex)):
        return number_json(value, name)
    return str(value) if isinstance(value, np.str_) else value


def object_dtype(data: np.ndarray[Any, Any]) -> str:
    """The element type of an array of objects: "string" or "bytes"."""
    for name, kind in (("string", str), ("bytes", bytes)):
        if all(isinstance(each, kind) for each in data.flat) and data.size > 0:
            return name
    raise InvalidArgument('data of objects needs dtype="string" or dtype="bytes"', member="dtype")


def data_dtype(data: Any) -> Any:
    """The element type of data that has a shape. Of objects that are read in parts, the first one determines it."""
    if isinstance(data, Array):
        return info(data)["dtype"]
    if data.dtype != object:
        return data.dtype
    if _texts.is_hdf5_text(data):
        return "string"
    return object_dtype(data if isinstance(data, np.ndarray) else np.asarray(data[(slice(0, 1),) * data.ndim]))


def has_edges(lengths: Any) -> bool:
    """Whether lengths are given for each chunk along some dimension: ((3, 3, 4), 5)."""
    return isinstance(lengths, (list, tuple)) and any(isinstance(each, (list, tuple, np.ndarray)) for each in lengths)


def numpy_dtype(dtype: Any, data: Any) -> np.dtype[Any]:
    """NumPy's type of the elements; V1 if only Sherd knows the name."""
    try:
        return np.dtype(getattr(data, "dtype", data) if dtype is None else dtype)
    except (TypeError, ValueError, KeyError):
        return np.dtype("V1")


def is_big_endian(dtype: np.dtype[Any]) -> bool:
    """Whether numbers, or the numbers in any field of a struct, are big-endian."""
    if dtype.fields is None:
        return dtype.byteorder == ">"
    return any(is_big_endian(field[0]) for field in dtype.fields.values())


def rectilinear(axes: Any) -> dict[str, Any]:
    """The chunk grid, as in metadata, with one list of lengths per dimension; an int is one length for the whole
    dimension."""
    return {"name": "rectilinear", "configuration": {"kind": "inline", "chunk_shapes": list(axes)}}


def layout(chunks: Any, shards: Any) -> dict[str, Any]:
    """Chunks and shards. A dict is a chunk grid as in metadata."""
    found: dict[str, Any] = {}
    if isinstance(chunks, Mapping):
        found["chunk_grid"] = dict(chunks)
    elif has_edges(chunks):
        if shards is not None:
            text = "inner chunks must have one shape; put the lists into shards, or omit it"
            raise InvalidArgument(text, member="chunks")
        found["chunk_grid"] = rectilinear(chunks)
    elif not is_auto(chunks) and chunks is not None:
        found["chunks"] = chunks
    if is_auto(shards):
        found["auto_shards"] = True
    elif has_edges(shards):
        if "chunks" not in found:
            raise InvalidArgument("shards of different lengths need chunks", member="shards")
        found["chunk_grid"] = rectilinear(shards)
    elif shards is not None:
        found["shards"] = shards
    return found


def node(
    *,
    shape: Any,
    dtype: Any,
    data: Any,
    fill_value: Any,
    chunk_key_encoding: Any,
    dimension_names: Any,
    attributes: Any,
    volume: Any,
    overwrite: bool,
    config: Any,
) -> dict[str, Any]:
    """The properties of an array other than its chunks and codecs."""
    if data is not None:
        shape = data.shape if shape is None else shape
        dtype = data_dtype(data) if dtype is None else dtype
    for name, value in (("shape", shape), ("dtype", dtype)):
        if value is None:
            raise InvalidArgument(f"{name} is missing; pass it, or data", member=name)
    found: dict[str, Any] = {"shape": shape, "dtype": dtype, "overwrite": overwrite}
    if fill_value is not None:
        found["fill_value"] = fill_json(fill_value, dtype)
    if chunk_key_encoding is not None:
        found["chunk_key_encoding"] = key_encoding(chunk_key_encoding)
    for name, value in (("dimension_names", dimension_names), ("attributes", attributes), ("volume", volume), ("config", config)):
        if value is not None:
            found[name] = value
    return found


def codecs(
    *,
    filters: Any,
    serializer: Any,
    compressors: Any,
    codecs: Any,
    index_location: str,
    index_codecs: Any,
    compressor: str,
) -> dict[str, Any]:
    """The codecs of chunks and of shard indexes."""
    found: dict[str, Any] = {"index_location": index_location}
    chosen = chain(filters, serializer, compressors, compressor)
    if codecs is not None:
        if chosen is not None:
            raise InvalidArgument("cannot be combined with filters, serializer or compressors", member="codecs")
        found["raw_codecs"] = codec_list(codecs)
    elif chosen is not None:
        found["codecs"] = chosen
    if index_codecs is not None:
        found["index_codecs"] = codec_list(index_codecs)
    return found


def _factors(given: Any) -> list[tuple[str, int]] | None:
    """Pairs of axis and factor; the axis is empty if factors are in the order of the axes."""
    if given is None or given == "auto":
        return None
    if isinstance(given, str) or not isinstance(given, (Mapping, Sequence)):
        raise InvalidArgument("must be 'auto', factors in the order of the axes, or a dict of them by axis", member="factors")
    pairs = given.items() if isinstance(given, Mapping) else (("", factor) for factor in given)
    return [(_arguments.text(axis, "factors"), _arguments.count(factor, "factors")) for axis, factor in pairs]


def pyramid(method: Any, factors: Any, ignore_zero: Any) -> dict[str, Any]:
    """The engine's options for coarser resolutions; method is, for example, "mean" or "mode:3"."""
    options: dict[str, Any] = {"ignore_zero": _arguments.flag(ignore_zero, "ignore_zero")}
    if ignore_zero and method is None:
        raise InvalidArgument("can only be used with pyramid='mode'", member="ignore_zero")
    if method is not None:
        kind, colon, levels = _arguments.text(method, "pyramid").partition(":")
        if kind not in ("mean", "mode") or (colon and not (levels.isascii() and levels.isdigit())):
            raise InvalidArgument("must be 'mean' or 'mode', with or without a number as in 'mean:3'", member="pyramid")
        options["pyramid"] = kind
        if colon:
            options["pyramid_levels"] = int(levels)
        options["factors"] = _factors(factors)
    elif factors is not None:
        raise InvalidArgument("can only be used with pyramid", member="factors")
    return options
