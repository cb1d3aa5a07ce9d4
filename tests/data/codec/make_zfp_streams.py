"""Writes zfp_streams.json: chunks that zfpy encoded, with its header (numcodecs.zfpy) and without (zfp).

    python3 -m venv venv && venv/bin/pip install numpy zfpy==1.0.1
    venv/bin/python make_zfp_streams.py

`read` is what zfpy decodes; it differs from `elements` where the mode loses something. zfpy writes no streams in the
mode expert.
"""
import json
import pathlib

import numpy
import zfpy

MODES = [
    ({"mode": "reversible"}, {"mode": 4, "tolerance": -1}, {}),
    ({"mode": "fixed_rate", "rate": 10.5}, {"mode": 2, "rate": 10.5}, {"rate": 10.5}),
    ({"mode": "fixed_precision", "precision": 19}, {"mode": 3, "precision": 19}, {"precision": 19}),
    ({"mode": "fixed_accuracy", "tolerance": 0.05}, {"mode": 4, "tolerance": 0.05}, {"tolerance": 0.05}),
]
SHAPES = [(9,), (5, 7), (3, 5, 6), (2, 3, 4, 5)]


def elements(dtype, shape):
    count = numpy.prod(shape)
    values = numpy.arange(count) ** 2 % 97 - 31
    return (values * 0.375 if dtype.startswith("float") else values).astype(dtype).reshape(shape)


def rows():
    for dtype in ("int32", "int64", "float32", "float64"):
        for shape in SHAPES:
            array = elements(dtype, shape)
            for zfp, numcodecs, options in MODES:
                for name, configuration in (("zfp", zfp), ("numcodecs.zfpy", numcodecs)):
                    if name == "zfp" and zfp["mode"] == "fixed_accuracy" and dtype.startswith("int"):
                        continue  # libzfp has this mode for floats
                    header = name != "zfp"
                    stream = zfpy.compress_numpy(array, write_header=header, **options)
                    read = zfpy.decompress_numpy(zfpy.compress_numpy(array, write_header=True, **options))
                    codec = {"name": name, "configuration": configuration}
                    yield {"codec": codec, "dtype": dtype, "shape": shape, "elements": array.tobytes().hex(),
                           "read": read.tobytes().hex(), "encoded": stream.hex()}


path = pathlib.Path(__file__).with_name("zfp_streams.json")
path.write_text("[\n" + ",\n".join(json.dumps(row) for row in rows()) + "\n]\n")
