"""netCDF types and their values, converted between NumPy and the engine; indices and modes."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._errors import InvalidArgument

# By their names in CDL. Strings are lists of bytes in the engine, and objects in NumPy.
NUMPY = {
    "byte": np.dtype("i1"),
    "char": np.dtype("S1"),
    "short": np.dtype("i2"),
    "int": np.dtype("i4"),
    "float": np.dtype("f4"),
    "double": np.dtype("f8"),
    "ubyte": np.dtype("u1"),
    "ushort": np.dtype("u2"),
    "uint": np.dtype("u4"),
    "int64": np.dtype("i8"),
    "uint64": np.dtype("u8"),
    "string": np.dtype("O"),
}
_NAMES = {dtype: name for name, dtype in NUMPY.items()}


def modes(mode: str, compat: str | None) -> tuple[bool, bool, bool]:
    """The flags pure, noxarray and compat=seed for the modes of a URL's fragment."""
    given = {each.strip().lower() for each in mode.split(",")} - {"", "file", "nczarr"}
    if unknown := given - {"zarr", "xarray", "noxarray"}:
        raise InvalidArgument(f"the mode {sorted(unknown)[0]!r} is unknown; choose from nczarr, zarr, noxarray, file")
    if compat not in (None, "seed"):
        raise InvalidArgument(f"compat must be 'seed' or None, not {compat!r}")
    return bool(given & {"zarr", "xarray"}), "noxarray" in given, compat == "seed"


def expanded(key: Any, rank: int) -> list[Any]:
    """One integer or slice for each dimension."""
    parts = list(key) if isinstance(key, tuple) else [key]
    if not all(part is Ellipsis or isinstance(part, (slice, int, np.integer)) for part in parts):
        raise TypeError(f"a variable is indexed by integers, slices and '...', not {key!r}")
    gaps = sum(part is Ellipsis for part in parts)
    if gaps > 1 or len(parts) - gaps > rank:
        raise IndexError(f"too many indices: the variable has {rank} dimensions")
    at = next((i for i, part in enumerate(parts) if part is Ellipsis), len(parts))
    fill = [slice(None)] * (rank - len(parts) + gaps)
    return parts[:at] + fill + parts[at + gaps :]


def type_name(given: Any) -> str:
    """The CDL name of a type, given by that name or by anything that np.dtype() accepts; str is "string"."""
    if isinstance(given, str) and given in NUMPY:
        return given
    try:
        dtype = np.dtype(given)
    except TypeError:
        dtype = None
    if dtype is not None and dtype.kind in "UOT":
        return "string"
    name = None if dtype is None else _NAMES.get(dtype.newbyteorder("="))
    if name is None:
        raise InvalidArgument(f"type: netCDF has no type {given!r}; choose from {', '.join(NUMPY)}", member="type")
    return name


def _bytes_of(text: Any) -> bytes:
    if isinstance(text, str):
        return text.encode("utf-8", "surrogateescape")
    if isinstance(text, (bytes, bytearray)):
        return bytes(text)
    raise TypeError(f"texts are str or bytes, not {type(text).__name__}")


def _texts(value: Any) -> Any:
    """Texts as NumPy's S type, for a variable of characters."""
    array = np.asarray(value)
    if array.dtype.kind in "UOT":
        array = np.array([_bytes_of(each) for each in array.ravel().tolist()], "S").reshape(array.shape)
    if array.dtype.kind != "S":
        raise TypeError(f"the elements of a variable of characters are bytes or texts, not {array.dtype}")
    return array


def _plain_integers(value: Any) -> Any:
    """Python integers as an array of objects; None if there is anything else. NumPy converts integers without a common
    type to floats."""
    if not isinstance(value, (int, list, tuple)):
        return None
    array = np.asarray(value, object)
    return array if all(type(each) is int for each in array.ravel().tolist()) else None


