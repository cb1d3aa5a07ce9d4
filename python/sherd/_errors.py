"""The exceptions of Sherd. Programs should test `code`, never the text."""

from __future__ import annotations

import errno
import os
import re


def _named(message: str, member: str | None) -> str:
    """The message, prefixed with the argument that it is about unless it names it already."""
    name = re.sub(r"\[\d+\]", "", member).split(".")[-1] if member else ""
    return message if not name or re.search(rf"\b{re.escape(name)}\b", message) else f"{member}: {message}"


class Error(Exception):
    """The base class of all failures of Sherd.

    code: one of invalid_argument, corrupt, unsupported, not_found, conflict, io, unavailable.
    key: the key of the object in the store, if known.
    slot: the number of the inner chunk inside the shard, if known.
    member: the member of a metadata document, such as "codecs[0].configuration.level", or the argument, if known.
    """

    code: str = "unavailable"
    key: str | None = None
    slot: int | None = None
    member: str | None = None

    def __init__(
        self, message: str = "", *, key: str | None = None, slot: int | None = None, member: str | None = None
    ) -> None:
        super().__init__(message if key else _named(message, member))
        self.key = key
        self.slot = slot
        self.member = member

    def __str__(self) -> str:
        return str(self.args[0]) if self.args else ""

    def __reduce__(self) -> tuple[object, ...]:
        state = {"key": self.key, "slot": self.slot, "member": self.member}
        if isinstance(self, OSError):
            state["errno"] = self.errno
        return type(self), self.args, state


class InvalidArgument(Error, ValueError):
    """The request itself is wrong."""

    code = "invalid_argument"


class Corrupt(Error):
    """Stored bytes contradict their format."""

    code = "corrupt"


class Unsupported(Error):
    """Valid, but not supported by Sherd, or beyond one of its limits."""

    code = "unsupported"


class NotFound(Error, FileNotFoundError):
    """The named object does not exist. `errno` is ENOENT, or the error of the system call."""

    code = "not_found"
    errno: int | None = errno.ENOENT


class Conflict(Error):
    """The object exists already, or another writer was first."""

    code = "conflict"


class Io(Error, OSError):
    """The operating system or a server failed. `errno` is that of the system call, or None if a server failed."""

    code = "io"


class Unavailable(Error):
    """A resource ran out, or the call was interrupted."""

    code = "unavailable"


class OutOfMemory(Unavailable, MemoryError):
    """Memory ran out."""


class BrokenMemberWarning(UserWarning):
    """A member of a group cannot be opened and is left out."""


class NodeNameWarning(UserWarning):
    """The name of a new node is not in Unicode's form NFKC: another name may look the same."""


CLASSES = {error.code: error for error in (InvalidArgument, Corrupt, Unsupported, NotFound, Conflict, Io, Unavailable)}


# The engine has one code for all resources.
MEMORY_RAN_OUT = ("out of memory", "no memory", "Cannot allocate memory")


# Longest text first, because one text may end with another.
_SYSTEM_TEXTS = sorted(((os.strerror(number), number) for number in errno.errorcode), key=lambda pair: -len(pair[0]))


def _number(text: str) -> int | None:
    """The errno in the engine's text, which contains the system's message but not its number."""
    return next((number for words, number in _SYSTEM_TEXTS if f": {words}" in text), None)


def make(code: str, text: str, key: str | None, slot: int | None, member: str | None) -> Error:
    """The exception for an error of the engine."""
    no_memory = code == "unavailable" and any(words in text for words in MEMORY_RAN_OUT)
    kind = OutOfMemory if no_memory else CLASSES[code]
    error = kind(text, key=key, slot=slot)
    error.member = member  # which the engine's text contains
    if isinstance(error, OSError):
        error.errno = _number(text) or error.errno
    return error
