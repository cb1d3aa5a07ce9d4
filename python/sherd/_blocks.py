"""Indices of stored objects, and the elements in them."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from itertools import accumulate
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from . import _sherd


def _begins(each: int | tuple[int, ...], length: int) -> Callable[[int], int]:
    """A function of i that returns the first element of the i-th block along a dimension, or the length after the last
    block."""
    if isinstance(each, tuple):
        return (0, *accumulate(each)).__getitem__
    return lambda i: min(i * each, length)


def counts(array: _sherd.Array, lengths: tuple[Any, ...]) -> tuple[int, ...]:
    """The number of chunks or shards of these lengths along each dimension."""
    return tuple(
        len(each) if isinstance(each, tuple) else -(-length // each)
        for each, length in zip(lengths, array.shape, strict=True)
    )


def _items(key: Any, ndim: int) -> list[Any]:
    """One item per dimension."""
    items = list(key) if isinstance(key, tuple) else [key]
    dots = [i for i, item in enumerate(items) if item is Ellipsis]
    if len(dots) > 1:
        raise IndexError("an index can have only one '...'")
    if len(items) - len(dots) > ndim:
        raise IndexError(f"too many indices: the array has {ndim} dimensions, the index {len(items) - len(dots)}")
    position = dots[0] if dots else len(items)
    missing = ndim - (len(items) - len(dots))
    return items[:position] + [slice(None)] * missing + items[position + len(dots) :]


def _span(item: Any, count: int, d: int) -> tuple[int, int]:
    """The first block and the one after the last."""
    if isinstance(item, slice):
        start, stop, step = item.indices(count)
        if step != 1:
            raise IndexError("blocks are chosen by integers and by slices with step 1")
        return start, max(start, stop)
    try:
        if isinstance(item, bool):
            raise TypeError
        index = operator.index(item)
    except TypeError:
        raise IndexError(f"blocks are chosen by integers and slices, not {type(item).__name__}") from None
    if not -count <= index < count:
        raise IndexError(f"block {index} is out of bounds for dimension {d} of {count} blocks")
    index %= count
    return index, index + 1


def elements(array: _sherd.Array, key: Any) -> tuple[slice, ...]:
    """The box of elements in the stored objects that `key` selects."""
    lengths = array.shards or array.chunks
    box = []
    for d, (item, count) in enumerate(zip(_items(key, array.ndim), counts(array, lengths), strict=True)):
        start, stop = _span(item, count, d)
        begin = _begins(lengths[d], array.shape[d])
        box.append(slice(begin(start), begin(stop)))
    return tuple(box)


def boxes(array: _sherd.Array) -> Iterator[tuple[slice, ...]]:
    """The elements of each stored object that the array can have, as an iterator."""
    return (elements(array, index) for index in np.ndindex(counts(array, array.shards or array.chunks)))


class BlockIndexer:
    """array.blocks"""

    def __init__(self, array: _sherd.Array) -> None:
        self._array = array

    def __getitem__(self, key: Any) -> Any:
        return self._array[elements(self._array, key)]

    def __setitem__(self, key: Any, value: Any) -> None:
        self._array._write_box(lambda: elements(self._array, key), value)  # of the array's current shape
