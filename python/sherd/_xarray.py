"""engine="sherd" of xarray: netCDF datasets over Zarr and in files, and Neuroglancer volumes, as lazily read variables of xarray.

xarray imports this module when it looks for engines; `import sherd` does not. It passes the variables to xarray as they
are stored; xarray decodes CF conventions.
"""

from __future__ import annotations

import base64
import importlib.util
import json
import os
import pathlib
import struct
import warnings
from collections.abc import Iterable
from typing import Any

import numpy as np
import xarray
from xarray.backends import AbstractDataStore, BackendEntrypoint, StoreBackendEntrypoint
from xarray.core import indexing

from . import _arguments, _sherd
from ._array import codec_parts
from ._errors import InvalidArgument, NotFound
from ._nodes import ZARR_FORMATS
from ._xarray_source import Group, Lazy, Node, Opened

_DOCUMENTS = (".zarray", "zarr.json", ".zgroup", ".zattrs", ".nczarr")
_TEXT_FILTERS = {"vlen-utf8", "vlen-bytes", "vlen-array", "json2", "msgpack2", "pickle", "categorize"}


def _float_of(text: Any) -> Any:
    return struct.unpack("<d", base64.standard_b64decode(text))[0] if isinstance(text, str) else text


def _decoded_fill(value: Any, dtype: np.dtype[Any]) -> Any:
    """Decodes the attribute `_FillValue` of Zarr v3: xarray writes floats as the base64 of a double, and bytes as
    base64."""
    try:
        if dtype.kind == "f":
            return _float_of(value)
        if dtype.kind == "c":
            return complex(_float_of(value[0]), _float_of(value[1]))
        return base64.standard_b64decode(value) if dtype.kind == "S" else value
    except (ValueError, struct.error, TypeError):
        return value


def _codecs2(document: dict[str, Any]) -> dict[str, Any]:
    """The codecs of Zarr v2 as zarr-python accepts them: objects of numcodecs; empty if numcodecs is missing or lacks
    one of them."""
    compressor, filters = document.get("compressor"), document.get("filters") or ()
    try:
        import numcodecs

        made = tuple(numcodecs.get_codec(dict(each)) for each in filters if each["id"] not in _TEXT_FILTERS)
        last = None if compressor is None else (numcodecs.get_codec(dict(compressor)),)
        return {"compressors": last, "filters": made}
    except (ImportError, ValueError, KeyError, TypeError):
        return {}


def _encoding(node: Node) -> dict[str, Any]:
    """Chunks, shards and codecs with which zarr-python's to_zarr() stores the variable in the same way; of a netCDF file
    the chunks, with which to_netcdf() does."""
    array, dims = node.array, node.dims
    if array is None:
        chunks = node.source.chunks
        return {"chunksizes": chunks, "preferred_chunks": dict(zip(dims, chunks, strict=True))} if chunks else {}
    if len(dims) != array.ndim:
        return {"chunks": (), "shards": None, "preferred_chunks": {}}
    stored = array.shards or array.chunks
    encoding: dict[str, Any] = {
        "chunks": array.chunks,
        "shards": array.shards,
        "preferred_chunks": dict(zip(dims, stored, strict=True)),
    }
    document = array.metadata
    if ".zarray" in document:
        encoding |= _codecs2(document[".zarray"])
    elif "codecs" in document:
        filters, serializer, compressors = codec_parts(array)
        encoding |= {"compressors": compressors, "filters": filters, "serializer": serializer}
    return encoding


