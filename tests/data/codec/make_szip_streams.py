"""Writes szip_streams.json: chunks as HDF5 1.10.8 of Debian 12, with libaec 1.0.6, encodes them by its filter szip.

HDF5 derives the bits per pixel from the type, and the pixels per scanline from the last length of the chunk; netcdf-c
does the latter from that of the variable, so a chunk as long as its array is encoded alike by both.
"""
import ctypes
import json
import os

import numpy as np

HDF5 = ctypes.CDLL("libhdf5_serial.so.103")
ID, SIZE = ctypes.c_int64, ctypes.c_uint64
for name in ("H5Pcreate", "H5Fcreate", "H5Screate_simple", "H5Dcreate2"):
    getattr(HDF5, name).restype = ID
HDF5.H5open()
TYPES = {"uint8": "U8", "int16": "I16", "uint32": "U32", "int64": "I64", "float32": "F32", "float64": "F64"}


def handle(symbol):
    return ID(ID.in_dll(HDF5, symbol + "_g").value)


def hdf5_type(name, big):
    prefix = "H5T_IEEE_" if name.startswith("f") else "H5T_STD_"
    return handle(prefix + TYPES[name] + ("BE" if big else "LE"))


def encoded(elements, big, mask, pixels):
    """The stored bytes of a dataset with one chunk; None where the filter made them no smaller and was left out."""
    access = HDF5.H5Pcreate(handle("H5P_CLS_FILE_ACCESS_ID"))
    assert HDF5.H5Pset_fapl_core(ID(access), SIZE(1 << 16), ctypes.c_bool(False)) >= 0
    file = HDF5.H5Fcreate(b"szip.h5", ctypes.c_uint(2), ID(0), ID(access))
    shape = (SIZE * elements.ndim)(*elements.shape)
    space = HDF5.H5Screate_simple(elements.ndim, shape, None)
    creation = HDF5.H5Pcreate(handle("H5P_CLS_DATASET_CREATE_ID"))
    assert HDF5.H5Pset_chunk(ID(creation), elements.ndim, shape) >= 0
    assert HDF5.H5Pset_szip(ID(creation), ctypes.c_uint(mask), ctypes.c_uint(pixels)) >= 0
    dtype = hdf5_type(elements.dtype.name, big)
    dataset = HDF5.H5Dcreate2(ID(file), b"v", dtype, ID(space), ID(0), ID(creation), ID(0))
    assert dataset >= 0
    given = elements.astype(elements.dtype.newbyteorder(">" if big else "<"))
    assert HDF5.H5Dwrite(ID(dataset), dtype, ID(0), ID(0), ID(0), given.ctypes.data_as(ctypes.c_void_p)) >= 0
    origin = (SIZE * elements.ndim)(*[0] * elements.ndim)
    size = SIZE()
    assert HDF5.H5Dget_chunk_storage_size(ID(dataset), origin, ctypes.byref(size)) >= 0
    stored = (ctypes.c_ubyte * size.value)()
    left_out = ctypes.c_uint32()
    assert HDF5.H5Dread_chunk(ID(dataset), ID(0), origin, ctypes.byref(left_out), stored) >= 0
    HDF5.H5Dclose(ID(dataset))
    HDF5.H5Fclose(ID(file))
    return None if left_out.value else bytes(stored), given.tobytes()


def main():
    random = np.random.default_rng(7)
    rows = []
    for name in TYPES:
        for mask, pixels, shape in ((32, 32, (4, 32)), (32, 16, (3, 40)), (4, 8, (7, 13)), (32, 8, (40, 3)),
                                    (32, 2, (1, 300)), (4, 32, (2, 70))):
            steps = random.integers(-2, 3, shape).cumsum(axis=-1) + 50
            elements = (steps / 4 if name.startswith("f") else steps).astype(name)
            for big in (False, True) if elements.dtype.itemsize > 1 else (False,):
                stored, given = encoded(elements, big, mask, pixels)
                if stored is None:
                    continue
                rows.append({"dtype": name, "endian": "big" if big else "little", "shape": list(shape), "mask": mask,
                             "pixels-per-block": pixels, "elements": given.hex(), "encoded": stored.hex()})
    path = os.path.join(os.path.dirname(__file__), "szip_streams.json")
    with open(path, "w") as file:
        file.write("[" + ",\n".join(json.dumps(row) for row in rows) + "]\n")
    print(len(rows), "streams,", os.path.getsize(path), "bytes")


main()
