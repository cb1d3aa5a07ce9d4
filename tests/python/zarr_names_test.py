"""Functions and members of groups that zarr-python has as well: the same call has the same result, or the same kind of error."""

import importlib.util
import pathlib

import numpy as np
import pytest
import sherd
import zarr
from side_by_side import assert_same, new_store

ROOT = pathlib.Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::UserWarning")


def like(module, **options):
    options = {"chunks": (2, 2), "fill_value": 9, "attributes": {"k": 1}, "dimension_names": ("y", "x")} | options
    array = module.create_array(new_store(module), shape=(6, 4), dtype="u2", **options)
    array[1:3] = 5
    return array


MADE = {
    "zeros": lambda m: m.zeros((3, 4), chunks=(2, 2)),
    "zeros of one dimension": lambda m: m.zeros(5, dtype="i2", chunks=2),
    "zeros of no dimension": lambda m: m.zeros((), dtype="i2"),
    "zeros by keyword": lambda m: m.zeros(shape=(5, 5), chunks=3),
    "zeros at a path": lambda m: m.zeros((5,), store=new_store(m), path="a/b", chunks=5),
    "zeros of bool": lambda m: m.zeros((3,), dtype="bool", chunks=3),
    "ones": lambda m: m.ones((3, 4), chunks=(2, 2)),
    "ones of int": lambda m: m.ones((3,), dtype="i4", chunks=3),
    "ones of bool": lambda m: m.ones((3,), dtype="bool", chunks=3),
    "ones of complex": lambda m: m.ones((3,), dtype="c8", chunks=3),
    "empty": lambda m: m.empty((3,), dtype="i4", chunks=3),
    "full": lambda m: m.full((3,), 7, chunks=3),
    "full of type": lambda m: m.full((3,), 7, dtype="u1", chunks=3),
    "full by keyword": lambda m: m.full((3,), fill_value=-0.0, chunks=3),
    "full without value": lambda m: m.full((3,)),
    "create": lambda m: m.create((3, 4), chunks=(2, 2), attributes={"a": 1}),
    "create in a store": lambda m: m.create((3,), chunks=True, store=new_store(m), overwrite=True, dtype="f4"),
    "create without shape": lambda m: m.create(),
    "zeros_like": lambda m: m.zeros_like(like(m)),
    "ones_like": lambda m: m.ones_like(like(m)),
    "empty_like": lambda m: m.empty_like(like(m)),
    "full_like": lambda m: m.full_like(like(m)),
    "full_like of a value": lambda m: m.full_like(like(m), fill_value=5),
    "zeros_like of a shape": lambda m: m.zeros_like(like(m), shape=(3, 3), chunks=(3, 3)),
    "zeros_like of a type": lambda m: m.zeros_like(like(m), dtype="f4"),
    "ones_like of NumPy": lambda m: m.ones_like(np.zeros((2, 3), "f4"), chunks=(2, 3)),
    "full_like of NumPy": lambda m: m.full_like(np.zeros((2, 3), "f4"), fill_value=3, chunks=(2, 3)),
    "array": lambda m: m.array(np.arange(5, dtype="u1"), chunks=2),
    "array of a list": lambda m: m.array([[1, 2], [3, 4]], chunks=(2, 2)),
    "array of a number": lambda m: m.array(5),
    "array in a store": lambda m: m.array([1, 2, 3], store=new_store(m), path="p", chunks=3),
    "create_array with order": lambda m: m.create_array(new_store(m), shape=(2,), chunks=(2,), dtype="i4", zarr_format=3),
    "create_array of an int": lambda m: m.create_array(new_store(m), shape=4, chunks=(2,), dtype="i4"),
    "create_array of int chunks": lambda m: m.create_array(new_store(m), shape=(4, 4), chunks=2, dtype="i4"),
    "from_array of NumPy": lambda m: m.from_array(new_store(m), data=np.ones((3, 3)), chunks=(2, 2)),
    "from_array by name": lambda m: m.from_array(new_store(m), data=like(m, fill_value=0), name="a/b"),
    "from_array sharded": lambda m: m.from_array(new_store(m), data=like(m, fill_value=0, shards=(4, 4))),
    "from_array in other chunks": lambda m: m.from_array(new_store(m), data=like(m, fill_value=0, shards=(4, 4)), chunks=(1, 1)),
    "from_array in no shards": lambda m: m.from_array(new_store(m), data=like(m, fill_value=0, shards=(4, 4)), chunks=(3, 3), shards=None),
    "from_array in wrong chunks": lambda m: m.from_array(new_store(m), data=like(m, shards=(4, 4)), chunks=(3, 3)),
    "from_array with attributes": lambda m: m.from_array(new_store(m), data=like(m, fill_value=0), attributes={"z": 1}),
    "from_array without data": lambda m: m.from_array(new_store(m), data=like(m, fill_value=0), write_data=False),
    "group": lambda m: m.group(attributes={"a": 1}),
    "group at a path": lambda m: m.group(new_store(m), path="a/b"),
}