class SherdDataStore(AbstractDataStore):
    """One group of a dataset, as xarray decodes it."""

    def __init__(
        self, opened: Opened, group: str, fill_as_mask: bool | None = None, *, only_attributes: bool = False
    ) -> None:
        self._opened, self._path = opened, group
        self._group = opened.group(group)
        if only_attributes:
            self._group = Group([], self._group.attrs, set())
        self._fill_as_mask = fill_as_mask

    def _fill(self, node: Node, dtype: np.dtype[Any], attrs: dict[str, Any], encoding: dict[str, Any]) -> None:
        """Sets `_FillValue` as engine="zarr" does. In netCDF that attribute marks missing elements."""
        if self._opened.noted:
            if dtype.kind == "S" and isinstance(attrs.get("_FillValue"), str):
                attrs["_FillValue"] = np.bytes_(attrs["_FillValue"].encode())  # like elements of the type char
            return
        array, document = node.array, node.array.metadata
        if "info" in document:
            return
        is_v3 = ".zarray" not in document
        if not is_v3 and document[".zarray"].get("fill_value") is None:
            return
        value = array.fill_value
        if dtype.kind == "S":
            value = np.bytes_(bytes(value).rstrip(b"\0"))
        elif dtype.kind in "biufcmM":
            value = np.asarray(value, dtype)[()]
        mask = not is_v3 if self._fill_as_mask is None else self._fill_as_mask
        if mask:
            attrs["_FillValue"] = value
            return
        if is_v3:
            encoding["fill_value"] = value
        if "_FillValue" in attrs:
            attrs["_FillValue"] = _decoded_fill(attrs["_FillValue"], dtype)

    def _variable(self, node: Node) -> xarray.Variable:
        lazy = Lazy(self._opened, self._path, node.name, node.source)
        attrs, encoding = dict(node.attrs), _encoding(node)
        if lazy.dtype.kind == "T":
            encoding["dtype"] = lazy.dtype  # otherwise xarray would make it object
        self._fill(node, lazy.dtype, attrs, encoding)
        return xarray.Variable(node.dims, indexing.LazilyIndexedArray(lazy), attrs, encoding)

    def get_variables(self) -> dict[str, xarray.Variable]:
        return {node.name: self._variable(node) for node in self._group.nodes}

    def get_attrs(self) -> dict[str, Any]:
        return self._group.attrs

    def get_dimensions(self) -> dict[str, int]:
        return {name: n for node in self._group.nodes for name, n in zip(node.dims, node.source.shape, strict=True)}

    def get_encoding(self) -> dict[str, Any]:
        return {"unlimited_dims": self._group.unlimited} if self._group.unlimited else {}


def _is_only_for_sherd(folder: pathlib.Path) -> bool:
    """Whether the directory is a dataset of NCZarr, a volume, or an array without a group. Zarr-python opens all other
    groups, if it is installed."""
    documents = {name: (folder / name).read_bytes() for name in _DOCUMENTS if (folder / name).is_file()}
    if not documents:
        return (folder / "info").is_file() and b'"scales"' in (folder / "info").read_bytes()
    if ".zarray" in documents or ".nczarr" in documents or importlib.util.find_spec("zarr") is None:
        return True
    if any(b"_nczarr_" in each.lower() for each in documents.values()):
        return True
    root = json.loads(documents.get("zarr.json", b"{}"))
    return isinstance(root, dict) and root.get("node_type") == "array"


def _opened(
    address: Any, mode: str, compat: str | None, consolidated: bool | None, zarr_format: int | None, settings: Any
) -> Opened:
    mode = "" if mode == "r" else mode  # that of engine="zarr"
    consolidated = consolidated is not False
    opened = Opened(address, mode, compat, settings, consolidated=consolidated)
    if zarr_format is None or zarr_format == opened.zarr_format:
        return opened
    missing = NotFound(f"no dataset of Zarr v{zarr_format} is at {opened.url}, which is {opened.kind}")
    if opened.zarr_format is None or zarr_format not in ZARR_FORMATS:
        raise missing
    try:  # both may be stored
        return Opened(address, mode, compat, settings, consolidated=consolidated, zarr_format=zarr_format)
    except NotFound:
        raise missing from None


def _warn(opened: Opened, group: str, *, below: bool) -> None:
    """A dataset that lacks something must not look complete."""
    for path, reason in opened.unread(group, below=below).items():
        warnings.warn(f"{path} of {opened.url} cannot be read and is left out: {reason}", stacklevel=4)
    for note in opened.notes():
        warnings.warn(f"{opened.url}: {note}", stacklevel=4)


def _group_path(group: Any) -> str:
    names = ("" if group is None else _arguments.text(group, "group")).split("/")
    return "/" + "/".join(filter(None, names))


def _decoded(store: SherdDataStore, decoding: dict[str, Any]) -> xarray.Dataset:
    dataset = StoreBackendEntrypoint().open_dataset(store, **decoding)
    dataset.set_close(None)  # nothing needs closing, and the function would be pickled with the store
    return dataset


