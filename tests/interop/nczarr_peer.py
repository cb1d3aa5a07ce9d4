"""Runs in a venv with netCDF4: `read URL…` prints datasets as a JSON list, `write PATH… [unlimited]` writes the one of
nczarr_writer.cc. Each dataset has a process of its own, since netcdf-c may end it; then there is the signal in its place.
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
if sys.argv[1] == "read":
    print(json.dumps([answer(fork, lambda url=url: describe(netCDF4.Dataset(url))) for url in sys.argv[2:]]))
else:
    paths = [path for path in sys.argv[2:] if path != "unlimited"]
    print(json.dumps([answer(fork, write, path, "unlimited" in sys.argv) for path in paths]))
