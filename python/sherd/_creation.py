"""Functions that create arrays, named as in NumPy and zarr-python: zeros, full_like, from_array, save, load."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from . import _arguments, _sherd
from ._array import Array, codec_parts
from ._create import is_stored
from ._errors import InvalidArgument
from ._group import Group
from ._nodes import StoreLike, create_array, open, open_group
from ._options import data_dtype, has_edges

# The keywords that describe how the chunks of an array are stored; if one is given, the others are those of the source.
_PARTS = ("chunks", "shards", "filters", "serializer", "compressors", "index_location", "index_codecs")


def _chunks(chunks: Any, shape: Any) -> Any:
    """Converts zarr-python's forms of chunks: one length for all dimensions; True or None: chosen by size; False: one
    chunk."""
    if chunks is None or chunks is True:
        return "auto"
    lengths = (shape,) if isinstance(shape, (int, np.integer)) else tuple(shape)
    if chunks is False:
        return tuple(max(1, length) for length in lengths)
    if isinstance(chunks, (int, np.integer)):
        return (int(chunks),) * len(lengths)
    return chunks


def create(
    shape: Any, *, store: StoreLike | None = None, path: str = "", dtype: Any = None, chunks: Any = None, **options: Any
) -> Array:
    """Creates an array with the keywords of create_array.

    shape: an int, or one per dimension. store: default: a new MemoryStore. path: below the store's root.
    dtype: default: float64. chunks: as in create_array, or one int for all dimensions; False: one chunk for everything.
    """
    return create_array(
        _store(store),
        name=path or None,
        shape=shape,
        dtype="float64" if dtype is None else dtype,
        chunks=_chunks(chunks, shape),
        **options,
    )


def _store(store: StoreLike | None) -> StoreLike:
    """The store, or a new one in memory if it is None."""
    return _sherd.MemoryStore() if store is None else store


def empty(shape: Any, **options: Any) -> Array:
    """create() with the fill value of the type, which is what elements that were never written read as."""
    return create(shape, **options)


def zeros(shape: Any, **options: Any) -> Array:
    """create() with zeros, False or empty texts."""
    return create(shape, **options)


def ones(shape: Any, **options: Any) -> Array:
    """create() with ones as the fill value."""
    return create(shape, fill_value=1, **options)


def full(shape: Any, fill_value: Any, **options: Any) -> Array:
    """create() with a fill value. The type is float64 unless dtype is set."""
    return create(shape, fill_value=fill_value, **options)


def _kept(array: Array, given: dict[str, Any]) -> dict[str, Any]:
    """The storage of an array's chunks, as keywords of create_array; given keywords take precedence."""
    if given.get("codecs") is not None or array.format != "zarr3":
        return {name: getattr(array, name) for name in ("chunks", "shards") if given.get("codecs") is None}
    stored = array.shards or array.chunks
    if not any(name in given for name in _PARTS) and not has_edges(stored):
        grid = {"name": "regular", "configuration": {"chunk_shape": list(stored)}}
        return {"chunks": grid, "codecs": array.codecs}
    filters, serializer, compressors = codec_parts(array)
    kept: dict[str, Any] = {"chunks": array.chunks, "shards": array.shards}
    kept |= {"filters": list(filters), "serializer": serializer, "compressors": list(compressors)}
    if array.shards is not None and given.get("shards", ...) is not None:
        index = array.codecs[-1]["configuration"]
        kept |= {"index_location": index.get("index_location", "end"), "index_codecs": index["index_codecs"]}
    return kept


def _chunks_of(a: Any) -> dict[str, Any]:
    """The chunks of another library's array. dask has the lengths of all chunks in `chunks`, and of the largest in
    `chunksize`."""
    return {"chunks": getattr(a, "chunksize", a.chunks), "shards": getattr(a, "shards", None)}


def _like(a: Any, options: dict[str, Any], fill_value: bool) -> Array:
    """An array with the shape and type of `a`, and its chunks and codecs if it has them."""
    shape = options.pop("shape", None)
    found: dict[str, Any] = {"dtype": data_dtype(a) if hasattr(a, "dtype") else None}
    if isinstance(a, Array):
        found = {"dtype": a.info["dtype"], **_kept(a, options)}
        if fill_value:
            found["fill_value"] = a.fill_value
    elif is_stored(a):
        found |= _chunks_of(a)
    return create(a.shape if shape is None else shape, **(found | options))


def empty_like(a: Any, **options: Any) -> Array:
    """An array like `a`, in a new MemoryStore or `store`. Shape, type, chunks, shards, codecs and fill value are those
    of `a` if it is an array of Sherd; of NumPy arrays only shape and type are used, of others also chunks and shards.
    Keywords are those of create() and take precedence. Attributes and dimension names are not copied."""
    return _like(a, options, True)