class SherdBackendEntrypoint(BackendEntrypoint):
    """xarray.open_dataset(url, engine="sherd"): see docs/python.md."""

    description = "Zarr v2 and v3, NCZarr, netCDF files and Neuroglancer volumes, using Sherd"
    supports_groups = True

    def guess_can_open(self, filename_or_obj: Any) -> bool:
        """Whether it is a Store, or a path that only Sherd opens: one with modes of NCZarr, a dataset of NCZarr, a
        volume, or an array without a group. All other Zarr is left to engine="zarr"."""
        if isinstance(filename_or_obj, _sherd.Store):
            return True
        if not isinstance(filename_or_obj, (str, os.PathLike)):
            return False
        path, fragment = _sherd.parts_of_name(str(os.fspath(filename_or_obj)))
        try:
            return bool(fragment) or (path is not None and _is_only_for_sherd(pathlib.Path(path)))
        except (OSError, ValueError):
            return False

    def open_dataset(
        self,
        filename_or_obj: Any,
        *,
        mask_and_scale: Any = True,
        decode_times: Any = True,
        concat_characters: Any = True,
        decode_coords: Any = True,
        drop_variables: str | Iterable[str] | None = None,
        use_cftime: bool | None = None,
        decode_timedelta: Any = None,
        group: str | None = None,
        mode: str = "",
        compat: str | None = None,
        storage_options: dict[str, Any] | None = None,
        consolidated: bool | None = None,
        zarr_format: int | None = None,
        use_zarr_fill_value_as_mask: bool | None = None,
        cache_members: bool = True,
        store: None = None,
        config: dict[str, Any] | None = None,
    ) -> xarray.Dataset:
        """Opens one group of a dataset, or one scale of a volume: the finest, or the one with the key `group`.

        mode, compat, config: as for sherd.netcdf.open_dataset(). storage_options: of the store. The others are those of
        engine="zarr". consolidated: False: the documents of all nodes are read. zarr_format: the version of Zarr that
        the dataset must have. mode="r" and cache_members have no effect. store: an object of that engine,
        which is InvalidArgument here. Raises NotFound, which is a FileNotFoundError, if the dataset or the group does
        not exist. Variables and groups that cannot be read are left out with a UserWarning."""
        if store is not None:
            raise InvalidArgument('store: is an object of engine="zarr"; name the dataset by the first argument instead')
        settings = _arguments.settings(config, storage_options, filename_or_obj)
        opened = _opened(filename_or_obj, mode, compat, consolidated, zarr_format, settings)
        decoding = {
            "drop_variables": drop_variables,
            "mask_and_scale": mask_and_scale,
            "decode_times": decode_times,
            "concat_characters": concat_characters,
            "decode_coords": decode_coords,
            "use_cftime": use_cftime,
            "decode_timedelta": decode_timedelta,
        }
        shown = SherdDataStore(opened, _group_path(group), use_zarr_fill_value_as_mask)
        _warn(opened, _group_path(group), below=False)
        dataset = _decoded(shown, decoding)
        if isinstance(filename_or_obj, str) and not opened.url.startswith("file:"):
            # xarray would keep the address with its secrets.
            dataset.encoding["source"] = opened.url
        return dataset

    def open_groups_as_dict(
        self,
        filename_or_obj: Any,
        *,
        group: str | None = None,
        mode: str = "",
        compat: str | None = None,
        storage_options: dict[str, Any] | None = None,
        consolidated: bool | None = None,
        zarr_format: int | None = None,
        use_zarr_fill_value_as_mask: bool | None = None,
        config: dict[str, Any] | None = None,
        **decoding: Any,
    ) -> dict[str, xarray.Dataset]:
        """All groups by their paths, or `group` and the groups below it. Of a volume the root has its attributes, and
        each scale is a group. Arguments are those of open_dataset()."""
        settings = _arguments.settings(config, storage_options, filename_or_obj)
        opened = _opened(filename_or_obj, mode, compat, consolidated, zarr_format, settings)
        above = _group_path(group)
        _warn(opened, above, below=True)
        found = {}
        for path in opened.groups(above):
            empty = opened.is_volume and path == "/"
            store = SherdDataStore(opened, path, use_zarr_fill_value_as_mask, only_attributes=empty)
            relative = path if above == "/" else "/" + path.removeprefix(above).strip("/")
            found[relative] = _decoded(store, decoding)
        return found

    def open_datatree(self, filename_or_obj: Any, **options: Any) -> xarray.DataTree:
        """The groups as a tree; arguments are those of open_groups_as_dict()."""
        return xarray.DataTree.from_dict(self.open_groups_as_dict(filename_or_obj, **options))
