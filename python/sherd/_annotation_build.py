"""Writing annotations with all of their indexes, from columns."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np

from . import _arguments, _sherd
from ._errors import InvalidArgument

Kind = Literal["point", "line", "axis_aligned_bounding_box", "ellipsoid", "polyline"]
_NUMBERS = ("float32", "uint32", "int32", "uint16", "int16", "uint8", "int8")


def _dimensions(given: Any) -> dict[str, list[Any]]:
    if isinstance(given, Mapping):
        try:
            return {str(name): [float(scale), str(unit)] for name, (scale, unit) in given.items()}
        except (TypeError, ValueError):
            raise InvalidArgument('must be a scale and a unit for each, such as {"x": (8e-9, "m")}', member="dimensions") from None
    nanometres = _arguments.triple(given, "dimensions", float)
    # Scaled as decimal text, so that 8 nm become 8e-09 m and not the nearest product.
    return {name: [float(f"{length!r}e-9"), "m"] for name, length in zip("xyz", nanometres)}


def _geometry(given: Any, kind: str, rank: int) -> tuple[Any, Any, int]:
    """Flat coordinates, numbers of points (polylines), and the number of annotations."""
    if kind == "polyline":
        lines = [np.asarray(line, "f4") for line in given]
        for row, line in enumerate(lines):
            if line.ndim != 2 or line.shape[1] != rank:
                raise InvalidArgument(f"polyline {row} must have the shape (points, {rank}), not {line.shape}", member="geometry")
        flat = np.concatenate([line.ravel() for line in lines]) if lines else np.empty(0, "f4")
        return flat, np.array([len(line) for line in lines], "u4"), len(lines)
    array = np.asarray(given, "f4")
    row_shape = (rank,) if kind == "point" else (2, rank)
    if array.shape[1:] != row_shape and array.size:
        wanted = ", ".join(map(str, row_shape))
        raise InvalidArgument(f"must have the shape (n, {wanted}) for {kind}, not {array.shape}", member="geometry")
    return np.ascontiguousarray(array).ravel(), np.empty(0, "u4"), len(array)


def _enumerated(values: np.ndarray, spec: dict[str, Any]) -> np.ndarray:
    """Replaces texts by numbers, and makes the texts the labels of those numbers."""
    labels, numbers = np.unique(values.astype(str), return_inverse=True)
    spec["type"] = "uint8" if len(labels) <= 2**8 else "uint16" if len(labels) <= 2**16 else "uint32"
    spec["enum_values"], spec["enum_labels"] = list(range(len(labels))), labels.tolist()
    return numbers.astype(spec["type"])


def _numbers(values: np.ndarray, member: str, type: str | None) -> tuple[str, np.ndarray]:
    if values.dtype == bool and type is None:
        return "bool", values.astype("u1")
    if values.dtype == np.uint8 and values.ndim == 2 and values.shape[1] in (3, 4):
        return type or ("rgb" if values.shape[1] == 3 else "rgba"), values
    if type is None and values.dtype.kind == "f":
        type = "float32"
    elif type is None and values.dtype.name not in _NUMBERS and values.dtype.kind in "iu":
        # NumPy's default is int64, which annotations do not support.
        type = next((each for each in ("int32", "uint32") if np.all(values == values.astype(each))), None)
    type = type or values.dtype.name
    if type not in (*_NUMBERS, "bool", "rgb", "rgba"):
        raise InvalidArgument(f"no property holds these values of {values.dtype}; use float32 or integers of up to 32 bits", member=member)
    return type, values.astype("f4") if type == "float32" else values


def _property(name: str, given: Any) -> tuple[dict[str, Any], np.ndarray]:
    """The property's entry in the info document, and its values."""
    member = f"properties.{name}"
    spec = dict(given) if isinstance(given, Mapping) else {"values": given}
    if "values" not in spec:
        raise InvalidArgument("must be values, or a dict with values, and perhaps type, description, enum_values", member=member)
    values = np.asarray(spec.pop("values"))
    if values.dtype.kind in "UO" and "type" not in spec:
        values = _enumerated(values, spec)
    else:
        spec["type"], values = _numbers(values, member, spec.get("type"))
    return {"id": name, **spec}, values


def _related(name: str, given: Any, count: int) -> tuple[Any, Any]:
    """The number of ids of each annotation, and all ids."""
    member = f"relationships.{name}"
    if len(given) != count:
        raise InvalidArgument(f"must have an element for each of {count} annotations, not {len(given)}", member=member)
    one_each = not isinstance(given, (list, tuple)) and getattr(np.asarray(given), "ndim", 0) == 1 and np.asarray(given).dtype != object
    lists = [[each] for each in given] if not one_each and all(np.ndim(each) == 0 for each in given) else given
    if one_each:
        return np.ones(count, "u4"), np.asarray(given)
    counts = np.array([len(each) for each in lists], "u4")
    ids = [_arguments.count(id, member) for each in lists for id in each]
    return counts, np.array(ids, "u8")


