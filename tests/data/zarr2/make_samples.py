"""Makes samples.zip: arrays of Zarr v2 as zarr-python writes them, with their elements as .npy and a manifest.

    .venv-draft2022/bin/python tests/data/zarr2/make_samples.py    (zarr-python 2.18.2, numcodecs 0.13.1)

Elements of variable length are lists in the manifest.
"""

import io
import json
import pathlib
import warnings
import zipfile

import numcodecs
import numpy
import zarr

warnings.simplefilter("ignore")
HERE = pathlib.Path(__file__).parent
NUMBERS = numpy.arange(35).reshape(7, 5)
STRUCT = [("a", ">i2"), ("b", [("c", "u1"), ("d", ">f4")])]


def structured(dtype):
    values = numpy.zeros((7, 5), dtype)
    values["a"] = NUMBERS
    return values


def cases():
    """Name, elements, keywords of zarr.create."""
    for dtype in ["|b1", "|i1", "|u1", "<f2", "<c8", ">c16", "<M8[ns]", ">M8[25s]", "<m8[D]", "<U3", ">U3", "|S4",
                  *(order + kind for order in "<>" for kind in ("i2", "i4", "i8", "u2", "u4", "u8", "f4", "f8"))]:
        yield "type " + dtype.strip("|"), NUMBERS.astype(dtype), {}
    yield "type V3", numpy.frombuffer(bytes(range(105)), "V3").reshape(7, 5), {}
    yield "type struct", structured(STRUCT), {"fill_value": numpy.array((1, (2, 3.5)), STRUCT)[()]}
    for name, fill in [("null", None), ("number", 1.5), ("nan", numpy.nan), ("infinity", -numpy.inf)]:
        yield "fill " + name, NUMBERS.astype("<f8"), {"fill_value": fill}
    yield "fill bool", NUMBERS % 2 == 0, {"fill_value": True}
    yield "fill complex", NUMBERS.astype("<c16"), {"fill_value": complex(numpy.nan, 2)}
    yield "fill bytes", NUMBERS.astype("S4"), {"fill_value": b"ab"}
    yield "fill text", NUMBERS.astype("<U4"), {"fill_value": "é"}
    yield "fill time", NUMBERS.astype("<M8[s]"), {"fill_value": numpy.datetime64("NaT", "s")}
    compressors = [
        None, numcodecs.Zlib(1), numcodecs.GZip(1), numcodecs.BZ2(1), numcodecs.LZ4(), numcodecs.LZMA(preset=1),
        numcodecs.Zstd(3), *(numcodecs.Blosc(cname, 5, shuffle)
                             for cname in ("blosclz", "lz4", "lz4hc", "zlib", "zstd") for shuffle in (0, 1, 2, -1))
    ]
    for number, compressor in enumerate(compressors):
        yield f"compressor {number}", NUMBERS.astype("<i4"), {"compressor": compressor}
    for order in "<>":
        delta = numcodecs.Delta(order + "i4", order + "i2")
        yield f"filter delta {order}", NUMBERS.astype(order + "i4"), {"filters": [delta]}
        scale = numcodecs.FixedScaleOffset(offset=1, scale=10, dtype=order + "f8", astype=order + "i4")
        yield f"filter fixedscaleoffset {order}", NUMBERS.astype(order + "f8"), {"filters": [scale]}
    for codec in [numcodecs.Shuffle(4), numcodecs.Fletcher32(), numcodecs.CRC32(), numcodecs.Adler32()]:
        yield "filter " + codec.codec_id, NUMBERS.astype("<i4"), {"filters": [codec]}
    yield "filters", NUMBERS.astype("<i4"), {"filters": [numcodecs.Delta("<i4"), numcodecs.Shuffle(4)]}
    for order in "CF":
        for separator in "./":
            yield f"layout {order} {separator}", NUMBERS.astype(">i4"), {"order": order, "dimension_separator": separator}
    yield "shape scalar", numpy.array(7, "<i4"), {}
    yield "shape empty", numpy.zeros((0, 5), "<i4"), {"chunks": False}
    yield "shape large chunk", NUMBERS.astype("<i4"), {"chunks": (20, 30)}
    texts = numpy.array(["", "a", "é", "日本"] * 2, object)
    yield "text", texts, {"object_codec": numcodecs.VLenUTF8(), "chunks": 3, "fill_value": ""}
    yield "text 0", texts, {"object_codec": numcodecs.VLenUTF8(), "chunks": 3}
    yield "bytes", numpy.array([b"", b"a", b"\0\xff"], object), {"object_codec": numcodecs.VLenBytes(), "chunks": 2}


def main():
    manifest = {}
    with zipfile.ZipFile(HERE / "samples.zip", "w", zipfile.ZIP_DEFLATED) as out:

        def add(name, data):
            out.writestr(zipfile.ZipInfo(name, (2026, 1, 1, 0, 0, 0)), data)

        for number, (name, values, keywords) in enumerate(cases()):
            store = zarr.MemoryStore()
            keywords = {"chunks": tuple(min(3, length) for length in values.shape), **keywords}
            array = zarr.create(values.shape, dtype=values.dtype, store=store, **keywords)
            if number % 2 == 1 and values.ndim == 2 and len(values):
                values = values.copy()
                values[3:] = array[3:]  # of chunks that are missing
                array[:3] = values[:3]
            elif values.size:
                array[...] = values
            array.attrs.update({"name": name, "number": 1.50})
            about = {"folder": f"{number:03}", "fill_null": array.fill_value is None}
            if values.dtype == object:
                about["elements"] = [each if isinstance(each, str) else each.hex() for each in array[...].tolist()]
            else:
                data = io.BytesIO()
                numpy.save(data, array[...] if values.size else values)
                add(f"{about['folder']}.npy", data.getvalue())
            manifest[name] = about
            for key in sorted(store):
                add(f"{about['folder']}/{key}", store[key])
        store = zarr.MemoryStore()
        root = zarr.group(store)
        root.attrs["title"] = "root"
        root.create_group("g").create_dataset("a", data=NUMBERS, chunks=(3, 3)).attrs["_ARRAY_DIMENSIONS"] = ["y", "x"]
        root.create_dataset("b", data=NUMBERS, chunks=(3, 3))
        zarr.consolidate_metadata(store)
        for key in sorted(store):
            add(f"tree/{key}", store[key])
        add("manifest.json", json.dumps(manifest, indent=1))


main()
