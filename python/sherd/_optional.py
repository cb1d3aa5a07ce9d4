"""Converts optional elements between masked arrays of NumPy and the engine's form: a value, and whether it is
present."""

from typing import Any

import numpy as np


def _is_stored(dtype: np.dtype[Any]) -> bool:
    return dtype.names == ("value", "present")


def _is_masked(mask: np.ndarray[Any, Any], dtype: np.dtype[Any]) -> Any:
    """Which elements of `dtype` are masked. Structs have a mask for each field; they are masked if all fields are."""
    if _is_stored(dtype):
        return mask["present"]
    if dtype.names is None:
        return mask
    result = np.ones(mask.shape, bool)
    for name in dtype.names:
        field = _is_masked(mask[name], dtype[name].base)
        result &= field.all(axis=tuple(range(mask.ndim, field.ndim)))
    return result


def masked(stored: np.ndarray[Any, Any]) -> Any:
    """Elements of the engine as a masked array. For types that are optional twice, its elements are structs of "value"
    and "present"."""
    return np.ma.MaskedArray(stored["value"], mask=~stored["present"])


def stored(value: Any, dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    """Elements for the engine, of the struct `dtype`: from such structs, a masked array, values, or None."""
    if isinstance(value, np.ndarray) and value.dtype == dtype and not isinstance(value, np.ma.MaskedArray):
        present = value["present"]
        given = value["value"]
    else:
        inner = dtype["value"]
        array = np.ma.masked_all((), inner) if value is None or value is np.ma.masked else np.ma.asarray(value, inner)
        mask = np.ma.getmaskarray(array)
        present = ~_is_masked(mask, inner)
        given = array.data
    result = np.zeros(given.shape, dtype)
    result["present"] = present
    result["value"][present] = given[present]
    return result
