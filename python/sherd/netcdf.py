"""The netCDF data model over Zarr: reading datasets written by netcdf-c (any generation of NCZarr), xarray or
zarr-python, and writing new ones.

    dataset = sherd.netcdf.open_dataset("ocean.zarr")
    dataset["temperature"][0, :, 10:20]
    dataset["temperature"].attributes["units"]
    print(dataset.dump(header_only=True))

    with sherd.netcdf.create_dataset("new.zarr") as new:
        new.create_dimension("time")
        new.create_variable("temperature", "float", "time")[:] = [271.5, 272.25]
"""

from __future__ import annotations

from typing import Any, Literal

from . import _arguments, _netcdf_values, _sherd
from ._netcdf_copy import copy
from ._netcdf_writer import DatasetWriter, GroupWriter, VariableWriter, create_dataset
from ._nodes import StoreLike, format_name

__all__ = [
    "Dataset",
    "DatasetWriter",
    "Dimension",
    "Group",
    "GroupWriter",
    "Variable",
    "VariableWriter",
    "copy",
    "create_dataset",
    "edit_dataset",
    "open_dataset",
]

Dimension = _sherd.NetcdfDimension
Type = Literal["byte", "char", "short", "int", "float", "double", "ubyte", "ushort", "uint", "int64", "uint64", "string"]


class Variable:
    """An array with dimensions, a netCDF type and typed attributes. Indexing reads; unwritten elements are the fill value."""

    def __init__(self, bound: _sherd.NetcdfVariable) -> None:
        self._bound = bound

    @property
    def name(self) -> str:
        return self._bound.name

    @property
    def full_name(self) -> str:
        """The name with the path of the group: "/g1/v"."""
        return self._bound.full_name

    @property
    def type(self) -> Type:
        return self._bound.type  # type: ignore[return-value]

    @property
    def dimensions(self) -> tuple[Dimension, ...]:
        return tuple(self._bound.dimensions)

    @property
    def shape(self) -> tuple[int, ...]:
        return self._bound.shape

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def chunks(self) -> tuple[int, ...]:
        """The lengths of a chunk; empty for a scalar, and for a variable of a netCDF file that has no chunks."""
        return self._bound.chunks

    @property
    def attributes(self) -> dict[str, Any]:
        return self._bound.attributes

    @property
    def attribute_types(self) -> dict[str, str]:
        return self._bound.attribute_types

    @property
    def array(self) -> Any:
        """The sherd.Array of the variable, in which a scalar has one element; None for a variable of a netCDF file."""
        return self._bound.array

    def __getitem__(self, key: Any) -> Any:
        origin, lengths, local = [], [], []
        for part, length in zip(_netcdf_values.expanded(key, self.ndim), self.shape, strict=True):
            if isinstance(part, slice):
                chosen = range(length)[part]
                low = min(chosen[0], chosen[-1]) if chosen else 0
                high = max(chosen[0], chosen[-1]) + 1 if chosen else 0
                stop = chosen.stop - low if chosen.step > 0 or chosen.stop >= low else None
                local.append(slice(chosen.start - low, stop, chosen.step) if chosen else slice(0, 0))
            else:
                low = int(part) + (length if part < 0 else 0)
                if not 0 <= low < length:
                    raise IndexError(f"index {part} is out of bounds for a dimension of length {length}")
                high = low + 1
                local.append(0)
            origin.append(low)
            lengths.append(high - low)
        return self._bound.read(origin, lengths)[tuple(local)]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        if copy is False:
            raise ValueError("reading a variable always makes a copy; omit copy=False")
        values = self._bound.read([0] * self.ndim, list(self.shape))
        return values if dtype is None else values.astype(dtype)

    def __repr__(self) -> str:
        names = ", ".join(f"{each.name}={each.length}" for each in self.dimensions)
        return f"<sherd.netcdf.Variable {self.type} {self.full_name}({names})>"


class Group:
    """Dimensions, variables and groups by name, in order of creation if it is known."""

    def __init__(self, bound: _sherd.NetcdfGroup, root: Group | None = None) -> None:
        self._group = bound
        self._root = root  # None for the root itself: a reference to itself would keep the dataset in memory

    @property
    def _top(self) -> Group:
        return self if self._root is None else self._root

    @property
    def name(self) -> str:
        return self._group.name

    @property
    def path(self) -> str:
        return self._group.path

    @property
    def dimensions(self) -> dict[str, Dimension]:
        return {each.name: each for each in self._group.dimensions}

    @property
    def attributes(self) -> dict[str, Any]:
        return self._group.attributes

    @property
    def attribute_types(self) -> dict[str, str]:
        return self._group.attribute_types

    @property
    def stored_attributes(self) -> dict[str, Any]:
        """The attributes as stored in JSON, including the reserved ones."""
        return self._group.stored_attributes

    @property
    def other_arrays(self) -> dict[str, Any]:
        """Arrays that are not variables, because netCDF has no type for their elements, such as complex numbers: a dict
        of sherd.Array by name."""
        return {each.basename: each for each in self._group.other_arrays}

    @property
    def variables(self) -> dict[str, Variable]:
        return {each.name: Variable(each) for each in self._group.variables}

    @property
    def groups(self) -> dict[str, Group]:
        return {each.name: Group(each, self._top) for each in self._group.groups}

    def __getitem__(self, path: str) -> Variable | Group:
        """The variable or group at a path relative to this group, such as "g1/v", or from the root: "/g1/v". "/" is the
        root."""
        start = self._top if path.startswith("/") else self
        names = path.strip("/")
        if path and not names:
            return start
        if variable := start._group.variable(names):
            return Variable(variable)
        if names and (group := start._group.group(names)):
            return Group(group, self._top)
        raise KeyError(path)

    def __contains__(self, path: str) -> bool:
        try:
            self[path]
        except KeyError:
            return False
        return True

    def __repr__(self) -> str:
        return f"<sherd.netcdf.{type(self).__name__} {self.path}: {', '.join([*self.variables, *self.groups])}>"