@pytest.mark.parametrize("call", MADE.values(), ids=MADE)
def test_functions_make_the_same_as_those_of_zarr_python(call):
    assert_same(call)


def reopened(call):
    """The contents of one store after a call, or the call's error."""

    def run(module):
        store = new_store(module)
        module.create_group(store, path="g", attributes={"old": 1})
        module.create_array(store, name="a", data=np.arange(3, dtype="i4"), chunks=(3,), attributes={"old": 1})
        call(module, store)
        return dict(module.open_group(store, mode="r").members(max_depth=None))

    return run


CHANGES = {
    "save": lambda m, s: m.save(s, np.arange(3), path="new"),
    "save over an array": lambda m, s: m.save(s, np.arange(3), path="a"),
    "save nothing": lambda m, s: m.save(s),
    "save_array": lambda m, s: m.save_array(s, np.arange(3), path="new/er"),
    "from_array over an array": lambda m, s: m.from_array(s, data=np.ones(3), name="a"),
    "from_array overwriting": lambda m, s: m.from_array(s, data=np.ones(3), chunks=(3,), name="a", overwrite=True),
    "open w with a shape": lambda m, s: m.open(s, mode="w", path="a", shape=(2,), dtype="i2", chunks=(2,)),
    "open a with a shape": lambda m, s: m.open(s, mode="a", path="b", shape=(2,), dtype="i2", chunks=(2,)),
    "open a with a shape over an array": lambda m, s: m.open(s, mode="a", path="a", shape=(2,), dtype="i2"),
    "open w- with a shape": lambda m, s: m.open(s, mode="w-", path="b", shape=(2,), dtype="i2", chunks=(2,)),
    "open w- over an array": lambda m, s: m.open(s, mode="w-", path="a", shape=(2,), dtype="i2"),
    "open_array w without a type": lambda m, s: m.open_array(s, mode="w", path="b", shape=(2,), chunks=(2,)),
    "open_array w- without a type": lambda m, s: m.open_array(s, mode="w-", path="b", shape=(2,), chunks=(2,)),
    "open w without a type": lambda m, s: m.open(s, mode="w", path="b", shape=(3, 4), chunks=(3, 4)),
    "open a without a type": lambda m, s: m.open(s, mode="a", path="b", shape=(3, 4), chunks=(3, 4)),
    "create_group by keyword": lambda m, s: m.open_group(s, mode="a").create_group(name="foo"),
    "resize by keyword": lambda m, s: m.open_array(s, mode="a", path="a").resize(new_shape=(5,)),
    "consolidate_metadata of a path": lambda m, s: m.consolidate_metadata(s, "", 3) and None,
    "load of a path": lambda m, s: m.save(s, m.load(s, "a"), path="copy"),
    "load of a path and a format": lambda m, s: m.save(s, m.load(s, "a", 3), path="copy"),
    "open_group w": lambda m, s: m.open_group(s, mode="w", path="g", attributes={"a": 1}),
    "open_group a": lambda m, s: m.open_group(s, mode="a", path="g", attributes={"a": 1}),
    "open_group a new": lambda m, s: m.open_group(s, mode="a", path="h", attributes={"a": 1}, zarr_format=3),
    "open_group r nothing": lambda m, s: m.open_group(s, mode="r", path="h"),
    "open r nothing": lambda m, s: m.open(s, mode="r", path="h"),
    "open_array r nothing": lambda m, s: m.open_array(s, mode="r", path="h"),
    "open_array r of a group": lambda m, s: m.open_array(s, mode="r", path="g"),
    "open in no format": lambda m, s: m.open(s, mode="r", zarr_format=4),
    "group overwriting": lambda m, s: m.group(s, path="g", overwrite=True),
    "create_group over a group": lambda m, s: m.create_group(s, path="g"),
    "create_group over an array": lambda m, s: m.create_group(s, path="a"),
}


