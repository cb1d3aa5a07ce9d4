"""array.read_many() compared with array[...]: each result equals that of the selection alone."""

import random

import numpy as np
import pytest
import sherd

LAYOUTS = {
    "plain": {"chunks": (4, 5, 6)},
    "sharded": {"chunks": (2, 5, 3), "shards": (8, 10, 6)},
    "raw": {"chunks": (8, 10, 12), "compressors": None},
}


@pytest.fixture(params=LAYOUTS)
def array(request):
    numbers = np.arange(16 * 20 * 24, dtype="i4").reshape(16, 20, 24)
    return sherd.create_array(sherd.MemoryStore(), data=numbers, **LAYOUTS[request.param])


def drawn(source, shape):
    """A selection of any kind that array[...] takes."""
    def item(length):
        if source.random() < 0.3:
            return source.randrange(-length, length)
        bounds = [source.choice([None, source.randrange(-length - 3, length + 3)]) for _ in range(2)]
        return slice(*bounds, source.choice([None, 1, 2, -1, -3]))

    kind = source.random()
    if kind < 0.1:
        return np.random.default_rng(source.randrange(100)).random(shape) < 0.1
    if kind < 0.3:
        listed = source.randrange(len(shape))
        indices = [source.randrange(shape[listed]) for _ in range(source.randrange(5))]
        return tuple(indices if d == listed else slice(2, 9, 3) for d in range(len(shape)))
    return tuple(item(length) for length in shape[: source.randrange(len(shape) + 1)])


def same(result, expected):
    return type(result) is type(expected) and result.shape == expected.shape and np.array_equal(result, expected)


def test_each_result_equals_reading_that_selection_alone(array):
    source = random.Random(1)
    numbers = array[...]
    for _ in range(60):
        keys = [drawn(source, array.shape) for _ in range(source.randrange(9))]
        keys += keys[:2]
        results = array.read_many(keys)
        assert isinstance(results, list) and len(results) == len(keys)
        for key, result in zip(keys, results):
            assert same(result, array[key])
            assert np.array_equal(result, numbers[key])


def test_integers_drop_their_dimensions_and_one_element_is_a_scalar(array):
    results = array.read_many([(3, slice(None), 5), (1, 2, 3), (1, 2, 3, ...), np.s_[4:5, 0, 0]])
    assert [np.shape(result) for result in results] == [(20,), (), (), (1,)]
    assert isinstance(results[1], np.int32)
    assert isinstance(results[2], np.ndarray)


def test_out_is_filled_and_returned(array):
    numbers = array[...]
    keys = [np.s_[0:3, 4, 5:9], np.s_[::-2, 0, 0], np.s_[2, 3, 4, ...], numbers % 7 == 0]
    out = [np.zeros((3, 4), "i4", order="F"), np.zeros((16,), "i4")[::2], np.zeros((), "i4"), np.zeros((numbers % 7 == 0).sum(), "i4")]
    results = array.read_many(keys, out=out)
    for key, given, result in zip(keys, out, results):
        assert result is given
        assert np.array_equal(given, numbers[key])
    buffer = bytearray(4 * 24)
    array.read_many([(1, 2), (3, 4)], out=(buffer, np.zeros(24, "i4")))
    assert np.array_equal(np.frombuffer(buffer, "i4"), numbers[1, 2])


def test_any_iterable_of_selections_will_do(array):
    results = array.read_many((i, 0) for i in range(3))
    assert [same(result, array[i, 0]) for i, result in enumerate(results)] == [True] * 3
    assert array.read_many([]) == []
    assert array.read_many((), out=[]) == []
    assert array.read_many([np.s_[3:3], ...])[0].shape == (0, 20, 24)


def test_results_have_the_order_of_the_configuration():
    array = sherd.create_array(sherd.MemoryStore(), data=np.arange(12).reshape(3, 4), config={"order": "F"})
    result, = array.read_many([...])
    assert result.flags.f_contiguous and np.array_equal(result, np.arange(12).reshape(3, 4))


@pytest.mark.parametrize("value", ["text", b"bytes"])
def test_elements_of_variable_length_are_read_together(value):
    values = np.array([value[:1] * i for i in range(20)], dtype=object)
    array = sherd.create_array(sherd.MemoryStore(), shape=(20,), dtype=type(value), chunks=(3,))
    array[...] = values
    out = [np.empty(4, object), np.empty(2, object)]
    assert [list(result) for result in array.read_many([np.s_[2:6], [19, 0]], out=out)] == [list(values[2:6]), [values[19], values[0]]]
    assert list(out[0]) == list(values[2:6])
    assert array.read_many([7, np.s_[7:8]])[0] == values[7]


@pytest.mark.parametrize(
    ("keys", "error"),
    [([..., 99], IndexError), ([0, "x"], IndexError), ([0, None], IndexError), ([0, (0, 0, 0, 0)], IndexError)],
)
def test_a_selection_that_does_not_fit_is_named_by_its_number(array, keys, error):
    with pytest.raises(error, match="region 1: "):
        array.read_many(keys)


def test_memory_that_does_not_fit_is_named_by_its_number(array):
    good = np.zeros((20, 24), "i4")
    with pytest.raises(sherd.InvalidArgument, match="region 1: out has shape"):
        array.read_many([0, 1], out=[good, np.zeros(3, "i4")])
    with pytest.raises(sherd.InvalidArgument, match="region 0: out has dtype"):
        array.read_many([0, 1], out=[good.astype("f4"), good])
    with pytest.raises(sherd.InvalidArgument, match="out has 1 arrays for 2 selections"):
        array.read_many([0, 1], out=[good])
    assert not good.any()


def test_each_index_and_each_chunk_is_read_once(tmp_path):
    numbers = np.arange(64 * 64, dtype="u2").reshape(64, 64)
    path = tmp_path / "a.zarr"
    sherd.create_array(path, data=numbers, chunks=(8, 8), shards=(64, 64))
    array = sherd.open_array(path, config={"coalesce_gap": 0})
    keys = [np.s_[8 * i + d : 8 * i + 8, 0:8] for i in range(0, 8, 2) for d in (0, 1)]
    with sherd.record() as log:
        results = array.read_many(keys)
    assert log.stats["chunks_decoded"] == 4
    assert len(log.requests) == 1 + 4
    assert all(np.array_equal(result, numbers[key]) for key, result in zip(keys, results))


def test_small_results_share_memory_that_outlives_the_others():
    numbers = np.arange(300 * 4096, dtype="i4").reshape(300, 4096)
    array = sherd.create_array(sherd.MemoryStore(), data=numbers, chunks=(50, 4096))
    kept = array.read_many([i, np.s_[i, :3], np.s_[0:0]][i % 3] for i in range(300))[150]
    array.read_many(range(300))
    assert np.array_equal(kept, numbers[150])
    results = array.read_many(range(300))
    for i, result in enumerate(results):
        assert result.flags.writeable and result.ctypes.data % 64 == 0
        result += i
    assert all(np.array_equal(result, numbers[i] + i) for i, result in enumerate(results))
