"""Texts that h5py reads as bytes."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._errors import InvalidArgument


def is_hdf5_text(data: Any) -> bool:
    """Whether these are texts of HDF5: a dataset of h5py, an array that was read from one, or a lazy object over it."""
    metadata = getattr(getattr(data, "dtype", None), "metadata", None)
    return (metadata or {}).get("vlen") in (str, bytes)


def decoded(data: Any) -> Any:
    """The texts as an array of str; other data are returned unchanged. Called for elements that are texts."""
    if not is_hdf5_text(data):
        return data
    values = np.asarray(data[()] if hasattr(data, "asstr") else data, object)
    found = np.empty(values.shape, object)
    try:
        found.flat = [each.decode() if isinstance(each, bytes) else each for each in values.flat]
    except UnicodeDecodeError as error:
        text = f'text that is not UTF-8 ({error.object!r}); an array of dtype="bytes" stores it as it is'
        raise InvalidArgument(text) from error
    return found
