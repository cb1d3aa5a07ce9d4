"""Shards of ids against cloud-volume and tensorstore, both ways: what each writes the other reads, also after values were
replaced and deleted in place, over hashes, encodings and numbers of bits.

What they cannot: cloud-volume (12.15.2) refuses preshift_bits 64, and takes a range of no bytes for a missing one, so values
are not empty there; minishards hold enough ids that its reader is the one of many values.
"""

import importlib.util
import itertools
import struct

import numpy as np
import pytest
from sherd.neuroglancer import ShardedStore

from dependencies import missing
from shardings import sharding

LAST = 2**64 - 1
HASHES = ("identity", "murmurhash3_x86_128")
ENCODINGS = ("raw", "gzip")
BITS = [(0, 0, 0), (0, 3, 0), (2, 0, 3), (9, 4, 2), (1, 5, 7), (63, 0, 64), (20, 2, 5)]  # preshift, minishard, shard


SHARDINGS = [sharding(hash, bits, index, data)
             for bits, hash, index, data in itertools.product(BITS, HASHES, ENCODINGS, ENCODINGS)]
NAMES = ["-".join(str(value) for value in list(each.values())[1:]) for each in SHARDINGS]


def some_values(count=120):
    rng = np.random.default_rng(count)
    ids = {0, 1, 2, 3, 1000, 2**40, 2**63, LAST} | {int(each) for each in rng.integers(0, 2**64, count, "u8")}
    return {each: rng.bytes(int(rng.integers(1, 300))) for each in sorted(ids)}


def change(store, values):
    """Replaces, adds and deletes some, one call each: in place, as long as not too much is dead."""
    values = dict(values)
    new = {each: b"replaced " + value for each, value in list(values.items())[::5]} | {77: b"added"}
    store.put_many(new)
    values |= new
    store.put(78, b"one")
    values[78] = b"one"
    for each in list(values)[1::7]:
        assert store.delete(each)
        del values[each]
    return values


@pytest.fixture(scope="module")
def cloudvolume():
    if importlib.util.find_spec("cloudvolume") is None:
        missing("cloud-volume")
    from cloudvolume.datasource.precomputed import sharding

    class Files:
        """What its reader asks of a cache that keeps nothing: ranges of files."""

        enabled = False

        def __init__(self, folder):
            self.folder = folder

        def download_as(self, requests, progress):
            found = {}
            for each in requests:
                path = self.folder / each["path"]
                data = path.read_bytes()[each["start"]:each["end"]] if path.exists() else None
                found[each["path"], each["start"], each["end"]] = data
            return found

    class Peer:
        """Writing and reading a directory of shards."""

        def __init__(self, folder, parameters):
            self.folder = folder
            self.spec = sharding.ShardingSpecification.from_dict(parameters)

        def write(self, values):
            self.folder.mkdir(exist_ok=True)
            for name, shard in self.spec.synthesize_shards(values).items():
                (self.folder / name).write_bytes(shard)

        def read(self, ids):
            return sharding.ShardReader(f"file://{self.folder}", Files(self.folder), self.spec).get_data(list(ids))

    return Peer


@pytest.fixture(scope="module")
def tensorstore():
    if importlib.util.find_spec("tensorstore") is None:
        missing("tensorstore")
    import tensorstore as ts

    class Peer:
        def __init__(self, folder, parameters):
            self.store = ts.KvStore.open({"driver": "neuroglancer_uint64_sharded", "metadata": parameters,
                                          "base": f"file://{folder}/"}).result()

        def write(self, values):
            with ts.Transaction() as transaction:
                store = self.store.with_transaction(transaction)
                for each, value in values.items():
                    store[struct.pack(">Q", each)] = value

        def read(self, ids):
            found = {each: self.store.read(struct.pack(">Q", each)) for each in ids}
            return {each: future.result().value if future.result().state == "value" else None
                    for each, future in found.items()}

    return Peer


