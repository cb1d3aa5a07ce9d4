"""What an array is, in short."""

from __future__ import annotations

from typing import Any

from . import _sherd


class Info(dict[str, Any]):
    """A dict that prints as a table."""

    def __repr__(self) -> str:
        width = max(len(name) for name in self)
        return "\n".join(f"{name:<{width}}  {value}" for name, value in self.items())


def info(array: _sherd.Array) -> Info:
    """The facts of an array, without a look at its chunks."""
    metadata = array.metadata
    return Info(
        url=array.url,
        format=array.format,
        node_type="array",
        shape=array.shape,
        dtype=metadata["data_type"],
        chunks=array.chunks,
        shards=array.shards,
        codecs=array.codecs,
        fill_value=metadata["fill_value"],
        dimension_names=array.dimension_names,
        attributes=array.attrs.asdict(),
        read_only=array.read_only,
    )
