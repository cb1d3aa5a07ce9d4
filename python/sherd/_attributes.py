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
        return None  # and so no value that is stored


class Attributes(MutableMapping[str, Any]):
    """The user's attributes of an array or a group. Values are what JSON can say. NaN and infinities, which JSON does not
    have and zarr-python stores, are read as floats; they can be stored again where they are, and nowhere else.

    Every change is one atomic write of the node's document, which keeps what other writers changed in the meantime;
    update() makes many changes in one. What is read is as this handle last saw the document: when it was opened, or at
    its last change. Values are copies: to change something inside one, assign it again.
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
        """Changes many attributes in one atomic write."""
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
