"""What is read and written is what NumPy reads and writes, under selections of every kind."""

import itertools

import numpy as np
import pytest
import sherd
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

SHAPES = [(), (1,), (13,), (0, 3), (7, 5), (4, 1, 6), (3, 4, 2, 5)]
QUICK = settings(max_examples=60, derandomize=True, database=None, deadline=None, suppress_health_check=list(HealthCheck))


def sample(shape, dtype="int32"):
    data = np.arange(1, np.prod(shape, dtype=int) + 1).reshape(shape)
    if dtype == "string":
        return np.array([f"é{i}" * (i % 4) for i in data.flat], object).reshape(shape)
    return data.astype(dtype)


def stored(data, dtype, sharded=False, order="C"):
    """The data as an array; of its own, since tests write to it."""
    chunks = tuple(max(1, (length + 2) // 3) for length in data.shape)
    shards = tuple(2 * chunk for chunk in chunks) if sharded and chunks else None
    array = sherd.create_array(sherd.MemoryStore(), shape=data.shape, dtype=dtype, chunks=chunks, shards=shards, config={"order": order})
    array[...] = data
    return array


def slices(length):
    bound = st.none() | st.integers(-length - 2, length + 2)
    return st.builds(slice, bound, bound, st.none() | st.integers(-4, 4).filter(bool))


def basic(shape):
    """Integers and slices for some dimensions, perhaps with an ellipsis."""

    def items(draw):
        count = draw(st.integers(0, len(shape)))
        split = draw(st.integers(0, count))
        ellipsis = count < len(shape) or draw(st.booleans())
        dimensions = [*range(split), *range(len(shape) - (count - split), len(shape))]
        chosen = []
        for d in dimensions:
            integer = shape[d] > 0 and draw(st.booleans())
            chosen.append(draw(st.integers(-shape[d], shape[d] - 1) if integer else slices(shape[d])))
        if ellipsis:
            chosen.insert(split, Ellipsis)
        return tuple(chosen)

    return st.composite(items)()


def axis(length):
    kinds = [slices(length), st.lists(st.booleans(), min_size=length, max_size=length).map(lambda mask: np.array(mask, bool))]
    if length:
        kinds += [st.integers(-length, length - 1), st.lists(st.integers(-length, length - 1), max_size=8)]
    return st.one_of(kinds)


def orthogonal_view(data, key):
    """NumPy's words for oindex: np.ix_, with the dimensions of integers taken away."""
    lists, dropped = [], []
    for d, (item, length) in enumerate(zip(key, data.shape, strict=True)):
        if isinstance(item, int):
            dropped.append(d)
            item = [item]
        lists.append(np.arange(length)[np.array(item, int) if isinstance(item, list) else item])
    return np.ix_(*lists), tuple(dropped)


def same(found, wanted):
    assert type(found) is type(wanted), (type(found), type(wanted))
    if isinstance(wanted, np.ndarray):
        assert found.shape == wanted.shape and found.dtype == wanted.dtype
    assert np.array_equal(found, wanted)


@pytest.mark.parametrize("dtype", ["int32", "string"])
@pytest.mark.parametrize("sharded", [False, True])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_basic_indexing_selects_what_numpy_selects(shape, sharded, dtype):
    data = sample(shape, dtype)
    array = stored(data, dtype, sharded)

    @QUICK
    @given(basic(shape), st.sampled_from("CF"))
    def check(key, order):
        wanted = data[key]
        same(array[key], wanted)
        same(array.read(key), wanted)
        if isinstance(wanted, np.ndarray):
            out = np.empty(wanted.shape, wanted.dtype, order=order)
            assert array.read(key, out=out) is out
            same(out, wanted)

    check()


@pytest.mark.parametrize("dtype", ["int32", "string"])
@pytest.mark.parametrize("shape", [s for s in SHAPES if s], ids=str)
def test_orthogonal_indexing_selects_what_numpy_selects(shape, dtype):
    data = sample(shape, dtype)
    array = stored(data, dtype, sharded=True)

    @QUICK
    @given(st.tuples(*map(axis, shape)))
    def check(key):
        lists, dropped = orthogonal_view(data, key)
        found = array.oindex[key]
        wanted = data[lists].squeeze(dropped)
        assert np.array_equal(found, wanted) and np.shape(found) == wanted.shape

    check()


@pytest.mark.parametrize("shape", [(13,), (7, 5), (3, 4, 2, 5)], ids=str)
def test_points_and_masks_select_what_numpy_selects(shape):
    data = sample(shape)
    array = stored(data, "int32", sharded=True)

    @QUICK
    @given(st.data())
    def check(draw):
        common = draw.draw(st.sampled_from([(), (1,), (4,), (2, 3), (0,), (2, 0)]))
        arrays = []
        for length in shape:
            own = draw.draw(st.sampled_from([common, (1,) * len(common)]))
            count = int(np.prod(own, dtype=int))
            elements = draw.draw(st.lists(st.integers(-length, length - 1), min_size=count, max_size=count))
            arrays.append(np.array(elements, int).reshape(own))
        key = tuple(arrays)
        wanted = np.asarray(data[key])
        found = array.vindex[key]
        assert np.array_equal(found, wanted) and np.shape(found) == wanted.shape
        mask = np.random.default_rng(draw.draw(st.integers(0, 2**32))).random(shape) < draw.draw(st.sampled_from([0, 0.1, 0.5, 1]))
        same(array[mask], data[mask])
        same(array.vindex[mask], data[mask])

    check()


@pytest.mark.parametrize("dtype", ["int32", "string"])
@pytest.mark.parametrize("sharded", [False, True])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_an_assignment_changes_what_numpy_changes(shape, sharded, dtype):
    data = sample(shape, dtype)
    array = stored(data, dtype, sharded)

    @QUICK
    @given(basic(shape), st.data())
    def check(key, draw):
        if not isinstance(data[key], np.ndarray):
            value = data[key] * 2
        else:
            fitting = [draw.draw(st.sampled_from([1, length])) for length in data[key].shape]
            fitting = [1] * draw.draw(st.integers(0, 2)) + fitting[draw.draw(st.integers(0, len(fitting))) :]
            value = sample(tuple(fitting), dtype)
        array[key] = value
        data[key] = value
        same(array[...], data)

    check()


@pytest.mark.parametrize("shape", [(13,), (7, 5), (4, 1, 6)], ids=str)
def test_assignments_to_lists_points_and_masks_change_what_numpy_does(shape):
    data = sample(shape)
    array = stored(data, "int32", sharded=True)
    rng = np.random.default_rng(3)
    for step in range(30):
        mask = rng.random(shape) < 0.3
        array[mask] = data[mask] = step
        values = rng.integers(0, 1000, mask.sum())
        array.vindex[mask] = data[mask] = values
        lists = tuple(rng.permutation(length)[: rng.integers(0, length + 1)] for length in shape)
        block = rng.integers(0, 1000, tuple(map(len, lists)))
        array.oindex[lists] = data[np.ix_(*lists)] = block
        flat = rng.permutation(data.size)[:6].reshape(2, 3)
        points = np.unravel_index(flat, shape)
        array.vindex[points] = data[points] = np.array([step, step + 1, step + 2])
        same(array[...], data)


def test_a_list_among_slices_is_what_numpy_makes_of_it():
    data = sample((7, 5, 3))
    array = stored(data, "int32")
    for key in ([3, 0, 3], (slice(None), [1, -1]), (..., np.array([2, 0])), (slice(5, 1, -2), [True, False, True, True, False]),
                (np.array([], int),)):
        same(array[key], data[key])


def test_lists_and_integers_are_what_numpy_makes_of_them():
    data = sample((7, 5, 3))
    array = stored(data, "int32")
    for key in (([0, 1], [1, 2], [2, 0]), ([0, 1], 4, [2, 0]), (np.array([[0], [6]]), [1, 2], -1), ([], [], []), (0, [1, 2]),
                (slice(None), 0, [1]), ([3, 3], -1), (..., [0, 4], 2), (1, [True, False, True, True, False], 0)):
        same(array[key], data[key])
    array[[0, 1], [1, 2], [2, 0]] = data[[0, 1], [1, 2], [2, 0]] = 77
    array[0, [1, 2]] = data[0, [1, 2]] = 78
    same(array[...], data)
    flat = stored(np.arange(5), "int64")
    same(flat[np.array([[1, 2], [0, 4]])], np.array([[1, 2], [0, 4]]))


def test_where_numpy_and_orthogonal_indexing_differ_one_must_be_named():
    array = stored(sample((7, 5, 3)), "int32")
    for key in (([0, 1], [1, 2]), ([0, 1], slice(None), [1, 2]), (slice(None), 0, ..., [1]),
                ([True] + [False] * 6, [0], 0)):
        with pytest.raises(IndexError, match="oindex"):
            array[key]
    for key in (np.array([[0, 1]]), ([0, 1, 2], [0, 1], 0), ([0, 7], 0, 0)):
        with pytest.raises((IndexError, ValueError)):
            array[key]


@pytest.mark.parametrize("dtype", ["int32", "int16", "string"])
def test_out_may_be_any_view(dtype):
    data = sample((6, 5, 4), dtype)
    array = stored(data, dtype, sharded=True)
    views = [
        np.empty((4, 5, 6), data.dtype).T,
        np.empty((6, 5, 4), data.dtype)[::-1, :, ::-1],
        np.empty((12, 10, 9), data.dtype)[1::2, ::-2, 1::2],
        np.empty((5, 6, 4), data.dtype).swapaxes(0, 1),
    ]
    for out in views:
        array.read(out=out)
        same(out, data)
        array.read(np.s_[1:3, ::-1, 2], out=out[1:3, :, 2])
        same(out[1:3, :, 2], data[1:3, ::-1, 2])


@pytest.mark.parametrize("dtype", ["i2", "i4", "f8", "c16", "V5"])
def test_memory_may_be_unaligned(dtype):
    data = np.arange(6 * 5 * np.dtype(dtype).itemsize, dtype="u1").view(dtype).reshape(6, 5)
    for endian in ("little", "big"):
        array = sherd.create_array(sherd.MemoryStore(), shape=(6, 5), dtype=dtype, chunks=(4, 4),
                                   serializer={"name": "bytes", "configuration": {"endian": endian}})
        raw = bytearray(data.nbytes + 1)
        unaligned = np.frombuffer(raw, dtype, offset=1).reshape(6, 5)
        unaligned[...] = data
        array[...] = unaligned
        assert array[...].tobytes() == data.tobytes()
        unaligned[...] = np.zeros((), dtype)
        array.read(out=unaligned)
        assert unaligned.tobytes() == data.tobytes()
        array.read(np.s_[::-1, 1:3], out=unaligned[:, :2])
        assert unaligned[:, :2].tobytes() == data[::-1, 1:3].tobytes()


def test_masked_elements_are_refused_and_their_filled_array_is_written():
    array = sherd.create_array(sherd.MemoryStore(), shape=(4,), dtype="int16", chunks=(2,))
    masked = np.ma.array([1, 2, 3, 4], mask=[False, True, False, False], dtype="int16")
    for assign in (lambda: array.__setitem__(..., masked), lambda: array.__setitem__(0, np.ma.masked),
                   lambda: sherd.create_array(sherd.MemoryStore(), data=masked)):
        with pytest.raises(sherd.InvalidArgument, match="filled"):
            assign()
    assert (array[...] == 0).all()
    array[...] = masked.filled(7)
    assert array[...].tolist() == [1, 7, 3, 4]
    array[...] = np.ma.array([5, 6, 7, 8], dtype="int16")  # nothing of it is masked
    assert array[...].tolist() == [5, 6, 7, 8]


def test_values_of_any_byte_order_and_layout_are_written():
    data = sample((6, 5))
    array = stored(np.zeros((6, 5)), "int32")
    for value in (data.astype(">i4"), np.asfortranarray(data), data[::-1][::-1], data.astype("f8"), data.tolist()):
        array[...] = 0
        array[...] = value
        same(array[...], data)


@pytest.mark.parametrize("order", "CF")
def test_results_have_the_requested_memory_order(order):
    data = sample((6, 5, 4))
    array = stored(data, "int32", order=order)
    for found in (array[...], array[1:4, ::2], array.oindex[[1, 2], :, [0, 3]]):
        assert found.flags[f"{order}_CONTIGUOUS"]
    same(array[1:4, ::2], data[1:4, ::2])
    same(array[:, 2], data[:, 2])
    points = (np.array([[1, 2], [3, 4]]), 0, 1)
    same(array.vindex[points], data[points])


def test_an_out_that_does_not_fit_is_refused():
    array = stored(sample((6, 5)), "int32")
    frozen = np.empty((6, 5), "int32")
    frozen.flags.writeable = False
    for out in (np.empty((5, 6), "int32"), np.empty((6, 5), "int64"), np.empty((6, 5), ">i4"), frozen):
        with pytest.raises(sherd.InvalidArgument) as error:
            array.read(out=out)
        assert error.value.member == "out"
    for out in (bytearray(119), b"0" * 120):
        with pytest.raises(ValueError):
            array.read(out=out)
    with pytest.raises(TypeError):
        array.read(out=[1, 2])


def test_values_that_do_not_fit_are_refused():
    array = stored(sample((6, 5)), "int32")
    for key, value in ((np.s_[:], np.zeros(6)), (np.s_[0], np.zeros((2, 5))), (np.s_[0, 0], np.zeros(2)), (np.s_[:0], np.zeros((2, 5)))):
        with pytest.raises(ValueError):
            array[key] = value
    same(array[...], sample((6, 5)))


@pytest.mark.parametrize(
    "key",
    [7, -8, (0, 5), (0, 0, 0), None, (None, 0), 1.5, "a", (Ellipsis, Ellipsis), True, [7], [0.5], (0, [True]), np.zeros((7, 4), bool),
     [[0, 1]], np.array([2**63], "uint64"), 2**70, -(2**70)],
    ids=lambda key: repr(key)[:30],
)
def test_an_invalid_index_is_an_index_error(key):
    array = stored(sample((7, 5)), "int32")
    with pytest.raises(IndexError):
        array[key]
    with pytest.raises(IndexError):
        array[key] = 0
    with pytest.raises(IndexError):
        array.oindex[key]


@pytest.mark.parametrize("key", [0, (0,), (slice(None), 0), ([0], [5]), ([7], [0]), ([0.5], [0]), ([True], [0]), np.zeros((7, 4), bool)], ids=lambda key: repr(key)[:30])
def test_invalid_points_are_an_index_error(key):
    with pytest.raises(IndexError):
        stored(sample((7, 5)), "int32").vindex[key]


def test_broadcasting_points_that_do_not_fit_is_an_error():
    with pytest.raises(ValueError):
        stored(sample((7, 5)), "int32").vindex[[0, 1], [0, 1, 2]]


def test_a_step_of_zero_is_an_error():
    with pytest.raises(ValueError):
        stored(sample((7,)), "int32")[::0]


def test_iteration_goes_along_the_first_dimension():
    data = sample((7, 5))
    for found, wanted in itertools.zip_longest(stored(data, "int32"), data):
        same(found, wanted)
    with pytest.raises(TypeError):
        len(stored(sample(()), "int32"))


def test_an_array_longer_than_memory_is_indexed():
    array = sherd.create_array(sherd.MemoryStore(), shape=(2**61, 3), dtype="u1", chunks=(1000, 3))
    array[-1, 1] = 5
    assert array[2**61 - 2 :].tolist() == [[0, 0, 0], [0, 5, 0]]
    assert array[:: 2**60].tolist() == [[0, 0, 0], [0, 0, 0]]
    assert array[-1 : -(2**63) : -(2**61)].tolist() == [[0, 5, 0]]
    with pytest.raises(MemoryError) as error:
        array[...]
    assert isinstance(error.value, sherd.Unavailable) and error.value.code == "unavailable"
