"""Members of arrays that zarr-python has as well: the same call has the same result, or the same kind of error."""

import gc
import math
import weakref

import numpy as np
import pytest
import sherd
import tensorstore
import zarr
from sherd import _sherd
from side_by_side import assert_same, new_store

DATA = np.arange(70, dtype="i4").reshape(10, 7)
SHARDS = pytest.mark.parametrize("shards", [None, (4, 6)], ids=["plain", "sharded"])


def stored(module, data=DATA, **options):
    options = {"chunks": (2, 3), "fill_value": 0} | options
    return module.create_array(new_store(module), name="x/y", data=data.copy(), **options)


@SHARDS
@pytest.mark.parametrize("name", ["nbytes", "nchunks", "cdata_shape", "name", "basename", "path", "order", "size", "ndim"])
def test_properties_equal_those_of_zarr_python(name, shards):
    assert_same(lambda module: getattr(stored(module, shards=shards), name))


@pytest.mark.parametrize("shape", [(), (5,), (0, 3)], ids=str)
def test_properties_of_scalars_and_empty_arrays_are_zarr_pythons(shape):
    for name in ("nbytes", "nchunks", "cdata_shape", "name", "basename"):
        assert_same(lambda module: int_or_same(getattr(module.zeros(shape, chunks=(2,) * len(shape), dtype="i2"), name)))  # noqa: B023


def int_or_same(value):
    return int(value) if isinstance(value, float) else value  # zarr-python's nbytes of () is 2.0


@SHARDS
def test_filters_serializer_and_compressors_equal_those_of_zarr_python(shards):
    filters = [{"name": "transpose", "configuration": {"order": [1, 0]}}]
    for given in ({}, {"filters": filters}, {"compressors": None}, {"compressors": [{"name": "gzip", "configuration": {"level": 2}}]}):
        ours, theirs = stored(sherd, shards=shards, **given), stored(zarr, shards=shards, **given)
        for part in ("filters", "compressors"):
            assert [each["name"] for each in getattr(ours, part)] == [each.to_dict()["name"] for each in getattr(theirs, part)]
        assert ours.serializer == theirs.serializer.to_dict()
    assert [each["name"] for each in sherd.zeros(3, dtype="string").compressors] == ["zstd"]
    assert sherd.zeros(3, dtype="string").serializer["name"] == "vlen-utf8"


def test_chains_that_zarr_python_does_not_have_are_divided_likewise():
    packed = sherd.zeros(8, dtype="bool", serializer="packbits")
    assert (packed.filters, packed.serializer["name"], [each["name"] for each in packed.compressors]) == ((), "packbits", ["zstd"])
    scale = {"size": [8, 8, 8], "resolution": [1, 1, 1], "encoding": "jpeg"}
    volume = sherd.neuroglancer.create_precomputed(sherd.MemoryStore(), type="image", dtype="uint8", scales=[scale])
    assert ([each["name"] for each in volume.filters], volume.serializer["name"], volume.compressors) == (["transpose"], "jpeg", ())
    assert {"bytes", "packbits", "vlen-utf8"} <= _sherd.serializers()


KEYS = [
    ([0, 1], [1, 2]), (0, [1, 2]), ([1, 2], 0), ([1, 2],), [1, 2], ([0, 1], slice(0, 2)), (slice(None), [0, 6]), ([3, 3], [-1, -7]),
    (np.array([[0], [9]]), np.array([1, 2])), (0, np.arange(7) > 4), (np.arange(10) > 7, slice(1, 3)), DATA > 66, DATA % 9 == 0,
    (3, -1), -1, ..., (), (..., 2), slice(2, 5), ([0, 100], [1, 2]), ([0, 1, 2], [1, 2]), np.array([[1, 2]]),
    100, (1, 2, 3), ([0, 1], slice(None), 1), "x", 1.5,
]  # fmt: skip


@SHARDS
@pytest.mark.parametrize("key", KEYS, ids=lambda key: "key" + str(key)[:24].replace("\n", ""))
def test_indexing_with_brackets_equals_that_of_zarr_python(key, shards):
    assert_same(lambda module: stored(module, shards=shards)[key])


