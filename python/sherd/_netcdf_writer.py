"""Writers of netCDF datasets, returned by sherd.netcdf.create_dataset() and edit_dataset()."""

from __future__ import annotations

import operator
import warnings
from collections.abc import Mapping
from types import TracebackType
from typing import Any, Literal

import numpy as np

from . import _arguments, _netcdf_values, _options, _sherd
from ._errors import InvalidArgument
from ._nodes import StoreLike, format_name


def _attributes(given: Mapping[str, Any] | None) -> list[tuple[str, str, Any]]:
    return [_netcdf_values.attribute(name, value) for name, value in (given or {}).items()]


def _place(index: Any, length: int) -> int:
    """The start or stop of a slice of an unlimited dimension, which may be beyond its length."""
    at = operator.index(index)
    return at if at >= 0 else max(0, at + length)


class VariableWriter:
    """A variable of a dataset that is being written. Assignment writes boxes: indices are integers and slices with step
    1. Texts that are assigned to characters extend along the last dimension."""

    def __init__(self, dataset: DatasetWriter, path: str, type: str, unlimited: tuple[bool, ...], fill: Any) -> None:
        self._dataset, self.full_name, self.type = dataset, path, type
        self._unlimited, self._fill = unlimited, fill

    @property
    def name(self) -> str:
        return self.full_name.rpartition("/")[2]

    @property
    def shape(self) -> tuple[int, ...]:
        """The present lengths of the dimensions."""
        return self._dataset._bound.shape(self.full_name)

    @property
    def ndim(self) -> int:
        return len(self._unlimited)

    def set_attribute(self, name: str, value: Any, *, type: Any = None) -> None:
        """Sets an attribute; see GroupWriter.set_attribute()."""
        self._dataset._set_attribute(self.full_name, name, value, type)

    def rename_attribute(self, name: str, to: str) -> None:
        """Renames an attribute; see GroupWriter.rename_attribute()."""
        self._dataset._rename_attribute(self.full_name, name, to)

    def _box(self, key: Any, given: tuple[int, ...]) -> tuple[list[int], list[int], list[int]]:
        """Origin and lengths, and the lengths without those of integers. An open slice of an unlimited dimension has
        the length of the data that are written."""
        parts = _netcdf_values.expanded(key, self.ndim)
        kept = [d for d, part in enumerate(parts) if isinstance(part, slice)]
        origin, lengths = [], []
        for d, (part, length, unlimited) in enumerate(zip(parts, self.shape, self._unlimited, strict=True)):
            if not isinstance(part, slice):
                low = int(part) + (length if part < 0 else 0)
                if low < 0 or (low >= length and not unlimited):
                    raise IndexError(f"index {part} is out of bounds for a dimension of length {length}")
                origin.append(low)
                lengths.append(1)
                continue
            if part.step not in (None, 1):
                raise IndexError("only boxes can be written: slices must have step 1")
            if not unlimited:
                low, high, _ = part.indices(length)
            else:
                low = 0 if part.start is None else _place(part.start, length)
                from_end = len(kept) - kept.index(d)
                count = given[-from_end] if len(given) >= from_end else 1
                high = max(length, low + count) if part.stop is None else _place(part.stop, length)
            origin.append(low)
            lengths.append(max(0, high - low))
        return origin, lengths, [lengths[d] for d in kept]

    def __setitem__(self, key: Any, value: Any) -> None:
        self._dataset._check_open()
        if isinstance(value, np.ma.MaskedArray):
            if self._fill is None:
                raise InvalidArgument(f"{self.full_name} has no fill value for masked elements; use filled()")
            values = _netcdf_values.filled(self.type, value, self._fill)
        else:
            values = _netcdf_values.elements(self.type, value)
        slices = sum(isinstance(part, slice) for part in _netcdf_values.expanded(key, self.ndim))
        is_text = self.type == "char" and values.ndim < slices
        origin, lengths, shape = self._box(key, (*values.shape, values.dtype.itemsize) if is_text else values.shape)
        if is_text:
            values = _netcdf_values.characters(values, shape[-1])
        elif self.type == "char" and values.dtype.itemsize > 1:
            raise InvalidArgument(f"{self.full_name} has one character for each element, not a text")
        values = _netcdf_values.stored(np.broadcast_to(values, shape))
        self._dataset._bound.write(self.full_name, origin, lengths, self.type, values)

    def __repr__(self) -> str:
        return f"<sherd.netcdf.VariableWriter {self.type} {self.full_name}{self.shape}>"


