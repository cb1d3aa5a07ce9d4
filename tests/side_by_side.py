"""Runs the same call with zarr-python and with Sherd, and compares what comes of it."""

import numpy as np
import sherd
import zarr

KINDS = {
    "exists": (sherd.Conflict, zarr.errors.ContainsArrayError, zarr.errors.ContainsGroupError, FileExistsError),
    "not there": (FileNotFoundError, zarr.errors.NodeNotFoundError),
    **{kind.__name__: kind for kind in (IndexError, KeyError, TypeError, ValueError)},
}


def new_store(module):
    return sherd.MemoryStore() if module is sherd else zarr.storage.MemoryStore()


def plain(value):
    """What of a result both have in common."""
    if isinstance(value, (zarr.Array, sherd.Array)):
        facts = value.shape, value.dtype.str, value.chunks, value.shards, value.path, value.read_only
        return "array", *facts, plain(value.fill_value), plain(value[...]), dict(value.attrs)
    if isinstance(value, (zarr.Group, sherd.Group)):
        return "group", value.path, value.read_only, dict(value.attrs)
    if isinstance(value, (np.ndarray, np.generic)):
        return np.shape(value), value.dtype.str, np.asarray(value).tolist()
    if isinstance(value, dict):
        return {name: plain(each) for name, each in value.items()}
    if isinstance(value, (str, bytes, int, float)) or value is None:
        return value
    return sorted((plain(each) for each in value), key=repr)


def outcome(module, call):
    try:
        return plain(call(module))
    except Exception as error:
        return next((f"an error: {name}" for name, kind in KINDS.items() if isinstance(error, kind)), repr(error))


def assert_same(call):
    theirs, ours = outcome(zarr, call), outcome(sherd, call)
    assert ours == theirs
