"""Creates arrays: the keywords of create_array, for all functions that create one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import numpy as np

from . import _arguments, _blocks, _options, _sherd
from ._array import Array
from ._errors import Error, InvalidArgument


def is_stored(data: Any) -> bool:
    """Whether the data are read in parts: an array of Sherd, zarr-python, dask or xarray, or a dataset of h5py."""
    return isinstance(data, Array) or (hasattr(data, "chunks") and hasattr(data, "shape") and not isinstance(data, np.ndarray))


def _write(array: Array, data: Any) -> None:
    for box in _blocks.boxes(array) if is_stored(data) else [...]:
        array[box] = data[box] if box else data  # h5py has bytes for a single text, which do not say that they are text


def make_array(
    create: Callable[[dict[str, Any]], _sherd.Array],
    *,
    shape: Any = None,
    dtype: Any = None,
    data: Any = None,
    chunks: Any = "auto",
    shards: Any = None,
    filters: Any = "auto",
    serializer: Any = "auto",
    compressors: Any = "auto",
    codecs: Any = None,
    index_location: str = "end",
    index_codecs: Any = None,
    fill_value: Any = None,
    chunk_key_encoding: Any = None,
    dimension_names: Any = None,
    attributes: Any = None,
    volume: Any = None,
    order: str | None = None,
    overwrite: bool = False,
    config: dict[str, Any] | None = None,
    **unknown: Any,
) -> Array:
    """Calls `create` with the options for the engine, which include a function that writes the data, if any."""
    for name in unknown:
        near = _sherd.did_you_mean(name, list(make_array.__kwdefaults__))
        raise TypeError(f"create_array() got an unexpected keyword argument {name!r}{near}")
    _arguments.flag(overwrite, "overwrite")
    _arguments.attributes(attributes)
    if order is not None:
        config = {**(config or {}), "order": order}
    if data is not None and not is_stored(data):
        if np.ma.is_masked(data):
            raise InvalidArgument("masked elements have no value to store; set one with filled()", member="data")
        data = np.asarray(data)
    if data is not None and data.shape is None:
        raise InvalidArgument("has no elements, but an empty dataspace of HDF5", member="data")
    if data is not None and shape is not None and tuple(np.atleast_1d(shape)) != tuple(data.shape):
        raise InvalidArgument(f"data has shape {data.shape}, shape says {shape}", member="shape")
    options = _options.node(
        shape=shape,
        dtype=dtype,
        data=data,
        fill_value=fill_value,
        chunk_key_encoding=chunk_key_encoding,
        dimension_names=dimension_names,
        attributes=attributes,
        volume=volume,
        overwrite=overwrite,
        config=config,
    )
    options |= _options.layout(chunks, shards)
    options |= _options.codecs(
        filters=filters,
        serializer=serializer,
        compressors=compressors,
        codecs=codecs,
        index_location=index_location,
        index_codecs=index_codecs,
        compressor="gzip:6" if _options.is_dual_format(config) else "zstd:3",
    )
    # How Zarr v2 stores elements; other formats ignore it.
    if _options.is_big_endian(_options.numpy_dtype(dtype, data)):
        options["big_endian"] = True
    if order == "F":
        options["fortran_order"] = True
    if data is not None:
        options["contents"] = lambda array: _write(array, data)
    given = {"chunks": chunks, "filters": filters, "serializer": serializer}
    try:
        return cast(Array, create(options))
    except Error as error:
        named = _options.argument_of(error.member, given) if error.member and error.key is None else error.member
        if named == error.member:
            raise
        text = str(error).replace(str(error.member), str(named), 1)
        raise type(error)(text, slot=error.slot, member=named) from None