class GroupWriter:
    """A group of a dataset that is being written."""

    def __init__(self, dataset: DatasetWriter | None, path: str) -> None:
        self._dataset: DatasetWriter = self if dataset is None else dataset  # type: ignore[assignment]
        self.path = path

    @property
    def name(self) -> str:
        return self.path.rpartition("/")[2]

    def _member(self, name: str) -> str:
        return f"{self.path.rstrip('/')}/{_arguments.text(name, 'name')}"

    def create_group(self, name: str, *, attributes: Mapping[str, Any] | None = None) -> GroupWriter:
        """Creates a group; Conflict if a member with this name exists."""
        self._dataset._check_open()
        path = self._member(name)
        self._dataset._bound.define_group(path, _attributes(attributes))
        self._dataset._members[path] = group = GroupWriter(self._dataset, path)
        return group

    def create_dimension(self, name: str, length: int | None = None) -> None:
        """Creates a dimension, visible in this group and all groups below. Without a length it is unlimited, and grows
        when a variable is written beyond its length."""
        self._dataset._check_open()
        count = 0 if length is None else _arguments.count(length, "length")
        self._dataset._bound.define_dimension(self.path, _arguments.text(name, "name"), count, length is None)
        self._dataset._unlimited[self._member(name)] = length is None

    def _is_unlimited(self, name: str) -> bool:
        if name.startswith("/"):
            return self._dataset._unlimited.get(name, False)
        path = self.path
        while f"{path.rstrip('/')}/{name}" not in self._dataset._unlimited and path != "/":
            path = path.rpartition("/")[0] or "/"
        return self._dataset._unlimited.get(f"{path.rstrip('/')}/{name}", False)

    def create_variable(
        self,
        name: str,
        type: Any,
        dimensions: str | tuple[str, ...] | list[str] = (),
        *,
        attributes: Mapping[str, Any] | None = None,
        fill_value: Any = None,
        chunks: tuple[int, ...] | int | None = None,
        shards: tuple[int, ...] | int | None = None,
        deflate_level: int | None = None,
        shuffle: bool = False,
        fletcher32: bool = False,
        codecs: Any = None,
        endian: Literal["little", "big", None] = None,
    ) -> VariableWriter:
        """Creates a variable; Conflict if a member with this name exists.

        type: a CDL name ("float" and "int" have 32 bits), or anything that np.dtype() accepts; str is "string".
        dimensions: names, each that of the nearest group, or paths such as "/g/x"; none: a scalar.
        attributes: by name; see set_attribute(). fill_value: of the variable's type, stored as `_FillValue`; None: the
        default of netCDF; False: elements that are never written are undefined.
        chunks: a length per dimension; default: chosen by size. shards: likewise, in Zarr v3 only; default: none.
        deflate_level (0 to 9), shuffle, fletcher32: the filters of netCDF. Instead of them, codecs: as for
        sherd.create_array().
        endian: of the stored elements; default: that of `type`, otherwise little.
        """
        self._dataset._check_open()
        kind = _netcdf_values.type_name(type)
        names = [dimensions] if isinstance(dimensions, str) else list(dimensions)
        if endian not in (None, "little", "big"):
            raise InvalidArgument(f"endian must be 'little' or 'big', not {endian!r}", member="endian")
        if endian is None and not (isinstance(type, str) and type in _netcdf_values.NUMPY) and kind not in ("char", "string"):
            endian = "big" if np.dtype(type).str.startswith(">") else "little"
        given = dict(attributes or {})
        fill_value = given.pop("_FillValue", None) if fill_value is None else fill_value
        no_fill = fill_value is False
        options: dict[str, Any] = {
            "name": _arguments.text(name, "name"),
            "type": kind,
            "dimensions": names,
            "attributes": _attributes(given),
            "shuffle": _arguments.flag(shuffle, "shuffle"),
            "fletcher32": _arguments.flag(fletcher32, "fletcher32"),
            "big_endian": endian == "big",
            "no_fill": no_fill,
        }
        if fill_value is not None and not no_fill:
            options["attributes"].insert(0, _netcdf_values.attribute("_FillValue", fill_value, kind))
        for key, value in (("chunks", chunks), ("shards", shards), ("deflate_level", deflate_level)):
            if value is not None:
                options[key] = value
        if codecs is not None:
            options["codecs"] = _options.codec_list(codecs)
        self._dataset._bound.define_variable(self.path, options)
        fill = None if no_fill else _sherd.netcdf_default_fill(kind) if fill_value is None else fill_value
        made = VariableWriter(self._dataset, self._member(name), kind, tuple(map(self._is_unlimited, names)), fill)
        self._dataset._members[made.full_name] = made
        return made

    def set_attribute(self, name: str, value: Any, *, type: Any = None) -> None:
        """Sets an attribute, replacing one with the same name. type: as for create_variable(). Default: a str is
        "char", a list of str "string", NumPy values have their own type, ints are int, or int64 or uint64 if they do
        not fit, floats are double. The attribute is stored by the next write or sync()."""
        self._dataset._set_attribute(self.path, name, value, type)

    def rename_dimension(self, name: str, to: str) -> None:
        """Renames a dimension of this group, and stores the change at once. A variable named like the dimension keeps
        its name; rename it too. The same call completes a renaming that was interrupted by a kill. Conflict if the
        group has a dimension `to` or, in pure Zarr, if a variable of a group would have two dimensions `to`;
        Unsupported there if no variable of the group has the dimension."""
        self._dataset._check_open()
        self._dataset._bound.rename_dimension(self._member(name), _arguments.text(to, "to"))
        unlimited = self._dataset._unlimited
        unlimited[self._member(to)] = unlimited.pop(self._member(name), unlimited.get(self._member(to), False))

    def rename_variable(self, name: str, to: str) -> None:
        """Renames a variable of this group, and stores the change at once. Conflict if a member `to` exists."""
        self._dataset._check_open()
        self._dataset._bound.rename_variable(self._member(name), _arguments.text(to, "to"))
        self._dataset._follow(self._member(name), self._member(to))

    def rename_group(self, name: str, to: str) -> None:
        """Renames a group in this group, and stores the change at once. Conflict if a member `to` exists."""
        self._dataset._check_open()
        self._dataset._bound.rename_group(self._member(name), _arguments.text(to, "to"))
        self._dataset._follow(self._member(name), self._member(to))

    def rename_attribute(self, name: str, to: str) -> None:
        """Renames an attribute, and stores the change at once. Conflict if an attribute `to` exists."""
        self._dataset._rename_attribute(self.path, name, to)

    def __getitem__(self, path: str) -> VariableWriter | GroupWriter:
        """The variable or group at a path relative to this group, or from the root: "/g/v"."""
        whole = path if path.startswith("/") else self._member(path)
        return self._dataset._members[whole.rstrip("/") or "/"]

    def __contains__(self, path: str) -> bool:
        return ((path if path.startswith("/") else self._member(path)).rstrip("/") or "/") in self._dataset._members

    def __repr__(self) -> str:
        return f"<sherd.netcdf.{self.__class__.__name__} {self.path}>"


