"""sherd.netcdf.copy()."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from . import _arguments, _sherd
from ._errors import InvalidArgument
from ._nodes import format_name

Filters = Sequence[Sequence[int]]


def _lengths(given: Any, argument: str) -> list[tuple[str, Any]]:
    if given is None or given == ():
        return []
    if not isinstance(given, Mapping):
        raise TypeError(f"{argument} must be a dict by name, not {type(given).__name__}")
    pairs: list[tuple[str, Any]] = []
    for name, lengths in given.items():
        if isinstance(lengths, Sequence) and not isinstance(lengths, str):
            pairs.append((_arguments.text(name, argument), [_arguments.count(each, argument) for each in lengths]))
            continue
        length = 0 if lengths is None else _arguments.count(lengths, argument)
        if lengths == 0 and lengths is not None:
            raise InvalidArgument(f"lengths of {argument} must be positive, or None for the whole dimension", member=argument)
        pairs.append((_arguments.text(name, argument), length))
    return pairs


def _filters(given: Any) -> list[tuple[str | None, list[list[int]]]]:
    def of(listed: Any) -> list[list[int]]:
        numbers = [[_arguments.count(number, "filters") for number in each] for each in listed]
        if any(not each or max(each) >= 2**32 for each in numbers):
            raise InvalidArgument("a filter is a number and its parameters, each of 32 bits, such as (1, 5)", member="filters")
        return numbers

    if given is None:
        return []
    if isinstance(given, Mapping):
        return [(_arguments.text(name, "filters"), of(listed)) for name, listed in given.items()]
    return [(None, [] if given == "none" else of(given))]


def _names(given: Any, argument: str) -> list[str]:
    """Names of variables or groups; a text is one name, None means all."""
    if given is None:
        return []
    names = [given] if isinstance(given, str) else list(given)
    if not names:
        raise InvalidArgument("must have names, or be None for all", member=argument)
    return [_arguments.text(each, argument) for each in names]


def copy(
    source: str | os.PathLike[str],
    destination: str | os.PathLike[str],
    *,
    kind: str | None = None,
    format: Literal["zarr2", "zarr3"] = "zarr2",
    chunks: Mapping[str, int | None | Sequence[int]] | tuple[()] | None = None,
    shards: Mapping[str, int | None | Sequence[int]] | Literal["auto"] | None = None,
    deflate: int | None = None,
    shuffle: bool = False,
    filters: Filters | Mapping[str, Filters] | Literal["none"] | None = None,
    variables: str | Sequence[str] | None = None,
    groups: str | Sequence[str] | None = None,
    data_variables: str | Sequence[str] | None = None,
    data_groups: str | Sequence[str] | None = None,
    fixed_dimensions: bool = False,
    overwrite: bool = False,
    skip_damaged: bool = False,
    consolidated: bool = True,
    source_zarr_format: Literal[2, 3] | None = None,
    config: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """Copies a dataset, and returns a report: {"kind", "groups", "variables", "bytes", "warnings"}.

        sherd.netcdf.copy("ocean.nc", "ocean.zarr", deflate=1, chunks={"time": 12, "lat": None, "lon": None})
        sherd.netcdf.copy("ocean.zarr", "ocean.nc")

    source, destination: paths or URLs, of netCDF files or of datasets in Zarr with a fragment such as "#mode=zarr".
    kind: "nczarr" or the kind of a file, such as "classic" or "netCDF-4"; default: a file if the destination ends in
    .nc, .nc3, .nc4, .cdf or .netcdf, otherwise "nczarr". format: of the nodes of a dataset in Zarr.
    chunks: lengths by dimension, None for the whole dimension, or shapes by variable; (): one chunk per variable.
    shards: likewise, for "zarr3"; lengths by dimension are rounded up to whole chunks; "auto": by size.
    deflate: a level from 0 to 9, which replaces the filters of the source. filters: also replaces them: lists of
    (number, parameter, …) with HDF5's numbers, for all variables or by name; "none": no filters.
    variables, groups: copy only these variables, or the variables of these groups, by names or paths. data_variables,
    data_groups: likewise, but everything is defined, and variables that are not named have fill values.
    fixed_dimensions: unlimited dimensions become fixed. skip_damaged: leave out variables and groups of the source that
    cannot be read (see Dataset.unread), with a sentence in the report; otherwise they are an error.
    source_zarr_format: of a source in both versions of Zarr.

    Raises Conflict if the destination exists, unless overwrite is set; Unsupported if the destination cannot have a
    filter of the source, or for files in a build without libnetcdf. A failed copy leaves nothing behind.
    config["memory_budget"] bounds the memory."""
    options = {
        "kind": "" if kind is None else _arguments.text(kind, "kind"),
        "format": _arguments.text(format, "format"),
        "chunks": _lengths(chunks, "chunks"),
        "shards": [] if shards == "auto" else _lengths(shards, "shards"),
        "auto_shards": shards == "auto",
        "unchunked": chunks == (),
        "deflate": None if deflate is None else _arguments.whole(deflate, "deflate"),
        "shuffle": _arguments.flag(shuffle, "shuffle"),
        "filters": _filters(filters),
        "variables": _names(variables, "variables"),
        "groups": _names(groups, "groups"),
        "data_variables": _names(data_variables, "data_variables"),
        "data_groups": _names(data_groups, "data_groups"),
        "fixed_dimensions": _arguments.flag(fixed_dimensions, "fixed_dimensions"),
        "overwrite": _arguments.flag(overwrite, "overwrite"),
        "skip_damaged": _arguments.flag(skip_damaged, "skip_damaged"),
        "consolidated": _arguments.flag(consolidated, "consolidated"),
        "source_format": format_name(None, source_zarr_format),
    }
    return _sherd.netcdf_copy(os.fspath(source), os.fspath(destination), options, config)