def write_annotations(
    url: str | os.PathLike[str] | _sherd.Store,
    geometry: Any,
    *,
    kind: Kind,
    dimensions: Mapping[str, tuple[float, str]] | Sequence[float],
    ids: Any = None,
    properties: Mapping[str, Any] | None = None,
    relationships: Mapping[str, Any] | None = None,
    lower_bound: Sequence[float] | None = None,
    upper_bound: Sequence[float] | None = None,
    limit: int = 5000,
    sharding: Literal["auto"] | Mapping[str, Any] | None = "auto",
    path: str = "",
    overwrite: bool = False,
    storage_options: dict[str, Any] | None = None,
    config: dict[str, Any] | None = None,
) -> dict[str, int]:
    """Writes a directory of annotations with all of its indexes: by id, by related object, and by location. Returns
    {"annotations", "levels", "cells", "related"}.

        sherd.neuroglancer.write_annotations("em/synapses", table[["x", "y", "z"]], kind="point", dimensions=(8, 8, 40),
            properties={"score": table["score"], "type": table["type"]}, relationships={"segment": table["segment"]})

    geometry: float32, of shape (n, rank) for points; (n, 2, rank) for lines (ends), axis_aligned_bounding_boxes
    (corners) and ellipsoids (centre, radii); for polylines a list of arrays of shape (points, rank).
    dimensions: scale and unit of each dimension by name, {"x": (8e-9, "m"), …}, or nanometres along x, y and z.
    Coordinates are in these units.
    ids: distinct unsigned integers; default: 0 to n - 1.
    properties: values by name, one for each annotation: float32, integers of up to 32 bits or bool; (n, 3) and (n, 4)
    of uint8 for colours; texts, which are stored as numbers with labels. Or a dict with `values` and members of the
    info document, such as {"values": …, "type": "rgb", "description": "…"}.
    relationships: by name, one object or a list of objects for each annotation.
    lower_bound, upper_bound: default: those of the annotations.
    limit: maximum number of annotations per cell of the spatial index. Each level has a random sample of the
    annotations that are in no coarser level; only cells of the last level may exceed the limit.
    sharding: of all indexes. "auto" chooses the parameters, None stores each value as a separate object.
    Warns of properties that other programs cannot read: bool, and a second uint32, which Neuroglancer's Python reader
    misreads unless there are two other properties of four bytes for each further one.
    overwrite: replace a collection. Nothing is written if an argument is wrong; the info document is written last.
    """
    if kind not in ("point", "line", "axis_aligned_bounding_box", "ellipsoid", "polyline"):
        raise InvalidArgument(f"{kind!r} is not point, line, axis_aligned_bounding_box, ellipsoid or polyline", member="kind")
    units = _dimensions(dimensions)
    flat, points, count = _geometry(geometry, kind, len(units))
    specs = [_property(name, given) for name, given in (properties or {}).items()]
    related = [_related(name, given, count) for name, given in (relationships or {}).items()]
    if (lower_bound is None) != (upper_bound is None):
        raise InvalidArgument("give both bounds or none", member="lower_bound" if lower_bound is None else "upper_bound")
    info = {
        "@type": "neuroglancer_annotations_v1",
        "dimensions": units,
        "lower_bound": [0.0] * len(units) if lower_bound is None else [float(each) for each in lower_bound],
        "upper_bound": [1.0] * len(units) if upper_bound is None else [float(each) for each in upper_bound],
        "annotation_type": kind,
        "properties": [spec for spec, _ in specs],
        "relationships": [{"id": name, "key": f"rel_{number}"} for number, name in enumerate(relationships or {})],
        "by_id": {"key": "by_id"},
        "spatial": [],
    }
    options = {
        "path": _arguments.text(path, "path"),
        "overwrite": _arguments.flag(overwrite, "overwrite"),
        "limit": _arguments.count(limit, "limit"),
        "sharding": sharding,
        "bounds": lower_bound is not None,
        "config": _arguments.settings(config, storage_options, url),
    }
    numbers = np.arange(count, dtype="u8") if ids is None else ids
    rows = numbers, flat, {spec["id"]: values for spec, values in specs}, points
    report = _sherd.build_annotations(_arguments.store(url, "url"), info, options, rows, related)
    for warning in report.pop("warnings"):
        warnings.warn(warning, stacklevel=2)
    return report
