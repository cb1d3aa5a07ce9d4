"""Members of sherd.Array in addition to those of the engine, named as in zarr-python."""

from __future__ import annotations

import math
import operator
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _blocks, _sherd, _voxels
from ._info import info

if TYPE_CHECKING:
    _Base = _sherd.Array
else:
    _Base = object

# The codecs that convert elements to bytes: filters come before them, compressors after them. The engine's table lacks
# that of shards and the encodings of precomputed volumes.
_SERIALIZERS = _sherd.serializers() | {"sharding_indexed", "jpeg", "png", "compressed_segmentation"}


def codec_parts(array: _sherd.Array) -> tuple[tuple[Any, ...], Any, tuple[Any, ...]]:
    """Filters, serializer and compressors of the chunks; in a sharded array, of the inner chunks."""
    chain = array.codecs
    if [codec["name"] for codec in chain] == ["sharding_indexed"]:
        chain = chain[0]["configuration"]["codecs"]
    place = next((i for i, codec in enumerate(chain) if codec["name"] in _SERIALIZERS), 0)
    return tuple(chain[:place]), chain[place], tuple(chain[place + 1 :])


def _check_basic(selection: Any) -> Any:
    for item in selection if isinstance(selection, tuple) else (selection,):
        if isinstance(item, slice) or item is Ellipsis:
            continue
        try:
            if isinstance(item, (bool, np.bool_)):
                raise TypeError
            operator.index(item)
        except TypeError:
            raise IndexError(f"a basic selection has integers and slices, not {type(item).__name__}") from None
    return selection


def _coordinates(selection: Any) -> tuple[Any, ...]:
    """One array of integers for each dimension, each with at least one dimension."""
    arrays = tuple(np.atleast_1d(each) for each in (selection if isinstance(selection, tuple) else (selection,)))
    if any(each.dtype.kind not in "ui" and each.size for each in arrays):
        raise IndexError("a coordinate selection has integers for each dimension")
    return tuple(each.astype("int64") if each.size == 0 else each for each in arrays)


def _mask(array: _sherd.Array, mask: Any) -> Any:
    found = np.asarray(mask)
    if found.dtype != bool or found.shape != array.shape:
        raise IndexError(f"a mask selection is one array of booleans of the array's shape, {array.shape}")
    return found


def _given(result: Any, out: Any) -> Any:
    if out is None:
        return result
    out[...] = result
    return out