def random_item(random, length):
    kind = random.integers(5)
    if kind == 0:
        return int(random.integers(-length, length))
    if kind == 1:
        bounds = sorted(int(each) for each in random.integers(0, length + 1, 2))
        return slice(bounds[0] if random.integers(2) else None, bounds[1] if random.integers(2) else None, int(random.integers(1, 3)))
    if kind == 2:
        return slice(None)
    indices = sorted(int(each) for each in random.integers(0, length, random.integers(1, 4)))
    return indices if kind == 3 else np.array(indices)


@SHARDS
def test_lists_among_slices_and_integers_equal_those_of_zarr_python(shards):
    """Wherever zarr-python accepts a key it means the same, in reads and in writes; where it refuses one, Sherd may accept
    what NumPy means by it."""
    data = np.arange(5 * 6 * 7, dtype="i4").reshape(5, 6, 7)
    options = {"data": data, "chunks": (2, 3, 3), "shards": shards and (4, 6, 6)}
    # Without shards: zarr-python cannot write every such selection into shards.
    ours, theirs = stored(sherd, **options), stored(zarr, **options | {"shards": None})
    random = np.random.default_rng(17)
    accepted = 0
    for _ in range(400):
        key = tuple(random_item(random, length) for length in data.shape[: random.integers(1, 4)])
        try:
            wanted = theirs[key]
        except (IndexError, ValueError):
            continue
        accepted += 1
        assert np.shape(ours[key]) == np.shape(wanted) and np.array_equal(ours[key], wanted), key
        if accepted % 8 == 0:
            value = random.integers(0, 999, np.shape(wanted), "i4")
            ours[key], theirs[key] = value, value
            assert np.array_equal(ours[...], theirs[...]), key
    assert accepted > 200
    for key in (([0, 2], slice(None), 1), (0, slice(None), [1, 2])):
        assert_same(lambda module: stored(module, **options)[key])  # noqa: B023


BASIC = [(1, slice(0, 3)), ..., (), -1, slice(2, 5), (..., 2), 100, ([0, 1], slice(0, 3)), DATA > 5, (1, 2, 3), True, "x", 1.5]
ORTHOGONAL = [([0, 1], [1, 2]), (np.arange(10) > 7, [1, 2]), (3, [1, 2]), ([0, 1],), (slice(2), [6]), ([10], 0), ([0], [0], [0])]
COORDINATE = [
    ([0, 1], [1, 2]), (3, 4), (np.array([[0, 1], [1, 2]]),) * 2, (3, [4, 5]), ([-1], [-7]), ([0, 1, 2], [1, 2]), ([0, 1, 2],),
    ([0, 1], slice(None)), ([0, 100], [0, 0]), DATA > 66,
]  # fmt: skip
MASK = [DATA > 66, DATA < 0, DATA >= 0, np.ones(3, bool), ([0, 1], [1, 2]), (DATA > 60).tolist()]
BLOCK = [
    (0, 0), 1, (-1, slice(0, 1)), ..., (0, ...), slice(2, 1), slice(0, 9), (slice(1, 3), -1), 9, (0, 9), -9, slice(None, None, 2),
    ([0],), (0, 0, 0), 1.5,
]  # fmt: skip
SELECTIONS = [
    (kind, key)
    for kind, keys in [("basic", BASIC), ("orthogonal", ORTHOGONAL), ("coordinate", COORDINATE), ("mask", MASK), ("block", BLOCK)]
    for key in keys
]


@SHARDS
@pytest.mark.parametrize(("kind", "key"), SELECTIONS, ids=lambda value: str(value)[:20].replace("\n", ""))
def test_selection_methods_equal_those_of_zarr_python(kind, key, shards):
    assert_same(lambda module: getattr(stored(module, shards=shards), f"get_{kind}_selection")(key))

    def write(module):
        array = stored(module, shards=shards)
        getattr(array, f"set_{kind}_selection")(key, -5)
        return array[...]

    assert_same(write)


@SHARDS
def test_indexers_equal_those_of_zarr_python(shards):
    for key in BLOCK:
        assert_same(lambda module: stored(module, shards=shards).blocks[key])  # noqa: B023

    def write(module):
        array = stored(module, shards=shards)
        array.blocks[0, 1] = 7
        array.oindex[[9, 0], 1:3] = [[1, 2], [3, 4]]
        array.vindex[[5, 6], [5, 6]] = [8, 9]
        return array[...]

    assert_same(write)


