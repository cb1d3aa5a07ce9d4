"""The matrix of the interop tests: what a cell is, which cells there are, and what array a cell describes.

A cell is one value for every dimension below. Not all of their 10^8 combinations are run but a covering sample, drawn
with a fixed seed: every value of a dimension occurs together with every value of each other dimension, wherever
forbidden() lets them occur together; and every type with every codec also unsharded, which is all that some peers
write (cells_test.py proves both). `pytest tests/interop/matrix_test.py --all` runs every type with every codec in every
layout in addition.
"""

import base64
import dataclasses
import functools
import itertools
import random
import zlib

import ml_dtypes
import numpy

SEED = 20260601


@dataclasses.dataclass(frozen=True)
class Type:
    data_type: object  # as in zarr.json
    numpy: object  # in memory; variable-length elements are str or bytes objects
    extreme: tuple  # a fill value as (JSON, element)
    zero: tuple = (0, 0)
    foreign: bool = False  # a spelling that Sherd reads and never writes


def extension(name, **configuration):
    return {"name": name, "configuration": configuration}


def text(data):
    return base64.b64encode(data).decode()


POINT = numpy.dtype([("x", "<i2"), ("y", "<f8"), ("flag", "?"), ("t", "<c8")])
POINT_TYPES = {"x": "int16", "y": "float64", "flag": "bool", "t": "complex64"}
POINT_FILL = numpy.array((-3, -0.0, True, 1 - 2j), POINT)
POINT_FILL_JSON = {"x": -3, "y": -0.0, "flag": True, "t": [1.0, -2.0]}
POINT_ZERO_JSON = {"x": 0, "y": 0.0, "flag": False, "t": [0.0, 0.0]}

TYPES = {
    "bool": Type("bool", "?", (True, True), (False, False)),
    "int8": Type("int8", "i1", (-128, -128)),
    "int16": Type("int16", "<i2", (-(2**15), -(2**15))),
    "int32": Type("int32", "<i4", (-(2**31), -(2**31))),
    "int64": Type("int64", "<i8", (-(2**63), -(2**63))),
    "uint8": Type("uint8", "u1", (255, 255)),
    "uint16": Type("uint16", "<u2", (2**16 - 1, 2**16 - 1)),
    "uint32": Type("uint32", "<u4", (2**32 - 1, 2**32 - 1)),
    "uint64": Type("uint64", "<u8", (2**64 - 1, 2**64 - 1)),
    "float16": Type("float16", "<f2", (65504.0, 65504)),
    "bfloat16": Type("bfloat16", ml_dtypes.bfloat16, (-1.5, -1.5)),
    "float32": Type("float32", "<f4", (3.4028234663852886e38, 3.4028234663852886e38)),
    "float64": Type("float64", "<f8", (5e-324, 5e-324)),
    "complex64": Type("complex64", "<c8", ([0.5, -1.25], 0.5 - 1.25j), ([0.0, 0.0], 0)),
    "complex128": Type("complex128", "<c16", ([1e308, -0.1], 1e308 - 0.1j), ([0.0, 0.0], 0)),
    "r24": Type("r24", "V3", ([1, 2, 255], b"\1\2\xff"), ([0, 0, 0], b"\0\0\0")),
    "string": Type("string", "O", ("żółw 🐢", "żółw 🐢"), ("", "")),
    "bytes": Type("bytes", "O", ([0, 255, 10], b"\0\xff\n"), ([], b"")),
    "datetime64": Type(
        extension("numpy.datetime64", unit="ns", scale_factor=1),
        "<M8[ns]",
        ("NaT", numpy.datetime64("NaT", "ns")),
        (0, numpy.datetime64(0, "ns")),
    ),
    "timedelta64": Type(
        extension("numpy.timedelta64", unit="s", scale_factor=10),
        "<m8[10s]",
        (-(2**63) + 1, numpy.timedelta64(-(2**63) + 1, (("s", 10)))),
        (0, numpy.timedelta64(0, ("s", 10))),
    ),
    "utf32": Type(extension("fixed_length_utf32", length_bytes=20), "<U5", ("aß🐢", "aß🐢"), ("", "")),
    "struct": Type(
        extension("struct", fields=[{"name": n, "data_type": t} for n, t in POINT_TYPES.items()]),
        POINT,
        (POINT_FILL_JSON, POINT_FILL),
        (POINT_ZERO_JSON, numpy.zeros((), POINT)),
    ),
    # What others write instead of the registered spelling.
    "structured": Type(
        extension("structured", fields=[[n, t] for n, t in POINT_TYPES.items()]),
        POINT,
        (text(POINT_FILL.tobytes()), POINT_FILL),
        (text(bytes(POINT.itemsize)), numpy.zeros((), POINT)),
        foreign=True,
    ),
    "r24 base64": Type("r24", "V3", (text(b"\1\2\xff"), b"\1\2\xff"), (text(bytes(3)), bytes(3)), foreign=True),
    "raw_bytes": Type(
        extension("raw_bytes", length_bytes=3),
        "V3",
        (text(b"\1\2\xff"), b"\1\2\xff"),
        (text(bytes(3)), bytes(3)),
        foreign=True,
    ),
    "bytes base64": Type(
        "variable_length_bytes", "O", (text(b"\0\xff\n"), b"\0\xff\n"), ("", b""), foreign=True
    ),
}

