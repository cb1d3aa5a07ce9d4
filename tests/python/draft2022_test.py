"""sherd.draft2022.ShardingTransformer as Python has it: what it is made of, what it takes and gives, and its requests."""

import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import sherd
from sherd.draft2022 import ShardingTransformer, create_array

KEY = "data/root/vol/em/"


@pytest.fixture
def store():
    store = sherd.MemoryStore()
    create_array(store, name="vol/em", shape=(7, 5), dtype="<i4", chunks=(2, 2), chunks_per_shard=(2, 2), compressors=None)
    return store


def test_it_is_created_from_a_path_or_a_document(store, tmp_path):
    document = sherd.open_array(store, path="vol/em").metadata
    for made in (ShardingTransformer(store, "vol/em"), ShardingTransformer(store, document),
                 ShardingTransformer(store, document, path="vol/em")):
        assert made.path == "vol/em" and made.metadata == document
        assert repr(made) == "<sherd.draft2022.ShardingTransformer vol/em>"
        made.set(KEY + "c3/2", b"0123")
        assert made.get(KEY + "c3/2") == b"0123"
    elsewhere = ShardingTransformer(store, document, path="other")
    elsewhere.set("data/root/other/c0/0", b"x")
    assert store.keys("data/root/other/") == ["data/root/other/c0/0"]
    alone = ShardingTransformer(sherd.MemoryStore(), document)
    alone.set("data/root/c3/2", b"x")
    assert alone.path == "" and alone.list() == ["data/root/c3/2"]
    at_url = ShardingTransformer(tmp_path / "new", document)
    at_url.set("data/root/c3/2", b"x")
    assert ShardingTransformer(f"file://{tmp_path}/new", document).list() == ["data/root/c3/2"]


def test_the_error_says_why_it_cannot_be_created(store, tmp_path):
    document = sherd.open_array(store, path="vol/em").metadata
    create_array(store, name="other", shape=(7, 5), dtype="<i4", chunks=(2, 2), chunks_per_shard=(2, 2), compressors=None)
    create_array(store, name="plain", shape=(7, 5), dtype="<i4", chunks=(2, 2), compressors=None)
    with pytest.raises(sherd.InvalidArgument, match="other, vol/em"):
        ShardingTransformer(store, document)
    with pytest.raises(sherd.InvalidArgument, match="no array"):
        ShardingTransformer(store, document | {"shape": [8, 8]})
    with pytest.raises(sherd.InvalidArgument, match="already a path"):
        ShardingTransformer(store, "vol/em", path="vol/em")
    with pytest.raises(sherd.InvalidArgument, match="no sharding transformer"):
        ShardingTransformer(store, "plain")
    with pytest.raises(sherd.NotFound):
        ShardingTransformer(store, "none")
    with pytest.raises(sherd.InvalidArgument, match="erase"):
        ShardingTransformer(store, "vol/em", erase="never")
    with pytest.raises(TypeError):
        ShardingTransformer(7, "vol/em")
    create_array(tmp_path / "s", name="a/b", shape=(4,), dtype="u1", chunks=(1,), chunks_per_shard=(2,))
    with pytest.raises(sherd.InvalidArgument, match="hierarchy"):
        ShardingTransformer(tmp_path / "s/a/b", document)


def test_its_values_are_the_arrays_chunks(store):
    array = sherd.open_array(store, path="vol/em", mode="r+")
    array[...] = np.arange(35).reshape(7, 5)
    transformer = ShardingTransformer(store, "vol/em")
    assert np.frombuffer(transformer.get(KEY + "c1/1"), "<i4").tolist() == [12, 13, 17, 18]
    first = transformer.get_partial_values([(KEY + "c0/0", (4, 4)), (KEY + "c0/0", (-4, None)), (KEY + "c0/1", (0, None))])
    assert [np.frombuffer(part, "<i4").tolist() for part in first] == [[1], [6], [2, 3, 7, 8]]
    transformer.set(KEY + "c0/0", np.full(4, 9, "<i4"))
    transformer.erase_prefix(KEY + "c3/")
    assert array[:2, :2].tolist() == [[9, 9], [9, 9]] and array[6].tolist() == [0] * 5
    assert array[5].tolist() == list(range(25, 30))


def test_it_reads_in_two_batches_and_writes_each_shard_once(store):
    transformer = ShardingTransformer(store, "vol/em")
    with sherd.record() as log:
        transformer.set_values([(KEY + "c0/0", b"a"), (KEY + "c0/1", b"b"), (KEY + "c1/0", b"c"), (KEY + "c1/1", b"d"),
                                (KEY + "c3/2", bytearray(b"e"))])
    assert [(r["op"], r["key"]) for r in log.requests] == [("put", KEY + "c0/0"), ("get", KEY + "c1/1"), ("put", KEY + "c1/1")]
    with sherd.record() as log:
        assert transformer.get_partial_values((KEY + chunk, (0, None)) for chunk in ("c3/2", "c0/1", "c2/2")) == [
            b"e", b"b", None]
    assert [(r["op"], r["key"], r["length"]) for r in log.requests] == [
        ("get", KEY + "c1/1", 64), ("get", KEY + "c0/0", 64), ("get", KEY + "c1/1", 1), ("get", KEY + "c0/0", 1)]
    with sherd.record() as log:
        transformer.set(KEY + "c0/0", b"xyz")
    assert log.stats["chunks_moved"] == 3 and log.stats["chunks_decoded"] == 0
    with sherd.record() as log:
        transformer.erase_values([KEY + "c2/2", KEY + "c3/2"])
    assert [(r["op"], r["key"]) for r in log.requests] == [("erase", KEY + "c1/1")]