def zeros_like(a: Any, **options: Any) -> Array:
    """empty_like() with zeros, False or empty texts."""
    return _like(a, options, False)


def ones_like(a: Any, **options: Any) -> Array:
    """empty_like() with ones."""
    return _like(a, {"fill_value": 1} | options, False)


def full_like(a: Any, **options: Any) -> Array:
    """empty_like() with `fill_value`, which is required if `a` has none."""
    if "fill_value" not in options and not isinstance(a, Array):
        raise InvalidArgument("is missing", member="fill_value")
    return _like(a, options, True)


def array(data: Any, *, store: StoreLike | None = None, path: str = "", **options: Any) -> Array:
    """An array with these elements, in a new MemoryStore or `store`. Keywords are those of create(). If the data are an
    array with chunks, these are kept (see from_array)."""
    if is_stored(data):
        return from_array(_store(store), data=data, name=path or None, **options)
    if not (hasattr(data, "shape") and hasattr(data, "dtype")):
        data = np.asanyarray(data)
    if "chunks" in options:
        options["chunks"] = _chunks(options["chunks"], data.shape)
    return create_array(_store(store), name=path or None, data=data, **options)


def from_array(
    store: StoreLike, *, data: Any, write_data: bool = True, name: str | None = None, **options: Any
) -> Array:
    """Creates an array with the elements of another one. It appears with all of its elements, or not at all.

    data: array-like. An array of Sherd, zarr-python, dask or xarray, or a dataset of h5py, is read one stored object at
    a time. Shape, type, chunks,
    shards, codecs, fill value and dimension names are kept, as far as the source has them.
    write_data: False: only the metadata document is written.
    options: keywords of create_array, which take precedence; "keep" has the same effect as omitting one. Attributes are
    not kept.
    sherd.copy() keeps everything, and moves chunks without decoding them.
    """
    options = {key: value for key, value in options.items() if not (isinstance(value, str) and value == "keep")}
    found: dict[str, Any] = {}
    if isinstance(data, Array):
        found = {"dtype": data.info["dtype"], "fill_value": data.fill_value, "dimension_names": data.dimension_names}
        found |= _kept(data, options)
    elif is_stored(data):
        found = _chunks_of(data)
    elif not hasattr(data, "shape"):
        data = np.asanyarray(data)
    if _arguments.flag(write_data, "write_data"):
        return create_array(store, name=name, data=data, **(found | options))
    return create_array(store, name=name, **({"shape": data.shape, "dtype": data_dtype(data)} | found | options))


def save_array(store: StoreLike, arr: Any, *, path: str = "", **options: Any) -> None:
    """Creates an array with these elements; the same as array(arr, store=store, …). Conflict if anything exists
    there."""
    array(arr, store=store, path=path, **options)


def save_group(
    store: StoreLike, *args: Any, path: str = "", zarr_format: Literal[2, 3] | None = None, **arrays: Any
) -> None:
    """Creates a group of arrays: those passed by keyword under that name, the others as arr_0, arr_1, and so on. They
    are added to an existing group; Conflict if a name exists already."""
    group = open_group(store, mode="a", path=path, zarr_format=zarr_format)
    for name, data in {**{f"arr_{i}": each for i, each in enumerate(args)}, **arrays}.items():
        group.create_array(name, data=data)


def save(
    store: StoreLike, *args: Any, path: str = "", zarr_format: Literal[2, 3] | None = None, **arrays: Any
) -> None:
    """Calls save_array() for one positional array, otherwise save_group()."""
    if not args and not arrays:
        raise InvalidArgument("at least one array must be given")
    if len(args) == 1 and not arrays:
        save_array(store, args[0], path=path, zarr_format=zarr_format)
    else:
        save_group(store, *args, path=path, zarr_format=zarr_format, **arrays)


def load(store: StoreLike, path: str | None = None, zarr_format: Literal[2, 3] | None = None) -> Any:
    """All elements of an array, as an ndarray; for a group, a dict of its direct arrays by name. NotFound if there is
    neither."""
    node = open(store, path="" if path is None else path, zarr_format=zarr_format)
    if isinstance(node, Group):
        return {name: each[...] for name, each in node.arrays()}
    return node[...]


def group(
    store: StoreLike | None = None,
    *,
    overwrite: bool = False,
    path: str = "",
    attributes: dict[str, Any] | None = None,
    format: str | None = None,
    zarr_format: Literal[2, 3] | None = None,
    config: dict[str, Any] | None = None,
) -> Group:
    """A group to write to: a new one in a new MemoryStore, or that of `store`, which is created if it does not exist.
    With `overwrite`, a new one replaces what exists. The other keywords are those of open_group()."""
    return open_group(
        _store(store),
        mode="w" if _arguments.flag(overwrite, "overwrite") else "a",
        path=path,
        attributes=attributes,
        format=format,
        zarr_format=zarr_format,
        config=config,
    )
