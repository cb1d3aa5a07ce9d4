"""The modes of opening, as a table: what exists, how it is opened, and the result."""

import numpy as np
import pytest
import sherd

NEW = {"shape": (2,), "dtype": "u1"}


def place(store, what):
    if what == "array":
        sherd.create_array(store, data=np.arange(3, dtype="i4"))
    elif what == "group":
        sherd.create_group(store, attributes={"old": True}).create_group("member")


@pytest.fixture(params=["directory", "memory"])
def store(request, tmp_path):
    return tmp_path / "a.zarr" if request.param == "directory" else sherd.MemoryStore()


OPEN = [
    # what exists, mode, what open() gives: an error, or (class, writable, old or new)
    ("nothing", "r", sherd.NotFound), ("nothing", "r+", sherd.NotFound), ("nothing", "a", (sherd.Group, True, "new")),
    ("nothing", "w", (sherd.Group, True, "new")), ("nothing", "w-", (sherd.Group, True, "new")),
    ("array", "r", (sherd.Array, False, "old")), ("array", "r+", (sherd.Array, True, "old")), ("array", "a", (sherd.Array, True, "old")),
    ("array", "w", (sherd.Group, True, "new")), ("array", "w-", sherd.Conflict),
    ("group", "r", (sherd.Group, False, "old")), ("group", "r+", (sherd.Group, True, "old")), ("group", "a", (sherd.Group, True, "old")),
    ("group", "w", (sherd.Group, True, "new")), ("group", "w-", sherd.Conflict),
]


def is_old(node):
    return node.shape == (3,) if isinstance(node, sherd.Array) else node.keys() == ["member"]


def expect(function, expected):
    if isinstance(expected, type):
        with pytest.raises(expected):
            function()
        return
    node = function()
    kind, writable, age = expected
    assert (type(node), node.read_only, is_old(node)) == (kind, not writable, age == "old")


@pytest.mark.parametrize(("what", "mode", "expected"), OPEN)
def test_open_follows_the_table_of_modes(store, what, mode, expected):
    place(store, what)
    expect(lambda: sherd.open(store, mode=mode), expected)


@pytest.mark.parametrize(("what", "mode", "expected"), OPEN)
def test_open_group_follows_the_table_of_modes(store, what, mode, expected):
    place(store, what)
    if not isinstance(expected, type) and expected[0] is sherd.Array:
        expected = sherd.InvalidArgument
    expect(lambda: sherd.open_group(store, mode=mode), expected)


@pytest.mark.parametrize(("what", "mode", "expected"), OPEN)
def test_open_array_follows_the_table_of_modes(store, what, mode, expected):
    place(store, what)
    if not isinstance(expected, type):
        kind, writable, age = expected
        expected = (sherd.Array, writable, age) if age == "new" or kind is sherd.Array else sherd.InvalidArgument
    keywords = {} if mode in ("r", "r+") else NEW
    expect(lambda: sherd.open_array(store, mode=mode, **keywords), expected)


def test_arguments_that_do_not_apply_to_a_mode_are_refused(store):
    place(store, "array")
    with pytest.raises(sherd.InvalidArgument):
        sherd.open(store, mode="x")
    with pytest.raises(sherd.InvalidArgument):
        sherd.open_array(store, mode="rw", **NEW)
    with pytest.raises(sherd.InvalidArgument):
        sherd.open_array(store, mode="r", **NEW)
    with pytest.raises(sherd.InvalidArgument):
        sherd.open_array(store, mode="w", overwrite=False, **NEW)
    with pytest.raises(sherd.InvalidArgument, match="shape"):
        sherd.open_array(store, mode="w")
    assert sherd.open(store).shape == (3,), "and nothing is lost"


def test_a_read_only_handle_changes_nothing(store):
    place(store, "array")
    array = sherd.open(store)
    changes = [
        lambda: array.__setitem__(0, 1),
        lambda: array.oindex.__setitem__([0], 1),
        lambda: array.vindex.__setitem__([0], 1),
        lambda: array.resize((1,)),
        lambda: array.append([1]),
        lambda: array.attrs.update(a=1),
        lambda: array.attrs.clear(),
    ]
    for change in changes:
        with pytest.raises(sherd.InvalidArgument, match="read"):
            change()
    assert array[...].tolist() == [0, 1, 2] and len(sherd.open(store).attrs) == 0