VARIABLE = ("string", "bytes", "bytes base64")
INTEGERS = tuple(sign + bits for sign in ("int", "uint") for bits in ("8", "16", "32", "64"))
FLOATS = ("float16", "bfloat16", "float32", "float64", "complex64", "complex128")
BITS = dict(zip(FLOATS, ("<u2", "<u2", "<u4", "<u8", "<u4", "<u8")))
QUIET_NAN = {"<u2": 0x7E00, "<u4": 0x7FC00000, "<u8": 0x7FF8000000000000}


def blosc(cname, shuffle):
    return extension("blosc", cname=cname, clevel=5, shuffle=shuffle, blocksize=0)


# Without typesize, elementsize and dtype: chain() adds them.
CODECS = {
    "none": [],
    "gzip": [extension("gzip", level=6)],
    "zstd": [extension("zstd", level=3, checksum=False)],
    "zstd checksum": [extension("zstd", level=1, checksum=True)],
    "crc32c": [{"name": "crc32c"}],
    "zstd crc32c": [extension("zstd", level=3, checksum=False), {"name": "crc32c"}],
    "blosc blosclz": [blosc("blosclz", "noshuffle")],
    "blosc lz4": [blosc("lz4", "shuffle")],
    "blosc lz4hc": [blosc("lz4hc", "bitshuffle")],
    "blosc zlib": [blosc("zlib", "shuffle")],
    "blosc zstd": [blosc("zstd", "bitshuffle")],
    "packbits": [],
    "numcodecs.zlib": [extension("numcodecs.zlib", level=6)],
    "numcodecs.gzip": [extension("numcodecs.gzip", level=5)],
    "numcodecs.lz4": [extension("numcodecs.lz4", acceleration=1)],
    "numcodecs.bz2": [extension("numcodecs.bz2", level=1)],
    "numcodecs.lzma": [extension("numcodecs.lzma", format=1, check=-1, preset=6, filters=None)],
    "numcodecs.zstd": [extension("numcodecs.zstd", level=3)],
    "numcodecs.blosc": [extension("numcodecs.blosc", cname="lz4", clevel=5, shuffle=1, blocksize=0)],
    "numcodecs.shuffle": [extension("numcodecs.shuffle"), extension("numcodecs.zlib", level=6)],
    "numcodecs.delta": [extension("numcodecs.zlib", level=6)],
    "numcodecs.fixedscaleoffset": [extension("numcodecs.zlib", level=6)],
    "numcodecs.adler32": [extension("numcodecs.adler32")],
    "numcodecs.crc32": [extension("numcodecs.crc32")],
    "numcodecs.fletcher32": [extension("numcodecs.fletcher32")],
}

# shape, chunk of the grid, inner chunk, inner chunk's inner chunk
SHAPES = {
    "even": ((8, 12), (4, 6), (2, 3), (1, 3)),
    "uneven": ((7, 11), (4, 6), (2, 3), (1, 3)),
    "outside": ((5, 13), (8, 8), (2, 2), (1, 2)),  # inner chunks wholly outside the array
    "cube": ((5, 4, 7), (4, 2, 6), (2, 2, 3), (1, 2, 3)),
    "line": ((301,), (120,), (24,), (4,)),
    "one": ((1,), (4,), (2,), (1,)),
    "scalar": ((), (), (), ()),
    "empty axis": ((0, 5), (2, 4), (1, 2), (1, 1)),
}

