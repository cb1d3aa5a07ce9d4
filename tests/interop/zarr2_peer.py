"""zarr-python 2.18 on stores of Zarr v2, run by the Python of .venv-draft2022: one request, one answer.

    zarr2_peer.py read STORE PATH OUT.npy     the array at PATH ("": the root) as zarr-python reads it
    zarr2_peer.py tree STORE                  groups, arrays and attributes by consolidated metadata, as JSON
"""

import json
import sys

import numpy
import zarr


def read(store, path, out):
    array = zarr.open_array(store, path=path or None, mode="r", zarr_version=2)
    numpy.save(out, array[...], allow_pickle=array.dtype == object)


def tree(store):
    def members(group):
        found = {name: {"shape": array.shape, **array.attrs} for name, array in group.arrays()}
        return {**group.attrs, **found, **{name: members(child) for name, child in group.groups()}}

    print(json.dumps(members(zarr.open_consolidated(store)), sort_keys=True))


{"read": read, "tree": tree}[sys.argv[1]](*sys.argv[2:])
