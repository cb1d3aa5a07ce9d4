"""What an array is, in short."""

from __future__ import annotations

from typing import Any

from . import _sherd


class Info(dict[str, Any]):
    """A dict that prints as a table."""

    def __repr__(self) -> str:
        width = max(len(name) for name in self)
        shown = dict(self) | {"codecs": _chain(self["codecs"]), "dtype": _name(self["dtype"])}
        return "\n".join(f"{name:<{width}}  {value}" for name, value in shown.items())


def _name(extension: Any) -> str:
    """A data type or a codec in short: its name and what it is configured to."""
    if isinstance(extension, str):
        return extension
    configuration = extension.get("configuration", {})
    if extension["name"] == "sharding_indexed":
        inner, index = _chain(configuration["codecs"]), _chain(configuration["index_codecs"])
        return f"sharding_indexed({inner}; index at {configuration.get('index_location', 'end')}: {index})"
    settings = ", ".join(f"{name}={value}" for name, value in configuration.items())
    return f"{extension['name']}({settings})" if settings else extension["name"]


def _chain(codecs: list[Any]) -> str:
    return ", ".join(map(_name, codecs))


def info(array: _sherd.Array) -> Info:
    """The facts of an array, without a look at its chunks."""
    metadata = array.metadata
    volume = metadata.get("info")  # a scale stands in the document of its volume
    facts = Info(
        url=array.url,
        format=array.format,
        node_type="array",
        shape=array.shape,
        dtype=(volume or metadata)["data_type"],
        chunks=array.chunks,
        shards=array.shards,
        codecs=array.codecs,
        fill_value=0 if volume else metadata["fill_value"],
        dimension_names=array.dimension_names,
        attributes=array.attrs.asdict(),
        read_only=array.read_only,
    )
    if volume:
        facts["sharding"] = volume["scales"][metadata["scale"]].get("sharding")
    return facts