def test_a_read_only_group_changes_nothing(store):
    place(store, "group")
    group = sherd.open(store)
    changes = [
        lambda: group.create_group("x"),
        lambda: group.create_array("x", **NEW),
        lambda: group.__delitem__("member"),
        lambda: group.attrs.update(a=1),
    ]
    for change in changes:
        with pytest.raises(sherd.InvalidArgument, match="read"):
            change()
    assert group.keys() == ["member"]


def test_paths_lead_below_the_root(store):
    sherd.create_array(store, name="a/b/c", **NEW)
    assert isinstance(sherd.open(store), sherd.Group)
    assert sherd.open_array(store, path="/a/b/c/").path == "a/b/c"
    sherd.open_array(store, mode="w-", path="a/b/d", **NEW)
    assert sherd.open_group(store, path="a/b").keys() == ["c", "d"]
    with pytest.raises(sherd.NotFound):
        sherd.open(store, path="a/c")


def test_an_existing_node_is_not_overwritten_by_default(store):
    place(store, "group")
    with pytest.raises(sherd.Conflict):
        sherd.create_array(store, **NEW)
    with pytest.raises(sherd.Conflict):
        sherd.create_group(store)
    assert sherd.create_array(store, overwrite=True, **NEW).shape == (2,)
    assert sherd.create_group(store, overwrite=True).keys() == []


def test_the_format_may_be_named(store):
    place(store, "array")
    assert sherd.open(store, format="zarr3").format == "zarr3"
    with pytest.raises(sherd.InvalidArgument, match="zarr3"):
        sherd.open(store, format="zarr9")


def test_the_format_of_a_new_node_may_be_named(tmp_path):
    for mode in ("a", "w", "w-"):
        assert sherd.open(tmp_path / mode, mode=mode, format="draft2022").format == "draft2022"
        assert sherd.open_array(tmp_path / f"{mode}.array", mode=mode, format="draft2022", **NEW).format == "draft2022"
        for make in (sherd.open, sherd.open_group, lambda *where, **how: sherd.open_array(*where, **how, **NEW)):
            with pytest.raises(sherd.InvalidArgument, match="zarr9"):
                make(tmp_path / "none", mode=mode, format="zarr9")
        with pytest.raises(sherd.InvalidArgument, match="scale"):
            sherd.open_array(tmp_path / "none", mode=mode, scale=1, **NEW)
    assert not (tmp_path / "none").exists()


def test_overwriting_keeps_foreign_files(tmp_path):
    notes = tmp_path / "notes.txt"
    notes.write_text("mine")
    sherd.open(tmp_path, mode="w").create_array("a", **NEW)
    for replace in (
        lambda: sherd.open(tmp_path, mode="w"),
        lambda: sherd.open_array(tmp_path, mode="w", **NEW),
        lambda: sherd.create_array(tmp_path, data=[1], overwrite=True),
        lambda: sherd.create_group(tmp_path, overwrite=True),
    ):
        with pytest.raises(sherd.Conflict, match="notes.txt"):
            replace()
        assert notes.read_text() == "mine" and sherd.open(tmp_path).keys() == ["a"]
    notes.unlink()
    assert sherd.open(tmp_path, mode="w").keys() == []


def test_a_store_may_be_a_path_a_url_or_a_path_object(tmp_path):
    place(tmp_path / "a b", "array")
    for store in (tmp_path / "a b", str(tmp_path / "a b"), f"file://{tmp_path}/a%20b", sherd.Store(tmp_path / "a b")):
        assert sherd.open(store).shape == (3,)
    assert sherd.create_group("memory:").keys() == []
    for wrong in (5, None, object()):
        with pytest.raises(TypeError):
            sherd.open(wrong)
    with pytest.raises(sherd.Unsupported):
        sherd.open("gopher://a")
