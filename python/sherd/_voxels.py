"""Access to elements by voxel coordinates, which begin at an offset."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

from ._blocks import _items

if TYPE_CHECKING:
    from . import _sherd


def offset(array: _sherd.Array) -> tuple[int, ...]:
    """The coordinate of the first element along each dimension."""
    given = array.attrs.get("voxel_offset")
    if not isinstance(given, list) or len(given) > array.ndim:
        return (0,) * array.ndim
    if any(isinstance(each, bool) or not isinstance(each, (int, float)) or int(each) != each for each in given):
        return (0,) * array.ndim
    # A scale of a volume has x, y, z in this member, and the channel as a fourth dimension.
    return (*map(int, given), *(0,) * (array.ndim - len(given)))


def _coordinate(value: Any) -> int:
    if isinstance(value, bool):
        raise IndexError("a coordinate must be an integer, not bool")
    try:
        return operator.index(value)
    except TypeError:
        raise IndexError(f"a coordinate must be an integer or a slice, not {type(value).__name__}") from None


def _element(item: Any, begin: int, length: int, d: int) -> int | slice:
    """The element or elements at coordinates along a dimension."""
    end = begin + length
    if not isinstance(item, slice):
        at = _coordinate(item)
        if not begin <= at < end:
            raise IndexError(f"voxel {at} is out of bounds for dimension {d}, which has voxels {begin} to {end - 1}")
        return at - begin
    step = 1 if item.step is None else _coordinate(item.step)
    if step < 1:
        raise IndexError("slices of voxel coordinates have steps of 1 or more")
    start = begin if item.start is None else _coordinate(item.start)
    stop = end if item.stop is None else _coordinate(item.stop)
    if not (begin <= start <= end and begin <= stop <= end):
        raise IndexError(f"voxels {start}:{stop} are out of bounds for dimension {d}, which has {begin}:{end}")
    return slice(start - begin, max(start, stop) - begin, step)


def _elements(array: _sherd.Array, key: Any) -> tuple[int | slice, ...]:
    items = _items(key, array.ndim)
    begins = offset(array)
    return tuple(_element(item, begins[d], array.shape[d], d) for d, item in enumerate(items))


class VoxelIndexer:
    """array.at_offset"""

    def __init__(self, array: _sherd.Array) -> None:
        self._array = array

    def __getitem__(self, key: Any) -> Any:
        return self._array[_elements(self._array, key)]

    def __setitem__(self, key: Any, value: Any) -> None:
        self._array[_elements(self._array, key)] = value
