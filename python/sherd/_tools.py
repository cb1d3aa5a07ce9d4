"""What is done with whole arrays and hierarchies."""

from __future__ import annotations

import os
from typing import Any, Literal

from . import _arguments, _options, _sherd
from ._errors import InvalidArgument
from ._group import Group

Source = str | os.PathLike[str] | _sherd.Store | _sherd.Array | Group


def _store(source: Source, name: str) -> str | os.PathLike[str] | _sherd.Store:
    if not isinstance(source, (_sherd.Array, Group)):
        return _arguments.store(source, name)
    if source.url.startswith("memory:"):
        raise InvalidArgument("a node in memory has no URL; give the MemoryStore that it stands in", member=name)
    return source.url


def copy(
    src: Source,
    dst: Source,
    *,
    chunks: Any = None,
    shards: Any = None,
    codecs: Any = None,
    index_location: Literal["start", "end"] | None = None,
    format: str | None = None,
    resume: bool = False,
    overwrite: bool = False,
    config: dict[str, Any] | None = None,
) -> dict[str, int]:
    """Copies an array or a whole hierarchy, and gives what was done: {"arrays", "groups", "shards", "shards_skipped",
    "chunks_moved", "chunks_encoded"}.

    What is None stays as the source has it; shards=() takes sharding away. format: such as "zarr3". Chunks whose codecs
    and grid agree are moved as they are. Memory stays within config["memory_budget"], except for a chunk that is larger
    by itself. With `resume`, goes on where an earlier copy with the same options was cut off.
    """
    options: dict[str, Any] = {"overwrite": overwrite} | _options.layout(chunks, shards)
    if "chunk_grid" in options:
        raise InvalidArgument("copy makes chunks and shards of one shape", member="chunks")
    if codecs is not None:
        options["codecs"] = _options.codec_list(codecs)
    if index_location is not None:
        options["index_location"] = index_location
    if format is not None:
        options["format"] = format
    if config is not None:
        options["config"] = config
    _arguments.flag(overwrite, "overwrite")
    return _sherd.copy(_store(src, "src"), _store(dst, "dst"), options, _arguments.flag(resume, "resume"))


def check(src: Source, data: bool = False, *, path: str = "", config: dict[str, Any] | None = None) -> dict[str, Any]:
    """Verifies every metadata document and every shard index below a node and, with `data`, every chunk.

    Gives {"ok", "checked": {"documents", "shards", "chunks"}, "space": {"live", "slack", "dead"}, "faults": [{"severity",
    "code", "key", "slot", "offset", "message"}], "repaired": []}.
    """
    _arguments.flag(data, "data")
    return _sherd.check(_store(src, "src"), _arguments.text(path, "path"), data, config)
