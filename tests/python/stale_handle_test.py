"""Handles of arrays that another handle has changed, erased or replaced since they were opened."""

import threading

import numpy as np
import pytest

import sherd


@pytest.fixture
def stale(tmp_path):
    """A handle, and another one of the same array."""
    array = sherd.create_array(tmp_path, name="a", shape=(10,), chunks=(4,), dtype="uint16")
    return array, sherd.open_array(tmp_path, path="a", mode="r+")


def test_an_index_beyond_the_end_of_a_shrunk_array_is_an_index_error(stale):
    array, other = stale
    other.resize((5,))
    with pytest.raises(IndexError, match="length 5"):
        array[8] = 1
    assert array.shape == (5,)
    other.resize((10,))
    assert other[:].tolist() == [0] * 10


def test_a_slice_of_a_shrunk_array_ends_where_the_array_ends(stale):
    array, other = stale
    other.resize((5,))
    array[3:] = 7
    assert other[:].tolist() == [0, 0, 0, 7, 7]


WRITES = {
    "index": lambda array, n: array.__setitem__(-1, 7),
    "slice": lambda array, n: array.__setitem__(slice(-1, None), 7),
    "orthogonal": lambda array, n: array.oindex.__setitem__([-1], 7),
    "coordinates": lambda array, n: array.vindex.__setitem__(-1, 7),
    "block": lambda array, n: array.blocks.__setitem__(-1, 7),
    "all": lambda array, n: array.__setitem__(slice(None), np.arange(n)),
    "mask": lambda array, n: array.__setitem__(np.arange(n) % 2 == 1, 7),
    "past the old end": lambda array, n: array.__setitem__(n - 1, 7),
}


@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)
@pytest.mark.parametrize("length", [6, 14])
def test_a_key_selects_what_it_would_in_a_handle_opened_now(stale, length, write):
    array, other = stale
    other.resize((length,))
    write(array, length)
    found = other[:].tolist()
    other[:] = 0
    write(other, length)
    assert found == other[:].tolist() and found[-1] != 0


def test_writes_go_on_while_another_handle_resizes(stale):
    array, other = stale
    ended = threading.Event()

    def resize():
        while not ended.is_set():
            for length in range(10, 20):
                other.resize((length,))

    thread = threading.Thread(target=resize)
    thread.start()
    try:
        for i in range(200):
            array[3:6] = i
            array[-2:] = i
            array[:] = i
            assert array[3:6].tolist() == [i] * 3
    finally:
        ended.set()
        thread.join()


def test_an_erased_array_is_a_conflict_and_its_path_can_be_used_again(stale, tmp_path):
    array, _ = stale
    del sherd.open_group(tmp_path, mode="r+")["a"]
    with pytest.raises(sherd.Conflict, match="erased since it was opened; open it again"):
        array[:] = 1
    assert not (tmp_path / "a").exists()
    sherd.create_array(tmp_path, name="a", shape=(3,), dtype="uint8")


def test_an_array_of_another_type_that_replaced_it_is_left_alone(stale, tmp_path):
    array, _ = stale
    sherd.create_array(tmp_path, name="a", data=np.arange(10, dtype="float64"), overwrite=True)
    for change in (lambda: array.__setitem__(slice(None), 1), lambda: array.attrs.update(a=1), lambda: array.append([1])):
        with pytest.raises(sherd.Conflict, match="replaced since it was opened; open it again"):
            change()
    assert sherd.open_array(tmp_path, path="a")[:].tolist() == list(range(10))


@pytest.mark.parametrize("selection", [np.s_[0:0], np.s_[:, 0:0], np.s_[0:0, ::2], np.s_[0:0, 0]])
def test_selections_without_elements_cost_nothing(selection):
    array = sherd.create_array(sherd.MemoryStore(), shape=(5, 10**12), chunks=(1, 10), dtype="uint8")
    assert array[selection].size == 0
    array[selection] = 1
    assert array.nchunks_initialized == 0
