"""A Store of Sherd as a store of zarr-python."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable

from zarr.abc.store import ByteRequest, OffsetByteRequest, RangeByteRequest, Store, SuffixByteRequest
from zarr.core.buffer import Buffer, BufferPrototype, default_buffer_prototype

from . import _sherd
from ._errors import Corrupt


def _range(wanted: ByteRequest | None) -> tuple[int, int | None]:
    """Offset and length of the bytes that zarr-python requests; a length of None means to the end."""
    if wanted is None:
        return 0, None
    if isinstance(wanted, RangeByteRequest):
        return wanted.start, max(0, wanted.end - wanted.start)
    if isinstance(wanted, OffsetByteRequest):
        return wanted.offset, None
    if isinstance(wanted, SuffixByteRequest):
        return (-wanted.suffix, None) if wanted.suffix else (0, 0)
    raise ValueError(f"byte_range must be a ByteRequest, not {wanted!r}")


class ZarrStore(Store):
    """A store of zarr-python with the objects of a sherd.Store."""

    supports_writes = True
    supports_deletes = True
    supports_listing = True

    def __init__(self, store: _sherd.Store, *, read_only: bool = False) -> None:
        super().__init__(read_only=read_only)
        self._store = store

    def with_read_only(self, read_only: bool = False) -> ZarrStore:
        return type(self)(self._store, read_only=read_only)

    @property
    def store(self) -> _sherd.Store:
        """The Store with these objects."""
        return self._store

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ZarrStore) or self.read_only != other.read_only:
            return False
        url = self._store.url  # stores in memory have no URL of their own
        return self._store is other._store or (url == other._store.url and not url.startswith("memory:"))

    __hash__ = None

    def __str__(self) -> str:
        return self._store.url

    def __repr__(self) -> str:
        return f"sherd.zarr_store({self._store!r})"

    def get_sync(
        self, key: str, *, prototype: BufferPrototype | None = None, byte_range: ByteRequest | None = None
    ) -> Buffer | None:
        try:
            value = self._store.get(key, *_range(byte_range))
        except Corrupt:  # a directory is not an object
            value = None
        return None if value is None else (prototype or default_buffer_prototype()).buffer.from_bytes(value)

    def set_sync(self, key: str, value: Buffer) -> None:
        self._check_writable()
        if not isinstance(value, Buffer):
            raise TypeError(f"value must be a Buffer, not {type(value).__name__}")
        self._store.set(key, value.to_bytes())

    def delete_sync(self, key: str) -> None:
        self._check_writable()
        self._store.erase(key)

    async def get(
        self, key: str, prototype: BufferPrototype | None = None, byte_range: ByteRequest | None = None
    ) -> Buffer | None:
        return await asyncio.to_thread(self.get_sync, key, prototype=prototype, byte_range=byte_range)

    async def get_partial_values(
        self, prototype: BufferPrototype, key_ranges: Iterable[tuple[str, ByteRequest | None]]
    ) -> list[Buffer | None]:
        return list(await asyncio.gather(*(self.get(key, prototype, wanted) for key, wanted in key_ranges)))

    def _size(self, key: str) -> int | None:
        try:
            return self._store.size(key)
        except Corrupt:
            return None

    async def exists(self, key: str) -> bool:
        return await asyncio.to_thread(self._size, key) is not None

    async def getsize(self, key: str) -> int:
        size = await asyncio.to_thread(self._size, key)
        if size is None:
            raise FileNotFoundError(key)
        return size

    async def set(self, key: str, value: Buffer) -> None:
        await asyncio.to_thread(self.set_sync, key, value)

    async def delete(self, key: str) -> None:
        await asyncio.to_thread(self.delete_sync, key)

    async def list(self) -> AsyncIterator[str]:
        for key in await asyncio.to_thread(self._store.keys):
            yield key

    async def list_prefix(self, prefix: str) -> AsyncIterator[str]:
        below = prefix[: prefix.rfind("/") + 1]
        for key in await asyncio.to_thread(self._store.keys, below):
            if key.startswith(prefix):
                yield key

    async def list_dir(self, prefix: str) -> AsyncIterator[str]:
        below = prefix.rstrip("/")
        for name in await asyncio.to_thread(self._store.list_dir, below and below + "/"):
            yield name.rstrip("/")

