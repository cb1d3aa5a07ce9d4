"""The cells of the Zarr v2 matrix: what `.zarray` says, and the elements that a reader must see.

A cell differs from the plain one (int32, not compressed, C order) in one respect: its type, its codecs, its layout or its
fill value. The last rows are never written, so they are fill values.
"""

import base64
import dataclasses

import numpy

NUMBERS = numpy.arange(35).reshape(7, 5)
PLAIN = {"chunks": [3, 2], "compressor": None, "dimension_separator": ".", "dtype": "<i4", "fill_value": 0, "filters": None,
         "order": "C", "shape": [7, 5], "zarr_format": 2}
UNITS = ("Y", "M", "W", "D", "h", "m", "s", "ms", "us", "ns", "ps", "fs", "as")
STRUCTS = {
    "struct": [["a", "<i2"], ["b", "<f8"], ["c", "|b1"]],
    "struct big-endian": [["a", ">i2"], ["b", ">f8"]],
    "struct of both orders": [["a", "<i2"], ["b", ">f8"], ["c", "|b1"], ["d", ">u4"]],
    "struct nested": [["a", "<i2"], ["b", [["c", "|u1"], ["d", "<f4"]]]],
    "struct with padding": [["a", "|u1"], ["", "|V3"], ["b", "<i4"]],
    "struct of arrays": [["a", "<i2", [3]], ["b", "|u1", [2, 2]]],
}
TEXTS = ["", "a", "é", "日本", "x" * 20]


@dataclasses.dataclass(frozen=True)
class Cell:
    kind: str  # type, codec, layout or fill
    value: str
    document: dict
    elements: numpy.ndarray

    def __str__(self):
        return f"{self.kind} {self.value}"

    @property
    def dtype(self):
        """Of the elements, as NumPy has it."""
        return self.elements.dtype

    @property
    def written(self):
        """The number of rows that are written; None for arrays that are written whole."""
        return 6 if self.elements.shape == NUMBERS.shape else None


def decoded(dtype):
    """NumPy's dtype from that of `.zarray`."""
    if isinstance(dtype, str):
        return numpy.dtype(dtype)
    return numpy.dtype([(name, decoded(inner), *map(tuple, shape)) for name, inner, *shape in dtype])


def filled(values, fill):
    values = numpy.array(values)
    if values.shape == NUMBERS.shape:
        values[6:] = fill
    return values


def raw(dtype):
    """Elements of a type that is bytes or a struct."""
    one = decoded(dtype)
    values = numpy.zeros(NUMBERS.shape, one)
    for name in one.names or ():
        column = values[name]
        if column.dtype.names:
            for inner in column.dtype.names:
                column[inner] = NUMBERS
        elif one[name].base.kind != "V":  # padding stays zero
            column[...] = NUMBERS.reshape(NUMBERS.shape + (1,) * (column.ndim - 2))
    return values


def type_cells():
    numbers = ["|b1", "|i1", "|u1", *(order + kind for order in "<>" for kind in ("i2", "i4", "i8", "u2", "u4", "u8", "f2", "f4",
                                                                              "f8", "c8", "c16"))]
    for dtype in numbers:
        fill = [0.0, 0.0] if "c" in dtype else False if dtype == "|b1" else 0
        yield Cell("type", dtype, {"dtype": dtype, "fill_value": fill}, filled(NUMBERS.astype(dtype), 0))
    for dtype in [f"<{kind}8[{unit}]" for kind in "Mm" for unit in UNITS] + [">M8[25s]", ">m8[ns]"]:
        yield Cell("type", dtype, {"dtype": dtype}, filled(NUMBERS.astype(dtype), numpy.array(0, dtype)))
    for dtype in ("<U3", ">U3"):
        yield Cell("type", dtype, {"dtype": dtype, "fill_value": ""}, filled(NUMBERS.astype(dtype), ""))
    yield Cell("type", "|S4", {"dtype": "|S4", "fill_value": "YWI="}, filled(NUMBERS.astype("S4"), b"ab"))
    yield Cell("type", "|V3", {"dtype": "|V3", "fill_value": "AAAA"},
               filled(numpy.frombuffer(bytes(range(105)), "V3").reshape(7, 5), b"\0\0\0"))
    for name, dtype in STRUCTS.items():
        fill = base64.b64encode(bytes(decoded(dtype).itemsize)).decode()
        yield Cell("type", name, {"dtype": dtype, "fill_value": fill}, filled(raw(dtype), numpy.zeros((), decoded(dtype))))


