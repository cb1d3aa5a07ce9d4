"""Summaries of arrays and groups."""

from __future__ import annotations

import html
from typing import Any

from . import _sherd


class Info(dict[str, Any]):
    """A dict that prints as a table."""

    def _shown(self) -> dict[str, Any]:
        short = {"codecs": _chain, "dtype": _name}
        return {name: short[name](value) if name in short else value for name, value in self.items()}

    def __repr__(self) -> str:
        width = max(len(name) for name in self)
        return "\n".join(f"{name:<{width}}  {value}" for name, value in self._shown().items())

    def _repr_html_(self) -> str:
        cells = (f"<tr><th>{html.escape(name)}</th><td>{html.escape(str(value))}</td></tr>" for name, value in self._shown().items())
        return f"<table>{''.join(cells)}</table>"


def _name(extension: Any) -> str:
    """A data type or a codec in short form: its name and its configuration."""
    if not isinstance(extension, dict):  # in Zarr v2 a type is "<i4" or a list of fields
        return str(extension)
    configuration = extension.get("configuration", {})
    if extension["name"] == "sharding_indexed":
        inner, index = _chain(configuration["codecs"]), _chain(configuration["index_codecs"])
        return f"sharding_indexed({inner}; index at {configuration.get('index_location', 'end')}: {index})"
    settings = ", ".join(f"{name}={value}" for name, value in configuration.items())
    return f"{extension['name']}({settings})" if settings else extension["name"]


def _chain(codecs: list[Any]) -> str:
    return ", ".join(map(_name, codecs))


def info(array: _sherd.Array) -> Info:
    """The properties of an array, without looking at its chunks."""
    metadata = array.metadata
    volume = metadata.get("info")  # a scale is described in the document of its volume
    document = volume or metadata.get(".zarray", metadata)
    facts = Info(
        url=array.url,
        format=array.format,
        node_type="array",
        shape=array.shape,
        dtype=document["dtype" if ".zarray" in metadata else "data_type"],
        chunks=array.chunks,
        shards=array.shards,
        codecs=array.codecs,
        fill_value=0 if volume else document["fill_value"],
        dimension_names=array.dimension_names,
        attributes=array.attrs.asdict(),
        read_only=array.read_only,
    )
    if volume:
        facts["sharding"] = volume["scales"][metadata["scale"]].get("sharding")
    return facts


def group_info(group: Any) -> Info:
    """The properties of a group, without looking at its members."""
    return Info(
        url=group.url,
        format=group.format,
        node_type="group",
        attributes=group.attrs.asdict(),
        read_only=group.read_only,
    )
