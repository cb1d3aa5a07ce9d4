"""Import of files of other formats as arrays, and export of arrays as files."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Mapping, Sequence
from typing import Any, Literal, cast

import numpy as np

from . import _arguments, _options, _sherd
from ._array import Array
from ._errors import InvalidArgument
from ._group import Group
from ._nodes import StoreLike
from .ome import level_of

Format = Literal["nifti", "npy", "raw", "png", "pgm", "tiff"]


def _numbers(values: Any, name: str) -> list[float]:
    try:
        return [float(each) for each in values]
    except (TypeError, ValueError):
        raise InvalidArgument(f"{name} must be a list of numbers, not {values!r}", member=name) from None


def _whole(value: Any) -> int:
    return _arguments.whole(value, "voxel_offset")


def _byte_order(dtype: Any) -> str:
    """ "<" or ">", or "" if the type has no byte order or does not give it. InvalidArgument for a struct with both."""
    if isinstance(dtype, str) and dtype.startswith(("<", ">")):
        return dtype[0]
    try:
        found = np.dtype(dtype).base
    except (TypeError, ValueError):  # a Zarr type, which has no byte order
        return ""
    if found.names is None:
        return "" if found.isnative else ">" if sys.byteorder == "little" else "<"
    assert found.fields is not None
    fields = [found.fields[field][0].base for field in found.names]
    orders = {_byte_order(each) or "=" for each in fields if each.names is not None or each.byteorder != "|"}
    if len(orders) > 1:
        raise InvalidArgument("has fields of both byte orders, which a raw file cannot have", member="dtype")
    return orders.pop().replace("=", "") if orders else ""


def _big_endian(dtype: Any, big_endian: Any) -> bool:
    """Whether the most significant byte comes first in a raw file, according to either argument; they must not
    contradict."""
    order = "" if dtype is None else _byte_order(dtype)
    if _arguments.flag(big_endian, "big_endian") and order == "<":
        raise InvalidArgument(f"{dtype!r} is little-endian, which big_endian=True contradicts", member="dtype")
    return big_endian or order == ">"


def _of_file(axes: Any, spacing: Any, units: Any, resolution: Any, voxel_offset: Any) -> dict[str, Any]:
    """Options that describe the axes of a file."""
    options: dict[str, Any] = {}
    if axes is not None:
        options["axes"] = [name for name in axes if name not in ", "]
    if spacing is not None:
        options["spacing"] = _numbers(spacing, "spacing")
    if units is not None:
        options["units"] = [units] if isinstance(units, str) else list(units)
    if resolution is not None:
        options["resolution"] = _numbers(resolution, "resolution")
        if len(options["resolution"]) != 3:
            raise InvalidArgument("resolution must be three numbers: x, y, z", member="resolution")
    if voxel_offset is not None:
        options["voxel_offset"] = _arguments.triple(voxel_offset, "voxel_offset", _whole)
    return options


def import_(
    source: str | os.PathLike[str],
    store: str | os.PathLike[str] | _sherd.Store,
    *,
    from_: Format | None = None,
    shape: Any = None,
    dtype: Any = None,
    big_endian: bool = False,
    apply_scale: bool = False,
    axes: str | Sequence[str] | None = None,
    spacing: Sequence[float] | None = None,
    units: str | Sequence[str] | None = None,
    resolution: Sequence[float] | None = None,
    voxel_offset: Sequence[int] | None = None,
    chunks: Any = "auto",
    shards: Any = None,
    filters: Any = "auto",
    serializer: Any = "auto",
    compressors: Any = "auto",
    attributes: dict[str, Any] | None = None,
    volume: dict[str, Any] | None = None,
    pyramid: str | None = None,
    factors: Literal["auto"] | Sequence[int] | Mapping[str, int] | None = None,
    ignore_zero: bool = False,
    type: Literal["image", "segmentation"] | None = None,
    encoding: Literal["raw", "jpeg", "png", "compressed_segmentation"] | None = None,
    sharding: Any = ...,
    overwrite: bool = False,
    to: str | None = None,
    format: str | None = None,
    config: dict[str, Any] | None = None,
) -> Array:
    """Creates an array with the elements of a file, in memory bounded by config["memory_budget"], and returns it,
    writable.

        sherd.import_("brain.nii.gz", "brain.zarr", chunks=(64, 64, 64), shards=(256, 256, 256))

    source: a file of NIfTI, NPY, TIFF, PNG, PGM or plain numbers ("raw", which needs shape and dtype; with big_endian,
    or a dtype such as ">u2", the most significant byte comes first); for images also a directory or a pattern such as
    "slice_*.png".
    from_: the format; default: by suffix. apply_scale: NIfTI: multiply by scl_slope and add scl_inter.
    axes: the dimensions, in the order of the array: "tczyx" or a list. spacing: between elements, one number per
    dimension, or one for each of x, y and z. units: of the spacing, one text per dimension, or one for x, y and z.
    resolution: nanometres along x, y and z; sets spacing and units. voxel_offset: the voxel at which the image begins,
    along x, y and z. These take precedence over the file.
    pyramid, factors, ignore_zero: as in `copy`. The store becomes an OME-NGFF image of several resolutions, and the
    finest, "0", is returned; open the others with `sherd.ome.open`. A store IMAGE/labels/NAME becomes labels of that
    image.
    to: the format of the array, as in `copy`; the same as `format`, the keyword of create_array. "precomputed" creates
    a Neuroglancer volume, with type, encoding and sharding as in `copy`, and chunks as (x, y, z), and returns its
    finest scale. A plane becomes one slice.
    The other arguments are those of create_array; attributes are added to those of the file, and take precedence. A
    warning lists what was left out of a file. If anything fails, no array remains. NotFound if the file does not exist,
    Corrupt if it is damaged, Conflict if the destination exists, unless overwritten.
    """
    _arguments.store(store)
    url = store.url if isinstance(store, _sherd.Store) else os.fsdecode(store)
    if url.startswith("memory:"):
        raise InvalidArgument("an import needs a path or a URL, which a MemoryStore does not have", member="store")
    if to is not None and format not in (None, to):
        raise InvalidArgument(f"and format name different formats: {to!r} and {format!r}", member="to")
    options = _of_file(axes, spacing, units, resolution, voxel_offset)
    options |= {"big_endian": _big_endian(dtype, big_endian), "apply_scale": _arguments.flag(apply_scale, "apply_scale")}
    given = {"from": from_, "shape": shape, "dtype": dtype, "type": type, "encoding": encoding}
    options |= {name: value for name, value in given.items() if value is not None}
    if sharding is not ...:
        options["sharding"] = sharding
    options |= _options.pyramid(pyramid, factors, ignore_zero)
    create: dict[str, Any] = {"overwrite": _arguments.flag(overwrite, "overwrite")} | _options.layout(chunks, shards)
    compressor = "gzip:6" if _options.is_dual_format(config) else "zstd:3"
    chosen = _options.chain(filters, serializer, compressors, compressor)
    given = {"codecs": chosen, "attributes": attributes, "volume": volume, "format": format if to is None else to, "config": config}
    create |= {name: value for name, value in given.items() if value is not None}
    array, notes = _sherd.import_file(os.fsdecode(source), url, options, create)
    for note in notes:
        warnings.warn(note, stacklevel=2)
    return cast(Array, array)


def export(
    array: Array | Group | StoreLike,
    file: str | os.PathLike[str],
    *,
    to: Format | None = None,
    level: int = 0,
    overwrite: bool = True,
) -> None:
    """Writes an array as a file of NIfTI, NPY, TIFF, PNG, PGM or plain numbers ("raw").

        sherd.export("cells.ome.zarr", "cells.nii.gz", level=1)

    array: an Array, or anything that can be opened: a path, a URL, a Store or a Group. level: the resolution of an
    OME-NGFF image or a volume, 0 being the finest.
    file: its suffix determines the format, unless `to` is set. For images also a directory or a pattern such as
    "z_%04d.png", with one file per plane of x and y. The file appears whole or not at all. It replaces an existing
    file; with overwrite=False that is a Conflict. Spacing, units and channels are written as far as the format has them
    (docs/files.md); for a TIFF file of 64-bit integers a warning lists those that it lacks.
    Unsupported if the format cannot store such elements or dimensions.
    """
    name = "" if to is None else _arguments.text(to, "to")
    for note in _sherd.export_file(level_of(array, level), os.fsdecode(file), name, _arguments.flag(overwrite, "overwrite")):
        warnings.warn(note, stacklevel=2)