# How stored objects become inner chunks: (index location, index codecs) from the outside in, and what is around.
LAYOUTS = {
    "plain": {},
    "end": {"levels": ["end"]},
    "start": {"levels": ["start"]},
    "nested end start": {"levels": ["end", "start"]},
    "nested start end": {"levels": ["start", "end"]},
    "index bare": {"levels": ["end"], "index": [extension("bytes", endian="little")]},
    "index big": {"levels": ["end"], "index": [extension("bytes", endian="big"), {"name": "crc32c"}]},
    "transpose before": {"levels": ["end"], "before": True},
    "gzip after": {"levels": ["end"], "after": [extension("gzip", level=5)]},
}

KEYS = {
    "default /": extension("default", separator="/"),
    "default .": extension("default", separator="."),
    "v2 .": extension("v2", separator="."),
    "v2 /": extension("v2", separator="/"),
}

DIMENSIONS = {
    "type": list(TYPES),
    "codec": list(CODECS),
    "layout": list(LAYOUTS),
    "shape": list(SHAPES),
    "order": ["C", "F", "cycle"],  # of the (innermost) chunk, by transpose
    "endian": ["little", "big"],
    "fill": ["zero", "extreme", "negative zero", "NaN payload", "infinity"],
    "keys": list(KEYS),
    "memory": ["C", "F"],  # of the array that is written from
}


def forbidden(dimension_a, a, dimension_b, b):
    """Whether two values can never stand together."""
    match (dimension_a, dimension_b):
        case ("type", "codec"):
            return (
                (b == "packbits" and a not in ("bool", *INTEGERS))
                or (b == "numcodecs.delta" and a not in INTEGERS)
                or (b == "numcodecs.fixedscaleoffset" and a not in ("float32", "float64"))
                or (b == "numcodecs.shuffle" and a in VARIABLE)
            )
        case ("type", "endian"):
            return a in VARIABLE and b == "big"
        case ("type", "fill"):
            return a not in FLOATS and b not in ("zero", "extreme")
        case ("codec", "endian"):
            return a == "packbits" and b == "big"
        case ("codec", "fill"):
            return (a == "numcodecs.fixedscaleoffset" and b != "zero") or (
                a in ("packbits", "numcodecs.delta") and b not in ("zero", "extreme")
            )
        case ("shape", "order"):
            return (a == "scalar" and b != "C") or (a != "cube" and b == "cycle")
        case ("layout", "shape"):
            return a == "transpose before" and b == "scalar"
    return False


