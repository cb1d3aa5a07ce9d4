"""blosc's snappy: of the peers only tensorstore is built with it, and the reference is not, so it is not in the matrix."""

import numpy
import pytest
import sherd
from interop.cells import blosc, extension

VALUES = numpy.random.default_rng(7).integers(0, 50, 100_000).astype("<u4")


@pytest.mark.parametrize("shuffle", ["noshuffle", "shuffle", "bitshuffle"])
@pytest.mark.parametrize("peer", ["tensorstore"], indirect=True)
def test_each_reads_the_snappy_of_the_other(peer, shuffle, tmp_path):
    import tensorstore

    codec = blosc("snappy", shuffle)
    codec["configuration"]["typesize"] = 4
    codecs = [extension("bytes", endian="little"), codec]
    metadata = {
        "shape": [len(VALUES)],
        "data_type": "uint32",
        "chunk_grid": extension("regular", chunk_shape=[60_000]),
        "codecs": codecs,
    }
    theirs = tensorstore.open(peer.spec(tmp_path / "theirs", metadata=metadata), create=True).result()
    theirs[...] = VALUES
    assert (tmp_path / "theirs/c/0").stat().st_size < 4 * 60_000, "it is compressed"
    assert numpy.array_equal(sherd.open_array(tmp_path / "theirs")[...], VALUES)
    sherd.create_array(tmp_path / "ours", data=VALUES, chunks=(60_000,), codecs=codecs)
    assert (tmp_path / "ours/c/0").stat().st_size < 4 * 60_000
    assert numpy.array_equal(peer.open(tmp_path / "ours").read().result(), VALUES)
