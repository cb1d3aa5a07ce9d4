"""Import and export of skeletons and meshes of collections as files of other programs."""

from __future__ import annotations

import os
import warnings
from typing import Any, Literal

from . import _arguments, _sherd

Format = Literal["swc", "ply", "obj"]


def _move(file: Any, url: Any, options: dict[str, Any], into: bool) -> dict[str, Any]:
    place = url.url if isinstance(url, _sherd.Store) else os.fsdecode(_arguments.store(url, "url"))
    report, notes = _sherd.move_object(os.fsdecode(file), place, options, into)
    for note in notes:
        warnings.warn(note, stacklevel=3)
    return report


def _options(format: Any, units: Any, overwrite: bool, config: Any, id: Any) -> dict[str, Any]:
    options = {
        "format": "" if format is None else _arguments.text(format, "format"),
        "unit": "" if units is None else _arguments.text(units, "units"),
        "overwrite": _arguments.flag(overwrite, "overwrite"),
        "config": config,
    }
    return options if id is None else options | {"id": id}


def import_object(
    file: str | os.PathLike[str],
    url: str | os.PathLike[str],
    *,
    id: int | None = None,
    from_: Format | None = None,
    units: str | None = None,
    overwrite: bool = False,
    config: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """Adds the skeleton of an SWC file, or the mesh of a PLY or OBJ file, to a collection, and returns {"id",
    "vertices", "edges" or "triangles", "lower_bound", "upper_bound", "created"}; bounds are in nanometres.

        sherd.neuroglancer.import_object("17.swc", "em/skeletons")

    A collection that does not exist is created: skeletons with `radius` and `vertex_types`, or legacy meshes. id:
    default: the number at the beginning of the file's name. from_: the format; default: by suffix. units: of the
    coordinates; default: "um" in SWC, "nm" in PLY and OBJ. An existing object with this id is a Conflict unless
    overwritten. Corrupt names the line or the byte.
    """
    return _move(file, url, _options(from_, units, overwrite, config, id), True)


def export_object(
    url: str | os.PathLike[str],
    id: int,
    file: str | os.PathLike[str],
    *,
    to: Format | None = None,
    units: str | None = None,
    overwrite: bool = True,
    config: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """Writes an object of a collection as an SWC, PLY or OBJ file, and returns the same as import_object. Of a mesh
    with several resolutions the finest is written. SWC cannot have cycles: a warning gives the number of edges left
    out. NotFound if the object does not exist.

        sherd.neuroglancer.export_object("em/mesh", 17, "17.ply")
    """
    return _move(file, url, _options(to, units, overwrite, config, id), False)