def test_blocks_of_a_rectilinear_grid_have_lengths_of_their_own():
    array = sherd.create_array(sherd.MemoryStore(), data=DATA, chunks=[[3, 3, 4], [5, 2]])
    assert array.nchunks == 6 and array.cdata_shape == (3, 2)
    assert np.array_equal(array.blocks[1, 1], DATA[3:6, 5:]) and np.array_equal(array.blocks[-2:], DATA[3:])


def test_results_go_into_memory_that_the_caller_has():
    array = stored(sherd)
    for kind, key, shape in [("basic", np.s_[1:3, 2], (2,)), ("orthogonal", ([0, 1], [1, 2]), (2, 2)), ("coordinate", ([0, 1], [1, 2]), (2,)),
                             ("mask", DATA > 66, (3,)), ("block", (0, 0), (2, 3))]:
        out = np.empty(shape, "i4")
        get = getattr(array, f"get_{kind}_selection")
        assert get(key, out=out) is out and np.array_equal(out, get(key))


def test_attributes_are_updated_and_replaced():
    def update(module):
        array = stored(module, attributes={"a": 1, "b": 2})
        array.update_attributes({"b": 3, "c": [1, {"d": None}]})
        return dict(array.attrs)

    assert_same(update)
    array = stored(sherd)
    assert array.update_attributes({"a": 1}) is array


@pytest.mark.parametrize("value", [math.nan, math.inf, [1, -math.inf], {"deep": [math.nan]}, np.float32("nan"), np.array([0, math.nan])])
def test_nan_is_refused_in_attributes_by_name(value):
    """zarr-python writes the word NaN, which is not JSON: tensorstore, zarrs and Sherd cannot open the array then."""
    array, group = stored(sherd), sherd.group()
    for change in (
        lambda: array.attrs.update(a=value), lambda: array.attrs.put({"a": value}), lambda: array.attrs.__setitem__("a", value),
        lambda: group.update_attributes({"a": value}), lambda: stored(sherd, attributes={"a": value}), lambda: sherd.group(attributes={"a": value}),
        lambda: group.create_group("g", attributes={"a": value}), lambda: group.create_array("x", data=[1], attributes={"a": value}),
    ):  # fmt: skip
        with pytest.raises(sherd.InvalidArgument, match="attributes.a") as caught:
            change()
        assert caught.value.member.startswith("attributes.a")
    assert dict(array.attrs) == {} and dict(group.attrs) == {} and len(group) == 0


@pytest.mark.parametrize(("value", "where"), [
    ("\ud800", r"attributes\.a: the text '\\ud800'"), ({"b": ["x", "\udc80"]}, r"attributes\.a\.b\[1\]: the text '\\udc80'"),
    ({"\ud800": 1}, r"attributes\.a: the key '\\ud800'"), (np.array(["\ud800"]), r"attributes\.a\[0\]: the text '\\ud800'"),
])  # fmt: skip
def test_surrogates_in_attributes_are_refused_by_name(value, where):
    array = stored(sherd)
    for change in (lambda: array.attrs.update(a=value), lambda: array.attrs.put({"a": value}),
                   lambda: stored(sherd, attributes={"a": value}), lambda: sherd.group(attributes={"a": value})):  # fmt: skip
        with pytest.raises(sherd.InvalidArgument, match=f"{where} has surrogates, which are not characters"):
            change()
    with pytest.raises(sherd.InvalidArgument, match=r"attributes: the key '\\ud800' has surrogates"):
        array.attrs["\ud800"] = 1
    assert dict(array.attrs) == {}


NAN = {"a": math.nan, "b": [math.inf, "NaN", {"c": -math.inf}], "d": "Infinity", "e": 1e22, "f": 1}