class DatasetWriter(GroupWriter):
    """The root group of a dataset that is being written. Several threads may write. Leaving a `with` block closes
    it."""

    def __init__(self, bound: _sherd.NetcdfWriter) -> None:
        super().__init__(None, "/")
        self._bound = bound
        self._members: dict[str, VariableWriter | GroupWriter] = {"/": self}
        self._unlimited: dict[str, bool] = {}
        self._closed = False
        self._warned: set[str] = set()

    def _warn(self, stacklevel: int) -> None:
        """Warns of what pure Zarr loses. Only when everything is stored is it known which dimensions have variables."""
        for loss in self._bound.losses():
            if loss not in self._warned:
                self._warned.add(loss)
                warnings.warn(loss, stacklevel=stacklevel + 1)

    def _close(self, stacklevel: int) -> None:
        if not self._closed:
            self._bound.sync()
            self._closed = True
            self._warn(stacklevel + 1)

    def _check_open(self) -> None:
        if self._closed:
            raise InvalidArgument("the dataset is closed")

    def _set_attribute(self, path: str, name: str, value: Any, type: Any) -> None:
        self._check_open()
        self._bound.set_attribute(path, _netcdf_values.attribute(_arguments.text(name, "name"), value, type))

    def _rename_attribute(self, path: str, name: str, to: str) -> None:
        self._check_open()
        self._bound.rename_attribute(path, _arguments.text(name, "name"), _arguments.text(to, "to"))

    def _follow(self, old: str, new: str) -> None:
        """Updates the paths of a renamed member and of everything below it."""

        def moved(path: str) -> str:
            return new + path[len(old) :] if path == old or path.startswith(old + "/") else path

        self._members = {moved(path): member for path, member in self._members.items()}
        self._unlimited = {moved(path): unlimited for path, unlimited in self._unlimited.items()}
        for member in self._members.values():
            if isinstance(member, VariableWriter):
                member.full_name = moved(member.full_name)
            else:
                member.path = moved(member.path)

    def sync(self) -> None:
        """Stores all definitions, attributes and lengths, and the consolidated metadata. Everything stored before a
        successful sync() survives the end of the process. Warns of definitions that are lost in pure Zarr."""
        self._check_open()
        self._bound.sync()
        self._warn(2)

    def close(self) -> None:
        """Calls sync() and ends writing. Closing again has no effect."""
        self._close(2)

    def discard(self) -> None:
        """Erases everything that is stored of the dataset, which cannot be written afterwards. An error in a `with`
        block does not do this: what was written before it is kept."""
        self._check_open()
        self._bound.discard()
        self._closed = True

    def __enter__(self) -> DatasetWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._close(2)


