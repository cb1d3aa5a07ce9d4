"""Arrays in the Zarr v3 draft of 2022, which zarr-python 2.12 to 2.18 wrote as an experimental feature: its hierarchy,
and chunks in shards through the storage transformer `indexed`. `sherd.open` and all other functions work on them as on
any array. The format is described in docs/format/draft2022.md. `ShardingTransformer` is the interface of the draft: a
key-value store of encoded chunks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal

import numpy as np

from . import _arguments, _sherd
from ._create import make_array
from ._errors import InvalidArgument, NotFound
from ._group import Group
from ._nodes import StoreLike
from ._nodes import open as open_node
from ._options import codec_list, is_big_endian, numpy_dtype

__all__ = ["ShardingTransformer", "create_array"]


Level = tuple[int, ...]


def _lengths(value: Any) -> Level:
    return (int(value),) if isinstance(value, (int, np.integer)) else tuple(int(length) for length in value)


def _levels(chunks_per_shard: Any, rank: int) -> list[Level]:
    """The number of chunks per shard of each transformer, innermost first."""
    if chunks_per_shard is None:
        return []
    stacked = not isinstance(chunks_per_shard, (int, np.integer)) and any(
        isinstance(level, (list, tuple, np.ndarray)) for level in chunks_per_shard
    )
    levels = [_lengths(level) for level in chunks_per_shard] if stacked else [_lengths(chunks_per_shard)]
    for level in levels:
        if len(level) != rank or min(level, default=1) < 1:
            raise InvalidArgument(
                f"chunks_per_shard: {level} must have one number of at least 1 for each of {rank} dimensions",
                member="chunks_per_shard",
            )
    return levels


def _shard(chain: list[Any], shape: Level) -> list[Any]:
    """The codecs of shards with inner chunks of this shape and with these codecs."""
    configuration = {
        "chunk_shape": list(shape),
        "codecs": chain,
        "index_codecs": [{"name": "bytes", "configuration": {"endian": "little"}}],
        "index_location": "end",
    }
    return [{"name": "sharding_indexed", "configuration": configuration}]


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
    dimension_names: Any = None,
    attributes: dict[str, Any] | None = None,
    overwrite: bool = False,
    config: dict[str, Any] | None = None,
) -> _sherd.Array:
    """Creates an array. Shape and dtype are required, or `data`, which is written; other arguments are as in
    sherd.create_array. A dtype such as ">i4" sets the byte order of stored elements.

    chunks_per_shard: the number of chunks in a shard along each dimension; requires `chunks`. None: every chunk is an
    object. A list of such lists is a stack of transformers, innermost first.
    separator: between the numbers in a chunk's key.
    uri: the name of the sharding transformer. "zarr-python" is the name known to its releases; "seed" is that of the
    draft's own example, and is required for the draft's key `c` of an array without dimensions.
    order: of the elements in a chunk.
    compressors: a codec; "auto": Blosc with LZ4, which all releases of zarr-python that read the draft support; None:
    none.
    dimension_names: a name for every dimension, stored in the attribute that xarray uses.
    """
    if order not in ("C", "F"):
        raise InvalidArgument(f'order must be "C" or "F", not {order!r}', member="order")
    rank = len(_lengths(np.shape(data) if shape is None else shape))
    levels = _levels(chunks_per_shard, rank)
    if levels and isinstance(chunks, str):
        raise InvalidArgument("must be set too, because chunks_per_shard counts chunks", member="chunks")
    reverse = {"name": "transpose", "configuration": {"order": list(range(rank))[::-1]}}
    filters = [reverse] if order == "F" and rank > 1 else "auto"
    native = numpy_dtype(dtype, data)
    serializer = "bytes:big" if is_big_endian(native) else "auto"
    plain = (filters, serializer) == ("auto", "auto")
    if isinstance(compressors, str) and compressors == "auto" and not plain and len(levels) < 2:
        compressors = "blosc:lz4:5"
    layout: dict[str, Any] = {"chunks": chunks, "filters": filters, "serializer": serializer, "compressors": compressors}
    if len(levels) == 1:
        layout["shards"] = tuple(np.multiply(_lengths(chunks), levels[0]).tolist())
    elif levels:
        layout = _stack(levels, _lengths(chunks), layout, native.itemsize)

    def create(options: dict[str, Any]) -> _sherd.Array:
        options |= {"format": "draft2022", "format_options": {"uri": uri}}
        if "raw_codecs" in options:  # in a stack, whose codecs may be short forms
            options["codecs"] = options.pop("raw_codecs")
        return _sherd.create_array(store, name or "", options)

    return make_array(
        create,
        shape=shape,
        dtype=dtype,
        data=data,
        fill_value=fill_value,
        chunk_key_encoding={"name": "default", "separator": separator},
        dimension_names=dimension_names,
        attributes=attributes,
        overwrite=overwrite,
        config=config,
        **layout,
    )


def _stack(levels: list[Level], chunks: Level, layout: dict[str, Any], itemsize: int) -> dict[str, Any]:
    """`layout` with nested shards: the whole chain of codecs, as in metadata."""
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


BytesLike = bytes | bytearray | memoryview
Keys = list[str]
Values = list[bytes | None]


def _path_of(store: StoreLike, document: Mapping[str, Any]) -> str:
    """The path of the array with this document in the hierarchy of a store; the root if there is no hierarchy."""
    try:
        root = open_node(store, format="draft2022")
    except NotFound:
        return ""
    if root.path:
        raise InvalidArgument(f"is {root.path} in a hierarchy; the store of the hierarchy is needed", member="store")
    found, groups = [], [root]
    while groups:
        node = groups.pop()
        if isinstance(node, Group):
            groups += [member for _, member in node.members()]
        elif node.metadata == dict(document):
            found.append(node.path)
    if len(found) == 1:
        return found[0]
    what = f"the arrays {', '.join(sorted(found))} have" if found else "no array in the store has"
    raise InvalidArgument(f"{what} this document; pass the array's location as `path`", member="path")


class ShardingTransformer:
    """The sharding of one array as a key-value store: it offers the keys and values of chunks, and stores those of
    shards.

        transformer = sherd.draft2022.ShardingTransformer("old.zarr", "vol/em")
        transformer.get("data/root/vol/em/c2/5")

    store: of the hierarchy. metadata: the array's path in it, or the array's document as a dict. path: with a document,
    the path of the array; not needed if only one array of the hierarchy has this document, or if there is no hierarchy
    and the array is its root. erase: how chunks are erased from a shard that keeps others: "rewrite" compacts the
    others, "in_place" leaves them where they are and marks the index. config: settings of this handle; see
    sherd.config.

    Keys are those of the store: `data/root/PATH/c2/5` is the key of a chunk, and its value is the encoded chunk. Keys
    that are not chunks of the array are passed to the store unchanged. All transformers of the document are applied.

    Nothing is cached between calls, so read or write many chunks in one call: it reads all indexes and then all values,
    and writes each shard once. Concurrent writers of a shard, also in other processes, do not lose each other's
    changes. The array's shape is that of the document: make a new transformer after a resize.
    """

    def __init__(
        self,
        store: StoreLike,
        metadata: str | Mapping[str, Any],
        *,
        path: str | None = None,
        erase: Literal["rewrite", "in_place"] = "rewrite",
        config: dict[str, Any] | None = None,
    ) -> None:
        _arguments.store(store)
        if erase not in ("rewrite", "in_place"):
            raise InvalidArgument(f'erase must be "rewrite" or "in_place", not {erase!r}', member="erase")
        document = None if isinstance(metadata, str) else metadata
        if document is None and path is not None:
            raise InvalidArgument("can only be used with a document; metadata is already a path", member="path")
        if document is None:
            path = _arguments.text(metadata, "metadata")
        elif path is None:
            path = _path_of(store, document)
        self._made_of = store, metadata, None if document is None else path, erase, config
        self._handle = _sherd.sharding_transformer(store, document, path, erase == "in_place", config)

    @property
    def path(self) -> str:
        """The array's path in the store."""
        return self._handle.path

    @property
    def metadata(self) -> dict[str, Any]:
        """The array's document."""
        return self._handle.metadata

    def get(self, key: str) -> bytes | None:
        """The whole value, or None."""
        return self._handle.get_partial_values([(key, (0, None))])[0]

    def get_partial_values(self, key_ranges: Iterable[tuple[str, tuple[int, int | None]]]) -> Values:
        """One value for each (key, (start, length)); None if the value does not exist. A negative start counts from the
        value's end, a length of None means the rest of the value, and ranges are cut off where the value ends. A key
        may be repeated."""
        return self._handle.get_partial_values(key_ranges)

    def set(self, key: str, value: BytesLike) -> None:
        """Sets a whole value."""
        self._handle.set_values([(key, value)])

    def set_values(self, key_values: Iterable[tuple[str, BytesLike]]) -> None:
        """Sets whole values; each key may occur once. A shard is not read if all of its chunks inside the array are
        given. Otherwise its index is read, and its other chunks are moved unchanged."""
        self._handle.set_values(key_values)

    def set_partial_values(self, key_start_values: Iterable[tuple[str, int, BytesLike]]) -> None:
        """Sets parts of values from (key, start, value). Parts of a key must not overlap, nor leave a gap after
        existing bytes (InvalidArgument). Chunks that are only partly replaced are read too. Without a compressor, parts
        that cover a chunk are treated as a whole value."""
        self._handle.set_partial_values(key_start_values)

    def erase(self, key: str) -> None:
        """Erases a value; a missing value is not an error. Erasing its last chunk erases the shard."""
        self._handle.erase_values([key])

    def erase_values(self, keys: Iterable[str]) -> None:
        """Erases values. A shard is not read if all of its chunks inside the array are given."""
        self._handle.erase_values(keys)

    def erase_prefix(self, prefix: str) -> None:
        """Erases all keys that begin with a prefix, which is empty or ends in "/"; among the keys of chunks it may end
        anywhere. Shards that are erased as a whole are not read."""
        self._handle.erase_prefix(prefix)

    def list(self) -> Keys:
        """All keys, sorted."""
        return self._handle.list_prefix("")

    def list_prefix(self, prefix: str) -> Keys:
        """The keys that begin with a prefix, sorted."""
        return self._handle.list_prefix(prefix)

    def list_dir(self, prefix: str) -> tuple[Keys, Keys]:
        """The keys directly below a prefix, which is empty or ends in "/", and the prefixes of deeper keys. Keys exist;
        a prefix of chunks may be empty, because no index is read."""
        return self._handle.list_dir(prefix)

    def __reduce__(self) -> tuple[Any, ...]:
        return _remade, self._made_of

    def __repr__(self) -> str:
        return f"<sherd.draft2022.ShardingTransformer {self.path or '/'}>"


def _remade(store: Any, metadata: Any, path: Any, erase: Any, config: Any) -> ShardingTransformer:
    """Makes the transformer of a pickled one."""
    return ShardingTransformer(store, metadata, path=path, erase=erase, config=config)
