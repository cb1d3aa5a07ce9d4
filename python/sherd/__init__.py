"""Sharded, chunked N-dimensional arrays in Zarr and Neuroglancer's precomputed format, from one C++ engine.

    import sherd

    array = sherd.create_array("data.zarr", shape=(512, 512, 512), dtype="uint16", chunks=(64, 64, 64), shards="auto")
    array[10:20, 100:200, ::-1] = 7
    sherd.open("data.zarr")[15, 150]
"""

from . import draft2022, netcdf, neuroglancer, ome
from ._array import Array
from ._attributes import Attributes
from ._errors import (
    BrokenMemberWarning,
    Conflict,
    Corrupt,
    Error,
    InvalidArgument,
    Io,
    NodeNameWarning,
    NotFound,
    OutOfMemory,
    Unavailable,
    Unsupported,
)
from ._creation import (
    array,
    create,
    empty,
    empty_like,
    from_array,
    full,
    full_like,
    group,
    load,
    ones,
    ones_like,
    save,
    save_array,
    save_group,
    zeros,
    zeros_like,
)
from ._files import export, import_
from ._group import Group
from ._limits import limits_from_environment as _limits_from_environment
from ._nodes import consolidate_metadata, create_array, create_group, open, open_array, open_group
from ._record import record
from ._sherd import Appender, Config, MemoryStore, Store, config
from ._sherd import version as __version__
from ._tools import check, compact, copy, picture, repair
from ._zarr import zarr_store

__all__ = [
    "Appender",
    "Array",
    "Attributes",
    "BrokenMemberWarning",
    "Config",
    "Conflict",
    "Corrupt",
    "Error",
    "Group",
    "InvalidArgument",
    "Io",
    "MemoryStore",
    "NodeNameWarning",
    "NotFound",
    "OutOfMemory",
    "Store",
    "Unavailable",
    "Unsupported",
    "__version__",
    "array",
    "check",
    "compact",
    "config",
    "consolidate_metadata",
    "copy",
    "create",
    "create_array",
    "create_group",
    "draft2022",
    "empty",
    "empty_like",
    "export",
    "from_array",
    "full",
    "full_like",
    "group",
    "import_",
    "load",
    "netcdf",
    "neuroglancer",
    "ome",
    "ones",
    "ones_like",
    "open",
    "open_array",
    "open_group",
    "picture",
    "record",
    "repair",
    "save",
    "save_array",
    "save_group",
    "zarr_store",
    "zeros",
    "zeros_like",
]

for _public in (Appender, Array, Config, MemoryStore, Store):
    _public.__module__ = "sherd"
del _public

config.limits = _limits_from_environment(config.limits)
