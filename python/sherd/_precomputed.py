"""New volumes of Neuroglancer's precomputed format."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np

from . import _arguments, _sherd
from ._build import choose_sharding
from ._errors import InvalidArgument
from ._nodes import StoreLike

_KEYS = {"chunk_size", "size", "resolution", "key"}


def _number_text(value: float) -> str:
    return str(int(value)) if float(value).is_integer() else str(value)


def _triple(scale: Mapping[str, Any], member: str) -> list[Any]:
    values = scale.get(member)
    if values is None or isinstance(values, str) or len(np.shape(values)) != 1 or len(values) != 3:
        raise InvalidArgument("must be three numbers: x, y, z", member=member)
    return [value.item() if hasattr(value, "item") else value for value in values]


def _sharding(scale: Mapping[str, Any], dtype: np.dtype[Any], num_channels: int) -> Any:
    if scale.get("sharding") != "auto":
        return scale.get("sharding")
    shape, chunk = (*scale["size"], num_channels), scale["chunk_sizes"][0]
    return choose_sharding(shape, chunk, dtype, encoding=scale["encoding"])


def _scale(scale: Mapping[str, Any], dtype: np.dtype[Any], num_channels: int) -> dict[str, Any]:
    if "chunk_size" in scale and "chunk_sizes" in scale:
        raise InvalidArgument("cannot be given together with chunk_sizes", member="chunk_size")
    made: dict[str, Any] = {"size": _triple(scale, "size"), "resolution": _triple(scale, "resolution")}
    made["key"] = scale.get("key") or "_".join(map(_number_text, made["resolution"]))
    if "chunk_sizes" not in scale:
        made["chunk_sizes"] = [_triple(scale, "chunk_size") if "chunk_size" in scale else [64, 64, 64]]
    rest = {name: value for name, value in scale.items() if name not in _KEYS}
    if rest.get("encoding", "raw") == "compressed_segmentation":
        rest.setdefault("compressed_segmentation_block_size", [8, 8, 8])
    made |= {"encoding": "raw", **rest}
    return {**made, "sharding": _sharding(made, dtype, num_channels)} if "sharding" in made else made


def create_precomputed(
    store: StoreLike,
    *,
    type: Literal["image", "segmentation"],
    dtype: Any,
    num_channels: int = 1,
    scales: Sequence[Mapping[str, Any]],
    path: str = "",
    overwrite: bool = False,
    config: dict[str, Any] | None = None,
    **members: Any,
) -> _sherd.Array:
    """Makes a volume and gives the array of its first scale: dimensions x, y, z, channel.

        array = sherd.neuroglancer.create_precomputed("em", type="image", dtype="uint8",
            scales=[{"size": [1000, 900, 80], "resolution": [8, 8, 40], "encoding": "jpeg"}])
        array[:] = data

    dtype: uint8 to uint64, int8 to int32 or float32.
    scales: fine to coarse, each in the words of the info document: size (voxels), resolution (nanometres),
    voxel_offset, key (the resolution, joined by "_"), chunk_size (64, 64, 64), encoding ("raw", "jpeg", "png" or
    "compressed_segmentation"; "raw"), jpeg_quality, png_level, compressed_segmentation_block_size (8, 8, 8), and sharding,
    "auto", which is what `choose_sharding` gives, or a dict of such parameters (None: every chunk is an object).
    Further keywords are members of the info document, such as mesh="mesh", skeletons or segment_properties.
    overwrite: erase what stands there; otherwise that is Conflict, as are in any case files that are no part of it.
    """
    _arguments.store(store)
    _arguments.flag(overwrite, "overwrite")
    if "members" in members:
        raise InvalidArgument('are given by their own names, such as mesh="mesh"', member="members")
    kind = np.dtype(dtype)
    info = {
        "@type": "neuroglancer_multiscale_volume",
        "type": type,
        "data_type": kind.name,
        "num_channels": num_channels,
        "scales": [_scale(scale, kind, num_channels) for scale in scales],
        **members,
    }
    return _sherd.create_precomputed(store, _arguments.text(path, "path"), info, overwrite, config)