@dataclasses.dataclass(frozen=True)
class Cell:
    """One value for every dimension; the methods say what array that is."""

    values: tuple

    def __getitem__(self, dimension):
        return self.values[list(DIMENSIONS).index(dimension)]

    def __str__(self):
        return ", ".join(f"{d}={v}" for d, v in zip(DIMENSIONS, self.values))

    @property
    def type(self):
        return TYPES[self["type"]]

    @property
    def shape(self):
        return SHAPES[self["shape"]][0]

    @property
    def chunk_shape(self):
        return SHAPES[self["shape"]][1]

    @property
    def itemsize(self):
        return 1 if self["type"] in VARIABLE else numpy.dtype(self.type.numpy).itemsize

    def array_codecs(self):
        """From the elements to the bytes of the (innermost) chunk."""
        codecs, dtype = [], numpy.dtype(self.type.numpy).str
        if self["codec"] == "numcodecs.delta":
            codecs.append(extension("numcodecs.delta", dtype=dtype, astype=dtype))
        if self["codec"] == "numcodecs.fixedscaleoffset":
            codecs.append(extension("numcodecs.fixedscaleoffset", offset=-100, scale=4, dtype=dtype, astype=dtype))
        if self["order"] != "C":
            rank = len(self.shape)
            order = [1, 2, 0] if self["order"] == "cycle" else list(range(rank))[::-1]
            codecs.append(extension("transpose", order=order))
        if self["type"] == "string":
            codecs.append({"name": "vlen-utf8"})
        elif self["type"] in VARIABLE:
            codecs.append({"name": "vlen-bytes"})
        elif self["codec"] == "packbits":
            codecs.append(extension("packbits", padding_encoding="first_byte"))
        else:
            codecs.append(extension("bytes", endian=self["endian"]))
        return codecs

    def chain(self):
        """The whole list of codecs, as in zarr.json."""
        layout = LAYOUTS[self["layout"]]
        codecs = self.array_codecs()
        for codec in CODECS[self["codec"]]:
            added = {}
            if codec["name"] == "blosc":
                added = {"typesize": self.itemsize}
            if codec["name"] == "numcodecs.shuffle":
                added = {"elementsize": self.itemsize}
            codecs.append({**codec, "configuration": {**codec["configuration"], **added}} if added else codec)
        levels = layout.get("levels", [])
        for depth in reversed(range(len(levels))):
            inner = SHAPES[self["shape"]][2 + depth]
            codecs = [
                extension(
                    "sharding_indexed",
                    chunk_shape=list(inner[::-1] if "before" in layout else inner),
                    codecs=codecs,
                    index_codecs=layout.get("index", [extension("bytes", endian="little"), {"name": "crc32c"}]),
                    index_location=levels[depth],
                )
            ]
        if "before" in layout:
            codecs.insert(0, extension("transpose", order=list(range(len(self.shape)))[::-1]))
        return codecs + layout.get("after", [])

    def fill(self):
        """The fill value: as in zarr.json, and as an array without dimensions."""
        if self["fill"] in ("zero", "extreme"):
            json, element = self.type.zero if self["fill"] == "zero" else self.type.extreme
            value = numpy.empty((), self.type.numpy)
            value[()] = element
            return json, value
        bits = BITS[self["type"]]
        width = 2 * numpy.dtype(bits).itemsize
        json, word = {
            "negative zero": (-0.0, 1 << (4 * width - 1)),
            "NaN payload": (f"0x{QUIET_NAN[bits] + 0x2A:0{width}x}", QUIET_NAN[bits] + 0x2A),
            "infinity": ("-Infinity", None),
        }[self["fill"]]
        if word is None:
            word = int(numpy.array(-numpy.inf).astype(self.float_type()).view(bits))
        if self["type"].startswith("complex"):
            return [json, 0.0], numpy.array([word, 0], bits).view(self.type.numpy)[0].reshape(())
        return json, numpy.array([word], bits).view(self.type.numpy)[0:1].reshape(())

    def float_type(self):
        return {"complex64": "<f4", "complex128": "<f8"}.get(self["type"], self.type.numpy)

    def metadata(self):
        return {
            "zarr_format": 3,
            "node_type": "array",
            "shape": list(self.shape),
            "data_type": self.type.data_type,
            "chunk_grid": extension("regular", chunk_shape=list(self.chunk_shape)),
            "chunk_key_encoding": KEYS[self["keys"]],
            "fill_value": self.fill()[0],
            "codecs": self.chain(),
        }

    def written(self):
        """How many elements of the first axis are written: all but the last chunk, where there are several."""
        if not self.shape:
            return None
        extent, chunk = self.shape[0], self.chunk_shape[0]
        return extent if extent <= chunk else (extent - 1) // chunk * chunk

    def elements(self):
        """What a reader must see: random elements; the first inner chunk and everything that is not written are fill."""
        rng = numpy.random.default_rng(zlib.crc32(str(self).encode()))
        array = self.random_elements(rng)
        while array.size == 1 and canonical(array.reshape(())) == canonical(self.fill()[1]):  # it is to be stored
            array = self.random_elements(rng)
        if self.shape and self.shape != (1,):
            array[self.written() :] = self.fill()[1]
            array[tuple(slice(n) for n in SHAPES[self["shape"]][2])] = self.fill()[1]
        return numpy.asfortranarray(array) if self["memory"] == "F" and self.shape else array

    def random_elements(self, rng):
        count = int(numpy.prod(self.shape))
        if self["codec"] == "numcodecs.fixedscaleoffset":  # quarters come back exactly
            return (rng.integers(-400, 400, self.shape) / 4).astype(self.type.numpy)
        if self["type"] == "bool":
            return rng.integers(0, 2, self.shape).astype("?")
        if self["type"] in ("struct", "structured"):
            array = numpy.zeros(self.shape, self.type.numpy)
            for name, (dtype, _) in POINT.fields.items():
                numbers = rng.integers(0, 2, self.shape) if name == "flag" else rng.normal(0, 99, self.shape)
                array[name] = numpy.asarray(numbers).astype(dtype)
            return array
        if self["type"] in VARIABLE or self["type"] == "utf32":
            words = ["", "a", "żółw", "🐢🐢", "x" * 5] if self["type"] == "utf32" else ["", "a", "żółw 🐢", "x" * 30, "\0b"]
            array = numpy.empty(count, self.type.numpy)
            for i, k in enumerate(rng.integers(0, len(words), count)):
                array[i] = words[k] if self["type"] in ("string", "utf32") else words[k].encode()
            return array.reshape(self.shape)
        raw = rng.integers(0, 256, count * self.itemsize, dtype="u1")
        if self["type"] in FLOATS:
            self.add_special(raw.view(BITS[self["type"]]))
        return raw.view(self.type.numpy).reshape(self.shape)

    def add_special(self, words):
        """Now and then -0.0, infinity, a quiet and a signalling NaN with a payload, a subnormal number."""
        bits = words.dtype.itemsize * 8
        mantissa = {"float16": 10, "bfloat16": 7, "float32": 23, "complex64": 23}.get(self["type"], 52)
        exponent = ((1 << (bits - 1 - mantissa)) - 1) << mantissa
        special = [1 << (bits - 1), exponent, exponent | 3 << (mantissa - 2), exponent | 5, 9]
        for i, word in enumerate(special):
            words[7 + i :: 17] = word


