"""Slices along an unlimited dimension of a dataset that is being written."""

import numpy as np
import sherd
from sherd import netcdf


def grown(start, stop, values):
    """0, 1, 2 along an unlimited dimension, after an assignment."""
    store = sherd.MemoryStore()
    with netcdf.create_dataset(store) as dataset:
        dataset.create_dimension("t")
        variable = dataset.create_variable("v", "int", "t", fill_value=-9)
        variable[:] = [0, 1, 2]
        variable[start:stop] = values
    return netcdf.open_dataset(store)["v"][:].tolist()


def test_slices_within_an_unlimited_dimension_are_those_of_numpy():
    bounds = (None, *range(-5, 4))
    for start, stop in [(start, stop) for start in bounds for stop in bounds if (start, stop) != (3, None)]:
        expected = np.arange(3)
        expected[start:stop] = 7
        assert grown(start, stop, 7) == expected.tolist(), (start, stop)


def test_slices_count_from_an_unlimited_dimensions_length_and_grow_it():
    assert grown(-1, 5, [7, 8, 9]) == [0, 1, 7, 8, 9] and grown(-2, None, [7, 8]) == [0, 7, 8]
    assert grown(-5, 4, [6, 7, 8, 9]) == [6, 7, 8, 9] and grown(-5, None, [1]) == [1, 1, 1]
    assert grown(-1, None, [7, 8]) == [0, 1, 7, 8] and grown(None, None, [5, 6, 7, 8]) == [5, 6, 7, 8]
    assert grown(3, None, 7) == [0, 1, 2, 7] and grown(5, None, [7, 8]) == [0, 1, 2, -9, -9, 7, 8]
    assert grown(4, 6, 7) == [0, 1, 2, -9, 7, 7] and grown(np.int8(-1), np.uint8(4), 7) == [0, 1, 7, 7]
    for start, stop in ((6, 5), (6, -1), (6, 2), (3, -5)):
        assert grown(start, stop, 7) == grown(start, stop, []) == [0, 1, 2]
