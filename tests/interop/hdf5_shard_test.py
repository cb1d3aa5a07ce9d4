"""A file that is a shard of Zarr v3 and an HDF5 file at the same time: its index is behind what h5py has written."""
import struct

import google_crc32c
import h5py
import numpy
import pytest
import sherd
import zarr

DATA = numpy.arange(64 * 64, dtype="<u2").reshape(64, 64)


@pytest.fixture
def both(tmp_path):
    """The array, and its only shard, which h5py reads too."""
    path = tmp_path / "a"
    sherd.create_array(path, shape=(64, 64), dtype="uint16", chunks=(16, 16), shards=(64, 64), compressors=None)
    shard = path / "c" / "0" / "0"
    shard.parent.mkdir(parents=True, exist_ok=True)
    with h5py.File(shard, "w") as file:
        dataset = file.create_dataset("a", data=DATA, chunks=(16, 16))
        chunks = [dataset.id.get_chunk_info(number) for number in range(16)]
    places = {chunk.chunk_offset: chunk for chunk in chunks}
    index = b"".join(struct.pack("<QQ", places[y, x].byte_offset, places[y, x].size)
                     for y in range(0, 64, 16) for x in range(0, 64, 16))
    with open(shard, "ab") as file:
        file.write(index + struct.pack("<I", google_crc32c.value(index)))
    return path, shard


def test_it_is_read_and_its_metadata_are_never_lost_by_an_update(both):
    path, shard = both
    assert (sherd.open_array(path).read() == DATA).all() and (zarr.open_array(path)[:] == DATA).all()
    before = shard.read_bytes()
    for update in ["auto", "rewrite"]:
        array = sherd.open_array(path, mode="r+", config={"update": update})
        with pytest.raises(sherd.Unsupported, match="HDF5 file.*sherd copy --shards"):
            array[0:8, 0:8] = 7
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
