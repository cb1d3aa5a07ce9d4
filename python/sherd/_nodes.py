"""Opening and creating arrays and groups, and consolidating metadata."""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from typing import Any, Literal, cast

from . import _arguments, _sherd
from ._array import Array
from ._create import make_array
from ._errors import InvalidArgument, NotFound
from ._group import Group, wrap

StoreLike = str | os.PathLike[str] | _sherd.Store
Mode = Literal["r", "r+", "a", "w", "w-"]
MODES = ("r", "r+", "a", "w", "w-")


def _check_mode(mode: str) -> None:
    if mode not in MODES:
        raise InvalidArgument(f"mode must be one of {', '.join(MODES)}, not {mode!r}", member="mode")


def _store_or_new(store: StoreLike | None, mode: str) -> StoreLike:
    """The store; if it is None, a new one in memory, provided that the mode may create a node."""
    return _sherd.MemoryStore() if store is None and mode not in ("r", "r+") else _arguments.store(store)


ZARR_FORMATS = {2: "zarr2", 3: "zarr3"}


def format_name(format: str | None, zarr_format: int | None) -> str:
    """The engine's name of a format, given by that name or, as in zarr-python, by the version of Zarr; "" if neither is
    given."""
    if zarr_format is not None and (isinstance(zarr_format, bool) or zarr_format not in ZARR_FORMATS):
        raise InvalidArgument(f"zarr_format must be 2 or 3, not {zarr_format!r}", member="zarr_format")
    name = "" if zarr_format is None else ZARR_FORMATS[zarr_format]
    if format is None:
        return name
    if name and _arguments.text(format, "format") != name:
        raise InvalidArgument(f"zarr_format={zarr_format} is {name!r}, format says {format!r}", member="zarr_format")
    return _arguments.text(format, "format")


def _open(store: StoreLike, mode: str, path: str, format: str, config: Any) -> Array | Group:
    _arguments.store(store)
    _arguments.text(path, "path")
    node = wrap(_sherd.open_node(store, path, mode != "r", format, config))
    if isinstance(node, Group) and not format and (hidden := node._handle.hidden()):
        warnings.warn(f"{node.url}: {hidden}", stacklevel=4)
    return node


def _make_group(store: StoreLike, path: str, attributes: Any, overwrite: bool, format: str, config: Any) -> Group:
    _arguments.store(store)
    wanted = {} if attributes is None else _arguments.attributes(attributes)
    return Group(_sherd.create_group(store, path, wanted, overwrite, format, config))


def _open_or_make(store: StoreLike, mode: str, path: str, format: str, attributes: Any, config: Any) -> Array | Group:
    _check_mode(mode)
    if mode in ("r", "r+") and attributes is not None:
        raise InvalidArgument(f"mode {mode!r} creates no group and accepts no attributes", member="mode")
    if mode not in ("w", "w-"):
        try:
            return _open(store, mode, path, format, config)
        except NotFound:
            if mode != "a":
                raise
    _arguments.new_name(path, "path", 3)
    return _make_group(store, path, attributes, mode == "w", format, config)


def open(
    store: StoreLike | None = None,
    *,
    mode: Mode = "r",
    path: str = "",
    format: str | None = None,
    zarr_format: Literal[2, 3] | None = None,
    attributes: dict[str, Any] | None = None,
    storage_options: dict[str, Any] | None = None,
    config: dict[str, Any] | None = None,
    **options: Any,
) -> Array | Group:
    """Opens the node at a path, a URL or in a Store: an Array or a Group.

    mode: "r" reads, "r+" reads and writes an existing node (both: NotFound if there is none); "a" creates a group if
    nothing exists, "w" creates one that replaces what exists, "w-" creates one and raises Conflict if anything exists.
    With `shape`, `data` or other keywords of create_array, these modes create an array, as open_array() does.
    store: None, with a mode that may create a node: a new MemoryStore. path: below its root.
    format: such as "zarr3"; default: that of the existing node; for a new group, that of the hierarchy around it,
    otherwise "zarr3". zarr_format: 3 is format="zarr3", 2 is "zarr2". attributes: of a new node.
    storage_options: of the store that a path or URL names, by name. config: settings of this handle.
    """
    name = format_name(format, zarr_format)
    store = _store_or_new(store, mode)
    config = _arguments.settings(config, storage_options, store)
    if not options:
        return _open_or_make(store, mode, path, name, attributes, config)
    if attributes is not None:
        options["attributes"] = attributes
    return open_array(store, mode=mode, path=path, format=name or None, config=config, **options)


