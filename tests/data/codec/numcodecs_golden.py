#!/usr/bin/env python3
"""Writes numcodecs_golden.json: what numcodecs makes of small chunks, for tests/codec/numcodecs_golden_test.cc.

Needs zarr==3.1.6 (which names the codecs) and numcodecs==0.16.6. Every case holds a codec as metadata names it, the
element type, the decoded and the encoded bytes in hex, and whether another encoder must give the same bytes.
"""

import json
import pathlib
import warnings

import numcodecs
import numpy as np

warnings.simplefilter("ignore")
rng = np.random.default_rng(20240601)
cases = []


def add(name, configuration, data, *, exact, encoded=None, codec=None, decoded=None):
    """`decoded` stands for what comes back where that is not `data`."""
    codec = codec or numcodecs.get_codec({"id": name.removeprefix("numcodecs."), **configuration})
    encoded = encoded if encoded is not None else bytes(np.ascontiguousarray(codec.encode(data)).view("u1"))
    case = {
        "codec": {"name": name, "configuration": configuration},
        "dtype": str(data.dtype),
        "shape": list(data.shape),
        "decoded": data.tobytes().hex(),
        "encoded": encoded.hex(),
        "exact": exact,
    }
    if decoded is not None:
        case["read"] = decoded.tobytes().hex()
    cases.append(case)


ramp = np.arange(150, dtype="<i4") * 3
noise = rng.integers(0, 256, 120, dtype="u1")
one = np.array([7], "<u2")

for shuffle_number, shuffle in enumerate(["noshuffle", "shuffle", "bitshuffle"]):
    for cname in ["blosclz", "lz4", "lz4hc", "zlib", "zstd"]:
        for data in [ramp, noise, one]:
            settings = {"cname": cname, "clevel": 5, "blocksize": 0, "typesize": data.itemsize}
            codec = numcodecs.Blosc(**settings, shuffle=shuffle_number)
            add("blosc", {**settings, "shuffle": shuffle}, data, exact=False, codec=codec)
            if cname == "zstd":
                add("numcodecs.blosc", {**settings, "shuffle": shuffle_number}, data, exact=False, codec=codec)
add("numcodecs.blosc", {}, ramp, exact=False)
add("blosc", {"cname": "lz4", "clevel": 0, "shuffle": "noshuffle", "blocksize": 0}, ramp, exact=True,
    codec=numcodecs.Blosc(cname="lz4", clevel=0, shuffle=0, typesize=1))
wide = np.arange(20000, dtype="<u4")
blocks = numcodecs.Blosc(cname="lz4", clevel=9, shuffle=1, blocksize=4096, typesize=4)
add("blosc", {"cname": "lz4", "clevel": 9, "shuffle": "shuffle", "blocksize": 4096, "typesize": 4}, wide[:4321],
    exact=False, codec=blocks)

for data in [ramp, noise, one]:
    add("numcodecs.lz4", {"acceleration": 1}, data, exact=False)
    for level in [1, 9]:
        add("numcodecs.bz2", {"level": level}, data, exact=True)
    add("numcodecs.lzma", {}, data, exact=False)
    for check in [0, 1, 4, 10]:
        add("numcodecs.lzma", {"format": 1, "check": check, "preset": 3, "filters": None}, data, exact=False)
    add("numcodecs.lzma", {"format": 2, "check": -1, "preset": 1, "filters": None}, data, exact=False)
    delta_lzma2 = [{"id": 3, "dist": 4}, {"id": 0x21, "preset": 6, "dict_size": 65536}]
    add("numcodecs.lzma", {"format": 3, "check": -1, "preset": None, "filters": delta_lzma2}, data, exact=False)
    lzma1 = [{"id": 0x4000000000000001, "dict_size": 65536, "lc": 3, "lp": 0, "pb": 2, "mode": 2, "nice_len": 64,
              "mf": 0x14, "depth": 0}]
    add("numcodecs.lzma", {"format": 3, "filters": lzma1}, data, exact=False)
    if data.nbytes % 4 == 0:
        add("numcodecs.lzma", {"format": 3, "filters": [{"id": 4}, {"id": 0x21, "preset": 0}]}, data, exact=False)

