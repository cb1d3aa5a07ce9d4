"""A dataset or volume opened by xarray's engine "sherd": its variables, and their elements, which are read when they
are indexed.

It is pickled as its address. Handles are thread-safe, so dask needs no lock.
"""

from __future__ import annotations

import asyncio
import os
import re
import uuid
import weakref
from collections.abc import Iterator
from typing import Any

import numpy as np
from xarray.backends import BackendArray
from xarray.coding.strings import create_vlen_dtype
from xarray.core import indexing

from . import _arguments, _netcdf_values, _sherd, netcdf
from ._array import codec_parts
from ._errors import Conflict, InvalidArgument, NotFound
from ._nodes import open as open_node
from ._nodes import open_array

_HIDDEN = re.compile("_ARRAY_DIMENSIONS$|_nc", re.IGNORECASE)
_NOT_JSON = ("NaN", "Infinity", "-Infinity")
# As in engine="zarr", Zarr strings have NumPy 2's type. If they were objects, xarray would read one to find their type.
_STRING = np.dtypes.StringDType() if hasattr(np.dtypes, "StringDType") else create_vlen_dtype(str)
_FILE_STRING = create_vlen_dtype(str)  # as in engine="netcdf4"


class Node:
    """A variable in the form that xarray sees. One of a netCDF file has no array."""

    def __init__(self, name: str, dims: tuple[str, ...], attrs: dict[str, Any], source: Any) -> None:
        self.name, self.dims, self.attrs, self.source = name, dims, attrs, source

    @property
    def array(self) -> Any:
        return self.source.array if isinstance(self.source, netcdf.Variable) else self.source


class Group:
    def __init__(self, nodes: list[Node], attrs: dict[str, Any], unlimited: set[str]) -> None:
        self.nodes, self.attrs, self.unlimited = nodes, attrs, unlimited


def _visible(attributes: dict[str, Any]) -> dict[str, Any]:
    """Without what conventions keep there; a text ends before its final NULs, as in netCDF."""

    def cut(name: str, value: Any) -> Any:
        return value.rstrip("\0") if isinstance(value, str) and name != "_FillValue" else value

    return {name: cut(name, value) for name, value in attributes.items() if not _HIDDEN.match(name)}


def _with_numbers(stored: dict[str, Any], node: netcdf.Group | netcdf.Variable) -> dict[str, Any]:
    """Attributes as stored, except for numbers that JSON lacks, which Zarr stores as strings."""

    def number(name: str, value: Any) -> Any:
        lacks = any(isinstance(each, str) and each in _NOT_JSON for each in (value if isinstance(value, list) else [value]))
        values = np.asarray(node.attributes[name] if lacks and name in node.attributes else "")
        if values.dtype.kind != "f":
            return value
        return np.atleast_1d(values).tolist() if isinstance(value, list) else values.item()

    return {name: number(name, value) for name, value in stored.items()}


def _dtype_of(array: Any) -> np.dtype[Any]:
    dtype: np.dtype[Any] = array.dtype
    if dtype.kind == "O":
        if codec_parts(array)[1]["name"] == "vlen-bytes":
            return create_vlen_dtype(bytes)
        return _STRING
    return dtype


class Lazy(BackendArray):
    """Elements that are read when they are indexed."""

    def __init__(self, opened: Opened, group: str, name: str, source: Any) -> None:
        self._opened, self._group, self._name = opened, group, name
        noted = opened.noted
        if isinstance(source, netcdf.Variable) and source.array is not None and source.array.shape == source.shape:
            # In pure Zarr the elements are those of the array, as with engine="zarr".
            if not noted or source.type not in ("char", "string"):
                source = source.array
        self._source = source
        self.shape = tuple(source.shape)
        if not isinstance(source, netcdf.Variable):
            self.dtype = _dtype_of(source)
        elif noted and source.type == "string":
            self.dtype = _FILE_STRING if opened.is_file else _STRING
        else:
            self.dtype = _netcdf_values.NUMPY[source.type] if noted else _dtype_of(source.array)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_source": None}

    def __dask_tokenize__(self) -> Any:
        return (type(self).__qualname__, self._opened.token, self._group, self._name)

    @property
    def source(self) -> Any:
        if self._source is None:
            now = self._opened.lazy(self._group, self._name)
            if now is None or now.shape != self.shape or now.dtype != self.dtype:
                where = f"the variable {self._name!r} of {self._opened.url}"
                raise Conflict(f"{where} has been replaced; open the dataset again")
            self._source = now.source
        return self._source

    def __getitem__(self, key: indexing.ExplicitIndexer) -> Any:
        source, support, read = self.source, indexing.IndexingSupport.OUTER, self._outer
        if isinstance(source, netcdf.Variable):
            support, read = indexing.IndexingSupport.BASIC, self._basic
        elif isinstance(key, indexing.BasicIndexer):
            support, read = indexing.IndexingSupport.VECTORIZED, self._basic
        elif isinstance(key, indexing.VectorizedIndexer) and all(isinstance(each, np.ndarray) for each in key.tuple):
            support, read = indexing.IndexingSupport.VECTORIZED, self._points
        return indexing.explicit_indexing_adapter(key, self.shape, support, read)

    async def async_getitem(self, key: indexing.ExplicitIndexer) -> Any:
        return await asyncio.to_thread(self.__getitem__, key)

    def _made(self, values: Any) -> Any:
        if self.dtype.kind == "S" and isinstance(values, str):  # a scalar is an array with one element
            return np.asarray(values.encode(), self.dtype)
        if self.dtype.kind not in "OT":
            return np.asarray(values, None if self.dtype.names else self.dtype)
        if isinstance(values, np.ndarray) or self.dtype.kind == "T":
            return np.asarray(values, self.dtype)
        single = np.empty((), object)  # np.asarray would give a str the dtype U
        single[()] = values
        return single

    def _basic(self, key: tuple[Any, ...]) -> Any:
        return self._made(self.source[key])

    def _outer(self, key: tuple[Any, ...]) -> Any:
        return self._made(self.source.oindex[key])

    def _points(self, key: tuple[Any, ...]) -> Any:
        return self._made(self.source.vindex[key])