def open_group(
    store: StoreLike | None = None,
    *,
    mode: Mode = "r",
    path: str = "",
    format: str | None = None,
    zarr_format: Literal[2, 3] | None = None,
    attributes: dict[str, Any] | None = None,
    storage_options: dict[str, Any] | None = None,
    config: dict[str, Any] | None = None,
) -> Group:
    """Opens a group as open() does; InvalidArgument for an array. attributes: of a new group; an existing group keeps
    its own."""
    store = _store_or_new(store, mode)
    config = _arguments.settings(config, storage_options, store)
    node = _open_or_make(store, mode, path, format_name(format, zarr_format), attributes, config)
    if not isinstance(node, Group):
        raise InvalidArgument(f"{node.url} is an array, not a group")
    return node


def open_array(
    store: StoreLike | None = None,
    *,
    mode: Mode = "r",
    path: str = "",
    format: str | None = None,
    zarr_format: Literal[2, 3] | None = None,
    scale: int = 0,
    resolution: Sequence[float] | None = None,
    storage_options: dict[str, Any] | None = None,
    config: dict[str, Any] | None = None,
    **options: Any,
) -> Array:
    """Opens an array. A precomputed volume is opened at one of its scales; any other group is InvalidArgument.

    store, format, zarr_format, storage_options: as for open(). scale: of a precomputed volume: which resolution, 0
    being the finest; NotFound if it has fewer. resolution: alternatively, the nanometres per voxel along x, y and z, as
    in (8, 8, 40).
    The modes that may create an array ("a", "w", "w-"; see open()) accept the keywords of create_array; dtype is
    float64 if neither it nor data is given.
    """
    _check_mode(mode)
    store = _store_or_new(store, mode)
    config = _arguments.settings(config, storage_options, store)
    name = format_name(format, zarr_format)
    scale = _arguments.count(scale, "scale")
    if resolution is not None:
        resolution = _arguments.triple(resolution, "resolution", float)
        if scale != 0:
            raise InvalidArgument("can only be used without scale", member="resolution")
    if "overwrite" in options:
        raise InvalidArgument('cannot be used here; mode="w" overwrites', member="overwrite")
    if mode in ("r", "r+") and options:
        raise InvalidArgument(f"mode {mode!r} creates no array and accepts no {', '.join(options)}", member="mode")
    if mode not in ("w", "w-"):
        _arguments.store(store)
        _arguments.text(path, "path")
        try:
            if resolution is not None:
                return cast(Array, _sherd.open_scale(store, path, mode != "r", config, tuple(resolution)))
            return cast(Array, _sherd.open_array(store, path, mode != "r", name, config, scale))
        except NotFound:
            if mode != "a":
                raise
    if scale != 0 or resolution is not None:
        member = "scale" if resolution is None else "resolution"
        raise InvalidArgument("can only be used with an existing volume", member=member)
    _arguments.new_name(path, "path")
    if "shape" in options and options.get("data") is None and options.get("dtype") is None:
        options["dtype"] = "float64"
    return _make_array(store, path, name, overwrite=mode == "w", config=config, **options)


def _make_array(store: StoreLike, path: str, format: str, **options: Any) -> Array:
    _arguments.store(store)
    given = {"format": format} if format else {}
    return make_array(lambda made: _sherd.create_array(store, path, made | given), **options)


def create_group(
    store: StoreLike,
    *,
    path: str = "",
    attributes: dict[str, Any] | None = None,
    overwrite: bool = False,
    format: str | None = None,
    zarr_format: Literal[2, 3] | None = None,
    storage_options: dict[str, Any] | None = None,
    config: dict[str, Any] | None = None,
) -> Group:
    """Creates a group, and missing groups on the path. An existing node is a Conflict, unless `overwrite` is set, which
    erases it and all its members; files that are not part of it are a Conflict even then.
    format, zarr_format, storage_options: as for open()."""
    config = _arguments.settings(config, storage_options, store)
    _arguments.new_name(path, "path")
    _arguments.flag(overwrite, "overwrite")
    return _make_group(store, path, attributes, overwrite, format_name(format, zarr_format), config)