class Dataset(Group):
    """The root group of a dataset as it was when it was opened, and the properties of the whole dataset."""

    def __init__(self, bound: _sherd.NetcdfDataset) -> None:
        super().__init__(bound.root)
        self._dataset = bound

    @property
    def url(self) -> str:
        return self._dataset.url

    @property
    def format(self) -> str:
        """Of the nodes: "zarr2" or "zarr3"; of a netCDF file "netcdf"."""
        return self._dataset.format

    @property
    def kind(self) -> str:
        """As printed by `ncdump -k`: "netCDF-4"; for files also "classic", "64-bit offset", "cdf5", "netCDF-4 classic
        model"."""
        return self._dataset.kind

    @property
    def generation(self) -> str:
        """The kind of metadata that was used: "pure", or NCZarr's "v1", "v2a", "v2b", "v2c"."""
        return self._dataset.generation

    @property
    def warnings(self) -> list[str]:
        """One sentence for each part that was left out, or read despite an error."""
        return self._dataset.warnings

    @property
    def unread(self) -> dict[str, str]:
        """Variables and groups that were left out because their metadata are damaged, missing or not supported: the
        reasons by path."""
        return self._dataset.unread

    def dump(self, *, header_only: bool = False) -> str:
        """The dataset as CDL, as `sherd ncdump` prints it."""
        return _sherd.netcdf_dump(self._dataset, header_only)


def open_dataset(
    store: StoreLike,
    *,
    mode: str = "",
    compat: str | None = None,
    path: str = "",
    consolidated: bool = True,
    zarr_format: Literal[2, 3] | None = None,
    storage_options: dict[str, Any] | None = None,
    config: Any = None,
) -> Dataset:
    """Opens a dataset for reading. `mode` and `compat` are those of a URL's fragment, such as "zarr" or
    "nczarr,noxarray", and are added to those of the URL. storage_options: of the store that a path or URL names.
    consolidated: False: consolidated metadata are not used, and the documents of all nodes are read. zarr_format: the
    version of Zarr, where both are stored; default: detected."""
    _arguments.store(store)
    config = _arguments.settings(config, storage_options, store)
    pure, noxarray, seed = _netcdf_values.modes(mode, compat)
    _arguments.flag(consolidated, "consolidated")
    return Dataset(_sherd.netcdf_open(store, path, format_name(None, zarr_format), pure, noxarray, seed, consolidated, config))


def _adopt(writer: DatasetWriter, group: Group) -> None:
    """Registers the members of an existing dataset in a writer."""
    base = group.path.rstrip("/")
    for dimension in group.dimensions.values():
        writer._unlimited[f"{base}/{dimension.name}"] = dimension.unlimited
    for name, variable in group.variables.items():
        default = None if variable._bound.no_fill else _sherd.netcdf_default_fill(variable.type)
        fill = variable.attributes.get("_FillValue", default)
        unlimited = tuple(each.unlimited for each in variable.dimensions)
        writer._members[f"{base}/{name}"] = VariableWriter(writer, f"{base}/{name}", variable.type, unlimited, fill)
    for inner in group.groups.values():
        writer._members[inner.path] = GroupWriter(writer, inner.path)
        _adopt(writer, inner)


def edit_dataset(
    store: StoreLike,
    *,
    mode: str = "",
    compat: str | None = None,
    path: str = "",
    storage_options: dict[str, Any] | None = None,
    config: Any = None,
) -> DatasetWriter:
    """Opens an existing dataset for writing: elements, attributes, new dimensions, variables and groups, and longer
    unlimited dimensions. NotFound if it does not exist.

    The dataset keeps its form (that of Sherd, of netcdf-c 4.9.1 or later, or pure Zarr) and everything that is not
    changed. A dataset of an earlier netcdf-c is Unsupported, and so is writing elements that netcdf-c stored
    differently than its metadata say. sync() updates consolidated metadata if they exist. Meanwhile, no other process
    may change the same groups or lengths. Arguments are those of open_dataset().
    """
    _arguments.store(store)
    config = _arguments.settings(config, storage_options, store)
    pure, noxarray, seed = _netcdf_values.modes(mode, compat)
    options = {"path": path, "pure": pure, "noxarray": noxarray, "seed": seed, "config": config}
    writer = DatasetWriter(_sherd.netcdf_edit(store, options))
    _adopt(writer, Dataset(writer._bound.opened))
    return writer
