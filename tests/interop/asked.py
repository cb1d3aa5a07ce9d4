"""What docs/formats.md asks the engine, for each of its rows: an array is created, written, and read by another handle; or it is
refused, with an error. A row that should work and does not is Unexplained."""

import base64
import functools
import json

import numpy
import sherd
import zarrs_chunks
from interop import zarr2_cells
from interop.cells import extension

# Types that need a configuration, and families of types.
CONFIGURED = {
    "r": "r16",
    "numpy.datetime64": extension("numpy.datetime64", unit="ns", scale_factor=1),
    "numpy.timedelta64": extension("numpy.timedelta64", unit="s", scale_factor=1),
    "fixed_length_utf32": extension("fixed_length_utf32", length_bytes=8),
    "null_terminated_bytes": extension("null_terminated_bytes", length_bytes=3),
    "raw_bytes": extension("raw_bytes", length_bytes=3),
    "variable_length_bytes": {"name": "variable_length_bytes"},
    "struct": extension("struct", fields=[{"name": "a", "data_type": "int16"}]),
    "structured": extension("structured", fields=[["a", "int16"]]),
    "optional": {"name": "optional", "configuration": {"name": "int16", "configuration": {}}},
}
# Codecs that need a configuration. The elements that are written are 1 to 4, or texts.
TEXTS = ["a", "bc", "", "d"]
CODECS = {
    "numcodecs.astype": {"encode_dtype": "<f8"},
    "bitround": {"keepbits": 5},
    "numcodecs.bitround": {"keepbits": 5},
    "cast_value": {"data_type": "float32"},
    "numcodecs.categorize": {"labels": TEXTS, "dtype": "|O", "astype": "|u1"},
    "conditional": {"codecs": [extension("numcodecs.zlib", level=1), {"name": "crc32c"}]},
    "numcodecs.delta": {"dtype": "<i4"},
    "numcodecs.fixedscaleoffset": {"offset": 0, "scale": 4, "dtype": "<f4", "astype": "|u1"},
    "n5_default": {"codecs": [extension("transpose", order=[1, 0]), extension("bytes", endian="big")]},
    "numcodecs.quantize": {"digits": 2, "dtype": "<f4"},
    "reshape": {"shape": [-1]},
    "scale_offset": {"offset": 0, "scale": 3},
    "numcodecs.szip": {"pixels-per-block": 4},
    "transpose": {"order": [1, 0]},
}
TYPES = ["int32", "float32", "uint8", "bool", "string", CONFIGURED["variable_length_bytes"], CONFIGURED["optional"]]


class Unexplained(Exception):
    """The engine knows nothing of a name, or nothing shows what it does with it."""


def elements(array):
    """1, 2, 3, 4 again and again, or elements whose bytes are all 1, or texts; all of them as the type of the array."""
    dtype, data_type = array.dtype, array.metadata.get("data_type", array.dtype.name)
    name = data_type if isinstance(data_type, str) else data_type["name"]
    count = int(numpy.prod(array.shape))
    numbers = numpy.arange(count) % 4 + 1
    if name.endswith("optional"):
        return numpy.ma.array(numbers.astype("i2"), mask=numbers == 2).reshape(array.shape)
    if dtype.kind in "OTU":
        texts = [TEXTS[number - 1] for number in numbers]
        values = [text.encode() for text in texts] if "bytes" in name else texts
        return numpy.array(values, dtype).reshape(array.shape)
    if name.startswith(("int", "uint", "float", "bool")) and name not in ("int2", "uint2"):
        return numbers.astype(dtype).reshape(array.shape)
    return numpy.frombuffer(b"\1" * (dtype.itemsize * count), dtype).reshape(array.shape)


def equal(found, wanted):
    if numpy.ma.isMaskedArray(wanted):
        return (numpy.ma.getmaskarray(found) == wanted.mask).all() and (found.compressed() == wanted.compressed()).all()
    if wanted.dtype.kind in "OT":
        return found.tolist() == wanted.tolist()
    return found.shape == wanted.shape and found.tobytes() == wanted.tobytes()


def chunks_of(store):
    return sorted(key for key in store.keys() if not key.split("/")[-1].startswith((".z", "zarr.json")))


def written_and_read(store, values):
    """The keys of the chunks."""
    if not equal(sherd.open_array(store)[...], values):
        raise Unexplained(f"other elements are read than were written: {sherd.open_array(store).metadata}")
    keys = chunks_of(store)
    if not keys and values.size:
        raise Unexplained(f"nothing was stored: {sherd.open_array(store).metadata}")
    return keys


def stored(**members):
    """A store in memory with an array that has been written and read, and its elements."""
    store = sherd.MemoryStore()
    array = sherd.create_array(store, **{"shape": (8, 12), "chunks": (4, 6), "dtype": "int32", **members})
    values = elements(array)
    array[...] = values
    written_and_read(store, values)
    return store, values