class ArrayNames(_Base):
    """Members of sherd.Array. Selections have the same meaning as in zarr-python 3."""

    @property
    def name(self) -> str:
        """The path with a leading slash; "/" for the root."""
        return "/" + self.path

    @property
    def order(self) -> str:
        """ "C" or "F". In Zarr v2 and the draft of 2022 the order of the elements in a stored chunk, as in zarr-python;
        in other formats the order in memory of arrays that are read, which is `config["order"]`."""
        metadata = self.metadata
        stored = metadata.get(".zarray", {}).get("order", metadata.get("chunk_memory_layout"))
        if stored is None or (stored == "C" and self.ndim < 2):  # with one dimension both are the same
            return self._memory_order
        return str(stored)

    @property
    def basename(self) -> str:
        """The last part of the path; "" for the root."""
        return self.path.rpartition("/")[2]

    @property
    def nbytes(self) -> int:
        """The bytes of all elements in memory; for strings and bytes, the size of the references."""
        return self.size * self.dtype.itemsize

    @property
    def cdata_shape(self) -> tuple[int, ...]:
        """The number of (inner) chunks along each dimension, whether or not they are stored."""
        return _blocks.counts(self, self.chunks)

    @property
    def nchunks(self) -> int:
        """The number of (inner) chunks, whether or not they are stored."""
        return math.prod(self.cdata_shape)

    @property
    def filters(self) -> tuple[dict[str, Any], ...]:
        """The codecs that change elements before they become bytes; in a sharded array those of the inner chunks."""
        return codec_parts(self)[0]

    @property
    def serializer(self) -> dict[str, Any]:
        """The codec that converts elements to bytes; in a sharded array that of the inner chunks."""
        return dict(codec_parts(self)[1])

    @property
    def compressors(self) -> tuple[dict[str, Any], ...]:
        """The codecs that change bytes; in a sharded array those of the inner chunks."""
        return codec_parts(self)[2]

    @property
    def blocks(self) -> _blocks.BlockIndexer:
        """The elements by stored object (a shard or, without shards, a chunk): array.blocks[0, 2:4]. The index counts
        objects and has integers and slices with step 1; all dimensions are kept. IndexError if it is out of bounds.
        Supports assignment."""
        return _blocks.BlockIndexer(self)

    @property
    def voxel_offset(self) -> tuple[int, ...]:
        """The coordinate of the first element along each dimension: the voxel_offset of a scale of a volume (0 for the
        channel), or the attribute `voxel_offset` of an array; zeros if there is none."""
        return _voxels.offset(self)

    @property
    def at_offset(self) -> _voxels.VoxelIndexer:
        """The elements by voxel coordinates, as Neuroglancer shows them: array.at_offset[100:200, 0:64, 7]. Coordinates
        begin at `voxel_offset`; negative numbers are coordinates too. IndexError if they are out of bounds. Supports
        assignment."""
        return _voxels.VoxelIndexer(self)

    def get_basic_selection(self, selection: Any = ..., *, out: Any = None) -> Any:
        """array[selection] for integers, slices and '...'; anything else is an IndexError. `out`: an ndarray of the
        result's shape and dtype to read into; it is returned."""
        return self.read(_check_basic(selection), out=out)

    def set_basic_selection(self, selection: Any, value: Any) -> None:
        """array[selection] = value for integers, slices and '...'; anything else is an IndexError."""
        self[_check_basic(selection)] = value

    def get_orthogonal_selection(self, selection: Any, *, out: Any = None) -> Any:
        """array.oindex[selection]. `out`: an ndarray of the result's shape to copy into; it is returned."""
        return _given(self.oindex[selection], out)

    def set_orthogonal_selection(self, selection: Any, value: Any) -> None:
        """array.oindex[selection] = value"""
        self.oindex[selection] = value

    def get_coordinate_selection(self, selection: Any, *, out: Any = None) -> Any:
        """The elements at points, given as one integer array per dimension; the result has their broadcast shape.
        IndexError for masks, slices and points out of bounds. `out` as in get_orthogonal_selection."""
        return _given(self.vindex[_coordinates(selection)], out)

    def set_coordinate_selection(self, selection: Any, value: Any) -> None:
        """Assigns to the elements at points; see get_coordinate_selection."""
        self.vindex[_coordinates(selection)] = value

    def get_mask_selection(self, mask: Any, *, out: Any = None) -> Any:
        """The elements, in C order, at which a boolean array of the array's shape is true; a mask of another shape is
        an IndexError. `out` as in get_orthogonal_selection."""
        return _given(self.vindex[_mask(self, mask)], out)

    def set_mask_selection(self, mask: Any, value: Any) -> None:
        """Assigns to the elements at which a boolean array of the array's shape is true."""
        self.vindex[_mask(self, mask)] = value

    def get_block_selection(self, selection: Any, *, out: Any = None) -> Any:
        """array.blocks[selection]. `out`: an ndarray of the result's shape and dtype to read into; it is returned."""
        return self.read(_blocks.elements(self, selection), out=out)

    def set_block_selection(self, selection: Any, value: Any) -> None:
        """array.blocks[selection] = value"""
        self.blocks[selection] = value

    def update_attributes(self, new_attributes: Mapping[str, Any]) -> ArrayNames:
        """array.attrs.update(new_attributes); returns the array."""
        self.attrs.update(new_attributes)
        return self

    def _repr_html_(self) -> str:
        return info(self)._repr_html_()


# The engine returns instances of its own class, so the members are added to that class.
for _name, _member in vars(ArrayNames).items():
    if not _name.startswith("__"):
        setattr(_sherd.Array, _name, _member)
del _name, _member

if TYPE_CHECKING:
    Array = ArrayNames
else:
    Array = _sherd.Array