@pytest.mark.parametrize("call", CHANGES.values(), ids=CHANGES)
def test_functions_leave_the_same_in_a_store_as_those_of_zarr_python(call):
    assert_same(reopened(call))


def hierarchy(module):
    group = module.create_group(new_store(module), attributes={"r": 1})
    group.create_array("ar", data=np.arange(3, dtype="i4"), chunks=(3,))
    group.create_array("d/e/f", data=np.ones((2, 2)), chunks=(2, 2))
    group.create_group("g", attributes={"in": "g"})
    return group


GROUPS = {
    "keys": lambda g: (list(g.keys()), list(g.array_keys()), list(g.group_keys())),
    "arrays and groups": lambda g: (dict(g.arrays()), dict(g.groups()), list(g.array_values()), list(g.group_values())),
    "members": lambda g: dict(g.members()),
    "members of members": lambda g: dict(g.members(max_depth=1)),
    "all members": lambda g: dict(g.members(None)),
    "members of a negative depth": lambda g: g.members(max_depth=-1),
    "numbers of members": lambda g: (g.nmembers(), g.nmembers(1), g.nmembers(max_depth=None), len(g)),
    "get": lambda g: (g.get("ar"), g.get("d/e"), g.get("zz"), g.get("zz", 5), g.get("d/zz")),
    "an item that is not there": lambda g: g["zz"],
    "an item that is no text": lambda g: g[5],
    "names": lambda g: [(x.name, x.basename, x.path) for x in (g, g["d"], g["d/e"], g["d/e/f"])],
    "tree": lambda g: str(g.tree()).strip(),
    "tree of a level": lambda g: [str(g.tree(level=level)).strip() for level in (0, 1, None)],
    "in": lambda g: ("ar" in g, "d/e" in g, "zz" in g),
    "iteration": lambda g: list(g),
    "require_group": lambda g: (g.require_group("g"), g.require_group("new/er")),
    "require_group of an array": lambda g: g.require_group("ar"),
    "require_group overwriting": lambda g: g.require_group("g", overwrite=True),
    "require_groups": lambda g: g.require_groups("g", "h"),
    "require_groups of none": lambda g: g.require_groups(),
    "require_array": lambda g: (g.require_array("ar", shape=(3,), dtype="i4"), g.require_array("n", shape=3, dtype="i2", chunks=(3,))),
    "require_array of an int": lambda g: g.require_array("ar", shape=3, dtype="i4"),
    "require_array of another shape": lambda g: g.require_array("ar", shape=(4,), dtype="i4"),
    "require_array of a wider type": lambda g: g.require_array("ar", shape=(3,), dtype="f8"),
    "require_array of exactly a wider type": lambda g: g.require_array("ar", shape=(3,), dtype="f8", exact=True),
    "require_array of a narrower type": lambda g: g.require_array("ar", shape=(3,), dtype="i2"),
    "require_array of no type": lambda g: g.require_array("ar", shape=(3,)),
    "require_array of no type that is new": lambda g: g.require_array("n", shape=(3,)),
    "require_array of a group": lambda g: g.require_array("g", shape=(3,)),
    "an array is set": lambda g: (g.__setitem__("n", np.arange(4)), g["n"][...]),
    "an array is set deep below": lambda g: (g.__setitem__("x/y/z", np.ones(2)), dict(g.members(None))),
    "an array is set in place of one": lambda g: (g.__setitem__("ar", np.ones(2)), g["ar"][...]),
    "an array is deleted": lambda g: (g.__delitem__("ar"), list(g)),
    "update_attributes": lambda g: (g.update_attributes({"x": [1], "r": 2}), dict(g.attrs)),
    "create_array over an array": lambda g: g.create_array("ar", shape=(3,), dtype="i4"),
    "create_array over a group": lambda g: g.create_array("d", shape=(3,), dtype="i4"),
    "create_group over an array": lambda g: g.create_group("ar"),
}


