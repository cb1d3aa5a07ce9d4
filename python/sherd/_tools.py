"""Operations on whole arrays and hierarchies."""

from __future__ import annotations

import operator
import os
import warnings
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from . import _arguments, _options, _sherd
from ._array import Array
from ._errors import InvalidArgument
from ._group import Group
from ._nodes import format_name
from .ome import level_of

Source = str | os.PathLike[str] | _sherd.Store | Array | Group


def _store(source: Source, name: str) -> str | os.PathLike[str] | _sherd.Store:
    if not isinstance(source, (Array, Group)):
        return _arguments.store(source, name)
    if source.url.startswith("memory:"):
        raise InvalidArgument("a node in memory has no URL; pass its MemoryStore", member=name)
    return source.url


def _selection_text(selection: Any) -> str:
    """A box in the form that the command accepts: "3,:,100:200"."""
    if isinstance(selection, str):
        return selection
    texts = []
    for each in selection if isinstance(selection, tuple) else (selection,):
        if each is Ellipsis:
            texts.append("...")
        elif isinstance(each, slice):
            bounds = (each.start, each.stop) if each.step is None else (each.start, each.stop, each.step)
            texts.append(":".join("" if bound is None else str(_arguments.whole(bound, "select")) for bound in bounds))
        else:
            texts.append(str(_arguments.whole(each, "select")))
    return ",".join(texts) or "..."


def _whole(value: Any) -> int:
    return _arguments.whole(value, "voxel_offset")


def _image_options(
    axes: Any, pyramid: Any, factors: Any, ignore_zero: bool, type: Any, encoding: Any, sharding: Any, position: dict[str, Any]
) -> dict[str, Any]:
    options = _options.pyramid(pyramid, factors, ignore_zero)
    if axes is not None:
        options["axes"] = [name for name in axes if name not in ", "]
    if type is not None:
        options["type"] = _arguments.text(type, "type")
    if encoding is not None:
        options["encoding"] = encoding
    if sharding is not ...:
        options["sharding"] = sharding
    if position["resolution"] is not None:
        options["resolution"] = _arguments.triple(position["resolution"], "resolution", float)
    if position["voxel_offset"] is not None:
        options["voxel_offset"] = _arguments.triple(position["voxel_offset"], "voxel_offset", _whole)
    return options