def create_dataset(
    store: StoreLike,
    *,
    zarr_format: Literal[2, 3] = 2,
    mode: str = "",
    compat: str | None = None,
    path: str = "",
    attributes: Mapping[str, Any] | None = None,
    overwrite: bool = False,
    consolidated: bool = True,
    storage_options: dict[str, Any] | None = None,
    config: Any = None,
) -> DatasetWriter:
    """Creates a dataset for writing; an existing node is a Conflict unless `overwrite` is set. A name of a netCDF file,
    such as x.nc, is InvalidArgument: sherd.netcdf.copy() writes files.

    zarr_format: 2 for readers such as netcdf-c, 3 for shards. mode, compat: as for open_dataset(), in addition to the
    URL: "zarr" writes no NCZarr metadata (sync() and close() warn of definitions that are lost without them),
    "noxarray" no dimension names for xarray. path: of the root group, below the store's root. attributes: of the root
    group; see DatasetWriter.set_attribute(). consolidated: whether sync() writes consolidated metadata.
    storage_options: of the store that a path or URL names.
    """
    _arguments.store(store)
    pure, noxarray, seed = _netcdf_values.modes(mode, compat)
    options = {
        "path": _arguments.text(path, "path"),
        "format": format_name(None, zarr_format),
        "pure": pure,
        "noxarray": noxarray,
        "seed": seed,
        "attributes": _attributes(attributes),
        "overwrite": _arguments.flag(overwrite, "overwrite"),
        "consolidated": _arguments.flag(consolidated, "consolidated"),
        "config": _arguments.settings(config, storage_options, store),
    }
    return DatasetWriter(_sherd.netcdf_create(store, options))
