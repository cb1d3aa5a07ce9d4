"""Groups."""

from __future__ import annotations

import html
import operator
import warnings
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from . import _arguments, _sherd
from ._array import Array
from ._attributes import Attributes
from ._create import make_array
from ._errors import BrokenMemberWarning, Conflict, Corrupt, Error, InvalidArgument, Io, NotFound, Unsupported
from ._info import Info, group_info


def wrap(node: Any) -> Array | Group:
    """A node of the engine as an object of its public class."""
    return Group(node) if isinstance(node, _sherd.GroupHandle) else node


class Group:
    """A node that contains arrays and groups. Names may be paths: g["a/b"].

    A group opened for reading uses its consolidated metadata, if any. Handles are pickled as URL and settings.
    """

    def __init__(self, handle: _sherd.GroupHandle) -> None:
        self._handle = handle

    @property
    def attrs(self) -> Attributes:
        """The user's attributes, a mutable mapping. update() is one atomic write."""
        return Attributes(self._handle)

    @property
    def path(self) -> str:
        """The path inside the store; "" for its root."""
        return self._handle.path

    @property
    def name(self) -> str:
        """The path with a leading slash; "/" for the root."""
        return "/" + self.path

    @property
    def basename(self) -> str:
        """The last part of the path; "" for the root."""
        return self.path.rpartition("/")[2]

    @property
    def store(self) -> _sherd.Store:
        """The Store that contains the group."""
        return self._handle.store

    @property
    def info(self) -> Info:
        """A summary: a dict that prints as a table."""
        return group_info(self)

    @property
    def url(self) -> str:
        """Store and path, in the form that users write."""
        return self._handle.url

    @property
    def format(self) -> str:
        """The name of the storage format, such as "zarr3"."""
        return self._handle.format

    @property
    def read_only(self) -> bool:
        """Whether writes are refused with InvalidArgument."""
        return self._handle.read_only

    @property
    def metadata(self) -> dict[str, Any]:
        """The metadata document, as stored."""
        return self._handle.metadata

    def keys(self) -> list[str]:
        """The names of the direct members, sorted, including broken ones."""
        return [name for name, _ in self._handle.members()]

    def array_keys(self) -> list[str]:
        """The names of the direct arrays, sorted. Opens none of them."""
        return [name for name, kind in self._handle.members() if kind == "array"]

    def group_keys(self) -> list[str]:
        """The names of the direct groups, sorted. Opens none of them."""
        return [name for name, kind in self._handle.members() if kind == "group"]

    def _each_member(self) -> Iterator[tuple[str, str, Any]]:
        """Name, kind and node of each member; if a member cannot be opened, the Error instead of its node."""
        members = self._handle.members()
        opened = self._handle.open_all([name for name, _ in members])
        for (name, kind), node in zip(members, opened, strict=True):
            try:
                yield name, kind, wrap(self._handle.open(name) if node is None else node)
            except (Corrupt, Unsupported, Io, NotFound) as error:
                yield name, kind, error

    def _open_members(self, kind: str | None, stacklevel: int = 3) -> list[tuple[str, Any]]:
        opened = []
        for name, found, node in self._each_member():
            if kind not in (None, found) and found != "unknown":
                continue
            if isinstance(node, Error):
                warnings.warn(f"member {name!r} is left out: {node}", BrokenMemberWarning, stacklevel=stacklevel)
            else:
                opened.append((name, node))
        return opened

    def arrays(self) -> list[tuple[str, Array]]:
        """Names and handles of the direct arrays, sorted by name; see members()."""
        return self._open_members("array")

    def groups(self) -> list[tuple[str, Group]]:
        """Names and handles of the direct groups, sorted by name; see members()."""
        return self._open_members("group")

    def array_values(self) -> list[Array]:
        """The direct arrays, sorted by name; see members()."""
        return [node for _, node in self._open_members("array")]

    def group_values(self) -> list[Group]:
        """The direct groups, sorted by name; see members()."""
        return [node for _, node in self._open_members("group")]

    def items(self) -> list[tuple[str, Array | Group]]:
        """Names and handles of all direct members, as members() returns them."""
        return self._open_members(None)

    def values(self) -> list[Array | Group]:
        """The direct members, sorted by name; see members()."""
        return [node for _, node in self._open_members(None)]

    def close(self) -> None:
        """Finishes what was written: the directory of a zip archive, for example. The group can be used afterwards."""
        self._handle.finish()

    def __enter__(self) -> Group:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def members(self, max_depth: int | None = 0) -> list[tuple[str, Array | Group]]:
        """Paths and handles of the members, sorted; a group precedes its members. A member that cannot be opened is
        left out with a BrokenMemberWarning; group[path] raises the error.

        max_depth: 0 returns direct members, 1 also those of their groups, and so on; None returns all.
        """
        if max_depth is not None and _arguments.whole(max_depth, "max_depth") < 0:
            raise InvalidArgument(f"max_depth must be None or at least 0, not {max_depth}", member="max_depth")
        return self._open_below("", max_depth, 4)

    def _open_below(self, prefix: str, depth: int | None, stacklevel: int) -> list[tuple[str, Array | Group]]:
        found: list[tuple[str, Array | Group]] = []
        for name, node in self._open_members(None, stacklevel):
            found.append((prefix + name, node))
            if isinstance(node, Group) and depth != 0:
                found += node._open_below(f"{prefix}{name}/", None if depth is None else depth - 1, stacklevel + 1)
        return found

    def nmembers(self, max_depth: int | None = 0) -> int:
        """The number of members that members(max_depth) returns."""
        return len(self.members(max_depth))

    def tree(self, level: int | None = None) -> Tree:
        """Everything below as text: print(group.tree()). A node that cannot be opened is shown with its error. After
        the scales of a volume, the collections in its directory are listed with their kind. level: the depth down to
        which groups are opened, 0 for direct members; None for all."""
        return Tree(self, level)

    def get(self, path: str, default: Any = None) -> Any:
        """group[path], or `default` if the member does not exist."""
        try:
            return self[path]
        except KeyError:
            return default

    def __getitem__(self, path: str) -> Array | Group:
        _arguments.text(path, "a member's path")
        try:
            return wrap(self._handle.open(path))
        except NotFound as error:
            raise KeyError(path) from error

    def __contains__(self, path: object) -> bool:
        if not isinstance(path, str) or path.strip("/") == "":
            return False
        try:
            return self._handle.contains(_arguments.text(path, "a member's path"))
        except InvalidArgument:  # no member can have this name
            return False

    def __delitem__(self, path: str) -> None:
        _arguments.text(path, "a member's path")
        try:
            self._handle.erase(path)
        except NotFound as error:
            raise KeyError(path) from error

    def move(self, source: str, dest: str) -> None:
        """Moves a member, with everything below it, to the path `dest` below this group or, if it begins with "/",
        below the root of the store. Missing groups on the path are created. KeyError if `source` does not exist,
        Conflict if anything exists at `dest`."""
        _arguments.text(source, "source")
        _arguments.new_name(dest, "dest")
        try:
            self._handle.move(source, dest)
        except NotFound as error:
            raise KeyError(source) from error

    def __setitem__(self, path: str, value: Any) -> None:
        """Creates an array from the value, with create_array's defaults, replacing an array at the path. A group at the
        path is a Conflict, because it would be erased with all its members."""
        if isinstance(self.get(path), Group):
            raise Conflict(f"a group is at {path!r}; del group[{path!r}] erases it with its members", member="path")
        self.create_array(path, data=value, overwrite=path in self)

    def __iter__(self) -> Iterator[str]:
        return iter(self.keys())

    def __len__(self) -> int:
        return len(self._handle.members())

    def create_group(self, name: str, *, attributes: dict[str, Any] | None = None, overwrite: bool = False) -> Group:
        """Creates a group below this one, and missing groups on the path `name`. An existing node is a Conflict, unless
        `overwrite` is set, which erases it and its members; a file that is not part of them is a Conflict even then."""
        _arguments.new_name(name, "name")
        _arguments.flag(overwrite, "overwrite")
        given = {} if attributes is None else _arguments.attributes(attributes)
        return Group(self._handle.create_group(name, given, overwrite))

    def create_array(self, name: str, **options: Any) -> Array:
        """Creates an array below this group, and missing groups on the path. Accepts the keywords of create_array."""
        _arguments.new_name(name, "name")
        return make_array(lambda made: self._handle.create_array(name, made), **options)

    def appender(self, arrays: Iterable[str] | Mapping[str, int | str], axis: int | str = 0, *, technique: int | str = "auto",
                 queue_bytes: int | str | None = None, threads: int | None = None, auto_flush: bool = True) -> _sherd.Appender:
        """Begins a stream that appends to several arrays below this group, as many slices to each; see Appender.

        arrays: their names, which all have the same `axis`, or a dict with the axis of each. An axis is a number or the
        name of a dimension. Shapes are stored after the elements of all arrays; those of coordinates, which have one
        dimension and its name, come last. Shorter arrays are first extended to the length of the longest. Other
        keywords are those of Array.appender(), for all arrays together; coordinates are always stored by "auto".
        InvalidArgument if the axes are of different dimensions, Conflict if another appender of an array is open.
        """
        if isinstance(arrays, str):
            raise TypeError(f"arrays must be names or a dict of axes, not the str {arrays!r}")
        axes = arrays if isinstance(arrays, Mapping) else dict.fromkeys(arrays, axis)
        members = [(name, *self._along(name, along)) for name, along in axes.items()]
        return self._handle.appender(members, technique, queue_bytes, threads, auto_flush)

    def _along(self, name: str, axis: int | str) -> tuple[Array, int]:
        array = wrap(self._handle.open(_arguments.text(name, "a name of arrays")))
        if isinstance(array, Group):
            raise InvalidArgument(f"{name!r} is a group", member="arrays")
        if isinstance(axis, str):
            if axis not in (array.dimension_names or ()):
                raise InvalidArgument(f"{name!r} has no dimension {axis!r}", member="axis")
            return array, array.dimension_names.index(axis)
        if not -array.ndim <= operator.index(axis) < array.ndim:
            raise IndexError(f"axis {axis} of {name!r}, which has {array.ndim} dimensions")
        return array, operator.index(axis) % array.ndim

    def require_group(self, name: str, *, overwrite: bool = False) -> Group:
        """The group with this name, which is created if it does not exist. TypeError if it is an array. With
        `overwrite`, a new group replaces what exists."""
        found = None if _arguments.flag(overwrite, "overwrite") else self.get(name)
        if isinstance(found, Array):
            raise TypeError(f"{name!r} is an array, not a group")
        return self.create_group(name, overwrite=overwrite) if found is None else found

    def require_groups(self, *names: str) -> tuple[Group, ...]:
        """require_group() of each name."""
        return tuple(self.require_group(name) for name in names)

    def require_array(self, name: str, *, shape: Any, dtype: Any = None, exact: bool = False, **options: Any) -> Array:
        """The array with this name, which is created with create_array's keywords if it does not exist. TypeError if it
        is a group, has another shape, or has a type that NumPy does not cast safely to `dtype` (with exact: another
        type). dtype may be None if the array exists."""
        found = self.get(name)
        if found is None:
            return self.create_array(name, shape=shape, dtype=dtype, **options)
        if isinstance(found, Group):
            raise TypeError(f"{name!r} is a group, not an array")
        if tuple(np.atleast_1d(np.asarray(shape, "int64"))) != found.shape:
            raise TypeError(f"{name!r} has shape {found.shape}, not {shape}")
        if dtype is not None:
            wanted = _sherd.describe_dtype(dtype)[1]
            if found.dtype != wanted and (exact or not np.can_cast(found.dtype, wanted)):
                raise TypeError(f"{name!r} has elements of type {found.dtype}, not {wanted}")
        return found

    def update_attributes(self, new_attributes: dict[str, Any]) -> Group:
        """group.attrs.update(new_attributes); returns the group."""
        self.attrs.update(new_attributes)
        return self

    def _ipython_key_completions_(self) -> list[str]:
        return self.keys()

    def _repr_html_(self) -> str:
        return f"{self.info._repr_html_()}<pre>{html.escape(str(self.tree()))}</pre>"

    def __repr__(self) -> str:
        return f"<sherd.Group {self.url}{', read-only' if self.read_only else ''}>"

    def __reduce__(self) -> Any:
        return self._handle.__reduce__()


class Tree:
    """The names below a group, indented by depth."""

    def __init__(self, group: Group, level: int | None = None) -> None:
        self._lines = [group.basename or "/", *self._below(group, "", level)]

    def _below(self, group: Group, indent: str, level: int | None) -> Iterator[str]:
        members = [*group._each_member(), *((name, kind, None) for name, kind in group._handle.collections())]
        for i, (name, kind, node) in enumerate(members):
            last = i + 1 == len(members)
            branch, deeper = ("└── ", "    ") if last else ("├── ", "│   ")
            if node is None:
                yield f"{indent}{branch}{name} {kind}"
            elif isinstance(node, Error):
                yield f"{indent}{branch}{name} ! {node}"
            elif isinstance(node, Group):
                yield indent + branch + name
                if level != 0:
                    yield from self._below(node, indent + deeper, None if level is None else level - 1)
            else:
                yield f"{indent}{branch}{name} {node.shape} {node._type_name}"

    def __str__(self) -> str:
        return "\n".join(self._lines)

    __repr__ = __str__
