"""OME-NGFF (OME-Zarr) images, versions 0.4 and 0.5: their resolutions, axes, positions and labels.

    image = sherd.ome.open("cells.ome.zarr")
    [axis.name for axis in image.axes]                  # ["c", "z", "y", "x"]
    image.levels[1].scale                               # (1.0, 0.5, 0.26, 0.26)
    image.levels[1].array[0, 10]                        # opened when it is needed
    image.labels["nuclei"].levels[0].array
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from . import _arguments, _sherd
from ._array import Array
from ._errors import InvalidArgument, NotFound
from ._group import Group, wrap
from ._nodes import StoreLike
from ._nodes import open as _open_node
from ._nodes import open_array as _open_array

__all__ = ["Axis", "Image", "Labels", "Level", "open"]


@dataclass(frozen=True)
class Axis:
    """A dimension of an image: x, y, z, c or t, its type ("space", "time", "channel"), and its unit, if known."""

    name: str
    type: str
    unit: str | None = None


class Level:
    """One resolution of an image."""

    def __init__(self, group: Group, number: int, description: dict[str, Any]) -> None:
        self._group = group
        self._description = description
        self.number = number

    @property
    def path(self) -> str:
        """The path of the array below the image."""
        return str(self._description["path"])

    @property
    def scale(self) -> tuple[float, ...]:
        """The distance between elements along each axis, in the axis' unit."""
        return tuple(float(each) for each in self._description["scale"])

    @property
    def translation(self) -> tuple[float, ...]:
        """The position of the centre of the first element along each axis, in the axis' unit."""
        return tuple(float(each) for each in self._description["translation"])

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the array."""
        return self.array.shape

    @cached_property
    def array(self) -> Array:
        """The array, opened at the first access. NotFound if it does not exist."""
        node = wrap(self._group._handle.open(self.path))
        if not isinstance(node, Array):
            raise InvalidArgument(f"the level {self.path!r} is a group, not an array")
        return node

    def __repr__(self) -> str:
        return f"<Level {self.number} {self.path!r}, scale {self.scale}>"


class Labels(Mapping[str, "Image"]):
    """The labels of an image by name, each an image of integers. They are opened when they are accessed."""

    def __init__(self, group: Group, names: list[str]) -> None:
        self._group = group
        self._names = names

    def __getitem__(self, name: str) -> Image:
        if name not in self._names:
            raise KeyError(name)
        return _image(self._group[f"labels/{name}"], f"labels/{name}")

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def __repr__(self) -> str:
        return f"<Labels {', '.join(self._names) or 'none'}>"


class Image:
    """One image in several resolutions, finest first."""

    def __init__(self, group: Group, description: dict[str, Any]) -> None:
        self._description = description
        self.group = group
        self.axes: tuple[Axis, ...] = tuple(Axis(**axis) for axis in description["axes"])
        self.levels: list[Level] = [Level(group, number, each) for number, each in enumerate(description["levels"])]

    @property
    def name(self) -> str | None:
        """The name of the image, or None."""
        name = self._description["name"]
        return None if name is None else str(name)

    @property
    def version(self) -> str:
        """The version of OME-NGFF: "0.4" or "0.5"."""
        return str(self._description["version"])

    @property
    def is_label(self) -> bool:
        """Whether the elements are ids of objects."""
        return bool(self._description["is_label"])

    @property
    def channels(self) -> list[dict[str, Any]]:
        """How channels are displayed, according to OME-NGFF's `omero`: label, color, window; empty without it."""
        omero = self._description["omero"]
        return list(omero.get("channels", [])) if isinstance(omero, dict) else []

    @property
    def labels(self) -> Labels:
        """The labels listed for the image."""
        return Labels(self.group, list(self._description["labels"]))

    def __repr__(self) -> str:
        axes = ", ".join(axis.name for axis in self.axes)
        return f"<Image of axes {axes} in {len(self.levels)} levels, {self.group.url}>"


def _image(node: Any, what: str) -> Image:
    description = _sherd.ome_image(node._handle) if isinstance(node, Group) else None
    if description is None:
        raise InvalidArgument(f"{what} is not an OME-NGFF image: a group with multiscales in its metadata")
    return Image(node, description)


def open(
    store: StoreLike,
    *,
    path: str = "",
    format: str | None = None,
    storage_options: dict[str, Any] | None = None,
    config: dict[str, Any] | None = None,
) -> Image:
    """Opens an image for reading: a group with OME-NGFF's `multiscales`. The arguments are those of `sherd.open`.

    InvalidArgument if the node is not such a group (for a plate, open one of its images, such as "A/1/0"); NotFound if
    it does not exist; Corrupt if its metadata are invalid.
    """
    node = _open_node(store, path=path, format=format, storage_options=storage_options, config=config)
    return _image(node, node.url)


def level_of(source: Array | Group | StoreLike, level: int = 0) -> Array:
    """The array itself, or the resolution `level` of an image or a volume. NotFound if it has fewer resolutions."""
    number = _arguments.count(level, "level")
    if not isinstance(source, (Array, Group)):
        _arguments.store(source, "array")
    node = source if isinstance(source, (Array, Group)) else _open_node(source)
    if isinstance(node, Array):
        if number != 0:
            raise InvalidArgument(f"{node.url} is one array; open the image or the volume that it is in", member="level")
        return node
    description = _sherd.ome_image(node._handle)
    if description is None:
        return _open_array(node.store, path=node.path, scale=number)
    levels = Image(node, description).levels
    if number >= len(levels):
        raise NotFound(f"{node.url} has no level {number}; it has {len(levels)}, the finest is 0", member="level")
    return levels[number].array
