"""sherd.neuroglancer.build: shards of ids from items of any iterable, and the parameters chosen for them."""

import os
import pickle
import random
import signal
import struct
import subprocess
import sys
import threading

import numpy as np
import pytest
import sherd
from sherd import neuroglancer as ng

from shardings import sharding


def objects(store):
    return {key: store.get(key) for key in store.keys()}


def built(parameters, items, **options):
    store = sherd.MemoryStore()
    report = ng.build(store, parameters, items, **options)
    made = objects(store)
    assert report["shards"] == len(made) and report["bytes"] == sum(map(len, made.values()))
    return made


def test_items_are_pairs_of_an_id_and_bytes():
    words = struct.pack("<2Q", 10, 82), b"first" + b"ab" + b"xyz", struct.pack("<9Q", 3, 4, 2**64 - 8, 0, 0, 0, 5, 2, 3)
    expected = {"0.shard": b"".join(words)}
    for items in (
        [(7, b"ab"), (2**64 - 1, b"xyz"), (3, b"first")],
        {3: b"first", 7: bytearray(b"ab"), 2**64 - 1: memoryview(b"xyz")}.items(),
        ((np.uint64(each), np.frombuffer(value, "u1")) for each, value in [(3, b"first"), (2**64 - 1, b"xyz"), (7, b"ab")]),
        [[7, b"ab"], [3, b"first"], [2**64 - 1, b"xyz"]],
    ):
        assert built(sharding(), items) == expected


def test_bytes_do_not_depend_on_order_threads_or_memory():
    parameters = sharding("murmurhash3_x86_128", (1, 4, 3), "gzip", "gzip")
    chance = random.Random(7)
    items = [(chance.getrandbits(64), chance.randbytes(chance.randrange(600))) for _ in range(40000)]
    expected = built(parameters, sorted(items), threads=1)
    chance.shuffle(items)
    assert built(parameters, items, memory="8MiB", threads=3) == expected
    assert built(parameters, iter(items), memory=9 * 2**20) == expected


def test_a_path_names_a_directory(tmp_path):
    report = ng.build(tmp_path / "a/b", sharding(bits=(0, 1, 6)), [(1, b"x"), (2, b"y")])
    assert report == {"ids": 2, "shards": 2, "bytes": 2 * (32 + 1 + 24)}
    assert sorted(path.name for path in (tmp_path / "a/b").iterdir()) == ["00.shard", "01.shard"]


@pytest.mark.parametrize(
    ("items", "error", "says"),
    [
        ([(-1, b"")], sherd.InvalidArgument, r"from 0 to 2\*\*64 - 1, not -1"),
        ([(2**64, b"")], sherd.InvalidArgument, "not 18446744073709551616"),
        ([("1", b"")], sherd.InvalidArgument, "not '1'"),
        ([(1, "text")], TypeError, "bytes-like"),
        ([(1, np.zeros((4, 4))[::2, ::2])], (BufferError, ValueError), "contiguous"),
        ([(1, b"", 2)], TypeError, "bytes-like"),
        ([(1,)], sherd.InvalidArgument, "a pair"),
        ([7], TypeError, "a pair"),
        (7, TypeError, "iterable"),
        ([(5, b"a"), (6, b"b"), (5, b"c")], sherd.InvalidArgument, "the id 5 was given twice"),
    ],
)
def test_wrong_items_are_named_and_nothing_is_made(items, error, says):
    store = sherd.MemoryStore()
    with pytest.raises(error, match=says):
        ng.build(store, sharding(), items)
    assert store.keys() == []


def test_an_error_of_the_iterable_comes_through():
    def items():
        yield 1, b"a"
        raise LookupError("the source ended")

    store = sherd.MemoryStore()
    with pytest.raises(LookupError, match="the source ended"):
        ng.build(store, sharding(), items())
    assert store.keys() == []


def test_shards_are_replaced_only_on_request():
    store = sherd.MemoryStore()
    ng.build(store, sharding(bits=(0, 0, 1)), [(0, b"old"), (1, b"old")])
    before = objects(store)
    with pytest.raises(sherd.Conflict) as caught:
        ng.build(store, sharding(bits=(0, 0, 1)), [(1, b"new"), (2, b"new")])
    assert caught.value.key == "0.shard" and objects(store) == before
    ng.build(store, sharding(bits=(0, 0, 1)), [(1, b"new")], overwrite=True)
    assert objects(store)["0.shard"] == before["0.shard"] and b"new" in objects(store)["1.shard"]


