"""Adds files of the installed version of pcodec to pcodec_files.json: all modes, differences and types that it writes.

    for version in 0.1.0 0.2.0 0.3.6 1.1.0; do
      python3 -m venv venv-$version && venv-$version/bin/pip install numpy pcodec==$version
      venv-$version/bin/python make_pcodec_files.py
    done
"""
import importlib.metadata
import json
import pathlib

import numpy
import pcodec
from pcodec import ChunkConfig, PagingSpec, standalone

VERSION = importlib.metadata.version("pcodec")
COUNT = 300
PATH = pathlib.Path(__file__).with_name("pcodec_files.json")


def arrays():
    rng = numpy.random.default_rng(5)
    for dtype in ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"):
        info = numpy.iinfo(dtype)
        walk = numpy.cumsum(rng.integers(-3, 4, COUNT)) * (7 if info.bits > 8 else 1) + (0 if info.min else 100)
        values = walk.astype(dtype)
        values[::50] = rng.choice(numpy.array([info.min, info.max], dtype), values[::50].size)
        yield dtype, values
    for dtype in ("float16", "float32", "float64"):
        values = numpy.round(rng.normal(0, 50, COUNT), 1).astype(dtype)
        values[::60] = rng.choice(numpy.array([-0.0, numpy.inf, -numpy.inf, numpy.nan, 1e-7], dtype), values[::60].size)
        yield dtype, values


def configurations(is_float):
    """Names and what they mean to this version; what it does not have is left out."""
    mode = getattr(pcodec, "ModeSpec", None)
    delta = getattr(pcodec, "DeltaSpec", None)
    yield "level 0", {"compression_level": 0}
    yield "level 12", {"compression_level": 12}
    yield "pages", {"paging_spec": PagingSpec.equal_pages_up_to(120)}
    for order in (1, 2, 7):
        spec = {"delta_spec": delta.try_consecutive(order)} if delta else {"delta_encoding_order": order}
        yield f"order {order}", spec
    if delta and hasattr(delta, "try_lookback"):
        yield "lookback", {"delta_spec": delta.try_lookback()}
    if delta and hasattr(delta, "try_conv1"):
        for order in (1, 6):
            yield f"convolution {order}", {"delta_spec": delta.try_conv1(order)}
    if mode is None:
        return
    yield "classic", {"mode_spec": mode.classic()}
    if is_float:
        yield "float_mult", {"mode_spec": mode.try_float_mult(0.1)}
        yield "float_quant", {"mode_spec": mode.try_float_quant(5)}
    else:
        yield "int_mult", {"mode_spec": mode.try_int_mult(7)}
    if hasattr(mode, "try_dict"):
        yield "dictionary", {"mode_spec": mode.try_dict()}
        yield "dictionary lookback", {"mode_spec": mode.try_dict(), "delta_spec": delta.try_lookback()}


def files():
    more = {"enable_8_bit": True} if int(VERSION[0]) > 0 else {}
    for dtype, values in arrays():
        if values.itemsize == 1 and not more or VERSION == "0.1.0" and values.itemsize == 2:
            continue
        for name, options in configurations(values.dtype.kind == "f"):
            if "convolution" in name and values.itemsize == 8:
                continue  # pcodec has no convolutions of 64 bits
            file = standalone.simple_compress(values, ChunkConfig(**options, **more))
            yield {"version": VERSION, "dtype": dtype, "name": name, "file": file.hex()}


document = json.loads(PATH.read_text()) if PATH.exists() else {"files": []}
others = [each for each in document["files"] if each["version"] != VERSION]
rows = sorted(others + list(files()), key=lambda row: row["version"])
elements = {dtype: values.tobytes().hex() for dtype, values in arrays()}
lines = ",\n".join(json.dumps(row) for row in rows)
PATH.write_text('{"elements": ' + json.dumps(elements) + ',\n"files": [\n' + lines + "\n]}\n")
