"""The exceptions: what they are, what they know, and that they travel."""

import copy
import datetime
import errno
import json
import os
import pickle
import warnings

import numpy as np
import pytest
import sherd
from sherd import _errors

CLASSES = [
    (sherd.InvalidArgument, "invalid_argument", ValueError),
    (sherd.Corrupt, "corrupt", Exception),
    (sherd.Unsupported, "unsupported", Exception),
    (sherd.NotFound, "not_found", FileNotFoundError),
    (sherd.Conflict, "conflict", Exception),
    (sherd.Io, "io", OSError),
    (sherd.Unavailable, "unavailable", Exception),
    (sherd.OutOfMemory, "unavailable", MemoryError),
]


@pytest.mark.parametrize(("kind", "code", "base"), CLASSES)
def test_every_error_is_also_the_matching_builtin_error(kind, code, base):
    error = kind("text", key="a/zarr.json", slot=3, member="shape")
    assert isinstance(error, sherd.Error) and isinstance(error, base)
    assert (error.code, str(error), error.key, error.slot, error.member) == (code, "text", "a/zarr.json", 3, "shape")
    for again in (pickle.loads(pickle.dumps(error)), copy.deepcopy(error)):
        assert type(again) is kind
        assert (again.code, str(again), again.key, again.slot, again.member) == (code, "text", "a/zarr.json", 3, "shape")


def test_errors_of_the_system_carry_its_number(tmp_path):
    with pytest.raises(FileNotFoundError) as caught:
        sherd.open(tmp_path / "none")
    assert caught.value.errno == errno.ENOENT
    for path in ("/proc/none", "/sys/none"):
        with pytest.raises(OSError) as pythons:
            os.mkdir(path)
        with pytest.raises(sherd.Io) as caught:
            sherd.create_array(path, shape=(1,), dtype="u1")
        assert caught.value.errno == pythons.value.errno, caught.value
        assert pickle.loads(pickle.dumps(caught.value)).errno == pythons.value.errno
    with pytest.raises(OSError) as caught:
        sherd.export(sherd.array([1]), "/dev/null/x.npy")
    assert caught.value.errno == errno.ENOTDIR
    assert sherd.Io("a server failed").errno is None


def test_a_full_disk_has_its_errno():
    error = _errors.make("io", "'c/0': cannot write: No space left on device (in file:///a)", "c/0", None, None)
    assert error.errno == errno.ENOSPC


def damaged_array(path):
    array = sherd.create_array(path, shape=(40,), dtype="u2", chunks=(10,), shards=(20,), compressors=["zstd", "crc32c"])
    array[...] = np.arange(40)
    shard = path / "c" / "1"
    data = bytearray(shard.read_bytes())
    offset = int.from_bytes(data[-36 + 16 : -36 + 24], "little")  # the index: two words a slot, and a checksum
    data[offset + 5] ^= 1
    shard.write_bytes(data)


def test_a_damaged_chunk_is_named_by_key_and_slot(tmp_path):
    damaged_array(tmp_path)
    array = sherd.open(tmp_path)
    assert array[:30].tolist() == list(range(30))
    with pytest.raises(sherd.Corrupt) as error:
        array[...]
    assert (error.value.code, error.value.key, error.value.slot) == ("corrupt", "c/1", 1)
    assert "c/1" in str(error.value)


def test_an_error_says_which_store_it_comes_from(tmp_path):
    damaged_array(tmp_path / "a b")
    array = sherd.open(tmp_path / "a b", mode="r+")
    group = sherd.create_group(tmp_path / "g")
    (tmp_path / "g/x").mkdir()
    (tmp_path / "g/x/zarr.json").write_text("{")
    (tmp_path / "zarr.json").write_text("{")
    for call, key, store in [
        (lambda: array[...], "c/1", "a%20b"),
        (lambda: array.oindex[[30, 35]], "c/1", "a%20b"),
        (lambda: array.__setitem__(31, 1), "c/1", "a%20b"),
        (lambda: group["x"], "x/zarr.json", "g"),
        (lambda: sherd.open(tmp_path / "g/x"), "zarr.json", "g/x"),
        (lambda: sherd.open(tmp_path / "g", path="x"), "x/zarr.json", "g"),
    ]:
        with pytest.raises(sherd.Corrupt) as error:
            call()
        assert error.value.key == key
        assert str(error.value).startswith(f"'{key}'") and str(error.value).endswith(f" (in file://{tmp_path}/{store})")