class Opened:
    """An open dataset or volume. It is pickled as its address."""

    _all: weakref.WeakValueDictionary[str, Opened] = weakref.WeakValueDictionary()

    def __init__(
        self,
        store: Any,
        mode: str,
        compat: str | None,
        config: Any,
        token: str = "",
        *,
        consolidated: bool = True,
        zarr_format: Any = None,
    ) -> None:
        # Variables opened together are opened once when unpickled, so that they are not mixed with a replacement.
        self.token = token or uuid.uuid4().hex
        self._mode, self._compat, self._config, self._consolidated = mode, compat, config, consolidated
        self._wanted = zarr_format
        fragment = ""
        if not isinstance(store, _sherd.Store):
            store = _arguments.store(store, "filename_or_obj")
            store = os.path.expanduser(os.fsdecode(store))
            fragment = _sherd.parts_of_name(store)[1]
        self._scales: dict[str, Any] = {}
        try:
            self._dataset: netcdf.Dataset | None = netcdf.open_dataset(
                store, mode=mode, compat=compat, consolidated=consolidated, zarr_format=zarr_format, config=config
            )
            self.url = self._dataset.url
        except NotFound:
            self._dataset, self._scales = None, _scales(store, config)
            if not self._scales:
                raise
            self.url = store.url if isinstance(store, _sherd.Store) else _sherd.url_without_secrets(_absolute(store))
        self._address = None
        if not isinstance(store, _sherd.Store):
            self._address = _sherd.pickled_url(self.url, store) + (fragment and f"#{fragment}")
        Opened._all[self.token] = self

    def __reduce__(self) -> tuple[Any, ...]:
        if self._address is None:
            raise InvalidArgument("a dataset of a Store cannot be pickled; open it by its path or URL")
        settings = _sherd.public_settings(self._config, self.url)
        return _reopened, (self.token, self._address, self._mode, self._compat, settings, self._consolidated, self._wanted)

    @property
    def is_volume(self) -> bool:
        return self._dataset is None

    @property
    def is_file(self) -> bool:
        return self._dataset is not None and self._dataset.format == "netcdf"

    @property
    def noted(self) -> bool:
        """Whether metadata say which type of netCDF each variable and attribute has."""
        return self._dataset is not None and (self.is_file or self._dataset.generation != "pure")

    @property
    def zarr_format(self) -> int | None:
        """None for a volume and for a netCDF file."""
        if self._dataset is None or self.is_file:
            return None
        return int(self._dataset.format.removeprefix("zarr"))

    @property
    def kind(self) -> str:
        if self.is_volume:
            return "a Neuroglancer volume"
        return "a netCDF file" if self.is_file else f"Zarr v{self.zarr_format}"

    def unread(self, group: str, *, below: bool) -> dict[str, str]:
        """Why members of the group, or of all groups in it, are left out, by their paths."""
        if self._dataset is None:
            return {}
        inside = group.rstrip("/") + "/"

        def is_in(path: str) -> bool:
            return path.startswith(inside) and (below or "/" not in path.removeprefix(inside))

        parts = {path: reason for path, reason in self._dataset.unread.items() if is_in(path)}
        for path in self.groups(group) if below else [group]:
            for name, array in self._netcdf_group(path).other_arrays.items():
                if not _is_readable(array):
                    parts[f"{path.rstrip('/')}/{name}"] = "xarray has no type for optional elements"
        return parts

    def notes(self) -> list[str]:
        """What else of a netCDF file is left out: variables and attributes of types that Sherd does not read."""
        if self._dataset is None or not self.is_file:
            return []
        reported = {path for path in self._dataset.unread}
        return [note for note in self._dataset.warnings if note.partition(": ")[0] not in reported]

    def lazy(self, group: str, name: str) -> Lazy | None:
        source = self._source(group, name)
        return None if source is None else Lazy(self, group, name, source)

    def _source(self, path: str, name: str) -> Any:
        if self._dataset is None:
            return next((node.source for node in self._scale(path).nodes if node.name == name), None)
        bound = self._netcdf_group(path)._group
        if variable := bound.variable(name):
            return netcdf.Variable(variable)
        array = bound.other_array(name)
        return array if array is not None and _is_readable(array) else None

    def groups(self, above: str) -> Iterator[str]:
        """The paths of a group and all groups below it."""
        if self._dataset is None:
            yield above
            if above == "/":
                yield from (f"/{key}" for key in self._scales)
            return
        pending = [self._netcdf_group(above)]
        while pending:
            group = pending.pop(0)
            yield group.path
            pending = [*group.groups.values(), *pending]

    def _netcdf_group(self, path: str) -> netcdf.Group:
        assert self._dataset is not None
        try:
            found = self._dataset[path]
        except KeyError:
            found = None
        if not isinstance(found, netcdf.Group):
            names = ", ".join(each for each in self.groups("/") if each != "/") or "none"
            raise NotFound(f"no group {path!r} is in {self.url}; its groups: {names}")
        return found

    def group(self, path: str) -> Group:
        if self._dataset is None:
            return self._scale(path)
        group = self._netcdf_group(path)
        nodes = [self._variable(each) for each in group.variables.values()]
        sizes = {each.name: each.length for variable in group.variables.values() for each in variable.dimensions}
        nodes += [_other(array, sizes) for array in group.other_arrays.values() if _is_readable(array)]
        used = {name for node in nodes for name in node.dims}
        unlimited = {
            dimension.name
            for variable in group.variables.values()
            for dimension in variable.dimensions
            if dimension.unlimited and dimension.name in used
        }
        attrs = group.attributes if self.noted else _with_numbers(_visible(group.stored_attributes), group)
        return Group(nodes, attrs, unlimited)

    def _variable(self, variable: netcdf.Variable) -> Node:
        dims = tuple(each.name for each in variable.dimensions)
        attrs = variable.attributes if self.noted else _with_numbers(_visible(dict(variable.array.attrs)), variable)
        return Node(variable.name, dims, attrs, variable)

    def _scale(self, path: str) -> Group:
        key = path.strip("/")
        if key and key not in self._scales:
            raise NotFound(f"no scale {key!r} is in {self.url}; its scales: {', '.join(self._scales)}")
        array = self._scales[key] if key else next(iter(self._scales.values()))
        return Group([Node("data", tuple(array.dimension_names), dict(array.attrs), array)], dict(array.attrs), set())


