"""New volumes of Neuroglancer's precomputed format."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import EllipsisType
from typing import Any, Literal, cast

import numpy as np

from . import _arguments, _sherd
from ._array import Array
from ._build import choose_sharding
from ._errors import InvalidArgument
from ._nodes import StoreLike

# The members of the info document and of its scales, as specified.
_INFO = ("mesh", "skeletons", "segment_properties", "redirect")
_SCALE = (
    *("key", "size", "resolution", "voxel_offset", "chunk_size", "chunk_sizes", "encoding", "sharding", "hidden"),
    *("jpeg_quality", "png_level", "compressed_segmentation_block_size"),
)
_KEYS = {"chunk_size", "size", "resolution", "key", "members"}
_OWN = ("@type", "type", "data_type", "num_channels", "scales")
_KEYWORDS = ("type", "dtype", "num_channels", "scales", "path", "overwrite", "members", "config")


def _check_known(names: Iterable[str], what: str, known: Sequence[str], prefix: str = "", others: Sequence[str] = ()) -> None:
    """Refuses unknown members by name, with a suggestion. others: further names to suggest."""
    for name in names:
        if name not in known:
            hint = _sherd.did_you_mean(name, [*known, *others]) or "; a member of another program goes to members={...}"
            raise InvalidArgument(f"unknown {what} member {name!r}{hint}", member=prefix + name)


def _foreign(members: Any, known: Sequence[str], name: str) -> dict[str, Any]:
    """Members that are in no specification and that the caller adds deliberately."""
    if members is None:
        return {}
    if not isinstance(members, Mapping):
        raise InvalidArgument("must be a dict of further members by name", member=name)
    for each in members:
        if each in known:
            raise InvalidArgument(f"{each!r} is not a foreign member; pass it by its own name", member=f"{name}.{each}")
    return dict(members)


def _number_text(value: float) -> str:
    return str(int(value)) if float(value).is_integer() else str(value)


def _triple(scale: Mapping[str, Any], member: str, prefix: str) -> list[Any]:
    values = scale.get(member)
    if values is None or isinstance(values, str) or len(np.shape(values)) != 1 or len(values) != 3:
        raise InvalidArgument("must be three numbers: x, y, z", member=prefix + member)
    return [value.item() if hasattr(value, "item") else value for value in values]


def _sharding(scale: Mapping[str, Any], dtype: np.dtype[Any], num_channels: int) -> Any:
    if scale.get("sharding") != "auto":
        return scale.get("sharding")
    shape, chunk = (*scale["size"], num_channels), scale["chunk_sizes"][0]
    return choose_sharding(shape, chunk, dtype, encoding=scale["encoding"])


def _scale(index: int, scale: Mapping[str, Any], dtype: np.dtype[Any], num_channels: int) -> dict[str, Any]:
    prefix = f"scales[{index}]."
    if not isinstance(scale, Mapping):
        raise InvalidArgument(f"must be a dict, not {type(scale).__name__}", member=prefix[:-1])
    _check_known(scale, "scale", (*_SCALE, "members"), prefix)
    foreign = _foreign(scale.get("members"), _SCALE, f"{prefix}members")
    if "chunk_size" in scale and "chunk_sizes" in scale:
        raise InvalidArgument("cannot be given together with chunk_sizes", member=f"{prefix}chunk_size")
    made: dict[str, Any] = {"size": _triple(scale, "size", prefix), "resolution": _triple(scale, "resolution", prefix)}
    made["key"] = scale.get("key") or "_".join(map(_number_text, made["resolution"]))
    if "chunk_sizes" not in scale:
        made["chunk_sizes"] = [_triple(scale, "chunk_size", prefix) if "chunk_size" in scale else [64, 64, 64]]
    rest = {name: value for name, value in scale.items() if name not in _KEYS}
    if rest.get("encoding", "raw") == "compressed_segmentation":
        rest.setdefault("compressed_segmentation_block_size", [8, 8, 8])
    made |= {"encoding": "raw", **rest}
    if "sharding" in made:
        made["sharding"] = _sharding(made, dtype, num_channels)
    return {**made, **foreign}


def links(
    store: StoreLike, *, path: str = "", storage_options: dict[str, Any] | None = None, config: dict[str, Any] | None = None
) -> dict[str, str]:
    """The collections to which the info of a volume refers: {"mesh": …, "skeletons": …, "segment_properties": …},
    without those that it lacks. Paths are relative to the directory of the volume."""
    settings = _arguments.settings(config, storage_options, store)
    return _sherd.volume_links(_arguments.store(store), _arguments.text(path, "path"), settings)


def link(
    store: StoreLike,
    *,
    mesh: str | None | EllipsisType = ...,
    skeletons: str | None | EllipsisType = ...,
    segment_properties: str | None | EllipsisType = ...,
    path: str = "",
    storage_options: dict[str, Any] | None = None,
    config: dict[str, Any] | None = None,
) -> dict[str, str]:
    """Makes the info of a volume refer to collections, in one atomic write, and returns the same as `links`.

        sherd.neuroglancer.link("seg", mesh="mesh", segment_properties="../names")

    Each is a path relative to the directory of the volume; None removes a link, but not the collection. NotFound if a
    path does not lead to a collection, InvalidArgument if it is of another kind; nothing is written then.
    """
    given = {"mesh": mesh, "skeletons": skeletons, "segment_properties": segment_properties}
    wanted: dict[str, str] = {}
    for member, value in given.items():
        if isinstance(value, EllipsisType):
            continue
        if value is not None and not _arguments.text(value, member):
            raise InvalidArgument("must be a path, or None to remove the link", member=member)
        wanted[member] = value or ""
    settings = _arguments.settings(config, storage_options, store)
    return _sherd.link_collections(_arguments.store(store), _arguments.text(path, "path"), wanted, settings)


def create_precomputed(
    store: StoreLike,
    *,
    type: Literal["image", "segmentation"],
    dtype: Any,
    num_channels: int = 1,
    scales: Sequence[Mapping[str, Any]],
    path: str = "",
    overwrite: bool = False,
    members: Mapping[str, Any] | None = None,
    config: dict[str, Any] | None = None,
    **references: Any,
) -> Array:
    """Creates a volume and returns the array of its first scale: dimensions x, y, z, channel.

        array = sherd.neuroglancer.create_precomputed("em", type="image", dtype="uint8",
            scales=[{"size": [1000, 900, 80], "resolution": [8, 8, 40], "encoding": "jpeg"}])
        array[:] = data

    dtype: uint8 to uint64, int8 to int32 or float32.
    scales: fine to coarse, each with members of the info document: size (voxels), resolution (nanometres),
    voxel_offset, key (default: the resolution, joined by "_"), chunk_size (default: 64, 64, 64), encoding ("raw", the
    default, "jpeg", "png" or "compressed_segmentation"), jpeg_quality, png_level, compressed_segmentation_block_size
    (default: 8, 8, 8), and sharding: "auto", the result of `choose_sharding`, or a dict of such parameters (None: every
    chunk is an object).
    Other keywords are members of the info document: mesh="mesh", skeletons, segment_properties, redirect.
    members: a dict of foreign members, which neither Neuroglancer's specification nor Sherd defines. They are stored
    unchanged; those of a scale are in scale["members"]. Any other unknown name is InvalidArgument.
    overwrite: erase what exists there, which is otherwise a Conflict. Files that are not part of it are always a
    Conflict.
    """
    _arguments.store(store)
    _arguments.flag(overwrite, "overwrite")
    _check_known(references, "info", _INFO, others=_KEYWORDS)
    foreign = _foreign(members, (*_OWN, *_INFO), "members")
    kind = _sherd.describe_dtype(dtype)[1]
    info = {
        "@type": "neuroglancer_multiscale_volume",
        "type": type,
        "data_type": kind.name,
        "num_channels": num_channels,
        "scales": [_scale(index, scale, kind, num_channels) for index, scale in enumerate(scales)],
        **references,
        **foreign,
    }
    made = _sherd.create_precomputed(store, _arguments.text(path, "path"), info, overwrite, config)
    return cast(Array, made)
