"""Writes small_floats.json: what ml_dtypes makes of every pattern of its types of up to eight bits, and of doubles.

"values": the doubles of the patterns 0, 1, 2, … as hexadecimal digits, "nan" for NaN. "rounded": doubles and the pattern
that each becomes: what is halfway between two neighbours, what is next to that on both sides, what is too large,
infinities and zeros; all of them are float32, because ml_dtypes rounds doubles to that first. Run with the packages of
requirements/python-test.txt.
"""

import json
import pathlib

import ml_dtypes
import numpy as np

FLOATS = ["float4_e2m1fn", "float6_e2m3fn", "float6_e3m2fn", "float8_e3m4", "float8_e4m3", "float8_e4m3b11fnuz", "float8_e4m3fn",
          "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz", "float8_e8m0fnu"]
INTEGERS = ["int2", "int4", "uint2", "uint4"]


def digits(value):
    return "nan" if np.isnan(value) else np.float64(value).view("u8").item().to_bytes(8).hex()


def patterns(dtype, bits):
    return np.arange(2**bits, dtype="u1").view(dtype).astype("f8")


def float_case(name):
    dtype = np.dtype(getattr(ml_dtypes, name))
    values = patterns(dtype, ml_dtypes.finfo(dtype).bits)
    finite = np.unique(values[np.isfinite(values)])
    middle = ((finite[:-1] + finite[1:]) / 2).astype("f4")
    top = np.float32(min(finite[-1] + (finite[-1] - finite[-2]) / 2, 3.4e38))
    below, above = np.float32(-np.inf), np.float32(np.inf)
    # What NaN becomes where there is none, and what has no value in a type of positive powers of two, is not asked for.
    tests = [*middle, *np.nextafter(middle, above), *np.nextafter(middle, below), top, np.nextafter(top, above),
             np.nextafter(top, below), 3.4e38, np.inf, 1e-40]
    if name == "float8_e8m0fnu":  # what ml_dtypes 0.6 makes of subnormal float32 is not the nearest
        tests = [value for value in tests if value >= np.finfo("f4").tiny]
    else:
        tests += [0.0, *(-value for value in tests), -0.0]
    with np.errstate(all="ignore"):
        tests = np.array(tests, "f4")
        rounded = tests.astype(dtype)
    words = [digits(value) if np.isnan(value) else int(word) for value, word in zip(rounded.astype("f8"), rounded.view("u1"))]
    return {"values": [digits(value) for value in values], "rounded": [[digits(a), b] for a, b in zip(tests, words)]}


def integer_case(name):
    dtype = np.dtype(getattr(ml_dtypes, name))
    return {"values": [digits(value) for value in patterns(dtype, ml_dtypes.iinfo(dtype).bits)], "rounded": []}


cases = {name: float_case(name) for name in FLOATS} | {name: integer_case(name) for name in INTEGERS}
path = pathlib.Path(__file__).with_name("small_floats.json")
path.write_text(json.dumps({"ml_dtypes": ml_dtypes.__version__, "types": cases}, separators=(",", ":")) + "\n")
