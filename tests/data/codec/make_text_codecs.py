#!/usr/bin/env python3
"""Writes text_codecs.json: what numcodecs makes of arrays of texts, for tests/codec/text_codecs_test.cc.

    python3 -m venv venv && venv/bin/pip install numcodecs==0.16.6 msgpack==1.2.4
    venv/bin/python make_text_codecs.py

Every case has a codec, the shape of a chunk, its texts in C order and its bytes in hex.
"""

import json
import pathlib

import numcodecs
import numpy as np

TEXTS = ["", "a", "grüße", "𝄞 clef", "x" * 300, 'tab\t"quoted"']
cases = []


def add(codec, array):
    configuration = codec.get_config()
    name = configuration.pop("id")
    encoded = codec.encode(array)
    cases.append({"name": f"numcodecs.{name}", "configuration": configuration, "shape": list(array.shape),
                  "texts": [str(text) for text in array.ravel()], "encoded": bytes(np.asarray(encoded)).hex()
                  if isinstance(encoded, np.ndarray) else bytes(encoded).hex()})


flat = np.array(TEXTS, object)
for array in [flat, flat.reshape(2, 3), flat.reshape(3, 1, 2), np.array(["only"], object), np.array(["z"] * 70000, object)[:20]]:
    add(numcodecs.JSON(), array)
    add(numcodecs.MsgPack(), array)
add(numcodecs.JSON(), np.array("no dimension", object))
add(numcodecs.JSON(ensure_ascii=False, indent=1), flat)
add(numcodecs.MsgPack(), np.array([str(i) for i in range(20)], object))
add(numcodecs.Categorize(["red", "grün", "blue"], dtype=object), np.array(["blue", "red", "", "grün"], object))
for astype in ("<u2", ">u2"):
    add(numcodecs.Categorize(["red", "grün"], dtype=object, astype=astype), np.array(["grün", "red"], object))
arrays = np.empty(2, object)
arrays[:] = [np.array([1, 2], "<i4"), np.array([], "<i4")]
path = pathlib.Path(__file__).with_name("text_codecs.json")
path.write_text('{"cases": [\n' + ",\n".join(map(json.dumps, cases)) + '\n],\n"vlen_array": '
                + json.dumps(bytes(numcodecs.VLenArray("<i4").encode(arrays)).hex()) + "}\n")
