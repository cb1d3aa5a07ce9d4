"""Runs in a venv with netCDF4: `read URL…` prints datasets as a JSON list, `write PATH… [unlimited]` writes the one of
nczarr_writer.cc, `write-more PATH…` one with fill values, byte orders, parts
of chunks and attributes of all kinds, `write-strings PATH…` one with strings, `write-texts PATH…` one with TEXTS as attributes. Each dataset has a process of its own, since netcdf-c may end it; then there is the signal in its place.
"""

import json
import multiprocessing
import sys

import netCDF4
import numpy as np


def plain(value):
    if isinstance(value, np.ndarray):
        return [plain(each) for each in value.ravel().tolist()]
    if isinstance(value, np.generic):
        return plain(value.item())
    return value.decode() if isinstance(value, bytes) else value


def attributes(node):
    return {name: plain(node.getncattr(name)) for name in node.ncattrs() if not name.startswith("_nczarr")}


def describe(group):
    group.set_auto_mask(False)
    return {"dimensions": {k: [len(v), v.isunlimited()] for k, v in group.dimensions.items()}, "attributes": attributes(group),
            "variables": {k: {"type": v.dtype.__name__ if v.dtype is str else str(v.dtype), "dimensions": list(v.dimensions),
                              "attributes": attributes(v), "values": plain(np.asarray(v[...]))} for k, v in group.variables.items()},
            "groups": {k: describe(g) for k, g in group.groups.items()}}


def write(path, unlimited=False):
    dataset = netCDF4.Dataset(path, "w", format="NETCDF4")
    dataset.title, dataset.half, dataset.whole = "root", 0.5, np.int32(42)
    dataset.createDimension("x", 4)
    dataset.createDimension("y", 5)
    dataset.createVariable("vi", "i4", ("x", "y"))[:] = np.arange(20).reshape(4, 5)
    dataset["vi"].units = "K"
    dataset.createVariable("scalar", "f8", ())[...] = 3.5
    dataset.createVariable("letters", "S1", ("x",))[:] = np.array([b"a", b"b", b"c", b"d"])
    for kind in ("i1", "u1", "i2", "u2", "u4", "i8", "u8", "f4"):
        dataset.createVariable(f"v_{kind}", kind, ("x",))[:] = np.arange(4)
    if unlimited:
        dataset.createDimension("t", None)
        dataset.createVariable("vt", "f4", ("t", "x"), chunksizes=(2, 4))[0:2] = np.ones((2, 4))
    group = dataset.createGroup("g1")
    group.about = "in g1"
    group.createDimension("z", 3)
    group.createVariable("gv", "f4", ("x", "z"))[:] = np.arange(12).reshape(4, 3)
    dataset.close()


KINDS = ("i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f4", "f8")


def write_more(path):
    dataset = netCDF4.Dataset(path, "w", format="NETCDF4")
    dataset.setncatts({"words": "größe", "object": '{"a": [1,2]}', "list": "[1,2]", "single": np.int16(-5), "halves": np.array([0.5, -1.25])})
    dataset.createDimension("x", 5)
    dataset.createDimension("y", 7)
    for i, kind in enumerate(KINDS):
        limit = np.iinfo(kind).max if kind[0] != "f" else np.finfo(kind).max / 3
        dataset.createVariable(f"filled_{kind}", kind, ("x",), fill_value=np.dtype(kind).type(7 + i))[1:3] = [1, limit]
        dataset.createVariable(f"default_{kind}", kind, ("x",))[3:4] = [limit]
        dataset.createVariable(f"big_{kind}", kind, ("x",), endian="big")[:] = [0, 1, 2, 100, limit]
        dataset[f"big_{kind}"].setncattr("valid", np.dtype(kind).type(100))
    dataset.createVariable("letters", "S1", ("x",), fill_value=b"*")[1:3] = np.array([b"a", b"b"])
    dataset.createVariable("edge", "i4", ("x", "y"), chunksizes=(3, 4))[:] = np.arange(35).reshape(5, 7)
    dataset.createVariable("sparse", "f8", ("x", "y"), chunksizes=(2, 2), fill_value=np.nan)[3:5, 5:7] = [[1, 2], [3, 4]]
    dataset.close()


def write_strings(path):
    """By themselves, since netcdf-c before 4.9.3 ends with a failed assertion if other variables are written, too."""
    dataset = netCDF4.Dataset(path, "w", format="NETCDF4")
    dataset.createDimension("x", 5)
    dataset.createVariable("texts", str, ("x",))[:] = np.array(["one", "", "größe", "x" * 100, "12"], object)
    dataset["texts"].setncattr("note", "größe")
    dataset.close()


# What JSON can be in text, printed as netcdf-c prints it and otherwise.
TEXTS = ['{"a": 1}', '{"a":1}', '{"a": 1,"b": 2}', '{"a": [1,2], "b": {"c": {}, "d": []}}', '{"a": [1, 2]}', "{}", "[]", "{ }", "[ ]", "[1,2]", "[1, 2]",
         '["a","b"]', '[[1,2],[{"a": null}]]', '{"größe": "größe", "": ""}', r'{"a": "q\"\\\b\f\n\r\t/"}', r'{"a": "\/"}', r'{"a": "\u00e9"}', r'["\u0001"]',
         r'{"a\"b\n": "\\u"}', '{"a": 1.50, "b": -0.0, "c": 1e+5, "d": true, "e": false}', '{"a": "x', '{"a": 1} ', ' {"a": 1}',
         '{"a": NaN}', "[NaN]", '{"_a": [{"b": "NaN"}]}', '{"a": "{\\"b\\": 1}"}', '"{}"', "NaN", "1", "true", "null", '"q"', "", "text"]


def write_texts(path):
    dataset = netCDF4.Dataset(path, "w", format="NETCDF4")
    dataset.setncatts({f"t{i}": text for i, text in enumerate(TEXTS)})
    dataset.close()


def answer(context, work, *arguments):
    answers = context.SimpleQueue()

    def run():
        try:
            answers.put(work(*arguments))
        except Exception as error:
            answers.put(f"{type(error).__name__}: {error}")

    process = context.Process(target=run)
    process.start()
    process.join()
    return answers.get() if not answers.empty() else f"ended with {process.exitcode}"


fork = multiprocessing.get_context("fork")
if sys.argv[1] == "texts":
    print(json.dumps(TEXTS))
elif sys.argv[1] == "read":
    print(json.dumps([answer(fork, lambda url=url: describe(netCDF4.Dataset(url))) for url in sys.argv[2:]]))
else:
    paths = [path for path in sys.argv[2:] if path != "unlimited"]
    work = {"write": write, "write-more": write_more, "write-strings": write_strings, "write-texts": write_texts}[sys.argv[1]]
    unlimited = [True] if "unlimited" in sys.argv else []
    print(json.dumps([answer(fork, work, path, *unlimited) for path in paths]))
