"""netcdf-c on stores of Zarr v2: requests as a JSON list on standard input, {store, file}; the answer is a list of errors, null
where there is none. Each request has a process of its own, since netcdf-c may end it.
"""

import json
import multiprocessing
import sys

import netCDF4
import numpy


def read(store, file, errors):
    try:
        with netCDF4.Dataset(f"file://{store}#mode=zarr,file") as dataset:
            variable = dataset["a"]
            variable.set_auto_maskandscale(False)
            numpy.save(file, numpy.asarray(variable[...]), allow_pickle=True)
        errors.put(None)
    except Exception as error:
        errors.put(f"{type(error).__name__}: {error}")


def answer(context, request):
    errors = context.SimpleQueue()
    process = context.Process(target=read, args=(request["store"], request["file"], errors))
    process.start()
    process.join()
    return errors.get() if not errors.empty() else f"ended with {process.exitcode}"


print(json.dumps([answer(multiprocessing.get_context("fork"), request) for request in json.load(sys.stdin)]))
