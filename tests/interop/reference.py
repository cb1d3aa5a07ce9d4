"""Chunks from the specifications alone: what a cell's array looks like in a store, and what a store holds.

Knows the core specification's chain, sharding_indexed 1.0 and the registered codecs, and leaves the compressors and
filters to numcodecs and the standard library. It is the independent side where no peer takes part, and the origin of
the golden bytes (golden.py).
"""

import base64
import gzip
import itertools
import math
import struct

import google_crc32c
import numcodecs
import numpy

from interop.cells import FLOATS, KEYS, QUIET_NAN, VARIABLE

EMPTY = 2**64 - 1


def key(cell, position):
    encoding = KEYS[cell["keys"]]
    separator = encoding["configuration"]["separator"]
    numbers = [str(i) for i in position]
    if encoding["name"] == "default":
        return separator.join(["c", *numbers])
    return separator.join(numbers) or "0"


def positions(shape, chunk_shape):
    return itertools.product(*(range(math.ceil(n / c)) for n, c in zip(shape, chunk_shape)))


def place(position, chunk_shape):
    return *(slice(i * c, (i + 1) * c) for i, c in zip(position, chunk_shape)), ...


def start(shape):
    return place([0] * len(shape), shape)


class Chunks:
    """Encodes and decodes the arrays of one element type and fill value."""

    def __init__(self, cell):
        self.variable = cell["type"] in VARIABLE
        self.dtype = numpy.dtype(cell.type.numpy)
        self.fill = cell.fill()[1]

    def filled(self, shape):
        array = numpy.empty(shape, self.dtype)
        array[...] = self.fill
        return array

    def encode(self, chain, array):
        for codec in chain:
            array = getattr(self, self.method("encode", codec))(codec.get("configuration", {}), array, codec["name"])
        return array

    def decode(self, chain, data, shape):
        shapes = [shape]
        for codec in chain:
            order = codec["configuration"]["order"] if codec["name"] == "transpose" else range(len(shapes[-1]))
            shapes.append([shapes[-1][i] for i in order])
        for codec, shape in zip(chain[::-1], shapes[-2::-1]):
            undo = getattr(self, self.method("decode", codec))
            data = undo(codec.get("configuration", {}), data, codec["name"], shape)
        return data

    @staticmethod
    def method(verb, codec):
        name = codec["name"].replace("-", "_").replace("numcodecs.gzip", "gzip")  # numcodecs puts the time in
        own = ("transpose", "bytes", "packbits", "vlen_utf8", "vlen_bytes", "sharding_indexed", "crc32c", "gzip")
        return f"{verb}_{name if name in own else 'numcodecs'}"

    def encode_transpose(self, configuration, array, _):
        return array.transpose(configuration["order"])

    def decode_transpose(self, configuration, array, _, shape):
        return array.transpose(numpy.argsort(configuration["order"])) if shape else array

    def swapped(self, endian):
        return self.dtype.newbyteorder(">" if endian == "big" else "<")

    def encode_bytes(self, configuration, array, _):
        endian = configuration.get("endian", "little")
        if self.dtype.kind == "V" and not self.dtype.names or self.dtype.name == "bfloat16":
            swap = self.dtype.name == "bfloat16" and endian == "big"
            data = numpy.ascontiguousarray(array).tobytes()
            return numpy.frombuffer(data, ">u2").astype("<u2").tobytes() if swap else data
        return array.astype(self.swapped(endian)).tobytes()

    def decode_bytes(self, configuration, data, _, shape):
        endian = configuration.get("endian", "little")
        if self.dtype.name == "bfloat16" and endian == "big":
            data = numpy.frombuffer(data, ">u2").astype("<u2").tobytes()
        if self.dtype.kind == "V" and not self.dtype.names or self.dtype.name == "bfloat16":
            return numpy.frombuffer(data, self.dtype).reshape(shape)
        return numpy.frombuffer(data, self.swapped(endian)).astype(self.dtype).reshape(shape)

    def encode_vlen_utf8(self, configuration, array, _):
        elements = [e.encode() if isinstance(e, str) else e for e in array.ravel().tolist()]
        return struct.pack("<I", len(elements)) + b"".join(struct.pack("<I", len(e)) + e for e in elements)

    encode_vlen_bytes = encode_vlen_utf8

    def decode_vlen_bytes(self, configuration, data, name, shape):
        count, at = struct.unpack_from("<I", data)[0], 4
        array = numpy.empty(count, "O")
        for i in range(count):
            size = struct.unpack_from("<I", data, at)[0]
            element = data[at + 4 : at + 4 + size]
            array[i] = element.decode() if name == "vlen-utf8" else bytes(element)
            at += 4 + size
        return array.reshape(shape)

    decode_vlen_utf8 = decode_vlen_bytes

    def encode_packbits(self, configuration, array, _):
        width = 1 if self.dtype.kind == "b" else 8 * self.dtype.itemsize
        words = array.ravel().view("u1") if width == 1 else array.astype(self.swapped("little")).ravel().view("u1")
        bits = words & 1 if width == 1 else numpy.unpackbits(words, bitorder="little")
        return bytes([-len(bits) % 8]) + numpy.packbits(bits, bitorder="little").tobytes()  # first_byte

    def decode_packbits(self, configuration, data, _, shape):
        bits = numpy.unpackbits(numpy.frombuffer(data, "u1")[1:], bitorder="little")
        bits = bits[: len(bits) - data[0]]
        if self.dtype.kind == "b":
            return bits.astype("?").reshape(shape)
        return numpy.packbits(bits, bitorder="little").view(self.dtype).reshape(shape)

    def encode_crc32c(self, configuration, data, _):
        return data + struct.pack("<I", google_crc32c.value(data))

    def decode_crc32c(self, configuration, data, _, shape):
        assert struct.unpack("<I", data[-4:])[0] == google_crc32c.value(bytes(data[:-4]))
        return data[:-4]

    def encode_gzip(self, configuration, data, _):
        return gzip.compress(data, configuration["level"], mtime=0)

    def decode_gzip(self, configuration, data, _, shape):
        return gzip.decompress(data)

    def numcodec(self, configuration, name):
        codec = {**configuration, "id": name.removeprefix("numcodecs.")}
        if name == "blosc":
            codec["shuffle"] = ["noshuffle", "shuffle", "bitshuffle"].index(codec["shuffle"])
        return numcodecs.get_codec(codec)

    def encode_numcodecs(self, configuration, data, name):
        codec = self.numcodec(configuration, name)
        if not isinstance(data, numpy.ndarray):
            return bytes(codec.encode(numpy.frombuffer(data, f"V{configuration.get('typesize', 1)}" if data else "u1")))
        return codec.encode(data.ravel()).reshape(data.shape)

    def decode_numcodecs(self, configuration, data, name, shape):
        codec = self.numcodec(configuration, name)
        if isinstance(data, numpy.ndarray):
            return codec.decode(data.ravel()).reshape(shape)
        return bytes(codec.decode(data))

    def encode_sharding_indexed(self, configuration, array, _):
        inner, at_start = configuration["chunk_shape"], configuration.get("index_location") == "start"
        counts = [n // c for n, c in zip(array.shape, inner)]
        index, data = numpy.full((*counts, 2), EMPTY, "<u8"), b""
        words = Words()
        base = len(words.encode(configuration["index_codecs"], index)) if at_start else 0
        for position in positions(array.shape, inner):
            part = array[place(position, inner)]
            if is_same(part, self.filled(part.shape)):
                continue
            encoded = self.encode(configuration["codecs"], part)
            index[position] = base + len(data), len(encoded)
            data += encoded
        encoded = words.encode(configuration["index_codecs"], index)
        return encoded + data if at_start else data + encoded

    def decode_sharding_indexed(self, configuration, data, _, shape):
        inner, at_start = configuration["chunk_shape"], configuration.get("index_location") == "start"
        counts = [n // c for n, c in zip(shape, inner)]
        size = 16 * math.prod(counts) + 4 * sum(c["name"] == "crc32c" for c in configuration["index_codecs"])
        stored = data[:size] if at_start else data[-size:]
        index = Words().decode(configuration["index_codecs"], stored, [*counts, 2])
        array = self.filled(shape)
        for position in positions(shape, inner):
            offset, length = (int(n) for n in index[position])
            if offset == EMPTY:
                assert length == EMPTY
                continue
            assert offset + length <= len(data)
            array[place(position, inner)] = self.decode(configuration["codecs"], data[offset : offset + length], inner)
        return array


class Words(Chunks):
    """The entries of a shard's index."""

    def __init__(self):
        self.dtype = numpy.dtype("<u8")


def is_same(a, b):
    if a.dtype.kind == "O":
        return a.tolist() == b.tolist()
    return a.tobytes() == b.tobytes()


def write(cell):
    """The objects of the cell's array by key, without zarr.json; what equals the fill value is left out."""
    chunks, elements, objects = Chunks(cell), cell.elements(), {}
    for position in positions(cell.shape, cell.chunk_shape):
        inside = elements[place(position, cell.chunk_shape)]
        chunk = chunks.filled(cell.chunk_shape)
        chunk[start(inside.shape)] = inside
        if not is_same(chunk, chunks.filled(cell.chunk_shape)):
            objects[key(cell, position)] = chunks.encode(cell.chain(), chunk)
    return objects


def parse_fill(cell, json):
    """The element that a document means by this fill value, in the forms that the data types of cells.py have."""
    dtype, array = numpy.dtype(cell.type.numpy), numpy.empty((), cell.type.numpy)
    if dtype.kind == "c":
        half = numpy.dtype(f"<f{dtype.itemsize // 2}")
        array[()] = numpy.array([parse_float(half, part) for part in json]).view(dtype)[0]
    elif cell["type"] in FLOATS:
        array[()] = parse_float(dtype, json)
    elif dtype.names and isinstance(json, dict):
        array[()] = tuple(complex(*json[n]) if dtype[n].kind == "c" else json[n] for n in dtype.names)
    elif dtype.kind == "V":
        data = bytes(json) if isinstance(json, list) else base64.b64decode(json)
        array = numpy.frombuffer(data, dtype).reshape(())
    elif cell["type"] != "string" and dtype.kind == "O":
        array[()] = bytes(json) if isinstance(json, list) else base64.b64decode(json)
    else:
        array[()] = numpy.array(json).astype(dtype) if dtype.kind in "mM" else json
    return array


def parse_float(dtype, json):
    words = numpy.dtype(f"<u{dtype.itemsize}")
    if isinstance(json, str) and json.startswith("0x"):
        return numpy.array([int(json, 16)], words).view(dtype)[0]
    if json == "NaN":
        return numpy.array([QUIET_NAN[words.str]], words).view(dtype)[0]
    return numpy.array([float(json)]).astype(dtype)[0]


def read(cell, objects, metadata):
    """The array that these objects hold; `objects` has a get(key) that gives bytes or None."""
    chunks = Chunks(cell)
    chunks.fill = parse_fill(cell, metadata["fill_value"])
    array = chunks.filled(cell.shape)
    for position in positions(cell.shape, cell.chunk_shape):
        data = objects.get(key(cell, position))
        if data is not None:
            target = array[place(position, cell.chunk_shape)]
            chunk = chunks.decode(metadata["codecs"], data, list(cell.chunk_shape))
            target[...] = chunk[start(target.shape)]
    return array
