"""The sharding transformer of the 2022 draft as a store: Sherd's and zarr-python 2.18.2's at work on the same stores,
operation by operation, and against a dict."""

import json
import pathlib
import random
import subprocess

import pytest
import sherd
from dependencies import missing

ROOT = pathlib.Path(__file__).resolve().parents[2]
PYTHON = ROOT / ".venv-draft2022/bin/python"


class Peer:
    """zarr-python's transformers of one array."""

    def __init__(self, store, path):
        command = [PYTHON, ROOT / "tests/interop/draft2022_peer.py", "operate", store, path]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def __getattr__(self, name):
        return lambda *arguments: self.ask(name, *arguments)

    def ask(self, *operation):
        text = json.dumps(operation, default=lambda value: value.decode("latin-1"))
        self.process.stdin.write(text + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        assert line, f"zarr-python failed at {text}"
        return json.loads(line)

    def close(self):
        self.process.stdin.close()
        assert self.process.wait() == 0


@pytest.fixture
def peer():
    if not PYTHON.is_file():
        missing("zarr-python 2.18.2 in .venv-draft2022")
    peers = []

    def start(store, path):
        peers.append(Peer(store, path))
        return peers[-1]

    yield start
    for each in peers:
        each.close()


def text(value):
    """bytes as the peer gives them."""
    if isinstance(value, bytes):
        return value.decode("latin-1")
    return [text(each) for each in value] if isinstance(value, (list, tuple)) else value


ARRAYS = {
    "edges": {"shape": (7, 5), "chunks": (2, 2), "chunks_per_shard": (2, 2)},
    "one dimension": {"shape": (23,), "chunks": (1,), "chunks_per_shard": (5,)},
    "dots": {"shape": (6, 5), "chunks": (1, 1), "chunks_per_shard": (2, 3), "separator": "."},
    "stacked": {"shape": (5, 6), "chunks": (1, 1), "chunks_per_shard": [(2, 1), (1, 2)]},
    "three dimensions": {"shape": (3, 4, 5), "chunks": (1, 2, 2), "chunks_per_shard": (2, 2, 1)},
}


def chunk_keys(options):
    counts = [-(-length // chunk) for length, chunk in zip(options["shape"], options["chunks"])]
    keys = [""]
    for count in counts:
        keys = [f"{key}{options.get('separator', '/')}{i}" if key else f"c{i}" for key in keys for i in range(count)]
    return ["data/root/c1/abc/" + key for key in keys]


def some_ranges(rng, model, keys):
    for _ in range(rng.randint(1, 8)):
        key = rng.choice(keys)
        size = len(model.get(key, b""))
        # zarr-python takes no negative start whose range ends at the end, or begins before the beginning.
        yield key, rng.choice([(0, None), (rng.randint(0, 9), rng.randint(0, 9)), (-rng.randint(1, size or 1), None)])


def change(rng, model, keys):
    """A random change, made to the model; its name and arguments."""
    key = rng.choice(keys)
    value = rng.randbytes(rng.randint(0, 12))
    old = model.get(key, b"")
    kind = rng.choice(["set"] * 5 + ["set_partial_values"] * 3 + ["erase"] * 4 + ["erase_prefix"])
    if kind == "set":
        model[key] = value
        return kind, key, value
    if kind == "set_partial_values":
        start = rng.randint(0, len(old))
        model[key] = old[:start] + value + old[start + len(value):]
        return kind, [(key, start, value)]
    if kind == "erase":
        model.pop(key, None)
        return kind, key
    prefix = key[: key.rindex("/") + 1]
    for gone in [each for each in model if each.startswith(prefix)]:
        del model[gone]
    return kind, prefix


def compare(rng, model, keys, sherds, zarrs):
    ranges = list(some_ranges(rng, model, keys))
    expected = []
    for key, (start, length) in ranges:
        value = model.get(key)
        expected.append(None if value is None else value[start:][:length])
    assert sherds.get_partial_values(ranges) == expected
    assert zarrs.get_partial_values(ranges) == text(expected)
    key = rng.choice(keys)
    assert sherds.get(key) == model.get(key)
    assert zarrs.get(key) == text(model.get(key))
    prefix = key[: key.rindex("/") + 1]
    below = sorted(each for each in model if each.startswith(prefix))
    assert sherds.list_prefix(prefix) == zarrs.list_prefix(prefix) == below
    here, deeper = sherds.list_dir(prefix)
    there = zarrs.list_dir(prefix)
    assert here == there[0]
    assert set(deeper) >= set(there[1])  # zarr-python reads all indices to know


@pytest.mark.parametrize("name", ARRAYS)
@pytest.mark.parametrize("erase", ["rewrite", "in_place"])
def test_each_continues_the_work_of_the_other(name, erase, peer, tmp_path):
    options = ARRAYS[name]
    sherd.draft2022.create_array(tmp_path / "s", name="c1/abc", dtype="u1", **options)
    sherds = sherd.draft2022.ShardingTransformer(tmp_path / "s", "c1/abc", erase=erase)
    zarrs = peer(tmp_path / "s", "c1/abc")
    keys = chunk_keys(options)
    rng = random.Random(name + erase)
    model = {}
    for _ in range(80):
        operation, *arguments = change(rng, model, keys)
        getattr(rng.choice([sherds, zarrs]), operation)(*arguments)
        compare(rng, model, keys, sherds, zarrs)


@pytest.mark.parametrize("name", ARRAYS)
def test_the_same_sequence_leaves_the_same_values(name, peer, tmp_path):
    options = ARRAYS[name]
    for part in "sz":
        sherd.draft2022.create_array(tmp_path / part, name="c1/abc", dtype="u1", **options)
    sherds = sherd.draft2022.ShardingTransformer(tmp_path / "s", "c1/abc")
    zarrs = peer(tmp_path / "z", "c1/abc")
    keys = chunk_keys(options)
    rng = random.Random(name)
    model = {}
    for _ in range(60):
        operation, *arguments = change(rng, model, keys)
        getattr(sherds, operation)(*arguments)
        getattr(zarrs, operation)(*arguments)
    read_by_sherd = sherd.draft2022.ShardingTransformer(tmp_path / "z", "c1/abc")
    read_by_zarr = peer(tmp_path / "s", "c1/abc")
    for key in keys:
        assert read_by_sherd.get(key) == model.get(key)
        assert read_by_zarr.get(key) == text(model.get(key))
    assert read_by_sherd.list() == sherds.list() == sorted([*model, "zarr.json", "meta/root.group.json",
                                                            "meta/root/c1.group.json", "meta/root/c1/abc.array.json"])