def canonical(array):
    """The elements' bytes, little-endian in C order; or the list of str or bytes. Equal for bit-equal arrays."""
    array = numpy.asarray(array)
    if array.dtype.kind in "OT":
        return array.shape, array.ravel().tolist()
    if array.dtype != array.dtype.newbyteorder("<"):
        array = array.astype(array.dtype.newbyteorder("<"))
    return array.shape, array.tobytes()


def legal_pairs():
    names = list(DIMENSIONS)
    for i, j in itertools.combinations(range(len(names)), 2):
        for a, b in itertools.product(DIMENSIONS[names[i]], DIMENSIONS[names[j]]):
            if not is_forbidden(i, a, j, b):
                yield ((i, a), (j, b))


def is_forbidden(i, a, j, b):
    names = list(DIMENSIONS)
    return forbidden(names[i], a, names[j], b) or forbidden(names[j], b, names[i], a)


def complete(fixed, rng):
    """A random legal cell with these values, or None where the draw ended nowhere."""
    values = dict(fixed)
    for d, options in enumerate(DIMENSIONS.values()):
        if d in values:
            continue
        fitting = [v for v in options if not any(is_forbidden(d, v, e, w) for e, w in values.items())]
        if not fitting:
            return None
        values[d] = rng.choice(fitting)
    return tuple(values[d] for d in range(len(DIMENSIONS)))


def combinations(values):
    """What a cell covers: all pairs of its values, and type and codec where it is unsharded."""
    yield from itertools.combinations(enumerate(values), 2)
    if values[2] == "plain":
        yield tuple(enumerate(values[:3]))


def wanted():
    """What some cell has to cover."""
    for pair in legal_pairs():
        yield pair
        if (pair[0][0], pair[1][0]) == (0, 1):
            yield (*pair, (2, "plain"))


@functools.cache
def cells():
    """The sample, in an order that does not change."""
    rng = random.Random(SEED)
    missing = dict.fromkeys(wanted())
    chosen = []
    while missing:
        drawn = [values for values in (complete(next(iter(missing)), rng) for _ in range(30)) if values]
        best = max(drawn, key=lambda values: sum(c in missing for c in combinations(values)))
        for covered in combinations(best):
            missing.pop(covered, None)
        chosen.append(Cell(best))
    return chosen


@functools.cache
def all_cells():
    """The sample, and every type with every codec in every layout that can have them, other values being drawn."""
    rng = random.Random(SEED)
    chosen = {cell.values: cell for cell in cells()}
    had = {values[:3] for values in chosen}
    for three in itertools.product(*list(DIMENSIONS.values())[:3]):
        if three in had or any(is_forbidden(i, three[i], j, three[j]) for i, j in ((0, 1), (0, 2), (1, 2))):
            continue
        drawn = next(filter(None, (complete(enumerate(three), rng) for _ in range(30))), None)
        if drawn:
            chosen[drawn] = Cell(drawn)
    return list(chosen.values())