def test_wrong_arguments_are_named(tmp_path):
    for options, says in [
        ({"memory": "much"}, "not a size"),
        ({"memory": 2**20}, "at least 8 MiB of memory"),
        ({"memory": -1}, "such as \"64MiB\", not -1"),
        ({"memory": True}, "not True"),
        ({"config": {"thread": 1}}, "thread"),
    ]:
        with pytest.raises(sherd.InvalidArgument, match=says):
            ng.build(tmp_path, sharding(), [], **options)
    for wrong, member in [({"hash": 1}, "hash"), ({"shard_bits": 65}, "shard_bits"), ({"@type": "x"}, "@type")]:
        with pytest.raises((sherd.InvalidArgument, sherd.Unsupported)) as caught:
            ng.build(tmp_path, sharding() | wrong, [])
        assert caught.value.member == f"sharding.{member}"
    with pytest.raises(TypeError, match="overwrite"):
        ng.build(tmp_path, sharding(), [], overwrite=1)
    with pytest.raises(sherd.Io, match="temporary file in ./proc/self"):
        ng.build(tmp_path, sharding(), [(i, bytes(2**20)) for i in range(9)], memory="8MiB", temporary="/proc/self")
    assert list(tmp_path.iterdir()) == []


def test_python_goes_on_while_values_are_encoded():
    begun, ended = threading.Event(), []
    noise = np.random.default_rng(1).integers(0, 16, 2**20, "u1")

    def work():
        begun.set()
        ng.build(sherd.MemoryStore(), sharding(data="gzip"), [(1, np.tile(noise, 64))])
        ended.append(True)

    thread = threading.Thread(target=work)
    thread.start()
    begun.wait()
    turns = 0
    while thread.is_alive():
        thread.join(0.005)
        turns += 1
    assert ended
    assert turns > 5, "the call ended before anything else could run"


INTERRUPTED = """
import itertools, os, signal, sys
import sherd
from sherd import neuroglancer as ng

signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored where the tests run in the background

def items():
    for each in itertools.count():
        yield each, bytes(2**16)
        if each == 1000:
            os.kill(os.getpid(), signal.SIGINT)

try:
    ng.build(sys.argv[1], {parameters}, items(), memory="8MiB")
except KeyboardInterrupt:
    print("ended")
"""


def test_an_interrupted_build_leaves_nothing(tmp_path):
    text = INTERRUPTED.replace("{parameters}", repr(sharding(data="gzip")))
    ran = subprocess.run([sys.executable, "-c", text, tmp_path / "out"], capture_output=True, text=True)
    assert (ran.returncode, ran.stdout) == (0, "ended\n"), ran.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_killed_build_leaves_no_temporary_file(tmp_path):
    text = INTERRUPTED.replace("{parameters}", repr(sharding())).replace("os.getpid(), signal.SIGINT", "os.getpid(), signal.SIGKILL")
    ran = subprocess.run([sys.executable, "-c", text, tmp_path / "out"], capture_output=True, text=True)
    assert ran.returncode == -signal.SIGKILL, ran.stderr
    assert list(tmp_path.iterdir()) == []


def test_parameters_are_chosen_for_volumes():
    chosen = ng.choose_sharding((25000, 18000, 6000), (64, 64, 64), "uint64", encoding="compressed_segmentation")
    assert chosen == sharding("identity", (9, 1, 15), "gzip", "gzip")
    assert ng.choose_sharding((2048, 2048, 2048, 3), (64, 64, 64), np.uint8, encoding="jpeg")["data_encoding"] == "raw"
    small = ng.choose_sharding((2048, 2048, 2048), (64, 64, 64), "uint8", target_shard_bytes="2MiB")
    assert (small["preshift_bits"], small["minishard_bits"], small["shard_bits"]) == (3, 0, 12)
    with pytest.raises(sherd.InvalidArgument) as caught:
        ng.choose_sharding((4, 4, 4), (1, 1, 1), "uint8", encoding="zstd")
    assert caught.value.member == "encoding"
    assert pickle.loads(pickle.dumps(chosen)) == chosen


def test_parameters_are_chosen_for_values_without_an_order():
    with pytest.raises(sherd.InvalidArgument, match="count must be from 0"):
        ng.choose_sharding_for_values(-1, 20_000)
    assert ng.choose_sharding_for_values(10**6, 20_000) == sharding("murmurhash3_x86_128", (0, 3, 8), "gzip", "gzip")
    assert ng.choose_sharding_for_values(0, 0) == sharding("murmurhash3_x86_128", (0, 0, 0), "gzip", "gzip")


def test_a_record_knows_what_was_encoded_and_written(tmp_path):
    with sherd.record() as log:
        ng.build(tmp_path, sharding(bits=(0, 0, 1), data="gzip"), [(each, bytes(100)) for each in range(10)])
    assert [request["op"] for request in log.requests] == ["list", "put", "put"]
    assert log.stats["chunks_encoded"] == 10
    assert log.stats["bytes_written"] == sum(os.path.getsize(path) for path in tmp_path.iterdir())