def object_cells():
    texts = numpy.array([TEXTS[n % 5] for n in range(35)], object).reshape(7, 5)
    data = numpy.empty(35, object)
    data[:] = [text.encode() for text in texts.ravel()]
    arrays = numpy.empty(35, object)
    arrays[:] = [numpy.arange(n % 4, dtype="<i4") for n in range(35)]
    labels = {"id": "categorize", "dtype": "|O", "astype": "|u1", "labels": TEXTS[1:]}
    for value, codec, elements, fill in [
        ("vlen-utf8", {"id": "vlen-utf8"}, texts, ""),
        ("vlen-bytes", {"id": "vlen-bytes"}, data.reshape(7, 5), b""),
        ("vlen-array", {"id": "vlen-array", "dtype": "<i4"}, arrays.reshape(7, 5), None),
        ("json2", {"id": "json2", "encoding": "utf-8"}, texts, ""),
        ("msgpack2", {"id": "msgpack2", "raw": False}, texts, ""),
        ("categorize", labels, texts, ""),
    ]:
        values = elements.copy()
        if value == "vlen-array":
            for i in range(5):
                values[6, i] = numpy.zeros(0, "<i4")
        else:
            values[6:] = fill
        yield Cell("objects", value, {"dtype": "|O", "filters": [codec], "fill_value": "" if fill == "" else 0}, values)


COMPRESSORS = {
    "zlib": {"id": "zlib", "level": 1},
    "gzip": {"id": "gzip", "level": 5},
    "bz2": {"id": "bz2", "level": 1},
    "lz4": {"id": "lz4", "acceleration": 1},
    "lzma": {"id": "lzma", "format": 1, "check": -1, "preset": None, "filters": None},
    "zstd": {"id": "zstd", "level": 3},
    "szip": {"id": "szip", "mask": 32, "pixels-per-block": 4},
    "zfpy": {"id": "zfpy", "mode": 4, "tolerance": -1, "rate": -1, "precision": -1, "compression_kwargs": {"tolerance": -1}},
    "pcodec": {"id": "pcodec", "level": 8, "mode_spec": "auto", "delta_spec": "auto", "paging_spec": "equal_pages_up_to",
               "delta_encoding_order": None, "equal_pages_up_to": 262144},
    **{f"blosc {cname} {shuffle}": {"id": "blosc", "cname": cname, "clevel": 5, "shuffle": shuffle, "blocksize": 0}
       for cname, shuffle in (("lz4", 1), ("lz4", 2), ("lz4hc", 0), ("blosclz", 1), ("zlib", -1), ("zstd", 1))},
}
FILTERS = {
    "delta": ("<i4", {"id": "delta", "dtype": "<i4", "astype": "<i2"}),
    "delta big-endian": (">i4", {"id": "delta", "dtype": ">i4", "astype": ">i4"}),
    "fixedscaleoffset": ("<f8", {"id": "fixedscaleoffset", "offset": 1, "scale": 10, "dtype": "<f8", "astype": "<i4"}),
    "quantize": ("<f8", {"id": "quantize", "digits": 3, "dtype": "<f8", "astype": "<f8"}),
    "bitround": ("<f4", {"id": "bitround", "keepbits": 12}),
    "astype": ("<f8", {"id": "astype", "encode_dtype": "<f4", "decode_dtype": "<f8"}),
    "packbits": ("|b1", {"id": "packbits"}),
    "base64": ("<i4", {"id": "base64"}),
    "shuffle": ("<i4", {"id": "shuffle", "elementsize": 4}),
    "fletcher32": ("<i4", {"id": "fletcher32"}),
    "crc32": ("<i4", {"id": "crc32"}),
    "crc32c": ("<i4", {"id": "crc32c"}),
    "adler32": ("<i4", {"id": "adler32"}),
    "jenkins_lookup3": ("<i4", {"id": "jenkins_lookup3", "initval": 0, "prefix": None}),
}