def copy(
    src: Source,
    dst: Source,
    *,
    chunks: Any = None,
    shards: Any = None,
    codecs: Any = None,
    index_location: Literal["start", "end"] | None = None,
    to: str | None = None,
    axes: str | Sequence[str] | None = None,
    pyramid: str | None = None,
    factors: Literal["auto"] | Sequence[int] | Mapping[str, int] | None = None,
    ignore_zero: bool = False,
    type: Literal["image", "segmentation"] | None = None,
    encoding: Literal["raw", "jpeg", "png", "compressed_segmentation"] | None = None,
    sharding: Any = ...,
    select: Any = None,
    dtype: Any = None,
    resolution: Sequence[float] | None = None,
    voxel_offset: Sequence[int] | None = None,
    dangling: Literal["keep", "drop"] = "keep",
    skip_damaged: bool = False,
    raw: bool = False,
    source_zarr_format: Literal[2, 3] | None = None,
    resume: bool = False,
    overwrite: bool = False,
    storage_options: dict[str, Any] | None = None,
    config: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """Copies an array or a whole hierarchy, and returns a report: {"arrays", "groups", "shards", "shards_skipped",
    "chunks_moved", "chunks_encoded", "dangling_kept", "dangling_dropped", "warnings"}. Each warning is also issued as a
    UserWarning.

        sherd.copy("em.zarr", "em", to="precomputed", sharding="auto", pyramid="mean")

    None keeps the source's value; shards=() removes sharding. Chunks with the same codecs and grid are moved without
    decoding them. Memory is bounded by config["memory_budget"], except for single chunks that are larger. `resume`
    continues an interrupted copy with the same options.

    to: the format of the copy: "zarr3", "zarr2", "draft2022", or "precomputed" for a Neuroglancer volume, made from an
    array, a group that is one image in several resolutions (OME-NGFF), or another volume. Chunks of a volume are given
    as (x, y, z).
    axes: the dimensions of the Zarr array, in its order, such as "zyx" or ["c", "z", "y", "x"]. Of the source, if its
    dimension names or OME-NGFF axes do not describe them; of the copy, if the source is a volume (default: "czyx").
    pyramid: adds coarser resolutions: "mean" for images, "mode" for labels, with their number as in "mean:3"; default:
    until the image fits in one chunk. ignore_zero: "mode" uses 0 only if there is no other value.
    factors: how much coarser each level of a pyramid is: a factor for each of x, y and z in the order of the axes, or
    for every axis, or by name as in {"z": 1, "y": 2, "x": 2}, also for t and c. "auto", the default, halves the axes
    with a spacing less than twice the finest.
    type: what the elements are; default: as in the source, and segmentation with "mode" or compressed_segmentation. It
    is the `type` of a volume and sets `image-label` of an OME-NGFF group; a segmentation has integers.
    encoding, sharding: of a volume's chunks. sharding: "auto" for the result of `sherd.neuroglancer.choose_sharding`, a
    dict of such parameters, or None for one object per chunk; default: "auto" if the source is sharded.
    select: the box of the source to copy, such as np.s_[3, :, 100:200] or the text "3,:,100:200": slices with step 1,
    '...', and integers, whose dimensions the copy does not have. Of an image the finest resolution is copied. Spacing,
    offsets, channels and dimension names are those of the box.
    dtype: of the copy. Numbers are rounded to the nearest value; a number out of range is InvalidArgument, with its
    position.
    resolution, voxel_offset: nanometres per voxel, and the voxel at which the image begins, along x, y and z in the
    finest resolution; coarser ones keep their factors. Default: as in the source; if its unit is unknown, a warning
    says what a volume assumes to be nanometres. Allowed if one side of the copy is a volume, or with a pyramid.
    dangling: "drop" removes `mesh`, `skeletons` and `segment_properties` from the info of a new volume if their targets
    are not part of the copy. The report names those members and their paths.
    skip_damaged: leave out nodes of a hierarchy that cannot be read, or that consolidated metadata or lists of NCZarr
    name and the store lacks, with a warning for each; otherwise they are an error.
    raw: copies every object of src as it is, whatever it is, and reads it back; src and dst are stores, such as a
    directory and a zip archive. It can only be combined with resume and overwrite; the report is {"objects", "bytes",
    "objects_skipped"}. `resume` keeps objects that have the same bytes.
    source_zarr_format: of a source in both versions of Zarr; default: detected.
    storage_options: of the stores that paths and URLs name, both of them.
    """
    changes = (chunks, shards, codecs, index_location, to, axes, pyramid, factors, type, encoding, select, dtype, resolution, voxel_offset)
    if _arguments.flag(raw, "raw"):
        if any(each is not None for each in changes) or sharding is not ... or ignore_zero or skip_damaged or dangling != "keep":
            raise InvalidArgument("a raw copy keeps objects as they are; it can only be combined with resume and overwrite", member="raw")
        settings = _arguments.settings(config, storage_options, src, dst)
        return _sherd.copy_raw(
            _store(src, "src"), _store(dst, "dst"), settings, _arguments.flag(resume, "resume"), _arguments.flag(overwrite, "overwrite")
        )
    options: dict[str, Any] = {"overwrite": overwrite} | _options.layout(chunks, shards)
    if "chunk_grid" in options:
        raise InvalidArgument("copy makes chunks and shards of one shape", member="chunks")
    if codecs is not None:
        options["codecs"] = _options.codec_list(codecs)
    if index_location is not None:
        options["index_location"] = index_location
    if to is not None:
        options["format"] = to
    position = {"resolution": resolution, "voxel_offset": voxel_offset}
    options |= _image_options(axes, pyramid, factors, ignore_zero, type, encoding, sharding, position)
    if select is not None:
        options["select"] = _selection_text(select)
    if dtype is not None:
        options["to_dtype"] = dtype
    if dangling not in ("keep", "drop"):
        raise InvalidArgument(f"must be 'keep' or 'drop', not {dangling!r}", member="dangling")
    options["drop_dangling"] = dangling == "drop"
    options["source_format"] = format_name(None, source_zarr_format)
    options["skip_damaged"] = _arguments.flag(skip_damaged, "skip_damaged")
    config = _arguments.settings(config, storage_options, src, dst)
    if config is not None:
        options["config"] = config
    _arguments.flag(overwrite, "overwrite")
    report, notes = _sherd.copy(_store(src, "src"), _store(dst, "dst"), options, _arguments.flag(resume, "resume"))
    for note in notes:
        warnings.warn(f"{note}; resolution= sets it", stacklevel=2)
    for warning in report["warnings"]:
        warnings.warn(warning, stacklevel=2)
    return report


def check(
    src: Source,
    data: bool = False,
    *,
    path: str = "",
    zarr_format: Literal[2, 3] | None = None,
    sharding: dict[str, Any] | None = None,
    storage_options: dict[str, Any] | None = None,
    config: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """Verifies every metadata document and every shard index below a node and, with `data`, every chunk. `sharding`:
    the parameters of shards of values by id; src is then a directory of such shards, which needs no document.
    zarr_format: of a node in both versions of Zarr; default: detected.

    Returns {"ok", "checked": {"documents", "shards", "chunks"}, "space": {"live", "slack", "dead"}, "faults":
    [{"severity", "code", "key", "slot", "offset", "message"}], "repaired": []}. `repair` changes what is wrong.
    """
    return _checked(src, data, path, zarr_format, sharding, None, storage_options, config)


def _checked(
    src: Source, data: bool, path: str, zarr_format: Any, sharding: Any, repair: Any, storage_options: Any, config: Any
) -> dict[str, Any]:
    _arguments.flag(data, "data")
    config = _arguments.settings(config, storage_options, src)
    text = _arguments.text(path, "path")
    return _sherd.check(_store(src, "src"), text, format_name(None, zarr_format), data, sharding, repair, config)


def repair(
    src: Source,
    drop_broken: bool = False,
    backup: bool = True,
    *,
    data: bool = False,
    path: str = "",
    zarr_format: Literal[2, 3] | None = None,
    storage_options: dict[str, Any] | None = None,
    config: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """Checks a node and all below it, and repairs what it finds: torn indexes of shards, missing second names of
    dual-format shards, and what killed writers have left. Each object is changed in the version that was checked and under
    its lock.

        report = sherd.repair("study.zarr")

    drop_broken: also empties slots whose chunks cannot be read, and erases such objects; what was there reads as the
    fill value. With `data`, every chunk is decoded to find them. backup: keeps each changed object as KEY.sherd-backup.

    Returns the report of `check`. "faults" has what remains, and "repaired" what was done: [{"action", "key", "message",
    "backup"}].
    """
    how = (_arguments.flag(drop_broken, "drop_broken"), _arguments.flag(backup, "backup"))
    return _checked(src, data, path, zarr_format, None, how, storage_options, config)


def compact(
    src: Source,
    *,
    path: str = "",
    zarr_format: Literal[2, 3] | None = None,
    storage_options: dict[str, Any] | None = None,
    config: dict[str, Any] | None = None,
) -> dict[str, int]:
    """Rewrites every shard of a node, and of all below it, that has bytes to which nothing refers, without these bytes.

        sherd.compact("study.zarr")["reclaimed"]

    Chunks are moved without decoding them, and other programs may read and write meanwhile. Works on all formats, also on
    collections of Neuroglancer's objects. Shards inside shards are moved as they are.

    Returns {"reclaimed": bytes, "shards": how many were rewritten}.
    """
    config = _arguments.settings(config, storage_options, src)
    return _sherd.compact(_store(src, "src"), _arguments.text(path, "path"), format_name(None, zarr_format), config)


def _name_or_number(value: Any, name: str) -> str | int:
    return value if isinstance(value, str) else _arguments.whole(value, name)


def picture(
    array: Source,
    file: str | os.PathLike[str],
    *,
    level: int = 0,
    axis: str | int | None = None,
    index: int | str | None = None,
    at: Mapping[str | int, int | str] | None = None,
    range: tuple[float, float] | None = None,
    width: int | None = None,
) -> None:
    """Draws one plane of an array into a PNG file or, if it has the suffix .jpg or .jpeg, a JPEG file.

        sherd.picture("cells.ome.zarr", "cells.png", level=1, axis="z", index=-1, at={"t": 3})

    array: an Array, or anything that can be opened: a path, a URL, a Store or a Group. level: the resolution of an
    OME-NGFF image or a volume, 0 being the finest.
    axis, index: the axis across which the plane is cut, by name (x, y, z, t, c) or number, and the position on it.
    Default: the middle of z, with rows along y and columns along x; without names, of the first axis. Negative indexes
    count from the end.
    at: indices on axes that are not drawn, or names of channels. Default: the middle of z, 0 of others, and all
    channels, each in its colour.
    range: the values drawn as black and white. Default: the window of the OME-NGFF image's channel, or the minimum and
    maximum of the plane.
    width: in pixels, at least 2. Default: the number of elements, or more along the axis with the wider spacing.
    """
    indices = {} if at is None else at
    options: dict[str, Any] = {"at": [(_name_or_number(name, "at"), _name_or_number(where, "at")) for name, where in indices.items()]}
    if axis is not None:
        options["axis"] = _name_or_number(axis, "axis")
    if index is not None:
        options["index"] = _name_or_number(index, "index")
    if range is not None:
        low, high = range
        options["range"] = (float(low), float(high))
    if width is not None:
        if _arguments.whole(width, "width") < 0:
            raise InvalidArgument(f"must be a positive number of pixels, not {width}", member="width")
        options["width"] = operator.index(width)
    _sherd.picture(level_of(array, level), os.fspath(file), options)