@pytest.mark.parametrize("call", GROUPS.values(), ids=GROUPS)
def test_members_of_groups_equal_those_of_zarr_python(call):
    assert_same(lambda module: call(hierarchy(module)))


def test_load_returns_what_save_wrote(tmp_path):
    data = np.arange(12).reshape(3, 4)
    for module in (sherd, zarr):
        module.save(tmp_path / module.__name__, data)
        assert np.array_equal(sherd.load(tmp_path / module.__name__), data)
        assert np.array_equal(zarr.load(tmp_path / module.__name__), data)
        module.save(tmp_path / f"{module.__name__}-group", data, data[0], named=data[:, 0])
        found = sherd.load(tmp_path / f"{module.__name__}-group")
        assert {name: each.tolist() for name, each in found.items()} == {
            "arr_0": data.tolist(), "arr_1": data[0].tolist(), "named": data[:, 0].tolist(),
        }  # fmt: skip
        assert np.array_equal(sherd.load(tmp_path / f"{module.__name__}-group", path="arr_1"), data[0])


def test_arrays_of_zarr_python_are_data():
    for shards in (None, (4, 4)):
        theirs = like(zarr, fill_value=0, shards=shards)
        for make in (lambda: sherd.from_array(sherd.MemoryStore(), data=theirs), lambda: sherd.array(theirs),  # noqa: B023
                     lambda: sherd.create_array(sherd.MemoryStore(), data=theirs, chunks=(2, 2), shards=shards)):  # noqa: B023
            made = make()
            assert np.array_equal(made[...], theirs[...])
        made = sherd.from_array(sherd.MemoryStore(), data=theirs)
        assert (made.chunks, made.shards, made.dtype) == (theirs.chunks, theirs.shards, theirs.dtype)
        assert sherd.zeros_like(theirs).chunks == theirs.chunks


def test_data_read_in_pieces_are_asked_for_one_stored_object_at_a_time():
    class Lazy:
        """As dask's arrays are: the lengths of all chunks, and that of the largest."""

        shape, dtype, chunks, chunksize = (10, 7), np.dtype("i4"), ((4, 4, 2), (6, 1)), (4, 6)

        def __init__(self):
            self.asked = []

        def __getitem__(self, key):
            self.asked.append(key)
            return np.arange(70, dtype="i4").reshape(10, 7)[key]

    for make in (sherd.array, lambda data: sherd.from_array(sherd.MemoryStore(), data=data)):
        data = Lazy()
        made = make(data)
        assert np.array_equal(made[...], np.arange(70).reshape(10, 7)) and made.dtype == "int32"
        assert len(data.asked) == made.nchunks
    assert made.chunks == sherd.zeros_like(Lazy()).chunks == (4, 6)


def test_items_and_values_are_as_of_a_mapping():
    group = hierarchy(sherd)
    assert dict(group.items()).keys() == set(group) and [each.path for each in group.values()] == group.keys()
    assert group._ipython_key_completions_() == group.keys()
    assert group.attrs._ipython_key_completions_() == ["r"]