def _numbers(value: Any, dtype: np.dtype[Any]) -> Any:
    plain = _plain_integers(value) if dtype.kind in "iu" else None
    if plain is not None:
        limits = np.iinfo(dtype)
        if plain.size and (plain.min() < limits.min or plain.max() > limits.max):
            raise OverflowError(f"a value does not fit into {dtype}")
        return plain.astype(dtype)
    array = np.asarray(value)
    if array.dtype.kind not in "biuf":
        raise TypeError(f"the elements are numbers, not {array.dtype}")
    if dtype.kind in "iu" and array.dtype.kind == "f":
        raise TypeError(f"floats are not stored in a variable of {dtype}; round them first")
    with np.errstate(over="ignore"):
        made = array.astype(dtype)
    fits = made == array if dtype.kind in "iu" else np.isfinite(made) | ~np.isfinite(array)
    if not fits.all():
        raise OverflowError(f"a value does not fit into {dtype}")
    return made


def elements(kind: str, value: Any) -> Any:
    """An array of the type; for strings an array of bytes objects, for characters an array of texts."""
    if kind == "char":
        return _texts(value)
    if kind != "string":
        return _numbers(value, NUMPY[kind])
    array = np.asarray(value, object) if not isinstance(value, (str, bytes)) else None
    made = np.empty(() if array is None else array.shape, object)
    made.ravel()[...] = [_bytes_of(each) for each in ([value] if array is None else array.ravel().tolist())]
    return made


def filled(kind: str, value: np.ma.MaskedArray[Any, Any], fill: Any) -> Any:
    """elements() of a masked array, with masked elements set to the fill value; values behind the mask are ignored."""
    mask = np.ma.getmaskarray(value)
    masked = elements(kind, fill)
    if mask.all():
        return np.broadcast_to(masked, mask.shape)
    data = np.array(value.data)
    data[mask] = "" if kind in ("char", "string") else 0
    return np.where(mask, masked, elements(kind, data))


def characters(texts: Any, length: int) -> Any:
    """The single bytes of texts, along one additional dimension, padded with NULs. It has the given length, or that of
    the longest text if this is greater."""
    width = max(length, texts.dtype.itemsize)
    padded = np.ascontiguousarray(texts.astype(f"S{width}")).reshape(-1)
    return padded.view("S1").reshape(*texts.shape, width)


def stored(array: Any) -> Any:
    """The result of elements() in the form that the engine accepts."""
    return array.ravel().tolist() if array.dtype == object else np.ascontiguousarray(array)


def _whole_type(low: int, high: int) -> str:
    if -(2**31) <= low and high < 2**31:
        return "int"
    if -(2**63) <= low and high < 2**63:
        return "int64"
    if low >= 0 and high < 2**64:
        return "uint64"
    raise OverflowError(f"no netCDF type can store integers from {low} to {high}")


def _inferred(value: Any) -> str:
    """The type of an attribute: that of NumPy values; whole numbers have the smallest of int, int64 and uint64."""
    if isinstance(value, (str, bytes)):
        return "char"
    plain = _plain_integers(value)
    if plain is not None and plain.size:
        return _whole_type(plain.min(), plain.max())
    array = np.asarray(value)
    if isinstance(value, (np.ndarray, np.generic)) and array.dtype.kind in "iuf":
        return "float" if array.dtype == np.float16 else type_name(array.dtype)
    if array.dtype.kind in "iu":
        return _whole_type(int(array.min()), int(array.max())) if array.size else "int"
    names = {"b": "ubyte", "f": "double", "U": "string", "S": "string", "T": "string", "O": "string"}
    if array.dtype.kind not in names:
        raise InvalidArgument(f"netCDF has no type for an attribute of {array.dtype}")
    return names[array.dtype.kind]


def _attribute_values(value: Any, chosen: str | None) -> tuple[str, Any]:
    chosen = _inferred(value) if chosen is None else chosen
    if chosen == "char":
        if isinstance(value, np.ndarray) and value.dtype.kind == "S":
            value = value.tobytes()
        return chosen, _bytes_of(value)
    array = elements(chosen, value)
    if array.ndim > 1:
        raise InvalidArgument("it is a list of lists; netCDF has lists of values only")
    return chosen, stored(array.reshape(-1))


def attribute(name: str, value: Any, kind: Any = None) -> tuple[str, str, Any]:
    """An attribute in the form that the engine accepts: its name, its type, and one value or a list of values. Errors
    name the attribute."""
    chosen = None if kind is None else type_name(kind)
    try:
        return name, *_attribute_values(value, chosen)
    except (TypeError, OverflowError) as error:
        raise type(error)(f"the attribute {name!r}: {error}") from None
    except ValueError as error:
        raise InvalidArgument(f"the attribute {name!r}: {error}") from None
