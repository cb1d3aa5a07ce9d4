"""Building shards of values by id in bulk, and choosing their parameters."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from . import _arguments, _sherd
from ._errors import InvalidArgument

BytesLike = bytes | bytearray | memoryview


def _bytes(size: int | str, name: str) -> int:
    if isinstance(size, str):
        return _sherd.parse_size(size)
    if isinstance(size, bool) or not isinstance(size, int) or not 0 <= size < 2**64:
        raise InvalidArgument(f'must be an int or a text such as "64MiB", not {size!r}', member=name)
    return size


def build(
    url: str | os.PathLike[str] | _sherd.Store,
    sharding: Mapping[str, Any],
    items: Iterable[tuple[int, BytesLike] | tuple[int, BytesLike, BytesLike]],
    *,
    memory: int | str = "128MiB",
    threads: int | None = None,
    overwrite: bool = False,
    temporary: str | os.PathLike[str] | None = None,
    config: dict[str, Any] | None = None,
) -> dict[str, int]:
    """Builds all shards of a store of values by id from items in any order, and returns {"ids", "shards", "bytes"}.

        sharding = sherd.neuroglancer.choose_sharding_for_values(len(meshes), 20_000)
        sherd.neuroglancer.build("meshes", sharding, meshes.items())

    url: the directory of the shards, to which the key in the `info` document leads. sharding: as the member `sharding`
    of that document. items: pairs of an id and its value; values are encoded on all threads while further items are
    requested. Or (id, value, preceding), where `preceding` is stored unchanged, immediately before the value: the
    fragments of a multi-resolution mesh before its manifest.
    Values that do not fit into `memory` (at least 8MiB) are kept, encoded, in a temporary file without a name, next to
    the shards or in the directory `temporary`. The bytes of the shards depend only on the sharding and the items, not
    on their order.

    A value that could not be read back is refused at once: Unsupported if it is larger than the limit `chunk_bytes`;
    InvalidArgument if the `info` next to the shards describes multi-resolution meshes and the preceding bytes are not
    the fragments of the manifest.
    A repeated id is InvalidArgument and an existing shard is a Conflict, before anything is written. With `overwrite`,
    shards are replaced, each atomically; shards that get no id are not touched. Without it, a build that fails leaves
    nothing behind.
    """
    settings = {**(config or {}), "memory_budget": _bytes(memory, "memory")}
    if threads is not None:
        settings["threads"] = threads
    options = {
        "overwrite": _arguments.flag(overwrite, "overwrite"),
        "temporary": "" if temporary is None else os.fspath(temporary),
        "config": settings,
    }
    return _sherd.build_shards(_arguments.store(url, "url"), sharding, items, options)


def choose_sharding(
    shape: Sequence[int],
    chunk_shape: Sequence[int],
    dtype: Any,
    *,
    encoding: str = "raw",
    target_shard_bytes: int | str = _sherd.TARGET_SHARD_BYTES,
) -> dict[str, Any]:
    """Returns the member `sharding` for a scale of a precomputed volume: neighbouring chunks share a shard of about
    `target_shard_bytes`.

    shape: (x, y, z), or (x, y, z, channel). chunk_shape: the same; the channel may be omitted. encoding: as in the
    `info` document. The rule is in docs/chunking.md.
    """
    options = encoding, _bytes(target_shard_bytes, "target_shard_bytes")
    return _sherd.choose_sharding(shape, chunk_shape, dtype, options)


def choose_sharding_for_values(
    count: int, mean_bytes: int, *, target_shard_bytes: int | str = _sherd.TARGET_SHARD_BYTES
) -> dict[str, Any]:
    """Returns the member `sharding` for values whose ids have no spatial order, such as skeletons, meshes and
    annotations. count: their number. mean_bytes: their mean encoded size. The rule is in docs/chunking.md."""
    _arguments.count(count, "count")
    _arguments.count(mean_bytes, "mean_bytes")
    return _sherd.choose_sharding_for_values(count, mean_bytes, _bytes(target_shard_bytes, "target_shard_bytes"))
