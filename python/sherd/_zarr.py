"""A Store of Sherd for zarr-python, which is imported only when one is created."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import _sherd

if TYPE_CHECKING:
    from ._zarr_store import ZarrStore


def zarr_store(store: _sherd.Store, *, read_only: bool = False) -> ZarrStore:
    """A store for zarr-python (version 3) with the objects of a Store: zarr-python, and libraries based on it, then
    read and write the same arrays, also in memory.

        store = sherd.MemoryStore()
        sherd.save(store, data)
        zarr.open_array(sherd.zarr_store(store), mode="r")

    zarr-python encodes and decodes; the store locks and replaces objects. For a directory its path is sufficient.
    """
    from ._zarr_store import ZarrStore

    if not isinstance(store, _sherd.Store):
        raise TypeError(f"store must be a sherd.Store, not {type(store).__name__}; sherd.Store(path) is one")
    return ZarrStore(store, read_only=read_only)