def test_info_of_a_group_is_its_summary():
    group = hierarchy(sherd)
    assert group.info == {"url": group.url, "format": "zarr3", "node_type": "group", "attributes": {"r": 1}, "read_only": False}
    assert "node_type" in repr(group.info)
    group.create_group("<i>")
    assert group._repr_html_().startswith("<table>") and "&lt;i&gt;" in group._repr_html_()


# What differs on purpose, with the reason.


def test_a_group_is_not_erased_by_an_assignment():
    """zarr-python erases it, with all its members."""
    group = hierarchy(sherd)
    with pytest.raises(sherd.Conflict, match="del group"):
        group["d"] = np.ones(3)
    assert "d/e/f" in group


def test_saving_a_group_erases_nothing():
    """zarr-python erases everything at the path before."""
    group = hierarchy(sherd)
    sherd.save_group(group.store, np.ones(2), more=np.ones(3))
    assert group.keys() == ["ar", "arr_0", "d", "g", "more"]
    with pytest.raises(sherd.Conflict):
        sherd.save(group.store, ar=np.ones(2))
    assert group["ar"].shape == (3,)


def test_loading_what_is_not_there_is_an_error_that_makes_nothing(tmp_path):
    """zarr-python makes a group there."""
    with pytest.raises(sherd.NotFound):
        sherd.load(tmp_path / "a")
    assert not (tmp_path / "a").exists()


def test_an_array_like_a_sharded_one_is_sharded():
    """zarr-python takes the shards for chunks of it."""
    made = sherd.empty_like(like(sherd, shards=(4, 4), index_location="start"))
    assert (made.chunks, made.shards) == ((2, 2), (4, 4)) and made.codecs[0]["configuration"]["index_location"] == "start"
    nested = sherd.create_array(sherd.MemoryStore(), data=np.arange(10), chunks=[[4, 6]])
    assert sherd.zeros_like(nested).chunks == ((4, 6),)
    assert np.array_equal(sherd.array(nested)[...], np.arange(10))


def test_a_copy_keeps_the_fill_value():
    """zarr-python gives the copy that of the type, so that it stores what the source does not."""
    source = sherd.full((4, 4), 9, dtype="u1", chunks=(2, 2))
    source[:2] = 1
    made = sherd.from_array(sherd.MemoryStore(), data=source)
    assert made.fill_value == 9 and made.nchunks_initialized == 2 and np.array_equal(made[...], source[...])


def test_lists_and_numbers_may_be_saved_and_set():
    """zarr-python takes arrays alone."""
    group = sherd.group()
    group["a"], group["b"], group["c"] = [1, 2], 5, hierarchy(sherd)["ar"]
    assert [group[name][...].tolist() for name in "abc"] == [[1, 2], 5, [0, 1, 2]]


def test_the_versions_of_zarr_are_formats():
    store = sherd.MemoryStore()
    assert sherd.create_group(store, zarr_format=3).format == "zarr3"
    assert sherd.open(store, zarr_format=3).format == sherd.open(store, zarr_format=3, format="zarr3").format == "zarr3"
    for wrong in (1, 4, True, "3"):
        with pytest.raises(sherd.InvalidArgument) as caught:
            sherd.open(store, zarr_format=wrong)
        assert caught.value.member == "zarr_format"
    with pytest.raises(sherd.InvalidArgument, match="zarr2"):
        sherd.open(store, zarr_format=2, format="zarr3")


def test_zarr_format_2_is_the_format_zarr2(tmp_path):
    """Where the engine does not know that format, it says so itself."""

    def outcome(**named):
        try:
            return sherd.create_array(tmp_path / f"a{len(named)}{list(named)[0]}", shape=(2,), dtype="u1", **named).format
        except sherd.Error as error:
            return type(error), str(error)

    assert outcome(zarr_format=2) == outcome(format="zarr2")