two = [numcodecs.BZ2(level=1).encode(part) for part in (ramp[:50], ramp[50:])]
add("numcodecs.bz2", {"level": 1}, ramp, exact=False, encoded=b"".join(two))
two = [numcodecs.LZMA().encode(part) for part in (ramp[:50], ramp[50:])]
add("numcodecs.lzma", {}, ramp, exact=False, encoded=b"".join(two))

for size in [1, 2, 3, 4, 5, 8, 12, 16]:
    for count in [0, 1, 15, 16, 17, 100]:
        add("numcodecs.shuffle", {"elementsize": size}, rng.integers(0, 256, size * count, dtype="u1"), exact=True)

names = ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8"]
for source in names:
    if source[0] == "f":
        values = (rng.integers(-100, 100, 12) / 4).astype(source)
    else:
        low, high = np.iinfo(source).min, np.iinfo(source).max
        values = rng.integers(low, high, 12, dtype=source, endpoint=True)
        small = rng.integers(0, 100, 12, dtype=source)
    for target in names:
        configuration = {"dtype": np.dtype(source).str, "astype": np.dtype(target).str}
        codec = numcodecs.Delta(**configuration)
        data = values  # of one type, integers wrap; otherwise all that is stored has to fit
        if source[0] != "f" and source != target:
            data = np.sort(small)
        elif source[0] == "f" and target[0] != "f":
            data = np.minimum(np.abs(values).cumsum(), 100).astype(source)
        encoded = codec.encode(data)
        add("numcodecs.delta", configuration, data, exact=True, codec=codec, decoded=codec.decode(encoded))
add("numcodecs.delta", {"dtype": "int16"}, np.array([5, 4, -3], "<i2"), exact=True)

# Only values whose conversion C++ defines: the others differ between processors.
for source in names:
    if source[0] == "f":
        values = rng.integers(0, 400, 12).astype(source) / 4
    else:
        values = rng.integers(3, 100, 12).astype(source)
    for target in names:
        for offset, scale in [(3, 1), (0.25, 1), (0, 0.5), (-0.5, 2), (0.0, 1.5)]:
            if target[0] == "u" and offset > 0:
                offset = -offset
            if source[0] == "u" and isinstance(offset, int) and offset < 0:
                continue
            configuration = {"offset": offset, "scale": scale, "dtype": source, "astype": np.dtype(target).str}
            codec = numcodecs.FixedScaleOffset(**configuration)
            encoded = codec.encode(values)
            add("numcodecs.fixedscaleoffset", configuration, values, exact=True, codec=codec,
                decoded=codec.decode(encoded))
wrapping = np.array([120, -128, 50], "i1")
codec = numcodecs.FixedScaleOffset(offset=-10, scale=3, dtype="i1", astype="<i2")
add("numcodecs.fixedscaleoffset", {"offset": -10, "scale": 3, "dtype": "|i1", "astype": "<i2"}, wrapping, exact=True,
    codec=codec, decoded=codec.decode(codec.encode(wrapping)))
zeros = np.array([-0.3, -0.0, 0.5, 1.5, 2.5, -0.5, 1e300], "<f8")
codec = numcodecs.FixedScaleOffset(offset=0.0, scale=1, dtype="f8", astype="f8")
add("numcodecs.fixedscaleoffset", {"offset": 0.0, "scale": 1, "dtype": "<f8", "astype": "<f8"}, zeros, exact=True,
    codec=codec, decoded=codec.decode(codec.encode(zeros)))

kinds = ["f2", "f4", "f8"]
for source in kinds:
    fraction = np.finfo(source).nmant
    values = np.concatenate([
        (rng.standard_normal(12) * 10 ** rng.integers(-3, 4, 12).astype("f8")).astype(source),
        np.array([0.0, -0.0, 1, 1.5, np.inf, -np.inf, np.finfo(source).max, np.finfo(source).smallest_subnormal], source),
    ])
    for keep in [0, 1, 4, 9, fraction - 1, fraction]:
        codec = numcodecs.BitRound(keep)
        add("numcodecs.bitround", {"keepbits": keep}, values, exact=True, decoded=codec.decode(codec.encode(values)))
    values = np.concatenate([rng.standard_normal(12) * 20, [0.0, -0.0, 0.5, np.inf, -np.inf, np.nan]]).astype(source)
    for target in kinds:
        for digits in [-2, -1, 0, 1, 2, 3]:
            configuration = {"digits": digits, "dtype": np.dtype(source).str, "astype": np.dtype(target).str}
            codec = numcodecs.Quantize(**configuration)
            add("numcodecs.quantize", configuration, values, exact=True, decoded=codec.decode(codec.encode(values)))
