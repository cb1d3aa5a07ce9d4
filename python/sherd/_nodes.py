"""The ways to arrays and groups: open, create, consolidate."""

from __future__ import annotations

import os
from typing import Any, Literal

from . import _arguments, _sherd
from ._create import make_array
from ._errors import InvalidArgument, NotFound
from ._group import Group, wrap

StoreLike = str | os.PathLike[str] | _sherd.Store
Mode = Literal["r", "r+", "a", "w", "w-"]
MODES = ("r", "r+", "a", "w", "w-")


def _check_mode(mode: str) -> None:
    if mode not in MODES:
        raise InvalidArgument(f"mode is one of {', '.join(MODES)}; not {mode!r}", member="mode")


def _format_name(format: str | None) -> str:
    return "" if format is None else _arguments.text(format, "format")


def _open(store: StoreLike, mode: str, path: str, format: str | None, config: Any) -> _sherd.Array | Group:
    _arguments.store(store)
    _arguments.text(path, "path")
    return wrap(_sherd.open_node(store, path, mode != "r", _format_name(format), config))


def _make_group(store: StoreLike, path: str, attributes: Any, overwrite: bool, format: str | None, config: Any) -> Group:
    _arguments.store(store)
    wanted = {} if attributes is None else attributes
    return Group(_sherd.create_group(store, path, wanted, overwrite, _format_name(format), config))


def open(
    store: StoreLike,
    *,
    mode: Mode = "r",
    path: str = "",
    format: str | None = None,
    config: dict[str, Any] | None = None,
) -> _sherd.Array | Group:
    """Opens the node at a path, a URL or in a Store: an Array or a Group.

    mode: "r" reads, "r+" reads and writes what exists (both: NotFound where nothing does); "a" makes a group where
    nothing exists, "w" makes one in place of what exists, "w-" makes one where nothing exists (otherwise Conflict).
    path: below the store's root. format: such as "zarr3"; None: found out, or where a group is made that of the hierarchy
    around it, elsewhere "zarr3". config: settings of this handle.
    """
    _check_mode(mode)
    if mode not in ("w", "w-"):
        try:
            return _open(store, mode, path, format, config)
        except NotFound:
            if mode != "a":
                raise
    _arguments.new_name(path, "path")
    return _make_group(store, path, None, mode == "w", format, config)


def open_group(
    store: StoreLike,
    *,
    mode: Mode = "r",
    path: str = "",
    format: str | None = None,
    config: dict[str, Any] | None = None,
) -> Group:
    """Opens a group as open() does; InvalidArgument for an array."""
    node = open(store, mode=mode, path=path, format=format, config=config)
    if not isinstance(node, Group):
        raise InvalidArgument(f"{node.url} is an array, not a group")
    return node


def open_array(
    store: StoreLike,
    *,
    mode: Mode = "r",
    path: str = "",
    format: str | None = None,
    scale: int = 0,
    config: dict[str, Any] | None = None,
    **options: Any,
) -> _sherd.Array:
    """Opens an array; InvalidArgument for a group, except for a precomputed volume, of which it opens a scale.

    scale: of a precomputed volume: which resolution, counted from the finest; NotFound where there are not so many.
    The modes that may make an array ("a", "w", "w-"; see open()) take the keywords of create_array.
    """
    _check_mode(mode)
    scale = _arguments.count(scale, "scale")
    if "overwrite" in options:
        raise InvalidArgument("what is overwritten is said by mode", member="overwrite")
    if mode in ("r", "r+") and options:
        raise InvalidArgument(f"mode {mode!r} makes no array and takes no {', '.join(options)}", member="mode")
    if mode not in ("w", "w-"):
        _arguments.store(store)
        _arguments.text(path, "path")
        try:
            return _sherd.open_array(store, path, mode != "r", _format_name(format), config, scale)
        except NotFound:
            if mode != "a":
                raise
    if scale != 0:
        raise InvalidArgument("an array that is made here has no further scales", member="scale")
    _arguments.store(store)
    _arguments.new_name(path, "path")
    given = {} if format is None else {"format": _format_name(format)}
    return make_array(
        lambda made: _sherd.create_array(store, path, made | given), overwrite=mode == "w", config=config, **options
    )


def create_group(
    store: StoreLike,
    *,
    path: str = "",
    attributes: dict[str, Any] | None = None,
    overwrite: bool = False,
    config: dict[str, Any] | None = None,
) -> Group:
    """Creates a group, and missing groups on the path. An existing node is a Conflict, unless it is to be
    overwritten, which erases it and all its members; files that are no part of it are Conflict even then."""
    _arguments.new_name(path, "path")
    _arguments.flag(overwrite, "overwrite")
    return _make_group(store, path, attributes, overwrite, None, config)


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
    overwrite: bool = False,
    config: dict[str, Any] | None = None,
) -> _sherd.Array:
    """Makes an array. Shape and dtype are needed, or `data`: the array then appears with it, all at once, or not at all.

    name: the path below the store's root; None: the root itself.
    dtype: a NumPy dtype; a name as in Zarr metadata ("uint16", "r24", "string", "bytes", "bfloat16"); a JSON object.
    chunks: the (inner) chunk, an int a dimension; "auto": by size; a dict: the chunk grid as in metadata. Where chunks
    have lengths of their own (a rectilinear grid), a list of them for a dimension: chunks=[[3, 3, 4], [5]].
    shards: the stored object, multiples of `chunks`; "auto": by size; None: every chunk is an object. Lists of lengths
    as for chunks, which then are given, too.
    filters, serializer, compressors: codecs, each a string such as "zstd:3", a JSON object, or an object with
    to_dict(). "auto": none; little-endian bytes, vlen-utf8 or vlen-bytes; zstd. None: none.
    codecs: the whole chain as a list of JSON objects; goes without the three above and without shards.
    index_location, index_codecs: of the index of a shard.
    fill_value: a Python or NumPy scalar, or as in metadata; None: zero, False, "".
    chunk_key_encoding: "default", "v2", {"name", "separator"}, or as in metadata.
    dimension_names: a str or None a dimension. attributes: a dict.
    volume: with config={"layout": "zarr+neuroglancer"}, the metadata for Neuroglancer: a dict with any of "type",
    "key", "resolution", "voxel_offset" and "sharding".
    overwrite: erase the node that stands there; otherwise that is Conflict, as are in any case files that are no part of it.
    config: settings of this handle; see sherd.config.
    """
    arguments = dict(locals())
    del arguments["store"], arguments["name"]
    _arguments.store(store)
    path = "" if name is None else _arguments.new_name(name, "name")
    return make_array(lambda options: _sherd.create_array(store, path, options), **arguments)


def consolidate_metadata(store: StoreLike, *, path: str = "") -> Group:
    """Writes the metadata of all nodes below a group into the group's document, in one atomic write, so that readers
    need one request. What Sherd changes below the group later is renewed there, too; what other software changes is by the
    next call. Gives the group, opened for reading."""
    open_group(store, mode="r+", path=path)._handle.consolidate()
    return open_group(store, path=path)


def reopen(url: str, path: str, writable: bool, format: str, config: dict[str, Any]) -> _sherd.Array | Group:
    """What a pickled handle becomes."""
    return wrap(_sherd.open_node(url, path, writable, format, config))
