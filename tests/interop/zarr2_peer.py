"""zarr-python 2.18 on stores of Zarr v2, run by the Python of .venv-draft2022: one request, one answer.

    zarr2_peer.py read STORE PATH OUT.npy     the array at PATH ("": the root) as zarr-python reads it
    zarr2_peer.py tree STORE                  groups, arrays and attributes by consolidated metadata, as JSON
    zarr2_peer.py many                        requests as a JSON list on standard input: {do, store, file, rows}; the answer
                                              is a list of errors, null where there is none
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


def answer(request):
    array = zarr.open_array(request["store"], path="a", mode="r" if request["do"] == "read" else "r+", zarr_version=2)
    if request["do"] == "read":
        numpy.save(request["file"], array[...], allow_pickle=True)
        return
    elements, rows = numpy.load(request["file"], allow_pickle=True), request["rows"]
    if rows is None:
        array[...] = elements
    else:
        array[:rows] = elements[:rows]


def many():
    errors = []
    for request in json.load(sys.stdin):
        try:
            errors.append(answer(request))
        except Exception as error:
            errors.append(f"{type(error).__name__}: {error}")
    print(json.dumps(errors))


{"read": read, "tree": tree, "many": many}[sys.argv[1]](*sys.argv[2:])