def test_a_wrong_document_names_its_member(tmp_path):
    sherd.create_array(tmp_path, shape=(4,), dtype="u1")
    document = json.loads((tmp_path / "zarr.json").read_text())
    for change, kind, member in [
        ({"shape": [-1]}, sherd.Corrupt, "shape[0]"),
        ({"codecs": [{"name": "lzx"}]}, sherd.Unsupported, "codecs[0]"),
        ({"surprise": {"must_understand": True}}, sherd.Unsupported, "surprise"),
    ]:
        (tmp_path / "zarr.json").write_text(json.dumps(document | change))
        with pytest.raises(kind) as error:
            sherd.open(tmp_path)
        assert error.value.key == "zarr.json" and error.value.member.startswith(member)


def test_the_operating_systems_errors_are_io():
    with pytest.raises(sherd.Io):
        sherd.create_group("/proc/nothing")  # where no directory can be made


@pytest.mark.parametrize(
    ("call", "kind"),
    [
        (lambda store: sherd.open(store, path="../a"), sherd.InvalidArgument),
        (lambda store: sherd.open(store, path="missing"), sherd.NotFound),
        (lambda store: sherd.create_group(store), sherd.Conflict),
        (lambda store: sherd.create_array(store, name="a/b", shape=(1,), dtype="u1"), sherd.Conflict),
        (lambda store: sherd.create_array(store, name="x", shape=(1,), dtype="u1", compressors="wavpack"), sherd.Unsupported),
        (lambda store: sherd.create_array(store, name="x", shape=(1,), dtype="u1", chunks=(0,)), sherd.InvalidArgument),
        (lambda store: sherd.create_array(store, name="x", shape=(1,), dtype="u1", dimension_names=("a", "b")), sherd.InvalidArgument),
        (lambda store: sherd.create_array(store, name="x", shape=(1,), dtype="u1", attributes=[1]), sherd.InvalidArgument),
        (lambda store: sherd.create_array(store, name="x", shape=(1,), dtype="u1", attributes={1: 2}), sherd.InvalidArgument),
        (lambda store: sherd.open(store, path="a", config={"threads": "all"}), sherd.InvalidArgument),
        (lambda store: sherd.open_group(store, path="a"), sherd.InvalidArgument),
        (lambda store: sherd.open_array(store), sherd.InvalidArgument),
    ],
)
def test_every_kind_of_failure_has_its_class(call, kind):
    store = sherd.MemoryStore()
    sherd.create_array(store, name="a", shape=(1,), dtype="u1")
    before = store.keys()
    with pytest.raises(kind):
        call(store)
    assert store.keys() == before


def test_a_list_that_contains_itself_is_not_json():
    endless = []
    endless.append(endless)
    with pytest.raises(RecursionError):
        sherd.create_group(sherd.MemoryStore(), attributes={"a": endless})


STORE = "must be a path, a URL, an os.PathLike or a sherd.Store, not NoneType"


