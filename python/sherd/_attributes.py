"""The attributes of a node as a mapping."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, MutableMapping
from typing import Any

from . import _arguments
from ._errors import InvalidArgument


def _text(value: Any) -> str | None:
    try:
        return json.dumps(value)
    except (TypeError, ValueError, RecursionError):
        return None  # so no stored value is equal to it


class Attributes(MutableMapping[str, Any]):
    """The user's attributes of an array or a group. Values are JSON values. NaN and infinities, which JSON does not
    have but zarr-python stores, are read as floats; they can only be stored again under the same name.

    Every change is one atomic write of the node's document, which preserves changes by other writers; update() makes
    several changes in one write. Reads return the document as this handle last saw it: when it was opened, or at its
    last change. Values are copies: to change part of one, assign it again.
    """

    def __init__(self, node: Any) -> None:
        self._node = node

    def __getitem__(self, name: str) -> Any:
        return self._node._attributes()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._node._attributes())

    def __len__(self) -> int:
        return len(self._node._attributes())

    def __contains__(self, name: object) -> bool:
        return name in self._node._attributes()

    def __setitem__(self, name: str, value: Any) -> None:
        self.update({name: value})

    def __delitem__(self, name: str) -> None:
        if not isinstance(name, str) or not self._node._remove_attribute(name):
            raise KeyError(name)

    def update(self, other: Any = (), /, **more: Any) -> None:
        """Changes several attributes in one atomic write."""
        changes = {**dict(other), **more}
        if changes:
            self._node._update_attributes(self._checked(changes))

    def clear(self) -> None:
        """Removes all attributes in one atomic write."""
        self._node._set_attributes({})

    def put(self, attributes: Mapping[str, Any]) -> None:
        """Replaces all attributes in one atomic write."""
        self._node._set_attributes(self._checked(dict(attributes)))

    def _checked(self, attributes: dict[str, Any]) -> dict[str, Any]:
        try:
            _arguments.attributes(attributes)
        except InvalidArgument:
            present = self._node._attributes()
            _arguments.attributes({name: each for name, each in attributes.items() if _text(each) != _text(present.get(name))})
        return attributes

    def asdict(self) -> dict[str, Any]:
        """A copy as a dict."""
        return dict(self._node._attributes())

    def _ipython_key_completions_(self) -> list[str]:
        return list(self)

    def __repr__(self) -> str:
        return repr(self._node._attributes())