@pytest.mark.parametrize("parameters", SHARDINGS, ids=NAMES)
def test_tensorstore_reads_what_we_write_and_change(tensorstore, parameters, tmp_path):
    ours = ShardedStore(tmp_path / "ids", parameters, mode="r+")
    values = some_values() | {12345: b""}
    ours.put_many(values)
    assert tensorstore(tmp_path / "ids", parameters).read(values) == values
    changed = change(ours, values)
    assert tensorstore(tmp_path / "ids", parameters).read(values | changed) == {
        each: changed.get(each) for each in values | changed}
    ours.compact()
    assert tensorstore(tmp_path / "ids", parameters).read(changed) == changed


@pytest.mark.parametrize("parameters", SHARDINGS, ids=NAMES)
def test_what_tensorstore_writes_is_read_and_changed(tensorstore, parameters, tmp_path):
    values = some_values() | {12345: b""}
    tensorstore(tmp_path / "ids", parameters).write(values)
    ours = ShardedStore(tmp_path / "ids", parameters, mode="r+")
    assert dict(zip(values, ours.get_many(values))) == values
    assert sorted(ours.list()) == sorted(values)
    changed = change(ours, values)
    again = ShardedStore(tmp_path / "ids", parameters)
    assert {each: again.get(each) for each in again.list()} == changed
    tensorstore(tmp_path / "ids", parameters).write({77: b"theirs"})
    assert ours.get(77) == b"theirs", "it has replaced the shard under our handle"


@pytest.mark.parametrize("parameters", SHARDINGS, ids=NAMES)
def test_cloud_volume_reads_what_we_write_and_change(cloudvolume, parameters, tmp_path):
    ours = ShardedStore(tmp_path / "ids", parameters, mode="r+")
    values = some_values()
    ours.put_many(values)
    assert cloudvolume(tmp_path / "ids", parameters).read(values) == values
    changed = change(ours, values)
    assert cloudvolume(tmp_path / "ids", parameters).read(values | changed) == {
        each: changed.get(each) for each in values | changed}


@pytest.mark.parametrize("parameters", SHARDINGS, ids=NAMES)
def test_what_cloud_volume_writes_is_read_and_changed(cloudvolume, parameters, tmp_path):
    values = some_values()
    peer = cloudvolume(tmp_path / "ids", parameters)
    peer.write(values)
    ours = ShardedStore(tmp_path / "ids", parameters, mode="r+")
    assert dict(zip(values, ours.get_many(values))) == values
    assert sorted(ours.list()) == sorted(values)
    changed = change(ours, values)
    assert peer.read(changed) == changed


def test_the_last_id_goes_where_cloud_volume_puts_it(cloudvolume, tmp_path):
    parameters = sharding(bits=(63, 0, 64))
    peer = cloudvolume(tmp_path / "theirs", parameters)
    location = peer.spec.compute_shard_location(LAST)
    assert (location.shard_number, int(location.minishard_number)) == ("0000000000000001", 0)
    peer.write({LAST: b"last", 5: b"five"})
    ShardedStore(tmp_path / "ours", parameters, mode="r+").put_many({LAST: b"last", 5: b"five"})
    names = [{each.name: each.read_bytes() for each in (tmp_path / whose).iterdir()} for whose in ("theirs", "ours")]
    assert names[0] == names[1] and set(names[0]) == {"0000000000000000.shard", "0000000000000001.shard"}


def test_preshift_64_routes_every_id_to_the_hash_of_0(tensorstore, tmp_path):
    for hash in HASHES:
        parameters = sharding(hash, (64, 3, 5))
        ours = ShardedStore(tmp_path / hash, parameters, mode="r+")
        ours.put_many({0: b"none", 17: b"some", LAST: b"all"})
        assert len(list((tmp_path / hash).iterdir())) == 1
        peer = tensorstore(tmp_path / hash, parameters)
        assert peer.read([0, 17, 18, LAST]) == {0: b"none", 17: b"some", 18: None, LAST: b"all"}
        peer.write({18: b"theirs"})
        assert ours.get_many([0, 18]) == [b"none", b"theirs"]
