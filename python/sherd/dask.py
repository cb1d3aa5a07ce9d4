"""Converts arrays of Sherd to dask arrays and stores dask arrays: from_zarr and to_zarr as in dask.array, which accepts
only handles of zarr-python. The engine reads and writes, one task for each stored object.

    import sherd.dask

    lazy = sherd.dask.from_zarr("volume.zarr")
    sherd.dask.to_zarr(lazy.mean(axis=0), "mean.zarr")
"""

from __future__ import annotations

import bisect
import itertools
import os
from typing import Any, Literal

import dask.array

from . import _arguments, _sherd
from ._array import Array
from ._errors import InvalidArgument
from ._group import Group
from ._nodes import create_array, open

Source = str | os.PathLike[str] | _sherd.Store | Array | Group

__all__ = ["from_zarr", "to_zarr"]


def _opened(url: Source, component: str | None, storage_options: Any, config: Any) -> Array:
    if isinstance(url, (Array, Group)):
        for name, value in (("storage_options", storage_options), ("config", config)):
            if value is not None:
                raise InvalidArgument("cannot be used with an open array or group", member=name)
        node: Array | Group = url
        if component is not None and isinstance(node, Group):
            node = node[component]
        elif component is not None:
            raise InvalidArgument("can only be used with a group, a store or a path", member="component")
    else:
        node = open(url, path=component or "", storage_options=storage_options, config=config)
    if isinstance(node, Group):
        raise InvalidArgument(f"{node.url} is a group; name one of its arrays by component", member="component")
    return node


def from_zarr(
    url: Source,
    component: str | None = None,
    storage_options: dict[str, Any] | None = None,
    chunks: Any = None,
    name: str | None = None,
    inline_array: bool = False,
    *,
    config: dict[str, Any] | None = None,
) -> dask.array.Array:
    """A dask array whose tasks read an array, in any format that Sherd opens.

    url: an array or group of Sherd, or anything that sherd.open() accepts. component: the path of the array below it.
    chunks: of the result, as for dask.array.from_array; default: those of the stored objects (shards, if there are
    any).
    name, inline_array: as for dask.array.from_array. storage_options, config: as for sherd.open().
    """
    array = _opened(url, component, storage_options, config)
    if chunks is None:
        chunks = array.shards or array.chunks
    # dask would pass lists to the array in combinations that NumPy and zarr-python interpret differently.
    return dask.array.from_array(array, chunks, name=name, inline_array=inline_array, fancy=False)


def _ends(lengths: Any, size: int) -> list[int] | range:
    """The ends of the objects along one dimension."""
    return range(lengths, size + lengths, lengths) if isinstance(lengths, int) else list(itertools.accumulate(lengths))


def _aligned(chunks: tuple[int, ...], ends: list[int] | range, start: int) -> tuple[int, ...]:
    """Chunks of a dask array that begin at `start`, with their borders moved to the ends of stored objects."""
    stop = start + sum(chunks)
    borders = {start, stop}
    for border in itertools.accumulate(chunks, initial=start):
        before = bisect.bisect_right(ends, border)
        borders.add(min(max(ends[before - 1] if before else 0, start), stop))
    ordered = sorted(borders)
    return tuple(b - a for a, b in itertools.pairwise(ordered)) or (0,)


def _store(x: dask.array.Array, array: Array, region: Any, compute: bool, return_stored: bool) -> Any:
    whole = tuple(slice(0, length) for length in array.shape)
    given = whole if region is None else region if isinstance(region, tuple) else (region,)
    given += whole[len(given) :]
    if any(not isinstance(each, slice) for each in given):
        raise InvalidArgument("must be slices", member="region")
    bounds = [each.indices(length) for each, length in zip(given, array.shape, strict=True)]
    shape = tuple(len(range(*each)) for each in bounds)
    if shape != x.shape:
        raise InvalidArgument(f"has shape {shape}, but the data have shape {x.shape}", member="region")
    if all(step == 1 for _, _, step in bounds):
        lengths = array.shards or array.chunks
        axes = zip(x.chunks, lengths, array.shape, bounds, strict=True)
        x = x.rechunk(tuple(_aligned(c, _ends(n, size), start) for c, n, size, (start, _, _) in axes))
    # Needs no lock from dask: writers of the same stored object wait for each other.
    return x.store(array, lock=False, regions=given, compute=compute, return_stored=return_stored)


def to_zarr(
    arr: dask.array.Array,
    url: Source,
    component: str | None = None,
    storage_options: dict[str, Any] | None = None,
    region: Any = None,
    compute: bool = True,
    return_stored: bool = False,
    mode: Literal["a", "w", "w-"] = "a",
    **options: Any,
) -> Any:
    """Stores a dask array in an existing or a new array of Sherd.

    url: an array that was opened for writing: its elements, or those of `region`, a slice or a tuple of slices, are
    replaced. Otherwise a path, a URL, a Store or a Group, in which an array is created at the path `component`. Its
    chunks are those of dask unless `options`, the keywords of sherd.create_array, set them. mode: "a" and "w-": an
    existing node is a Conflict; "w": it is replaced. compute, return_stored: as for dask.array.store.
    Chunks of dask with borders inside a stored object are merged, so that each object is written once.
    """
    if isinstance(url, Array):
        if options or component is not None:
            raise InvalidArgument("an existing array keeps its properties", member=next(iter(options), "component"))
        return _store(arr, url, region, compute, return_stored)
    if region is not None:
        raise InvalidArgument("can only be used with an existing array", member="region")
    if mode not in ("a", "w", "w-"):
        raise InvalidArgument(f"mode must be one of a, w, w-, not {mode!r}", member="mode")
    if any(length != length for length in arr.shape):
        raise InvalidArgument("has chunks of unknown lengths; call arr.compute_chunk_sizes()", member="arr")
    if "chunks" not in options:
        arr = arr.rechunk(tuple(max(each) for each in arr.chunks))
        options["chunks"] = tuple(max(each[0], 1) for each in arr.chunks)
    options = {"shape": arr.shape, "dtype": arr.dtype, "overwrite": mode == "w"} | options
    if isinstance(url, Group):
        array = url.create_array(_arguments.text(component, "component"), **options)
    else:
        array = create_array(url, name=component, storage_options=storage_options, **options)
    return _store(arr, array, None, compute, return_stored)