def with_nan(folder, zarr_format):
    """A group and an array in it, with attributes that zarr-python makes of NaN."""
    group = zarr.create_group(folder, attributes=NAN, zarr_format=zarr_format)
    group.create_array("x", data=DATA, attributes=NAN)


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_attributes_that_zarr_python_makes_of_nan_are_those_that_it_reads(tmp_path, zarr_format):
    with_nan(tmp_path, zarr_format)
    expected = repr(zarr.open_group(tmp_path, mode="r").attrs.asdict())
    assert "nan" in expected
    for node in (sherd.open(tmp_path), sherd.open(tmp_path)["x"], sherd.open(tmp_path / "x", mode="r+")):
        assert repr(node.attrs.asdict()) == repr(node.attrs) == expected
        stored_there = node.metadata[".zattrs" if zarr_format == 2 else "attributes"]
        assert isinstance(stored_there["a"], float) and isinstance(stored_there["d"], str)


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_attributes_that_zarr_python_makes_of_nan_stay_as_they_are(tmp_path, zarr_format):
    with_nan(tmp_path, zarr_format)
    for node in (sherd.open(tmp_path, mode="r+"), sherd.open(tmp_path / "x", mode="r+")):
        node.attrs["c"] = 1
        node.attrs["a"] = node.attrs["a"]
        node.attrs.put({**node.attrs, "g": 2})
        with pytest.raises(sherd.InvalidArgument, match="attributes.b"):
            node.attrs.put({**node.attrs, "b": [math.inf, "NaN", {"c": math.inf}]})
        with pytest.raises(sherd.InvalidArgument, match="attributes.f"):
            node.attrs.update(f=math.nan, a=math.nan)
    group = zarr.open_group(tmp_path, mode="r")
    for node in (group, group["x"]):
        assert repr(node.attrs.asdict()) == repr({**NAN, "c": 1, "g": 2})
    document = tmp_path / "x" / (".zattrs" if zarr_format == 2 else "zarr.json")
    assert '"a": NaN' in document.read_text() and '"d": "Infinity"' in document.read_text()
    if zarr_format == 3:  # tensorstore does not read .zattrs
        with pytest.raises(ValueError, match="Invalid JSON"):
            tensorstore.open({"driver": "zarr3", "kvstore": f"file://{tmp_path}/x"}).result()


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_a_copy_has_attributes_that_zarr_python_makes_of_nan(tmp_path, zarr_format):
    with_nan(tmp_path / "source", zarr_format)
    for to in (2, 3):
        sherd.copy(tmp_path / "source", tmp_path / f"copy{to}", to=f"zarr{to}")
        for node in (zarr.open_group(tmp_path / f"copy{to}", mode="r"), zarr.open_array(tmp_path / f"copy{to}" / "x", mode="r")):
            assert {name: repr(node.attrs[name]) for name in NAN} == {name: repr(each) for name, each in NAN.items()}
    sherd.copy(tmp_path / "source", tmp_path / "draft", to="draft2022")
    assert sherd.open(tmp_path / "draft")["x"].attrs["b"] == ["Infinity", "NaN", {"c": "-Infinity"}]


def test_weak_references_end_with_the_handle():
    array = stored(sherd)
    reference = weakref.ref(array)
    assert reference() is array
    cache = weakref.WeakValueDictionary({"a": array, "g": sherd.group()})
    assert cache["a"] is array
    del array
    gc.collect()
    assert reference() is None and "a" not in cache


def test_stores_have_weak_references(tmp_path):
    for make in (sherd.MemoryStore, lambda: sherd.Store(tmp_path)):
        store = make()
        reference = weakref.ref(store)
        assert reference() is store
        del store
        gc.collect()
        assert reference() is None


def test_the_store_of_an_array_is_the_one_it_was_made_in(tmp_path):
    for store in (sherd.MemoryStore(), sherd.Store(tmp_path)):
        group = sherd.create_group(store)
        array = group.create_array("a", data=[1, 2])
        assert type(array.store) is type(group.store) is type(store)
        assert array.store.keys() == store.keys() and array.store.url == group.store.url == store.url
        assert sherd.open(array.store, path=array.path)[1] == 2


def test_results_have_the_order_of_the_array():
    for order in ("C", "F"):
        array = sherd.zeros((3, 4), order=order)
        assert array.order == order and array[...].flags[f"{order}_CONTIGUOUS"]
        assert sherd.group().create_array("a", shape=(3, 4), dtype="u1", order=order).order == order
        assert_same(lambda module: module.create_array(new_store(module), shape=(2,), dtype="u1", config={"order": order}).order)  # noqa: B023
    with pytest.raises(sherd.InvalidArgument, match="order"):
        sherd.zeros(3, order="A")


def test_notebooks_show_a_table():
    array = sherd.create_array(sherd.MemoryStore(), data=DATA, attributes={"a": "<b>"})
    for shown in (array._repr_html_(), array.info._repr_html_()):
        assert shown.startswith("<table>") and "<th>shape</th><td>(10, 7)</td>" in shown and "&lt;b&gt;" in shown