for digits in [5, 9, 15]:
    values = rng.standard_normal(12)
    codec = numcodecs.Quantize(digits, "f8")
    add("numcodecs.quantize", {"digits": digits, "dtype": "float64"}, values, exact=True, codec=codec,
        decoded=codec.decode(codec.encode(values)))

# Only values whose conversion C++ defines, here too; integers wrap.
for source in ["b1", *names, "f2"]:
    if source == "b1":
        values = rng.integers(0, 2, 12).astype(bool)
    elif source[0] == "f":
        values = np.concatenate([rng.integers(0, 400, 11) / 4, [0.0]]).astype(source)
    else:
        values = rng.integers(np.iinfo(source).min, np.iinfo(source).max, 12, dtype=source, endpoint=True)
        values[0] = 0
    for target in ["b1", *names, "f2"]:
        data = values % 100 if target == "f2" and source[0] != "b" else values
        data = data.astype(source)
        encoded = data.astype(target)
        if source[0] != "f" and source != "b1" and target[0] == "f":
            data = encoded.astype("f8").clip(0, 100).astype(source)  # back into the type without overflow
        configuration = {"encode_dtype": np.dtype(target).str, "decode_dtype": np.dtype(source).str}
        codec = numcodecs.AsType(**configuration)
        add("numcodecs.astype", configuration, data, exact=True, codec=codec, decoded=codec.decode(codec.encode(data)))

for size in [*range(1, 15), 24, 25, 100]:
    data = rng.integers(0, 256, size, dtype="u1")
    add("numcodecs.jenkins_lookup3", {}, data, exact=True)
    add("numcodecs.jenkins_lookup3", {"initval": 4000000000, "prefix": None}, data, exact=True)

for size in [1, 7, 8, 9, 64, 100]:
    data = rng.integers(0, 2, size).astype(bool)
    add("numcodecs.packbits", {}, data, exact=True)

# float16, in which numpy rounds after each step; a generator of their own, so that the cases above stay.
rng = np.random.default_rng(20261125)
for source, target in [*(("f2", each) for each in [*names, "f2"]), *((each, "f2") for each in names)]:
    if "f" in source and "f" in target:
        values = (rng.standard_normal(40) * 50).astype(source)
    else:
        values = np.minimum(rng.integers(0, 4, 40).cumsum(), 100).astype(source)
    configuration = {"dtype": np.dtype(source).str, "astype": np.dtype(target).str}
    codec = numcodecs.Delta(**configuration)
    add("numcodecs.delta", configuration, values, exact=True, codec=codec, decoded=codec.decode(codec.encode(values)))
    values = (rng.integers(40, 1200, 40) / 7).astype(source)
    for offset, scale in [(3, 1), (0.25, 1), (0, 0.5), (0, 1.1), (0.0, 1.5), (0.3, 0.7)]:
        if target == "i1":
            values = np.minimum(values, 50)
        values = np.maximum(values, 4)
        codec = numcodecs.FixedScaleOffset(offset=offset, scale=scale, **configuration)
        add("numcodecs.fixedscaleoffset", {"offset": offset, "scale": scale, **configuration}, values, exact=True, codec=codec,
            decoded=codec.decode(codec.encode(values)))

lines = ",\n".join(json.dumps(case) for case in cases)
path = pathlib.Path(__file__).with_name("numcodecs_golden.json")
path.write_text('{"cases": [\n' + lines + "\n]}\n")

# Variable lengths: the elements as JSON, since their memory is made of pointers.
texts = ["", "a", "grüße", "𝄞 clef", "x" * 300]
vlen = [
    {"name": "vlen-utf8", "elements": [t.encode().hex() for t in texts],
     "encoded": bytes(numcodecs.VLenUTF8().encode(np.array(texts, object))).hex()},
    {"name": "vlen-bytes", "elements": ["", "00ff", "80" * 9],
     "encoded": bytes(numcodecs.VLenBytes().encode(np.array([b"", b"\x00\xff", b"\x80" * 9], object))).hex()},
]
path.with_name("vlen_golden.json").write_text('{"cases": [\n' + ",\n".join(map(json.dumps, vlen)) + "\n]}\n")
