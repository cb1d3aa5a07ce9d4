#!/usr/bin/env python3
"""Writes value_codecs.json: what zarr-python makes of small chunks with cast_value and scale_offset.

    python3.13 -m venv venv && venv/bin/pip install zarr==3.4.2 cast-value-rs==0.5.1
    venv/bin/python make_value_codecs.py

Every case has the array->array codecs of an array, its type, one chunk's elements, its bytes in the store (little-endian)
and what is read back, each in hex; "encoded" or "read" is null where zarr-python raises an error.
"""

import json
import pathlib
import warnings

import numpy as np
import zarr

warnings.simplefilter("ignore")
np.seterr(all="ignore")
INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
FLOATS = ["float16", "float32", "float64"]
ROUNDINGS = ["nearest-even", "towards-zero", "towards-positive", "towards-negative", "nearest-away"]
BYTES = {"name": "bytes", "configuration": {"endian": "little"}}
cases = []


def add(codecs, values, fill=0):
    metadata = {
        "zarr_format": 3, "node_type": "array", "shape": list(values.shape), "data_type": str(values.dtype),
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": list(values.shape)}},
        "chunk_key_encoding": {"name": "default"}, "fill_value": fill, "codecs": [*codecs, BYTES], "attributes": {},
    }
    stored = {}
    store = zarr.storage.MemoryStore(stored)
    stored["zarr.json"] = zarr.core.buffer.cpu.Buffer.from_bytes(json.dumps(metadata).encode())
    encoded = read = None
    try:
        array = zarr.open_array(store, mode="r+", config={"write_empty_chunks": True})
        array[:] = values
        encoded = stored["c/0"].to_bytes().hex()
        read = array[:].tobytes().hex()
    except Exception as error:
        assert isinstance(error, ValueError), error
    cases.append({"codecs": codecs, "dtype": str(values.dtype), "decoded": values.tobytes().hex(), "encoded": encoded,
                  "read": read})


def cast(target, **rules):
    return {"name": "cast_value", "configuration": {"data_type": target, **rules}}


def values_of(source, target):
    if source in INTEGERS:
        info = np.iinfo(source)
        values = [info.min, info.max, info.max - 1, info.max // 3, 77, 2049 if info.bits > 8 else 5, 1]
        if info.bits == 64:
            values.append(2**62 + 2**38 + 1)
        return np.array(values, source)
    values = [0.5, 1.5, -2.5, 2.4999, -0.0, 100.75, -1e-7, 300.3, -40000.5]
    if source == "float64":
        values += [1e-45, 1 + 2.0**-24, 1 + 2.0**-11, 65519.99, 65520, -1e39, 2.0**63, 3.40282356e38, 1e-308]
    return np.array(values, source)


for source in INTEGERS + FLOATS:
    for target in INTEGERS + FLOATS:
        values = values_of(source, target)
        rounds = source in FLOATS or target in FLOATS
        for rounding in ROUNDINGS if rounds and source != target else ROUNDINGS[:1]:
            add([cast(target, rounding=rounding, out_of_range="clamp")], values)
        if target in INTEGERS:
            add([cast(target, out_of_range="wrap")], values)
        add([cast(target)], values[-1:])
        add([cast(target)], values[:1])

specials = np.array([np.nan, np.inf, -np.inf, -0.0, 3], "float32")
numpy_like = {"encode": [["NaN", 0], ["Infinity", 0], ["-Infinity", 0]]}
add([cast("uint8", rounding="towards-zero", out_of_range="wrap", scalar_map=numpy_like)], specials)
add([cast("int8", scalar_map={"encode": [["NaN", -128], ["Infinity", 127], ["-Infinity", -127], [0, 5]],
                              "decode": [[-128, "NaN"], [127, "Infinity"], [-127, "-Infinity"]]})], specials)
add([cast("int8", scalar_map={"encode": [["NaN", -128]]})], specials)
add([cast("int8", out_of_range="clamp")], specials[1:2])
add([cast("int8", out_of_range="wrap")], specials[:1])
for target in FLOATS:
    add([cast(target)], specials)
add([cast("float32", scalar_map={"encode": [[7, "NaN"]], "decode": [["NaN", 7]]})], np.array([7, 8], "int16"))

for dtype in INTEGERS + FLOATS:
    small = np.array([10, 11, 13, 40], dtype)
    for configuration in [{}, {"offset": 3}, {"scale": 2}, {"offset": 10, "scale": 3}, {"offset": 12}, {"scale": 100}]:
        add([{"name": "scale_offset", "configuration": configuration}], small, 40)
for dtype in FLOATS:
    values = np.array([0.1, -3.7, 1000.3, 6.1e-5, np.nan, np.inf], dtype)
    for configuration in [{"offset": 0.3, "scale": 0.1}, {"offset": -1e-3, "scale": 7.7}]:
        add([{"name": "scale_offset", "configuration": configuration}], values)
least = np.iinfo("int8").min  # not int64, which zarr-python lets wrap around though the specification forbids it
for configuration in [{"scale": -1}, {"offset": 1}]:
    add([{"name": "scale_offset", "configuration": configuration}], np.array([least], "int8"))
    add([{"name": "scale_offset", "configuration": configuration}], np.array([least + 1, 5], "int8"))
add([{"name": "scale_offset", "configuration": {"offset": 1000}}, cast("uint8")], np.array([1000, 1255], "uint16"), 1000)
add([{"name": "scale_offset", "configuration": {"offset": 1000}}, cast("uint8")], np.array([1000, 1256], "uint16"), 1000)
add([{"name": "scale_offset", "configuration": {"offset": -10, "scale": 0.1}},
     cast("uint8", scalar_map={"encode": [["NaN", 0]], "decode": [[0, "NaN"]]})],
    np.array([0, 10.4, 2540, np.nan], "float64"))

path = pathlib.Path(__file__).with_name("value_codecs.json")
path.write_text('{"cases": [\n' + ",\n".join(map(json.dumps, cases)) + "\n]}\n")
