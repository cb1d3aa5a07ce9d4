"""Arrays in the Zarr v3 draft of 2022, as zarr-python 2.12 to 2.18 wrote them behind a switch: its hierarchy, and chunks
in shards by the storage transformer `indexed`. `sherd.open` and all else work on them as on any array; what the
format is made of is in docs/format/draft2022.md."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from . import _sherd
from ._create import make_array
from ._errors import InvalidArgument
from ._nodes import StoreLike
from ._options import codec_list

__all__ = ["create_array"]


Level = tuple[int, ...]


def _lengths(value: Any) -> Level:
    return (int(value),) if isinstance(value, (int, np.integer)) else tuple(int(length) for length in value)


def _levels(chunks_per_shard: Any, rank: int) -> list[Level]:
    """The chunks per shard of each transformer, from the innermost out."""
    if chunks_per_shard is None:
        return []
    stacked = not isinstance(chunks_per_shard, (int, np.integer)) and any(
        isinstance(level, (list, tuple, np.ndarray)) for level in chunks_per_shard
    )
    levels = [_lengths(level) for level in chunks_per_shard] if stacked else [_lengths(chunks_per_shard)]
    for level in levels:
        if len(level) != rank or min(level, default=1) < 1:
            raise InvalidArgument(
                f"chunks_per_shard: {level} has no number of at least 1 for each of {rank} dimensions",
                member="chunks_per_shard",
            )
    return levels


def _shard(chain: list[Any], shape: Level) -> list[Any]:
    """The codecs of shards whose inner chunks have this shape and these codecs."""
    configuration = {
        "chunk_shape": list(shape),
        "codecs": chain,
        "index_codecs": [{"name": "bytes", "configuration": {"endian": "little"}}],
        "index_location": "end",
    }
    return [{"name": "sharding_indexed", "configuration": configuration}]


def _is_big_endian(dtype: np.dtype[Any]) -> bool:
    if dtype.fields is None:
        return dtype.byteorder == ">"
    return any(_is_big_endian(field[0]) for field in dtype.fields.values())


def _numpy_dtype(dtype: Any, data: Any) -> np.dtype[Any]:
    try:
        return np.dtype(getattr(data, "dtype", data) if dtype is None else dtype)
    except TypeError:  # a name that only Sherd knows
        return np.dtype("V1")


def create_array(
    store: StoreLike,
    *,
    name: str | None = None,
    shape: Any = None,
    dtype: Any = None,
    data: Any = None,
    chunks: Any = "auto",
    chunks_per_shard: Any = None,
    separator: Literal["/", "."] = "/",
    uri: Literal["zarr-python", "seed"] = "zarr-python",
    order: Literal["C", "F"] = "C",
    compressors: Any = "auto",
    fill_value: Any = None,
    attributes: dict[str, Any] | None = None,
    overwrite: bool = False,
    config: dict[str, Any] | None = None,
) -> _sherd.Array:
    """Makes an array. Shape and dtype are needed, or `data`, which is written; what is not told here is as in
    sherd.create_array. A dtype such as ">i4" says the byte order in which elements are stored.

    chunks_per_shard: how many chunks a shard holds along each dimension, and needs `chunks`; None: every chunk is an
    object. A list of such lists is a stack of transformers, the innermost first.
    separator: between the numbers in a chunk's key.
    uri: the name given to the sharding transformer. "zarr-python" is the one that its releases know; "seed" is that of
    the draft's own example, and goes with the draft's key `c` for an array without dimensions.
    order: of the elements in a chunk.
    compressors: a codec; "auto": Blosc with LZ4, which all of zarr-python's releases for the draft know; None: none.
    """
    if order not in ("C", "F"):
        raise InvalidArgument(f'order is "C" or "F", not {order!r}', member="order")
    rank = len(_lengths(np.shape(data) if shape is None else shape))
    levels = _levels(chunks_per_shard, rank)
    if levels and isinstance(chunks, str):
        raise InvalidArgument("chunks_per_shard counts chunks: give their shape", member="chunks")
    reverse = {"name": "transpose", "configuration": {"order": list(range(rank))[::-1]}}
    filters = [reverse] if order == "F" and rank > 1 else "auto"
    native = _numpy_dtype(dtype, data)
    serializer = "bytes:big" if _is_big_endian(native) else "auto"
    layout: dict[str, Any] = {"chunks": chunks, "filters": filters, "serializer": serializer, "compressors": compressors}
    if len(levels) == 1:
        layout["shards"] = tuple(np.multiply(_lengths(chunks), levels[0]).tolist())
    elif levels:
        layout = _stack(levels, _lengths(chunks), layout, native.itemsize)

    def create(options: dict[str, Any]) -> _sherd.Array:
        options |= {"format": "draft2022", "format_options": {"uri": uri}}
        return _sherd.create_array(store, name or "", options)

    return make_array(
        create,
        shape=shape,
        dtype=dtype,
        data=data,
        fill_value=fill_value,
        chunk_key_encoding={"name": "default", "separator": separator},
        attributes=attributes,
        overwrite=overwrite,
        config=config,
        **layout,
    )


def _stack(levels: list[Level], chunks: Level, layout: dict[str, Any], itemsize: int) -> dict[str, Any]:
    """The same layout with shards in shards: the whole chain of codecs, as metadata has it."""
    chain: list[Any] = [] if layout["filters"] == "auto" else list(layout["filters"])
    endian = {"endian": "little" if layout["serializer"] == "auto" else "big"}
    chain.append({"name": "bytes", "configuration": endian if itemsize > 1 else {}})
    blosc = {"cname": "lz4", "clevel": 5, "shuffle": "shuffle", "typesize": itemsize, "blocksize": 0}
    compressors = layout["compressors"]
    chain += [{"name": "blosc", "configuration": blosc}] if compressors == "auto" else codec_list(compressors)
    shape = chunks
    for level in levels:
        chain = _shard(chain, shape)
        shape = tuple(np.multiply(shape, level).tolist())
    return {"chunks": shape, "codecs": chain}