def test_keys_and_prefixes_are_listed(store):
    transformer = ShardingTransformer(store, "vol/em")
    transformer.set_values([(KEY + "c0/0", b"a"), (KEY + "c3/2", b"b")])
    assert transformer.list() == [KEY + "c0/0", KEY + "c3/2", "meta/root.group.json", "meta/root/vol.group.json",
                                  "meta/root/vol/em.array.json", "zarr.json"]
    assert transformer.list_prefix(KEY + "c3/") == [KEY + "c3/2"]
    assert transformer.list_dir(KEY) == ([], [KEY + f"c{i}/" for i in range(4)])
    assert transformer.list_dir(KEY + "c1/") == ([], [])
    assert transformer.list_dir(KEY + "c3/") == ([KEY + "c3/2"], [])
    assert transformer.list_dir("") == (["zarr.json"], ["data/", "meta/"])


def test_wrong_arguments_are_refused_and_change_nothing(store):
    transformer = ShardingTransformer(store, "vol/em")
    key = KEY + "c0/0"
    transformer.set(key, b"0123")
    for wrong in ([(key, 0)], [(key, (0,))], [(key, ("0", None))], [(key, (0, 1.5))], [(7, (0, None))], [key],
                  [(key, (True, None))], 7):
        with pytest.raises(TypeError):
            transformer.get_partial_values(wrong)
    for part in ((0, -1), (2**63, None), (0, 2**64)):
        with pytest.raises(sherd.InvalidArgument, match="start|length"):
            transformer.get_partial_values([(key, part)])
    for wrong in ([(key, -1, b"x")], [(key, 5, b"x")], [(key, 0, b"ab"), (key, 1, b"c")]):
        with pytest.raises(sherd.InvalidArgument):
            transformer.set_partial_values(wrong)
    for wrong in ([(key, 0)], [(key, 0, "text")], [(key, 0.5, b"x")]):
        with pytest.raises(TypeError):
            transformer.set_partial_values(wrong)
    with pytest.raises(TypeError):
        transformer.set(key, "text")
    with pytest.raises(sherd.InvalidArgument) as caught:
        transformer.set(KEY + "c4/0", b"x")
    assert caught.value.key == KEY + "c4/0"
    assert transformer.get(key) == b"0123"


def test_a_damaged_shard_names_key_and_slot(store):
    transformer = ShardingTransformer(store, "vol/em")
    store.set(KEY + "c0/0", b"x" * 8 + bytes(8) + b"\xff" * 56)
    with pytest.raises(sherd.Corrupt) as caught:
        transformer.get(KEY + "c0/0")
    assert (caught.value.key, caught.value.slot) == (KEY + "c0/0", 0)
    store.set(KEY + "c0/0", b"x" * 63)
    with pytest.raises(sherd.Corrupt, match="63 bytes"):
        transformer.get(KEY + "c0/0")


def test_it_is_pickled_with_its_settings(store, tmp_path):
    create_array(tmp_path / "s", name="a", shape=(4,), dtype="u1", chunks=(1,), chunks_per_shard=(4,), compressors=None)
    for made in (ShardingTransformer(tmp_path / "s", "a", erase="in_place"),
                 ShardingTransformer(sherd.Store(tmp_path / "s"), sherd.open_array(tmp_path / "s", path="a").metadata,
                                     erase="in_place")):
        again = pickle.loads(pickle.dumps(made))
        again.set_values([(f"data/root/a/c{i}", b"xy") for i in range(4)])
        again.erase("data/root/a/c1")
        assert (tmp_path / "s/data/root/a/c0").stat().st_size == 4 * 2 + 64
    with pytest.raises(sherd.InvalidArgument, match="pickled"):
        pickle.dumps(ShardingTransformer(store, "vol/em"))


def test_threads_that_write_one_shard_lose_nothing(store):
    transformer = ShardingTransformer(store, "vol/em")
    keys = [KEY + f"c{i}/{j}" for i in range(4) for j in range(3)]

    def work(key):
        for i in range(20):
            transformer.set(key, f"{key} {i}".encode())

    with ThreadPoolExecutor(12) as pool:
        list(pool.map(work, keys))
    assert transformer.get_partial_values([(key, (0, None)) for key in keys]) == [f"{key} 19".encode() for key in keys]


@pytest.mark.parametrize("compressors, told", [("gzip:5", {"level": 5}), ("zstd:1", {"level": 1}), (["lz4"], None)])
def test_stacks_accept_short_names_of_codecs(compressors, told):
    array = create_array(sherd.MemoryStore(), name="a", shape=(21, 17), dtype=">i4", chunks=(2, 3),
                         chunks_per_shard=[(2, 2), (2, 1)], compressors=compressors)
    assert told is None or array.metadata["compressor"]["configuration"] == told
    array[...] = 7
    assert (array[...] == 7).all()


@pytest.mark.parametrize("layout", [{}, {"order": "F"}, {"dtype": ">i4"}, {"order": "F", "chunks_per_shard": (2, 2)},
                                    {"dtype": ">i4", "chunks_per_shard": [(2, 1), (1, 2)]}])
def test_any_layout_has_the_compressor_of_the_draft(layout, tmp_path):
    options = {"dtype": "i4", "shape": (7, 5), "chunks": (2, 2), **layout}
    array = sherd.draft2022.create_array(tmp_path, name="a", dimension_names=["y", "x"], **options)
    assert array.metadata["compressor"]["codec"].endswith("/blosc/1.0")
    assert array.dimension_names == ("y", "x")
