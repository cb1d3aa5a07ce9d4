"""Runs in a venv with netCDF4: `read URL` prints a dataset as JSON, `write PATH [unlimited]` writes the one of nczarr_writer.cc."""

import json
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


if sys.argv[1] == "read":
    print(json.dumps(describe(netCDF4.Dataset(sys.argv[2]))))
else:
    write(sys.argv[2], sys.argv[3:] == ["unlimited"])
