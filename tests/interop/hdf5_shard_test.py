"""A file that is a shard of Zarr v3 and an HDF5 file at the same time: its index is behind what h5py has written."""
import struct

import google_crc32c
import h5py
import numpy
import pytest
import sherd
import zarr

DATA = numpy.arange(64 * 64, dtype="<u2").reshape(64, 64)


UPDATES = ["auto", "rewrite", "append", "in_place"]


def write_hdf5(shard):
    """Writes DATA as an HDF5 file. Returns the index of a shard with the chunks of that file."""
    shard.parent.mkdir(parents=True, exist_ok=True)
    with h5py.File(shard, "w") as file:
        dataset = file.create_dataset("a", data=DATA, chunks=(16, 16))
        chunks = [dataset.id.get_chunk_info(number) for number in range(16)]
    places = {chunk.chunk_offset: chunk for chunk in chunks}
    return b"".join(struct.pack("<QQ", places[y, x].byte_offset, places[y, x].size)
                    for y in range(0, 64, 16) for x in range(0, 64, 16))


@pytest.fixture
def both(tmp_path):
    """The array, and its only shard, which h5py reads too."""
    path = tmp_path / "a"
    sherd.create_array(path, shape=(64, 64), dtype="uint16", chunks=(16, 16), shards=(64, 64), compressors=None)
    shard = path / "c" / "0" / "0"
    index = write_hdf5(shard)
    with open(shard, "ab") as file:
        file.write(index + struct.pack("<I", google_crc32c.value(index)))
    return path, shard


def test_it_is_read_and_its_metadata_are_never_lost_by_an_update(both):
    path, shard = both
    assert (sherd.open_array(path).read() == DATA).all() and (zarr.open_array(path)[:] == DATA).all()
    before = shard.read_bytes()
    for update in UPDATES:
        array = sherd.open_array(path, mode="r+", config={"update": update})
        with pytest.raises(sherd.Unsupported, match="HDF5 file.*sherd copy --shards"):
            array[0:8, 0:8] = 7
    assert shard.read_bytes() == before
    with h5py.File(shard) as file:
        assert (file["a"][:] == DATA).all()


def test_a_write_of_the_whole_shard_replaces_the_file(both):
    path, shard = both
    sherd.open_array(path, mode="r+")[...] = DATA + 1
    assert (sherd.open_array(path).read() == DATA + 1).all() and not h5py.is_hdf5(shard)


def test_it_is_neither_compacted_nor_repaired(both):
    path, shard = both
    before = shard.read_bytes()
    with pytest.raises(sherd.Unsupported, match="HDF5 file"):
        sherd.compact(path)
    shard.write_bytes(before + bytes(100))
    report = sherd.repair(path, drop_broken=True)
    (why,) = (each["message"] for each in report["faults"] if each["code"] == "not_repaired")
    assert not report["ok"] and report["repaired"] == [] and "HDF5 file" in why
    assert shard.read_bytes() == before + bytes(100)


def test_in_the_2022_draft_it_is_read_but_not_changed(tmp_path):
    path = tmp_path / "draft"
    sherd.draft2022.create_array(path, name="a", data=DATA, chunks=(16, 16), chunks_per_shard=(4, 4), compressors=None)
    (shard,) = (file for file in (path / "data").rglob("*") if file.is_file())
    index = write_hdf5(shard)  # without a checksum
    with open(shard, "ab") as file:
        file.write(index)
    before = shard.read_bytes()
    for update in UPDATES:
        array = sherd.open_array(path, path="a", mode="r+", config={"update": update})
        assert (array[...] == DATA).all()
        for change in [lambda: array.__setitem__((slice(0, 8), slice(0, 8)), 7), lambda: array.resize((60, 60))]:
            with pytest.raises(sherd.Unsupported, match="HDF5 file"):
                change()
    transformer = sherd.draft2022.ShardingTransformer(path, "a")
    chunk = "data/root/a/c0/0"
    for change in [lambda: transformer.set_values([(chunk, bytes(512))]), lambda: transformer.erase(chunk)]:
        with pytest.raises(sherd.Unsupported, match="HDF5 file"):
            change()
    with pytest.raises(sherd.Unsupported, match="HDF5 file"):
        sherd.compact(path)
    assert shard.read_bytes() == before
    with h5py.File(shard) as file:
        assert (file["a"][:] == DATA).all()


def test_a_copy_to_other_shards_can_be_changed(both, tmp_path):
    path, _ = both
    sherd.copy(path, tmp_path / "b", shards=(32, 64))
    array = sherd.open_array(tmp_path / "b", mode="r+")
    array[0:8, 0:8] = 7
    expected = DATA.copy()
    expected[0:8, 0:8] = 7
    assert (zarr.open_array(tmp_path / "b")[:] == expected).all()


def test_no_shard_is_cut_or_erased_by_a_resize_that_meets_it(both):
    path, shard = both
    sherd.open_array(path, mode="r+").resize((128, 128))
    array = sherd.open_array(path, mode="r+")
    array[64:, :] = 5
    array[:64, 64:] = 6
    before = {file: file.read_bytes() for file in path.rglob("*") if file.is_file()}
    assert len(before) == 5
    for shape in [(32, 128), (60, 60), (128, 8)]:
        with pytest.raises(sherd.Unsupported, match="c/0/0.*HDF5 file.*sherd copy --shards"):
            array.resize(shape)
        assert {file: file.read_bytes() for file in path.rglob("*") if file.is_file()} == before
    array.resize((100, 64))
    assert shard.read_bytes() == before[shard]


@pytest.fixture
def values(tmp_path):
    """Values by id, and their only shard: its index is in the user block of an HDF5 file, its list at the end."""
    shard = tmp_path / "values" / "0.shard"
    shard.parent.mkdir()
    with h5py.File(shard, "w", userblock_size=512) as file:
        file.create_dataset("a", data=DATA, chunks=(16, 64))
    stored = bytearray(shard.read_bytes())
    chunks = [DATA[row:row + 16].tobytes() for row in range(0, 64, 16)]
    offsets = [stored.index(chunk) for chunk in chunks]
    ends = [16] + [offset + len(chunk) for offset, chunk in zip(offsets, chunks)]
    table = [0, 1, 1, 1] + [offset - end for offset, end in zip(offsets, ends)] + [len(chunk) for chunk in chunks]
    stored[:16] = struct.pack("<QQ", len(stored) - 16, len(stored) - 16 + 96)
    shard.write_bytes(bytes(stored) + b"".join(struct.pack("<Q", word % 2**64) for word in table))
    return shard, chunks


def test_its_values_by_id_are_read_but_not_changed(values):
    shard, chunks = values
    sharding = {"@type": "neuroglancer_uint64_sharded_v1", "preshift_bits": 0, "hash": "identity", "minishard_bits": 0,
                "shard_bits": 0, "minishard_index_encoding": "raw", "data_encoding": "raw"}
    before = shard.read_bytes()
    for update in UPDATES:
        store = sherd.neuroglancer.ShardedStore(shard.parent, sharding, mode="r+", config={"update": update})
        assert [store.get(number) for number in range(4)] == chunks
        for change in [lambda: store.put(7, b"new"), lambda: store.put(1, chunks[0]), lambda: store.delete(2),
                       store.compact]:
            with pytest.raises(sherd.Unsupported, match="0.shard.*HDF5 file.*another store"):
                change()
    assert shard.read_bytes() == before
    with h5py.File(shard) as file:
        assert (file["a"][:] == DATA).all()