def edited(store, change):
    """A copy of the store whose metadata have been changed."""
    copy = sherd.MemoryStore()
    for key in chunks_of(store):
        copy.set(key, store.get(key))
    document = json.loads(store.get("zarr.json"))
    change(document)
    copy.set("zarr.json", json.dumps(document).encode())
    return copy


def stores_type(name, format="zarr3"):
    """The name that is written. If that is another one, the array is read by the given one too."""
    dtype = CONFIGURED.get(name, name)
    store, values = stored(dtype=dtype, format=format)
    if format == "zarr2":
        return json.loads(store.get(".zarray"))["dtype"]
    data_type = json.loads(store.get("zarr.json"))["data_type"]
    written = data_type if isinstance(data_type, str) else data_type["name"]

    def spell(document):
        document["data_type"] = dtype
        if name in ("structured", "raw_bytes"):
            document["fill_value"] = base64.b64encode(bytes(values.dtype.itemsize)).decode()

    if written != name:
        written_and_read(edited(store, spell), values)
    return written


def stores_shards():
    store, _ = stored(shards=(8, 12))
    assert json.loads(store.get("zarr.json"))["codecs"][0]["name"] == "sharding_indexed"


def renamed(codecs, old, new):
    count = 0
    for codec in codecs:
        if codec["name"] == old:
            codec["name"] = new
            count += 1
    return count


def stores_with_codec(name, aliases, kind):
    """With the first type that the codec encodes; then each of its other names is read."""
    codec = {"name": name, **({"configuration": CODECS[name]} if name in CODECS else {})}
    codecs = {"array -> array": [codec, "bytes"], "array -> bytes": [codec], "bytes -> bytes": ["bytes", codec]}[kind]
    errors = []
    for dtype in TYPES:
        try:
            store, values = stored(dtype=dtype, codecs=codecs)
            break
        except sherd.Error as error:
            errors.append(str(error))
    else:
        raise Unexplained(f"{name} encodes none of the types; give it a configuration in tests/interop/asked.py: {errors}")
    for alias in (name, *aliases):
        def spell(document, alias=alias):
            if not renamed(document["codecs"], name, alias):
                raise Unexplained(f"{name} is not in the metadata of an array that was created with it")

        written_and_read(edited(store, spell), values)


def reads_codec(name, aliases):
    """A chunk of another program, by each of the codec's names; and no array is created with it."""
    codec, values, chunk = zarrs_chunks.golden(name)
    store, _ = stored(shape=values.shape, chunks=values.shape, dtype=values.dtype.name, codecs=["bytes"])
    store.set(chunks_of(store)[0], chunk)
    for alias in (name, *aliases):
        def spell(document, alias=alias):
            document["codecs"].append({**codec, "name": alias})

        written_and_read(edited(store, spell), values)
    if "can be read but not written" not in str(error_of_codec(name, codec["configuration"])):
        raise Unexplained(f"{name} is not refused as a codec that is only read")


def error_of_codec(name, configuration=None):
    try:
        sherd.create_array(sherd.MemoryStore(), shape=(4,), dtype="int16", codecs=["bytes", {"name": name, "configuration": configuration or {}}])
    except sherd.Error as error:
        return error
    raise Unexplained(f"{name} works, and the engine's table does not have it")


def stores_in_grid(name):
    store, _ = stored(chunks=(4, 6) if name == "regular" else [[1, 7], [2, 4, 6]])
    assert json.loads(store.get("zarr.json"))["chunk_grid"]["name"] == name


def stores_under_keys(encoding):
    store, _ = stored(chunk_key_encoding=encoding)
    separator = encoding["configuration"]["separator"]
    prefix = "" if encoding["name"] == "v2" else "c" + separator
    assert chunks_of(store) == sorted(f"{prefix}{i}{separator}{j}" for i in range(2) for j in range(2))


@functools.cache
def stores_cell(name):
    """A cell of Zarr v2."""
    cell = zarr2_cells.CELLS[name]
    store = sherd.MemoryStore()
    store.set(".zarray", json.dumps(cell.document).encode())
    zarr2_cells.write_rows(sherd.open_array(store, mode="r+"), cell)
    if zarr2_cells.canonical(sherd.open_array(store)[...]) != zarr2_cells.canonical(cell.elements):
        raise Unexplained(f"of the cell {name} other elements are read than were written")
    if cell.elements.size and not chunks_of(store):
        raise Unexplained(f"nothing was stored of the cell {name}")


def error_of_zarray(document):
    """Of opening an array with these members; None if it can be opened."""
    store = sherd.MemoryStore()
    store.set(".zarray", json.dumps({**zarr2_cells.PLAIN, **document}).encode())
    try:
        sherd.open_array(store)
    except sherd.Error as error:
        return error
    return None