def codec_cells():
    for name, codec in COMPRESSORS.items():
        yield Cell("codec", name, {"compressor": codec}, filled(NUMBERS.astype("<i4"), 0))
    for name, (dtype, codec) in FILTERS.items():
        values = (NUMBERS % 2 if dtype == "|b1" else NUMBERS).astype(dtype)
        fill = False if dtype == "|b1" else 0
        yield Cell("codec", name, {"dtype": dtype, "fill_value": fill, "filters": [codec]}, filled(values, 0))


def layout_cells():
    for order in "CF":
        for separator in "./":
            yield Cell("layout", f"{order} {separator}", {"order": order, "dimension_separator": separator},
                       filled(NUMBERS.astype("<i4"), 0))
    yield Cell("layout", "large chunk", {"chunks": [20, 30]}, NUMBERS.astype("<i4")[:5])
    yield Cell("layout", "scalar", {"shape": [], "chunks": []}, numpy.array(7, "<i4"))
    yield Cell("layout", "empty axis", {"shape": [0, 5], "chunks": [1, 5]}, numpy.zeros((0, 5), "<i4"))
    yield Cell("layout", "three dimensions", {"shape": [4, 3, 5], "chunks": [2, 3, 2], "order": "F"},
               numpy.arange(60, dtype="<i4").reshape(4, 3, 5))


def fill_cells():
    for name, json, dtype, fill in [
        ("number", 1.5, "<f8", 1.5), ("NaN", "NaN", "<f4", numpy.nan), ("Infinity", "-Infinity", "<f8", -numpy.inf),
        ("bool", True, "|b1", True), ("complex", ["NaN", 2.0], "<c16", complex(numpy.nan, 2)), ("text", "é", "<U4", "é"),
        ("NaT", -(2**63), "<M8[s]", numpy.datetime64("NaT", "s")), ("greatest", 2**64 - 1, "<u8", 2**64 - 1),
    ]:
        yield Cell("fill", name, {"dtype": dtype, "fill_value": json}, filled((NUMBERS % 2).astype(dtype), fill))


def cells():
    for make in (type_cells, object_cells, codec_cells, layout_cells, fill_cells):
        for cell in make():
            shape = {"shape": list(cell.elements.shape)}
            yield dataclasses.replace(cell, document=dict(sorted({**PLAIN, **shape, **cell.document}.items())))


CELLS = {str(cell): cell for cell in cells()}


def canonical(array):
    """Equal for equal elements: shape and little-endian bytes, or a list of texts or bytes. NumPy's S are V."""
    array = numpy.asarray(array)
    if array.dtype.kind == "O" or array.dtype.kind == "T":
        return array.shape, [each.tobytes() if isinstance(each, numpy.ndarray) else each for each in array.ravel().tolist()]
    if array.dtype.kind in "SV" and array.dtype.names is None:
        return array.shape, array.tobytes()
    return array.shape, array.astype(array.dtype.newbyteorder("<")).tobytes()


def write_rows(array, cell):
    """The rows that are written, by Sherd, to which inner arrays are bytes."""
    elements = cell.elements
    if cell.value == "vlen-array":
        elements = elements.copy()
        for index, each in enumerate(elements.ravel().tolist()):
            elements.ravel()[index] = each.tobytes()
    if cell.written is None:
        array[...] = elements
    else:
        array[: cell.written] = elements[: cell.written]
