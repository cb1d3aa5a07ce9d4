"""Groups."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

from . import _arguments, _sherd
from ._attributes import Attributes
from ._create import make_array
from ._errors import BrokenMemberWarning, Corrupt, Error, InvalidArgument, Io, NotFound, Unsupported


def wrap(node: Any) -> _sherd.Array | Group:
    """A node of the engine as its public class."""
    return Group(node) if isinstance(node, _sherd.GroupHandle) else node


class Group:
    """A node that holds arrays and further groups. Names may be paths: g["a/b"].

    A group that is opened for reading answers from its consolidated metadata where it has any. Handles pickle as URL
    and settings.
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
    def url(self) -> str:
        """Store and path, as a user would name it."""
        return self._handle.url

    @property
    def format(self) -> str:
        """The name of the storage format, such as "zarr3"."""
        return self._handle.format

    @property
    def read_only(self) -> bool:
        """Whether writing is InvalidArgument."""
        return self._handle.read_only

    @property
    def metadata(self) -> dict[str, Any]:
        """The metadata document, as it is stored."""
        return self._handle.metadata

    def keys(self) -> list[str]:
        """The names of the direct members, sorted; of broken ones, too."""
        return [name for name, _ in self._handle.members()]

    def _each_member(self) -> Iterator[tuple[str, str, Any]]:
        """Name, kind and node of each member; the Error in place of the node of one that cannot be opened."""
        for name, kind in self._handle.members():
            try:
                yield name, kind, wrap(self._handle.open(name))
            except (Corrupt, Unsupported, Io, NotFound) as error:
                yield name, kind, error

    def _open_members(self, kind: str | None) -> list[tuple[str, Any]]:
        opened = []
        for name, found, node in self._each_member():
            if kind not in (None, found) and found != "unknown":
                continue
            if isinstance(node, Error):
                warnings.warn(f"member {name!r} is left out: {node}", BrokenMemberWarning, stacklevel=3)
            else:
                opened.append((name, node))
        return opened

    def arrays(self) -> list[tuple[str, _sherd.Array]]:
        """Names and handles of the arrays directly below, sorted by name; see members()."""
        return self._open_members("array")

    def groups(self) -> list[tuple[str, Group]]:
        """Names and handles of the groups directly below, sorted by name; see members()."""
        return self._open_members("group")

    def members(self) -> list[tuple[str, _sherd.Array | Group]]:
        """Names and handles of all direct members, sorted by name. One that cannot be opened is left out with a
        BrokenMemberWarning; group[name] raises what is wrong with it."""
        return self._open_members(None)

    def tree(self) -> Tree:
        """Everything below as text: print(group.tree()). A node that cannot be opened is shown with its error."""
        return Tree(self)

    def __getitem__(self, path: str) -> _sherd.Array | Group:
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
        except InvalidArgument:  # nothing is called so
            return False

    def __delitem__(self, path: str) -> None:
        _arguments.text(path, "a member's path")
        try:
            self._handle.erase(path)
        except NotFound as error:
            raise KeyError(path) from error

    def __iter__(self) -> Iterator[str]:
        return iter(self.keys())

    def __len__(self) -> int:
        return len(self._handle.members())

    def create_group(self, path: str, *, attributes: dict[str, Any] | None = None, overwrite: bool = False) -> Group:
        """Creates a group below this one, and missing groups on the path. An existing node is a Conflict, unless
        it is to be overwritten, which erases it and its members; a file that is no part of them is Conflict even then."""
        _arguments.new_name(path, "path")
        _arguments.flag(overwrite, "overwrite")
        return Group(self._handle.create_group(path, {} if attributes is None else attributes, overwrite))

    def create_array(self, name: str, **options: Any) -> _sherd.Array:
        """Makes an array below this group, and the groups on the way to it. Takes the keywords of sherd.create_array."""
        _arguments.new_name(name, "name")
        return make_array(lambda made: self._handle.create_array(name, made), **options)

    def __repr__(self) -> str:
        return f"<sherd.Group {self.url}{', read-only' if self.read_only else ''}>"

    def __reduce__(self) -> Any:
        return self._handle.__reduce__()


class Tree:
    """The names below a group, indented by depth."""

    def __init__(self, group: Group) -> None:
        name = group.path.rpartition("/")[2] or "/"
        self._lines = [name, *self._below(group, "")]

    def _below(self, group: Group, indent: str) -> Iterator[str]:
        members = list(group._each_member())
        for i, (name, _, node) in enumerate(members):
            last = i + 1 == len(members)
            branch, deeper = ("└── ", "    ") if last else ("├── ", "│   ")
            if isinstance(node, Error):
                yield f"{indent}{branch}{name} ! {node}"
            elif isinstance(node, Group):
                yield indent + branch + name
                yield from self._below(node, indent + deeper)
            else:
                yield f"{indent}{branch}{name} {node.shape} {node._type_name}"

    def __str__(self) -> str:
        return "\n".join(self._lines)

    __repr__ = __str__