def _absolute(address: str) -> str:
    return address if re.match("[A-Za-z][A-Za-z0-9+.-]*:", address) else os.path.abspath(address)


def _reopened(
    token: str, address: str, mode: str, compat: str | None, config: dict[str, Any], consolidated: bool, zarr_format: Any
) -> Opened:
    found = Opened._all.get(token)
    return found or Opened(
        address, mode, compat, config, token, consolidated=consolidated, zarr_format=zarr_format
    )


def _scales(store: Any, config: Any) -> dict[str, Any]:
    """The arrays of a precomputed volume by their keys, finest first; empty if there is no volume."""
    try:
        first = open_array(store, config=config)
    except (NotFound, InvalidArgument):
        return {}
    info = first.metadata.get("info")
    if info is None:
        return {}
    if isinstance(open_node(store, config=config), _sherd.Array):  # the URL of one scale
        return {first.basename: first}
    return {scale["key"]: open_array(store, scale=i, config=config) for i, scale in enumerate(info["scales"])}


def _is_readable(array: Any) -> bool:
    return array.dtype.names != ("value", "present")  # xarray has no type for optional elements


def _other(array: Any, sizes: dict[str, int]) -> Node:
    """An array of a type that netCDF lacks. Dimensions are anonymous if they have no names, or if another variable has
    a different length along them."""
    names = array.dimension_names or (None,) * array.ndim
    if not all(names) or any(sizes.get(name, n) != n for name, n in zip(names, array.shape, strict=True)):
        names = tuple(f"_Anonymous_Dim_{n}" for n in array.shape)
    return Node(array.basename, tuple(names), _visible(dict(array.attrs)), array)