def create_array(
    store: StoreLike,
    *,
    name: str | None = None,
    shape: Any = None,
    dtype: Any = None,
    data: Any = None,
    chunks: Any = "auto",
    shards: Any = None,
    filters: Any = "auto",
    serializer: Any = "auto",
    compressors: Any = "auto",
    codecs: Any = None,
    index_location: Literal["start", "end"] = "end",
    index_codecs: Any = None,
    fill_value: Any = None,
    chunk_key_encoding: Any = None,
    dimension_names: Any = None,
    attributes: dict[str, Any] | None = None,
    volume: dict[str, Any] | None = None,
    order: Literal["C", "F"] | None = None,
    format: str | None = None,
    zarr_format: Literal[2, 3] | None = None,
    overwrite: bool = False,
    storage_options: dict[str, Any] | None = None,
    config: dict[str, Any] | None = None,
) -> Array:
    """Creates an array. Shape and dtype are required, or `data`: the array then appears with all of its elements, or
    not at all.

    name: the path below the store's root; None: the root itself.
    dtype: a NumPy dtype; a name as in Zarr metadata ("uint16", "r24", "string", "bytes", "bfloat16"); a JSON object.
    chunks: the (inner) chunk, an int per dimension; "auto": by size; a dict: the chunk grid as in metadata. For chunks
    of different lengths (a rectilinear grid), a list of lengths per dimension: chunks=[[3, 3, 4], [5]].
    shards: the stored object, multiples of `chunks`; "auto": by size; None: every chunk is an object. May also be lists
    of lengths, as for chunks; then `chunks` is required.
    filters, serializer, compressors: codecs, each a string such as "zstd:3", a JSON object, or an object with
    to_dict(). "auto": no filters; little-endian bytes, vlen-utf8 or vlen-bytes; zstd. None: none.
    codecs: the whole chain as a list of JSON objects; cannot be combined with the three above or with shards.
    index_location, index_codecs: of the index of a shard.
    fill_value: a Python or NumPy scalar, or as in metadata; None: zero, False, "".
    chunk_key_encoding: "default", "v2", {"name", "separator"}, or as in metadata.
    dimension_names: a str or None per dimension. attributes: a dict.
    volume: with config={"layout": "zarr+neuroglancer"}, the metadata for Neuroglancer: a dict with any of "type",
    "key", "resolution", "voxel_offset" and "sharding".
    data: array-like; an array of Sherd, zarr-python, dask or xarray, or a dataset of h5py, is read one stored object at a
    time. Texts of h5py become strings, unless dtype is "bytes".
    order: short for config={"order": …}, the order in memory of arrays that are read. In Zarr v2 it is also the order
    of stored elements; there, a dtype such as ">i4" also sets their byte order. format, zarr_format: as for open().
    overwrite: erase an existing node, which is otherwise a Conflict. Files that are not part of it are always a
    Conflict.
    storage_options: as for open(). config: settings of this handle; see sherd.config.
    """
    config = _arguments.settings(config, storage_options, store)
    arguments = dict(locals())
    for each in ("store", "name", "format", "zarr_format", "storage_options"):
        del arguments[each]
    path = "" if name is None else _arguments.new_name(name, "name")
    return _make_array(store, path, format_name(format, zarr_format), **arguments)


def consolidate_metadata(
    store: StoreLike,
    path: str | None = None,
    zarr_format: Literal[2, 3] | None = None,
    *,
    format: str | None = None,
    storage_options: dict[str, Any] | None = None,
) -> Group:
    """Writes the metadata of all nodes below a group into the group's document, in one atomic write, so that readers
    need one request. Later changes by Sherd below the group are also written there; changes by other software only by
    the next call. If these metadata contain a data type or codec that zarr-python does not know, zarr-python opens the
    group only with use_consolidated=False. Returns the group, opened for reading. format, zarr_format, storage_options:
    as for open()."""
    name = format_name(format, zarr_format) or None
    path = "" if path is None else path
    open_group(store, mode="r+", path=path, format=name, storage_options=storage_options)._handle.consolidate()
    return open_group(store, path=path, format=name, storage_options=storage_options)


def reopen(url: str, path: str, writable: bool, format: str, config: dict[str, Any]) -> Array | Group:
    """Opens the node of a pickled handle."""
    return wrap(_sherd.open_node(url, path, writable, format, config))


def reopen_store(url: str, config: dict[str, Any]) -> _sherd.Store:
    """Opens a pickled Store."""
    return _sherd.Store(url, config=config)