def test_deleting_what_is_not_there_is_a_key_error():
    """zarr-python does nothing then."""
    with pytest.raises(KeyError):
        del hierarchy(sherd)["zz"]


def test_a_mode_that_creates_nothing_refuses_attributes():
    """zarr-python ignores them."""
    for mode in ("r", "r+"):
        with pytest.raises(sherd.InvalidArgument, match="attributes"):
            sherd.open_group(hierarchy(sherd).store, mode=mode, attributes={"a": 1})


def test_stores_of_zarr_python_are_refused(tmp_path):
    """A path or a URL serves both, and sherd.zarr_store() makes a store for zarr-python."""
    local = zarr.storage.LocalStore(tmp_path)
    array = zarr.create_array(local, name="a", shape=(2,), dtype="u1")
    for store, advice in [
        (zarr.storage.MemoryStore(), "sherd.zarr_store"), (local, f"pass its path, '{tmp_path}'"), (array, f"'{tmp_path}/a'"),
        (array.store_path, f"'{tmp_path}/a'"), (zarr.storage.ZipStore(tmp_path / "z.zip", mode="w"), "are not opened"), (5, "int"),
    ]:  # fmt: skip
        with pytest.raises(TypeError, match="a path, a URL, an os.PathLike or a sherd.Store, not ") as caught:
            sherd.open(store)
        assert str(caught.value).endswith(advice) or advice in str(caught.value)
    for store in (sherd.MemoryStore(), sherd.Store(tmp_path)):
        with pytest.raises(TypeError, match="Unsupported type for store_like"):
            zarr.open(store)


def test_one_length_of_chunks_is_for_all_dimensions():
    for chunks, wanted in [(2, (2, 2)), (False, (5, 3)), ((4, 1), (4, 1))]:
        assert sherd.zeros((5, 3), chunks=chunks).chunks == wanted
    for wrong in ("x", 2.5, None, (2, "x"), -1):
        with pytest.raises((TypeError, sherd.InvalidArgument)):
            sherd.zeros(wrong)


def test_two_handles_of_one_node_are_not_equal():
    """Handles are told apart, as other objects are; zarr-python compares location and document."""
    group = hierarchy(sherd)
    assert group["ar"] != group["ar"] and group["ar"].url == group["ar"].url


def table_script():
    spec = importlib.util.spec_from_file_location("zarr_table", ROOT / "script/zarr_table.py")
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    return script


def test_the_table_of_names_is_what_both_packages_have():
    script = table_script()
    text = (ROOT / "docs/python.md").read_text()
    assert script.with_table(text) == text, "docs/python.md is out of date: run .venv/bin/python script/zarr_table.py"


def test_a_store_that_is_left_out_is_a_new_one_in_memory():
    for call in (lambda m: m.open_group(mode="w"), lambda m: m.open_array(mode="w", shape=(3,), chunks=(3,)),
                 lambda m: m.open(mode="w", shape=(3,), chunks=(3,))):  # fmt: skip
        assert_same(call)


def test_the_table_of_names_says_how_parameters_differ():
    """Another name, place or default, and what can be given by keyword only, in functions that are called alike."""
    script = table_script()

    class Theirs:
        def same(self, a, b=None, *, c="auto"): ...
        def other(self, a, b=1, prototype=None): ...

    class Ours:
        def same(self, a, b="", *, c=None): ...
        def other(self, b=2, *, a, d): ...

    assert script.parameter_notes(Theirs, Ours, "same", "Array") == []
    assert script.parameter_notes(Theirs, Ours, "other", "Array") == [
        "without `prototype`", "by keyword only: `a`", "`b` is argument 1, not 2", "`b` has the default `2`, not `1`", "`d` is needed",
    ]  # fmt: skip
    Theirs.other = lambda self, unheard_of: None
    with pytest.raises(script.Unexplained, match="has no parameter unheard_of"):
        script.parameter_notes(Theirs, Ours, "other", "Array")