@pytest.mark.parametrize("call, text", [
    (lambda group: sherd.open(None), f"store {STORE}"),
    (lambda group: sherd.open_array(None), f"store {STORE}"),
    (lambda group: sherd.create_group(None), f"store {STORE}"),
    (lambda group: sherd.create_array(None, shape=(1,), dtype="u1"), f"store {STORE}"),
    (lambda group: sherd.consolidate_metadata(None), f"store {STORE}"),
    (lambda group: sherd.check(None), f"src {STORE}"),
    (lambda group: sherd.copy("a", None), f"dst {STORE}"),
    (lambda group: sherd.open(sherd.MemoryStore(), path=3), "path must be a str, not int"),
    (lambda group: sherd.open(sherd.MemoryStore(), format=3), "format must be a str, not int"),
    (lambda group: sherd.create_group(sherd.MemoryStore(), overwrite=1), "overwrite must be True or False, not int"),
    (lambda group: sherd.create_array(sherd.MemoryStore(), name=3), "name must be a str, not int"),
    (lambda group: group[...], "a member's path must be a str, not ellipsis"),
    (lambda group: group[0], "a member's path must be a str, not int"),
    (lambda group: group.__delitem__(0), "a member's path must be a str, not int"),
    (lambda group: group.create_group(None), "name must be a str, not NoneType"),
    (lambda group: group.create_array(0, shape=(1,), dtype="u1"), "name must be a str, not int"),
])
def test_an_argument_of_a_wrong_type_is_named_with_what_it_accepts(call, text):
    with pytest.raises(TypeError) as error:
        call(sherd.create_group(sherd.MemoryStore()))
    assert str(error.value) == text


def test_a_name_that_is_not_a_string_is_refused():
    store = sherd.MemoryStore()
    group = sherd.create_group(store)
    for make in (lambda name: sherd.create_group(store, path=name), group.create_group, group.__getitem__,
                 lambda name: group.create_array(name, shape=(1,), dtype="u1"), lambda name: sherd.open(store, path=name)):
        with pytest.raises(sherd.InvalidArgument, match="surrogates"):
            make("a\udc80")


def test_a_name_that_looks_like_another_one_causes_a_warning():
    store = sherd.MemoryStore()
    group = sherd.create_group(store)
    for make in (lambda name: sherd.create_group(store, path=name), lambda name: group.create_group(name, overwrite=True),
                 lambda name: sherd.create_array(store, name=name, shape=(1,), dtype="u1", overwrite=True),
                 lambda name: group.create_array(name, shape=(1,), dtype="u1", overwrite=True)):
        with pytest.warns(sherd.NodeNameWarning, match="ﬁne") as warned:
            make("a/ﬁne")
        assert warned[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        group.create_group("fine/żółw")
        group["a/ﬁne"]


@pytest.mark.parametrize(("value", "kind"), [
    (b"x", "bytes"), (datetime.datetime(2020, 1, 1), "datetime"), (np.datetime64("2020-01-01", "ns"), "datetime64"), (1j, "complex"),
    (np.array([1j]), "complex"), (np.array(["2020-01-01"], "M8[ns]"), "ndarray"), (np.timedelta64(1, "ns"), "timedelta64"),
    (np.array([b"x"]), "bytes"), ({1, 2}, "set"), ({1: 2}, "int"), (np.longdouble(1), "longdouble"), (np.clongdouble(1), "clongdouble"),
    (np.array([1], np.longdouble), "ndarray")])
def test_an_attribute_that_json_cannot_hold_is_named(tmp_path, value, kind):
    array = sherd.create_array(tmp_path / "a", shape=(2,), dtype="uint8", attributes={"is": {"here": [0, None, True, "x", 1.5]}})
    calls = [lambda: array.attrs.update({"fine": 1, "is": {"here": [0, value]}}), lambda: array.attrs.put({"is": {"here": [0, value]}}),
             lambda: sherd.create_group(tmp_path / "g", attributes={"is": {"here": [0, value]}})]
    for call in calls:
        with pytest.raises(sherd.InvalidArgument, match=rf"attributes\.is\.here\[1\].* {kind}"):
            call()
    assert dict(array.attrs) == {"is": {"here": [0, None, True, "x", 1.5]}} and not (tmp_path / "g").exists()

