#!/usr/bin/env python3
"""Made the HDF5 files here, with h5py: files that libnetcdf misreads, lists in part, or crashes on."""

import pathlib

import h5py
import numpy

HERE = pathlib.Path(__file__).parent
OK = numpy.arange(3.0)


def make(name, fill):
    with h5py.File(HERE / name, "w", libver=("v108", "v108")) as file:
        file["ok"] = OK
        fill(file)


def types(file):
    file["boolean"] = numpy.array([True])
    file["complex"] = numpy.array([1j])
    file["group/opaque"] = numpy.zeros(1, "V5")
    file["group/wide"] = numpy.zeros(1, numpy.longdouble)
    file.attrs["choice"] = True
    file.attrs["number"] = 3


def texts(file):
    file["fixed"] = numpy.array([[b"ab", b""], [b"c", b"defg"]], "S4")


def tables(file):
    file["lost"] = OK
    file["lost"].attrs["table"] = numpy.eye(2)
    group = file.create_group("group")
    group.attrs["table"], group.attrs["text"], group.attrs["list"] = numpy.eye(2), "text", [1.5, 2.5]


def scale(file, length):
    file["x"] = numpy.arange(float(length))
    file["x"].make_scale("x")


def longer_scale(file):
    scale(file, 5)
    file.create_dataset("v", data=OK).dims[0].attach_scale(file["x"])


def second_link(file):
    scale(file, 3)
    file.create_dataset("v", data=OK).dims[0].attach_scale(file["x"])
    file["other"] = file["x"]


def no_scale(file):
    longer_scale(file)
    del file["x"]


def scalar_scale(file):
    file["x"] = 1.0
    file["x"].make_scale("x")


make("types.h5", types)
make("texts.h5", texts)
make("tables.h5", tables)
make("longer_scale.h5", longer_scale)
make("second_link.h5", second_link)
make("no_scale.h5", no_scale)
make("scalar_scale.h5", scalar_scale)
make("odd_list.h5", lambda file: file["ok"].attrs.update({"DIMENSION_LIST": 5}))
make("text_fill.h5", lambda file: file.create_dataset("t", (3,), "S4", fillvalue=b"none"))
make("self.h5", lambda file: file.create_group("a/b").update({"up": file["a"]}))
